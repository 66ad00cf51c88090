from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.proc import run
from morph_tasks.repo import trees
from morph_tasks.repo.git import Repo, open_repo
from morph_tasks.repo.trees import (
    checked_out,
    owner_tree,
    persist_problem,
    primary_root,
    require_owner_tree,
    tree_kind,
)


@pytest.fixture(autouse=True)
def own_git_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Ana")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "ana@example.test")


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    root = Path(os.path.realpath(tmp_path)) / "project"
    run(["git", "init", "-q", "-b", "main", str(root)])
    found = open_repo(root)
    found.git("commit", "-q", "--allow-empty", "-m", "First")
    return found


def linked(repo: Repo, branch: str, name: str = "wt") -> Repo:
    place = repo.root.parent / name
    repo.git("worktree", "add", "-q", "-b", branch, str(place))
    return open_repo(place)


def test_without_a_tree_the_root_owns(repo: Repo) -> None:
    assert owner_tree(repo, "shop") == repo.root
    assert require_owner_tree(repo, "shop") == repo.root
    assert persist_problem(repo, "shop") is None


def test_the_tree_with_the_branch_owns(repo: Repo) -> None:
    tree = linked(repo, "morph/shop")
    for here in (repo, tree):
        assert owner_tree(here, "shop") == tree.root
    assert require_owner_tree(tree, "shop") == tree.root
    assert owner_tree(tree, "sho") == repo.root


def test_why_a_proof_is_not_kept(repo: Repo) -> None:
    tree, other = linked(repo, "morph/shop"), linked(repo, "morph-task/one", "other")
    assert persist_problem(tree, "shop") is None
    assert persist_problem(repo, "shop") == "owner-tree-elsewhere"
    assert persist_problem(other, "shop") == "unregistered-worktree"
    assert persist_problem(other, "cart") == "unregistered-worktree"
    assert persist_problem(repo, "cart") is None


def test_the_refusal_names_the_place_and_the_command(repo: Repo) -> None:
    tree = linked(repo, "morph/shop", "my shop")
    with pytest.raises(Refusal) as refused:
        require_owner_tree(repo, "shop", command="approve shop plan")
    assert refused.value.code == "owner-tree-elsewhere" and refused.value.exit_code == 1
    assert refused.value.fix == f"cd '{tree.root}' && morph-spec approve shop plan"
    assert refused.value.payload["owner"] == str(tree.root)


def test_a_tree_that_nobody_registered(repo: Repo) -> None:
    tree = linked(repo, "topic")
    with pytest.raises(Refusal) as refused:
        require_owner_tree(tree, "shop", command="approve shop plan")
    assert refused.value.code == "unregistered-worktree"
    assert refused.value.fix == f"cd {repo.root} && morph-spec approve shop plan"


def test_the_root_owns_what_it_has_checked_out(repo: Repo) -> None:
    repo.git("switch", "-qc", "morph/shop")
    tree = linked(repo, "topic")
    with pytest.raises(Refusal) as refused:
        require_owner_tree(tree, "shop")
    assert refused.value.code == "owner-tree-elsewhere"


@pytest.mark.parametrize("locked", [False, True])
def test_a_tree_that_vanished_owns_nothing(repo: Repo, locked: bool) -> None:
    tree = linked(repo, "morph/shop")
    if locked:
        repo.git("worktree", "lock", str(tree.root))
    shutil.rmtree(tree.root)
    assert owner_tree(repo, "shop") == repo.root


def test_a_tree_whose_folder_is_another_repository_now_owns_nothing(repo: Repo) -> None:
    tree = linked(repo, "morph/shop")
    shutil.rmtree(tree.root)
    run(["git", "init", "-q", str(tree.root)])
    assert owner_tree(repo, "shop") == repo.root


def test_a_tree_that_was_moved_by_hand_owns_where_it_stands(repo: Repo) -> None:
    tree = linked(repo, "morph/shop")
    moved = tree.root.with_name("moved")
    tree.root.rename(moved)
    assert owner_tree(open_repo(moved), "shop") == moved


def test_a_detached_tree_owns_nothing_and_a_rebasing_one_does(repo: Repo) -> None:
    tree = linked(repo, "morph/shop")
    tree.git("switch", "-q", "--detach")
    assert owner_tree(repo, "shop") == repo.root
    (tree.git_dir / "rebase-merge").mkdir()
    (tree.git_dir / "rebase-merge" / "head-name").write_text("refs/heads/morph/shop\n")
    assert owner_tree(repo, "shop") == tree.root


def test_paths_in_gits_files_may_be_relative(repo: Repo) -> None:
    tree = linked(repo, "morph/shop")
    admin = repo.common_dir / "worktrees" / "wt"
    (admin / "gitdir").write_text(os.path.relpath(tree.root / ".git", admin) + "\n")
    (tree.root / ".git").write_text(f"gitdir: {os.path.relpath(admin, tree.root)}\n")
    assert owner_tree(repo, "shop") == tree.root
    assert owner_tree(open_repo(tree.root), "shop") == tree.root


