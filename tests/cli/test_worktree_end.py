from __future__ import annotations

import json
import os
import random
import resource
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.fleet.stamps import new_stamp
from morph_tasks.repo.files import locked
from morph_tasks.stack.ports import block_of, known_block
from tests.conftest import BIN, Project
from tests.faults import Moment, in_child
from tests.fleet.linked import Linked, contents, make_linked, manifest, snapshot


@pytest.fixture
def linked(tmp_path: Path) -> Linked:
    """A main tree, and the tree of the feature `cart` with something of everything that git ignores."""
    made = make_linked(tmp_path, branch="morph/cart")
    made.write("local/same", "same", main=True)
    made.write("local/same", "same")
    made.write("local/a.db", "precious")
    made.write("local/.env.e2e", "KEY=1")
    made.write("node_modules/a.js")
    (made.main / ".claude").mkdir()
    made.write(".claude/x.md", "keep", main=True)
    made.git("config", "core.excludesFile", str(tmp_path / "ignore"))
    (tmp_path / "ignore").write_text(".claude\n")
    made.link(".claude", "../../.claude")
    return made


def said(linked: Linked, *words: str, cwd: Path | None = None, **env: str) -> tuple[int, Any]:
    done = Project(linked.main).morph("worktree", *words, "--json", cwd=cwd, **env)
    return done.code, json.loads(done.out)


def test_a_tree_in_which_a_verify_runs_stays(linked: Linked) -> None:
    before = snapshot(linked.tree)
    lock = Path(linked.git("rev-parse", "--absolute-git-dir", cwd=linked.tree)) / "morph-spec/verify.lock"
    with locked(lock, wait_s=0, what="this tree"):
        code, told = said(linked, "remove", "cart")
    assert (code, told["code"]) == (3, "busy") and "verify" in told["message"]
    assert snapshot(linked.tree) == before
    assert said(linked, "remove", "cart")[0] == 0


def test_remove_by_the_name_of_the_feature(linked: Linked) -> None:
    block = block_of(linked.repo, "cart", free=lambda port: True)
    code, told = said(linked, "remove", "cart")
    assert code == 0 and told["ok"] and told["worktreeRemoved"] and not linked.tree.exists()
    saved = Path(told["ignoredBackup"])
    assert saved.parent == linked.store / "finish-backup" and saved.name.startswith("cart-")
    assert sorted(told["backedUp"]) == ["local/.env.e2e", "local/a.db"]
    assert told["replicatedInRoot"] == ["local/same"] and told["discardedIgnored"] == ["node_modules/"]
    assert told["unlinked"] == [".claude"] and (linked.main / ".claude/x.md").read_text() == "keep"
    assert (told["branch"], told["branchDeleted"], told["portsKey"]) == ("morph/cart", False, "cart")
    assert told["portsReleased"] == block.base and known_block(linked.repo, "cart") is None
    assert told["alreadyDeregistered"] is False and told["warnings"] == [] and told["recovered"] == []
    assert told["hint"] == "branch morph/cart stays" and "backupRetention" not in told and told["stack"] is None
    assert linked.git("rev-parse", "--verify", "morph/cart")
    code, told = said(linked, "remove", "cart")
    assert (code, told["code"]) == (2, "worktree-not-found")


def test_remove_tells_people(linked: Linked) -> None:
    done = Project(linked.main).morph("worktree", "remove", "cart")
    assert done.code == 0
    for line in (
        f"{linked.tree}: removed",
        "  unlinked: .claude",
        "  the main tree has the same: local/same",
        "  discarded: node_modules/",
        "  branch morph/cart stays",
    ):
        assert line in done.out.splitlines()
    assert "  copied: local/.env.e2e, local/a.db" in done.out and "finish-backup/cart-" in done.out


