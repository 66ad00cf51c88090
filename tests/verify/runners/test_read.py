"""The one door to a verdict."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morph_tasks.errors import Refusal
from morph_tasks.verify.runners.read import read_failures, read_output, runner_name
from morph_tasks.verify.runners.table import RUNNERS

GREEN = b"============================= test session starts ====\n==== 5 passed in 0.10s ====\n"
VERDICTS = {"pass", "fail", "no-tests", "unknown"}


def test_files_and_bytes_read_alike(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(GREEN)
    assert read_output("pytest", path, exit_code=0) == read_output("pytest", GREEN, exit_code=0)
    assert read_output("pytest", path, path, exit_code=0).counts == {
        "passed": 5,
        "failed": 0,
        "errors": 0,
        "skipped": 0,
    }


def test_an_unknown_runner_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Refusal) as unknown:
        read_output("pytset", GREEN)
    assert (unknown.value.code, unknown.value.exit_code) == ("unknown-runner", 2) and "pytest" in unknown.value.fix
    for missing in (tmp_path / "gone", tmp_path):
        with pytest.raises(Refusal) as refused:
            read_output("pytest", missing)
        assert (refused.value.code, refused.value.exit_code) == ("file-missing", 2)


def test_aliases_name_one_runner() -> None:
    assert runner_name("node:test") == "node-test"
    assert runner_name("dotnet-vstest") == runner_name("dotnet-mtp") == "dotnet"
    assert runner_name("auto") == "auto"


def test_the_time_limit_of_the_command_itself() -> None:
    told = read_output("pytest", GREEN, exit_code=124, command="timeout 5 pytest")
    assert (told.verdict, told.reason) == ("fail", "timeout")
    assert read_output("pytest", b"", exit_code=124).reason == "timeout"
    assert (
        read_output("mocha", b"\n  1 passing (1s)\n  124 failing\n\n", exit_code=124, command="mocha").reason
        == "tests-failed"
    )


def test_a_hidden_exit_code_is_said() -> None:
    reading = read_output("auto", GREEN, exit_code=0, command="pytest | tee log || true")
    assert reading.verdict == "pass"
    assert reading.warnings == ("command is a pipeline without pipefail", "the exit code is hidden by `|| true`")


def test_other_runners_of_the_command_are_said() -> None:
    reading = read_output("auto", GREEN, exit_code=0, command="pytest && npx playwright test")
    assert reading.warnings == ("the command also calls playwright, whose tests are not counted here",)


def test_a_command_whose_output_is_another_runners(tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text(json.dumps({"scripts": {"test": "jest"}}))
    reading = read_output("auto", GREEN, exit_code=0, command="npm test", cwd=tmp_path)
    assert (reading.runner, reading.verdict) == ("pytest", "pass")


def test_a_reading_can_be_pickled_and_printed() -> None:
    reading = read_output("go", b"ok  \tex.test/a\t0.1s\n", exit_code=0)
    assert pickle.loads(pickle.dumps(reading)) == reading
    assert json.loads(json.dumps(reading.as_json()))["packages"] == {"ok": 1}


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=200), st.sampled_from(sorted(RUNNERS)), st.sampled_from([None, 0, 1, 2, 8, -9, 130, 255]))
def test_any_bytes_are_survived(noise: bytes, runner: str, code: int | None) -> None:
    reading = read_output(runner, noise + b"\n" + noise, noise, exit_code=code)
    assert reading.verdict in VERDICTS and (reading.verdict != "pass" or reading.counts)
    assert reading.message
    read_failures(runner, noise)


_PIECES = st.sampled_from(
    [
        "Tests:",
        " passed",
        " failed",
        "12",
        " in ",
        "0.10s",
        "=",
        "==== ",
        "\n",
        "\r",
        " | ",
        "ok",
        "total",
        ": ",
        "\x1b[32m",
        "# ",
        "(",
        ")",
        ",",
        "  ",
        "FAIL\t",
        "Ran ",
    ]
)


@settings(max_examples=100, deadline=None)
@given(st.lists(_PIECES, max_size=60).map("".join), st.sampled_from(sorted(RUNNERS)))
def test_pieces_of_summaries_never_crash_and_never_pass_without_a_count(text: str, runner: str) -> None:
    reading = read_output(runner, text.encode(), exit_code=0)
    assert reading.verdict in VERDICTS
    if reading.verdict == "pass" and reading.counts is not None:
        assert reading.executed and not reading.counts["failed"]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(alphabet="abc 0123456789.:|#=-", max_size=60), max_size=8))
def test_what_tests_print_does_not_change_the_footer(noise: list[str]) -> None:
    said = "\n".join(f"log: {line}" for line in noise)
    text = f"============================= test session starts ====\n{said}\n==== 5 passed in 0.10s ====\n"
    reading = read_output("pytest", text.encode(), exit_code=0, command="pytest -s")
    assert (reading.verdict, reading.executed) == ("pass", 5)
