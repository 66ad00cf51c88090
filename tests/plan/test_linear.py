"""No text may be made so that a check takes more than its share: the calls made grow as the text does."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.plan.agents import Agents
from morph_tasks.plan.check import check_plan
from morph_tasks.plan.mermaid import mermaid
from morph_tasks.plan.record import AdrIndex

HEAD = "# t\n## Problem\nx\n## Scenarios\n### C1 - a\n- proof: test\n"
DECISIONS = "## Decisions\n### Conflicts with the record\n"
SLICES = "## Slices\n### F1 - a\n- persona: p\n- covers: C1\n- files: a"
SLICE = "\n### F{} - a\n- persona: p\n- covers: C1\n- files: a\n- depends: F{}"

TEXTS: dict[str, Callable[[int], str]] = {
    "lists": lambda n: HEAD + "- a\n" * n,
    "lazy lines in a quote": lambda n: HEAD + ">" * 8 + "a\n" + "b\n" * n,
    "ticks of many lengths": lambda n: HEAD + "".join("`" * (1 + i % 37) + " " for i in range(n)),
    "comments that never end": lambda n: HEAD + "a <!-- b\n" * n,
    "brackets": lambda n: HEAD + "[" * n + "](" * n,
    "stars in a heading": lambda n: f"{HEAD}### {'*' * n} {'_a' * n}",
    "one id": lambda n: HEAD + "### C1 - a\n" * n,
    "errata": lambda n: HEAD + "## Errata\n" * n,
    "sections that miss": lambda n: "#Problem\n" * n,
    "slices in a row": lambda n: HEAD + DECISIONS + SLICES + "".join(SLICE.format(i, i - 1) for i in range(2, n)),
    "slices in a ring": lambda n: HEAD + DECISIONS + SLICES + "".join(SLICE.format(i, i % n + 1) for i in range(2, n)),
    "slices on one file": lambda n: HEAD + DECISIONS + SLICES + "".join(SLICE.format(i, "x") for i in range(2, n)),
    "files": lambda n: HEAD + DECISIONS + SLICES + ", a" * n,
    "verdicts": lambda n: HEAD + DECISIONS + SLICES + "\n- reuse: " + "CREATE a; " * n,
    "rows": lambda n: HEAD + DECISIONS + "| ADR | Change |\n|--|--|\n" + "| ADR-7 | total |\n" * n,
    "cells": lambda n: HEAD + DECISIONS + "| ADR | Change |\n|--|--|\n" + "|`" * n,
    "keys": lambda n: HEAD + DECISIONS + SLICES + "\n- files: b" * n + "\n- foo: x" * n,
    "items below a key": lambda n: HEAD + DECISIONS + SLICES + "\n- files:" + "\n  - b" * n,
    "front matter": lambda n: "---\n" + "a: b\n" * n,
}


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_twice_the_text_takes_twice_the_calls(name: str) -> None:
    make = TEXTS[name]
    calls(make(10))  # imports and caches
    small, large = calls(make(150)), calls(make(600))
    assert large < 5 * small


def calls(text: str) -> int:
    """Return how many calls a check and a chart make."""
    counted = 0

    def count(frame: Any, event: str, arg: Any) -> None:
        nonlocal counted
        counted += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        report = check_plan(text, Agents(("p",)), AdrIndex(("x--ADR-007",)))
        mermaid(report.plan.slices)
    except Refusal as refusal:
        assert refusal.code == "plan-too-deep"
    finally:
        sys.setprofile(None)
    return counted
