from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

# The table of commands, with ours in it in any case.
_ENTRY = (
    "import sys; from morph_tasks.cli import main\n"
    "main.COMMANDS.setdefault('heavy', ('morph_tasks.cli.heavy:heavy', 'Run heavy commands a few at a time.'))\n"
    "sys.exit(main.main(sys.argv[1:]))\n"
)
_HOLD = "import sys; print('inside', flush=True); sys.stdin.readline()"


@dataclass(frozen=True)
class Shell:
    """A folder in which `morph-spec heavy` is called, with slots of its own."""

    cwd: Path
    env: dict[str, str]

    def config(self, **heavy: Any) -> None:
        path = self.cwd / ".morph/config/config.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"heavy": heavy}))

    def start(self, *args: str, **options: Any) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", _ENTRY, "heavy", *args], cwd=self.cwd, env=self.env, text=True,
            **{"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options,
        )  # fmt: skip

    def heavy(self, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-c", _ENTRY, "heavy", *args], cwd=self.cwd, env={**self.env, **env},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert "Traceback (most recent call last)" not in done.stderr
        return done

    def status(self) -> Any:
        return json.loads(self.heavy("status", "--json").stdout)


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    root = tmp_path / "shop"
    root.mkdir()
    subprocess.run(["git", "init", "-q", "-b", "main", str(root)], check=True)
    made = Shell(root, {**os.environ, "MORPH_HEAVY_DIR": str(tmp_path / "slots")})
    made.env.pop("MORPH_HEAVY", None)
    made.config(minFreeMemGb=0, waitTimeoutSec=0)
    return made


@pytest.fixture
def held(shell: Shell) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Hold a slot by a command that waits for a line."""
    started: list[subprocess.Popen[str]] = []

    def hold(*options: str) -> subprocess.Popen[str]:
        process = shell.start("run", *options, "--", sys.executable, "-c", _HOLD)
        started.append(process)
        assert process.stdout and process.stdout.readline() == "inside\n"
        return process

    yield hold
    for process in started:
        process.communicate()


def test_the_exit_code_and_the_streams_are_those_of_the_command(shell: Shell) -> None:
    done = shell.heavy("run", "--", sys.executable, "-c", "import sys; print('out'); sys.stderr.write('err'); exit(7)")
    assert (done.returncode, done.stdout, done.stderr) == (7, "out\n", "err")


def test_no_shell_reads_the_command(shell: Shell) -> None:
    words = ["$HOME", "a b", "*", ";", "--json", "--label", "", "ü"]
    script = "import json, sys; print(json.dumps(sys.argv[1:]))"
    done = shell.heavy("run", "--label", "mine", "--", sys.executable, "-c", script, *words)
    assert json.loads(done.stdout) == words
    assert json.loads(shell.heavy("run", sys.executable, "-c", script, "--json").stdout) == ["--json"]


def test_stdin_is_that_of_the_command(shell: Shell) -> None:
    process = shell.start("run", "--", "cat")
    assert process.communicate("hello")[0] == "hello"


@pytest.mark.parametrize("command", ["no-such-program", "/etc/hostname", "/"])
def test_what_cannot_be_executed_is_127(shell: Shell, command: str) -> None:
    done = shell.heavy("run", "--", command)
    assert done.returncode == 127
    assert command in done.stderr and "cannot be executed" in done.stderr
    assert shell.status()["holders"] == []


def test_a_script_without_a_first_line_is_127_and_no_traceback(shell: Shell) -> None:
    path = shell.cwd / "odd"
    path.write_text("not a program")
    path.chmod(0o755)
    assert shell.heavy("run", "--", "./odd").returncode == 127


def test_no_command_is_usage(shell: Shell) -> None:
    assert shell.heavy("run").returncode == 2
    assert shell.heavy("run", "--label").returncode == 2


def test_a_command_that_a_signal_ended(shell: Shell) -> None:
    assert shell.heavy("run", "--", "sh", "-c", "kill -TERM $$").returncode == 143


@pytest.fixture
def heard() -> Iterator[None]:
    """Let what is started here hear of the end of a terminal, also under nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("heard")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1])
