"""The scripts run from any folder, refuse what they do not know, and clean up behind them."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ["scripts/bench", "scripts/demo", "scripts/lock", "scripts/test"]
BASH = shutil.which("bash") or "/bin/bash"


def bash(code: str, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run code that has the functions of lib.sh."""
    text = f'set -euo pipefail\n. "{ROOT}/scripts/lib.sh"\n{code}'
    return subprocess.run(
        [BASH, "-c", text, "script", *arguments],
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )


def program(folder: Path, name: str, body: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!{BASH}\n{body}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("name", [*SCRIPTS, "scripts/lib.sh", ".ci/run"])
def test_it_is_bash_that_parses(name):
    done = subprocess.run([BASH, "-n", ROOT / name], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", [*SCRIPTS, ".ci/run"])
def test_it_can_be_started_and_stops_at_the_first_error(name):
    assert os.access(ROOT / name, os.X_OK)
    assert "set -euo pipefail" in (ROOT / name).read_text("utf-8")


@pytest.mark.parametrize("name", ["scripts/demo", "scripts/lock", "scripts/test"])
def test_help_is_said_before_any_work(name, tmp_path):
    done = subprocess.run([ROOT / name, "--help"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stdout.startswith(f"usage: {name}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["scripts/demo", "scripts/lock"])
def test_an_unknown_argument_is_refused(name):
    done = subprocess.run([ROOT / name, "--no-such-thing"], capture_output=True, text=True)
    assert done.returncode != 0
    assert done.stdout == ""
    assert "usage" in done.stderr or "fix:" in done.stderr


def test_an_old_python_on_the_path_is_passed_over(tmp_path):
    program(tmp_path, "python3", "exit 1")
    program(tmp_path, "python3.14", "exit 127")
    program(tmp_path, "python3.13", f'exec "{sys.executable}" "$@"')
    done = bash("find_python", PATH=f"{tmp_path}:{os.environ['PATH']}", PYTHON="")
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()) == Path(sys.executable)


def test_without_any_python_the_way_out_is_named(tmp_path):
    done = bash(f'PATH="{tmp_path}"\nfind_python', PYTHON="")
    assert done.returncode == 1
    assert "no Python of at least 3.11" in done.stderr
    assert "fix: install python3" in done.stderr


def test_a_named_python_that_is_too_old_is_refused_instead_of_replaced(tmp_path):
    old = program(tmp_path, "old python", "exit 1")
    done = bash("find_python", PYTHON=str(old))
    assert done.returncode == 1
    assert str(old) in done.stderr


def test_the_chosen_python_is_the_one_that_was_named(tmp_path):
    mine = program(tmp_path, "my python", f'exec "{sys.executable}" "$@"')
    done = bash("find_python", PYTHON=str(mine))
    assert (done.returncode, done.stdout.strip()) == (0, sys.executable)


def test_a_python_without_venv_is_refused_with_the_package_to_install(tmp_path):
    bare = program(tmp_path, "python3", "exit 1")
    done = bash('make_venv "$@"', str(bare), str(tmp_path / "venv"))
    assert done.returncode == 1
    assert "no venv module" in done.stderr
    assert "python3-venv" in done.stderr
    assert not (tmp_path / "venv").exists()


def test_without_ensurepip_and_without_apt_the_package_is_named(tmp_path):
    split = program(tmp_path, "python3", 'case "$*" in *"import ensurepip"*) exit 1 ;; esac')
    code = f'has() {{ [ "$1" != apt-get ]; }}\nmake_venv "{split}" "$1"'
    done = bash(code, str(tmp_path / "venv"))
    assert done.returncode == 1
    assert "there is no ensurepip" in done.stderr
    assert "apt-get install python3-venv" in done.stderr


def test_the_digest_follows_the_content(tmp_path):
    one, two = tmp_path / "a b", tmp_path / "c"
    one.write_text("x")
    two.write_text("y")
    digest = 'digest "$@"'
    first = bash(digest, sys.executable, str(one), str(two)).stdout
    assert first == bash(digest, sys.executable, str(one), str(two)).stdout
    one.write_text("z")
    assert first != bash(digest, sys.executable, str(one), str(two)).stdout


def test_variables_of_other_projects_do_not_reach_the_installation():
    code = 'echo "${PIP_TARGET-}${PYTHONPATH-}${VIRTUAL_ENV-}"'
    assert bash(code, PIP_TARGET="/x", PYTHONPATH="/y", VIRTUAL_ENV="/z").stdout == "\n"


class TestTheDemo:
    """What it leaves behind when it does not reach its end."""

    def start(self, tmp_path: Path, body: str) -> subprocess.Popen[str]:
        python = program(tmp_path, "tools/python", body)
        (tmp_path / "tmp").mkdir()
        env = {
            **os.environ,
            "PYTHON": str(python),
            "TMPDIR": str(tmp_path / "tmp"),
            "STARTED": str(tmp_path / "started"),
        }
        return subprocess.Popen(
            [ROOT / "scripts/demo"],
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def test_a_failure_removes_the_folder_and_is_loud(self, tmp_path):
        demo = self.start(tmp_path, "exit 1")
        _, err = demo.communicate(timeout=60)
        assert demo.returncode == 1
        assert "error:" in err
        assert list((tmp_path / "tmp").iterdir()) == []

    @pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
    def test_a_signal_ends_what_runs_and_removes_the_folder(self, tmp_path, sent, code):
        os.mkfifo(tmp_path / "started")
        demo = self.start(tmp_path, 'echo $$ >"$STARTED"; while :; do sleep 0.1; done')
        with (tmp_path / "started").open() as started:
            child = int(started.readline())
        os.kill(demo.pid, sent)
        demo.communicate(timeout=60)
        assert demo.returncode == code
        assert list((tmp_path / "tmp").iterdir()) == []
        with pytest.raises(ProcessLookupError):
            os.kill(child, 0)
