"""A repository with one commit on `main`, apart from the settings of whoever runs the tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from morph_tasks.repo.git import Repo, open_repo


@pytest.fixture(autouse=True)
def own_git_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "Ana",
        "GIT_AUTHOR_EMAIL": "ana@example.test",
        "GIT_COMMITTER_NAME": "Ana",
        "GIT_COMMITTER_EMAIL": "ana@example.test",
    }.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def unborn_repo(tmp_path: Path) -> Repo:
    from morph_tasks.proc import run

    root = tmp_path / "project"
    run(["git", "init", "-q", "-b", "main", str(root)])
    return open_repo(root)


@pytest.fixture
def repo(unborn_repo: Repo) -> Repo:
    (unborn_repo.root / "app.py").write_text("print('hello')\n")
    unborn_repo.git("add", "app.py")
    unborn_repo.git("commit", "-q", "-m", "First")
    return unborn_repo
