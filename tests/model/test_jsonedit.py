from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morph_tasks.model.jsonedit import set_number

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None)
@given(
    _JSON,
    st.dictionaries(st.text(max_size=5), _JSON, max_size=4),
    st.integers(0, 10**6),
    st.sampled_from([None, 2, "\t"]),
)
def test_only_the_number_changes(other: object, node: dict[str, object], number: int, indent: object) -> None:
    data = {"before": other, "tests": [other, node, other], "after": other}
    text = json.dumps(data, indent=indent, ensure_ascii=False)  # type: ignore[arg-type]
    new = set_number(text, ["tests", 1, "expectedCount"], number)
    assert json.loads(new) == {**data, "tests": [other, {**node, "expectedCount": number}, other]}
    again = set_number(new, ["tests", 1, "expectedCount"], number + 1)
    assert len(again) - len(new) in (0, 1)


def test_spelling_and_layout_stay() -> None:
    text = '{ "tests" : [\r\n\t{\r\n\t\t"id":"a", "n" : 1.50,\r\n\t\t"s":"\\u00e9"\r\n\t} ]}\r\n'
    expected = text.replace('"\\u00e9"', '"\\u00e9",\r\n\t\t"expectedCount": 7')
    assert set_number(text, ["tests", 0, "expectedCount"], 7) == expected
    assert set_number('{"a": {}}', ["a", "b"], 1) == '{"a": {"b": 1}}'


def test_the_last_of_two_equal_keys_counts() -> None:
    assert set_number('{"a": 1, "a": 2}', ["a"], 3) == '{"a": 1, "a": 3}'


def test_a_path_that_is_not_there() -> None:
    with pytest.raises(KeyError):
        set_number('{"a": []}', ["a", 0, "b"], 1)
