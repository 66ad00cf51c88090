from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as profile
from hypothesis import strategies as st

from morph_tasks.errors import Refusal
from morph_tasks.machine import identity
from morph_tasks.machine.heavy import records, slots
from morph_tasks.machine.heavy.ledger import Ledger
from morph_tasks.machine.heavy.one import OneSlot
from morph_tasks.machine.heavy.settings import Settings
from morph_tasks.machine.heavy.slots import Job, acquire, release, release_run, slot
from morph_tasks.machine.heavy.waiting import Waiting

HeldBy = Callable[..., Path]
Sleeper = Callable[[], subprocess.Popen[bytes]]


def _busy(settings: Settings) -> Refusal:
    with pytest.raises(Refusal) as caught, slot("mine", settings=settings):
        raise AssertionError("there was no slot to take")
    return caught.value


def _files(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def test_a_slot_is_taken_and_given_back(settings: Settings, ledger: Ledger) -> None:
    with slot("build", settings=settings, feature="cart", node="tests/unit") as lease:
        (holder,) = ledger.holders()
        said = holder.as_json()
        assert (said["pid"], said["label"], said["feature"], said["node"]) == (
            os.getpid(), "build", "cart", "tests/unit",
        )  # fmt: skip
        assert lease.path == holder.path and not lease.inherited
    assert _files(ledger.held) == _files(ledger.queue) == []


def test_all_slots_taken_is_busy(settings: Settings, held_by: HeldBy, sleeper: Sleeper) -> None:
    pids = [sleeper().pid, sleeper().pid]
    for pid in pids:
        held_by(pid, label="dotnet test", feature="cart", node="tests/api")
    refusal = _busy(settings)
    assert (refusal.code, refusal.exit_code, refusal.payload["status"]) == ("busy", 3, "busy")
    busy = refusal.payload["busy"]
    assert busy["reason"] == "slots-full"
    assert sorted(holder["pid"] for holder in busy["holders"]) == sorted(pids)
    assert busy["holders"][0]["node"] == "tests/api"
    assert busy["freeGb"] > 0 and busy["waitedMs"] >= 0
    assert all(f"pid {pid} dotnet test cart tests/api" in refusal.what for pid in pids)
    assert _files(settings.folder / "queue") == []
    json.dumps(refusal.as_json())


def test_the_number_of_slots_is_that_of_the_one_who_asks(settings: Settings, held_by: HeldBy, sleeper: Sleeper) -> None:
    held_by(sleeper().pid)
    assert _busy(replace(settings, slots=1)).payload["busy"]["reason"] == "slots-full"
    with slot("mine", settings=replace(settings, slots=2)):
        pass


def test_a_slot_that_comes_free_is_taken_at_once(settings: Settings, held_by: HeldBy, sleeper: Sleeper) -> None:
    held_by(sleeper().pid)
    second = held_by(sleeper().pid)
    told: list[Waiting] = []

    def seen(waiting: Waiting) -> None:
        told.append(waiting)
        second.unlink()

    with slot("mine", settings=replace(settings, wait_s=60), on_wait=seen) as lease:
        assert lease.waited_ms > 0
        assert records.number_of(lease.path.name) if lease.path else False
    assert [waiting.reason for waiting in told] == ["slots-full"]
    assert f"held by pid {told[0].holders[0].pid} job" in told[0].line()


def test_a_waiting_process_is_woken_and_need_not_poll(
    settings: Settings, held_by: HeldBy, sleeper: Sleeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slots, "_POLL_S", 1000)
    monkeypatch.setattr(slots, "_FAR_POLL_S", 1000)
    monkeypatch.setattr(slots, "_TELL_S", 1000)
    only = replace(settings, slots=1, wait_s=500)
    inside, done = threading.Event(), threading.Event()
    lease = acquire(Job("first"), only)

    def second() -> None:
        # Not the slot of this process, which it would simply share.
        turn = slots._Turn(Ledger(only.folder, only.max_hold_s), Job("second"), only)
        taken = turn.wait(lambda _: inside.set())
        assert taken.path is not None
        taken.path.unlink()
        done.set()

    thread = threading.Thread(target=second, daemon=True)
    thread.start()
    assert inside.wait(30)
    release(lease, only)
    assert done.wait(30)
    thread.join(30)


def test_nobody_overtakes_who_waits(settings: Settings, held_by: HeldBy, sleeper: Sleeper) -> None:
    held_by(sleeper().pid)
    held_by(sleeper().pid, "queue", waitS=600)
    refusal = _busy(settings)
    assert refusal.payload["busy"]["reason"] == "queued"
    assert "1 before this one" in refusal.what
    with slot("mine", settings=replace(settings, slots=3)):
        pass


def test_who_was_stopped_loses_its_turn(
    settings: Settings, held_by: HeldBy, sleeper: Sleeper, wait_until: Callable[[Callable[[], Any], str], Any]
) -> None:
    waiter = sleeper()
    ticket = held_by(waiter.pid, "queue", waitS=600)
    only = replace(settings, slots=1)
    assert _busy(only).payload["busy"]["reason"] == "queued"
    waiter.send_signal(signal.SIGSTOP)
    os.waitpid(waiter.pid, os.WUNTRACED)
    with slot("mine", settings=only):
        assert ticket.exists()


@pytest.mark.parametrize("folder", ["held", "queue"])
def test_what_died_is_in_nobodys_way(
    folder: str, settings: Settings, held_by: HeldBy, sleeper: Sleeper, ledger: Ledger
) -> None:
    for _ in range(3):
        process = sleeper()
        held_by(process.pid, folder, waitS=600)
        # Not reaped: a zombie is dead as well.
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    with slot("mine", settings=replace(settings, slots=1)):
        assert len(_files(ledger.held)) == 1
    assert _files(ledger.queue) == []


def test_a_reused_number_is_nobodys(settings: Settings, ledger: Ledger, sleeper: Sleeper) -> None:
    process = identity.identify(sleeper().pid)
    assert process is not None and isinstance(process.start, int)
    ledger.put(ledger.held, replace(process, start=process.start - 1), records.content("old"))
    with slot("mine", settings=replace(settings, slots=1)):
        assert len(_files(ledger.held)) == 1


def test_a_restart_of_the_machine_frees_all(settings: Settings, ledger: Ledger, sleeper: Sleeper) -> None:
    process = identity.identify(sleeper().pid)
    assert process is not None
    ledger.put(ledger.held, replace(process, boot="another/1"), records.content("old"))
    with slot("mine", settings=replace(settings, slots=1)):
        pass


@pytest.mark.parametrize("change", [{"host": "elsewhere"}, {"start": None}])
def test_what_cannot_be_told_is_not_taken_over_before_its_time(
    change: dict[str, Any], settings: Settings, ledger: Ledger, sleeper: Sleeper
) -> None:
    process = identity.identify(sleeper().pid)
    assert process is not None
    path = ledger.put(ledger.held, replace(process, **change), records.content("far"))
    only = replace(settings, slots=1)
    _busy(only)
    old = time.time() - 91 * 60
    os.utime(path, (old, old))
    path.write_text(json.dumps({**json.loads(path.read_text()), "ticks": records.ticks() - 91 * 60}))
    os.utime(path, (old, old))
    with slot("mine", settings=only):
        assert not path.exists()


def test_a_slot_that_is_held_too_long_is_free(
    settings: Settings, held_by: HeldBy, sleeper: Sleeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = held_by(sleeper().pid)
    now = records.ticks()
    only = replace(settings, slots=1)
    monkeypatch.setattr(records, "ticks", lambda: now + 89 * 60)
    _busy(only)
    monkeypatch.setattr(records, "ticks", lambda: now + 91 * 60)
    with slot("mine", settings=only):
        assert not path.exists()


def test_giving_back_what_another_took_over_is_no_fault(settings: Settings) -> None:
    lease = acquire(Job("mine"), settings)
    assert lease.path is not None
    lease.path.unlink()
    release(lease, settings)
    release(lease, settings)


@pytest.mark.parametrize("jump_s", [10 * 365 * 86400, -10 * 365 * 86400])
def test_a_jump_of_the_clock_changes_nothing(
    jump_s: float, settings: Settings, held_by: HeldBy, sleeper: Sleeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    pids = [sleeper().pid for _ in range(3)]
    held_by(pids[0])
    first = held_by(pids[1], "queue", waitS=600)
    now, now_ns = time.time(), time.time_ns()
    monkeypatch.setattr(time, "time", lambda: now + jump_s)
    monkeypatch.setattr(time, "time_ns", lambda: now_ns + int(jump_s * 1e9))
    second = held_by(pids[2], "queue", waitS=600)
    assert first.name < second.name
    assert _busy(replace(settings, slots=1)).payload["busy"]["holders"][0]["pid"] == pids[0]


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"null", b'{"process": 7}', b"\xff\xfe", b"[" * 60_000])
def test_a_record_that_was_cut_off_still_is_its_holders(
    data: bytes, settings: Settings, held_by: HeldBy, sleeper: Sleeper
) -> None:
    process = sleeper()
    path = held_by(process.pid)
    path.write_bytes(data)
    only = replace(settings, slots=1)
    assert _busy(only).payload["busy"]["holders"][0]["pid"] == process.pid
    process.kill()
    process.wait()
    with slot("mine", settings=only):
        assert not path.exists()


@pytest.mark.parametrize("folder", ["held", "queue", "cleaning"])
def test_files_that_are_no_records_are_in_nobodys_way(folder: str, settings: Settings, ledger: Ledger) -> None:
    place = ledger.folder / folder
    (place / "notes.json").write_text("{}")
    (place / "README").write_text("what is this?")
    (place / "dir.json").mkdir()
    (place / f"{'9' * 25}-1-1-00000000.json").write_text("{}")
    os.mkfifo(place / "pipe.json")
    with slot("mine", settings=replace(settings, slots=1)):
        pass
    assert (place / "README").exists()


def test_a_record_of_another_name_counts_when_it_names_a_living_process(
    settings: Settings, ledger: Ledger, sleeper: Sleeper
) -> None:
    process = sleeper()
    found = identity.identify(process.pid)
    assert found is not None
    (ledger.held / "slot-1.json").write_text(json.dumps(found.as_json()))
    stale = {**found.as_json(), "start": "2001-01-01T00:00:00"}
    (ledger.held / "slot-2.json").write_text(json.dumps(stale))
    assert len(_busy(replace(settings, slots=1)).payload["busy"]["holders"]) == 1
    assert _files(ledger.held) == ["slot-1.json"]
    assert process.poll() is None


@profile(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.text("0123456789abcdefx-.json", min_size=1, max_size=50), st.binary(max_size=60), max_size=4))
def test_no_content_of_the_folder_breaks_it(settings: Settings, ledger: Ledger, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        if name.strip("."):
            for folder in (ledger.held, ledger.queue, ledger.cleaning):
                (folder / name).write_bytes(data)
    with slot("mine", settings=settings) as lease:
        assert lease.path is not None and lease.path.exists()


def test_what_killed_processes_left_beside_records_is_cleared(
    settings: Settings, ledger: Ledger, held_by: HeldBy, sleeper: Sleeper
) -> None:
    held_by(sleeper().pid)
    (ledger.held / "00000000000000000001-1-1-00000000.tmp").write_text("{")
    os.mkfifo(ledger.queue / "00000000000000000001-1-1-00000000.json.fifo")
    _busy(replace(settings, slots=1))
    assert len(_files(ledger.held)) == 1
    assert _files(ledger.queue) == []


def test_a_folder_that_was_cleared_while_waiting_keeps_the_place(
    settings: Settings, ledger: Ledger, held_by: HeldBy, sleeper: Sleeper
) -> None:
    holder = held_by(sleeper().pid)
    looks: list[int] = []

    class Ledge(Ledger):
        def holders(self, *, sweep: bool = False) -> list[records.Record]:
            looks.append(len(_files(self.queue)))
            if len(looks) == 2:
                for name in _files(self.queue):
                    (self.queue / name).unlink()
            if len(looks) == 4:
                holder.unlink()
            return super().holders(sweep=sweep)

    only = replace(settings, slots=1, wait_s=60)
    lease = slots._Turn(Ledge(only.folder, only.max_hold_s), Job("mine"), only).wait(lambda _: None)
    # A ticket and its pipe; cleared; the ticket again.
    assert looks[:4] == [0, 2, 1, 1]
    assert lease.path is not None
    lease.path.unlink()


def test_low_memory_waits_though_nobody_holds_a_slot(settings: Settings, free_memory: Callable[..., None]) -> None:
    free_memory(3.9)
    refusal = _busy(replace(settings, min_free_gb=None))
    assert refusal.payload["busy"] == {
        "reason": "low-memory",
        "holders": [],
        "freeGb": 3.9,
        "waitedMs": refusal.payload["busy"]["waitedMs"],
    }
    assert "3.9 GiB" in refusal.what and "4 GiB must be" in refusal.what and "nobody holds a slot" in refusal.what


def test_memory_that_comes_free_ends_the_wait(settings: Settings, free_memory: Callable[..., None]) -> None:
    free_memory(1)
    told: list[str] = []

    def seen(waiting: Waiting) -> None:
        told.append(waiting.reason)
        free_memory(5)

    with slot("mine", settings=replace(settings, min_free_gb=None, wait_s=60), on_wait=seen):
        assert told == ["low-memory"]


def test_a_small_machine_works_with_the_default(settings: Settings, free_memory: Callable[..., None]) -> None:
    default = replace(settings, min_free_gb=None)
    free_memory(1.1, 2)
    with slot("mine", settings=default):
        pass
    free_memory(0.9, 2)
    assert "1 GiB must be" in _busy(default).what


def test_a_demand_that_can_never_be_met_is_told(settings: Settings, free_memory: Callable[..., None]) -> None:
    free_memory(1.5, 2)
    refusal = _busy(replace(settings, min_free_gb=4))
    assert "which can never be" in refusal.what and "heavy.minFreeMemGb" in refusal.what


def test_memory_nobody_can_tell_is_not_waited_for(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    from morph_tasks.machine.heavy import memory

    monkeypatch.setattr(memory, "look", lambda *_: memory.Memory(None, None))
    with slot("mine", settings=replace(settings, min_free_gb=1000)):
        pass


def test_waiting_is_told_at_once_and_every_thirty_seconds(
    settings: Settings, held_by: HeldBy, sleeper: Sleeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    held_by(sleeper().pid)
    clock = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    naps: list[float] = []

    def nap(_: Any, seconds: float) -> None:
        naps.append(seconds)
        clock[0] += seconds

    monkeypatch.setattr(slots._Turn, "_sleep", nap)
    told: list[float] = []
    with pytest.raises(Refusal) as caught:
        acquire(Job("mine"), replace(settings, slots=1, wait_s=100), lambda seen: told.append(seen.waited_s))
    assert told == pytest.approx([0, 30, 60, 90])
    assert caught.value.payload["busy"]["waitedMs"] == pytest.approx(100_000)
    # No more often than four times a second, but for the last step to the end of the time.
    assert sum(nap < 0.24 for nap in naps) <= 4


def test_a_lock_that_another_keeps_is_busy(settings: Settings, ledger: Ledger) -> None:
    handle = os.open(ledger.folder / "lock", os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        refusal = _busy(settings)
    finally:
        os.close(handle)
    assert (refusal.code, refusal.payload["busy"]["reason"]) == ("busy", "state-locked")
    with slot("mine", settings=settings):
        pass


def test_a_folder_that_cannot_be_written_is_refused_with_a_way_out(tmp_path: Path, settings: Settings) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file" / "heavy", Path("/proc/heavy")):
        with pytest.raises(Refusal) as caught, slot("mine", settings=replace(settings, folder=folder)):
            pass
        assert (caught.value.code, caught.value.exit_code) == ("state-unwritable", 1)
        assert "MORPH_HEAVY_DIR" in caught.value.fix and "MORPH_HEAVY=off" in caught.value.fix


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_a_folder_of_another_user_names_the_owner(tmp_path: Path, settings: Settings, ledger: Ledger) -> None:
    for place in [tmp_path, *tmp_path.parents[:2]]:
        place.chmod(0o755)
    script = (
        "import os, sys; from pathlib import Path\n"
        "from morph_tasks.machine.heavy.slots import slot\n"
        "from morph_tasks.machine.heavy.settings import Settings; from morph_tasks.errors import Refusal\n"
        "def take(folder):\n"
        "    with slot('x', settings=Settings(folder=Path(folder), min_free_gb=0, wait_s=0)): pass\n"
        # The interpreter may lie where nobody else can read: all it needs is loaded by now.
        "take(sys.argv[2])\n"
        "os.setuid(65534)\n"
        "try: take(sys.argv[1])\n"
        "except Refusal as refusal: print(refusal.code, refusal.what)\n"
    )
    argv = [sys.executable, "-c", script, str(settings.folder), str(tmp_path / "own")]
    done = subprocess.run(argv, capture_output=True, text=True)
    assert done.stdout.startswith("state-unwritable "), done.stderr
    assert "it belongs to user 0" in done.stdout


def test_switched_off_takes_nothing(settings: Settings) -> None:
    with slot("mine", settings=replace(settings, enabled=False, slots=1)) as lease:
        assert lease.path is None
        assert "MORPH_HEAVY_LEASE" not in lease.env
        assert lease.env["MSBUILDDISABLENODEREUSE"] == "1"
    assert not settings.folder.exists()


def test_a_nested_job_of_the_same_process_shares_the_slot(settings: Settings, ledger: Ledger) -> None:
    only = replace(settings, slots=1)
    outer = acquire(Job("outer"), only)
    inner = acquire(Job("inner"), only)
    assert inner.inherited and inner.env == outer.env
    release(outer, only)
    # The one inside still works.
    assert len(ledger.holders()) == 1
    release(inner, only)
    assert ledger.holders() == []


def _child(lease_env: dict[str, str], settings: Settings) -> str:
    script = (
        "import sys; from pathlib import Path; from morph_tasks.machine.heavy.slots import slot\n"
        "from morph_tasks.machine.heavy.settings import Settings; from morph_tasks.errors import Refusal\n"
        "try:\n"
        "    with slot('x', settings=Settings(folder=Path(sys.argv[1]), slots=1, min_free_gb=0, wait_s=0)) as lease:\n"
        "        print('inherited' if lease.inherited else 'own')\n"
        "except Refusal as refusal: print(refusal.code)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(settings.folder)],
        env={**os.environ, **lease_env},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_a_child_inherits_the_slot_and_leaves_it_alone(settings: Settings, ledger: Ledger) -> None:
    with slot("mine", settings=settings) as lease:
        assert _child({}, settings) == "busy"
        assert _child(lease.env, settings) == "inherited"
        assert len(ledger.holders()) == 1
    assert _child(lease.env, settings) == "own"


def test_a_lease_is_checked(
    settings: Settings, ledger: Ledger, held_by: HeldBy, sleeper: Sleeper, tmp_path: Path
) -> None:
    process = sleeper()
    path = held_by(process.pid, token="0123")
    name = path.name
    assert _child({"MORPH_HEAVY_LEASE": f"{name}:0123"}, settings) == "inherited"
    for lie in (f"{name}:4567", f"{name}:", name, ":0123", "x:0123", f"../held/{name}:0123", f"{name}:0123\n"):
        assert _child({"MORPH_HEAVY_LEASE": lie}, settings) == "busy", lie
    process.kill()
    process.wait()
    assert _child({"MORPH_HEAVY_LEASE": f"{name}:0123"}, settings) == "own"


def test_children_find_a_folder_that_the_environment_names(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MORPH_HEAVY_DIR", "somewhere/relative")
    with slot("mine", settings=settings) as lease:
        assert lease.env["MORPH_HEAVY_DIR"] == str(settings.folder)


def test_an_interrupt_while_waiting_leaves_no_ticket(settings: Settings, held_by: HeldBy, sleeper: Sleeper) -> None:
    held_by(sleeper().pid)

    def interrupt(_: Waiting) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        acquire(Job("mine"), replace(settings, slots=1, wait_s=60), interrupt)
    assert _files(settings.folder / "queue") == []


def test_a_forked_child_does_not_give_back_what_its_parent_holds(settings: Settings, ledger: Ledger) -> None:
    with slot("mine", settings=settings) as lease:
        child = os.fork()
        if child == 0:
            release(lease, settings)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert len(ledger.holders()) == 1


def test_one_slot_serves_all_nodes_of_a_verify(settings: Settings, ledger: Ledger) -> None:
    only = replace(settings, slots=1)
    with OneSlot("verify cart", settings=only, feature="cart") as one:
        assert not ledger.holders() and one.lease is None
        assert one.env == {"MSBUILDDISABLENODEREUSE": "1"}
        found: list[Path | None] = []
        threads = [threading.Thread(target=lambda: found.append(one("tests/unit").path)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == 8 and len(set(found)) == 1
        assert len(ledger.holders()) == 1
        assert "MORPH_HEAVY_LEASE" in one.env
    assert ledger.holders() == []


def test_one_slot_waits_once_and_then_refuses_every_node(
    settings: Settings, held_by: HeldBy, sleeper: Sleeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    held_by(sleeper().pid)
    tried: list[Job] = []

    def counted(job: Job, *more: Any) -> slots.Lease:
        tried.append(job)
        return acquire(job, *more)

    monkeypatch.setattr(slots, "acquire", counted)
    with OneSlot("verify", settings=replace(settings, slots=1)) as one:
        for _ in range(3):
            with pytest.raises(Refusal, match="no heavy slot"):
                one("tests/unit")
    assert [job.node for job in tried] == ["tests/unit"]


_RUN_WORKER = """
import sys
from pathlib import Path
from morph_tasks.machine import identity
from morph_tasks.machine.heavy.one import OneSlot
from morph_tasks.machine.heavy.settings import Settings

settings = Settings(folder=Path(sys.argv[1]), slots=1, min_free_gb=0, wait_s=300)
owner = identity.identify(int(sys.argv[2]))
with OneSlot("verify", settings=settings, run="run-7", owner=owner) as one:
    print(one("node").path.name, flush=True)
    sys.stdin.read()
"""


def test_the_processes_of_one_run_share_a_slot_that_outlives_them(settings: Settings, ledger: Ledger) -> None:
    argv = [sys.executable, "-c", _RUN_WORKER, str(settings.folder), str(os.getpid())]
    workers = [subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    names = {worker.stdout.readline().strip() for worker in workers if worker.stdout}
    assert len(names) == 1
    for worker in workers:
        worker.communicate()
    (holder,) = ledger.holders()
    assert (holder.path.name, holder.pid) == (names.pop(), os.getpid())
    only = replace(settings, slots=1)
    with OneSlot("verify", settings=only, run="run-7") as one:
        assert one().path == holder.path
    assert ledger.holders() == []


def test_a_run_gives_back_only_its_own_slot(
    settings: Settings, ledger: Ledger, held_by: HeldBy, sleeper: Sleeper
) -> None:
    held_by(sleeper().pid, run="other")
    held_by(sleeper().pid, run="mine")
    release_run("mine", settings)
    release_run("", settings)
    assert [holder.text("run") for holder in ledger.holders()] == ["other"]


def test_a_nested_job_uses_the_slot_of_the_run(settings: Settings, held_by: HeldBy, sleeper: Sleeper) -> None:
    path = held_by(sleeper().pid, run="run-7")
    only = replace(settings, slots=1)
    joined = acquire(Job("node", run="run-7"), only)
    nested = acquire(Job("e2e up"), only)
    assert joined.path == nested.path == path and joined.inherited and nested.inherited
    release(nested, only)
    release(joined, only)
    assert path.exists()
    path.unlink()
    held_by(sleeper().pid)
    _busy(only)