def test_a_name_with_odd_characters(repo: Repo) -> None:
    place = repo.root.parent / "a b\nc é"
    repo.git("worktree", "add", "-q", "-b", "morph/shop", str(place))
    assert owner_tree(repo, "shop") == owner_tree(open_repo(place), "shop") == place


def test_two_trees_on_one_branch_each_speak_for_themselves(repo: Repo) -> None:
    first, second = linked(repo, "morph/shop"), linked(repo, "topic", "second")
    second.git("switch", "-q", "--ignore-other-worktrees", "morph/shop")
    assert owner_tree(first, "shop") == first.root
    assert owner_tree(second, "shop") == second.root


def test_no_git_process_is_needed(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = linked(repo, "morph/shop")

    def never(*_: object, **__: object) -> None:
        raise AssertionError("git was called")

    monkeypatch.setattr("morph_tasks.repo.git.run", never)
    assert owner_tree(open_repo(tree.root), "shop") == owner_tree(open_repo(repo.root), "shop") == tree.root


@pytest.mark.parametrize("head", ["ref: refs/heads/.invalid\n", None])
def test_git_is_asked_when_its_files_do_not_tell(repo: Repo, monkeypatch: pytest.MonkeyPatch, head: str | None) -> None:
    tree = linked(repo, "morph/shop")
    told = [(repo.root, "main"), (tree.root, "morph/shop")]
    monkeypatch.setattr(trees, "_from_git", lambda _: told)
    path = repo.common_dir / "worktrees" / "wt" / "HEAD"
    path.unlink()
    if head:
        path.write_text(head)
    assert checked_out(repo) == told


def test_files_and_git_agree(repo: Repo) -> None:
    linked(repo, "morph/shop")
    gone = linked(repo, "morph/gone", "gone")
    linked(repo, "other", "detached").git("switch", "-q", "--detach")
    shutil.rmtree(gone.root)
    assert sorted(trees._from_files(repo)) == sorted(trees._from_git(repo))


def test_trees_of_a_bare_repository(repo: Repo) -> None:
    bare = repo.root.parent / "bare.git"
    run(["git", "clone", "-q", "--bare", str(repo.root), str(bare)])
    run(["git", "-C", str(bare), "worktree", "add", "-q", str(repo.root.parent / "one"), "main"])
    run(["git", "-C", str(bare), "worktree", "add", "-q", "-b", "morph/shop", str(repo.root.parent / "two")])
    one, two = open_repo(repo.root.parent / "one"), open_repo(repo.root.parent / "two")
    assert owner_tree(one, "shop") == two.root
    assert trees.live_owners(one, "main") == trees.live_owners(two, "main") == [one.root]
    assert owner_tree(one, "cart") == one.root and persist_problem(one, "cart") is None


def test_a_submodule_is_its_own_root(repo: Repo) -> None:
    outer = repo.root.parent / "outer"
    run(["git", "init", "-q", "-b", "main", str(outer)])
    run(["git", "-C", str(outer), "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(repo.root), "sub"])
    inner = open_repo(outer / "sub")
    assert primary_root(inner) == inner.root and tree_kind(inner) == "root"
    place = repo.root.parent / "linked"
    inner.git("worktree", "add", "-q", "-b", "morph/shop", str(place))
    tree = open_repo(place)
    assert tree_kind(tree) == "worktree"
    assert owner_tree(inner, "shop") == tree.root
    assert primary_root(tree) == inner.root


def test_a_tree_is_found_from_below_and_needs_no_git(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = linked(repo, "topic", "two\nlines")
    (tree.root / "deep").mkdir()
    monkeypatch.setenv("PATH", "")
    for place, found in ((repo.root, repo), (tree.root, tree), (tree.root / "deep", tree)):
        assert open_repo(place) == found
    assert tree.root.name == "two\nlines" and tree.common_dir == repo.git_dir


def test_git_finds_the_words_for_what_is_no_tree(tmp_path: Path) -> None:
    with pytest.raises(Refusal) as refused:
        open_repo(tmp_path)
    assert refused.value.code == "not-a-repository"
    (tmp_path / ".git").write_text("gitdir: nowhere\n")
    with pytest.raises(Refusal):
        open_repo(tmp_path)


def test_a_place_that_belongs_to_another_tree_now_counts_once(repo: Repo) -> None:
    linked(repo, "morph/shop")
    other = linked(repo, "topic", "other")
    (repo.common_dir / "worktrees" / "wt" / "gitdir").write_text(f"{other.root / '.git'}\n")
    assert owner_tree(repo, "shop") == repo.root
