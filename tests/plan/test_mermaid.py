from __future__ import annotations

from collections.abc import Callable

from morph_tasks.plan.grammar import parse
from morph_tasks.plan.mermaid import mermaid


def drawn(*slices: str) -> list[str]:
    return mermaid(parse("## Slices\n" + "\n".join(slices)).slices).split("\n")


def test_waves_are_subgraphs_and_needs_are_arrows(good: str) -> None:
    assert mermaid(parse(good).slices).split("\n") == [
        "flowchart LR",
        '  subgraph wave1["Wave 1"]',
        '    F1["F1 — Cart rules"]',
        "  end",
        '  subgraph wave2["Wave 2"]',
        '    F2["F2 — Checkout page"]',
        "  end",
        "  F1 --> F2",
    ]


def test_nothing_is_an_empty_chart() -> None:
    assert drawn() == ["flowchart LR"]


def test_titles_cannot_break_the_chart() -> None:
    (line,) = [line for line in drawn('### F1 — say "no" to <b> & `x`; #1 [a](b)') if "F1[" in line]
    assert line == '    F1["F1 — say #34;no#34; to #60;b#62; #38; x#59; #35;1 a"]'


def test_what_can_be_drawn_of_a_plan_with_a_circle() -> None:
    found = drawn(
        "### F1 — a", "### F2 — b\n- depends: F3, F9", "### F3 — c\n- depends: F2", "### F4 — d\n- depends: F1, F3",
        "### F5 — e\n- depends: F1", "### F5 — twice",
    )  # fmt: skip
    assert found == [
        "flowchart LR",
        '  subgraph wave1["Wave 1"]',
        '    F1["F1 — a"]',
        "  end",
        '  subgraph wave2["Wave 2"]',
        '    F5["F5 — e"]',
        "  end",
        '  F2["F2 — b"]',
        '  F3["F3 — c"]',
        '  F4["F4 — d"]',
        "  F3 --> F2",
        "  F2 --> F3",
        "  F1 --> F4",
        "  F3 --> F4",
        "  F1 --> F5",
    ]


def test_errors_elsewhere_do_not_matter(edited: Callable[[str, str], str]) -> None:
    assert "F1 --> F2" in mermaid(parse(edited("## Problem", "## Nothing")).slices)
