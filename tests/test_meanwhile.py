from __future__ import annotations

import threading

import pytest

from morph_tasks.meanwhile import meanwhile


def test_it_runs_beside_and_its_result_waits() -> None:
    go = threading.Event()
    result = meanwhile(lambda: go.wait(20) and "made")
    go.set()
    assert result() == "made" == result()


def test_what_it_raised_is_raised_where_the_result_is_asked_for() -> None:
    def fail() -> None:
        raise KeyError("x")

    result = meanwhile(fail)
    with pytest.raises(KeyError):
        result()
