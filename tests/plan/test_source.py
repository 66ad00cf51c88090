from __future__ import annotations

import pytest

from morph_tasks.plan.source import Place, front_matter, split_lines


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_line_end_of_markdown_counts(end: str) -> None:
    assert split_lines(f"a{end}b{end}{end}c") == ["a", "b", "", "c"]


def test_no_other_sign_ends_a_line() -> None:
    text = "a\x0bb\x0cc\x85d\u2028e\u2029f\x1cg"
    assert split_lines(text) == [text]


def test_one_byte_order_mark_is_dropped() -> None:
    assert split_lines("\ufeffa") == ["a"]
    assert split_lines("a\ufeff") == ["a\ufeff"]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("---\nowner: zed\n---\n# Plan", 3),
        ("---\nowner: zed\n...\n# Plan", 3),
        ("---  \nowner:\n  - zed\n\n# a remark\ntags: [a,\n  b\n]\n---\nx", 9),
        ("---\n---\nx", 2),
        ("---\n# Plan\n---\n", 0),
        ("---\n\nSome text.\n\n---\n", 0),
        ("---\nowner: zed\n# Plan\n## Problem\ntext\n", 0),
        ("\n---\nowner: zed\n---\n", 0),
        ("----\nowner: zed\n----\n", 0),
        ("", 0),
    ],
)
def test_front_matter_is_yaml_between_rules_at_the_top(text: str, lines: int) -> None:
    assert front_matter(split_lines(text)) == lines


def test_places_are_in_the_order_of_the_text() -> None:
    assert sorted([Place(2, 1), Place(1, 9), Place(1, 2)]) == [Place(1, 2), Place(1, 9), Place(2, 1)]
