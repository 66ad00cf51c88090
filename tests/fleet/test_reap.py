from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.fleet import ending, registration
from morph_tasks.fleet import reap as module
from morph_tasks.fleet.reap import Reaped, grace_of, reap
from morph_tasks.repo.files import locked
from morph_tasks.stack.ports import block_of, known_block
from tests.fleet.linked import Linked, make_linked, snapshot

HEX = "a1b2c3"
HOUR = 3600


@pytest.fixture
def agent(tmp_path: Path) -> Linked:
    """The tree of a sub-agent that stopped an hour ago and left nothing behind."""
    made = make_linked(tmp_path, branch=f"morph-task/agent-{HEX}", place=f"worktrees/agent-{HEX}")
    made.write(".morph/.gitignore", "logs/\n", main=True)
    made.git("add", "-A")
    made.git("commit", "-qm", "ignore logs")
    made.git("reset", "-q", "--hard", "main", cwd=made.tree)
    stopped(made.tree)
    return made


def stopped(tree: Path, *, agent: str = HEX, ago_s: float = HOUR, events: list[dict[str, str]] | None = None) -> Path:
    log = tree / ".morph/logs/events.jsonl"
    log.parent.mkdir(parents=True, exist_ok=True)
    found = events or [{"event": "PostToolUse"}, {"event": "AgentUsage", "agentId": agent}]
    log.write_text("".join(json.dumps(one) + "\n" for one in found))
    os.utime(log, (time.time() - ago_s,) * 2)
    return log


def run(linked: Linked, *, grace: float = 30, dry_run: bool = False) -> Reaped:
    return reap(linked.repo, grace_minutes=grace, dry_run=dry_run)


def kept(found: Reaped) -> list[tuple[str | None, str | None]]:
    return [(left.path.name if left.path else left.branch, left.reason) for left in found.preserved]


def another(linked: Linked, hex_: str) -> Path:
    place = linked.main / f"worktrees/agent-{hex_}"
    linked.git("worktree", "add", "-q", str(place), "-b", f"morph-task/agent-{hex_}")
    stopped(place, agent=hex_)
    return place


def test_what_an_agent_left_goes(agent: Linked) -> None:
    agent.write("local/a.db", "precious")
    agent.link("node_modules", agent.main)
    key = f"task/agent-{HEX}"
    block_of(agent.repo, key, free=lambda port: True)
    told = run(agent).as_json()
    assert not agent.tree.exists() and not agent.git("branch", "--list", agent.branch)
    assert known_block(agent.repo, key) is None
    (one,) = told["reaped"]
    saved = Path(one["ignoredBackup"])
    assert saved.parent.name == "task" and saved.name.startswith(f"agent-{HEX}-")
    assert sorted(one["backedUp"]) == [".morph/logs/events.jsonl", "local/a.db"]
    assert (saved / "local/a.db").read_text() == "precious" and one["unlinked"] == ["node_modules"]
    assert (one["path"], one["branch"], one["hex"]) == (str(agent.tree), agent.branch, HEX)
    assert [branch["branch"] for branch in told["branchesDeleted"]] == [agent.branch]
    assert told["ok"] and not told["dryRun"] and told["graceMinutes"] == 30 and "busy" not in told
    assert told["wouldReap"] == [] and told["preserved"] == [] and told["active"] == 0
    again = run(agent).as_json()
    assert again["reaped"] == [] and again["branchesDeleted"] == [] and again["preserved"] == []


def test_a_dry_run_changes_nothing(agent: Linked) -> None:
    agent.write("local/a.db")
    before = snapshot(agent.main / "worktrees"), agent.git("for-each-ref"), agent.git("worktree", "list")
    told = run(agent, dry_run=True).as_json()
    assert told["wouldReap"] == [{"path": str(agent.tree), "branch": agent.branch, "hex": HEX}]
    assert told["dryRun"] and told["reaped"] == [] and told["branchesDeleted"] == []
    assert (snapshot(agent.main / "worktrees"), agent.git("for-each-ref"), agent.git("worktree", "list")) == before


def test_a_detached_head_is_an_agents_too(agent: Linked) -> None:
    agent.git("switch", "-q", "--detach", cwd=agent.tree)
    agent.git("branch", "-q", "-D", agent.branch)
    found = run(agent)
    assert len(found.reaped) == 1 and not found.branches and not agent.tree.exists()


