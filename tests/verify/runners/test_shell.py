"""Program calls of a command line."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morph_tasks.verify.runners.shell import loops, steps


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        ("a b && c | d; e", [("a b", ""), ("c", "&&"), ("d", "|"), ("e", ";")]),
        ("a 'x | y' \"p && q\"", [("a x | y p && q", "")]),
        ("a > out.txt 2>&1 | tee log", [("a", ""), ("tee log", "|")]),
        ("a 2>&1 |& b", [("a", ""), ("b", "|&")]),
        ("a --x=$(b | c) d", [("a --x=$_ d", "")]),
        ("(cd x && a) || b", [("cd x", ""), ("a", "&&"), ("b", "||")]),
        ("a # b | c", [("a", "")]),
        ("a\\\n  b", [("a b", "")]),
        ("for i in 1 2; do a; done", [("for i in 1 2", ""), ("a", ";"), ("done", ";")]),
        ("a ''b\\ c", [("a b c", "")]),
        ("", []),
    ],
)
def test_calls_and_operators(command: str, wanted: list[tuple[str, str]]) -> None:
    assert [(" ".join(step.words), step.before) for step in steps(command)] == wanted


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="ab '\"|&;()$`\\#<>\n-", max_size=40))
def test_any_text_is_survived(command: str) -> None:
    assert all(step.words for step in steps(command))
    loops(command)


@pytest.mark.parametrize(
    "command",
    ["for f in *; do pytest $f; done", "ls | xargs pytest", "find . -exec pytest {} ;", "while true; do a; done"],
)
def test_what_may_repeat(command: str) -> None:
    assert loops(command)


def test_what_does_not_repeat() -> None:
    assert not loops("pytest -k 'for x' tests && jest --findRelatedTests")
