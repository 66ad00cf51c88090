"""One way to ask for a verdict, shared by the tests of all runners."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from morph_tasks.verify.runners.read import read_output

Check = Callable[..., Any]


@pytest.fixture
def check() -> Check:
    """Read a text and compare what is named; `counts` holds only the words that matter."""

    def ask(
        runner: str,
        out: str,
        exit_code: int | None,
        verdict: str,
        *,
        err: str = "",
        command: str | None = None,
        **want: Any,
    ) -> Any:
        reading = read_output(runner, out.encode(), err.encode(), exit_code=exit_code, command=command)
        got = reading.as_json()
        assert got["verdict"] == verdict, got
        counts = want.pop("counts", {})
        if counts is None:
            assert got["counts"] is None, got
        for word, many in (counts or {}).items():
            assert got["counts"] is not None and got["counts"].get(word) == many, (word, got)
        for key, value in want.items():
            assert got[key] == value, (key, got)
        return reading

    return ask
