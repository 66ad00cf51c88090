from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morph_tasks.errors import Refusal
from morph_tasks.plan.grammar import parse
from morph_tasks.plan.source import Place
from morph_tasks.plan.values import Plan

LINES = [
    "# Title", "## Problem", "## Cenários", "## Scenarios", "## Decisions", "## Fatias", "## Errata", "## Notes",
    "### C1 — a", "### C2: b", "### F1 - c", "### F2 — d", "### ADR-001 — e", "### Conflicts with the record",
    "### Conflitos com o acervo", "#### deep", "- proof: test", "prova: teste", "- persona: p", "- files: a, `b`",
    "- covers: C1, C2", "depende: F1", "- reuse: CREATE x — why: y", "**Scope:** feature", "> Why an artefact: z",
    "grep", "| ADR | Change | Scope |", "|---|---|---|", "| ADR-007 | total | |", "text", "", "", "```", "~~~",
    "<!--", "-->",
    "<!-- x -->", "> quote", "  - nested", "\t- tab", "---", "===", "`open", "é \u2028 ü", "\ufeff", "\0", "none",
]  # fmt: skip
PLANS = st.lists(st.sampled_from(LINES), max_size=40).map("\n".join)


def ids(plan: Plan) -> tuple[list[str], list[str], list[str]]:
    return [one.id for one in plan.scenarios], [one.id for one in plan.slices], [one.id for one in plan.adrs]


def test_a_plan_as_it_is_written(good: str) -> None:
    plan = parse(good)
    assert plan.title == "Cart totals"
    assert plan.problem == "Totals drift."
    assert ids(plan) == (["C1", "C2"], ["F1", "F2"], ["ADR-001"])
    assert [one.proof for one in plan.scenarios] == ["test", "e2e"]
    assert [one.scope for one in plan.adrs] == ["feature"]
    one = plan.slices[0]
    assert (one.title, one.files, one.covers, one.depends) == (
        "Cart rules",
        ("src/cart.py", "tests/test_cart.py"),
        ("C1", "C2"),
        (),
    )
    assert one.persona and (one.persona.text, one.persona.place) == ("python-senior", Place(25, 12))
    assert (plan.errors, plan.warnings, plan.conflicts) == ((), (), ())


def test_the_same_in_portuguese_and_mixed(good: str) -> None:
    words = {
        "Problem": "PROBLEMA", "Scenarios": "Cenarios", "Decisions": "Decisões", "Slices": "fatias",
        "Conflicts with the record": "Conflitos com o Acervo", "proof: test": "Prova: Teste", "Scope": "Alcance",
        "files:": "arquivos:", "depends": "DEPENDE", "surface": "Superfície",
    }  # fmt: skip
    text = good
    for english, portuguese in words.items():
        text = text.replace(english, portuguese)
    assert said(parse(text)) == said(parse(good))


def said(plan: Plan) -> Any:
    """Return what the plan says, without places."""
    return (
        plan.title,
        plan.problem,
        [(one.id, one.title, one.proof) for one in plan.scenarios],
        [
            (one.id, one.title, one.persona and one.persona.text, one.files, one.covers, one.depends, one.standards)
            for one in plan.slices
        ],
        [(one.id, one.title, one.scope) for one in plan.adrs],
        [(row.adr, row.change, row.scope, row.problem) for row in plan.conflicts],
        [(one.code, one.message) for one in (*plan.errors, *plan.warnings)],
    )


def test_sections_given_twice_are_joined(good: str) -> None:
    plan = parse(
        good
        + "\n## Cenários\n### C3 — c\n- proof: test\n\n## Problem\nAnd more.\n\n## Fatias\n### F3 — f\n- persona: x\n"
    )
    assert ids(plan) == (["C1", "C2", "C3"], ["F1", "F2", "F3"], ["ADR-001"])
    assert plan.problem == "Totals drift.\n\nAnd more."


def test_other_sections_are_kept_and_hold_no_items(good: str) -> None:
    plan = parse(
        good + "\n## Implementation contract\n### C9 — x\n- proof: test\n### F9 — y\n\n# Appendix\n### C8 — z\n"
    )
    assert ids(plan) == (["C1", "C2"], ["F1", "F2"], ["ADR-001"])
    assert [section.heading.title for section in plan.sections][-2:] == ["Implementation contract", "Appendix"]


@pytest.mark.parametrize(("open_", "close"), [("```", "```"), ("~~~~md", "~~~~"), ("<!--", "-->"), ("<pre>", "</pre>")])
def test_what_is_inside_is_text(good: str, open_: str, close: str) -> None:
    hidden = "\n".join([open_, *good.split("\n"), close, ""])
    assert ids(parse(f"{hidden}\n{good}")) == ids(parse(good))
    assert ids(parse(f"{good}\n{hidden}")) == ids(parse(good))


