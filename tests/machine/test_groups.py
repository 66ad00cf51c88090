from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
from typing import Any

import pytest

from morph_tasks.machine import groups, identity, table
from morph_tasks.machine.groups import Group
from morph_tasks.machine.identity import Identity

NOBODY = Identity(-1, None, "", "")


@pytest.fixture(params=["by file", "by number"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "by number":
        monkeypatch.delattr(os, "pidfd_open", raising=False)


def entry_of(process: subprocess.Popen[bytes]) -> table.Entry:
    entry = table.read(process.pid)
    assert entry is not None
    return entry


def test_a_signal_reaches_exactly_the_process_that_was_seen(way: None, bystander: Any) -> None:
    entry = entry_of(bystander)
    groups.send(dataclasses.replace(entry, start=entry.start - 1), signal.SIGKILL)
    groups.send(dataclasses.replace(entry, pid=2**22 + 1), signal.SIGKILL)
    assert bystander.poll() is None
    groups.send(entry, signal.SIGTERM)
    assert bystander.wait() == -signal.SIGTERM
    groups.send(entry, signal.SIGTERM)


def test_a_group_is_signalled_only_while_the_number_is_its_own(bystander: Any) -> None:
    leader = identity.identify(bystander.pid)
    assert leader is not None
    assert isinstance(leader.start, int)
    other = dataclasses.replace(leader, start=leader.start - 1)
    assert not Group(other, "t").signal(signal.SIGKILL)
    assert not Group(dataclasses.replace(leader, start=None), "t").signal(signal.SIGKILL)
    assert not Group(dataclasses.replace(leader, host="elsewhere.example"), "t").signal(signal.SIGKILL)
    assert bystander.poll() is None
    assert Group(leader, "t").signal(signal.SIGTERM) == {bystander.pid}
    assert bystander.wait() == -signal.SIGTERM


@pytest.mark.parametrize("pid", [-1, 0, 1])
def test_no_record_can_reach_everybody(pid: int) -> None:
    # kill(-1) is all processes of the user, killpg(0) our own group; 0 asks without doing.
    assert not Group(Identity(pid, 0, identity.boot(), identity.host()), "t", held=True).signal(0)


def test_a_group_without_a_leader_has_what_carries_its_token(bystander: Any) -> None:
    env = {**os.environ, table.RUN_ID: "r", table.RUN_MARKS: "outer t0k3n"}
    with subprocess.Popen(["sleep", "300"], env=env, start_new_session=True) as marked:
        seen = table.snapshot()
        found = groups.members(Group(NOBODY, "t0k3n"), seen)
        none = groups.members(Group(NOBODY, "t0k3"), seen)
        marked.kill()
    assert [entry.pid for entry in found.inside + found.escaped] == [marked.pid]
    assert none.inside + none.escaped == ()


def test_groups_of_what_escaped_are_signalled_as_a_whole_unless_only_the_own_is_meant(bystander: Any) -> None:
    env = {**os.environ, table.RUN_ID: "r", table.RUN_MARKS: "t0k3n"}
    with subprocess.Popen(["sleep", "300"], env=env, start_new_session=True) as marked:
        group = Group(NOBODY, "t0k3n")
        groups.members(group, table.snapshot())
        assert group.signal(0, escaped=False) == set()
        assert group.signal(signal.SIGTERM) == {marked.pid}
        assert marked.wait(20) == -signal.SIGTERM
        assert group.signal(0) == set(), "the number is free"


def test_the_session_of_this_process_is_never_followed() -> None:
    env = {**os.environ, table.RUN_ID: "r", table.RUN_MARKS: "t0k3n"}
    with subprocess.Popen(["sleep", "300"]) as mate, subprocess.Popen(["sleep", "300"], env=env) as marked:
        group = Group(NOBODY, "t0k3n")
        found = groups.members(group, table.snapshot())
        reached = group.signal(0)
        mate.kill()
        marked.kill()
    assert [entry.pid for entry in found.inside + found.escaped] == [marked.pid]
    assert reached == set()


def test_what_nobody_can_end_is_returned(bystander: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "KILL_WAIT_S", 0.05)
    monkeypatch.setattr(groups, "send", lambda *_: None)
    entry = entry_of(bystander)
    assert groups.end(lambda: [entry], 0.05) == [entry]


def test_what_appears_while_others_end_is_ended_too(bystander: Any) -> None:
    entry, looks = entry_of(bystander), []

    def find() -> list[table.Entry]:
        looks.append(1)
        with subprocess.Popen(["true"]) as gone:
            pass
        now = table.read(entry.pid)
        if len(looks) == 1:
            return [dataclasses.replace(entry, pid=gone.pid)]
        return [entry] if now and not now.dead else []

    assert groups.end(find, 20) == []
    assert bystander.wait() == -signal.SIGTERM


def test_this_process_and_those_above_are_never_members() -> None:
    leader = identity.identify(os.getsid(0)) or identity.me()
    found = groups.members(Group(leader, "t"), table.snapshot())
    pids = {entry.pid for entry in found.inside + found.escaped}
    assert not pids & {os.getpid(), os.getppid(), 1}