@pytest.mark.parametrize(
    ("branch", "words"),
    [
        ("morph-task/fix", ["fix"]),
        ("morph-task/fix", ["task/fix"]),
        ("morph-task/fix", ["--target", "worktrees/cart"]),
        ("elsewhere", ["--target", "worktrees/cart"]),
        ("elsewhere", ["cart"]),
    ],
)
def test_other_ways_to_name_a_tree(tmp_path: Path, branch: str, words: list[str]) -> None:
    linked = make_linked(tmp_path, branch=branch)
    linked.write("local/a.db")
    block_of(linked.repo, "task/fix", free=lambda port: True)
    code, told = said(linked, "remove", *words)
    assert code == 0 and not linked.tree.exists() and told["branch"] == branch
    assert Path(told["ignoredBackup"]).parent.name == "task"
    assert (known_block(linked.repo, "task/fix") is None) == (branch == "morph-task/fix")


def test_a_feature_comes_before_a_task_of_its_name(linked: Linked) -> None:
    task = linked.main / "worktrees/task"
    linked.git("worktree", "add", "-q", str(task), "-b", "morph-task/cart")
    assert said(linked, "remove", "task/cart")[1]["path"] == str(task)
    assert said(linked, "remove", "cart")[1]["path"] == str(linked.tree)


def test_the_folder_is_named_from_where_one_stands(linked: Linked) -> None:
    code, told = said(linked, "remove", "--target", "cart", cwd=linked.tree.parent)
    assert code == 0 and told["path"] == str(linked.tree)


def test_usage_and_refusals(linked: Linked) -> None:
    for words in (["remove"], ["remove", "cart", "--target", str(linked.tree)], ["reap", "--grace", "-1"]):
        assert said(linked, *words)[0] == 2
    code, told = said(linked, "remove", "nothing")
    assert (code, told["code"], told["fix"]) == (2, "worktree-not-found", "git worktree list")
    linked.write("new.txt")
    before = snapshot(linked.tree)
    for words in ([], ["--if-clean"], ["--discard-ignored"]):
        code, told = said(linked, "remove", "cart", *words)
        assert (code, told["code"], told["paths"]) == (1, "worktree-dirty", ["new.txt"])
    assert snapshot(linked.tree) == before
    (linked.tree / "new.txt").unlink()
    told = said(linked, "remove", "--target", "..", "--discard-ignored", cwd=linked.tree / "src")[1]
    again = f"worktree remove --target {linked.tree} --discard-ignored --json"
    assert (told["code"], told["fix"]) == ("cwd-inside-worktree", f"cd {linked.main} && morph-spec {again}")
    env = {"CLAUDE_PROJECT_DIR": str(linked.tree)}
    assert said(linked, "remove", "cart", **env)[1]["code"] == "session-anchored-in-worktree"
    linked.git("switch", "-q", "-c", "other", cwd=linked.tree)
    linked.git("switch", "-q", "morph/cart")
    assert said(linked, "remove", "--target", ".")[1]["code"] == "main-worktree"
    assert linked.tree.exists()


def test_a_feature_in_the_main_tree_has_no_tree_to_remove(linked: Linked) -> None:
    linked.git("switch", "-q", "-c", "morph/other")
    code, told = said(linked, "remove", "other")
    assert (code, told["code"]) == (1, "main-worktree")


def test_without_copies(linked: Linked) -> None:
    code, told = said(linked, "remove", "cart", "--discard-ignored")
    assert code == 0 and told["ignoredBackup"] is None and told["backedUp"] == []
    assert set(told["discardedIgnored"]) == {"node_modules/", "local/a.db", "local/.env.e2e"}
    assert not (linked.store / "finish-backup").exists()


def test_only_an_empty_folder_is_left(linked: Linked) -> None:
    said(linked, "remove", "cart")
    linked.tree.mkdir(parents=True)
    code, told = said(linked, "remove", "cart")
    assert code == 0 and told["alreadyDeregistered"] and not linked.tree.exists()


