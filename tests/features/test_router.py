from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morph_tasks.features.router import WORDS, route


@pytest.mark.parametrize(
    ("request_text", "work_type"),
    [
        ("Produção caiu, checkout fora do ar!", "hotfix"),
        ("URGENTE", "hotfix"),
        ("P0: nobody can pay", "hotfix"),
        ("two incidents since noon", "hotfix"),
        ("incidentes no login", "hotfix"),
        ("Fix the login form", "bug"),
        ("há bugs no carrinho", "bug"),
        ("Corrigir regressão no cálculo", "bug"),
        ("corrigir bug no config.json", "bug"),
        ("it doesn't work on Mondays", "bug"),
        ("it doesn\u2019t work on Mondays", "bug"),
        ("NullPointer exception on save", "bug"),
        ("Rename Cart to Basket", "chore"),
        ("bump the configs", "chore"),
        ("atualizar documentacao", "chore"),
        ("ATUALIZAR DOCUMENTAÇÃO", "chore"),
        ("erro de digitação na tela inicial", "chore"),
        ("fix typo in docs", "chore"),
        ("a new feature for carts", "feature"),
    ],
)
def test_words_decide(request_text: str, work_type: str) -> None:
    said = route(request_text)
    assert (said.confidence, said.work_type) == ("high", work_type)


@pytest.mark.parametrize(
    "request_text",
    ["fix typo", "fix fix fix a typo", "corrigir o readme", "urgent rename"],
)
def test_a_draw_decides_nothing(request_text: str) -> None:
    said = route(request_text)
    assert (said.confidence, said.work_type) == ("tie", None)
    assert len(said.candidates) == 2
    assert set(said.candidates) == set(said.matched)


@pytest.mark.parametrize(
    "request_text",
    [
        "",
        "   ",
        "let carts be shared",
        "group0 and top0",
        "a prefix for every suffix",
        "debug output and debugging",
        "store bug_id and bug-id",
        "auto-fix-mode",
        "read config.json and docs.md",
        r"move C:\docs\config",
        "see https://example.test/bugs",
        "call `fix()` when asked",
        "```\nfix bug\n```",
        "fixture of errorless bumpers",
        "produção de caiu",
    ],
)
def test_other_words_are_no_signal(request_text: str) -> None:
    said = route(request_text)
    assert (said.confidence, said.work_type) == ("none", None)
    assert set(said.candidates) == set(WORDS)


def test_a_phrase_does_not_reach_over_the_end_of_a_sentence() -> None:
    assert route("Look at the site. Down below is a list").confidence == "none"


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=300))
def test_any_text_has_an_answer_and_always_the_same(text: str) -> None:
    said = route(text)
    assert said == route(text)
    assert (said.work_type is not None) == (said.confidence == "high")


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from([word for words in WORDS.values() for word in words]),
    st.sampled_from("abcxyz019_-"),
    st.booleans(),
)
def test_a_letter_more_and_the_word_is_another_one(word: str, sign: str, before: bool) -> None:
    text = f"{sign}{word}" if before else f"{word}{sign}"
    assert word not in [found for words in route(text).matched.values() for found in words] or sign in "-_"


@settings(max_examples=60, deadline=None)
@given(st.sampled_from([word for words in WORDS.values() for word in words]))
def test_every_word_is_found_in_any_case(word: str) -> None:
    found = route(f"please, {word.upper()}!").matched
    assert any(words for words in found.values())


def test_a_huge_request_takes_no_time() -> None:
    assert route("`" * 200_000 + "x" * 2_000_000 + "." * 100_000).confidence == "none"


def test_words_are_written_as_they_are_compared() -> None:
    for words in WORDS.values():
        for word in words:
            assert word == word.lower() and word.isascii() and "  " not in word
