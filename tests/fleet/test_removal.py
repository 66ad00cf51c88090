from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from morph_tasks.errors import Refusal
from morph_tasks.fleet import aside, registration, removal
from morph_tasks.fleet.stamps import new_stamp
from morph_tasks.proc import run
from tests.conftest import ROOT
from tests.fleet.linked import ODD, Linked, contents, make_linked, manifest, snapshot


def refused(call: Callable[[], object], code: str) -> Refusal:
    with pytest.raises(Refusal) as caught:
        call()
    assert caught.value.code == code, caught.value.what
    return caught.value


def untouched(linked: Linked, call: Callable[[], object], code: str) -> Refusal:
    """Expect a refusal that leaves the tree, its registration and the folder around it as they were."""
    before = (
        snapshot(linked.tree),
        linked.git("worktree", "list", "--porcelain"),
        sorted(os.listdir(linked.tree.parent)),
    )
    caught = refused(call, code)
    after = snapshot(linked.tree), linked.git("worktree", "list", "--porcelain"), sorted(os.listdir(linked.tree.parent))
    assert before == after
    assert not list(linked.store.glob("removals/*"))
    assert caught.fix
    return caught


def test_a_clean_tree_goes(linked: Linked) -> None:
    done = linked.remove()
    assert not linked.tree.exists() and not linked.registered()
    assert linked.git("rev-parse", "--verify", linked.branch)
    assert done.as_json() == {
        "worktreeRemoved": True,
        "path": str(linked.tree),
        "missing": False,
        "unlinked": [],
        "replicatedInRoot": [],
        "discardedIgnored": [],
        "ignoredBackup": None,
        "backedUp": [],
        "alreadyDeregistered": False,
        "kept": None,
        "left": None,
    }
    assert os.listdir(linked.tree.parent) == [] and not list(linked.store.glob("removals/*"))


def test_a_link_to_a_shared_folder_is_unlinked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "x").write_text("keep\n")
    linked = make_linked(tmp_path, branch="b1", place="../w1")
    (linked.main / ".gitignore").write_text("")
    linked.git("commit", "-qam", "ignore nothing")
    linked.git("reset", "-q", "--hard", "main", cwd=linked.tree)
    linked.link("node_modules", shared)
    (linked.main / ".claude").mkdir()
    linked.write(".claude/settings.json", main=True)
    linked.link(".claude", linked.main / ".claude")
    linked.link("docs/deep", "../../shared")
    done = linked.remove().as_json()
    assert not linked.tree.exists()
    assert (shared / "x").read_text() == "keep\n" and (linked.main / ".claude/settings.json").exists()
    assert done["unlinked"] == [".claude", "docs/deep", "node_modules"]
    told = manifest(Path(done["ignoredBackup"]))
    assert {"path": "node_modules", "target": str(shared)} in told["links"] and told["files"] == []


def test_a_link_that_the_main_tree_explains_needs_no_copy(linked: Linked) -> None:
    linked.write("node_modules/a.js", main=True)
    linked.link("node_modules", linked.main / "node_modules")
    done = linked.remove()
    assert done.backup is None and done.as_json()["unlinked"] == ["node_modules"]
    assert (linked.main / "node_modules/a.js").exists()


def test_ignored_files_do_not_vanish(linked: Linked) -> None:
    linked.write("local/.env", "precious\n", mode=0o644)
    linked.write("local/same", "1", main=True)
    linked.write("local/same", "1")
    linked.write("local/node_modules/a.js")
    linked.link("local/ln", "gone")
    done = linked.remove().as_json()
    saved = Path(done["ignoredBackup"])
    assert saved.parent == linked.store / "finish-backup/task" and saved.name.endswith("-worktree-ignored")
    assert (saved / "local/.env").read_text() == "precious\n"
    assert done["backedUp"] == ["local/.env"] and done["replicatedInRoot"] == ["local/same"]
    assert done["discardedIgnored"] == ["local/node_modules/"] and not (saved / "local/node_modules").exists()
    told = manifest(saved)
    assert told["secrets"] == ["local/.env"] and told["excludedCaches"] == ["local/node_modules/"]
    assert told["links"] == [{"path": "local/ln", "target": "gone"}]
    assert [one["path"] for one in told["replicated"]] == ["local/same"]
    assert (told["branch"], told["name"], told["kind"]) == (linked.branch, "cart", "worktree-ignored")


