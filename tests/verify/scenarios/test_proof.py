from __future__ import annotations

from typing import Any

import pytest

from morph_tasks.verify.judge import Outcome
from morph_tasks.verify.nodes import Node
from morph_tasks.verify.scenarios.owed import Owed, OwedScenario
from morph_tasks.verify.scenarios.proof import Matrix, matrix, table_lines

UNIT = Node("tests", "unit", command="pytest", runner="pytest")
BROWSER = Node("tests", "browser", command="playwright test", runner="playwright")
EVALS = Node("tests", "prompts", command="evals", runner="evals")


def _test(name: str, status: str = "passed", *scenarios: str, file: str | None = "tests/test_cart.py") -> dict:
    return {"name": name, "status": status, "file": file, "line": 7, "scenarios": list(scenarios or ["C1"])}


def _outcome(node: Node = UNIT, *tests: dict[str, Any], status: str = "pass", reason: str | None = None) -> Outcome:
    record = {"status": status, "reason": reason, "count": 3, "tests": list(tests), "named": True}
    return Outcome(node, status, reason, record=record)


def _plan(*proofs: str) -> Owed:
    return Owed(tuple(OwedScenario(f"C{n}", f"Title {n}", proof, n) for n, proof in enumerate(proofs, 1)))


def _matrix(plan: Owed, *outcomes: Outcome) -> Matrix:
    return matrix(plan, outcomes, "cart", lambda name, file: None)


def _only(found: Matrix) -> tuple[str, str | None]:
    (one,) = found.scenarios
    return one.state, one.reason


def test_a_test_that_passed_proves() -> None:
    found = _matrix(_plan("test"), _outcome(UNIT, _test("test_total[C1]")))
    (one,) = found.scenarios
    assert (one.state, one.reason, one.nodes) == ("proven", None, ("tests/unit",))
    assert one.as_json()["tests"] == [
        {"name": "test_total[C1]", "status": "passed", "file": "tests/test_cart.py", "line": 7, "node": "tests/unit"}
    ]
    assert table_lines(found) == ["scenario C1 proven   test   Title 1 — test_total[C1] in tests/unit"]


def test_one_failure_among_passes_fails() -> None:
    outcome = _outcome(UNIT, _test("a"), _test("b", "failed"), status="fail", reason="tests-failed")
    assert _only(_matrix(_plan("test"), outcome))[0] == "failed"


def test_a_pass_in_a_suite_that_is_red_for_another_test_proves() -> None:
    outcome = _outcome(UNIT, _test("a"), status="fail", reason="tests-failed")
    assert _only(_matrix(_plan("test"), outcome))[0] == "proven"


@pytest.mark.parametrize(
    "reason", ["inputs-changed", "timeout", "crashed", "incomplete", "inconsistent-exit", "signal"]
)
def test_a_run_that_nobody_can_rely_on_proves_nothing(reason: str) -> None:
    state, why = _only(_matrix(_plan("test"), _outcome(UNIT, _test("a"), status="fail", reason=reason)))
    assert state == "unproven"
    assert reason in str(why)


def test_skipped_and_absent_tests_prove_nothing() -> None:
    state, why = _only(_matrix(_plan("test"), _outcome(UNIT, _test("a", "skipped"))))
    assert (state, why) == ("unproven", "a was skipped")
    assert _only(_matrix(_plan("test"), _outcome(UNIT))) == ("unproven", "no test that ran carries it")
    assert _only(_matrix(_plan("test"))) == ("unproven", "no test that ran carries it")


def test_a_skip_beside_a_pass_leaves_it_proven() -> None:
    assert _only(_matrix(_plan("test"), _outcome(UNIT, _test("a", "skipped"), _test("b"))))[0] == "proven"


def test_a_flaky_pass_proves_only_where_it_is_accepted() -> None:
    from dataclasses import replace

    flaky = _outcome(UNIT, _test("a", "flaky"), _test("b"), status="flaky", reason="flaky-in-runner")
    assert _only(_matrix(_plan("test"), flaky))[0] == "unproven"
    accepted = replace(flaky, node=replace(UNIT, flaky_reason="a clock"))
    assert _only(_matrix(_plan("test"), accepted))[0] == "proven"
    retried = _outcome(UNIT, _test("a"), status="flaky", reason="passed-on-retry")
    assert _only(_matrix(_plan("test"), retried))[0] == "unproven"


def test_a_suite_that_could_not_be_counted_proves_nothing() -> None:
    outcome = _outcome(UNIT, _test("a"))
    assert outcome.record
    outcome.record["count"] = None
    assert _only(_matrix(_plan("test"), outcome))[0] == "unproven"


def test_the_kind_of_proof_is_the_plans() -> None:
    unit, browser, evals = (_outcome(node, _test("a")) for node in (UNIT, BROWSER, EVALS))
    assert _only(_matrix(_plan("e2e"), unit)) == (
        "unproven",
        "only tests/unit carries it, and the plan asks for a test of the running application",
    )
    assert _only(_matrix(_plan("e2e"), browser))[0] == "proven"
    assert _only(_matrix(_plan("test"), browser))[0] == "proven"
    assert _only(_matrix(_plan("eval"), evals))[0] == "proven"
    assert _only(_matrix(_plan("test"), evals))[0] == "unproven"
    assert _only(_matrix(_plan("eval"), unit))[0] == "unproven"


def test_what_a_person_has_to_look_at_stays_so() -> None:
    assert _only(_matrix(_plan("manual"), _outcome(UNIT, _test("a"))))[0] == "manual"


def test_an_unknown_id_is_a_warning_with_its_place() -> None:
    found = _matrix(_plan("test"), _outcome(UNIT, _test("test_x[C9]", "passed", "C9"), _test("b", "passed", "cart:C8")))
    assert found.warnings == (
        "tests/test_cart.py:7 (test_x[C9]) carries C9, which the plan of cart does not have",
        "tests/test_cart.py:7 (b) carries cart:C8, which the plan of cart does not have",
    )


def test_ids_of_other_features_are_theirs() -> None:
    found = _matrix(_plan("test"), _outcome(UNIT, _test("a", "passed", "shop:C1")))
    assert (_only(found)[0], found.warnings) == ("unproven", ())
    own = _matrix(_plan("test"), _outcome(UNIT, _test("a", "passed", "cart:C1")))
    assert _only(own)[0] == "proven"


def test_a_bare_id_of_somebody_else_does_not_prove() -> None:
    outcome = _outcome(UNIT, _test("a", "passed", "C1"), _test("b", "passed", "C7"))
    found = matrix(_plan("test"), [outcome], "cart", lambda name, file: "shop has it too")
    assert _only(found)[0] == "unproven"
    assert found.warnings == ("tests/test_cart.py:7 (a) carries C1: shop has it too; write `cart:C1` if it is meant",)


def test_a_plan_that_cannot_be_read_owes_nobody_knows_what() -> None:
    found = _matrix(Owed(problem="the plan has 2 errors"), _outcome(UNIT, _test("a")))
    assert (found.known, found.scenarios) == (False, ())
    assert "the plan has 2 errors" in found.warnings[0]


def test_a_node_that_names_no_test_is_told() -> None:
    outcome = _outcome(UNIT)
    assert outcome.record
    outcome.record["named"] = False
    assert "tests/unit does not name its tests" in str(_only(_matrix(_plan("test"), outcome))[1])
    assert "tests/unit, tests/unit do not name their tests" in str(_only(_matrix(_plan("test"), outcome, outcome))[1])
