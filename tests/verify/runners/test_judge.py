"""Exit code, counts and completeness joined."""

from __future__ import annotations

import pytest

from morph_tasks.verify.runners.judge import judge
from morph_tasks.verify.runners.model import Found

GREEN = Found(3, counts={"passed": 2, "failed": 0, "skipped": 0}, executed=2)
RED = Found(3, counts={"passed": 1, "failed": 1, "skipped": 0}, executed=2)
NOTHING = Found(3, counts={"passed": 0, "failed": 0, "skipped": 0}, executed=0)


@pytest.mark.parametrize(
    ("found", "code", "timed_out", "wanted"),
    [
        (GREEN, 0, False, ("pass", None, True, False)),
        (GREEN, None, False, ("pass", None, True, False)),
        (GREEN, 1, False, ("fail", "inconsistent-exit", True, True)),
        (GREEN, 137, False, ("fail", "signal", False, False)),
        (GREEN, 0, True, ("fail", "timeout", False, False)),
        (RED, 1, False, ("fail", "tests-failed", True, False)),
        (RED, 0, False, ("fail", "inconsistent-exit", True, True)),
        (RED, None, False, ("fail", "tests-failed", True, False)),
        (NOTHING, 0, False, ("no-tests", "no-tests", True, False)),
        (NOTHING, 1, False, ("no-tests", "no-tests", True, False)),
        (Found(2, empty=True), 1, False, ("no-tests", "no-tests", True, False)),
        (Found(), 0, False, ("unknown", "no-summary", True, False)),
        (Found(), 1, False, ("fail", "no-summary", False, False)),
        (Found(2, complete=False), 0, False, ("fail", "incomplete", False, False)),
        (Found(3, green=True), 0, False, ("pass", None, True, False)),
        (
            Found(3, counts=GREEN.counts, executed=2, problem="suite-failed", complete=False),
            0,
            False,
            ("fail", "suite-failed", False, True),
        ),
        (Found(), 127, False, ("fail", "command-not-found", False, False)),
        (Found(), 126, False, ("fail", "command-not-executable", False, False)),
    ],
)
def test_the_worse_wins(
    found: Found, code: int | None, timed_out: bool, wanted: tuple[str, str | None, bool, bool]
) -> None:
    got = judge("x", found, {}, code, timed_out)
    assert (got.verdict, got.reason, got.complete, got.inconsistent_exit) == wanted
    assert got.message


def test_a_runner_knows_its_own_exit_codes() -> None:
    assert judge("x", Found(), {5: "no-tests"}, 5, False).verdict == "no-tests"
    assert judge("x", GREEN, {4: "usage-error"}, 4, False).reason == "usage-error"
    assert judge("x", GREEN, {8: "no-tests"}, 8, False).reason == "module-without-tests"
    assert judge("x", NOTHING, {5: "usage-error"}, 5, False).verdict == "fail"