def test_consent_to_lose_ignored_files(linked: Linked) -> None:
    linked.write("local/a.db")
    done = linked.remove(discard_ignored=True).as_json()
    assert done["ignoredBackup"] is None and done["backedUp"] == [] and done["discardedIgnored"] == ["local/a.db"]
    assert not (linked.store / "finish-backup").exists() and not linked.tree.exists()


def test_odd_paths(tmp_path: Path) -> None:
    linked = make_linked(tmp_path, branch="fix/höhe", place="../o dd\n\"é\udcff'")
    for name in ODD:
        linked.write(name, os.fsencode(name))
        linked.write(f"src/{name}".replace(".log", ".txt"), "tracked")
    linked.commit()
    done = linked.remove()
    assert done.backup and contents(done.backup) == {os.fsencode(name) for name in ODD}
    assert not linked.tree.exists() and not linked.registered()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda t: t.write("new.txt"),
        lambda t: t.write("src/app.txt", "changed"),
        lambda t: (t.tree / "src/app.txt").unlink(),
        lambda t: (t.write("staged.txt"), t.git("add", "staged.txt", cwd=t.tree)),
        lambda t: t.write(".morph/features/cart/feature.json", "{}"),
        lambda t: t.write("junit.xml"),
        lambda t: t.link("latest", "src"),
        lambda t: (t.write("src/app.txt", "x"), t.git("update-index", "--assume-unchanged", "src/app.txt", cwd=t.tree)),
        lambda t: (t.write("src/app.txt", "x"), t.git("update-index", "--skip-worktree", "src/app.txt", cwd=t.tree)),
        lambda t: run(["git", "init", "-q", str(t.tree / "nested")]),
        lambda t: (t.write("x.txt"), t.git("add", "-N", "x.txt", cwd=t.tree)),
    ],
)
def test_what_is_not_committed_stops_it(linked: Linked, spoil: Callable[[Linked], object]) -> None:
    linked.write("local/a.db")
    spoil(linked)
    for discard in (False, True):
        caught = untouched(linked, lambda d=discard: linked.remove(discard_ignored=d), "worktree-dirty")  # type: ignore[misc]
        assert caught.payload["paths"]
    assert not (linked.store / "finish-backup").exists()


def test_somebody_is_inside(linked: Linked, monkeypatch: pytest.MonkeyPatch) -> None:
    linked.link("node_modules", linked.main)
    inside = linked.tree / "src"
    with monkeypatch.context() as here:
        here.chdir(inside)
        untouched(linked, lambda: removal.plan_removal(linked.repo, linked.tree), "cwd-inside-worktree")
    for name in ("MORPH_SESSION_PROJECT_DIR", "CLAUDE_PROJECT_DIR"):
        with monkeypatch.context() as session:
            session.setenv(name, str(inside))
            untouched(linked, linked.plan, "session-anchored-in-worktree")
            assert removal.plan_removal(linked.repo, linked.tree, even_anchored=True)
            session.setenv(name, f"{linked.tree}-2")
            assert linked.plan()
    linked.remove()


def test_a_lock_is_told_with_its_reason(linked: Linked) -> None:
    linked.git("worktree", "lock", "--reason", "agent runs", str(linked.tree))
    caught = untouched(linked, linked.plan, "worktree-locked")
    assert caught.what.endswith("is locked: agent runs") and caught.fix == f"git worktree unlock {linked.tree}"


def in_conflict(linked: Linked) -> None:
    linked.write("src/app.txt", "two\n", main=True)
    linked.git("commit", "-qam", "two")
    linked.write("src/app.txt", "three\n")
    linked.commit("three")


@pytest.mark.parametrize(
    "words",
    [
        ["merge", "main"],
        ["rebase", "main"],
        ["cherry-pick", "main"],
        ["revert", "--no-edit", "HEAD~1"],
        ["bisect", "start"],
    ],
)
def test_an_operation_under_way(linked: Linked, words: list[str]) -> None:
    in_conflict(linked)
    if words[0] == "revert":
        linked.write("src/app.txt", "four\n")
        linked.commit("four")
    linked.git(*words, cwd=linked.tree, ok=False)
    caught = untouched(linked, linked.plan, "operation-in-progress")
    assert words[0] in caught.what and f"git -C {linked.tree} {words[0]}" in caught.fix


def test_git_at_work(linked: Linked) -> None:
    (linked.admin / "index.lock").touch()
    assert untouched(linked, linked.plan, "index-locked").exit_code == 3


