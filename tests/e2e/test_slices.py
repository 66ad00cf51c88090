"""A slice end to end: which nodes run, what of them runs, what is written and what is not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.conftest import Project

PLAN = """\
# A cart

## Problem
Totals drift.

## Scenarios

### C1 — Totals add up
Given two lines, then the total is their sum.
- proof: test

### C2 — The report is sorted
Given two carts, then the report sorts them.
- proof: test

## Decisions

### Conflicts with the record
none

## Slices

### F1 — Totals
- persona: python-senior
- files: cart/total.py, cart/tests/test_total.py
- covers: C1

### F2 — Report
- persona: python-senior
- files: report/report.py, report/tests/test_report.py
- covers: C2
- depends: F1

### F3 — Nothing of it is there
- persona: python-senior
- files: later/later.py
- covers: C2
"""
TEST = """\
import pytest

@pytest.mark.scenario("{0}")
def test_{1}():
    assert True
"""


@pytest.fixture
def sliced(project: Project) -> Project:
    """Two suites in two folders, one of them with two test files; a feature whose slices part them."""
    for folder, name, scenario in (("cart", "total", "C1"), ("report", "report", "C2")):
        project.write(f"{folder}/{name}.py", "x = 1\n")
        project.write(f"{folder}/tests/test_{name}.py", TEST.format(scenario, name))
        project.write(f"{folder}/tests/test_other.py", "def test_other():\n    assert True\n")
        project.write(f"{folder}/pytest.ini", "[pytest]\ntestpaths = tests\n")
    _declare(project)
    project.write("dodo.py", "from morph_tasks.tasks import *  # noqa: F403\n")
    project.commit()
    assert project.morph("create", "cart", "--type", "feature", "--description", "Add up").code == 0
    project.write(".morph/features/cart/2-plan/plan.md", PLAN)
    assert project.morph("plan-check", "cart").code == 0
    return project


def _declare(project: Project, **more: Any) -> None:
    tests = [{"id": name, "command": "python -m pytest -q", "cwd": name, **more} for name in ("cart", "report")]
    project.config(project={"build": [], "tests": tests})


def _runs(document: Any) -> dict[str, Any]:
    return {run["id"]: run for run in document["nodes"]["tests"]["runs"]}


def test_a_slice_runs_its_own_tests_alone_and_stamps_nothing(sliced: Project) -> None:
    before = (sliced.root / ".morph/features/cart/feature.json").read_bytes()
    found = sliced.verify("cart", "F1")
    assert (found["exit"], found["scope"], found["persisted"], found["reason"]) == (0, "slice:F1", False, "slice")
    cart, report = _runs(found)["cart"], _runs(found)["report"]
    assert (cart["status"], cart["count"], cart["selection"]["mode"]) == ("pass", 1, "narrowed")
    assert cart["command"] == "python -m pytest tests/test_total.py -q"
    assert cart["selection"]["declaredCommand"] == "python -m pytest -q"
    assert (report["status"], report["selection"]["mode"]) == ("skip", "out-of-scope")
    assert [(one["id"], one["state"]) for one in found["scenarios"]] == [("C1", "proven")]
    assert (sliced.root / ".morph/features/cart/feature.json").read_bytes() == before
    assert found["nodes"]["tests"]["scope"]["planned"] == ["cart/total.py", "cart/tests/test_total.py"]
    record = json.loads((sliced.root / ".morph/evidence/cart/slices/F1/tests/cart.json").read_text())
    assert (record["scope"], record["selection"]["mode"]) == ("slice:F1", "narrowed")


def test_the_second_time_nothing_runs_and_the_whole_is_not_taken_for_proved(sliced: Project) -> None:
    sliced.verify("cart", "F1")
    assert _runs(sliced.verify("cart", "F1"))["cart"]["reused"]
    whole = sliced.verify()
    assert [(run["reused"], run["count"], run["selection"]) for run in _runs(whole).values()] == [(None, 2, None)] * 2
    assert whole["persisted"]
    again = sliced.verify("cart", "F2", "--full")
    assert _runs(again)["report"]["selection"]["mode"] == "full"
    assert _runs(again)["report"]["reused"], "a whole run is a whole run"


def test_a_baseline_of_the_whole_says_nothing_of_a_part(sliced: Project) -> None:
    _declare(sliced, expectedCount=2)
    found = sliced.verify("cart", "F1")
    assert (found["exit"], _runs(found)["cart"]["expectedCount"]) == (0, None)
    assert sliced.verify("cart", "F1", "--full")["exit"] == 0
    _declare(sliced, expectedCount=3)
    dropped = sliced.verify("cart", "F1", "--full")
    assert _runs(dropped)["cart"]["reason"] == "count-drop"


def test_no_test_is_red_in_a_slice(sliced: Project) -> None:
    sliced.write("cart/tests/test_total.py", "import pytest\n\n@pytest.mark.skip\ndef test_total():\n    assert True\n")
    run = _runs(sliced.verify("cart", "F1"))["cart"]
    assert (run["status"], run["reason"]) == ("fail", "narrowed-zero-tests")


def test_what_a_slice_really_changed_belongs_to_it(sliced: Project) -> None:
    sliced.write("report/tests/test_other.py", "def test_other():\n    assert 1\n")
    found = _runs(sliced.verify("cart", "F1"))
    assert found["report"]["selection"]["selectors"] == ["tests/test_other.py"]
    assert found["report"]["count"] == 1


def test_a_slice_without_a_file_is_not_green(sliced: Project) -> None:
    found = sliced.verify("cart", "F3")
    assert (found["exit"], found["status"]) == (1, "fail")
    assert any("later/later.py" in line and "nothing of it was verified" in line for line in found["feedback"])


def test_doit_runs_the_same_and_lists_the_slices(sliced: Project) -> None:
    said = sliced.doit("verify-slice:cart:F1")
    assert said.code == 0, said.out + said.err
    assert "↳ cart narrowed tests/test_total.py" in said.out
    assert "GREEN cart" in said.out and "not stamped (slice)" in said.out
    listed = sliced.doit("list", "--all").out
    assert all(f"verify-slice:cart:F{number}" in listed for number in (1, 2, 3))
    assert sliced.doit("verify-slice:cart:F9").code != 0
    assert "slice-not-found" in sliced.doit("verify-slice:cart:F9").out
    assert sliced.doit("verify-slice:cart:F1", "full=1").out.count("↳ cart full") == 1
    assert "unknown-option" in sliced.doit("verify-slice:cart:F1", "nonsense=1").out


def test_refusals(sliced: Project) -> None:
    missing = sliced.verify("cart", "F9")
    assert (missing["exit"], missing["code"]) == (2, "slice-not-found")
    assert sliced.verify("cart", "F1", "--record-baseline")["code"] == "options-exclude"
    assert sliced.morph("explain", "cart", "F1").code == 0
    assert "cart" in sliced.morph("explain", "cart", "F1").out
    sliced.write(".morph/features/cart/2-plan/plan.md", "# broken\n")
    assert sliced.verify("cart", "F1")["exit"] != 0


def test_why_failed_speaks_of_a_slice(sliced: Project) -> None:
    sliced.write("cart/tests/test_total.py", "def test_total():\n    assert 1 == 2, 'one is not two'\n")
    assert sliced.verify("cart", "F1")["exit"] == 1
    said = sliced.morph("why-failed", "cart", "F1", "--json").json
    assert any("one is not two" in json.dumps(node) for node in said["nodes"])


def test_a_verify_of_a_slice_leaves_no_quick_answer_for_the_whole(sliced: Project) -> None:
    for _ in range(3):
        sliced.verify("cart", "F1")
    whole = sliced.verify()
    assert whole["scope"] == "feature" and whole["persisted"]
