from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.machine import ends, live, table

Survivors = Callable[[], list[table.Entry]]

# Far above what a clean end takes, and below the ten seconds after which others lose patience.
BOUND_S = 9.5

NUMBERS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}

RUNNER = """
import os, sys
from pathlib import Path
from morph_tasks.machine import processes, signals
here = Path.cwd()
signals.GRACE_S = float(os.environ.get("GRACE", signals.GRACE_S))
signals.install(lambda: (here / "cleaned").write_text(str(len(list((here / "live").iterdir())))))
print("half a line", end="")
(here / "pid").write_text(str(os.getpid()))
processes.supervise(
    sys.argv[2], cwd=here, env=dict(os.environ), log=here / "log", timeout_s=300, run_id=sys.argv[1],
    live_dir=here / "live",
)
(here / "recorded").touch()
"""

THREADS = """
import os, sys, threading, time
from pathlib import Path
from morph_tasks.machine import processes, signals
from morph_tasks.machine.registry import LIVE
here = Path.cwd()
signals.install(lambda: time.sleep(0.3))  # time enough for a thread to do what it must not
def late():
    while not LIVE.leaving:
        time.sleep(0.005)
    work("late")
def work(name):
    for _ in range(3):
        processes.supervise(
            sys.argv[2], cwd=here, env={**os.environ, "UP": name}, log=here / name, timeout_s=300,
            run_id=sys.argv[1], live_dir=here / "live",
        )
        (here / "recorded").touch()
threads = [threading.Thread(target=work, args=(f"up{n}",)) for n in range(3)] + [threading.Thread(target=late)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
"""

DODO = """
import os
from pathlib import Path
from morph_tasks.machine import processes, signals
here = Path.cwd()
signals.GRACE_S = float(os.environ.get("GRACE", signals.GRACE_S))
signals.WORKERS_GRACE_S = signals.GRACE_S + 1
signals.install()
DOIT_CONFIG = {"verbosity": 2, "backend": "json", "dep_file": "db.json"}
def measure(name):
    (here / f"worker-{name}").write_text(str(os.getpid()))
    print("measuring", name)
    processes.supervise(
        os.environ["COMMAND"], cwd=here, env={**os.environ, "UP": f"up-{name}"}, log=here / f"log-{name}",
        timeout_s=300, run_id=os.environ["RUN"], live_dir=here / "live",
    )
    (here / f"recorded-{name}").touch()
def task_measure():
    for name in ("a", "b"):
        yield {"name": name, "actions": [(measure, [name])], "uptodate": [False]}
"""


def stop(process: subprocess.Popen[str], number: int) -> tuple[str, str]:
    process.send_signal(number)
    out, err = process.communicate(timeout=BOUND_S)
    assert process.returncode == NUMBERS[signal.Signals(number)]
    assert "Traceback" not in out + err
    return out, err


