"""The files of a slice: planned, changed, spelled as on disk."""

from __future__ import annotations

import json
import os
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.repo.git import open_repo
from morph_tasks.verify.narrowing.slices import SliceFiles, slice_files, spelled

PLAN_FILE = ".morph/features/cart/2-plan/plan.md"


def files(project: Any, name: str = "F1") -> SliceFiles:
    return slice_files(open_repo(project.root), "cart", name)


def refused(project: Any, name: str = "F1") -> Refusal:
    with pytest.raises(Refusal) as caught:
        files(project, name)
    return caught.value


def test_the_plan_names_them_and_what_is_not_there_is_missing(planned: Any) -> None:
    assert files(planned).files == ("src/cart.py", "tests/test_cart.py")
    found = files(planned, "F2")
    assert (found.files, found.missing) == ((), ("docs/with space.md", "not/there.py", "web/Page.test.ts"))
    assert found.empty


def test_everything_uncommitted_belongs_to_the_slice(planned: Any) -> None:
    planned.write("staged.py", "")
    planned.git("add", "staged.py")
    planned.write("src/cart.py", "A = 2\n")
    planned.write("new/ünter wegs/loose.py", "")
    planned.write("ignored/__pycache__/x.pyc", "")
    planned.write("tests/__pycache__/y.pyc", "")
    found = files(planned, "F2")
    assert found.files == ("new/ünter wegs/loose.py", "src/cart.py", "staged.py")


def test_commits_of_the_branch_count_unless_another_slice_claims_the_file(planned: Any) -> None:
    planned.write("src/cart.py", "A = 2\n")
    planned.write("src/more.py", "")
    planned.write("docs/with space.md", "x")
    planned.commit("work")
    assert files(planned, "F1").files == ("src/cart.py", "src/more.py", "tests/test_cart.py")
    assert files(planned, "F2").files == ("docs/with space.md", "src/more.py")


def test_what_others_did_on_the_default_branch_is_not_the_slices(planned: Any) -> None:
    planned.commit("plan")
    planned.git("switch", "-q", "main")
    planned.write("other.py", "")
    planned.commit("somebody else")
    planned.git("switch", "-q", "morph/cart")
    planned.git("merge", "-q", "--no-edit", "main")
    planned.write("mine.py", "")
    planned.commit("mine")
    assert files(planned).files == ("mine.py", "src/cart.py", "tests/test_cart.py")


def test_deleted_files_are_known_to_be_gone(planned: Any) -> None:
    planned.git("rm", "-q", "tests/test_cart.py")
    found = files(planned)
    assert (found.files, found.deleted, found.missing) == (("src/cart.py",), ("tests/test_cart.py",), ())
    planned.commit("gone")
    assert files(planned).deleted == ("tests/test_cart.py",)
    planned.write("tests/test_cart.py", "")
    assert files(planned).deleted == ()
    assert "tests/test_cart.py" in files(planned).files


def test_folders_are_kept_apart(planned: Any) -> None:
    (planned.root / "not/there.py").mkdir(parents=True)
    nested = planned.root / "vendored"
    nested.mkdir()
    planned.git("init", "-q", "vendored")
    planned.write("vendored/x.py", "")
    assert files(planned, "F2").folders == ("not/there.py", "vendored")


def test_the_state_of_features_is_not_the_slices(planned: Any) -> None:
    text = (planned.root / PLAN_FILE).read_text()
    planned.write(PLAN_FILE, text.replace("src/cart.py,", ".morph/specs/x.md, src/cart.py,"))
    planned.write(".morph/specs/x.md", "")
    assert files(planned).planned == ("src/cart.py", "tests/test_cart.py")
    assert not any(path.startswith(".morph") for path in files(planned).files)


