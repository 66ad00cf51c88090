"""One reading from two streams."""

from __future__ import annotations

import pytest

from morph_tasks.verify.runners.model import Found, Output
from morph_tasks.verify.runners.streams import add, read_streams
from morph_tasks.verify.runners.text import Log

GREEN = Found(3, at=5, counts={"passed": 2}, executed=2)


def join(out: Found, err: Found, home: int = 0) -> Found:
    said = {b"out": out, b"err": err}
    return read_streams(Output((Log(b"out"), Log(b"err"))), lambda log, _: said[log.read(0, 3)], home=home)


def test_the_better_evidence_wins_and_home_breaks_a_tie() -> None:
    other = Found(3, at=9, counts={"passed": 9}, executed=9)
    assert join(GREEN, Found(2)).executed == join(Found(), GREEN).executed == 2
    assert (join(GREEN, other).executed, join(GREEN, other, home=1).executed) == (2, 9)


def test_a_trouble_of_the_other_stream_is_kept() -> None:
    got = join(
        GREEN, Found(1, problem="crashed", detail="boom", complete=False, warnings=("w",), flaky=True, extra={"a": 1})
    )
    assert (got.problem, got.detail, got.complete, got.warnings, got.flaky, got.extra) == (
        "crashed",
        "boom",
        False,
        ("w",),
        True,
        {"a": 1},
    )


@pytest.mark.parametrize("turned", [False, True])
def test_nothing_found_on_one_stream_ends_the_run_of_the_other(turned: bool) -> None:
    began, nothing = Found(2, complete=False), Found(2, empty=True)
    got = join(nothing, began) if turned else join(began, nothing)
    assert (got.empty, got.complete) == (True, True)


def test_counts_are_added() -> None:
    assert add({"passed": 1}, {"passed": 2, "failed": 3}) == {"passed": 3, "failed": 3}
