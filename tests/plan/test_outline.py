from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morph_tasks.errors import Refusal
from morph_tasks.plan.outline import Block, outline
from morph_tasks.plan.source import Place, front_matter, split_lines

MARKDOWN = st.lists(
    st.sampled_from(
        [
            "# a",
            "## b ##",
            "- x",
            "  - y",
            "> q",
            ">> r",
            "```",
            "~~~",
            "    code",
            "\ttab",
            "<!--",
            "-->",
            "a",
            "===",
            "---",
            "| a | b |",
            "|---|---|",
            "1. z",
            "",
            " ",
            "é ü",
            "\x00",
            "<div>",
            "[a]: b",
            "*",
            "`x",
        ]
    ),
    max_size=25,
)


def headings(text: str) -> list[tuple[int, str]]:
    lines = split_lines(text)
    skipped = front_matter(lines)
    blocks = outline([""] * skipped + lines[skipped:])
    return [(block.level, block.title) for block in blocks if block.kind == "heading"]


def texts(text: str) -> list[tuple[str, Place, int]]:
    return [(block.title, block.place, block.depth) for block in outline(split_lines(text)) if block.kind == "text"]


def test_a_fence_is_closed_by_its_own_kind_and_length() -> None:
    text = (
        "# Plan\n\n````text\n```bash\n# not a heading\n```\n## also not\n````\n\n- step\n\n  ~~~sh\n  # comment\n"
        "  ```\n  ## no\n  ~~~\n\n## Real\n\n    # indented code\n\n``` not `closed` info\n## After\n"
    )
    assert headings(text) == [(1, "Plan"), (2, "Real"), (2, "After")]


def test_what_a_comment_holds_is_no_heading() -> None:
    text = "- [x] one\n<!-- Optional\n- [ ] hidden\n\n## Hidden heading\n-->\n- [ ] two\n\n`<!--` is text\n\n## Seen\n"
    assert headings(text) == [(2, "Seen")]


def test_a_byte_order_mark_front_matter_and_crlf_hide_nothing() -> None:
    assert headings("\ufeff---\r\nowner: zed\r\n---\r\n# Plan\r\n\r\n- [ ] one\r\n") == [(1, "Plan")]


def test_items_of_every_bullet_with_tabs() -> None:
    text = "- a\n* b\n+ c\n1. d\n-\te\n\t- e1\n\t\t- e1a\n• i\n"
    found = [(name, depth) for name, _, depth in texts(text)]
    assert found == [("a", 1), ("b", 1), ("c", 1), ("d", 1), ("e", 1), ("e1", 2), ("e1a • i", 3)]


@pytest.mark.parametrize(
    ("text", "level", "title", "place"),
    [
        ("## Slices ##  ", 2, "Slices", Place(1, 4)),
        ("  ###\t**C1** — `a`", 3, "C1 — a", Place(1, 7)),
        ("Scenarios\n---", 2, "Scenarios", Place(1, 1)),
        ("  two\nlines\n===", 1, "two lines", Place(1, 3)),
        ("##", 2, "", Place(1, 3)),
        ("# <!-- x --> a", 1, "a", Place(1, 14)),
    ],
)
def test_every_form_of_heading(text: str, level: int, title: str, place: Place) -> None:
    (block,) = outline(text.split("\n"))
    assert (block.kind, block.level, block.title, block.place) == ("heading", level, title, place)


@pytest.mark.parametrize(
    "text", ["##Slices", "##\xa0Slices", "> ## Slices", "- ## Slices", "    ## Slices", "<div>\n## S", "####### S"]
)
def test_what_is_no_heading(text: str) -> None:
    assert headings(text) == []


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("- key", Place(1, 3)),
        ("-\tkey", Place(1, 3)),
        ("é\n\n  -\tkey", Place(3, 5)),
        ("> - key", Place(1, 5)),
        ("1. a\n   - key", Place(2, 6)),
        ("- a\n\n\tkey", Place(3, 2)),
        ("日本\n   key", Place(2, 4)),
    ],
)
def test_the_place_is_where_the_text_begins(text: str, place: Place) -> None:
    last = outline(text.split("\n"))[-1]
    assert place in [span.place for span in last.spans]


def test_a_table_gives_its_cells_with_their_places() -> None:
    (block,) = outline(["| ADR | Change", "|---|:-:|", "| é1 | `a\\|b` |", "x|", ""])
    assert block.kind == "table"
    cells = [[(cell.plain, cell.place) for cell in row] for row in block.rows]
    assert cells[0] == [("ADR", Place(1, 3)), ("Change", Place(1, 9))]
    assert cells[1] == [("é1", Place(3, 3)), ("a\\|b", Place(3, 8))]
    assert cells[2] == [("x", Place(4, 1))]


@pytest.mark.parametrize("text", ["> | a | b |\n> |---|---|\n> | 1 | 2 |", "- | a | b |\n  |---|---|\n  | 1 | 2 |"])
def test_a_table_in_a_quote_or_list_is_text(text: str) -> None:
    (block,) = outline(text.split("\n"))
    assert (block.kind, block.rows) == ("text", ())


@pytest.mark.parametrize("sign", ["> ", "- "])
def test_deep_nesting_is_refused_and_not_swallowed(sign: str) -> None:
    with pytest.raises(Refusal) as refused:
        outline(["# a", "", sign * 40 + "x", "", "## b"])
    assert refused.value.code == "plan-too-deep"


def test_lists_may_nest_as_people_nest_them() -> None:
    lines = [*("  " * depth + "- x" for depth in range(6)), "", "## After"]
    assert headings("\n".join(lines)) == [(2, "After")]


def test_a_quote_that_every_level_reads_again_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("morph_tasks.plan.outline._MOST_QUOTED", 600)
    assert outline([">" * 2 + " a", *(["b"] * 290)])
    with pytest.raises(Refusal, match="too long"):
        outline([">" * 12 + " a", *(["b"] * 60)])


@settings(max_examples=200, deadline=None)
@given(MARKDOWN)
def test_every_span_is_where_it_says(parts: list[str]) -> None:
    lines = [part.replace("\0", "\ufffd") for part in parts]
    for block in outline(parts):
        assert 0 <= block.start <= block.end <= len(lines)
        for span in block.spans:
            source = lines[span.line - 1][span.column - 1 :]
            assert _same(span.shown, source), (block, source)


def _same(shown: str, source: str) -> bool:
    """Tell whether the text is the source's, comments left blank."""
    return all(one in (other, " ") for one, other in zip(shown, source, strict=False)) and len(shown) <= len(source)


@settings(deadline=None)
@given(st.text(max_size=200))
def test_no_text_is_too_odd(text: str) -> None:
    assert all(isinstance(block, Block) for block in outline(split_lines(text)))
