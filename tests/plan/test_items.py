from __future__ import annotations

from typing import Any

import pytest

from morph_tasks.plan.items import item_id, looks_like_item, slice_of
from morph_tasks.plan.outline import outline
from morph_tasks.plan.source import Place


def head(text: str, section: str = "scenarios") -> Any:
    return item_id(section, outline(text.split("\n"))[0])


@pytest.mark.parametrize(
    "text",
    [
        "### C1 — A title",
        "### C1 – A title",
        "### C1 - A title",
        "### C1: A title",
        "### C1:A title",
        "### C1 -- A title",
        "### **C1** — A title",
        "### **C1 — A title**",
        "### `C1` — A `title`",
        "### C1 — A title ###",
        "### [C1] - A title",
        "###  C1  ―  A *title*",
    ],
)
def test_every_form_of_an_id(text: str) -> None:
    assert head(text)[:2] == ("C1", "A title")


@pytest.mark.parametrize(
    "text",
    [
        "### c1 — t",
        "### C1",
        "### C1 —",
        "### C1 t",
        "### C — t",
        "### C1a — t",
        "### Scenario C1 — t",
        "### F1 — t",
        "### C１ — t",
    ],
)
def test_what_is_no_id(text: str) -> None:
    assert head(text) is None


@pytest.mark.parametrize(
    ("text", "looks"),
    [
        ("### c1 — t", True),
        ("### C1", True),
        ("### C1.", True),
        ("### C1a — t", True),
        ("### C1.1 — t", True),
        ("### C-1 t", True),
        ("### Cart 1", False),
        ("### Notes", False),
        ("### C", False),
    ],
)
def test_a_heading_that_means_to_be_one(text: str, looks: bool) -> None:
    assert looks_like_item("scenarios", outline([text])[0]) is looks


def test_the_place_is_that_of_the_id() -> None:
    assert head(" ###  **ADR-007** — T", "decisions")[2] == Place(1, 9)


def paths(value: str) -> list[str]:
    heading, *blocks = outline(["### F1 — x", f"- files: {value}"])
    return [path.text for path in slice_of(("F1", "x", Place(1, 5), heading), tuple(blocks)).paths]


def test_paths_are_kept_as_they_are_written() -> None:
    assert paths("src/__init__.py, **a_b.py**, `c d.py`, ./e") == ["src/__init__.py", "a_b.py", "c d.py", "./e"]


def made(value: str) -> list[tuple[str | None, str, str]]:
    heading, *blocks = outline(["### F1 — x", *value.split("\n")])
    return [
        (one.verdict, one.symbol, one.why) for one in slice_of(("F1", "x", Place(1, 5), heading), tuple(blocks)).reuse
    ]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("- reuse: CREATE Cart — why: nothing holds it", [("CREATE", "Cart", "nothing holds it")]),
        ("- reuso: criar `Cart` - por quê: nada", [("CREATE", "Cart", "nada")]),
        ("- reuse: **EXTEND** `a_b(c)`", [("EXTEND", "a_b(c)", "")]),
        ("- reuse: REUSAR: Money", [("REUSE", "Money", "")]),
        ("- reuse: REUSE Money\n- reuse: CREATE Cart — why: x", [("REUSE", "Money", ""), ("CREATE", "Cart", "x")]),
        ("- reuse:\n  - REUSE Money\n  - CREATE Cart\n    - why: x", [("REUSE", "Money", ""), ("CREATE", "Cart", "x")]),
        ("- reuse: REUSE Money; CREATE Cart — why: a; b", [("REUSE", "Money", ""), ("CREATE", "Cart", "a; b")]),
        ("- reuse: CREATE Cart — why: it goes\n  on here", [("CREATE", "Cart", "it goes on here")]),
        ("- reuse: CREATE", [("CREATE", "", "")]),
        ("- reuse: COPY Money", [(None, "Money", "")]),
        ("- reuse: Money", [(None, "", "")]),
        ("- reuse:", [(None, "", "")]),
        ("- reuse: none", []),
        ("- reuse: REUSE anywhy: x", [("REUSE", "anywhy: x", "")]),
    ],
)
def test_verdicts_on_what_exists(value: str, expected: list[tuple[str | None, str, str]]) -> None:
    assert made(value) == expected
