from __future__ import annotations

import os
from pathlib import Path

import pytest

from morph_tasks.fleet.excludes import anchored, exclude
from morph_tasks.fleet.layout import container, exclude_lines, is_ours, primary_of, tree_path
from morph_tasks.repo.git import open_repo
from tests.conftest import Project
from tests.fleet.birthplace import config, repo_of


def test_trees_lie_in_the_main_tree_unless_something_is_said(project: Project) -> None:
    place = container(repo_of(project), config())
    assert place.path == project.root / "worktrees" and place.warning is None
    assert tree_path(repo_of(project), config(), "cart") == project.root / "worktrees/cart"


@pytest.mark.parametrize("said", ["{tmp}/trees", "../trees", "~/trees", ".."])
def test_a_root_elsewhere_holds_a_folder_of_this_repository(project: Project, tmp_path: Path, said: str) -> None:
    said = said.format(tmp=tmp_path)
    found = container(repo_of(project), config(root=said)).path
    assert found.parent == Path(os.path.realpath(project.root / os.path.expanduser(said)))
    assert found.name.startswith("shop-") and len(found.name) == len("shop-") + 8


def test_two_repositories_of_one_name_do_not_meet(project: Project, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    twin = Project(tmp_path / "other/shop")
    project.git("clone", "-q", str(project.root), str(twin.root))
    said = config(root=str(tmp_path / "trees"))
    assert container(repo_of(project), said).path != container(repo_of(twin), said).path


@pytest.mark.parametrize("said", [".", "sub", "worktrees", ".git/trees", "link"])
def test_a_root_inside_of_the_repository_is_not_used(project: Project, said: str) -> None:
    (project.root / "sub").mkdir()
    (project.root.parent / "link").symlink_to(project.root / "sub")
    (project.root / "link").symlink_to(project.root.parent / "link")
    place = container(repo_of(project), config(root=said))
    assert place.path == project.root / "worktrees"
    assert place.warning and "worktree.root" in place.warning


def test_the_variable_comes_before_the_setting(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MORPH_WORKTREE_ROOT", str(tmp_path / "mine"))
    assert container(repo_of(project), config(root="/elsewhere")).path.parent == tmp_path / "mine"
    monkeypatch.setenv("MORPH_WORKTREE_ROOT", str(project.root / "in"))
    place = container(repo_of(project), config(root="/elsewhere"))
    assert place.path == project.root / "worktrees" and "MORPH_WORKTREE_ROOT" in str(place.warning)


def test_trees_of_any_layout_are_ours_and_the_containers_themselves_are_not(project: Project, tmp_path: Path) -> None:
    repo, said = repo_of(project), config(root=str(tmp_path / "trees"))
    ours = [container(repo, said).path / "a", project.root / "worktrees/a", project.root / ".worktrees/a/b"]
    assert all(is_ours(repo, said, path) for path in ours)
    others = [container(repo, said).path, tmp_path / "trees/shop-00000000/a", project.root, tmp_path / "worktrees/a"]
    assert not any(is_ours(repo, said, path) for path in others)
    assert not is_ours(repo, config(), container(repo, said).path / "a")


def test_a_linked_tree_means_the_same_places(project: Project) -> None:
    project.git("worktree", "add", "-q", "../linked", "-b", "linked")
    linked = open_repo(project.root.parent / "linked")
    assert container(linked, config(root="../trees")) == container(repo_of(project), config(root="../trees"))
    assert primary_of(linked).root == project.root


def test_a_bare_repository_puts_them_beside_itself(project: Project, tmp_path: Path) -> None:
    project.git("clone", "-q", "--bare", str(project.root), str(tmp_path / "shop.git"))
    project.git("-C", str(tmp_path / "shop.git"), "worktree", "add", "-q", str(tmp_path / "one"), "main")
    found = container(open_repo(tmp_path / "one"), config()).path
    assert found.parent == tmp_path / "worktrees" and found.name.startswith("shop.git-")
    assert is_ours(open_repo(tmp_path / "one"), config(), found / "cart")


def test_a_container_with_files_of_the_project_is_not_hidden_as_a_whole(project: Project) -> None:
    repo = repo_of(project)
    tree = project.root / "worktrees/cart"
    assert exclude_lines(repo, container(repo, config()), tree) == ["worktrees"]
    project.write("worktrees/readme.md", "ours\n")
    project.commit()
    assert exclude_lines(repo, container(repo, config()), tree) == ["worktrees/cart"]
    assert exclude_lines(repo, container(repo, config(root="..")), project.root.parent / "x/cart") == []


@pytest.mark.parametrize(
    "name", ["plain", "with space ", "st*r", "q?", "[a]b", "back\\slash", "new\nline", "!bang", "#hash", "ü"]
)
def test_a_line_hides_a_link_of_any_name_and_nothing_else(project: Project, name: str) -> None:
    (project.root / name).symlink_to("README.md")
    (project.root / "sub").mkdir()
    (project.root / "sub" / name).symlink_to("../README.md")
    exclude(repo_of(project), [name])
    shown = [line for line in repo_of(project).git("status", "--porcelain", "-z", "-uall").split(b"\0") if line]
    assert shown == [b"?? " + os.fsencode(f"sub/{name}")]


def test_lines_are_only_added_and_only_once(project: Project) -> None:
    file = project.root / ".git/info/exclude"
    file.write_bytes(b"*.mine\r\n/old")
    assert exclude(repo_of(project), ["old", "new"], globs=["a/*"]) == ["/new", "/a/*"]
    assert file.read_bytes() == b"*.mine\r\n/old\r\n/new\r\n/a/*\r\n"
    assert exclude(repo_of(project), ["old", "new"], globs=["a/*"]) == []
    file.unlink()
    file.parent.rmdir()
    assert exclude(repo_of(project), ["new"]) == ["/new"] and file.read_bytes() == b"/new\n"
    assert anchored("a b") == "/a\\ b"
