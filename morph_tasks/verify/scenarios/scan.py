"""The tests that carry scenarios, as the source shows them. Runs nothing but one search by git."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.verify.scenarios.tags import tag, tags

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

# Wider than what counts: what is found is read properly afterwards.
_ANCHORS = r"[sS]cenario|(\[|:)C[0-9]"
_NUMBERED = re.compile(rb"[Cc][0-9]")
_COMMENT = re.compile(r"\s*(?://|#(?!\[)|\*|/\*|--|;|%|<!--|rem\b|\"\"\"|''')", re.I)
_LARGEST = 4 << 20
_LONGEST_NAME = 160
_LONGEST_LINE = 2000
_MARK = re.compile(r"\bscenario\(([^)]*)\)")
_IN_MARK = re.compile(r"""["']((?:[\w.-]+:)?C\d+)["']""")


@dataclass(frozen=True)
class Found:
    """One test of a source file that carries scenarios; `by_text` when only its line was looked at."""

    file: str
    name: str
    line: int
    language: str
    scenarios: tuple[str, ...]
    skipped: str | None = None
    by_text: bool = False


@dataclass(frozen=True)
class Scanned:
    """What the source shows; `problems` say which files could not be read as tests."""

    tests: tuple[Found, ...] = ()
    problems: tuple[str, ...] = ()


def scan(repo: Repo) -> Scanned:
    """Return the tests of a tree that carry scenarios: tracked files and new ones that git does not ignore.

    Raises ProcError when git cannot search.
    """
    found: list[Found] = []
    problems: list[str] = []
    for path in candidates(repo):
        tests, problem = read_file(repo.root, path)
        found += tests
        problems += [problem] if problem else []
    return Scanned(tuple(found), tuple(problems))


def candidates(repo: Repo) -> list[str]:
    """Return the files that may hold a test with a scenario, by one search of git."""
    from morph_tasks.verify.testcode.paths import language_of, looks_like_test

    said = repo.git(
        "-c", "grep.fullName=true", "-c", "core.quotePath=false", "-c", "submodule.recurse=false",
        "grep", "-z", "-I", "-l", "-E", "--untracked", "-e", _ANCHORS, "--", ".", ":(top,exclude).morph",
        ok=(0, 1),
    )  # fmt: skip
    paths = sorted({os.fsdecode(path) for path in said.split(b"\0") if path})
    return [path for path in paths if language_of(path) or looks_like_test(path)]


def read_file(root: Path, path: str) -> tuple[list[Found], str | None]:
    """Return the tests of one file that carry scenarios, and why not all of it could be read."""
    from morph_tasks.verify.testcode.paths import language_of, looks_like_test
    from morph_tasks.verify.testcode.reader import read_tests

    try:
        with open(root / path, "rb") as file:
            source = file.read(_LARGEST + 1)
    except OSError as error:
        return [], f"not verified: {path} cannot be read ({error.strerror})"
    if not _NUMBERED.search(source):
        return [], None
    if language_of(path) is None:
        return (_by_text(path, source), None) if looks_like_test(path) else ([], None)
    try:
        read = read_tests(path, source)
    except ImportError:  # the reader of this language is not installed
        read = None
        if not _is_test(path):
            return [], None
    else:
        if read is None:
            return [], None
    if read is None or not read.readable:
        tests = _by_text(path, source)
        return tests, f"not verified: {path} could not be parsed; {len(tests)} of its lines look like tests"
    return [
        Found(path, one.name, one.line, read.language, tuple(map(tag, one.scenarios)), one.skipped)
        for one in read.tests
        if one.scenarios
    ], None


def _is_test(path: str) -> bool:
    from morph_tasks.verify.testcode.paths import is_test_path

    return is_test_path(path)


def _by_text(path: str, source: bytes) -> list[Found]:
    """Return the lines that name a scenario and are no comment, for files whose language is not read."""
    return list(_lines(path, source.decode("utf-8", "replace")))


def _lines(path: str, text: str) -> Iterator[Found]:
    from morph_tasks.verify.testcode.paths import language_of

    language = language_of(path) or path.rpartition(".")[2].lower()
    for number, line in enumerate(text.split("\n"), 1):
        ids = _ids(line) if len(line) < _LONGEST_LINE and not _COMMENT.match(line) else ()
        if ids:
            yield Found(path, line.strip()[:_LONGEST_NAME], number, language, ids, by_text=True)


def _ids(line: str) -> tuple[str, ...]:
    marked = [tag(one) for mark in _MARK.findall(line) for one in _IN_MARK.findall(mark)]
    return tuple(dict.fromkeys([*marked, *tags(line)]))
