from __future__ import annotations

from pathlib import Path

from tests.conftest import Project
from tests.gh import FakeGh


def start(project: Project, name: str) -> None:
    said = project.morph("create", name, "--type", "feature", "--description", name, "--no-checkout")
    assert said.code == 0, said.err


def test_the_board_for_people(project: Project, origin: Path, gh: FakeGh) -> None:
    start(project, "cart")
    project.write(".morph/features/broken/feature.json", "{")
    gh.pull("morph/cart")
    project.morph("claim", "cart", MORPH_SESSION_ID="s1")
    project.morph("handoff", "cart")
    said = project.morph("fleet")
    assert said.code == 0, said.err
    lines = said.out.splitlines()
    assert len(lines) == 4
    assert lines[0].startswith("⚠  broken") and "[unreadable]" in lines[0]
    assert "gates ahead: ? · " in lines[1]
    assert lines[2].split() == ["cart", "plan", "root", "PR", "#1"]
    assert "gates ahead: plan, review · slices ? · claimed by s1 · no ports · handoff · last activity 2" in lines[3]


def test_the_board_for_programs(project: Project) -> None:
    start(project, "cart")
    said = project.morph("fleet", "--json")
    [cart] = said.json["features"]
    assert said.json["ok"] and said.json["prs"]["verified"] is False and said.json["claims"]["known"]
    assert (cart["feature"], cart["phase"], cart["where"], cart["remote"], cart["dirty"]) == (
        "cart", "plan", "root", "local", None
    )  # fmt: skip
    assert "not verified" not in project.morph("fleet").out, "without origin there is no question"


def test_an_unheard_github_is_said(project: Project, origin: Path, gh: FakeGh) -> None:
    start(project, "cart")
    gh.reply("pr", "list", code=4)
    assert project.morph("fleet").out.splitlines()[-1] == "pull requests not verified: gh is not signed in to GitHub"


def test_nothing_active(project: Project) -> None:
    assert project.morph("fleet").out == "no active features\n"


def test_verify_goes_with_union(project: Project) -> None:
    assert project.morph("fleet", "--verify", "--json").code == 2
