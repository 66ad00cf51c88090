from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.codegraph.handmade import plan_of
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


def test_collisions_between_open_plans(project: Project) -> None:
    """End to end: the graph is made by graphify itself."""
    project.write(".gitignore", "graphify-out/\nworktrees/\n")
    project.write("src/__init__.py", "")
    project.write("src/prices.py", 'def price(kind):\n    return {"tea": 300}[kind]\n')
    project.write(
        "src/cart.py",
        "from src.prices import price\n\n\nclass Cart:\n    lines = ()\n\n    def total(self):\n"
        "        return sum(price(kind) for kind in self.lines)\n",
    )
    project.commit("a shop")
    for name, files in (("cart", "src/cart.py, src/money.py"), ("tea", "src/prices.py, src/money.py")):
        said = project.morph("create", name, "--type", "feature", "--description", name, "--worktree")
        assert said.code == 0, said.err
        folder = f"worktrees/{name}/.morph/features/{name}/2-plan"
        project.write(f"{folder}/plan.md", plan_of(files))
    said = project.morph("fleet", "--collisions")
    assert said.out.splitlines()[1:2] == ["  same-file   cart F1 × tea F1: src/money.py"]
    assert "dependents not verified: there is no code graph of" in said.out

    graphify = Path(sys.executable).with_name("graphify")
    subprocess.run([graphify, "extract", ".", "--code-only"], cwd=project.root, capture_output=True, check=True)
    said = project.morph("fleet", "--collisions", "--json", cwd=project.root / "worktrees/tea")
    assert (said.code, said.err, said.json["ok"]) == (0, "", True)
    same, direct = said.json["collisions"]
    assert (same["kind"], direct["kind"], direct["distance"]) == ("same-file", "dependent", 1)
    assert [(one["feature"], one["file"]) for one in direct["features"]] == [
        ("tea", "src/prices.py"), ("cart", "src/cart.py"),
    ]  # fmt: skip
    assert [step["symbol"] for step in direct["path"]] == ["price()", "Cart.total()"]
    assert direct["path"][1]["at"] == "src/cart.py:8"
    assert [one["compared"] for one in said.json["plans"]] == [True, True]


def test_collisions_of_nothing_are_refused(project: Project) -> None:
    said = project.morph("fleet", "--collisions", "--json")
    assert (said.code, said.json["code"], said.json["ok"]) == (1, "no-open-plans", False)
    assert project.morph("fleet", "--collisions", "--union").code == 2


def test_signs_that_steer_a_terminal_are_not_printed(project: Project) -> None:
    for name in ("cart", "tea"):
        start(project, name)
        project.write(f".morph/features/{name}/2-plan/plan.md", plan_of("`a\x9b31m.py`, b.py", "src/\u202eb/*.py"))
    said = project.morph("fleet", "--collisions")
    assert said.code == 0 and not any(ord(sign) in range(127, 160) for sign in said.out)
