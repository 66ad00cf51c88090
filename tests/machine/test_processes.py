from __future__ import annotations

import os
import signal
import stat
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.machine import ends, processes, starting, table
from morph_tasks.machine.processes import Ended
from morph_tasks.machine.registry import LIVE

Survivors = Callable[[], list[table.Entry]]


@pytest.fixture
def supervise(tmp_path: Path, run_id: str) -> Callable[..., Ended]:
    def run(command: Any, **changes: Any) -> Ended:
        options = {
            "cwd": tmp_path,
            "env": dict(os.environ),
            "log": tmp_path / "logs" / "node.log",
            "timeout_s": 60.0,
            "run_id": run_id,
            "live_dir": tmp_path / "live",
            "grace_s": 0.3,
        }
        return processes.supervise(command, **{**options, **changes})

    return run


@pytest.fixture
def time_out(
    supervise: Callable[..., Ended], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wait_until: Callable[..., Any]
) -> Callable[..., Ended]:
    """Run a command whose time is over at the very moment when it has made the file `up`."""

    def run(command: Any, **changes: Any) -> Ended:
        real = ends.await_ends

        def first(pids: Any, timeout_s: float) -> list[int]:
            if threading.current_thread() is threading.main_thread():
                monkeypatch.setattr(ends, "await_ends", real)
                wait_until((tmp_path / "up").exists, "the command is up")
                return real(pids, 0)
            return real(pids, timeout_s)

        with monkeypatch.context() as patch:
            patch.setattr(ends, "await_ends", first)
            return supervise(command, **changes)

    return run


def log_of(tmp_path: Path) -> str:
    return (tmp_path / "logs" / "node.log").read_text()


def in_sessions_of(done: Ended) -> list[table.Entry]:
    """List what lives in the sessions that leftovers led, which tells of those that carry no mark."""
    sessions = {int(text.split()[0]) for text in done.leftovers}
    return [entry for entry in table.snapshot().values() if entry.session in sessions and not entry.dead]


