from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morph_tasks.machine import table

_REST = b"4 5 6 0 -1 4194304 82 0 0 0 0 0 0 0 20 0 3 0 74422 12812288 1208"


def _stat(pid: bytes, name: bytes, state: bytes = b"S", rest: bytes = _REST) -> bytes:
    return pid + b" (" + name + b") " + state + b" " + rest + b"\n"


def test_a_name_with_spaces_and_parentheses_does_not_shift_the_fields() -> None:
    entry = table.parse_stat(_stat(b"12", b"a) Z 1 (b c"))
    assert entry == table.Entry(12, 4, 5, 6, "S", 74422, 3, "a) Z 1 (b c")


@given(st.binary(max_size=200))
@settings(max_examples=100, deadline=None)
def test_garbage_is_no_process(raw: bytes) -> None:
    entry = table.parse_stat(raw)
    assert entry is None or isinstance(entry.start, int)


@given(st.binary(max_size=15))
@settings(max_examples=100, deadline=None)
def test_any_name_is_read_and_printable(name: bytes) -> None:
    entry = table.parse_stat(_stat(b"7", name))
    assert entry is not None
    assert (entry.pid, entry.ppid, entry.start) == (7, 4, 74422)
    assert "\n" not in str(entry)
    assert "\x1b" not in str(entry)


def test_a_zombie_is_dead_unless_threads_of_it_still_run() -> None:
    one, three = _REST.replace(b" 20 0 3 ", b" 20 0 1 "), _REST
    assert table.parse_stat(_stat(b"7", b"x", b"Z", one)).dead  # type: ignore[union-attr]
    assert not table.parse_stat(_stat(b"7", b"x", b"Z", three)).dead  # type: ignore[union-attr]
    assert not table.parse_stat(_stat(b"7", b"x", b"S", one)).dead  # type: ignore[union-attr]


@pytest.mark.skipif(not table.mounted(), reason="reads /proc")
def test_a_process_whose_first_thread_ended_lives(start, wait_until) -> None:
    process = start(
        "import ctypes, threading, time\n"
        "threading.Thread(target=time.sleep, args=(300,)).start()\n"
        "ctypes.CDLL(None).pthread_exit(None)\n"
    )
    entry = wait_until(lambda: (e := table.read(process.pid)) and e.state == "Z" and e, "the first thread ends")
    assert not entry.dead


def test_the_snapshot_holds_this_process_and_its_children() -> None:
    with subprocess.Popen(["sleep", "300"], start_new_session=True) as child:
        seen = table.snapshot()
        child.kill()
    assert seen[child.pid].ppid == os.getpid()
    assert seen[child.pid].session == seen[child.pid].group == child.pid
    assert child.pid in table.family(seen, [os.getpid()])
    assert os.getpid() not in table.family(seen, [child.pid])


def test_only_newer_numbers_are_read_until_they_wrap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for pid in (b"10", b"50", b"60"):
        (tmp_path / pid.decode()).mkdir()
        (tmp_path / pid.decode() / "stat").write_bytes(_stat(pid, b"x"))
    (tmp_path / "self").mkdir()
    (tmp_path / "self" / "stat").touch()
    monkeypatch.setattr(table, "PROC", str(tmp_path))
    (tmp_path / "loadavg").write_text("0.1 0.1 0.1 1/80 60\n")
    assert sorted(table.snapshot(since=50)) == [50, 60]
    (tmp_path / "loadavg").write_text("0.1 0.1 0.1 1/80 11\n")
    assert sorted(table.snapshot(since=50)) == [10, 50, 60]
    (tmp_path / "loadavg").unlink()
    assert sorted(table.snapshot(since=50)) == [10, 50, 60]
    assert sorted(table.snapshot()) == [10, 50, 60]


def test_a_parent_younger_than_its_child_only_has_the_number_of_the_real_one() -> None:
    def entry(pid: int, ppid: int, start: int) -> table.Entry:
        return table.Entry(pid, ppid, pid, pid, "S", start, 1, "x")

    seen = {1: entry(1, 0, 1), 5: entry(5, 1, 100), 6: entry(6, 5, 50), 7: entry(7, 5, 150)}
    assert table.family(seen, [5]) == {7}


def test_marks_are_read_as_bytes_and_only_whole_names_count() -> None:
    env = {
        **{name: value for name, value in os.environ.items() if not name.startswith("MORPH_RUN_")},
        "X_MORPH_RUN_ID": "no",
        table.RUN_ID: "verify \udcff",
        table.RUN_MARKS: "a b",
        table.RUN_OWNER: "{}",
    }
    with subprocess.Popen(["sleep", "300"], env=env) as marked:
        found = table.marks(marked.pid)
        marked.kill()
    env.pop(table.RUN_ID)
    with subprocess.Popen(["sleep", "300"], env=env) as plain:
        missing = table.marks(plain.pid)
        plain.kill()
    assert found == table.Marks("verify \ufffd", ("a", "b"), "{}")
    assert missing is None


def test_what_hides_is_absent_and_raises_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "self").mkdir()
    (tmp_path / "self" / "stat").touch()
    (tmp_path / "31").mkdir()
    (tmp_path / "32").mkdir()
    (tmp_path / "32" / "stat").write_bytes(b"torn")
    monkeypatch.setattr(table, "PROC", str(tmp_path))
    assert table.snapshot() == {}
    assert table.marks(31) is None
    assert table.marks(99) is None
    assert table.command_line(31) == ""


class TestWithoutProc:
    @pytest.fixture(autouse=True)
    def no_proc(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(table, "PROC", str(tmp_path / "nothing"))

    def test_psutil_tells_the_same(self, wait_until: Callable[..., Any]) -> None:
        env = {**os.environ, table.RUN_ID: "r", table.RUN_MARKS: "t"}
        with subprocess.Popen(["sleep", "300"], env=env, start_new_session=True) as child:
            line = wait_until(lambda: table.command_line(child.pid), "it becomes its program")
            entry, marks = table.snapshot()[child.pid], table.marks(child.pid)
            child.kill()
        assert (entry.ppid, entry.group, entry.session, entry.dead) == (os.getpid(), child.pid, child.pid, False)
        assert marks is not None
        assert (marks.run_id, marks.tokens) == ("r", ("t",))
        assert line == "sleep 300"

    def test_zombies_are_dead(self, zombie: int) -> None:
        entry = table.read(zombie)
        assert entry is not None
        assert entry.dead

    def test_a_refusal_of_the_system_hides_a_process(self, monkeypatch: pytest.MonkeyPatch) -> None:
        psutil = pytest.importorskip("psutil")

        def denied(*_: object) -> None:
            raise psutil.AccessDenied(1)

        for name in ("create_time", "status", "environ", "cmdline", "name"):
            monkeypatch.setattr(psutil.Process, name, denied)
        assert table.snapshot() == {}
        assert table.marks(os.getpid()) is None
        assert table.command_line(os.getpid()) == ""

    def test_no_list_of_processes_is_an_empty_one(self, monkeypatch: pytest.MonkeyPatch) -> None:
        psutil = pytest.importorskip("psutil")

        def denied() -> None:
            raise PermissionError(13, "no")

        monkeypatch.setattr(psutil, "pids", denied)
        assert table.snapshot() == {}


def test_this_process_and_those_above_are_ancestors() -> None:
    found = table.ancestors()
    assert {os.getpid(), os.getppid(), 1} <= found