class TestPlainPython:
    @pytest.mark.parametrize("number", NUMBERS)
    def test_a_signal_ends_everything_and_says_so(
        self, start: Any, run_id: str, survivors: Survivors, wait_until: Any, tmp_path: Path, number: int
    ) -> None:
        process = start(RUNNER, run_id, "sleep 97 & setsid sleep 99 & touch up; sleep 98")
        wait_until((tmp_path / "up").exists, "the command is up")
        out, err = stop(process, number)
        assert survivors() == []
        assert out == "half a line"
        assert err == "interrupted\n"
        assert (tmp_path / "cleaned").exists()
        assert not (tmp_path / "recorded").exists()
        assert list((tmp_path / "live").iterdir()) == []

    def test_what_ignores_term_is_killed(
        self,
        monkeypatch: pytest.MonkeyPatch,
        start: Any,
        run_id: str,
        survivors: Survivors,
        wait_until: Any,
        tmp_path: Path,
    ) -> None:
        monkeypatch.setenv("GRACE", "0.3")
        process = start(RUNNER, run_id, "trap '' TERM INT; sleep 97 & touch up; sleep 98; sleep 99")
        wait_until((tmp_path / "up").exists, "the command is up")
        stop(process, signal.SIGTERM)
        assert survivors() == []

    def test_once_more_means_at_once(
        self, start: Any, run_id: str, survivors: Survivors, wait_until: Any, tmp_path: Path
    ) -> None:
        process = start(RUNNER, run_id, "trap 'touch told' TERM; touch up; while :; do sleep 0.05; done")
        wait_until((tmp_path / "up").exists, "the command is up")
        process.send_signal(signal.SIGINT)
        wait_until((tmp_path / "told").exists, "the command hears of the first one")
        stop(process, signal.SIGINT)
        assert survivors() == []
        assert list((tmp_path / "live").iterdir()) == []
        assert not (tmp_path / "cleaned").exists(), "it did not wait for anything"

    @pytest.mark.parametrize("order", [(signal.SIGINT, signal.SIGTERM), (signal.SIGTERM, signal.SIGINT)])
    def test_two_signals_at_the_same_time(
        self,
        monkeypatch: pytest.MonkeyPatch,
        start: Any,
        run_id: str,
        survivors: Survivors,
        wait_until: Any,
        tmp_path: Path,
        order: tuple[int, int],
    ) -> None:
        monkeypatch.setenv("GRACE", "0.3")
        process = start(RUNNER, run_id, "trap '' TERM; touch up; sleep 98; sleep 99")
        wait_until((tmp_path / "up").exists, "the command is up")
        for number in order:
            process.send_signal(number)
        _, err = process.communicate(timeout=BOUND_S)
        assert process.returncode in NUMBERS.values()
        assert "Traceback" not in err
        assert survivors() == []

    def test_a_signal_at_any_moment_of_the_start(self, start: Any, run_id: str, survivors: Survivors) -> None:
        script = (
            "import os, signal, sys, time\n"
            "from morph_tasks.machine import starting\n"
            "real = starting.spawn\n"
            "def spawn(*args):\n"
            "    before = sys.argv[3] == 'before' and os.kill(os.getpid(), signal.SIGINT)\n"
            "    child = real(*args)\n"
            "    os.kill(os.getpid(), signal.SIGINT)\n"
            "    return child\n"
            "starting.spawn = spawn\n"
        ) + RUNNER
        for moment in ("before", "after"):
            process = start(script, run_id, "sleep 98", moment)
            _, err = process.communicate(timeout=BOUND_S)
            assert (process.returncode, err) == (130, "interrupted\n")
            assert survivors() == []

    def test_threads_start_nothing_more_and_record_nothing(
        self, start: Any, run_id: str, survivors: Survivors, wait_until: Any, tmp_path: Path
    ) -> None:
        process = start(
            THREADS,
            run_id,
            "sleep 97 & touch up/$UP; sleep 98",
        )
        (tmp_path / "up").mkdir(exist_ok=True)
        wait_until(lambda: len(survivors()) >= 6, "all commands are up")
        _, err = stop(process, signal.SIGTERM)
        assert survivors() == []
        assert err == "interrupted\n"
        assert not (tmp_path / "recorded").exists()

    def test_a_cleanup_that_fails_changes_nothing(self, start: Any, wait_until: Any, tmp_path: Path) -> None:
        process = start(
            "import time\nfrom pathlib import Path\nfrom morph_tasks.machine import signals\n"
            "def fails(): raise RuntimeError('x')\n"
            "signals.install(fails); signals.install(lambda: Path('second').touch())\n"
            "Path('up').touch(); time.sleep(300)\n"
        )
        wait_until((tmp_path / "up").exists, "it is up")
        _, err = stop(process, signal.SIGTERM)
        assert err == "interrupted\n"
        assert (tmp_path / "second").exists()

    def test_a_cleanup_that_hangs_is_left(self, start: Any, wait_until: Any, tmp_path: Path) -> None:
        process = start(
            "import time\nfrom pathlib import Path\nfrom morph_tasks.machine import signals\n"
            "signals._BOUND_S = 0.3\n"
            "signals.install(lambda: time.sleep(300))\n"
            "Path('up').touch(); time.sleep(300)\n"
        )
        wait_until((tmp_path / "up").exists, "it is up")
        stop(process, signal.SIGTERM)

    def test_programs_in_the_foreground_end_and_services_stay(
        self, start: Any, wait_until: Any, tmp_path: Path
    ) -> None:
        process = start(
            "import subprocess, time\nfrom pathlib import Path\nfrom morph_tasks.machine import signals\n"
            "signals.install()\n"
            "shell = subprocess.Popen(['sh', '-c', 'sleep 300 & echo $! > inner; wait'])\n"
            "service = subprocess.Popen(['sleep', '300'], stdout=-3, stderr=-3, start_new_session=True)\n"
            "while not (Path('inner').exists() and Path('inner').read_text()): time.sleep(0.01)\n"
            "Path('pids').write_text(f'{shell.pid} {service.pid}'); Path('up').touch(); time.sleep(300)\n"
        )
        wait_until((tmp_path / "up").exists, "it is up")
        stop(process, signal.SIGTERM)
        shell, service = map(int, (tmp_path / "pids").read_text().split())
        try:
            assert ends.ended(shell)
            assert ends.ended(int((tmp_path / "inner").read_text()))
            assert not ends.ended(service)
        finally:
            os.kill(service, signal.SIGKILL)

    def test_a_program_in_the_foreground_that_forks_meanwhile_leaves_nothing(
        self, start: Any, run_id: str, survivors: Survivors, wait_until: Any, tmp_path: Path
    ) -> None:
        # It forks just before its TERM, if it still can; the child of a dead parent is nobody's.
        helper = "touch up; until [ -e go ]; do sleep 0.01; done; sleep 300 & : > forked; wait"
        process = start(
            "import os, signal, subprocess, sys, time\nfrom pathlib import Path\n"
            "from morph_tasks.machine import groups, signals\n"
            "real = groups.send\n"
            "def send(entry, number):\n"
            "    if number == signal.SIGTERM and not Path('go').exists():\n"
            "        Path('go').touch()\n"
            "        deadline = time.monotonic() + 0.5\n"
            "        while not Path('forked').exists() and time.monotonic() < deadline: time.sleep(0.01)\n"
            "    real(entry, number)\n"
            "groups.send = send\n"
            "signals.install()\n"
            f"env = {{**os.environ, '{table.RUN_ID}': sys.argv[1]}}\n"
            "subprocess.run(['sh', '-c', sys.argv[2]], env=env, stdout=-3, stderr=-3)\n",
            run_id,
            helper,
        )
        wait_until((tmp_path / "up").exists, "the helper is up")
        stop(process, signal.SIGTERM)
        assert survivors() == []

    def test_servants_of_multiprocessing_are_not_waited_for(self, start: Any) -> None:
        process = start(
            "import subprocess\nfrom multiprocessing import resource_tracker\nfrom morph_tasks.machine import signals\n"
            "resource_tracker.ensure_running()\nprint(len(signals._find_helpers()))\n"
            "with subprocess.Popen(['sleep', '300']) as child:\n    print(len(signals._find_helpers())); child.kill()\n"
        )
        out, _ = process.communicate(timeout=60)
        assert out == "0\n1\n"

    def test_another_thread_only_adds_its_cleanup(self, start: Any, wait_until: Any, tmp_path: Path) -> None:
        process = start(
            "import threading, time\nfrom pathlib import Path\nfrom morph_tasks.machine import signals\n"
            "thread = threading.Thread(target=signals.install, args=(lambda: Path('undone').touch(),))\n"
            "thread.start(); thread.join(); signals.install(); signals.install()\n"
            "Path('up').touch(); time.sleep(300)\n"
        )
        wait_until((tmp_path / "up").exists, "it is up")
        stop(process, signal.SIGINT)
        assert (tmp_path / "undone").exists()