class TestNormalEnd:
    def test_both_streams_are_appended_to_a_private_log(self, supervise: Callable[..., Ended], tmp_path: Path) -> None:
        done = supervise("echo out; echo err >&2; exit 3")
        assert done == Ended(3, False, False, done.duration_ms)
        supervise(["sh", "-c", "echo again"])
        assert log_of(tmp_path) == "out\nerr\nagain\n"
        assert stat.S_IMODE((tmp_path / "logs" / "node.log").stat().st_mode) == 0o600

    def test_an_old_log_becomes_private(self, supervise: Callable[..., Ended], tmp_path: Path) -> None:
        (tmp_path / "open.log").touch(0o666)
        supervise("echo x", log=tmp_path / "open.log")
        assert stat.S_IMODE((tmp_path / "open.log").stat().st_mode) == 0o600

    def test_a_string_is_for_the_shell_and_a_list_is_not(self, supervise: Callable[..., Ended], tmp_path: Path) -> None:
        supervise("echo $((1 + 1)) | cat")
        supervise(["printf", "%s\n", "$((1 + 1)) | cat", "a b"])
        assert log_of(tmp_path) == "2\n$((1 + 1)) | cat\na b\n"

    def test_it_gets_the_environment_it_was_given_and_the_marks(
        self, supervise: Callable[..., Ended], tmp_path: Path, run_id: str
    ) -> None:
        supervise("env", env={"PATH": os.environ["PATH"], "ONLY": "this", table.RUN_ID: "forged"})
        names = {line.partition("=")[0] for line in log_of(tmp_path).splitlines()}
        assert names - {"PWD", "SHLVL", "_", "OLDPWD"} == {
            "PATH",
            "ONLY",
            "MORPH_RUN_ID",
            "MORPH_RUN_MARKS",
            "MORPH_RUN_OWNER",
        }
        assert f"MORPH_RUN_ID={run_id}\n" in log_of(tmp_path)

    def test_it_has_no_terminal_no_input_and_no_file_of_ours(
        self, supervise: Callable[..., Ended], tmp_path: Path
    ) -> None:
        handle = os.open(tmp_path, os.O_RDONLY)
        os.set_inheritable(handle, True)
        script = (
            "import os, sys\n"
            "print(sys.stdin.read() == '', os.isatty(1), os.getsid(0) == os.getpid())\n"
            "print(os.path.exists(f'/dev/fd/{sys.argv[1]}'))\n"
            "try: os.open('/dev/tty', os.O_RDWR); print('tty')\n"
            "except OSError: print('no tty')\n"
        )
        supervise([sys.executable, "-c", script, str(handle)])
        os.close(handle)
        assert log_of(tmp_path) == "True False True\nFalse\nno tty\n"

    def test_death_by_signal_is_negative_like_popen(self, supervise: Callable[..., Ended]) -> None:
        assert supervise("kill -9 $$").exit_code == -9
        assert supervise("kill -TERM $$").exit_code == -15

    def test_a_grandchild_that_keeps_the_output_open_does_not_hold_it_up(
        self, supervise: Callable[..., Ended], survivors: Survivors
    ) -> None:
        done = supervise("sleep 300 & echo done; exit 0")
        assert (done.exit_code, done.timed_out) == (0, False)
        assert len(done.leftovers) == 1
        assert done.running == ()
        assert survivors() == []

    def test_a_stubborn_leftover_is_killed(self, supervise: Callable[..., Ended], survivors: Survivors) -> None:
        done = supervise("(trap '' TERM; touch up; while :; do sleep 300; done) & until [ -e up ]; do :; done")
        assert done.exit_code == 0
        assert len(done.leftovers) >= 1
        assert done.running == ()
        assert survivors() == []

    def test_a_leftover_in_another_group_of_the_session_is_ended(
        self, supervise: Callable[..., Ended], survivors: Survivors, tmp_path: Path
    ) -> None:
        script = (
            "import os, time\n"
            "if not os.fork():\n"
            "    os.setpgid(0, 0); open('up', 'w').close(); time.sleep(300)\n"
            "while not os.path.exists('up'): time.sleep(0.01)\n"
        )
        done = supervise([sys.executable, "-c", script])
        assert len(done.leftovers) == 1
        assert survivors() == []

    def test_what_is_about_to_end_is_no_leftover(self, supervise: Callable[..., Ended], tmp_path: Path) -> None:
        done = supervise("(sleep 0.05; echo late) & exit 0")
        assert done.leftovers == ()
        assert log_of(tmp_path) == "late\n"

    def test_what_escaped_is_reported_and_lives_on(self, supervise: Callable[..., Ended], survivors: Survivors) -> None:
        done = supervise("setsid sh -c ': > up; exec sleep 300' & until [ -e up ]; do :; done")
        assert done.exit_code == 0
        assert done.leftovers == done.running
        assert [int(text.split()[0]) for text in done.leftovers] == [entry.pid for entry in survivors()]
        assert survivors() != []

    def test_what_escaped_lives_on_beside_a_leftover(
        self, supervise: Callable[..., Ended], survivors: Survivors
    ) -> None:
        done = supervise("sleep 300 & setsid sh -c ': > up; exec sleep 300' & until [ -e up ]; do :; done")
        assert len(done.leftovers) == 2
        assert [int(text.split()[0]) for text in done.running] == [entry.pid for entry in survivors()]
        assert len(done.running) == 1

    def test_a_zombie_is_no_leftover(self, supervise: Callable[..., Ended]) -> None:
        script = "import os\nif not os.fork(): os._exit(0)\nos.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)\n"
        assert supervise([sys.executable, "-c", script]).leftovers == ()

    def test_nothing_stays_on_disk_or_in_memory(self, supervise: Callable[..., Ended], tmp_path: Path) -> None:
        supervise("exit 1")
        assert list((tmp_path / "live").iterdir()) == []
        assert LIVE.groups() == []

    def test_no_time_limit_is_allowed(self, supervise: Callable[..., Ended]) -> None:
        assert supervise("exit 0", timeout_s=float("inf")).exit_code == 0

    def test_an_exit_code_that_the_system_threw_away_is_not_zero(self, supervise: Callable[..., Ended]) -> None:
        before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        try:
            assert supervise("exit 3").exit_code is None
        finally:
            signal.signal(signal.SIGCHLD, before)

    def test_ignored_and_blocked_signals_are_not_passed_on(self, supervise: Callable[..., Ended]) -> None:
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
        try:
            assert supervise("kill -INT $$; exit 5").exit_code == -signal.SIGINT
            assert supervise("kill -TERM $$; exit 5").exit_code == -signal.SIGTERM
            done: list[Ended] = []
            thread = threading.Thread(target=lambda: done.append(supervise("kill -INT $$; exit 5")))
            thread.start()
            thread.join()
            assert done[0].exit_code == -signal.SIGINT
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
            signal.signal(signal.SIGINT, before)


