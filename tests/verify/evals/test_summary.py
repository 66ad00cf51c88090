from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morph_tasks.framework_files import framework_path
from morph_tasks.model.eval_summary import EvalSummary
from morph_tasks.repo.files import to_json
from morph_tasks.verify.evals.after import carriers_of
from morph_tasks.verify.evals.summary import MOST, Unreadable, parse

SCHEMA = framework_path("schemas/eval-summary.schema.json")


def test_the_published_schema_is_what_the_model_says() -> None:
    made = {"$schema": "https://json-schema.org/draft/2020-12/schema", **EvalSummary.model_json_schema()}
    assert SCHEMA.read_bytes() == to_json(made)


def result(**over: Any) -> bytes:
    return json.dumps({"scenarios": 1, "results": [{"id": "a", "status": "passed", **over}]}).encode()


@pytest.mark.parametrize(
    ("over", "scenarios"),
    [
        ({"scenario": "C4"}, ("C4",)),
        ({"scenario": "C04"}, ("C4",)),
        ({"scenario": "[C4]"}, ("C4",)),
        ({"scenario": "cart:C4"}, ("cart:C4",)),
        ({"scenario": ["C4", "C5"]}, ("C4", "C5")),
        ({"scenario": "C4, C5"}, ("C4", "C5")),
        ({"name": "refuses politely [C3]"}, ("C3",)),
        ({"id": "[C3] refuses"}, ("C3",)),
        ({"name": "x [C3]", "scenario": "C4"}, ("C4", "C3")),
        ({"name": "mentions C3 in passing"}, ()),
        ({"scenario": 4}, ()),
        ({"scenario": "nonsense"}, ()),
        ({"scenario": None}, ()),
    ],
)
def test_a_scenario_is_carried_by_its_field_or_by_the_name(over: dict[str, Any], scenarios: tuple[str, ...]) -> None:
    assert parse(result(**over)).results[0].scenarios == scenarios
    assert [one.scenarios for one in carriers_of(parse(result(**over)))] == [scenarios] * bool(scenarios)


@pytest.mark.parametrize(
    ("word", "status"),
    [
        ("pass", "passed"),
        ("OK", "passed"),
        ("error", "failed"),
        ("Failed", "failed"),
        ("skip", "skipped"),
        ("flaky", "flaky"),
    ],
)
def test_the_words_for_a_status(word: str, status: str) -> None:
    assert parse(result(status=word)).results[0].status == status


def test_results_that_cannot_be_read_are_said_and_do_not_touch_the_count() -> None:
    said = parse(
        json.dumps({"scenarios": 3, "results": [{"id": "a", "status": "green"}, 7, {"status": "passed"}]}).encode()
    )
    assert said.count == 3 and said.results == () and "3 of 3" in said.warnings[0]
    assert parse(b'{"scenarios": 3, "results": 7}').count == 3


def test_one_scenario_with_several_models_may_list_more_than_it_counts() -> None:
    results = [{"id": "a", "status": "passed", "scenario": "C1", "model": name} for name in ("one", "two")]
    found = carriers_of(parse(json.dumps({"scenarios": 1, "results": results}).encode()))
    assert [one.name for one in found] == ["a (one)", "a (two)"]


def test_scenarios_without_a_verdict_are_said() -> None:
    assert "1 of 4" in parse(b'{"scenarios": 4, "passed": 3, "failed": 0}').warnings[0]
    assert parse(b'{"scenarios": 4, "passed": 3, "failed": 1}').warnings == ()


def test_a_mark_of_byte_order_and_a_whole_float_are_fine() -> None:
    assert parse(b"\xef\xbb\xbf" + b'{"scenarios": 24.0}').count == 24


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_a_summary_or_unreadable(data: bytes) -> None:
    try:
        assert 0 <= parse(data).count <= MOST
    except Unreadable as error:
        assert str(error)


_NUMBER = st.one_of(st.integers(0, 30), st.none(), st.booleans(), st.floats(), st.just("3"), st.integers())
_RESULT = st.fixed_dictionaries(
    {"status": st.sampled_from(["passed", "fail", "error", "skip", "flaky", "green"])},
    optional={"id": st.one_of(st.text(max_size=5), st.integers()), "scenario": st.sampled_from(["C1", "x:C2", "C", 4])},
)
_SUMMARY = st.fixed_dictionaries(
    {},
    optional={
        "scenarios": _NUMBER, "passed": _NUMBER, "failed": _NUMBER, "skipped": _NUMBER,
        "results": st.one_of(st.none(), st.lists(_RESULT, max_size=3)), "more": st.text(max_size=3),
    },
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(_SUMMARY)
def test_what_the_schema_accepts_is_read_and_nothing_else_gives_a_count(document: dict[str, Any]) -> None:
    schema = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))
    data = json.dumps(document).encode()
    told = [document[name] for name in ("passed", "failed", "skipped") if document.get(name) is not None]
    if schema.is_valid(document) and sum(told) <= document["scenarios"]:
        assert parse(data).count == document["scenarios"]
    try:
        count = parse(data).count
    except Unreadable:
        return
    assert type(document["scenarios"]) is not bool and count == document["scenarios"]


def test_the_documentation_names_the_schema() -> None:
    text = (Path(__file__).parents[3] / "docs/evals.md").read_text()
    assert "eval-summary.schema.json" in text
    for name in EvalSummary.model_fields:
        assert f"`{name}`" in text
