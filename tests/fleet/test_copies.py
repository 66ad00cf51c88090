from __future__ import annotations

import os
from pathlib import Path

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.fleet import copies
from morph_tasks.fleet.copies import copy_all
from morph_tasks.repo.git import Repo, open_repo
from tests.conftest import Project
from tests.fleet.birthplace import files_of, repo_of, status

IGNORED = ".env\n.env.*\n*.local\nsecrets/\nnode_modules\ndist/\ninclude/\n"


@pytest.fixture
def tree(project: Project) -> Repo:
    """A linked tree beside a project that ignores a lot."""
    project.write(".gitignore", IGNORED)
    project.commit("ignore")
    project.git("worktree", "add", "-q", "../tree", "-b", "tree")
    return open_repo(project.root.parent / "tree")


def included(project: Project, tree: Repo, *lines: str) -> dict[str, str]:
    """Copy with these lines in `.worktreeinclude`, and return why what was left out was."""
    project.write(".worktreeinclude", "\n".join(lines) + "\n")
    return {one["path"]: one["why"] for one in copy_all(repo_of(project), tree).skipped}


def test_ignored_env_files_are_copied_with_their_mode_and_never_over_others(project: Project, tree: Repo) -> None:
    project.write(".env", "A=1\n").chmod(0o600)
    project.write(".env.test", "B=1\n").chmod(0o444)
    project.write(".envrc", "not one of them\n")
    project.write("sub/.env", "deeper\n")
    (project.root / ".env.link").symlink_to(".env")
    (project.root / ".env.folder").mkdir()
    (tree.root / ".env.test").write_text("mine\n")
    done = copy_all(repo_of(project), tree)
    assert done.env == (".env",) and done.include_json() is None
    assert (tree.root / ".env").read_text() == "A=1\n" and (tree.root / ".env").stat().st_mode & 0o777 == 0o600
    assert (tree.root / ".env.test").read_text() == "mine\n"
    assert status(tree.root) == "" and not os.path.lexists(tree.root / ".env.link")
    assert copy_all(repo_of(project), tree).env == ()


def test_a_secret_that_would_show_up_as_a_new_file_stays_where_it_is(project: Project, tree: Repo) -> None:
    project.write(".env", "A=1\n")
    (tree.root / ".gitignore").write_text("")
    assert copy_all(repo_of(project), tree).env == ()
    project.write(".gitignore", "")
    (tree.root / ".gitignore").write_text(IGNORED)
    assert copy_all(repo_of(project), tree).env == ()


def test_a_tracked_env_file_is_no_copy(project: Project, tree: Repo) -> None:
    project.write(".env", "A=1\n")
    project.git("add", "-f", ".env")
    assert copy_all(repo_of(project), tree).env == ()


def test_only_what_is_named_and_ignored_is_carried_along(project: Project, tree: Repo) -> None:
    project.write("app.local", "1")
    project.write("sub/deep/app.local", "2")
    project.write("secrets/key.pem", "3").chmod(0o400)
    project.write("notes.txt", "untracked, not ignored")
    project.write("other.local", "not named")
    why = included(project, tree, "# a comment", "app.local", "secrets/*", "!secrets/not-this", "notes.txt")
    assert why == {"notes.txt": "git does not ignore it"}
    assert (tree.root / "sub/deep/app.local").read_text() == "2"
    assert (tree.root / "secrets/key.pem").stat().st_mode & 0o777 == 0o400
    assert not (tree.root / "notes.txt").exists() and not (tree.root / "other.local").exists()
    before = files_of(tree.root)
    assert copy_all(repo_of(project), tree).included == () and files_of(tree.root) == before


def test_packages_builds_other_repositories_and_our_own_state_are_left_out(project: Project, tree: Repo) -> None:
    for name in (
        "node_modules/a.local",
        "dist/a.local",
        "sub/dist/a.local",
        ".morph/logs/a.local",
        "__pycache__/a.local",
    ):
        project.write(name, "x")
    project.git("init", "-q", "include/inner")
    project.write("include/inner/a.local", "x")
    why = included(project, tree, "*.local", "include/")
    assert set(why) == {"node_modules/", "dist/", "sub/dist/", ".morph/", "__pycache__/a.local", "include/inner/"}
    assert copy_all(repo_of(project), tree).included == () and status(tree.root) == ""


def test_links_are_copied_as_links_and_only_while_they_stay_inside(
    project: Project, tree: Repo, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("not ours")
    (project.root / "sub").mkdir()
    inside = {"in.local": "README.md", "sub/up.local": "../README.md", "dangling.local": "missing"}
    outside = {"out.local": "../secret", "sub/sly.local": "x/../../../secret"}
    outside["absolute.local"] = str(project.root / "README.md")
    for name, target in (inside | outside).items():
        (project.root / name).symlink_to(target)
    why = included(project, tree, "*.local")
    assert set(why) == set(outside)
    assert os.readlink(tree.root / "sub/up.local") == "../README.md" and os.path.islink(tree.root / "dangling.local")


def test_nothing_is_read_or_written_behind_a_link(project: Project, tree: Repo, tmp_path: Path) -> None:
    project.write("secrets/a.local", "x")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tree.root / "secrets").symlink_to(elsewhere)
    assert included(project, tree, "*.local") == {"secrets/": "it is a link"}
    assert os.listdir(elsewhere) == []


@pytest.mark.parametrize("name", ["with space", 'q"uote', "new\nline", "ünï", os.fsdecode(b"\xff"), "-n", "a" * 240])
def test_odd_names(project: Project, tree: Repo, name: str) -> None:
    (project.root / f"{name}.local").write_bytes(b"\0\xff")
    (project.root / f".env.{name[:200]}").write_text("A=1")
    assert included(project, tree, "*.local") == {}
    assert (tree.root / f"{name}.local").read_bytes() == b"\0\xff" and (tree.root / f".env.{name[:200]}").exists()
    assert status(tree.root) == ""


def test_a_copy_that_fails_leaves_no_part_of_a_file(
    project: Project, tree: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write(".env", "A=1\n")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(copies.shutil, "copyfileobj", full)
    with pytest.raises(Refusal) as caught:
        copy_all(repo_of(project), tree)
    assert caught.value.code == "copy-failed" and not [name for name in os.listdir(tree.root) if "env" in name]


def test_what_a_killed_run_left_half_is_written_over(project: Project, tree: Repo) -> None:
    project.write("app.local", "whole")
    included(project, tree, "app.local")
    (tree.root / "app.local").unlink()
    left = copies.beside(tree.root / "app.local")
    left.write_text("wh")
    copy_all(repo_of(project), tree)
    assert (tree.root / "app.local").read_text() == "whole" and not left.exists()
