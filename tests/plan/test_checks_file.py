from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from morph_tasks.model.checks import VERSION, Checks
from morph_tasks.plan import checks_file
from morph_tasks.plan.check import Report
from morph_tasks.plan.checks_file import checks_of, hash_in
from morph_tasks.plan.guide import EXAMPLE

Check = Callable[[str], Report]


def test_the_file_says_what_the_plan_says(good: str, check: Check) -> None:
    text = good.replace(
        "\nnone\n", "\n| ADR | Change | Scope |\n|--|--|--|\n| ADR-007 | partial | admin |\n| ADR-x | total | |\n"
    )
    text = text.replace(
        "- surface: form", "- surface: form\n- standards: a, `b`\n- reuse: REUSE Money\n- reuse: CREATE x — why: y"
    )
    report = check(text)
    made = checks_of(report)
    assert made["version"] == 1 and made["plan"] == {"hash": report.hash}
    assert made["problem"] == "Totals drift."
    assert made["scenarios"][1] == {"id": "C2", "title": "The total is the sum", "proof": "e2e", "line": 11}
    assert made["slices"][1] == {
        "id": "F2",
        "title": "Checkout page",
        "persona": "ui-designer",
        "files": ["src/page.html"],
        "covers": ["C1"],
        "depends": ["F1"],
        "surface": "form",
        "standards": ["a", "b"],
        "reuse": [
            {"verdict": "REUSE", "symbol": "Money", "why": None},
            {"verdict": "CREATE", "symbol": "x", "why": "y"},
        ],
        "line": 32,
    }
    assert made["adrs"] == [{"id": "ADR-001", "title": "Totals are integers", "scope": "feature", "line": 16}]
    assert made["conflicts"][0] == {"id": "ADR-007", "change": "partial", "scope": "admin", "line": 23}
    assert made["waves"] == [["F1"], ["F2"]]


def test_files_have_one_spelling_and_lists_no_doubles(edited: Callable[[str, str], str], check: Check) -> None:
    text = edited("src/cart.py, tests/test_cart.py", "./src//cart.py, src/cart.py").replace(
        "covers: C1, C2", "covers: C1, C2, C1"
    )
    one = checks_of(check(text))["slices"][0]
    assert (one["files"], one["covers"]) == (["src/cart.py"], ["C1", "C2"])


@pytest.mark.parametrize("text", [EXAMPLE, None])
def test_the_file_is_what_its_model_says(good: str, check: Check, text: str | None) -> None:
    made = checks_of(check(text or good))
    assert Checks.model_validate(made, strict=False).model_dump(mode="json", exclude_unset=True) == made
    assert checks_file.VERSION == VERSION


@pytest.mark.parametrize(
    ("data", "found"),
    [
        ({"version": 1, "plan": {"hash": "x"}}, "x"),
        ({"version": 2, "plan": {"hash": "x"}}, None),
        ({"version": 1, "plan": {"hash": 3}}, None),
        ({"version": 1, "plan": []}, None),
        ({"version": 1}, None),
        ([], None),
        (None, None),
    ],
)
def test_the_hash_in_a_file_of_any_shape(data: Any, found: str | None) -> None:
    assert hash_in(data) == found
