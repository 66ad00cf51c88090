from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from morph_tasks.verify.reach.data import UnreadableError, ranged, read_data

CODE = "def one(x):\n    if x:\n        return 1\n    return 2\n"
TEST = "from code_of import one\n\ndef test_one():\n    assert one(1) == 1\n\ndef test_two():\n    assert one(0) == 2\n"


def _run(folder: Path, *options: str, rc: str = "") -> None:
    (folder / "code_of.py").write_text(CODE)
    (folder / "test_it.py").write_text(TEST)
    (folder / ".coveragerc").write_text(rc or "[run]\nsource = .\n")
    argv = [sys.executable, *options]
    subprocess.run(argv, cwd=folder, check=True, capture_output=True)


def _lines(folder: Path, name: str = ".coverage") -> dict[str, set[int]]:
    data = read_data(folder / name)
    (path,) = (path for path in data if path.endswith("code_of.py"))
    return {name: {line for line in range(20) if bits >> line & 1} for name, bits in data[path].items()}


@pytest.mark.parametrize("branch", ["", "branch = true\n"])
def test_contexts_of_pytest_cov(tmp_path: Path, branch: str) -> None:
    _run(
        tmp_path,
        "-m",
        "pytest",
        "-q",
        "--cov",
        "--cov-context=test",
        "--cov-report=",
        rc=f"[run]\nsource = .\n{branch}",
    )
    found = _lines(tmp_path)
    assert found["test_it.py::test_one"] == {2, 3}
    assert found["test_it.py::test_two"] == {2, 4}
    assert found[""] == {1}


def test_contexts_of_coverage_itself(tmp_path: Path) -> None:
    rc = "[run]\nsource = .\ndynamic_context = test_function\ndata_file = .mine\n"
    _run(tmp_path, "-m", "coverage", "run", "-m", "pytest", "-q", rc=rc)
    found = _lines(tmp_path, ".mine")
    assert found["test_it.test_one"] == {2, 3} and found["test_it.test_two"] == {2, 4}


def test_without_contexts_all_lines_are_of_none(tmp_path: Path) -> None:
    _run(tmp_path, "-m", "coverage", "run", "-m", "pytest", "-q")
    assert _lines(tmp_path) == {"": {1, 2, 3, 4}}


def test_what_is_no_data_is_refused(tmp_path: Path) -> None:
    import sqlite3

    for name, content in (("text", b"!coverage.py: {}"), ("torn", b"SQLite format 3\0" + b"x" * 200)):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(UnreadableError):
            read_data(tmp_path / name)
    with sqlite3.connect(tmp_path / "other") as other:
        other.execute("create table file (id integer)")
    with pytest.raises(UnreadableError):
        read_data(tmp_path / "other")


@given(st.integers(1, 200), st.integers(-5, 200))
def test_a_range_holds_its_lines_and_no_other(first: int, length: int) -> None:
    last = first + length
    assert {line for line in range(500) if ranged(first, last) >> line & 1} == set(range(first, last + 1))


@given(st.sets(st.integers(0, 300)))
def test_the_numbers_of_coverage_are_read_as_it_reads_them(lines: set[int]) -> None:
    from coverage.numbits import nums_to_numbits

    bits = int.from_bytes(nums_to_numbits(lines), "little")
    assert {line for line in range(400) if bits >> line & 1} == lines