def test_signals_reach_the_command(shell: Shell, number: signal.Signals) -> None:
    script = (
        "import signal, sys\n"
        f"signal.signal({number.value}, lambda *_: (print('got it', flush=True), exit(9)))\n"
        "print('ready', flush=True)\n"
        "while True: signal.pause()\n"
    )
    process = shell.start("run", "--", sys.executable, "-c", script, start_new_session=True)
    assert process.stdout and process.stdout.readline() == "ready\n"
    process.send_signal(number)
    assert process.communicate(timeout=60)[0] == "got it\n"
    assert process.returncode == 9
    assert shell.status()["holders"] == []


def test_a_ctrl_c_reaches_the_command_once(shell: Shell, tmp_path: Path) -> None:
    script = (
        "import signal\n"
        "seen = []\n"
        "signal.signal(signal.SIGINT, lambda *_: seen.append(1))\n"
        "signal.signal(signal.SIGTERM, lambda *_: exit(10 + len(seen)))\n"
        "print('ready', flush=True)\n"
        "while True: signal.pause()\n"
    )
    argv = [sys.executable, "-c", _ENTRY, "heavy", "run", "--", sys.executable, "-c", script]
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(shell.cwd)
        os.execve(sys.executable, argv, shell.env)
    assert _until(terminal, b"ready")
    os.write(terminal, b"\x03")
    assert _until(terminal, b"^C")
    os.kill(pid, signal.SIGTERM)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 11
    os.close(terminal)


def _until(terminal: int, word: bytes) -> bytes:
    said = b""
    while word not in said:
        said += os.read(terminal, 1024)
    return said


def test_what_is_ignored_stays_ignored_for_the_command(shell: Shell) -> None:
    script = "import signal; print(signal.getsignal(signal.SIGHUP) == signal.SIG_IGN)"
    argv = ["sh", "-c", 'trap "" HUP; exec "$@"', "sh", sys.executable, "-c", _ENTRY, "heavy", "run", "--"]
    done = subprocess.run(
        [*argv, sys.executable, "-c", script], cwd=shell.cwd, env=shell.env, capture_output=True, text=True
    )
    assert done.stdout == "True\n"


def test_full_slots_are_busy(shell: Shell, held: Callable[..., subprocess.Popen[str]], tmp_path: Path) -> None:
    holders = [held("--label", "api tests"), held()]
    done = shell.heavy("run", "--", "touch", str(tmp_path / "ran"))
    assert (done.returncode, done.stdout) == (3, "")
    assert not (tmp_path / "ran").exists()
    assert "error busy:" in done.stderr and f"pid {holders[0].pid} api tests" in done.stderr
    refused = shell.heavy("run", "--json", "--", "true")
    document = json.loads(refused.stdout)
    assert (refused.returncode, document["code"], document["status"]) == (3, "busy", "busy")
    assert document["busy"]["reason"] == "slots-full"
    assert {holder["pid"] for holder in document["busy"]["holders"]} == {process.pid for process in holders}
    told = shell.status()["holders"]
    assert [holder["label"] for holder in told] == ["api tests", os.path.basename(sys.executable)]


def test_waiting_is_told_on_stderr_and_ends_with_the_holder(
    shell: Shell, held: Callable[..., subprocess.Popen[str]]
) -> None:
    shell.config(minFreeMemGb=0, waitTimeoutSec=100, slots=1)
    holder = held("--label", "the first")
    second = shell.start("run", "--", "echo", "ran")
    assert second.stderr
    line = second.stderr.readline()
    assert "waiting for a heavy slot" in line and f"pid {holder.pid} the first" in line
    waiting = shell.status()["waiting"]
    assert [ticket["pid"] for ticket in waiting] == [second.pid]
    holder.communicate()
    assert second.communicate(timeout=60)[0] == "ran\n"
    assert second.returncode == 0


