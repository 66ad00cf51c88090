from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morph_tasks.plan.inline import HIDDEN, code_text, masked, plain

MARKS = st.text(st.sampled_from("`<!-> \\*_ab[]()\n"), max_size=60)


def prose(text: str) -> str:
    return masked(text)[1].replace(HIDDEN, "#")


def shown(text: str) -> str:
    return masked(text)[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a `b` c", "a ### c"),
        ("``a ` b`` c", "######### c"),
        ("`a\nb` c", "##\n## c"),
        ("`open", "`open"),
        ("`` a ` b", "`` a ` b"),
        (r"\`no` `yes`", r"\`no###yes`"),
        (r"`a\` b", "#### b"),
        ("a <!-- `b` --> `c`", "a              ###"),
        ("`<!--` a `-->`", "###### a #####"),
        ("<!-- open `a`", "<!-- open ###"),
        ("<!--> a -->", "      a -->"),
        (r"\<!-- `a` -->", r"\<!-- ### -->"),
    ],
)
def test_code_and_comments_are_told_from_prose(text: str, expected: str) -> None:
    assert prose(text) == expected


def test_comments_are_not_shown_and_code_is() -> None:
    assert shown("C1 <!-- C2\nC3 --> `C4`") == "C1        \n       `C4`"


@given(MARKS)
def test_places_stay(text: str) -> None:
    for other in masked(text):
        assert len(other) == len(text)
        assert [len(line) for line in other.split("\n")] == [len(line) for line in text.split("\n")]


@settings(max_examples=200)
@given(MARKS)
def test_what_is_shown_is_the_text_or_a_blank(text: str) -> None:
    one, two = masked(text)
    assert all(a == b or a == " " for a, b in zip(one, text, strict=True))
    assert all(a in (b, HIDDEN) for a, b in zip(two, one, strict=True))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("**C1** — *a* title", "C1 — a title"),
        ("**`x`**", "x"),
        ("`` a`b ``", "a`b"),
        ("2 * 3 and snake_case", "2 * 3 and snake_case"),
        ("`__init__` and __bold__", "__init__ and bold"),
        ("[ADR-007](../adrs/a_b.md)", "ADR-007"),
        (r"a \* b \_ c", "a * b _ c"),
        ("  a \t b  ", "a b"),
        ("`**/x`", "**/x"),
    ],
)
def test_a_reader_sees_no_marks(text: str, expected: str) -> None:
    assert plain(*masked(text)) == expected


@pytest.mark.parametrize(("span", "text"), [("`a`", "a"), ("`` `a` ``", "`a`"), ("`a b", "`a b"), ("``", "``")])
def test_a_code_span_gives_what_it_holds(span: str, text: str) -> None:
    assert code_text(span) == text
