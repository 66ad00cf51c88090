from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morph_tasks.errors import Refusal
from morph_tasks.features.naming import LONGEST, check_name, suggest


@pytest.mark.parametrize("slug", ["a", "7", "cart-totals", "v2", "a-1-b", "x" * LONGEST])
def test_good_names(slug: str) -> None:
    check_name(slug)


@pytest.mark.parametrize(
    "slug",
    [
        *("", "Cart", "cart totals", "cart_totals", "cart.lock", "cart--totals", "-cart", "cart-", "../cart"),
        *("a/b", "a\\b", "a\0b", "çarrinho", "cart\n", "a=b", "a:b", "@", "HEAD", "~", "a*", "\u0661"),
        *("x" * (LONGEST + 1), "con", "nul", "com1", "task"),
    ],
)
def test_bad_names(slug: str) -> None:
    with pytest.raises(Refusal) as refused:
        check_name(slug)
    assert refused.value.code == "invalid-name"
    assert refused.value.exit_code == 2


@pytest.mark.parametrize(("text", "slug"), [("Carrinho Não", "carrinho-nao"), ("Cart_Totals", "cart-totals")])
def test_the_refusal_suggests_a_name(text: str, slug: str) -> None:
    with pytest.raises(Refusal) as refused:
        check_name(text)
    assert refused.value.payload["suggestion"] == slug


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=100))
def test_what_is_suggested_is_allowed(text: str) -> None:
    slug = suggest(text)
    if slug:
        check_name(slug)
        assert re.fullmatch(r"[a-z0-9-]+", slug)
