"""Merges that no work tree sees."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.repo.git import Repo, open_repo
from morph_tasks.repo.merging import commit_tree, merge_trees
from tests.conftest import Project


@pytest.fixture
def repo(project: Project) -> Repo:
    """A repository with `side` beside `main`, both at the first commit."""
    project.git("branch", "side")
    return open_repo(project.root).lightly()


def put(project: Project, branch: str, name: str, text: str) -> None:
    project.git("switch", "-q", branch)
    project.write(name, text)
    project.commit(name)


def test_two_lines_that_fit(project: Project, repo: Repo) -> None:
    put(project, "main", "a", "a\n")
    put(project, "side", "b", "b\n")
    merged = merge_trees(repo, "main", "side")
    made = commit_tree(repo, merged.tree, ["main", "side"], "Both")
    assert merged.clean and {"a", "b"} <= set(project.git("ls-tree", "--name-only", made).split())
    assert not (project.root / "a").exists() and project.git("status", "--porcelain") == ""


@pytest.mark.parametrize("name", ["plain", "with space", 'quote"d', "new\nline", "höhe", os.fsdecode(b"\xff")])
def test_a_conflict_names_its_paths(project: Project, repo: Repo, name: str) -> None:
    for branch in ("main", "side"):
        project.git("switch", "-q", branch)
        (project.root / name).write_text(f"{branch}\n")
        project.commit(branch)
    merged = merge_trees(repo, "main", "side")
    assert not merged.clean and merged.conflicts == (name,)
    assert not (project.root / ".git/MERGE_HEAD").exists()


def test_the_archive_is_no_renamed_folder(project: Project, repo: Repo) -> None:
    put(project, "main", ".morph/features/shop/plan.md", "plan\n" * 30)
    project.git("branch", "-qf", "side", "main")
    (project.root / ".morph/archive").mkdir()
    project.git("mv", ".morph/features/shop", ".morph/archive/shop")
    project.commit("Archive")
    put(project, "side", ".morph/features/shop/late.md", "late\n")
    merged = merge_trees(repo, "main", "side")
    assert merged.clean
    assert ".morph/features/shop/late.md" in project.git("ls-tree", "-r", "--name-only", merged.tree)


def test_lines_without_a_commit_in_common(project: Project, repo: Repo) -> None:
    project.git("switch", "-q", "--orphan", "other")
    project.write("x", "x\n")
    project.commit("other")
    with pytest.raises(Refusal) as caught:
        merge_trees(repo, "main", "other")
    assert caught.value.code == "unrelated-histories"


def test_nobody_commits(repo: Repo) -> None:
    (Path(os.environ["HOME"]) / ".gitconfig").write_text("[user]\n\tuseConfigOnly = true\n")
    with pytest.raises(Refusal) as caught:
        commit_tree(repo, repo.text("rev-parse", "HEAD^{tree}"), ["HEAD"], "x")
    assert caught.value.code == "no-identity"


def test_a_commit_is_not_signed(project: Project, repo: Repo) -> None:
    project.git("config", "commit.gpgsign", "true")
    project.git("config", "gpg.program", "/bin/false")
    assert commit_tree(repo, repo.text("rev-parse", "HEAD^{tree}"), ["HEAD"], "x")
