"""Maven, on outputs that mislead."""

# ruff: noqa: E501 (outputs stand as the tools print them)

from __future__ import annotations

from typing import Any

import pytest

BANNER = "[INFO] -------------------------------------------------------\n[INFO]  T E S T S\n[INFO] -------------------------------------------------------\n"


def total(run: int, failed: int = 0, errors: int = 0, skipped: int = 0, more: str = "") -> str:
    level = "ERROR" if failed + errors else "WARNING" if skipped else "INFO"
    one = f"[INFO] Tests run: {run}, Failures: {failed}, Errors: {errors}, Skipped: {skipped}, Time elapsed: 0.1 s -- in com.shop.SumTest\n"
    return f"{BANNER}{one}[INFO] \n[INFO] Results:\n[INFO] \n[{level}] Tests run: {run}, Failures: {failed}, Errors: {errors}, Skipped: {skipped}{more}\n[INFO] \n"


OK, BAD = "[INFO] BUILD SUCCESS\n", "[INFO] BUILD FAILURE\n"
CASES: list[Any] = [
    pytest.param(
        total(5, skipped=1) + total(3) + OK,
        0,
        "pass",
        {"counts": {"passed": 7, "skipped": 1, "total": 8}, "modules": 2},
        id="two modules, class lines not counted twice",
    ),
    pytest.param(
        total(5, failed=1) + total(3) + OK,
        0,
        "fail",
        {"inconsistent_exit": True, "counts": {"failed": 1}},
        id="testFailureIgnore",
    ),
    pytest.param(
        "Tests run: 99, Failures: 0, Errors: 0, Skipped: 0\n" + total(3) + OK,
        0,
        "pass",
        {"counts": {"total": 3}},
        id="an echo",
    ),
    pytest.param(
        BANNER
        + "[INFO] Running com.shop.SumTest\n[ERROR] The forked VM terminated without properly saying goodbye.\n"
        + BAD,
        1,
        "fail",
        {"reason": "crashed", "counts": None},
        id="forked JVM died",
    ),
    pytest.param("[INFO] No tests to run.\n" + OK, 0, "no-tests", {}, id="no tests"),
    pytest.param("[INFO] Tests are skipped.\n" + OK, 0, "no-tests", {}, id="skipTests"),
    pytest.param("[ERROR] COMPILATION ERROR : \n" + BAD, 1, "fail", {"reason": "build-failed"}, id="does not compile"),
    pytest.param(
        total(3) + "[ERROR] COMPILATION ERROR : \n" + BAD,
        1,
        "fail",
        {"reason": "build-failed", "complete": False},
        id="a later module does not compile",
    ),
    pytest.param(
        total(3) + "[ERROR] Coverage checks have not been met. See log for details.\n" + BAD,
        1,
        "fail",
        {"reason": "coverage-threshold"},
        id="coverage",
    ),
    pytest.param(total(3, more=", Flakes: 1") + OK, 0, "pass", {"flaky": True}, id="flakes"),
    pytest.param(
        BANNER.replace("[INFO] ", "")
        + "Running com.shop.SumTest\nTests run: 2, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.05 sec\n\nResults :\n\nTests run: 2, Failures: 0, Errors: 0, Skipped: 0\n\n"
        + OK,
        0,
        "pass",
        {"counts": {"passed": 2}},
        id="old wording",
    ),
    pytest.param(
        BANNER + "[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.05 s - in com.shop.A\n",
        0,
        "fail",
        {"complete": False},
        id="cut off after a class",
    ),
    pytest.param(total(4, skipped=4) + OK, 0, "no-tests", {"reason": "all-skipped"}, id="only skipped"),
    pytest.param(
        total(4).replace("[INFO]", "[\x1b[1;34mINFO\x1b[m]") + OK, 0, "pass", {"counts": {"passed": 4}}, id="colours"
    ),
]


@pytest.mark.parametrize(("text", "code", "verdict", "want"), CASES)
def test_a_misleading_output(check: Any, text: str, code: int, verdict: str, want: dict[str, Any]) -> None:
    check("surefire", text, code, verdict, **want)


def test_the_failed_tests_are_named() -> None:
    from morph_tasks.verify.runners.surefire import failures

    (found,) = failures("[ERROR] Failures: \n[ERROR]   SumTest.adds:12 expected:<2> but was:<1>\n[INFO] \n")
    assert (found.id, found.line, found.message) == ("SumTest.adds", 12, "expected:<2> but was:<1>")
