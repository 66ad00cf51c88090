from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.fleet.openplans import OpenPlan, not_compared, open_plans
from morph_tasks.plan.service import LARGEST
from morph_tasks.repo.git import open_repo
from tests.codegraph.handmade import plan_of
from tests.conftest import Project


def record(**keys: Any) -> str:
    return json.dumps({"status": "in_progress", "description": "d", "updatedAt": "2026-11-01T10:00:00.000Z", **keys})


def here(project: Project, slug: str, plan: str | None, **keys: Any) -> Path:
    folder = f".morph/features/{slug}"
    project.write(f"{folder}/feature.json", record(**keys))
    if plan is not None:
        project.write(f"{folder}/2-plan/plan.md", plan)
    return project.root / folder


def on_branch(project: Project, slug: str, plan: str | None) -> None:
    project.git("switch", "-q", "-c", f"morph/{slug}", "main")
    here(project, slug, plan)
    project.commit(slug)
    project.git("switch", "-q", "main")


def plans(project: Project, where: Path | None = None) -> dict[str, OpenPlan]:
    return {one.feature: one for one in open_plans(open_repo(where or project.root))}


def test_each_is_read_where_it_belongs_and_the_same_from_every_tree(project: Project, tmp_path: Path) -> None:
    on_branch(project, "branch", plan_of("b.py"))
    on_branch(project, "tree", plan_of("old.py"))
    tree = tmp_path / "a tree\nß"
    project.git("worktree", "add", "-q", str(tree), "morph/tree")
    Project(tree).write(".morph/features/tree/2-plan/plan.md", plan_of("t.py", "`a b.py`"))
    here(project, "here", plan_of("h.py"))
    here(project, "gone", plan_of("x.py"), status="abandoned")
    found = plans(project)
    files = {name: one.files.slices for name, one in found.items() if one.files}
    assert files == {
        "branch": {"F1": ("b.py",)}, "here": {"F1": ("h.py",)}, "tree": {"F1": ("t.py",), "F2": ("a b.py",)},
    }  # fmt: skip
    assert plans(project, tree) == found
    assert [one.feature for one in open_plans(open_repo(project.root), without="here")] == ["branch", "tree"]


def test_what_cannot_be_read_is_named(project: Project) -> None:
    on_branch(project, "branchless", None)
    here(project, "none", None)
    here(project, "chore", None, workType="chore")
    here(project, "binary", None)
    here(project, "large", "x" * (LARGEST + 1))
    here(project, "empty", "# Nothing\n")
    assert project.morph("create", "fresh", "--type", "feature", "--description", "d", "--no-checkout").code == 0
    project.write(".morph/features/binary/2-plan/plan.md", "")
    (project.root / ".morph/features/binary/2-plan/plan.md").write_bytes(b"\xff\xfe")
    project.write(".morph/features/broken/feature.json", "{")
    said = {row["feature"]: row["reason"] for row in not_compared(plans(project).values())}
    assert set(said) == {"branchless", "none", "chore", "binary", "large", "empty", "fresh", "broken"}
    assert said["branchless"] == "there is no .morph/features/branchless/2-plan/plan.md on morph/branchless"
    assert said["chore"].endswith("(a chore needs none)") and said["none"].endswith("plan.md")
    assert "UTF-8" in said["binary"] and "larger than" in said["large"]
    assert (said["empty"], said["fresh"]) == ("its plan names no file", "its plan is not written yet")


def test_a_plan_with_mistakes_is_compared_as_far_as_it_goes(project: Project) -> None:
    here(project, "cart", plan_of("a.py, src/*.py, src/"))
    one = plans(project)["cart"]
    assert one.files and one.files.slices == {"F1": ("a.py",)}
    assert [(row["path"], row["reason"]) for row in not_compared([one])] == [
        ("src/*.py", "is a pattern: name the files"),
        ("src/", "is a folder: name the files"),
    ]


@pytest.mark.parametrize("checks", ["{", "[]", '{"version": 1}', "\x00"])
def test_checks_that_are_torn_do_not_matter(project: Project, checks: str) -> None:
    folder = here(project, "cart", plan_of("a.py"))
    (folder / "2-plan/checks.json").write_text(checks)
    one = plans(project)["cart"]
    assert one.files and one.files.slices == {"F1": ("a.py",)}


def test_a_copy_of_what_was_archived_on_its_branch_is_no_open_plan(project: Project) -> None:
    project.git("switch", "-q", "-c", "morph/cart", "main")
    project.write(".morph/archive/cart/feature.json", record(status="archived"))
    project.commit("archive")
    project.git("switch", "-q", "main")
    here(project, "cart", plan_of("a.py"))
    here(project, "tea", plan_of("a.py"))
    assert list(plans(project)) == ["tea"]


def test_few_questions_to_git_for_many_branches(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    from morph_tasks.repo import spawn

    started: list[list[str]] = []
    stream = spawn.stream

    def counted(argv: list[str], *rest: Any, **more: Any) -> Any:
        started.append(argv)
        return stream(argv, *rest, **more)

    def count() -> int:
        started.clear()
        assert all(one.files for one in plans(project).values())
        return len(started)

    monkeypatch.setattr(spawn, "stream", counted)
    on_branch(project, "one", plan_of("a.py"))
    few = count()
    for number in range(6):
        on_branch(project, f"more-{number}", plan_of("a.py"))
    assert count() == few > 0