def test_a_folder_that_is_gone(linked: Linked) -> None:
    other = linked.main / "worktrees/other"
    linked.git("worktree", "add", "-q", str(other), "-b", "morph/other")
    other.rename(linked.main.parent / "moved")
    shutil.rmtree(linked.tree)
    code, told = said(linked, "remove", "cart", "--delete-branch")
    assert code == 0 and told["worktreeRemoved"] and told["branchDeleted"]
    assert f"worktree {other}" in linked.git("worktree", "list", "--porcelain")
    assert not linked.git("branch", "--list", "morph/cart")


# The branch


def test_a_branch_without_work_of_its_own_can_go_too(linked: Linked) -> None:
    tip = linked.git("rev-parse", "morph/cart")
    linked.git("config", "branch.morph/cart.description", "x")
    code, told = said(linked, "remove", "cart", "--delete-branch")
    assert code == 0 and (told["branchDeleted"], told["branchTip"]) == (True, tip)
    assert told["hint"] == f"git branch morph/cart {tip} brings the branch back"
    assert not linked.git("branch", "--list", "morph/cart")
    assert not linked.git("config", "--get", "branch.morph/cart.description", ok=False)


def test_a_branch_with_work_of_its_own_stays(linked: Linked) -> None:
    linked.write("src/app.txt", "two\n")
    tip = linked.commit()
    linked.git("symbolic-ref", "refs/heads/alias", "refs/heads/morph/cart")
    before = snapshot(linked.tree)
    code, told = said(linked, "remove", "cart", "--delete-branch")
    assert (code, told["code"], told["tip"], told["commits"]) == (1, "branch-unmerged", tip, 1)
    assert "git branch -D morph/cart" in told["fix"] and snapshot(linked.tree) == before


@pytest.mark.parametrize("way", ["pushed", "squashed", "merged"])
def test_a_branch_whose_work_is_elsewhere_can_go(linked: Linked, way: str) -> None:
    linked.write("src/app.txt", "two\n")
    tip = linked.commit()
    if way == "pushed":
        linked.git("update-ref", "refs/remotes/origin/morph/cart", tip)
    elif way == "squashed":
        linked.git("merge", "-q", "--squash", "morph/cart")
        linked.git("commit", "-qm", "squashed")
    else:
        linked.git("merge", "-q", "--no-ff", "-m", "merged", "morph/cart")
    code, told = said(linked, "remove", "cart", "--delete-branch")
    assert code == 0 and told["branchDeleted"] and told["branchTip"] == tip
    linked.git("branch", "morph/cart", tip)


# What an older tool left in the main tree


def feature(linked: Linked, **more: Any) -> dict[str, Any]:
    data = {"description": "x", "workType": "chore", "status": "in_progress", **more}
    linked.write(".morph/features/cart/feature.json", json.dumps(data), main=True)
    return data


def test_an_untracked_record_is_removed_without_a_commit(linked: Linked) -> None:
    data = feature(linked)
    feature(linked, worktree={"path": str(linked.tree)})
    head = linked.git("rev-parse", "HEAD")
    code, told = said(linked, "remove", "cart")
    assert code == 0 and told["recordRemoved"] and told["recordCommit"] is None and told["shedBackup"] is None
    assert json.loads((linked.main / ".morph/features/cart/feature.json").read_text()) == data
    assert linked.git("rev-parse", "HEAD") == head


def test_a_tracked_record_becomes_a_commit_of_its_own(linked: Linked) -> None:
    data = feature(linked)
    feature(linked, worktree={"path": str(linked.tree)})
    linked.git("add", "-f", ".morph/features/cart/feature.json")
    linked.git("commit", "-qm", "skeleton")
    linked.write("staged.txt", main=True)
    linked.git("add", "staged.txt")
    code, told = said(linked, "remove", "cart")
    assert code == 0 and told["recordCommit"] == linked.git("rev-parse", "HEAD")
    assert linked.git("show", "--name-only", "--format=", "HEAD") == ".morph/features/cart/feature.json"
    assert json.loads(linked.git("show", "HEAD:.morph/features/cart/feature.json")) == data
    assert linked.git("diff", "--cached", "--name-only") == "staged.txt"