def test_checks_json_answers_when_it_belongs_to_the_plan(planned: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert planned.morph("plan-check", "cart").code == 0
    checks = planned.root / ".morph/features/cart/2-plan/checks.json"
    data = json.loads(checks.read_text())
    data["slices"][0]["files"] = ["README.md"]
    checks.write_text(json.dumps(data))
    assert files(planned).files == ("README.md",)  # the same hash: the plan itself is not parsed again
    planned.write(PLAN_FILE, (planned.root / PLAN_FILE).read_text().replace("Totals drift.", "Totals drift a lot."))
    assert files(planned).files == ("src/cart.py", "tests/test_cart.py")
    checks.write_text("{")
    assert files(planned).files == ("src/cart.py", "tests/test_cart.py")


def test_refusals_name_what_there_is(planned: Any) -> None:
    refusal = refused(planned, "F9")
    assert (refusal.code, refusal.exit_code, refusal.payload["slices"]) == ("slice-not-found", 2, ["F1", "F2"])
    assert "F1, F2" in refusal.what
    assert refused(planned, "f2").fix.endswith("F2")
    planned.write(PLAN_FILE, (planned.root / PLAN_FILE).read_text().replace("python-senior", "nobody"))
    refusal = refused(planned)
    assert (refusal.code, refusal.exit_code) == ("plan-invalid", 1)
    assert refusal.payload["errors"][0]["code"] == "unknown-persona"
    (planned.root / PLAN_FILE).unlink()
    assert (refused(planned).code, refused(planned).exit_code) == ("plan-missing", 2)


def test_without_a_default_branch_the_commits_are_not_known(planned: Any) -> None:
    planned.commit("plan")
    planned.git("branch", "-D", "main")
    planned.git("branch", "one")
    planned.git("config", "init.defaultBranch", "elsewhere")
    planned.git("remote", "add", "origin", "/nowhere")
    found = files(planned)
    assert found.unknown == "no default branch is known"
    assert found.files == ("src/cart.py", "tests/test_cart.py")


def test_before_the_first_commit_everything_is_uncommitted(project: Any, planned: Any) -> None:
    project.git("checkout", "-q", "--orphan", "fresh")
    assert {"src/cart.py", "README.md"} <= set(files(planned, "F2").files)


def test_the_number_of_processes_does_not_grow(planned: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from morph_tasks.repo import git

    calls: list[tuple[str, ...]] = []
    ask = git._git_lightly
    monkeypatch.setattr(git, "_git_lightly", lambda args, **more: calls.append(tuple(args)) or ask(args, **more))
    files(planned)
    few = len(calls)
    for number in range(60):
        planned.write(f"deep/{number}/x.py", "")
    calls.clear()
    assert len(files(planned).files) > 60
    assert 0 < len(calls) <= few


@pytest.mark.parametrize(
    ("written", "on_disk"),
    [
        ("web/Src/Foo.test.ts", "web/src/Foo.test.ts"),
        ("WEB/SRC/FOO.TEST.TS", "web/src/Foo.test.ts"),
        ("web/src/Foo.test.ts", "web/src/Foo.test.ts"),
        ("./web//src/Foo.test.ts", "web/src/Foo.test.ts"),
        ("web/src/None.ts", None),
        ("web/src/Foo.test.ts/x", None),
        (unicodedata.normalize("NFD", "web/é.ts"), "web/é.ts"),
        ("both/a.ts", None),
        ("both/A.ts", "both/A.ts"),
        ("link/foo.test.ts", "link/Foo.test.ts"),
        ("Dangling", "dangling"),
    ],
)
def test_paths_are_spelled_as_on_disk(tmp_path: Path, written: str, on_disk: str | None) -> None:
    for name in ("web/src/Foo.test.ts", "web/é.ts", "both/A.ts", "both/a.TS"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    if len(os.listdir(tmp_path / "both")) == 1:
        pytest.skip("this file system does not tell `A` from `a`")
    (tmp_path / "link").symlink_to("web/src")
    (tmp_path / "dangling").symlink_to("nowhere")
    assert spelled(tmp_path, written) == on_disk


def test_a_case_of_the_plan_becomes_the_disks(planned: Any, tmp_path: Path) -> None:
    planned.write("web/page.TEST.ts", "")
    planned.commit("page")
    assert files(planned, "F2").files == ("web/page.TEST.ts",)
