"""What collectors put before every line."""

from __future__ import annotations

import pytest

from morph_tasks.verify.runners import prefixes

LINES = ["==== 5 passed in 0.10s ====", "", "  2 passing (1s)", "Tests:       1 passed, 1 total", "a", "b"]


@pytest.mark.parametrize(
    "put",
    [
        "2026-01-01T00:00:00.1234567Z ",
        "2026-01-01 00:00:00,123 ",
        "[2026-01-01T00:00:00.123Z] ",
        "job\tRun tests\t2026-01-01T00:00:00Z ",
        "2026-01-01T00:00:00.123456Z 01O ",
        "[12:34:56] ",
        "web-1  | ",
        "#12 3.456 ",
        "Step #1: ",
        "[@shop/web]: ",
        "[test] ",
        "@shop/web:test: ",
        "packages/web test: ",
        "2026-01-01T00:00:00.1234567Z web-1  | ",
    ],
)
def test_a_prefix_of_all_lines_is_cut(put: str) -> None:
    dressed = [f"{put}{line}".rstrip() for line in LINES]
    found = prefixes.find(dressed)
    assert [prefixes.cut(line, found) for line in dressed if prefixes.cut(line, found)] == [
        line for line in LINES if line
    ]


@pytest.mark.parametrize(
    "lines",
    [
        ["[INFO] a", "[INFO] b", "[ERROR] c", "[INFO] d"],
        ["ok | 2 passed | 0 failed (1ms)"],
        ["a: 1", "b: 2", "c", "d"],
        LINES,
        [],
    ],
)
def test_words_of_a_tool_are_no_prefix(lines: list[str]) -> None:
    assert prefixes.find(lines) == ()


def test_some_lines_with_a_timestamp_are_not_all() -> None:
    assert prefixes.find(["2026-01-01T00:00:00Z 5 passed in 0.1s", *LINES]) == ()