def test_what_somebody_changed_in_the_record_is_not_committed(linked: Linked) -> None:
    feature(linked, worktree={"path": "x"})
    linked.git("add", "-f", ".morph/features/cart/feature.json")
    linked.git("commit", "-qm", "skeleton")
    data = feature(linked, description="mine")
    feature(linked, description="mine", worktree={"path": "x"})
    head = linked.git("rev-parse", "HEAD")
    code, told = said(linked, "remove", "cart")
    assert code == 0 and told["recordRemoved"] and told["recordCommit"] is None
    assert linked.git("rev-parse", "HEAD") == head
    assert json.loads((linked.main / ".morph/features/cart/feature.json").read_text()) == data


def test_a_commit_that_cannot_be_made_is_told(linked: Linked) -> None:
    feature(linked, worktree={"path": "x"})
    linked.git("add", "-f", ".morph/features/cart/feature.json")
    linked.git("commit", "-qm", "skeleton")
    linked.git("switch", "-q", "--detach")
    code, told = said(linked, "remove", "cart")
    assert code == 0 and told["recordRemoved"] and told["recordCommit"] is None
    assert "not committed: HEAD is detached" in told["warnings"][0]


def test_a_hook_or_an_ignore_rule_that_stops_git_is_told(linked: Linked) -> None:
    feature(linked, worktree={"path": "x"})
    linked.git("add", "-f", ".morph/features/cart/feature.json")
    linked.git("commit", "-qm", "skeleton")
    (linked.main / ".git/info/exclude").write_text(".morph/\n")
    code, told = said(linked, "remove", "cart")
    assert code == 0 and told["recordRemoved"]
    assert told["recordCommit"] or "not committed" in told["warnings"][0]


def test_the_skeleton_of_an_archived_feature_goes_with_a_backup(linked: Linked) -> None:
    linked.write(".morph/archive/cart/feature.json", "{}", main=True)
    linked.git("add", "-f", ".morph/archive")
    linked.git("commit", "-qm", "archived")
    feature(linked, worktree={"path": "x"})
    linked.write(".morph/features/cart/notes.md", "mine", main=True)
    code, told = said(linked, "remove", "cart")
    saved = Path(told["shedBackup"])
    assert code == 0 and not (linked.main / ".morph/features/cart").exists()
    assert (saved / ".morph/features/cart/notes.md").read_text() == "mine"
    assert saved.parent == linked.store / "finish-backup"
    # Both folders of one removal carry the same stamp.
    assert told["ignoredBackup"] == f"{saved}-worktree-ignored" and manifest(saved)["kind"] == "shed"
    assert os.listdir(linked.main / ".morph/features") == []


def test_the_skeleton_of_a_feature_in_work_stays(linked: Linked) -> None:
    feature(linked)
    before = snapshot(linked.main / ".morph/features")
    assert said(linked, "remove", "cart")[1]["shedBackup"] is None
    assert snapshot(linked.main / ".morph/features") == before


def test_tracked_files_in_the_skeleton_keep_it(linked: Linked) -> None:
    linked.write(".morph/archive/cart/feature.json", "{}", main=True)
    feature(linked)
    linked.git("add", "-f", ".morph")
    linked.git("commit", "-qm", "both")
    assert said(linked, "remove", "cart")[1]["shedBackup"] is None
    assert (linked.main / ".morph/features/cart/feature.json").exists()


# What goes along


def test_retention_runs_after_a_backup(linked: Linked) -> None:
    linked.write(".morph/config/config.json", '{"finishBackup": {"retention": {"maxCount": 1}}}', main=True)
    old = linked.store / f"finish-backup/old-{new_stamp()}"
    old.mkdir(parents=True)
    old.with_name(f"{old.name}.manifest.json").write_text("{}")
    code, told = said(linked, "remove", "cart")
    assert code == 0 and told["backupRetention"] == {"removed": 1, "removedSample": [old.name]}
    assert Path(told["ignoredBackup"]).exists() and not old.exists()


