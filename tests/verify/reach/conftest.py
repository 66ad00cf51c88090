"""A shop with a plan, tests that carry its scenarios, and changes that some of them reach."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.conftest import Project

PLAN = """\
# A cart

## Problem
Totals drift.

## Scenarios

### C1 — The sum is right
Given prices, then they add up.
- proof: test

### C2 — Much costs less
Given more than 100, then a tenth is off.
- proof: test

## Decisions

### Conflicts with the record
none

## Slices

### F1 — Totals
- persona: python-senior
- files: shop/total.py
- covers: C1, C2
"""
TOTAL = """\
from shop.tax import taxed

RATE = 2


def total(prices):
    \"\"\"Add up.\"\"\"
    added = sum(prices)
    if added > 100:
        added = added * 0.9
    return taxed(added)


def unused(prices):
    # never called
    return len(prices)
"""
TAX = """\
def rate():
    return 1


def taxed(price):
    return price * rate()


def exempt(price):
    return price
"""
TESTS = """\
import pytest

from shop.tax import exempt
from shop.total import total


@pytest.mark.scenario("C1")
def test_sum():
    assert total([1, 2]) == 3


def test_plain():
    assert exempt(1) == 1
"""
PLAIN = "python -m pytest -q"
COVERED = "python -m pytest -q --cov=shop --cov-context=test --cov-report="


def begin_shop(project: Project) -> None:
    """Begin a feature with a plan on an empty shop, and write the shop as its work."""
    project.write("shop/__init__.py", "")
    project.write(".gitignore", "__pycache__/\n.pytest_cache/\n.coverage*\ngraphify-out/\n")
    suite(project, PLAIN)
    project.commit()
    assert project.morph("create", "cart", "--type", "feature", "--description", "Add up").code == 0
    project.write(".morph/features/cart/2-plan/plan.md", PLAN)
    said = project.morph("plan-check", "cart")
    assert said.code == 0, said.out
    project.write("shop/total.py", TOTAL)
    project.write("shop/tax.py", TAX)
    project.write("tests/test_shop.py", TESTS)


def suite(project: Project, *commands: str) -> None:
    """Declare test nodes that run these commands."""
    tests = [{"id": f"unit{number or ''}", "command": command} for number, command in enumerate(commands)]
    project.config(project={"build": [], "tests": tests})


@pytest.fixture
def begun(project: Project, prepared: Callable[[str, Callable[[], None]], None]) -> Project:
    """A shop that was not verified yet."""
    prepared("begun shop", lambda: begin_shop(project))
    return project
