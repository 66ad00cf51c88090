"""Which summaries count."""

from __future__ import annotations

import pytest

from morph_tasks.verify.runners.sessions import End, Start, pair


def run(text: str, calls: int | None = None, bare: str = "last") -> tuple[str, bool]:
    """Read `S` start, `w` weak start, a digit end, `S3` / `a=3` with sizes."""
    starts: list[Start] = []
    ends: list[End[str]] = []
    for at, word in enumerate(text.split()):
        size = int(word[2:]) if word[1:2] == "=" else None
        if word[0] in "Sw":
            starts.append(Start(at, size, weak=word[0] == "w"))
        else:
            ends.append(End(at, word[0], size))
    paired = pair(starts, ends, calls, bare=bare)
    return "".join(paired.ends), paired.open


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("S a", ("a", False)),
        ("S a S b", ("ab", False)),
        ("S x a", ("a", False)),
        ("S S x a", ("a", False)),
        ("S S x a S b", ("ab", False)),
        ("S", ("", True)),
        ("S a S", ("a", True)),
        ("S S x", ("", True)),
        ("w", ("", False)),
        ("w a w b", ("ab", False)),
        ("w w a", ("a", False)),
        ("w x a", ("a", False)),
        ("a b", ("b", False)),
        ("a S b", ("ab", False)),
        ("S=3 x=9 a=3", ("a", False)),
        ("S=3 a=3 x=9", ("a", False)),
        ("S=3 S=1 x=1 a=3", ("a", False)),
        ("S=3 x=9", ("x", False)),
        ("S=3 S=1 x=1", ("", True)),
        ("", ("", False)),
    ],
)
def test_starts_and_ends_pair_like_brackets(text: str, wanted: tuple[str, bool]) -> None:
    assert run(text) == wanted


def test_without_starts_the_caller_says_whether_all_count() -> None:
    assert run("a b c", bare="all") == ("abc", False)
    assert run("a b c", calls=2, bare="all") == ("bc", False)
    assert run("a b c", calls=2) == ("bc", False)


def test_one_call_prints_one_summary() -> None:
    assert run("S S x a", calls=1) == ("a", False)
    assert run("S a S", calls=1) == ("a", True)
