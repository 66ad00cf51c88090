from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.features.onbranch import feature_tips, read_branches, read_objects
from morph_tasks.features.overview import everywhere, on_disk
from morph_tasks.features.view import FeatureView
from morph_tasks.repo.git import open_repo
from morph_tasks.repo.trees import lost_trees
from tests.conftest import Project

OLD, NEW = "2026-11-01T10:00:00.000Z", "2026-11-20T10:00:00.000Z"


def record(**keys: Any) -> str:
    return json.dumps({"status": "in_progress", "description": "A cart", "updatedAt": OLD, **keys})


def rows(project: Project, where: Path | None = None, **options: Any) -> dict[str, FeatureView]:
    found = everywhere(open_repo(where or project.root), archived=False, **options)
    return {view.slug: view for view in found.rows}


def on_branch(project: Project, slug: str, text: str, *files: str) -> None:
    """Commit a feature on its branch, which no tree has in the end; main stays as it was."""
    project.git("switch", "-q", "-c", f"morph/{slug}", "main")
    project.write(f".morph/features/{slug}/feature.json", text)
    for name in files:
        project.write(f".morph/features/{slug}/{name}", "x\n")
    project.commit(slug)
    project.git("switch", "-q", "main")


def on_main(project: Project, slug: str, text: str) -> None:
    project.write(f".morph/features/{slug}/feature.json", text)


def test_a_feature_that_only_its_branch_has(project: Project) -> None:
    on_branch(project, "cart", record(approvalGates={"plan": {"approved": True}}), "1-design/x.html")
    view = rows(project)["cart"]
    assert (view.source, view.where, view.phase, view.flags) == ("branch", "branch morph/cart", "uiux", ())
    assert not on_disk(open_repo(project.root), archived=True).rows


def test_the_branch_is_right_when_the_copy_here_is_frozen(project: Project) -> None:
    on_branch(project, "cart", record(updatedAt=NEW, description="Moved on"), "4-review/x.md")
    on_main(project, "cart", record())
    view = rows(project)["cart"]
    assert (view.source, view.description) == ("branch", "Moved on")
    here = on_disk(open_repo(project.root), archived=False).rows[0]
    assert (here.source, here.where, here.description) == ("disk", "root", "A cart")


def test_the_copy_here_is_right_when_it_was_changed_later(project: Project) -> None:
    on_branch(project, "cart", record())
    on_main(project, "cart", record(updatedAt=NEW, description="Approved here"))
    view = rows(project)["cart"]
    assert (view.source, view.where, view.description) == ("disk", "root", "Approved here")


def test_the_same_record_is_read_here(project: Project) -> None:
    on_branch(project, "cart", record())
    on_main(project, "cart", record())
    assert rows(project)["cart"].source == "disk"


@pytest.mark.parametrize(("branch", "here", "source"), [("{", record(), "disk"), (record(), "{", "branch")])
def test_a_record_that_can_be_read_wins(project: Project, branch: str, here: str, source: str) -> None:
    on_branch(project, "cart", branch)
    on_main(project, "cart", here)
    assert rows(project)["cart"].source == source and not rows(project)["cart"].problem


def test_a_broken_record_on_a_branch_is_a_row_with_a_flag(project: Project) -> None:
    on_branch(project, "cart", "{")
    on_branch(project, "shop", '{"status": "new"}')
    found = rows(project)
    assert found["cart"].flags == ("unreadable",) and "morph/cart" in found["cart"].problem
    assert found["shop"].flags == ("unreadable",)


def test_a_living_tree_is_right_whatever_its_branch_says(project: Project, tmp_path: Path) -> None:
    on_branch(project, "cart", record())
    on_branch(project, "shop", record())
    project.git("worktree", "add", "-q", str(project.root / "worktrees/cart"), "morph/cart")
    project.git("worktree", "add", "-q", str(tmp_path / "far away"), "morph/shop")
    tree = Project(project.root / "worktrees/cart")
    tree.write(".morph/features/cart/feature.json", record(description="Not committed yet"))
    found = rows(project)
    assert (found["cart"].source, found["cart"].where) == ("disk", "worktree worktrees/cart")
    assert found["cart"].description == "Not committed yet"
    assert found["shop"].where == f"worktree {os.path.realpath(tmp_path / 'far away')}"
    assert rows(project, tree.root)["cart"].where == "worktree worktrees/cart"
    assert rows(project, tree.root)["cart"].tree is None


def test_the_main_tree_can_own_a_feature(project: Project) -> None:
    on_branch(project, "cart", record())
    project.git("switch", "-q", "morph/cart")
    assert (rows(project)["cart"].source, rows(project)["cart"].where) == ("disk", "root")


def test_a_tree_whose_folder_is_gone(project: Project, tmp_path: Path) -> None:
    on_branch(project, "cart", record())
    project.git("worktree", "add", "-q", str(tmp_path / "w"), "morph/cart")
    os.rename(tmp_path / "w", tmp_path / "elsewhere")
    view = rows(project)["cart"]
    assert (view.where, view.flags, view.source) == ("⚠ worktree missing", ("worktree-missing",), "branch")
    assert lost_trees(open_repo(project.root)) == [(tmp_path / "w", "morph/cart")]
    # From the tree itself, which was only moved by hand, nothing is missing.
    assert rows(project, tmp_path / "elsewhere")["cart"].flags == ()


@pytest.mark.parametrize("path", ["gone", "/nowhere/at all"])
def test_a_record_that_names_a_tree_that_is_gone(project: Project, path: str) -> None:
    on_main(project, "cart", record(worktree={"path": path}))
    (project.root / "here").mkdir()
    on_main(project, "shop", record(worktree={"path": "here"}))
    for odd in ("", "\0", 3, None):
        on_main(project, "odd", record(worktree={"path": odd}))
        for view in (
            rows(project),
            {view.slug: view for view in on_disk(open_repo(project.root), archived=False).rows},
        ):
            assert (view["cart"].where, view["cart"].flags) == ("⚠ worktree missing", ("worktree-missing",))
            assert view["shop"].flags == () == view["odd"].flags


