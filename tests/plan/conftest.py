"""A plan without a fault, ways to change it, and what a check says of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from morph_tasks.plan.agents import Agents
from morph_tasks.plan.check import Report, check_plan
from morph_tasks.plan.record import AdrIndex

GOOD = """\
# Cart totals

## Problem
Totals drift.

## Scenarios
### C1 — An empty cart is refused
Given an empty cart, when checkout is posted, then the answer is 422.
- proof: test

### C2 — The total is the sum
Given two lines, when the cart is read, then the total is their sum.
- proof: e2e

## Decisions
### ADR-001 — Totals are integers
**Scope:** feature
Cents do not drift.

### Conflicts with the record
none

## Slices
### F1 — Cart rules
- persona: python-senior
- files: src/cart.py, tests/test_cart.py
- covers: C1, C2

### F2 — Checkout page
- persona: ui-designer
- files: `src/page.html`
- covers: C1
- depends: F1
- surface: form
"""
AGENTS = Agents(("python-senior", "ui-designer"), ("form", "list"), "agents.json")
RECORD = AdrIndex(("cart--ADR-007", "cart--ADR-003", "shop--ADR-003", "ship--go--ADR-012"))


@pytest.fixture
def good() -> str:
    return GOOD


@pytest.fixture
def edited() -> Callable[[str, str], str]:
    """Replace a part of the good plan that is there once."""

    def edit(old: str, new: str) -> str:
        assert GOOD.count(old) == 1, old
        return GOOD.replace(old, new)

    return edit


@pytest.fixture
def check() -> Callable[[str], Report]:
    return lambda text: check_plan(text, AGENTS, RECORD)


@pytest.fixture
def found(check: Callable[[str], Report]) -> Callable[[str], list[str]]:
    """List the findings of a text as `line:column code`, warnings with a question mark."""

    def list_them(text: str) -> list[str]:
        report = check(text)
        both = [(one, "") for one in report.errors] + [(one, "?") for one in report.warnings]
        return [f"{one.place.line}:{one.place.column} {one.code}{sign}" for one, sign in sorted(both, key=_place)]

    return list_them


def _place(pair: tuple[object, str]) -> object:
    return pair[0].place  # type: ignore[attr-defined]
