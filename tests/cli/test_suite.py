"""`suite read`, as a user types it."""

# ruff: noqa: E501 (outputs stand as the tools print them)

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

BIN = str(Path(sys.executable).parent / "morph-spec")
GREEN = "============================= test session starts ====\n==== 5 passed, 1 skipped in 0.10s ====\n"


def read(*args: str, stdin: bytes = b"", cwd: Path | None = None) -> tuple[int, Any, str]:
    done = subprocess.run(
        [BIN, "suite", "read", *args, "--json"], input=stdin, capture_output=True, cwd=cwd, timeout=60
    )
    assert b"Traceback" not in done.stderr
    return done.returncode, json.loads(done.stdout), done.stderr.decode()


def test_a_file_and_standard_input_are_read(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_text(GREEN)
    code, got, _ = read("--runner", "pytest", "--exit-code", "0", str(path))
    assert code == 0
    assert (got["runner"], got["verdict"], got["executed"], got["complete"]) == ("pytest", "pass", 5, True)
    assert (got["counts"]["passed"], got["counts"]["skipped"], got["reason"], got["warnings"]) == (5, 1, None, [])
    assert read("--runner", "pytest", "--exit-code", "0", stdin=GREEN.encode())[1] == got
    assert read("--exit-code", "0", "-", stdin=GREEN.encode())[1] == got


def test_a_pipe_by_name_is_read() -> None:
    script = f"exec {BIN} suite read --runner pytest --exit-code 0 --json <(printf '%s' \"$TEXT\")"
    done = subprocess.run(["bash", "-c", script], capture_output=True, env={**os.environ, "TEXT": GREEN}, timeout=60)
    assert json.loads(done.stdout)["executed"] == 5


def test_the_verdict_is_data(tmp_path: Path) -> None:
    code, got, _ = read("--exit-code=-9", "--command", "pytest", stdin=b"..")
    assert (code, got["verdict"], got["reason"], got["counts"]) == (0, "fail", "signal", None)
    code, got, _ = read("--exit-code", "0", "--command", "npx jest", stdin=b"hello")
    assert (code, got["runner"], got["verdict"], got["counts"]) == (0, "jest", "unknown", None)
    assert read("--runner", "pytest", "--timed-out", stdin=GREEN.encode())[1]["reason"] == "timeout"


def test_a_pipeline_is_warned_about(tmp_path: Path) -> None:
    code, got, err = read(
        "--command", "pytest | tee out", "--exit-code", "0", stdin=GREEN.replace("5 passed", "1 failed").encode()
    )
    assert (code, got["verdict"], got["inconsistent_exit"]) == (0, "fail", True)
    assert got["warnings"] == ["command is a pipeline without pipefail"] and "pipefail" in err


def test_the_other_stream_and_reports(tmp_path: Path) -> None:
    (tmp_path / "err").write_text(
        "Test Suites: 1 passed, 1 total\nTests:       2 passed, 2 total\nTime:        1 s\nRan all test suites.\n"
    )
    (tmp_path / "out").write_text("")
    (tmp_path / "r.xml").write_text(
        '<testsuite name="s" tests="2"><testcase name="a"/><testcase name="b"><failure message="no"/></testcase></testsuite>'
    )
    code, got, _ = read("--command", "jest", "--exit-code", "0", "--stderr", "err", "out", cwd=tmp_path)
    assert (code, got["verdict"], got["executed"], got["suites"]) == (0, "pass", 2, {"passed": 1, "total": 1})
    code, got, _ = read(
        "--command", "jest", "--exit-code", "0", "--stderr", "err", "--junit", "*.xml", "out", cwd=tmp_path
    )
    assert (got["verdict"], got["reason"], got["failed_tests"][0]["message"]) == ("fail", "inconsistent-exit", "no")


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["--runner", "nope", "-"], "unknown-runner"),
        (["gone.txt"], "file-missing"),
        (["--stderr", "gone.txt"], "file-missing"),
        (["--exit-code", "x"], "usage"),
    ],
)
def test_wrong_calls_are_usage(args: list[str], code: str, tmp_path: Path) -> None:
    status, got, _ = read(*args, cwd=tmp_path)
    assert (status, got["ok"], got["code"]) == (2, False, code)


def test_words_for_people() -> None:
    done = subprocess.run(
        [BIN, "suite", "read", "--exit-code", "0"], input=GREEN.encode(), capture_output=True, timeout=60
    )
    assert done.stdout.decode() == "pass (pytest): 5 passed, 1 skipped\nexecuted: 5\n"
    helped = subprocess.run([BIN, "suite", "read", "--help"], capture_output=True, timeout=60)
    assert b"Exit codes" in helped.stdout and b"Example" in helped.stdout
