from __future__ import annotations

from pathlib import Path
from typing import Any

from morph_tasks.proc import run
from morph_tasks.repo.git import open_repo
from morph_tasks.verify import probe
from morph_tasks.verify.validators.base import SHALLOW, find_base


def _tree_of(tree: Any, ref: str) -> str:
    return str(tree.git("rev-parse", f"{ref}^{{tree}}"))


def _origin(tree: Any, tmp_path: Path) -> None:
    run(["git", "clone", "-q", "--bare", str(tree.root), str(tmp_path / "origin.git")])
    tree.git("remote", "add", "origin", str(tmp_path / "origin.git"))
    tree.git("fetch", "-q", "origin")


def test_the_commit_shared_with_the_local_default_branch(tree: Any) -> None:
    tree.write("new.py", "x = 1\n")
    tree.commit()
    base = find_base(tree.repo)
    assert (base.tree, base.against) == (_tree_of(tree, "main"), "main")


def test_work_on_main_after_the_fork_does_not_move_it(tree: Any) -> None:
    forked = _tree_of(tree, "main")
    tree.git("checkout", "-q", "main")
    tree.write("other.py", "y = 1\n")
    tree.commit()
    tree.git("checkout", "-q", "morph/cart")
    assert find_base(tree.repo).tree == forked


def test_the_remote_comes_before_the_local_branch(tree: Any, tmp_path: Path) -> None:
    _origin(tree, tmp_path)
    before = _tree_of(tree, "main")
    tree.git("checkout", "-q", "main")
    tree.write("unpushed.py", "y = 1\n")
    tree.commit()
    tree.git("checkout", "-q", "-B", "morph/cart")
    base = find_base(tree.repo)
    assert (base.tree, base.against) == (before, "origin/main")


def test_before_the_first_commit_everything_is_new(fresh: Any) -> None:
    base = find_base(fresh.repo)
    assert (base.why, base.against) == (None, "nothing")
    assert base.tree == fresh.git("hash-object", "-t", "tree", "/dev/null")


def test_a_shallow_clone_cannot_tell(tree: Any, tmp_path: Path) -> None:
    tree.write("new.py", "x = 1\n")
    tree.commit()
    tree.git("checkout", "-q", "main")
    tree.write("other.py", "y = 1\n")
    tree.commit()
    run(["git", "clone", "-q", "--depth=1", "--no-single-branch", f"file://{tree.root}", str(tmp_path / "sh")])
    run(["git", "-C", str(tmp_path / "sh"), "checkout", "-q", "morph/cart"])
    base = find_base(open_repo(tmp_path / "sh"))
    assert base.tree is None
    assert str(base.why).endswith(SHALLOW)


def test_a_shallow_clone_of_one_branch_cannot_tell_either(tree: Any, tmp_path: Path) -> None:
    tree.write("new.py", "x = 1\n")
    tree.commit()
    tree.git("checkout", "-q", "main")
    run(["git", "clone", "-q", "--depth=1", "-b", "morph/cart", f"file://{tree.root}", str(tmp_path / "sh")])
    base = find_base(open_repo(tmp_path / "sh"))
    assert base.tree is None
    assert SHALLOW in str(base.why)


def test_a_shared_commit_that_is_there_counts_in_a_shallow_clone(tree: Any, tmp_path: Path) -> None:
    tree.write("new.py", "x = 1\n")
    tree.commit()
    tree.git("checkout", "-q", "main")
    for number in range(3):
        tree.write("other.py", f"y = {number}\n")
        tree.commit()
    tree.git("merge", "-q", "morph/cart")
    tree.git("checkout", "-q", "-B", "morph/next")
    tree.write("next.py", "z = 1\n")
    tree.commit()
    tree.git("checkout", "-q", "main")
    run(["git", "clone", "-q", "--depth=2", "--no-single-branch", f"file://{tree.root}", str(tmp_path / "sh")])
    run(["git", "-C", str(tmp_path / "sh"), "checkout", "-q", "morph/next"])
    assert (tmp_path / "sh/.git/shallow").is_file()
    assert find_base(open_repo(tmp_path / "sh")).tree == _tree_of(tree, "main")


def test_unrelated_histories_share_nothing(tree: Any) -> None:
    tree.git("checkout", "-q", "--orphan", "other")
    tree.commit()
    base = find_base(tree.repo)
    assert base.tree is None
    assert "no commit shared with main" in str(base.why)


def test_a_detached_head_has_a_base(tree: Any) -> None:
    tree.git("checkout", "-q", "--detach")
    assert find_base(tree.repo).tree == _tree_of(tree, "main")


def test_a_moved_base_is_noticed_in_the_same_process(tree: Any) -> None:
    before = find_base(tree.repo).tree
    tree.git("checkout", "-q", "main")
    tree.write("other.py", "y = 1\n")
    tree.commit()
    tree.git("checkout", "-q", "morph/cart")
    tree.git("merge", "-q", "main")
    assert find_base(tree.repo).tree == _tree_of(tree, "main") != before


def test_a_default_branch_of_another_name_is_watched(fresh: Any) -> None:
    fresh.git("symbolic-ref", "HEAD", "refs/heads/trunk")
    fresh.commit()
    fresh.git("config", "init.defaultBranch", "trunk")
    first = find_base(fresh.repo).tree
    fresh.write("a.py", "x = 1\n")
    fresh.commit()
    assert find_base(fresh.repo).tree == _tree_of(fresh, "HEAD") != first
    fresh.git("checkout", "-q", "-b", "morph/cart")
    assert find_base(fresh.repo).tree != first
    fresh.git("branch", "-f", "trunk", "trunk~1")
    assert find_base(fresh.repo).tree == first


def test_a_later_no_op_can_notice_that_the_base_moved(tree: Any) -> None:
    find_base(tree.repo)
    asked = dict(probe.answers())
    tree.git("checkout", "-q", "main")
    tree.write("other.py", "y = 1\n")
    tree.commit()
    assert not all(probe.same(kind, subject, answer) for (kind, subject), answer in asked.items())


def test_a_linked_work_tree_asks_its_own_head(tree: Any, tmp_path: Path) -> None:
    tree.git("worktree", "add", "-q", "-b", "morph/other", str(tmp_path / "linked"), "main")
    assert find_base(open_repo(tmp_path / "linked")).tree == _tree_of(tree, "main")