class TestIgnoredAtTheStart:
    """A job in the background of a script has SIGINT ignored, one under nohup SIGHUP."""

    @pytest.fixture
    def in_background(self, start: Any) -> Callable[..., subprocess.Popen[str]]:
        def run(*args: str, ignored: str) -> subprocess.Popen[str]:
            preamble = "import os, signal, sys\nif not os.environ.get('AGAIN'):\n"
            preamble += f"    signal.signal(signal.{ignored}, signal.SIG_IGN)\n"
            preamble += "    os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, 'AGAIN': '1'})\n"
            return start(preamble + RUNNER, *args)

        return run

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
    def test_what_is_sent_to_this_process_is_obeyed(
        self, in_background: Any, run_id: str, survivors: Survivors, wait_until: Any, tmp_path: Path, number: int
    ) -> None:
        process = in_background(run_id, "touch up; sleep 98", ignored="SIGINT")
        wait_until((tmp_path / "up").exists, "the command is up")
        stop(process, number)
        assert survivors() == []

    def test_children_obey_again(self, in_background: Any, run_id: str, wait_until: Any, tmp_path: Path) -> None:
        process = in_background(run_id, "kill -INT $$; touch ignored", ignored="SIGINT")
        process.communicate(timeout=BOUND_S)
        assert (tmp_path / "recorded").exists()
        assert not (tmp_path / "ignored").exists()

    def test_nohup_holds(
        self, in_background: Any, run_id: str, survivors: Survivors, wait_until: Any, tmp_path: Path
    ) -> None:
        process = in_background(run_id, "touch up; until [ -e go ]; do sleep 0.02; done", ignored="SIGHUP")
        wait_until((tmp_path / "up").exists, "the command is up")
        process.send_signal(signal.SIGHUP)
        (tmp_path / "go").touch()
        process.communicate(timeout=BOUND_S)
        assert process.returncode == 0
        assert (tmp_path / "recorded").exists()


