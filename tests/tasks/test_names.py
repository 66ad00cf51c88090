from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from morph_tasks.tasks.names import id_of, task_name


@given(st.lists(st.text(min_size=1), min_size=1, max_size=3), st.lists(st.text(min_size=1), min_size=1, max_size=3))
def test_two_ids_never_share_a_name(one: list[str], other: list[str]) -> None:
    assert (task_name(*one) == task_name(*other)) == (one == other)


@given(st.text(min_size=1))
def test_doit_reads_a_name_as_a_name(text: str) -> None:
    name = task_name(text)
    assert not set(name) & set("=*: \n\t") and not name.startswith(("-", "_"))


def test_a_plain_slug_keeps_its_spelling() -> None:
    assert task_name("verify", "cart-2") == "verify:cart-2"


@given(st.text(min_size=1))
def test_a_name_tells_its_id(text: str) -> None:
    assert id_of(task_name(text)) == text