def test_commits_that_nothing_else_holds(linked: Linked) -> None:
    linked.git("switch", "-q", "--detach", cwd=linked.tree)
    linked.plan()
    linked.write("src/app.txt", "alone\n")
    commit = linked.commit("alone")
    linked.git("stash", "store", "-m", "held", commit)  # dropped by anybody at any time
    caught = untouched(linked, linked.remove, "exclusive-commits")
    assert caught.payload == {"commit": commit, "count": 1} and caught.fix == f"git branch <name> {commit}"
    linked.git("update-ref", "refs/elsewhere/x", commit)
    linked.remove()


def test_references_of_the_tree_alone(linked: Linked) -> None:
    linked.write("src/app.txt", "alone\n")
    commit = linked.commit("alone")
    linked.git("reset", "-q", "--hard", "HEAD~1", cwd=linked.tree)
    linked.git("update-ref", "refs/worktree/mine", commit, cwd=linked.tree)
    assert "refs/worktree/mine" in untouched(linked, linked.plan, "exclusive-commits").what
    linked.git("switch", "-q", "--detach", cwd=linked.tree)
    assert "refs/worktree/mine" in untouched(linked, linked.plan, "exclusive-commits").what


def test_the_main_tree_and_what_is_none(linked: Linked, tmp_path: Path) -> None:
    for path, code in (
        (linked.main, "main-worktree"),
        (linked.tree / "src", "not-a-worktree"),
        (tmp_path, "not-a-worktree"),
        (linked.main / "nowhere", "not-a-worktree"),
        (linked.main / ".git", "not-a-worktree"),
    ):
        refused(lambda p=path: removal.plan_removal(linked.repo, p), code)  # type: ignore[misc]
    (tmp_path / "else").mkdir()
    other = make_linked(tmp_path / "else")
    refused(lambda: removal.plan_removal(linked.repo, other.tree), "not-a-worktree")
    assert other.tree.exists()


def test_a_link_names_the_tree_it_leads_to(linked: Linked, tmp_path: Path) -> None:
    (tmp_path / "ln").symlink_to(linked.tree)
    plan = removal.plan_removal(linked.repo, tmp_path / "ln")
    assert plan.path == linked.tree
    linked.remove(plan)
    assert not linked.tree.exists() and (tmp_path / "ln").is_symlink()


def test_a_tree_in_the_tree(linked: Linked) -> None:
    linked.git("worktree", "add", "-q", str(linked.tree / "worktrees/inner"), "-b", "inner")
    caught = untouched(linked, linked.plan, "worktree-inside")
    assert caught.payload["inside"] == str(linked.tree / "worktrees/inner")


def test_a_mount_point(linked: Linked, tmp_path: Path) -> None:
    for place in (linked.tree / "local", linked.tree):
        place.mkdir(exist_ok=True)
        shared = tmp_path / "shared"
        shared.mkdir(exist_ok=True)
        source = shared if place != linked.tree else linked.tree
        try:
            run(["mount", "--bind", str(source), str(place)])
        except Refusal:
            pytest.skip("nothing can be mounted here")
        try:
            caught = untouched(linked, linked.plan, "worktree-busy")
            assert "mount point" in caught.what and caught.fix == f"umount {place}"
        finally:
            run(["umount", str(place)])
    linked.remove()


def test_a_folder_that_cannot_be_renamed(linked: Linked, monkeypatch: pytest.MonkeyPatch) -> None:
    linked.link("node_modules", linked.main)
    real = os.rename

    def refuse(old: Path, new: Path) -> None:
        if Path(old) == linked.tree:
            raise OSError(16, "Device or resource busy")
        real(old, new)

    monkeypatch.setattr(os, "rename", refuse)
    assert "Device or resource busy" in untouched(linked, linked.remove, "worktree-busy").what


# What happens between the first look and the second


def meanwhile(linked: Linked, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], object]) -> None:
    """Have something happen in the tree the moment before it is moved aside."""
    real = os.rename

    def rename(old: Path, new: Path) -> None:
        if Path(old) == linked.tree:
            change(linked.tree)
        real(old, new)

    monkeypatch.setattr(os, "rename", rename)


