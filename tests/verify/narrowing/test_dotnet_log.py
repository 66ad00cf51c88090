# ruff: noqa: E501 (tables, one case a line)
from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morph_tasks.verify.narrowing.dotnet import blocks, is_zero


def english(total: int, verdict: str = "Passed!") -> str:
    return (
        f"Test run summary: {verdict} - bin/A.Tests.dll (net10.0|x64)\n  total: {total}\n  failed: 0\n"
        f"  succeeded: {total}\n  skipped: 0\n  duration: 143ms\n"
    )


def portuguese(total: int, verdict: str = "Aprovado!") -> str:
    return (
        f"Resumo da execução de teste: {verdict}\n  total: {total}\n  com falha: 0\n  bem-sucedido: {total}\n"
        "  ignorado: 0\n  duração: 143ms\n"
    )


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5000), st.sampled_from([english, portuguese])), max_size=5))
def test_one_total_for_each_summary_of_a_chain(runs: list[tuple[int, object]]) -> None:
    text = "\nBuild succeeded in 2.1s\n".join(shown(total) for total, shown in runs)  # type: ignore[operator]
    assert blocks(text) == [total for total, _ in runs]


def test_terminal_codes_are_no_part_of_a_summary() -> None:
    text = (
        english(7).replace("Passed!", "\x1b[32mPassed!\x1b[m").replace("  total: 7", "\x1b[90m  total: \x1b[1m7\x1b[0m")
    )
    assert blocks(text) == [7]
    assert blocks(text.replace("\n", "\r\n")) == [7]


def test_a_summary_with_assemblies_and_errors_before_its_numbers() -> None:
    text = (
        "Test run summary: Failed!\n  bin/A.Tests.dll (net10.0|x64) passed\n  bin/B.Tests.dll (net10.0|x64) failed with 1 error\n"
        "  error: 1\n\n  total: 12\n  failed: 1\n  succeeded: 11 (+2 retried)\n  skipped: 0\n"
    )
    assert blocks(text) == [12]


def test_a_test_that_prints_a_total_is_no_summary() -> None:
    assert blocks("  total: 0\n  failed: 0\n") == []
    assert blocks("Test run summary: Passed!\n  total: 0\nhello\n" + english(3)) == [3]


def test_zero_in_one_of_several_summaries_shows() -> None:
    assert blocks(english(5) + english(0, "Zero tests ran")) == [5, 0]
    assert blocks(portuguese(5) + portuguese(0, "Zero testes executados")) == [5, 0]


@pytest.mark.parametrize(
    "text",
    [
        "Testlaufzusammenfassung: Bestanden!\n  gesamt: 5\n  fehlgeschlagen: 0\n",
        "Passed!  - Failed:     0, Passed:     5, Skipped:     0, Total:     5, Duration: 12 ms - A.dll (net8.0)\n",
        "",
    ],
)
def test_other_languages_and_dialects_have_no_summary(text: str) -> None:
    assert blocks(text) == []


@pytest.mark.parametrize(
    ("log", "code", "expected"),
    [
        ("", 8, True),
        (english(0, "Zero tests ran"), 8, True),
        ("No test matches the given testcase filter `FullyQualifiedName~X` in A.dll\n", 1, True),
        ("\x1b[33mNo test matches the given\x1b[0m testcase filter `X` in A.dll\n", 1, True),
        ("Nenhum teste corresponde ao filtro de testcase `X` em A.dll\n", 1, True),
        (english(3, "Failed!"), 2, False),
        ("", 9, False),
        ("", 1, False),
        ("", None, False),
    ],
)
def test_what_says_that_nothing_matched(log: str, code: int | None, expected: bool) -> None:
    assert is_zero(log, code) is expected
