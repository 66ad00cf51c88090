"""A suite without a runner."""

from __future__ import annotations

from typing import Any

from morph_tasks.verify.runners import none


def test_nothing_is_read(check: Any) -> None:
    green = "==== 5 passed in 0.10s ====\n"
    check("none", green, 0, "unknown", counts=None, executed=None, reason="not-measured")
    check("none", green, 2, "fail", counts=None, reason="exit-code")
    check("none", "", -15, "fail", reason="signal", complete=False)
    assert none.failures("FAILED a.py::b") == []