def test_without_docker(linked: Linked) -> None:
    from morph_tasks.stack.project import project_name

    project_name(linked.repo, "cart")
    tools = linked.main.parent / "bin"
    tools.mkdir()
    for name in ("git", "sh"):
        (tools / name).symlink_to(shutil.which(name) or name)
    env = {"PATH": f"{BIN}:{tools}", "DOCKER_HOST": "unix:///nowhere/docker.sock"}
    code, told = said(linked, "remove", "cart", **env)
    assert code == 0 and told["worktreeRemoved"] and not linked.tree.exists()


def test_two_at_once(linked: Linked) -> None:
    words = [str(BIN / "morph-spec"), "worktree", "remove", "cart", "--json"]
    running = [
        subprocess.Popen(words, cwd=linked.main, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)
    ]
    told = [json.loads(one.communicate()[0]) for one in running]
    codes = sorted(one.returncode for one in running)
    assert codes == [0, 2] and {one.get("code") for one in told} == {None, "worktree-not-found"}
    assert (
        not linked.tree.exists() and len(list((linked.store / "finish-backup").glob("cart-*Z-worktree-ignored"))) == 1
    )


def test_no_room(linked: Linked) -> None:
    linked.write("local/big.db", os.urandom(200_000))
    before = snapshot(linked.tree)
    limit = (100_000, resource.getrlimit(resource.RLIMIT_FSIZE)[1])
    ended = in_child(
        ["worktree", "remove", "cart", "--json"],
        linked.main,
        prepare=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit),
    )
    told = json.loads(ended.out)
    assert (ended.code, told["code"]) == (1, "backup-failed")
    assert sorted(told["exclusive"]) == ["local/.env.e2e", "local/a.db", "local/big.db"]
    assert told["replicated"] == ["local/same"] and "finish-backup/cart-" in told["backup"] and told["hint"]
    assert snapshot(linked.tree) == before and linked.registered()
    assert os.listdir(linked.store / "finish-backup") == [] and not list(linked.store.glob("*/*.json"))
    code, told = said(linked, "remove", "cart")
    assert code == 0 and "local/big.db" in told["backedUp"]


# Killed


PRECIOUS = {b"precious", b"KEY=1"}


def held(linked: Linked) -> set[bytes]:
    """Return the content that a person could get at: the tree, where it was moved to, complete backups."""
    places = [linked.tree, *linked.tree.parent.glob(".morph-removing-*")]
    top = linked.store / "finish-backup"
    places += [one.with_name(one.name.removesuffix(".manifest.json")) for one in top.glob("*.manifest.json")]
    return set().union(*(contents(place) for place in places))


def kill(linked: Linked, number: int, *, group: bool) -> None:
    """Kill a removal before its change of that number; look at once, run it again, and look again."""
    words = ["worktree", "remove", "cart", "--delete-branch", "--json"]
    block_of(linked.repo, "cart", free=lambda port: True)
    ended = in_child(words, linked.main, moment=Moment("change", number, group=group))
    where = f"killed before change {number}{' with its programs' if group else ''}: {ended.err}"
    assert ended.code == -9, where
    assert held(linked) >= PRECIOUS, where
    assert (linked.main / "local/same").read_text() == "same" and (linked.main / ".claude/x.md").exists(), where
    (linked.admin / "index.lock").unlink(missing_ok=True) if linked.registered() else None
    again = in_child(words, linked.main)
    told = json.loads(again.out)
    assert again.code == 0, (where, told)
    assert told["worktreeRemoved"] and told["unlinked"] == [".claude"], (where, told)
    saved = Path(told["ignoredBackup"])
    assert contents(saved) == PRECIOUS and sorted(told["backedUp"]) == ["local/.env.e2e", "local/a.db"], (where, told)
    assert manifest(saved)["files"], where
    assert os.listdir(linked.tree.parent) == [] and not linked.registered(), where
    assert not linked.git("branch", "--list", "morph/cart") and known_block(linked.repo, "cart") is None, where
    assert not list(linked.store.glob("removals/*")) and not list(linked.store.glob("endings/*")), where
    backups = [one for one in (linked.store / "finish-backup").iterdir() if not one.name.endswith(".json")]
    assert all(one.with_name(f"{one.name}.manifest.json").exists() for one in backups), where


