from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from morph_tasks.features.shape import GATES, STATUSES, TRUSTS, WORK_TYPES, looks_valid
from morph_tasks.model.feature import Feature

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


def record(good: dict[str, Any]) -> st.SearchStrategy[Any]:
    """A record with some of its keys, each good or anything."""
    keys = {key: value | ANYTHING for key, value in good.items()}
    return st.fixed_dictionaries({}, optional=keys) | ANYTHING


TEXT = st.text(max_size=3)
APPROVAL = record(
    {"approved": st.booleans(), "approvedBy": TEXT, "selfAssessed": st.booleans(), "overrode": st.lists(TEXT)}
)
DECISION = record({"pause": st.booleans(), "signals": st.just({}), "trust": st.sampled_from(TRUSTS), "reason": TEXT})
STAMP = record({"status": TEXT, "ts": TEXT, "nodes": st.just({}), "e2eReason": TEXT})
FEATURE = record(
    {
        "name": TEXT,
        "workType": st.sampled_from(WORK_TYPES),
        "status": st.sampled_from(STATUSES),
        "approvalGates": st.dictionaries(st.sampled_from(GATES), APPROVAL),
        "gateDecisions": st.dictionaries(st.sampled_from(GATES), DECISION),
        "verification": STAMP,
        "verifications": st.lists(STAMP, max_size=2),
        "outputs": st.just({}),
        "later": ANYTHING,
    }
)


@settings(max_examples=300, deadline=None)
@given(FEATURE)
def test_what_the_quick_look_passes_passes_the_model(data: Any) -> None:
    if looks_valid(data):
        Feature.model_validate(data)


@settings(max_examples=300, deadline=None)
@given(FEATURE)
def test_what_the_model_refuses_the_quick_look_refuses(data: Any) -> None:
    try:
        Feature.model_validate(data)
    except ValidationError:
        assert not looks_valid(data)


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"unknown": [1]},
        {"workType": "chore", "status": "draft", "approvalGates": {"plan": {"approved": True, "by": 1}}},
        {"verification": None, "verifications": []},
        {"verification": {"status": "pass", "nodes": {"e2e": "skip"}, "runs": [1]}},
    ],
)
def test_good_records(data: Any) -> None:
    assert looks_valid(data)
    Feature.model_validate(data)