@pytest.mark.parametrize(
    ("branch", "place"),
    [
        ("morph-task/fix", "worktrees/fix"),
        ("morph/cart", "worktrees/cart"),
        ("morph-task/agent-xyz", "worktrees/agent-xyz"),
        ("morph-task/agent-fff", f"worktrees/agent-{HEX}"),
        (f"other/agent-{HEX}", f"worktrees/agent-{HEX}"),
        (f"morph-task/agent-{HEX}", f"../agent-{HEX}"),
    ],
)
def test_what_is_no_agents_is_not_even_looked_at(tmp_path: Path, branch: str, place: str) -> None:
    linked = make_linked(tmp_path, branch=branch, place=place)
    stopped(linked.tree)
    found = run(linked, grace=0)
    assert linked.tree.exists() and not found.reaped and not found.preserved and not found.branches


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda t: (t.tree / ".morph/logs/events.jsonl").unlink(), "no-usage-event"),
        (lambda t: stopped(t.tree, events=[{"event": "AgentUsage", "agentId": "fff"}]), "no-usage-event"),
        (
            lambda t: stopped(t.tree, events=[{"event": "AgentUsage", "agentId": HEX}, {"event": "PreToolUse"}]),
            "no-usage-event",
        ),
        (lambda t: (t.tree / ".morph/logs/events.jsonl").write_text('{"event": "AgentUsage", "ag'), "no-usage-event"),
        (lambda t: (t.tree / ".morph/logs/events.jsonl").write_text("[]\n"), "no-usage-event"),
        (lambda t: stopped(t.tree, ago_s=29 * 60), "grace"),
        (lambda t: stopped(t.tree, ago_s=-HOUR), "grace"),
        (lambda t: t.write("new.txt"), "dirty"),
        (lambda t: t.write("src/app.txt", "changed"), "dirty"),
        (
            lambda t: (
                t.write("src/app.txt", "x"),
                t.git("update-index", "--assume-unchanged", "src/app.txt", cwd=t.tree),
            ),
            "dirty",
        ),
        (lambda t: t.commit("alone"), "exclusive-commits"),
        (lambda t: (t.git("switch", "-q", "--detach", cwd=t.tree), t.commit("alone")), "exclusive-commits"),
        (lambda t: t.git("worktree", "lock", str(t.tree)), "locked"),
        (lambda t: (t.git("worktree", "lock", str(t.tree)), stopped(t.tree, ago_s=0)), "locked"),
        (lambda t: (t.admin / "MERGE_HEAD").touch(), "operation-in-progress"),
        (lambda t: os.rename(t.tree, f"{t.tree}-moved"), "worktree-missing"),
    ],
)
def test_without_every_proof_it_stays(agent: Linked, spoil: Callable[[Linked], object], reason: str) -> None:
    agent.link("node_modules", agent.main)
    spoil(agent)
    before = snapshot(agent.main / "worktrees"), agent.git("for-each-ref"), agent.git("worktree", "list")
    for dry_run in (True, False):
        found = run(agent, dry_run=dry_run)
        assert kept(found)[0] == (agent.tree.name, reason), found.as_json()
        assert found.preserved[0].detail is not None
        assert found.active == (reason in ("no-usage-event", "grace", "operation-in-progress"))
    assert (snapshot(agent.main / "worktrees"), agent.git("for-each-ref"), agent.git("worktree", "list")) == before


def test_the_grace_can_be_set(agent: Linked) -> None:
    stopped(agent.tree, ago_s=60)
    assert kept(run(agent, grace=2)) == [(agent.tree.name, "grace")]
    assert grace_of(agent.repo) == 30
    agent.write(".morph/config/config.json", '{"worktree": {"reap": {"graceMinutes": 0.5}}}', main=True)
    assert grace_of(agent.repo) == 0.5
    assert len(run(agent, grace=grace_of(agent.repo)).reaped) == 1


def test_somebody_works_there(agent: Linked, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as here:
        here.chdir(agent.tree)
        assert kept(reap(agent.repo, grace_minutes=0)) == [(agent.tree.name, "cwd")]
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(agent.tree / "src"))
    assert kept(run(agent)) == [(agent.tree.name, "session-anchored")]


def test_two_agents_on_one_commit_do_not_vouch_for_each_other(agent: Linked) -> None:
    commit = agent.commit("alone")
    other = another(agent, "fff000")
    agent.git("reset", "-q", "--hard", commit, cwd=other)
    assert sorted(kept(run(agent))) == [(agent.tree.name, "exclusive-commits"), (other.name, "exclusive-commits")]
    agent.git("branch", "keep", commit)
    assert len(run(agent).reaped) == 2


@pytest.mark.parametrize("ref", ["refs/tags/v1", "refs/remotes/origin/x", "refs/heads/morph/cart"])
def test_what_else_holds_a_commit(agent: Linked, ref: str) -> None:
    commit = agent.commit("shared")
    agent.git("update-ref", ref, commit)
    assert len(run(agent).reaped) == 1


@pytest.mark.parametrize("ref", ["refs/stash", "refs/notes/x", "refs/heads/morph-task/agent-0"])
def test_what_does_not_vouch(agent: Linked, ref: str) -> None:
    commit = agent.commit("alone")
    agent.git("update-ref", ref, commit)
    assert (agent.tree.name, "exclusive-commits") in kept(run(agent))