class TestTimeout:
    def test_the_whole_group_is_ended(self, supervise: Callable[..., Ended], survivors: Survivors) -> None:
        done = supervise("sleep 300 & sleep 301", timeout_s=0.3)
        assert (done.exit_code, done.timed_out, done.interrupted) == (-15, True, False)
        assert done.running == ()
        assert survivors() == []

    def test_a_command_may_clean_up_after_itself(self, time_out: Callable[..., Ended], tmp_path: Path) -> None:
        done = time_out("trap 'echo cleaned; exit 4' TERM; touch up; while :; do sleep 0.02; done", grace_s=20)
        assert (done.exit_code, done.timed_out) == (4, True)
        assert log_of(tmp_path).endswith("cleaned\n")

    def test_term_is_sent_once(self, time_out: Callable[..., Ended], tmp_path: Path) -> None:
        script = (
            "import signal, time\n"
            "def note(*_): print('TERM', flush=True)\n"
            "signal.signal(signal.SIGTERM, note)\n"
            "open('up', 'w').close()\n"
            "while True: time.sleep(1)\n"
        )
        done = time_out([sys.executable, "-c", script])
        assert done.exit_code == -9
        assert log_of(tmp_path) == "TERM\n"

    def test_what_ignores_term_is_killed(self, time_out: Callable[..., Ended], survivors: Survivors) -> None:
        done = time_out("trap '' TERM; touch up; sleep 300 & sleep 301; sleep 302")
        assert (done.exit_code, done.timed_out) == (-9, True)
        assert survivors() == []

    def test_a_stopped_command_is_ended(self, time_out: Callable[..., Ended], survivors: Survivors) -> None:
        done = time_out("touch up; kill -STOP $$; sleep 300", grace_s=20)
        assert done.exit_code == -15
        assert survivors() == []

    @pytest.mark.parametrize(
        "escape",
        [
            "setsid sleep 300 >/dev/null 2>&1 & touch up; sleep 301",
            "(setsid nohup sh -c 'trap \"\" TERM HUP; touch up; sleep 300; sleep 301' >/dev/null 2>&1 &) ; sleep 302",
            "env -i PATH=$PATH setsid sh -c 'touch up; sleep 300' & sleep 301",
            "env -i PATH=$PATH setsid sh ./chain 0 & sleep 301",
        ],
        ids=["setsid", "double fork that ignores TERM", "without environment", "that and forking on"],
    )
    def test_what_escaped_is_ended_too(
        self, time_out: Callable[..., Ended], survivors: Survivors, escape: str, tmp_path: Path
    ) -> None:
        # Each link makes the next one before it ends; a hundred are more than any look at the table can follow.
        (tmp_path / "chain").write_text("touch up\nsleep 0.02\n[ $1 -lt 100 ] && sh ./chain $(($1 + 1)) &\nsleep 5\n")
        done = time_out(escape)
        assert done.timed_out
        assert done.leftovers
        assert done.running == ()
        assert survivors() == []
        assert not in_sessions_of(done)

    def test_what_a_nested_run_started_is_ended_after_that_run_was_killed(
        self, time_out: Callable[..., Ended], tmp_path: Path
    ) -> None:
        (tmp_path / "inner.py").write_text(
            "import os\nfrom pathlib import Path\nfrom morph_tasks.machine import processes\n"
            "here = Path.cwd()\n"
            "processes.supervise('echo $PPID $$ > inner; sleep 300', cwd=here, env=os.environ,\n"
            "    log=here / 'inner.log', timeout_s=300, run_id='inner', live_dir=here / 'live')\n"
        )
        done = time_out(
            f"{sys.executable} inner.py & until [ -s inner ]; do sleep 0.02; done;"
            "read owner leader < inner; kill -9 $owner; wait; touch up; sleep 300"
        )
        assert done.running == ()
        leader = (tmp_path / "inner").read_text().split()[1]
        assert leader in [text.split()[0] for text in done.leftovers]
        assert ends.ended(int(leader))

    def test_a_storm_of_children_is_ended(self, time_out: Callable[..., Ended], survivors: Survivors) -> None:
        storm = "trap '' TERM; i=0; while [ $i -lt 50 ]; do sleep 300 & i=$((i+1)); done; touch up; wait"
        done = time_out(storm)
        assert len(done.leftovers) == 50
        assert survivors() == []

    def test_children_that_keep_forking_are_ended(self, time_out: Callable[..., Ended], survivors: Survivors) -> None:
        # Each TERM makes one more; only KILL to the group as a whole ends them.
        script = "f() { trap 'f & ' TERM; while :; do sleep 0.05; done; }; f & f & f & touch up; f"
        done = time_out(script)
        assert done.timed_out
        assert survivors() == []

    def test_a_neighbour_of_the_same_run_is_left_alone(
        self,
        supervise: Callable[..., Ended],
        time_out: Callable[..., Ended],
        tmp_path: Path,
        wait_until: Callable[..., Any],
    ) -> None:
        done: list[Ended] = []
        neighbour = "touch first; until [ -e finish ]; do sleep 0.02; done; echo finished"
        thread = threading.Thread(target=lambda: done.append(supervise(neighbour, log=tmp_path / "other.log")))
        thread.start()
        wait_until((tmp_path / "first").exists, "the neighbour starts")
        assert time_out("setsid sleep 300 & touch up; sleep 300").timed_out
        (tmp_path / "finish").touch()
        thread.join()
        assert done[0].exit_code == 0
        assert (tmp_path / "other.log").read_text() == "finished\n"

    def test_a_bystander_of_the_same_name_is_left_alone(self, time_out: Callable[..., Ended], bystander: Any) -> None:
        time_out("setsid sleep 300 & touch up; sleep 300")
        assert bystander.poll() is None

    def test_no_file_stays_open(self, time_out: Callable[..., Ended]) -> None:
        time_out("sleep 300 & touch up; sleep 300")
        before = sorted(os.listdir("/dev/fd"))
        time_out("sleep 300 & touch up; sleep 300")
        assert sorted(os.listdir("/dev/fd")) == before

    def test_without_any_process_table_the_group_still_ends(
        self,
        time_out: Callable[..., Ended],
        survivors: Survivors,
        monkeypatch: pytest.MonkeyPatch,
        tmp_path: Path,
    ) -> None:
        psutil = pytest.importorskip("psutil")

        def denied(*_: object) -> None:
            raise PermissionError(13, "no")

        with monkeypatch.context() as patch:
            patch.setattr(table, "PROC", str(tmp_path / "nothing"))
            patch.setattr(psutil, "pids", denied)
            patch.setattr(psutil, "Process", denied)
            done = time_out("trap '' TERM; touch up; sleep 300 & sleep 300; sleep 300")
        assert (done.exit_code, done.timed_out) == (-9, True)
        assert survivors() == []

    def test_a_system_that_forbids_pidfds_ends_them_as_well(
        self, time_out: Callable[..., Ended], survivors: Survivors, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def denied(_: int) -> int:
            raise PermissionError(1, "seccomp")

        monkeypatch.setattr(os, "pidfd_open", denied, raising=False)
        done = time_out("setsid sleep 300 & touch up; sleep 300")
        assert done.timed_out
        assert survivors() == []

    def test_a_process_that_may_not_be_signalled_raises_nothing(
        self, time_out: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        def denied(*_: object) -> None:
            raise PermissionError(1, "no")

        monkeypatch.setattr("morph_tasks.machine.groups.KILL_WAIT_S", 0.2)
        with monkeypatch.context() as patch:
            patch.setattr(os, "killpg", denied)
            patch.setattr(os, "kill", denied)
            patch.setattr(signal, "pidfd_send_signal", denied, raising=False)
            done = time_out(["sh", "-c", "touch up; exec sleep 300"], grace_s=0.1)
        assert done.exit_code is None
        assert done.timed_out
        assert len(done.running) == 1
        assert len(list((tmp_path / "live").iterdir())) == 1, "the next start tries again"


class TestInterrupted:
    def test_from_another_thread(
        self, supervise: Callable[..., Ended], survivors: Survivors, tmp_path: Path, wait_until: Callable[..., Any]
    ) -> None:
        done: list[Ended] = []
        thread = threading.Thread(target=lambda: done.append(supervise("touch up; sleep 300 & sleep 301")))
        thread.start()
        wait_until((tmp_path / "up").exists, "the command starts")
        try:
            processes.interrupt_all(0.3)
            thread.join()
            assert (done[0].interrupted, done[0].timed_out) == (True, False)
            assert supervise("echo never") == Ended(None, False, True, 0)
            assert "never" not in log_of(tmp_path)
        finally:
            LIVE.open()
        assert survivors() == []
        assert list((tmp_path / "live").iterdir()) == []

    def test_an_exception_in_the_wait_leaves_nothing(
        self,
        supervise: Callable[..., Ended],
        survivors: Survivors,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        wait_until: Callable[..., Any],
    ) -> None:
        real = ends.await_ends

        def interrupted(*args: Any) -> Any:
            monkeypatch.setattr(ends, "await_ends", real)
            wait_until((tmp_path / "up").exists, "the command starts")
            raise KeyboardInterrupt

        monkeypatch.setattr(ends, "await_ends", interrupted)
        with pytest.raises(KeyboardInterrupt):
            supervise("setsid sleep 300 & touch up; sleep 301")
        assert survivors() == []
        assert LIVE.groups() == []
        assert list((tmp_path / "live").iterdir()) == []

    def test_an_exception_while_starting_leaves_nothing(
        self, supervise: Callable[..., Ended], survivors: Survivors, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        real = starting.spawn

        def interrupted(*args: Any) -> Any:
            real(*args).returncode = 0  # started, and lost before anybody knew
            raise KeyboardInterrupt

        monkeypatch.setattr(starting, "spawn", interrupted)
        with pytest.raises(KeyboardInterrupt):
            supervise("sleep 300")
        assert survivors() == []


class TestNotStarted:
    @pytest.mark.parametrize(
        ("command", "says"),
        [
            ("", "empty"),
            ("  \n", "empty"),
            ([], "empty"),
            ([""], "empty"),
            (["no-such-program-anywhere"], "no-such-program-anywhere"),
            (["./script"], "may not be run"),
            (["./folder"], "may not be run"),
            (["./lost"], "interpreter"),
            ("a\0b", "null"),
            ("x" * 3_000_000, "too long"),
        ],
    )
    def test_it_is_refused_with_the_reason(
        self, supervise: Callable[..., Ended], tmp_path: Path, command: Any, says: str
    ) -> None:
        (tmp_path / "script").write_text("#!/bin/sh\n")
        (tmp_path / "folder").mkdir()
        (tmp_path / "lost").write_text("#!/no/such/interpreter\n")
        (tmp_path / "lost").chmod(0o755)
        with pytest.raises(Refusal) as refused:
            supervise(command)
        assert refused.value.code == "command-not-started"
        assert says in refused.value.what
        assert len(refused.value.what) < 500
        assert list((tmp_path / "live").glob("*")) == []

    @pytest.mark.parametrize("place", ["missing", "file"])
    def test_a_folder_that_is_none(self, supervise: Callable[..., Ended], tmp_path: Path, place: str) -> None:
        (tmp_path / "file").touch()
        with pytest.raises(Refusal) as refused:
            supervise("true", cwd=tmp_path / place)
        assert refused.value.code == "command-not-started"
        assert place in refused.value.what

    def test_no_shell(self, supervise: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(starting, "SHELL", "/no/such/sh")
        with pytest.raises(Refusal, match="/no/such/sh"):
            supervise("true")

    def test_a_log_or_a_record_that_cannot_be_written(self, supervise: Callable[..., Ended], tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        (tmp_path / "link").symlink_to(tmp_path / "file")
        for bad in ({"log": tmp_path / "file" / "log"}, {"log": tmp_path / "link"}, {"live_dir": tmp_path / "file"}):
            with pytest.raises(Refusal) as refused:
                supervise("touch started", **bad)
            assert refused.value.code == "command-not-started"
        assert not (tmp_path / "started").exists()
        assert (tmp_path / "file").read_bytes() == b""


def test_many_threads_at_once(supervise: Callable[..., Ended], survivors: Survivors, tmp_path: Path) -> None:
    done: dict[int, Ended] = {}

    def work(number: int) -> None:
        command = f"sleep 300 & exit {number}"
        done[number] = supervise(command, log=tmp_path / f"{number}.log")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {number: ended.exit_code for number, ended in done.items()} == {number: number for number in range(12)}
    assert all(len(ended.leftovers) == 1 for ended in done.values())
    assert survivors() == []
    assert list((tmp_path / "live").iterdir()) == []