@pytest.mark.parametrize(
    ("name", "text"),
    [("new.txt", "x"), ("src/app.txt", "changed"), ("local/new.db", "x"), ("local/a.db", "changed"), ("b.log", "x")],
)
def test_what_appears_meanwhile_is_found(linked: Linked, monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> None:
    linked.write("local/a.db", "first")
    linked.link("node_modules", linked.main)
    plan = linked.plan()
    with monkeypatch.context() as patched:
        meanwhile(linked, patched, lambda tree: linked.write(name, text))
        caught = refused(lambda: linked.remove(plan), "changed-meanwhile")
    assert caught.payload["paths"] == [name] and caught.exit_code == 3
    assert (linked.tree / name).read_text() == text and linked.registered()
    assert os.readlink(linked.tree / "node_modules") == str(linked.main)
    assert os.listdir(linked.tree.parent) == ["cart"] and not list(linked.store.glob("removals/*"))


def test_a_link_that_appears_meanwhile_is_found(linked: Linked, monkeypatch: pytest.MonkeyPatch) -> None:
    """No copy of files would tell where it led."""
    linked.write("local/a.db")
    plan = linked.plan()
    with monkeypatch.context() as patched:
        meanwhile(linked, patched, lambda tree: linked.link("local/current", "a.db"))
        caught = refused(lambda: linked.remove(plan), "changed-meanwhile")
    assert caught.payload["paths"] == ["local/current"]
    assert os.readlink(linked.tree / "local/current") == "a.db" and linked.registered()


def test_what_stands_in_for_a_file_vanishes_meanwhile(linked: Linked, monkeypatch: pytest.MonkeyPatch) -> None:
    linked.write("local/a.db", "same", main=True)
    linked.write("local/a.db", "same")
    plan = linked.plan()
    with monkeypatch.context() as patched:
        meanwhile(linked, patched, lambda tree: (linked.main / "local/a.db").unlink())
        refused(lambda: linked.remove(plan), "changed-meanwhile")
    assert (linked.tree / "local/a.db").read_text() == "same"


def test_a_commit_on_a_detached_head_meanwhile(linked: Linked, monkeypatch: pytest.MonkeyPatch) -> None:
    linked.git("switch", "-q", "--detach", cwd=linked.tree)
    plan = linked.plan()
    with monkeypatch.context() as patched:
        meanwhile(linked, patched, lambda tree: linked.commit("alone"))
        refused(lambda: linked.remove(plan), "exclusive-commits")
    assert linked.registered() and linked.git("log", "-1", "--format=%s", cwd=linked.tree) == "alone"


def test_a_lock_meanwhile(linked: Linked, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = linked.plan()
    with monkeypatch.context() as patched:
        meanwhile(linked, patched, lambda tree: linked.git("worktree", "lock", str(tree)))
        refused(lambda: linked.remove(plan), "worktree-locked")
    assert linked.tree.exists()


@pytest.mark.parametrize("step", ["deregister", "unlink", "save"])
def test_a_failure_after_the_move_puts_it_back(linked: Linked, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    linked.link("node_modules", linked.main)
    linked.write("local/a.db")
    before = snapshot(linked.tree)
    plan = linked.plan()
    with monkeypatch.context() as patched:
        if step == "deregister":

            def refuse(*_: object) -> None:
                raise Refusal("deregistration-failed", "no")

            patched.setattr(registration, "deregister", refuse)
        elif step == "unlink":
            real = os.unlink

            def fail(path: Path, **words: int) -> None:
                if str(path).endswith("node_modules"):
                    raise PermissionError(13, "Permission denied")
                real(path, **words)

            patched.setattr(os, "unlink", fail)
        else:
            saved = aside.Aside.save

            def full(one: aside.Aside, state: str) -> None:
                if state == aside.PROVED:
                    raise Refusal("write-failed", "disk full")
                saved(one, state)

            patched.setattr(aside.Aside, "save", full)
        with pytest.raises(Refusal):
            linked.remove(plan)
    assert snapshot(linked.tree) == before and linked.registered()
    assert not list(linked.store.glob("removals/*"))
    linked.remove()


def test_git_is_told_where_the_tree_is_again(linked: Linked, monkeypatch: pytest.MonkeyPatch) -> None:
    def corrected(repo: object, path: Path) -> None:
        # As git does on its own when it meets a tree somewhere else.
        place = next(one for one in path.parent.iterdir() if one.name.startswith(".morph-removing"))
        (linked_admin / "gitdir").write_text(f"{place}/.git\n")
        raise Refusal("deregistration-failed", "no")

    linked_admin = linked.admin
    monkeypatch.setattr(registration, "deregister", corrected)
    refused(linked.remove, "deregistration-failed")
    assert linked.registered() and linked.git("status", "--porcelain", cwd=linked.tree) == ""


def test_something_takes_the_place_meanwhile(linked: Linked, monkeypatch: pytest.MonkeyPatch) -> None:
    linked.write("local/a.db", "precious")

    def refuse(repo: object, path: Path) -> None:
        linked.write("logs/server.txt", "a server that goes on")
        raise Refusal("deregistration-failed", "no")

    with monkeypatch.context() as patched:
        patched.setattr(registration, "deregister", refuse)
        caught = refused(linked.remove, "put-back-failed")
    place = Path(caught.payload["aside"])
    assert caught.exit_code == 4 and (place / "local/a.db").read_text() == "precious"
    assert "could not be put back" in removal.recover(linked.repo)[0]
    os.rename(linked.tree, linked.tree.with_name("other"))
    assert "put the work tree" in removal.recover(linked.repo)[0]
    assert (linked.tree / "local/a.db").read_text() == "precious" and linked.registered()
    assert removal.recover(linked.repo) == []


def test_what_cannot_be_deleted_is_told_and_tried_again(linked: Linked, monkeypatch: pytest.MonkeyPatch) -> None:
    linked.write("local/a.db")

    def refuse(folder: Path) -> None:
        raise PermissionError(13, "Permission denied", "a.db")

    with monkeypatch.context() as patched:
        patched.setattr(aside, "delete", refuse)
        done = linked.remove()
        assert done.left and "Permission denied" in done.left and not linked.registered()
        assert "could not be deleted" in removal.recover(linked.repo)[0]
    assert "finished the removal" in removal.recover(linked.repo)[0]
    assert os.listdir(linked.tree.parent) == []


@pytest.mark.parametrize("state", [aside.GONE, aside.PROVED])
def test_a_new_tree_at_the_place_of_an_old_one(linked: Linked, monkeypatch: pytest.MonkeyPatch, state: str) -> None:
    monkeypatch.setattr(aside, "finish_deleting", lambda one: "killed")
    linked.remove()
    (record,) = linked.store.glob("removals/*.json")
    record.write_text(record.read_text().replace(f'"{aside.GONE}"', f'"{state}"'))
    linked.git("worktree", "add", "-q", str(linked.tree), linked.branch)
    linked.write("local/new.db", "new")
    monkeypatch.undo()
    removal.recover(linked.repo)
    assert os.listdir(linked.tree.parent) == ["cart"] and (linked.tree / "local/new.db").read_text() == "new"


def test_git_forgets_a_tree_that_was_not_proved(linked: Linked, monkeypatch: pytest.MonkeyPatch) -> None:
    linked.write("local/a.db", "precious")
    plan = linked.plan()
    real = aside.Aside.save

    def stop(one: aside.Aside, state: str) -> None:
        real(one, state)
        raise KeyboardInterrupt

    monkeypatch.setattr(aside.Aside, "save", stop)
    with pytest.raises(KeyboardInterrupt):
        linked.remove(plan)
    monkeypatch.undo()
    (record,) = linked.store.glob("removals/*.json")
    os.rename(linked.tree, json.loads(record.read_text())["aside"])
    linked.git("worktree", "prune")
    assert "git has forgotten it" in removal.recover(linked.repo)[0]
    assert (linked.tree / "local/a.db").read_text() == "precious"


def test_a_record_that_cannot_be_read_stops_nobody(linked: Linked) -> None:
    (linked.store / "removals").mkdir(parents=True)
    (linked.store / "removals/x.json").write_text("{")
    assert "cannot be read" in removal.recover(linked.repo)[0]


# Folders that are gone


def test_a_tree_that_moved_along_with_its_repository_is_not_missing(tmp_path: Path) -> None:
    linked = make_linked(tmp_path)
    (linked.tree / "edited").write_text("not committed")
    old, new = linked.main, tmp_path / "moved"
    tree = new / linked.tree.relative_to(old)
    old.rename(new)
    moved = Linked(new, linked.tree, linked.branch)
    caught = refused(lambda: removal.plan_removal(moved.repo, linked.tree), "worktree-moved")
    assert caught.fix == f"git worktree repair {tree}"
    moved.git("worktree", "repair", str(tree))
    refused(lambda: removal.plan_removal(moved.repo, tree), "worktree-dirty")


def test_only_the_registration_in_question_is_dropped(tmp_path: Path) -> None:
    linked = make_linked(tmp_path, branch="b4", place="../w4")
    other, moved = tmp_path / "w6", tmp_path / "w6-moved"
    linked.git("worktree", "add", "-q", str(other), "-b", "b6")
    (other / "new").write_text("x")
    other.rename(moved)
    run(["rm", "-rf", str(linked.tree)])
    done = linked.remove()
    assert done.plan.missing and done.as_json()["worktreeRemoved"]
    assert not linked.registered()
    linked.git("branch", "-D", "b4")
    assert f"worktree {other}" in linked.git("worktree", "list", "--porcelain")
    caught = refused(lambda: removal.plan_removal(linked.repo, other), "worktree-moved")
    assert caught.fix == f"git worktree repair {moved}"
    refused(lambda: removal.plan_removal(linked.repo, moved), "worktree-moved")
    linked.git("worktree", "repair", str(moved))
    assert (moved / "new").read_text() == "x" and linked.git("status", "--porcelain", cwd=moved) == "?? new"


def test_a_whole_container_is_gone(linked: Linked) -> None:
    run(["rm", "-rf", str(linked.tree.parent)])
    linked.remove()
    assert not linked.registered()


def test_what_was_staged_in_a_folder_that_is_gone_is_kept(linked: Linked) -> None:
    linked.write("src/app.txt", "staged\n")
    linked.git("add", "-A", cwd=linked.tree)
    run(["rm", "-rf", str(linked.tree)])
    done = linked.remove()
    assert done.kept and done.kept.ref.startswith("refs/morph-spec/kept/cart-")
    assert linked.git("show", f"{done.kept.ref}:src/app.txt") == "staged"
    assert linked.git("rev-parse", f"{done.kept.ref}^") == linked.git("rev-parse", linked.branch)


def test_a_folder_that_is_gone_proves_nothing_about_commits(linked: Linked) -> None:
    linked.git("switch", "-q", "--detach", cwd=linked.tree)
    linked.commit("alone")
    run(["rm", "-rf", str(linked.tree)])
    refused(linked.plan, "exclusive-commits")
    assert linked.registered()


def test_a_folder_that_is_gone_in_the_middle_of_a_merge(linked: Linked) -> None:
    in_conflict(linked)
    linked.git("merge", "main", cwd=linked.tree, ok=False)
    run(["rm", "-rf", str(linked.tree)])
    caught = refused(linked.plan, "operation-in-progress")
    run(["sh", "-c", caught.fix.removeprefix("finish it, or ")])
    linked.git("checkout", "-q", "--", ".", cwd=linked.tree)
    assert linked.git("status", "--porcelain", cwd=linked.tree) == ""
    linked.remove()


def test_a_locked_folder_that_is_gone(linked: Linked) -> None:
    linked.git("worktree", "lock", "--reason", "on a stick", str(linked.tree))
    run(["rm", "-rf", str(linked.tree)])
    assert "on a stick" in refused(linked.plan, "worktree-locked").what


def test_a_tree_without_its_pointer(linked: Linked) -> None:
    linked.write("new.txt", "precious")
    (linked.tree / ".git").unlink()
    caught = refused(linked.plan, "worktree-broken")
    assert caught.fix == "git worktree repair" and (linked.tree / "new.txt").exists()


def test_a_copy_of_a_tree(linked: Linked, tmp_path: Path) -> None:
    run(["cp", "-r", str(linked.tree), str(tmp_path / "copy")])
    caught = refused(lambda: removal.plan_removal(linked.repo, tmp_path / "copy"), "worktree-moved")
    assert "is a copy" in caught.what and caught.fix.startswith(f"git worktree repair {tmp_path / 'copy'} (")


def test_only_the_empty_folder_is_left(linked: Linked, tmp_path: Path) -> None:
    pointer = (linked.tree / ".git").read_text()
    linked.remove()
    for name in ("", ".git"):
        linked.tree.mkdir()
        if name:
            (linked.tree / name).write_text(pointer)
        done = linked.remove()
        assert done.as_json()["alreadyDeregistered"] and not linked.tree.exists()
    linked.tree.mkdir()
    linked.write("a.txt")
    refused(linked.plan, "not-a-worktree")
    (tmp_path / "empty").mkdir()
    refused(lambda: removal.plan_removal(linked.repo, tmp_path / "empty"), "not-a-worktree")


# Submodules


@pytest.fixture
def with_submodule(linked: Linked, tmp_path: Path) -> Linked:
    """The tree has a submodule `lib` that is as its remote is; the remote has a tag off every branch."""
    remote = tmp_path / "lib.git"
    seed = tmp_path / "seed"
    run(["git", "init", "-q", "-b", "main", str(seed)])
    (seed / "lib.txt").write_text("1\n")
    (seed / ".gitignore").write_text("*.log\n")
    for words in (["add", "-A"], ["commit", "-q", "-m", "lib"], ["switch", "-q", "-c", "old"]):
        run(["git", "-C", str(seed), *words])
    run(["git", "-C", str(seed), "commit", "-q", "--allow-empty", "-m", "old"])
    for words in (["tag", "v0"], ["switch", "-q", "main"], ["branch", "-q", "-D", "old"]):
        run(["git", "-C", str(seed), *words])
    run(["git", "clone", "-q", "--bare", str(seed), str(remote)])
    linked.git("submodule", "--quiet", "add", str(remote), "lib", cwd=linked.tree)
    linked.commit("lib")
    return linked


def test_a_submodule_that_is_as_its_remote_is(with_submodule: Linked) -> None:
    assert with_submodule.git("tag", cwd=with_submodule.tree / "lib") == "v0"
    with_submodule.write("lib/a.log", "ignored")
    done = with_submodule.remove()
    assert done.backup and (done.backup / "lib/a.log").read_text() == "ignored"
    assert not with_submodule.tree.exists() and not with_submodule.registered()


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (lambda t, lib: (lib / "lib.txt").write_text("2\n"), "worktree-dirty"),
        (lambda t, lib: (lib / "new.txt").write_text("2\n"), "worktree-dirty"),
        (
            lambda t, lib: (
                (lib / "lib.txt").write_text("2\n"),
                t.git("update-index", "--assume-unchanged", "lib.txt", cwd=lib),
            ),
            "worktree-dirty",
        ),
        (lambda t, lib: t.git("branch", "mine", t.git("commit-tree", "HEAD^{tree}", "-m", "x", cwd=lib), cwd=lib), ""),
        (
            lambda t, lib: (t.git("commit", "-q", "--allow-empty", "-m", "x", cwd=lib), t.commit("bump")),
            "",
        ),
        (
            lambda t, lib: (
                (lib / "lib.txt").write_text("2\n"),
                t.git("stash", "-q", cwd=lib),
            ),
            "",
        ),
        (
            lambda t, lib: (
                t.git("branch", "mine", t.git("commit-tree", "HEAD^{tree}", "-m", "x", cwd=lib), cwd=lib),
                t.git("submodule", "--quiet", "deinit", "lib", cwd=t.tree),
            ),
            "",
        ),
        (
            lambda t, lib: (
                t.git("submodule", "--quiet", "deinit", "lib", cwd=t.tree),
                (lib / "mine.txt").write_text("x"),
            ),
            "worktree-dirty",
        ),
    ],
)
def test_a_submodule_with_work_of_its_own(
    with_submodule: Linked, spoil: Callable[[Linked, Path], object], code: str
) -> None:
    spoil(with_submodule, with_submodule.tree / "lib")
    untouched(with_submodule, with_submodule.remove, code or "submodule-unproved")


def test_the_changes_of_a_submodule_are_committed_first(with_submodule: Linked) -> None:
    (with_submodule.tree / "lib/new.txt").write_text("2\n")
    caught = refused(with_submodule.plan, "worktree-dirty")
    steps = caught.fix.partition(", or ")[0].replace(" commit", " commit -qm x")
    run(["sh", "-c", steps])
    assert steps.startswith(f"git -C {with_submodule.tree}/lib ")
    refused(with_submodule.plan, "submodule-unproved")  # nothing is left to commit; it is not pushed


# No room for the backup


def test_no_room_for_the_backup(linked: Linked) -> None:
    linked.write("local/big.db", os.urandom(200_000))
    linked.write("local/same", "1", main=True)
    linked.write("local/same", "1")
    linked.link("node_modules", linked.main)
    code = (
        "import sys, pathlib\n"
        "from morph_tasks.fleet import removal\nfrom morph_tasks.repo.git import open_repo\n"
        "from morph_tasks.errors import Refusal\nimport json, resource\n"
        "main, tree, stamp = map(pathlib.Path, sys.argv[1:])\n"
        "repo = open_repo(main)\nplan = removal.plan_removal(repo, tree)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))\n"
        "try:\n    removal.remove_tree(repo, plan, stamp=str(stamp), name='cart', namespace='task')\n"
        "except Refusal as refusal:\n    print(json.dumps(refusal.as_json()))\n"
    )

    def attempt() -> None:
        words = [sys.executable, "-c", code, str(linked.main), str(linked.tree), new_stamp()]
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
        told = json.loads(done.stdout)
        assert told["exclusive"] == ["local/big.db"] and told["replicated"] == ["local/same"]
        assert "finish-backup/task/cart-" in told["backup"] and "local/big.db" in told["hint"]
        raise Refusal(told["code"], told["message"], fix=told["fix"])

    caught = untouched(linked, attempt, "backup-failed")
    assert "File too large" in caught.what and "--discard-ignored" in caught.fix
    assert os.listdir(linked.store / "finish-backup/task") == []
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 100_000


def test_a_disk_that_is_full(linked: Linked) -> None:
    linked.write("local/big.db", os.urandom(300_000))
    store = linked.store / "finish-backup"
    store.mkdir(parents=True)
    try:
        run(["mount", "-t", "tmpfs", "-o", "size=128k", "none", str(store)])
    except Refusal:
        pytest.skip("nothing can be mounted here")
    try:
        assert "No space left" in untouched(linked, linked.remove, "backup-failed").what
        assert [name for name in store.rglob("*") if name.is_file()] == []
    finally:
        run(["umount", str(store)])


# Whatever lies in a tree

PARTS = st.sampled_from(["a", "b c", "é", "x'y", "local", "data", "node_modules", "bin", "obj", "__pycache__", "n\nl"])
NAMES = st.sampled_from(
    ["f.log", ".env", ".env.e2e", "t.txt", "i.tsbuildinfo", "d.db", "-x.log", os.fsdecode(b"\xff.log")]
)
ENTRY = st.tuples(
    st.lists(PARTS, max_size=3),
    NAMES,
    st.sampled_from([b"", b"1", b"22", b"\0\xff"]),
    st.sampled_from(["tree", "tree", "both", "committed", "link-out", "link-in", "link-gone"]),
)


@given(st.lists(ENTRY, max_size=12))
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_byte_is_somewhere(
    tmp_path_factory: pytest.TempPathFactory, entries: list[tuple[list[str], str, bytes, str]]
) -> None:
    base = tmp_path_factory.mktemp("woods")
    (base / "out").mkdir()
    (base / "out/kept").write_bytes(b"kept")
    linked = make_linked(base)
    for folders, name, data, kind in entries:
        path = linked.tree.joinpath(*folders, name)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if os.path.lexists(path):
                continue
            if kind.startswith("link"):
                path.symlink_to({"link-out": base / "out", "link-in": ".", "link-gone": "nowhere"}[kind])
                continue
            path.write_bytes(data)
        except (NotADirectoryError, FileExistsError):
            continue
        if kind == "both":
            linked.write(str(path.relative_to(linked.tree)), data, main=True)
        elif kind == "committed":
            linked.git("add", "-f", "--", str(path), cwd=linked.tree)
    linked.commit("what git does not ignore")
    tracked = set(linked.git("ls-files", "-z", cwd=linked.tree).split("\0"))
    before = {path: data for path, data in snapshot(linked.tree).items() if path not in tracked and path != ".git"}
    bytes_before = {
        path: (linked.tree / path).read_bytes()
        for path, kind in before.items()
        if len(kind) > 60 and not kind.startswith("->")
    }
    done = linked.remove()
    found = done.plan.found
    gone = tuple(found.regenerable)
    told = manifest(done.backup) if done.backup else {"links": [], "files": []}
    for path, data in bytes_before.items():
        if path in done.backed_up:
            assert done.backup and (done.backup / path).read_bytes() == data
        elif path in {one.path for one in found.replicated}:
            assert (linked.main / path).read_bytes() == data
        else:
            assert any(path == one or (one.endswith("/") and path.startswith(one)) for one in gone), path
    links = {one["path"]: one["target"] for one in told["links"]}
    for path, kind in before.items():
        if kind.startswith("-> ") and not any(path.startswith(one) for one in gone):
            assert links[path] == kind[3:]
    assert (base / "out/kept").read_bytes() == b"kept"
    assert not linked.tree.exists() and not linked.registered()
    assert linked.git("status", "--porcelain", "--ignored=no", "--untracked-files=no") == ""
