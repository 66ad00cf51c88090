"""What the tests of new work trees share: features that are there, and what a tree looks like."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.features.birth import Wish, create_feature
from morph_tasks.fleet import marker
from morph_tasks.fleet.setup import setup
from morph_tasks.model.load import Config
from morph_tasks.repo.git import Repo, open_repo
from morph_tasks.stack.ports import blocks
from tests.conftest import Project


def config(**worktree: Any) -> Config:
    return Config({"worktree": worktree} if worktree else {}, "")


def repo_of(project: Project) -> Repo:
    return open_repo(project.root)


def lay_feature(project: Project, name: str = "cart") -> Path:
    """A feature that lies in the main tree, uncommitted, with a branch that nobody has checked out."""
    create_feature(repo_of(project), Wish(name, "A cart", "feature", checkout=False))
    return project.root / f".morph/features/{name}"


def files_of(folder: Path) -> dict[str, bytes | str]:
    """All files and links below a folder, by relative path."""
    return {
        str(path.relative_to(folder)): str(path.readlink()) if path.is_symlink() else path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


def status(tree: Path) -> str:
    """What git says of a tree, empty when it is clean."""
    return open_repo(tree).text("status", "--porcelain", "-uall")


def everything(project: Project) -> Any:
    """All that a refused or failed setup must leave as it was."""
    files = {name: data for name, data in files_of(project.root).items() if not name.startswith((".git/", ".vscode"))}
    repo = repo_of(project)
    return files, repo.text("for-each-ref"), repo.text("worktree", "list", "--porcelain"), blocks(repo)


def refused(project: Project, slug: str = "cart", *, repo: Repo | None = None) -> Refusal:
    """The refusal of a setup, after making sure that it changed nothing."""
    before = everything(project)
    with pytest.raises(Refusal) as caught:
        setup(repo or repo_of(project), slug)
    assert everything(project) == before and marker.read(repo_of(project), slug) is None
    return caught.value
