from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from morph_tasks.verify.reach.answer import _Judge, _merged, _Verdict
from morph_tasks.verify.reach.changes import Hunk
from morph_tasks.verify.reach.digest import Digest, FileRan, content_of
from morph_tasks.verify.reach.model import Unexplained
from morph_tasks.verify.reach.pieces import Source, read_source
from morph_tasks.verify.reach.suites import Suites

CODE = """\
RATE = 1


def one(x):
    # said
    a = 1
    b = 2

    c = 3
    return a


class Two:
    def three(self):
        return 1
"""


def _read(*hunks: Hunk, code: str = CODE, path: str = "a.py") -> Source:
    return read_source(path, code.encode(), hunks)


def _merge(source: Source, **why: str) -> list[tuple[tuple[int, int] | None, str | None, str]]:
    """Return what pieces come to, by the verdict of their first line."""
    judged = [(piece, _Verdict(why=why.get(f"at{piece.first}", "no-test-reaches"))) for piece in source.pieces]
    return [(one.lines, one.symbol, one.why) for one in _merged(source, judged) if isinstance(one, Unexplained)]


def test_a_new_file_is_cut_where_symbols_end() -> None:
    assert _merge(_read(Hunk(1, 15, 0))) == [
        ((1, 1), None, "no-test-reaches"), ((4, 10), "one", "no-test-reaches"),
        ((13, 13), "Two", "no-test-reaches"), ((14, 15), "Two.three", "no-test-reaches"),
    ]  # fmt: skip


def test_lines_that_come_to_something_else_stand_alone() -> None:
    found = _merge(_read(Hunk(4, 7, 0)), at9="not-executed")
    assert found == [
        ((4, 7), "one", "no-test-reaches"), ((9, 9), "one", "not-executed"), ((10, 10), "one", "no-test-reaches"),
    ]  # fmt: skip


def test_changes_around_a_line_that_stayed_are_two_and_around_a_comment_one() -> None:
    assert _merge(_read(Hunk(6, 1, 1), Hunk(9, 1, 1))) == [
        ((6, 6), "one", "no-test-reaches"), ((9, 9), "one", "no-test-reaches"),
    ]  # fmt: skip
    assert _merge(_read(Hunk(7, 1, 1), Hunk(9, 1, 1))) == [((7, 9), "one", "no-test-reaches")]


def test_what_cannot_run_is_not_asked_but_what_took_its_place_is() -> None:
    assert _read(Hunk(5, 1, 0)).pieces == _read(Hunk(8, 1, 0)).pieces == ()
    (piece,) = _read(Hunk(5, 1, 2)).pieces
    assert (piece.lines, piece.removed, piece.name) == ((), 2, "one")


@pytest.mark.parametrize(
    ("first", "name", "ranges"),
    [
        (6, "one", ((5, 10),)),
        (0, None, ((1, 16),)),
        (10, None, ((1, 16),)),
        (13, "Two", ((14, 15), (1, 16))),
        (14, "Two.three", ((15, 15),)),
    ],
)
def test_where_lines_went_the_symbol_around_them_is_asked(first: int, name: str | None, ranges: object) -> None:
    (piece,) = _read(Hunk(first, 0, 1)).pieces
    assert (piece.name, piece.ranges, piece.lines) == (name, ranges, ())


def test_other_languages_are_asked_by_symbol_and_unknown_ones_by_hunk() -> None:
    code = "// said\nexport function sum(a: number) {\n  // said\n  return a;\n}\nconst b = 1;\n"
    source = _read(Hunk(1, 6, 0), code=code, path="web/a.ts")
    assert [(one.lines, one.name, one.ranges) for one in source.pieces] == [((2, 4, 5), "sum", ()), ((6,), None, ())]
    shell = _read(Hunk(1, 3, 0), code="a\n\nb\n", path="a.sh")
    assert not shell.parsed and [one.lines for one in shell.pieces] == [(1, 3)]
    torn = _read(Hunk(1, 1, 0), code="def (:\n")
    assert not torn.parsed and [one.lines for one in torn.pieces] == [(1,)]


def test_tests_inside_of_rust_are_not_asked() -> None:
    code = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\n"
    assert [one.lines for one in _read(Hunk(1, 5, 0), code=code, path="a.rs").pieces] == [(1,)]


def test_coverage_says_nothing_of_lines_that_it_cannot_tell_apart(tmp_path: Path) -> None:
    """As of a template: a plugin of coverage.py measures it, and what its lines are only that plugin knows."""
    code = "fast = 1\n"
    (tmp_path / "a.pyx").write_text(code)
    (piece,) = (source := _read(Hunk(1, 1, 0), code=code, path="a.pyx")).pieces
    run: Any = SimpleNamespace(repo=SimpleNamespace(root=tmp_path))
    ran = FileRan(content_of(tmp_path / "a.pyx") or "", 2)
    judge = _Judge(run, [], {"tests/unit": Digest({"a.pyx": ran}, True)}, None, Suites(run.repo, None, []))
    assert piece.ranges == () and [verdict.why for _, verdict in judge.judged(source)] == ["graph-missing"]
