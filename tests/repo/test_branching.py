from __future__ import annotations

from pathlib import Path

import pytest

from morph_tasks.proc import run
from morph_tasks.repo.branching import make_branch, plan_branch, undo_branch
from morph_tasks.repo.git import Repo, open_repo


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Ana")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "ana@example.test")
    run(["git", "init", "-q", "-b", "main", str(tmp_path / "project")])
    found = open_repo(tmp_path / "project")
    found.git("commit", "-q", "--allow-empty", "-m", "First")
    return found


def test_planning_changes_nothing(repo: Repo) -> None:
    plan = plan_branch(repo, "morph/shop", switch=True)
    assert (plan.base_name, plan.base, plan.current) == ("main", repo.head(), "main")
    assert not repo.branch_exists("morph/shop")


@pytest.mark.parametrize("switch", [True, False])
def test_what_was_made_can_be_taken_back(repo: Repo, switch: bool) -> None:
    plan = plan_branch(repo, "morph/shop", switch=switch)
    make_branch(repo, plan)
    assert repo.branch_exists("morph/shop") and (repo.branch() == "morph/shop") is switch
    undo_branch(repo, plan)
    assert repo.branch() == "main" and not repo.branch_exists("morph/shop")


def test_a_branch_that_has_moved_on_is_not_taken_back(repo: Repo) -> None:
    plan = plan_branch(repo, "morph/shop", switch=True)
    make_branch(repo, plan)
    repo.git("commit", "-q", "--allow-empty", "-m", "Work")
    undo_branch(repo, plan)
    assert repo.branch_exists("morph/shop")


def test_a_staged_file_that_the_base_has_too_is_not_in_the_way(repo: Repo) -> None:
    repo.git("branch", "topic")
    (repo.root / "new.txt").write_text("same\n")
    repo.git("add", "new.txt")
    repo.git("commit", "-qm", "Add it")
    repo.git("switch", "-q", "topic")
    (repo.root / "new.txt").write_text("same\n")
    repo.git("add", "new.txt")
    make_branch(repo, plan_branch(repo, "morph/shop", switch=True))
    assert repo.branch() == "morph/shop"
