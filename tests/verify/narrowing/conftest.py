"""A feature with a plan of two slices, on its own branch."""

from __future__ import annotations

from typing import Any

import pytest

PLAN = """\
# Cart totals

## Problem
Totals drift.

## Scenarios
### C1 — The total is the sum
Given two lines, when the cart is read, then the total is their sum.
- proof: test

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
- covers: C1

### F2 — Checkout page
- persona: python-senior
- files: web/Page.test.ts, `docs/with space.md`, not/there.py
- covers: C1
"""


@pytest.fixture
def planned(project: Any) -> Any:
    """A repository on `morph/cart`, its plan not yet checked, F1's files committed on main."""
    project.write("src/cart.py", "A = 1\n")
    project.write("tests/test_cart.py", "def test_cart():\n    pass\n")
    project.commit("a cart")
    assert project.morph("create", "cart", "--type", "feature", "--description", "Cart totals").code == 0
    if project.git("branch", "--show-current") == "main":
        project.git("switch", "-q", "morph/cart")
    project.write(".morph/features/cart/2-plan/plan.md", PLAN)
    return project