def test_another_run_is_at_it(agent: Linked) -> None:
    with locked(agent.store / "agent-reap.lock", wait_s=0, what="x"):
        found = run(agent)
    assert found.busy and found.as_json()["busy"] is True and not found.as_json()["ok"] and agent.tree.exists()


def test_a_removal_that_fails_leaves_the_tree_whole(agent: Linked, monkeypatch: pytest.MonkeyPatch) -> None:
    agent.link("node_modules", agent.main)
    agent.link(".claude", agent.main)
    before = snapshot(agent.tree)

    def refuse(*_: object) -> None:
        raise Refusal("deregistration-failed", "git says no")

    monkeypatch.setattr(registration, "deregister", refuse)
    found = run(agent)
    assert kept(found) == [(agent.tree.name, "deregistration-failed")] and not found.branches
    assert snapshot(agent.tree) == before and agent.git("branch", "--list", agent.branch)


def test_an_agent_that_wakes_up_meanwhile(agent: Linked, monkeypatch: pytest.MonkeyPatch) -> None:
    real = module._look

    def wake(*args: object) -> None:
        real(*args)  # type: ignore[arg-type]
        stopped(agent.tree, events=[{"event": "PreToolUse"}], ago_s=0)

    monkeypatch.setattr(module, "_look", wake)
    assert kept(run(agent)) == [(agent.tree.name, "no-usage-event")] and agent.tree.exists()


def test_commits_are_counted_again_before_the_branch_goes(agent: Linked, monkeypatch: pytest.MonkeyPatch) -> None:
    real = ending.end_tree

    def commit(*args: object, **words: object) -> ending.Ended:
        ended = real(*args, **words)  # type: ignore[arg-type]
        tip = agent.git("commit-tree", "main^{tree}", "-p", "main", "-m", "late")
        agent.git("update-ref", f"refs/heads/{agent.branch}", tip)
        return ended

    monkeypatch.setattr(ending, "end_tree", commit)
    found = run(agent)
    assert len(found.reaped) == 1 and kept(found) == [(agent.branch, "exclusive-commits")]
    assert agent.git("log", "-1", "--format=%s", agent.branch) == "late"


def orphan(agent: Linked, name: str, *, ago_s: int = HOUR, at: str = "main") -> str:
    """Make a branch that no tree has, touched some time ago."""
    branch = f"morph-task/agent-{name}"
    when = f"@{int(time.time()) - ago_s} +0000"
    env = {**os.environ, "GIT_COMMITTER_DATE": when}
    subprocess.run(["git", "branch", branch, at], cwd=agent.main, env=env, check=True)
    return branch


def test_branches_that_no_tree_has(agent: Linked) -> None:
    alone = agent.git("commit-tree", "main^{tree}", "-p", "main", "-m", "alone")
    gone, young, own = orphan(agent, "0"), orphan(agent, "1", ago_s=60), orphan(agent, "2", at=alone)
    silent = orphan(agent, "3")
    (agent.main / ".git/logs/refs/heads" / silent).unlink()
    for name in ("morph-task/fix", "morph/agent-4", "agent-5", "morph-task/agent-6/x"):
        agent.git("branch", name)
    agent.git("worktree", "remove", "--force", str(agent.tree))
    agent.git("branch", "-D", agent.branch)
    dry = run(agent, dry_run=True).as_json()
    assert dry["wouldReap"] == [{"path": None, "branch": gone, "hex": "0"}]
    found = run(agent)
    assert [one["branch"] for one in found.branches] == [gone]
    assert kept(found) == [(young, "grace"), (own, "exclusive-commits"), (silent, "no-reflog")]
    assert found.active == 0
    left = agent.git("for-each-ref", "--format=%(refname:short)", "refs/heads").splitlines()
    assert gone not in left and {"morph-task/fix", "morph/agent-4", "agent-5", "morph-task/agent-6/x"} < set(left)


def test_the_branch_of_a_tree_whose_folder_is_gone_stays(agent: Linked) -> None:
    os.rename(agent.tree, agent.main.parent / "moved")
    found = run(agent, grace=0)
    assert kept(found) == [(agent.tree.name, "worktree-missing")]
    assert agent.git("branch", "--list", agent.branch)


def test_many_at_once_prune_none_of_their_own_backups(agent: Linked) -> None:
    agent.write(".morph/config/config.json", '{"finishBackup": {"retention": {"maxCount": 1}}}', main=True)
    another(agent, "fff000")
    found = run(agent)
    assert len(found.reaped) == 2 and found.retention is None
    assert all(Path(one["ignoredBackup"]).exists() for one in found.reaped)
