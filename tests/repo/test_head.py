"""The commit that is checked out, by the files of git, held against git itself."""

from collections.abc import Callable
from pathlib import Path

import pytest

from morph_tasks.repo.git import Repo, open_repo
from morph_tasks.repo.head import _by_files, head_commit
from tests.conftest import Project

Change = Callable[[Project], None]


def detached(project: Project) -> None:
    project.git("checkout", "-q", "--detach")


def packed(project: Project) -> None:
    project.git("branch", "x/main")  # its name ends like the one that is asked for
    project.git("branch", "main2")
    project.git("pack-refs", "--all")


def moved_after_packing(project: Project) -> None:
    packed(project)
    project.write("a.txt", "a")
    project.commit()


def symbolic(project: Project) -> None:
    project.git("symbolic-ref", "refs/heads/other", "refs/heads/main")
    project.git("symbolic-ref", "HEAD", "refs/heads/other")


def slashes(project: Project) -> None:
    project.git("checkout", "-q", "-b", "morph/ü b".replace(" ", "-"))


def tagged_and_packed(project: Project) -> None:
    project.git("tag", "-a", "v1", "-m", "one")  # a peeled line follows it
    project.git("pack-refs", "--all")
    project.git("checkout", "-q", "v1")


@pytest.mark.parametrize("change", [detached, packed, moved_after_packing, symbolic, slashes, tagged_and_packed])
def test_the_files_name_the_commit_that_git_names(project: Project, change: Change) -> None:
    change(project)
    repo = open_repo(project.root)
    assert _by_files(repo) == repo.head() is not None


def test_a_linked_tree_has_its_own_head(project: Project, tmp_path: Path) -> None:
    project.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side tree"))
    side = Project(tmp_path / "side tree")
    side.write("a.txt", "a")
    side.commit()
    repo, other = open_repo(side.root), open_repo(project.root)
    assert _by_files(repo) == repo.head() != _by_files(other) == other.head()


def test_no_commit_yet_is_none(tmp_path: Path) -> None:
    made = Project(tmp_path / "new")
    made.root.mkdir()
    made.git("init", "-q")
    assert head_commit(open_repo(made.root)) is None


def test_refs_kept_in_a_table_are_asked_of_git(tmp_path: Path) -> None:
    made = Project(tmp_path / "new")
    made.root.mkdir()
    try:
        made.git("init", "-q", "--ref-format=reftable")
    except Exception:
        pytest.skip("this git keeps no reftable")
    made.git("commit", "-q", "--allow-empty", "-m", "start")
    repo = open_repo(made.root)
    assert _by_files(repo) is None
    assert head_commit(repo) == made.git("rev-parse", "HEAD")


@pytest.mark.parametrize("head", ["ref: refs/../../secret", "ref: refs/heads/a\0b", "", "garbage", "f" * 39])
def test_a_head_that_is_no_name_is_not_followed(project: Project, tmp_path: Path, head: str) -> None:
    (tmp_path / "secret").write_text("a" * 40)
    (project.root / ".git/HEAD").write_text(head)
    git = project.root / ".git"
    assert _by_files(Repo(project.root, git, git)) is None


def test_symbolic_refs_in_a_circle_end(project: Project) -> None:
    (project.root / ".git/refs/heads/main").write_text("ref: refs/heads/main\n")
    git = project.root / ".git"
    assert head_commit(Repo(project.root, git, git)) is None