class TestTerminal:
    @pytest.fixture
    def terminal(self, tmp_path: Path, run_id: str) -> Iterator[tuple[int, int]]:
        """Run a shell with a job in the background that ignores SIGINT, and one in front, in a real terminal."""
        (tmp_path / "runner.py").write_text(RUNNER)
        command = f"{sys.executable} runner.py {run_id} 'touch up; until [ -e go ]; do sleep 0.02; done'"
        pid, handle = pty.fork()
        if pid == 0:
            os.chdir(tmp_path)
            os.execvp(
                "sh", ["sh", "-c", f"trap 'touch heard' INT; {command} & until [ -e recorded ]; do sleep 0.1; done"]
            )
        yield pid, handle
        os.close(handle)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)

    def test_a_ctrl_c_for_the_foreground_does_not_end_a_job_in_the_background(
        self, terminal: tuple[int, int], wait_until: Any, tmp_path: Path, survivors: Survivors
    ) -> None:
        _, handle = terminal
        wait_until((tmp_path / "up").exists, "the command is up")
        os.write(handle, b"\x03")
        wait_until((tmp_path / "heard").exists, "the terminal tells its foreground group")
        (tmp_path / "go").touch()
        wait_until((tmp_path / "recorded").exists, "the job in the background goes on to its end")

    def test_a_ctrl_c_in_front_ends_it(
        self, tmp_path: Path, run_id: str, wait_until: Any, survivors: Survivors
    ) -> None:
        (tmp_path / "runner.py").write_text(RUNNER)
        pid, handle = pty.fork()
        if pid == 0:
            os.chdir(tmp_path)
            os.execv(sys.executable, [sys.executable, "runner.py", run_id, "touch up; sleep 98"])
        wait_until((tmp_path / "up").exists, "the command is up")
        os.write(handle, b"\x03")
        said = b""
        while b"interrupted" not in said:
            said += os.read(handle, 1000)
        _, status = os.waitpid(pid, 0)
        os.close(handle)
        assert os.waitstatus_to_exitcode(status) == 130
        assert "interrupted" in said.decode().splitlines()
        assert b"Traceback" not in said
        assert survivors() == []


MODES = {"one after the other": [], "processes": ["-n", "2"], "threads": ["-n", "2", "-P", "thread"]}


