from __future__ import annotations

from dataclasses import replace

import pytest

from morph_tasks.verify.judge import Outcome, feedback, judge, roll_up
from morph_tasks.verify.nodes import Node

NODE = Node("tests", "unit", command="pytest")
PASS = {"status": "pass", "reason": None, "message": "", "count": 5, "key": "k"}


def test_a_pass_without_a_baseline_is_a_pass() -> None:
    assert judge(NODE, PASS).status == "pass"


@pytest.mark.parametrize(
    ("expected", "count", "status", "reason", "warns"),
    [
        (5, 5, "pass", None, False),
        (6, 5, "fail", "count-drop", False),
        (4, 5, "pass", None, True),
        (6, None, "pass", None, False),
        (0, 5, "pass", None, True),
        (1, 0, "fail", "count-drop", False),
    ],
)
def test_a_baseline_is_asymmetric(
    expected: int, count: int | None, status: str, reason: str | None, warns: bool
) -> None:
    outcome = judge(replace(NODE, expected_count=expected), {**PASS, "count": count})
    assert (outcome.status, outcome.reason, bool(outcome.warnings)) == (status, reason, warns)


def test_no_tests_is_red_unless_none_are_expected() -> None:
    record = {"status": "fail", "reason": "no-tests", "message": "", "count": 0}
    assert judge(NODE, record).status == "fail"
    assert judge(replace(NODE, expected_count=0), record).status == "pass"
    assert judge(replace(NODE, expected_count=1), record).status == "fail"


def test_a_flaky_pass_is_no_proof_unless_allowed() -> None:
    record = {**PASS, "status": "flaky", "reason": "passed-on-retry"}
    assert roll_up([judge(NODE, record)]).status == "fail"
    allowed = judge(replace(NODE, flaky_reason="a known race"), record)
    assert allowed.status == "flaky"
    assert roll_up([allowed]).status == "pass"
    assert any("a known race" in line for line in allowed.warnings)


def test_nothing_that_ran_is_never_green() -> None:
    verdict = roll_up([Outcome(NODE, "skip", message="no suite")])
    assert (verdict.status, verdict.reason) == ("fail", "nothing-verified")


def test_a_skip_does_not_hide_a_failure_and_failures_come_last() -> None:
    bad = Outcome(NODE, "fail", "tests-failed", "1 failed", record={"log": "/l", "detail": ["t.py:1: no"]})
    odd = Outcome(Node("build", "x"), "pass", warnings=("slow",))
    skip = Outcome(Node("e2e", "e2e"), "skip", message="none")
    assert roll_up([odd, bad, skip]).status == "fail"
    lines = feedback([bad, odd, skip])
    assert lines[0] == "[build/x] warning: slow"
    assert lines[1].startswith("[tests/unit] fail (tests-failed): 1 failed")
    assert lines[-1] == "[tests/unit]   t.py:1: no"