def archive_on_branch(project: Project, slug: str) -> None:
    on_branch(project, slug, record())
    project.git("switch", "-q", f"morph/{slug}")
    project.git("mv", f".morph/features/{slug}", f".morph/{slug}")
    (project.root / ".morph/archive").mkdir()
    project.git("mv", f".morph/{slug}", f".morph/archive/{slug}")
    project.commit("archive")
    project.git("switch", "-q", "main")


def test_a_copy_of_what_was_archived_on_its_branch(project: Project) -> None:
    archive_on_branch(project, "cart")
    assert rows(project) == {}
    on_main(project, "cart", record())
    assert rows(project)["cart"].flags == ("archived-elsewhere",)
    found = everywhere(open_repo(project.root), archived=True)
    assert [view.slug for view in found.archived] == []


def test_a_copy_that_was_left_beside_its_archive(project: Project) -> None:
    archive_on_branch(project, "cart")
    project.git("merge", "-q", "--no-ff", "-m", "merge", "morph/cart")
    assert rows(project) == {}
    on_main(project, "cart", record())
    assert rows(project)["cart"].flags == ("archived-elsewhere",)


def test_a_feature_that_was_deleted_here_does_not_come_back_from_its_branch(project: Project, tmp_path: Path) -> None:
    on_main(project, "cart", record())
    project.commit("cart")
    project.git("branch", "morph/cart")
    project.git("worktree", "add", "-q", str(tmp_path / "task"), "-b", "morph-task/x")
    project.git("rm", "-rq", ".morph/features/cart")
    project.git("commit", "-q", "-m", "delete")
    assert rows(project) == {}
    # A tree that has not heard of it yet has its own copy.
    assert rows(project, tmp_path / "task")["cart"].source == "disk"
    project.git("switch", "-q", "--orphan", "empty")
    assert rows(project)["cart"].source == "branch"


def test_what_is_archived_on_a_branch_belongs_to_the_archives(project: Project) -> None:
    archive_on_branch(project, "cart")
    [view] = everywhere(open_repo(project.root), archived=True).archived
    assert (view.slug, view.phase, view.where, view.flags) == (
        "cart", "archived", "branch morph/cart", ("archived-elsewhere",)
    )  # fmt: skip


def test_a_copy_of_what_was_archived_in_another_tree(project: Project, tmp_path: Path) -> None:
    archive_on_branch(project, "cart")
    on_main(project, "cart", record())
    project.git("worktree", "add", "-q", str(tmp_path / "w"), "morph/cart")
    view = rows(project)["cart"]
    assert "archived-elsewhere" in view.flags and "not-in-owner-tree" not in view.flags


def test_a_copy_in_a_linked_tree_of_what_was_archived_in_the_main_one(project: Project, tmp_path: Path) -> None:
    on_main(project, "cart", record())
    project.commit("cart")
    project.git("worktree", "add", "-q", str(tmp_path / "w"), "-b", "morph-task/x")
    (project.root / ".morph/archive").mkdir()
    project.git("mv", ".morph/features/cart", ".morph/archive/cart")
    assert rows(project, tmp_path / "w")["cart"].flags == ("archived-elsewhere",)


def test_branches_are_read_by_their_full_names(project: Project) -> None:
    on_branch(project, "cart", record())
    project.git("update-ref", "refs/heads/morph/deep/er", "main")
    project.git("symbolic-ref", "refs/heads/morph/alias", "refs/heads/morph/cart")
    project.git("tag", "morph/tag", "morph/cart")
    subprocess.run([b"git", b"update-ref", b"refs/heads/morph/\xff'$", b"main"], cwd=project.root, check=True)
    assert set(feature_tips(open_repo(project.root))) == {"cart", os.fsdecode(b"\xff'$")}
    assert set(rows(project)) == {"cart"}


def test_objects_are_read_whatever_they_hold(project: Project) -> None:
    repo = open_repo(project.root)
    text = b"missing\n\0abc blob 3\n"
    oid = repo.git("hash-object", "-w", "--stdin", stdin=text).decode().strip()
    found = read_objects(repo, [oid, "nothing:at all", "HEAD:README.md", oid, "HEAD:gone"])
    assert found == {oid: text, "nothing:at all": None, "HEAD:README.md": b"# shop\n", "HEAD:gone": None}
    assert read_objects(repo, []) == {}


def test_a_branch_whose_commit_is_missing_holds_nothing(project: Project) -> None:
    repo = open_repo(project.root)
    [held] = read_branches(repo, {"cart": "1" * 40}).values()
    assert (held.record, held.archive, held.folders.design) == (None, None, False)


def test_sha_256(tmp_path: Path) -> None:
    made = Project(tmp_path / "sha")
    made.root.mkdir()
    made.git("init", "-q", "-b", "main", "--object-format=sha256")
    made.write("x", "1\n")
    made.commit()
    on_branch(made, "cart", record(), "4-review/x.md", "1-design/x")
    held = read_branches(open_repo(made.root), feature_tips(open_repo(made.root)))["cart"]
    assert held.record["description"] == "A cart" and held.folders.design and held.folders.review


def test_before_the_first_commit(tmp_path: Path) -> None:
    made = Project(tmp_path / "new")
    made.root.mkdir()
    made.git("init", "-q", "-b", "main")
    on_main(made, "cart", record())
    assert rows(made)["cart"].where == "root"