class TestDoit:
    @pytest.fixture
    def doit(self, tmp_path: Path, run_id: str) -> Iterator[Callable[..., subprocess.Popen[str]]]:
        (tmp_path / "dodo.py").write_text(DODO)
        started: list[subprocess.Popen[str]] = []

        def run(*options: str, command: str = 'sleep 97 & setsid sleep 99 & touch "$UP"; sleep 98') -> Any:
            started.append(
                subprocess.Popen(
                    [sys.executable, "-m", "doit", "run", *options],
                    cwd=tmp_path,
                    env={**os.environ, "RUN": run_id, "COMMAND": command},
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                    start_new_session=True,
                )
            )
            return started[-1]

        yield run
        for process in started:
            process.kill()
            process.communicate()

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    @pytest.mark.parametrize("mode", MODES)
    def test_a_signal_to_the_runner_alone(
        self, doit: Any, survivors: Survivors, wait_until: Any, tmp_path: Path, mode: str, number: int
    ) -> None:
        process = doit(*MODES[mode])
        names = ["a"] if mode == "one after the other" else ["a", "b"]
        for name in names:
            wait_until((tmp_path / f"up-{name}").exists, "the node is up")
        workers = [int((tmp_path / f"worker-{name}").read_text()) for name in names]
        _, err = stop(process, number)
        assert survivors() == []
        assert all(ends.ended(pid) for pid in workers)
        assert err.splitlines().count("interrupted") == 1
        assert list(tmp_path.glob("recorded-*")) == []
        assert list((tmp_path / "live").iterdir()) == []

    def test_a_ctrl_c_reaches_runner_and_workers_together(
        self, doit: Any, survivors: Survivors, wait_until: Any, tmp_path: Path
    ) -> None:
        cleaning = 'trap \'sleep 0.3; touch "$UP-cleaned"; exit\' TERM; touch "$UP"; while :; do sleep 0.05; done'
        process = doit("-n", "2", command=cleaning)
        for name in ("a", "b"):
            wait_until((tmp_path / f"up-{name}").exists, "the node is up")
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=BOUND_S)
        assert process.returncode == 130
        assert "Traceback" not in err
        assert err.splitlines().count("interrupted") == 1
        assert survivors() == []
        assert len(list(tmp_path.glob("up-*-cleaned"))) == 2, "the nodes had the time to clean up"

    def test_stubborn_nodes_of_workers_are_killed(
        self, monkeypatch: pytest.MonkeyPatch, doit: Any, survivors: Survivors, wait_until: Any, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("GRACE", "0.3")
        process = doit("-n", "2", command="trap '' TERM; touch \"$UP\"; sleep 98; sleep 99")
        for name in ("a", "b"):
            wait_until((tmp_path / f"up-{name}").exists, "the node is up")
        stop(process, signal.SIGTERM)
        assert survivors() == []

    def test_workers_that_hang_are_killed_and_so_is_what_they_ran(
        self, monkeypatch: pytest.MonkeyPatch, doit: Any, survivors: Survivors, wait_until: Any, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("GRACE", "0.3")
        process = doit("-n", "2")
        for name in ("a", "b"):
            wait_until((tmp_path / f"up-{name}").exists, "the node is up")
        workers = [int((tmp_path / f"worker-{name}").read_text()) for name in ("a", "b")]
        os.kill(workers[0], signal.SIGSTOP)
        stop(process, signal.SIGTERM)
        assert survivors() == []
        assert all(ends.ended(pid) for pid in workers)

    def test_workers_leave_when_the_runner_is_killed(
        self, doit: Any, survivors: Survivors, wait_until: Any, tmp_path: Path
    ) -> None:
        process = doit("-n", "2")
        for name in ("a", "b"):
            wait_until((tmp_path / f"up-{name}").exists, "the node is up")
        workers = [int((tmp_path / f"worker-{name}").read_text()) for name in ("a", "b")]
        process.kill()
        wait_until(lambda: survivors() == [], "the workers end what they run")
        wait_until(lambda: all(ends.ended(pid) for pid in workers), "the workers leave")
        assert list(tmp_path.glob("recorded-*")) == []

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    @pytest.mark.parametrize("mode", MODES)
    def test_shell_actions_of_the_project_itself_end_as_well(
        self, doit: Any, survivors: Survivors, wait_until: Any, tmp_path: Path, run_id: str, mode: str, number: int
    ) -> None:
        (tmp_path / "dodo.py").write_text(
            "from morph_tasks.machine import signals\nsignals.install()\n"
            f"def task_long():\n    return {{'actions': ['export {table.RUN_ID}={run_id}; sh -c "
            "\"sleep 97 & touch up; sleep 98\"'], 'uptodate': [False]}\n"
        )
        process = doit(*MODES[mode])
        wait_until(lambda: (tmp_path / "up").exists() and len(survivors()) >= 2, "the action is up")
        _, err = stop(process, number)
        assert err.splitlines().count("interrupted") == 1
        assert survivors() == []

    def test_a_killed_runner_is_cleaned_up_after_at_the_next_start(
        self, doit: Any, survivors: Survivors, wait_until: Any, tmp_path: Path
    ) -> None:
        process = doit()
        wait_until((tmp_path / "up-a").exists, "the node is up")
        process.kill()
        process.wait()
        assert survivors() != []
        assert live.reap(tmp_path / "live") != []
        assert survivors() == []

    def test_what_ends_by_itself_is_green(self, doit: Any, survivors: Survivors, tmp_path: Path) -> None:
        process = doit("-n", "2", command="exit 0")
        _, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, "")
        assert sorted(path.name for path in tmp_path.glob("recorded-*")) == ["recorded-a", "recorded-b"]
