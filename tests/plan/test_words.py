from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from morph_tasks.plan import words
from morph_tasks.plan.words import flat, known


@pytest.mark.parametrize(
    ("kind", "text", "word"),
    [
        ("section", "Cenários", "scenarios"),
        ("section", "CENARIOS", "scenarios"),
        ("section", "  conflicts   with the RECORD ", "conflicts"),
        ("section", "Conflitos com o acervo:", "conflicts"),
        ("key", "Superficie", "surface"),
        ("key", "SUPERFÍCIE", "surface"),
        ("proof", "Teste", "test"),
        ("scope", "projeto", "project"),
        ("verdict", "estender", "EXTEND"),
        ("change", "Parcial", "partial"),
        ("column", "mudanca", "change"),
        ("nothing", "—", "none"),
        ("section", "Scenario", None),
        ("proof", "unit", None),
        ("key", "", None),
    ],
)
def test_words_of_both_languages_in_any_dress(kind: str, text: str, word: str | None) -> None:
    assert known(kind, text) == word


@pytest.mark.parametrize(
    "spelling", [one for table in (words.SECTIONS, words.KEYS) for row in table.values() for one in row]
)
def test_decomposed_accents_are_the_same_word(spelling: str) -> None:
    kind = "section" if spelling in {one for row in words.SECTIONS.values() for one in row} else "key"
    assert known(kind, unicodedata.normalize("NFD", spelling.upper())) == known(kind, spelling) is not None


def test_a_book_is_no_word() -> None:
    assert known("section", "Problem" + " " * 10_000) is None


@given(st.text())
def test_flat_text_keeps_its_length(text: str) -> None:
    assert len(flat(text)) == len(text)


def test_flat_text_has_neither_case_nor_accents() -> None:
    assert flat("Número DE Linhas Çã") == "numero de linhas ca"
