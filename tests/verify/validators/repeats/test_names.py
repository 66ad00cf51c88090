from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from morph_tasks.verify.validators.repeats.names import is_given, plain, spellings, words

WORD = st.text("abcdefghijklmnopqrstuvwxyz", min_size=2, max_size=8)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("formatPrice", ("format", "price")),
        ("format_price", ("format", "price")),
        ("FormatPrice", ("format", "price")),
        ("FORMAT_PRICE", ("format", "price")),
        ("HTTPServer2", ("http", "server", "2")),
        ("preço", ("preço",)),
        ("_", ("_",)),
    ],
)
def test_words(name: str, found: tuple[str, ...]) -> None:
    assert words(name) == found


@given(st.lists(WORD, min_size=1, max_size=4))
def test_every_style_compares_the_same_and_is_found(parts: list[str]) -> None:
    styles = ["_".join(parts), "_" + "_".join(parts), "".join(part.capitalize() for part in parts)]
    styles.append(styles[2][0].lower() + styles[2][1:])
    assert len({plain(name) for name in styles}) == 1
    asked = spellings(styles[0])
    assert all(name.casefold() in asked for name in styles)


@given(st.text(max_size=20))
def test_any_text_has_a_form_and_is_among_its_spellings(name: str) -> None:
    assert plain(name) in spellings(name)
    assert isinstance(is_given(name), bool)


@pytest.mark.parametrize("name", ["main", "__repr__", "__init__", "ToString", "setUp", "_", "GetHashCode", "new"])
def test_names_that_nobody_chose(name: str) -> None:
    assert is_given(name)


@pytest.mark.parametrize("name", ["format_price", "Cart", "__price", "mainMenu"])
def test_names_that_somebody_chose(name: str) -> None:
    assert not is_given(name)