def test_what_is_quoted_is_text(good: str) -> None:
    quoted = "\n".join(f"> {line}" for line in good.split("\n"))
    assert ids(parse(f"{quoted}\n\n{good}\n\n{quoted}")) == ids(parse(good))


def test_setext_headings_make_sections_and_front_matter_none(good: str) -> None:
    text = good.replace("## Scenarios", "Scenarios\n---------").replace("# Cart totals", "Cart totals\n===", 1)
    assert said(parse(text)) == said(parse(good))
    assert said(parse(f"---\nowner: zed\n\n# C9 — x\n---\n{good}")) == said(parse(good))


@pytest.mark.parametrize(
    "heading", ["### c3 — lower", "### C3 no sign", "### C3", "#### C3 — too deep", "## C3 — too high", "### C-3 — t"]
)
def test_a_lost_scenario_is_an_error(edited: Callable[[str, str], str], heading: str) -> None:
    plan = parse(edited("## Decisions", f"{heading}\n- proof: test\n\n## Decisions"))
    assert [one.code for one in plan.errors] == ["bad-heading"]
    assert plan.errors[0].place == Place(15, heading.index(" ") + 2)


@pytest.mark.parametrize(
    ("old", "new"), [("### F2 —", "### f2 —"), ("### ADR-001 —", "### ADR 001 —"), ("### F2 —", "## F2 —")]
)
def test_lost_slices_and_decisions_are_errors(edited: Callable[[str, str], str], old: str, new: str) -> None:
    assert [one.code for one in parse(edited(old, new)).errors] == ["bad-heading"]


@pytest.mark.parametrize("heading", ["### Notes", "#### C1 in other words", "### Carts", "#### F1 — of slices"])
def test_free_headings_are_free(edited: Callable[[str, str], str], heading: str) -> None:
    plan = parse(edited("## Decisions", f"{heading}\ntext\n\n## Decisions"))
    assert plan.errors == ()


def test_decisions_of_the_record_may_be_told_in_headings(edited: Callable[[str, str], str]) -> None:
    assert parse(edited("\nnone\n", "\n#### ADR-007 — is kept\nBecause.\n")).errors == ()


def test_the_problem_is_told_without_comments(edited: Callable[[str, str], str]) -> None:
    plan = parse(edited("Totals drift.", "<!-- why -->\n\nTotals `drift`.\n\n- by a cent\n\n<!--\n## x\n-->"))
    assert plan.problem == "Totals `drift`.\n\n- by a cent"


def test_a_fence_that_is_never_closed_is_known(good: str) -> None:
    assert parse("```\n" + good).runaway == 1
    assert parse("x\n\n<!-- todo\n" + good).runaway == 3
    assert parse(good + "\n```\nx\n```\n").runaway is None


@settings(max_examples=150, deadline=None)
@given(PLANS)
def test_line_ends_and_a_byte_order_mark_change_nothing(text: str) -> None:
    plain = parse(text.removeprefix("\ufeff"))
    for other in (text.replace("\n", "\r\n"), text.replace("\n", "\r"), "\ufeff" + text.removeprefix("\ufeff")):
        assert parse(other) == plain


@settings(max_examples=150, deadline=None)
@given(PLANS, st.text(max_size=80))
def test_no_text_raises_anything_but_a_refusal(text: str, odd: str) -> None:
    for one in (text, odd, text + odd, odd + text):
        try:
            plan = parse(one)
        except Refusal as refusal:
            assert refusal.code == "plan-too-deep"
        else:
            assert all(1 <= item.place.line <= len(plan.lines) for item in (*plan.scenarios, *plan.slices, *plan.adrs))


@settings(max_examples=100, deadline=None)
@given(PLANS)
def test_every_id_is_at_its_place(text: str) -> None:
    plan = parse(text)
    for item in (*plan.scenarios, *plan.slices, *plan.adrs):
        assert plan.lines[item.place.line - 1].startswith(item.id, item.place.column - 1)
    for one in plan.slices:
        for word in (*one.paths, *one.covered, *one.needed):
            source = plan.lines[word.place.line - 1][word.place.column - 1 :]
            assert source.lstrip("`").startswith(word.text)


def test_a_plan_is_a_value(good: str) -> None:
    assert parse(good) == parse(good)
    with pytest.raises(AttributeError):
        parse(good).title = "x"  # type: ignore[misc]
    assert replace(parse(good), title="x") != parse(good)
