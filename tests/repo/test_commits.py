from __future__ import annotations

from pathlib import Path

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.proc import run
from morph_tasks.repo.commits import commit_paths, refuse_commit
from morph_tasks.repo.git import Repo, open_repo


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """A repository with `old/a`, `old/b` and `app.py` committed."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Ana")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "ana@example.test")
    run(["git", "init", "-q", "-b", "main", str(tmp_path / "project")])
    found = open_repo(tmp_path / "project")
    (found.root / "old").mkdir()
    for name in ("old/a", "old/b", "app.py"):
        (found.root / name).write_text(f"{name}\n")
    found.git("add", ".")
    found.git("commit", "-q", "-m", "First")
    return found


def changed(repo: Repo) -> list[str]:
    return repo.text("diff-tree", "-r", "--no-renames", "--name-status", "HEAD~1", "HEAD").splitlines()


def move(repo: Repo) -> None:
    (repo.root / "old").rename(repo.root / "new")


def test_a_move_is_committed_and_nothing_else(repo: Repo) -> None:
    (repo.root / "app.py").write_text("staged\n")
    repo.git("add", "app.py")
    (repo.root / "app.py").write_text("edited further\n")
    (repo.root / "loose.txt").write_text("untracked\n")
    move(repo)
    commit = commit_paths(repo, "Move", gone=["old"], added=["new"])
    assert commit == repo.head()
    assert changed(repo) == ["A\tnew/a", "A\tnew/b", "D\told/a", "D\told/b"]
    assert repo.text("status", "--porcelain").splitlines() == ["MM app.py", "?? loose.txt"]
    assert repo.text("show", ":app.py") == "staged"


def test_staged_changes_under_the_paths_follow_the_commit(repo: Repo) -> None:
    (repo.root / "old/a").write_text("other\n")
    repo.git("add", "old/a")
    move(repo)
    commit_paths(repo, "Move", gone=["old"], added=["new"])
    assert repo.text("show", "HEAD:new/a") == "other"
    assert repo.text("status", "--porcelain") == ""


def test_nothing_to_say_is_no_commit(repo: Repo) -> None:
    head = repo.head()
    assert commit_paths(repo, "Nothing", gone=["never"], added=["old", "never"]) is None
    assert repo.head() == head


def test_paths_that_were_only_staged_leave_the_index(repo: Repo) -> None:
    (repo.root / "draft").mkdir()
    (repo.root / "draft/x").write_text("x\n")
    repo.git("add", "draft")
    assert commit_paths(repo, "Drop", gone=["draft"]) is None
    assert repo.text("status", "--porcelain") == "?? draft/"


def test_ignored_files_are_left_out(repo: Repo) -> None:
    (repo.git_dir / "info/exclude").write_text("*.log\n")
    move(repo)
    (repo.root / "new/x.log").write_text("x")
    commit_paths(repo, "Move", gone=["old"], added=["new"])
    assert changed(repo) == ["A\tnew/a", "A\tnew/b", "D\told/a", "D\told/b"]


def test_a_folder_that_is_wholly_ignored_is_left_out(repo: Repo) -> None:
    (repo.git_dir / "info/exclude").write_text("new/\n")
    move(repo)
    commit_paths(repo, "Move", gone=["old"], added=["new"])
    assert changed(repo) == ["D\told/a", "D\told/b"]


def test_no_hook_and_no_signature_stands_in_the_way(repo: Repo) -> None:
    for name in ("pre-commit", "commit-msg", "prepare-commit-msg"):
        hook = repo.git_dir / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text("#!/bin/sh\nexit 1\n")
        hook.chmod(0o755)
    repo.git("config", "commit.gpgsign", "true")
    repo.git("config", "gpg.program", "/bin/false")
    move(repo)
    assert commit_paths(repo, "Move", gone=["old"], added=["new"])
    assert repo.text("config", "commit.gpgsign") == "true"


def test_a_branch_that_moved_meanwhile_is_not_overwritten(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    move(repo)
    real = Repo.text

    def text(self: Repo, *args: str, **named: object) -> str:
        if args[0] == "commit-tree":
            real(self, "commit", "-q", "--allow-empty", "-m", "Somebody else")
        return real(self, *args, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(Repo, "text", text)
    with pytest.raises(Refusal):
        commit_paths(repo, "Move", gone=["old"], added=["new"])
    assert repo.text("log", "-1", "--format=%s") == "Somebody else"
    assert not list(repo.git_dir.glob("morph-index-*"))


def code(repo: Repo) -> str:
    with pytest.raises(Refusal) as refused:
        refuse_commit(repo)
    return refused.value.code


def test_where_nothing_can_be_committed(repo: Repo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    refuse_commit(repo)
    (repo.git_dir / "index.lock").touch()
    assert code(repo) == "index-locked"
    (repo.git_dir / "index.lock").unlink()
    (repo.git_dir / "MERGE_HEAD").write_text(f"{repo.head()}\n")
    assert code(repo) == "operation-in-progress"
    (repo.git_dir / "MERGE_HEAD").unlink()
    repo.git("switch", "-q", "--detach")
    assert code(repo) == "detached-head"
    run(["git", "init", "-q", str(tmp_path / "empty")])
    assert code(open_repo(tmp_path / "empty")) == "no-commits"


def test_somebody_has_to_commit(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.delenv(f"GIT_{role}_NAME")
        monkeypatch.delenv(f"GIT_{role}_EMAIL")
    monkeypatch.delenv("EMAIL", raising=False)
    repo.git("config", "user.useConfigOnly", "true")
    assert code(repo) == "no-identity"