def test_a_term_while_waiting_leaves_nothing_in_the_way(
    shell: Shell, held: Callable[..., subprocess.Popen[str]]
) -> None:
    shell.config(minFreeMemGb=0, waitTimeoutSec=100, slots=1)
    holder = held()
    for number, code in ((signal.SIGTERM, (-15, 143)), (signal.SIGINT, (130,)), (signal.SIGKILL, (-9,))):
        second = shell.start("run", "--", "true")
        assert second.stderr and "waiting" in second.stderr.readline()
        second.send_signal(number)
        _, err = second.communicate(timeout=60)
        assert second.returncode in code
        assert "Traceback" not in err
        assert shell.status()["waiting"] == []
    holder.communicate()
    assert shell.heavy("run", "--", "true").returncode == 0


def test_low_memory_is_busy(shell: Shell) -> None:
    shell.config(minFreeMemGb=1_000_000, waitTimeoutSec=0)
    done = shell.heavy("run", "--json", "--", "true")
    document = json.loads(done.stdout)
    assert done.returncode == 3
    assert document["busy"]["reason"] == "low-memory" and document["busy"]["holders"] == []
    assert document["busy"]["freeGb"] > 0


def test_commands_inside_use_the_same_slot(shell: Shell) -> None:
    shell.config(minFreeMemGb=0, waitTimeoutSec=0, slots=1)
    inner = [sys.executable, "-c", _ENTRY, "heavy", "run", "--", "echo", "deep"]
    done = shell.heavy("run", "--", sys.executable, "-c", _ENTRY, "heavy", "run", "--", *inner)
    assert (done.returncode, done.stdout) == (0, "deep\n")


def test_a_killed_holder_is_in_nobodys_way(shell: Shell, held: Callable[..., subprocess.Popen[str]]) -> None:
    shell.config(minFreeMemGb=0, waitTimeoutSec=0, slots=1)
    holder = held()
    assert shell.heavy("run", "--", "true").returncode == 3
    holder.kill()
    holder.wait()
    (stale,) = shell.status()["stale"]
    assert stale["pid"] == holder.pid
    assert shell.heavy("run", "--", "true").returncode == 0


def test_switched_off_nothing_is_held(shell: Shell, tmp_path: Path) -> None:
    script = "import os; print(os.environ.get('MORPH_HEAVY_LEASE'), os.path.exists(os.environ['MORPH_HEAVY_DIR']))"
    done = shell.heavy("run", "--", sys.executable, "-c", script, MORPH_HEAVY="off")
    assert done.stdout == "None False\n"
    assert "switched off" in shell.heavy("status", MORPH_HEAVY="off").stdout


def test_a_wrong_block_is_named_and_stops_nothing(shell: Shell) -> None:
    shell.config(slots="many", minFreeMemGb=0)
    done = shell.heavy("run", "--", "echo", "ran")
    assert (done.returncode, done.stdout) == (0, "ran\n")
    assert 'heavy.slots: found "many"' in done.stderr
    (shell.cwd / ".morph/config/config.json").write_text("{")
    assert shell.heavy("status", "--json").returncode == 0


def test_no_repository_is_needed(shell: Shell, tmp_path: Path) -> None:
    outside = Shell(tmp_path, {**shell.env, "GIT_CEILING_DIRECTORIES": str(tmp_path.parent)})
    done = outside.heavy("status", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["slots"] == 2


def test_the_state_folder_cannot_be_written(shell: Shell) -> None:
    done = shell.heavy("run", "--json", "--", "true", MORPH_HEAVY_DIR="/proc/slots")
    document = json.loads(done.stdout)
    assert (done.returncode, document["code"]) == (1, "state-unwritable")
    assert "MORPH_HEAVY=off" in document["fix"]


def test_help_says_it_all(shell: Shell) -> None:
    for args in (("--help",), ("run", "--help"), ("status", "--help")):
        done = shell.heavy(*args)
        assert done.returncode == 0 and "Exit codes" in done.stdout
