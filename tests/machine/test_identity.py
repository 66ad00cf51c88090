from __future__ import annotations

import json
import os
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morph_tasks.machine import identity, table
from morph_tasks.machine.identity import Identity


def _of(process: subprocess.Popen[bytes], **changes: object) -> dict[str, object]:
    found = identity.identify(process.pid)
    assert found is not None
    return {**found.as_json(), **changes}


def test_round_trip_through_json() -> None:
    mine = identity.me()
    assert identity.parsed(json.dumps(mine.as_json())) == mine
    assert mine.pid == os.getpid()
    assert isinstance(mine.start, int)


def test_a_running_process_is_alive_and_a_gone_one_dead(bystander: subprocess.Popen[bytes]) -> None:
    record = _of(bystander)
    assert identity.state(record) == "alive"
    bystander.kill()
    bystander.wait()
    assert identity.state(record) == "dead"
    assert identity.identify(bystander.pid) is None


def test_a_zombie_is_dead(zombie: int) -> None:
    found = identity.identify(zombie)
    assert found is not None
    assert identity.state(found) == "dead"


def test_a_number_that_another_process_has_now_is_dead(bystander: subprocess.Popen[bytes]) -> None:
    start = _of(bystander)["start"]
    assert isinstance(start, int)
    assert identity.state(_of(bystander, start=start - 1)) == "dead"
    assert bystander.poll() is None


@pytest.mark.parametrize(
    "change",
    [
        {"host": "elsewhere.example"},
        {"host": ""},
        {"host": None},
        {"start": None},
        {"start": True},
        {"start": "last tuesday"},
        {"pid": 0},
        {"pid": -1},
        {"pid": True},
        {"pid": "12"},
        {"boot": 7},
    ],
)
def test_what_cannot_be_judged_from_here_is_unknown(
    bystander: subprocess.Popen[bytes], change: dict[str, object]
) -> None:
    assert identity.state(_of(bystander, **change)) == "unknown"


def test_another_host_is_unknown_even_when_nobody_here_has_the_number(bystander: subprocess.Popen[bytes]) -> None:
    record = _of(bystander, host="elsewhere.example")
    bystander.kill()
    bystander.wait()
    assert identity.state(record) == "unknown"


def test_another_boot_of_this_machine_is_dead(bystander: subprocess.Popen[bytes]) -> None:
    space = identity.boot().partition("/")[2]
    assert identity.state(_of(bystander, boot=f"00000000-0000/{space}")) == "dead"


def test_another_pid_namespace_of_this_boot_is_unknown(bystander: subprocess.Popen[bytes]) -> None:
    boot = identity.boot().partition("/")[0]
    assert identity.state(_of(bystander, boot=f"{boot}/1234")) == "unknown"


def test_a_record_without_boot_is_judged_by_its_start(bystander: subprocess.Popen[bytes]) -> None:
    assert identity.state(_of(bystander, boot="")) == "alive"


def test_a_start_as_time_of_day_is_understood(bystander: subprocess.Popen[bytes]) -> None:
    now = datetime.now(UTC)
    record = {"pid": bystander.pid, "host": identity.host()}
    assert identity.state({**record, "start": "2001-01-01T00:00:00"}) == "dead"
    assert identity.state({**record, "start": (now - timedelta(hours=30)).isoformat()}) == "dead"
    assert identity.state({**record, "start": now.isoformat()}) == "alive"
    assert identity.state({**record, "start": now.replace(tzinfo=None).isoformat()}) == "alive"


def test_a_hidden_process_is_unknown_not_dead(
    bystander: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    record = _of(bystander)
    monkeypatch.setattr(table, "read", lambda _: None)
    assert identity.state(record) == "unknown"
    hidden = identity.identify(bystander.pid)
    assert hidden is not None
    assert hidden.start is None
    bystander.kill()
    bystander.wait()
    assert identity.state(record) == "dead"


def test_two_looks_that_disagree_are_unknown(
    bystander: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    record, read = _of(bystander), table.read
    real = read(bystander.pid)
    assert real is not None
    looks = [table.Entry(**{**real.__dict__, "state": "Z"}), real]
    monkeypatch.setattr(table, "read", lambda _: looks.pop(0))
    assert identity.state(record) == "unknown"


def test_denied_by_psutil_is_unknown(
    bystander: subprocess.Popen[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    psutil = pytest.importorskip("psutil")
    monkeypatch.setattr(table, "PROC", str(tmp_path / "nothing"))
    record = _of(bystander)
    assert identity.state(record) == "alive"

    def denied(_: object) -> None:
        raise psutil.AccessDenied(1)

    monkeypatch.setattr(psutil.Process, "create_time", denied)
    assert identity.state(record) == "unknown"


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=4,
)


@given(st.fixed_dictionaries({}, optional={"pid": _VALUES, "start": _VALUES, "boot": _VALUES, "host": _VALUES}))
@settings(max_examples=150, deadline=None)
def test_no_record_of_strangers_is_ever_reclaimed(record: dict[str, object]) -> None:
    assert identity.state(record) == "unknown"


@given(_VALUES)
@settings(max_examples=100, deadline=None)
def test_any_json_is_judged(value: object) -> None:
    assert identity.state(value) == "unknown"
    assert identity.parsed(json.dumps(value)) is None


def test_a_number_beyond_all_bounds_is_judged() -> None:
    assert identity.state(Identity(10**30, 1, identity.boot(), identity.host())) == "dead"
    assert identity.identify(10**30) is None
    assert identity.identify(-1) is None
    assert identity.identify(0) is None
