"""The `.graphifyignore` that a build writes: what it keeps out, and when an older one is renewed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from morph_tasks.codegraph.ignore_file import _EARLIER, _STACKS, _text, settle, stacks_of, text_for
from morph_tasks.codegraph.ignore_rules import NAME
from morph_tasks.repo.git import open_repo
from tests.codegraph.scene import files_in, status
from tests.conftest import Project

CS = "namespace Shop;\npublic class {} {{ public int Run() => 1; }}\n"


def dotnet(project: Project) -> None:
    project.write("Shop/Shop.csproj", "<Project/>\n")
    for path in (
        "Shop/Cart.cs",
        "Shop/obj/Generated.cs",
        "Shop/Cart.Designer.cs",
        "tests/Shop.Tests/CartTests.cs",
        "tests/Shop.Tests/FakeMailer.cs",
        "tests/Shop.Tests/Deep/Down/Fakes/Clock.cs",
        "tests/Shop.Tests/Fixtures/Data.cs",
        "tests/Shop.Tests/obj/Fakes/FakeOutput.cs",
        "tests/Shop.Tests/Helpers/Bundled.min.js",
        "Shop.UnitTests/ClockFixture.cs",
        "Shop.UnitTests/ClockTests.cs",
    ):
        name = path.rpartition("/")[2].partition(".")[0]
        project.write(path, CS.format(name))
    project.commit("a shop")


def test_doubles_and_helpers_of_dotnet_test_projects_are_in_and_tests_are_not(project: Project) -> None:
    dotnet(project)
    assert project.morph("graph", "build").code == 0
    assert files_in(project.root) - {"Shop/Shop.csproj"} == {
        "Shop/Cart.cs",
        "tests/Shop.Tests/FakeMailer.cs",
        "tests/Shop.Tests/Deep/Down/Fakes/Clock.cs",
        "tests/Shop.Tests/Fixtures/Data.cs",
        "Shop.UnitTests/ClockFixture.cs",
    }


def test_a_file_of_an_earlier_version_is_renewed(project: Project) -> None:
    dotnet(project)
    project.write(NAME, _text(["dotnet"], _EARLIER).replace("\n", "\r\n"))
    project.commit("rules")
    said = project.morph("graph", "refresh")
    assert said.code == 0 and "was renewed" in said.err and "commit it" in said.err
    assert (project.root / NAME).read_text() == text_for(["dotnet"])
    assert "tests/Shop.Tests/FakeMailer.cs" in files_in(project.root)
    assert "renewed" not in project.morph("graph", "refresh").err


def test_an_edited_file_stays_and_its_lines_are_named(project: Project) -> None:
    dotnet(project)
    text = _text(["dotnet"], _EARLIER) + "/mine/\n"
    project.write(NAME, text)
    settled = settle(open_repo(project.root), create=True)
    assert settled.action == "kept" and (project.root / NAME).read_text() == text
    (line,) = settled.warnings
    assert "instead of **/*.Tests/" in line and "!**/Fakes/**" in line


def test_a_new_stack_renews_what_nobody_edited(code: Project) -> None:
    repo = open_repo(code.root)
    assert settle(repo, create=False).action == "kept" and not (code.root / NAME).exists()
    assert settle(repo, create=True).action == "written"
    before = (code.root / NAME).read_text()
    assert settle(repo, create=True).action == "kept"
    code.write("web/package.json", "{}")
    assert settle(repo, create=False).action == "renewed"
    after = (code.root / NAME).read_text()
    assert "package-lock.json" in after and "package-lock.json" not in before


def test_comments_alone_renew_nothing(code: Project) -> None:
    plain = "\n".join(line for line in text_for(["python"]).splitlines() if line and not line.startswith("#"))
    code.write(NAME, plain)
    assert settle(open_repo(code.root), create=True).action == "kept"
    assert (code.root / NAME).read_text() == plain


def test_stacks_show_by_files_and_by_the_setting(project: Project) -> None:
    project.write("a b/c.csproj", "")
    project.write("svc/go.mod", "")
    project.config(project={"stack": "Rust+typescript+docker"})
    assert stacks_of(open_repo(project.root)) == ["node", "dotnet", "go", "rust"]


def test_outputs_are_left_out_after_all_that_is_brought_back() -> None:
    for stack in _STACKS:
        rules = [line for line in text_for([stack, "dotnet"]).splitlines() if line and not line.startswith("#")]
        assert rules[-2:] == ["**/bin/", "**/obj/"]
        assert max(rules.index(rule) for rule in rules if rule.startswith("!")) < rules.index("*.md")


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_what_is_no_file_is_refused_before_graphify_hangs_on_it(code: Project, make: Callable[[Path], None]) -> None:
    make(code.root / NAME)
    said = code.morph("graph", "build", "--json")
    assert said.code == 1 and said.json["code"] == "rules-unreadable" and said.json["fix"].startswith("mv ")
    assert status(code)["available"] is False
    (code.root / "graphify-out").mkdir(exist_ok=True)
    (code.root / "graphify-out/graph.json").write_text('{"nodes": [], "links": []}')
    assert status(code)["freshness"]["state"] == "stale"  # and does not wait for the pipe