def kill_at(linked: Linked, base: Path, numbers: list[int]) -> None:
    for place, number in enumerate(numbers):
        shutil.rmtree(linked.main)
        shutil.copytree(base, linked.main, symlinks=True)
        kill(linked, number, group=bool(place % 2))


def counted(linked: Linked, tmp_path: Path) -> tuple[Path, int]:
    """Return a copy of the repository to begin from, and how many changes an undisturbed removal makes."""
    base = tmp_path / "base"
    shutil.copytree(linked.main, base, symlinks=True)
    block_of(linked.repo, "cart", free=lambda port: True)
    whole = in_child(["worktree", "remove", "cart", "--delete-branch", "--json"], linked.main)
    assert whole.code == 0, whole.err
    return base, whole.changes


def test_killed_at_some_changes(linked: Linked, tmp_path: Path) -> None:
    base, changes = counted(linked, tmp_path)
    kill_at(linked, base, sorted(random.Random(6).sample(range(1, changes + 1), 14)))


@pytest.mark.soak
@pytest.mark.parametrize("shift", [0, 1])
def test_killed_at_every_change(linked: Linked, tmp_path: Path, shift: int) -> None:
    base, changes = counted(linked, tmp_path)
    numbers = list(range(1, changes + 1))
    kill_at(linked, base, numbers[shift:] + numbers[:shift])


# Sub-agents


def test_reap(tmp_path: Path) -> None:
    linked = make_linked(tmp_path, branch="morph-task/agent-0a", place="worktrees/agent-0a")
    linked.write(".morph/.gitignore", "logs/\n")
    linked.commit()
    linked.git("merge", "-q", "morph-task/agent-0a")
    log = linked.write(".morph/logs/events.jsonl", '{"event": "AgentUsage", "agentId": "0a"}\n')
    os.utime(log, (time.time() - 120,) * 2)
    code, told = said(linked, "reap")
    assert code == 0 and told["graceMinutes"] == 30 and told["preserved"][0]["reason"] == "grace"
    assert told["active"] == 1 and set(told) == {
        "ok", "dryRun", "graceMinutes", "reaped", "branchesDeleted", "wouldReap", "preserved", "active",
    }  # fmt: skip
    shown = Project(linked.main).morph("worktree", "reap", "--dry-run", "--grace", "1")
    assert shown.out.strip() == f"would remove {linked.tree}" and linked.tree.exists()
    code, told = said(linked, "reap", "--grace", "1")
    assert code == 0 and told["reaped"][0]["path"] == str(linked.tree) and not linked.tree.exists()
    shown = Project(linked.main).morph("worktree", "reap")
    assert shown.code == 0 and shown.out.strip() == "nothing of sub-agents is left here"


def test_reap_with_a_configuration_that_is_not_valid(linked: Linked) -> None:
    linked.write(".morph/config/config.json", '{"worktree": {"reap": {"graceMinutes": "soon"}}}', main=True)
    assert said(linked, "reap")[1]["code"] == "invalid-config"
    assert said(linked, "reap", "--grace", "30")[0] == 0


def test_reap_while_another_is_at_it(linked: Linked) -> None:
    from morph_tasks.repo.files import locked as held_lock

    with held_lock(linked.store / "agent-reap.lock", wait_s=0, what="x"):
        code, told = said(linked, "reap")
    assert code == 3 and told["busy"] is True and told["reaped"] == []
