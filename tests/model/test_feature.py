from __future__ import annotations

from typing import Any

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.model.feature import validate

WHERE = ".morph/features/shop/feature.json"


@pytest.mark.parametrize(
    ("data", "path", "found", "expected"),
    [
        ([], "$", "[]", "valid dictionary"),
        ({"workType": "epic"}, "workType", '"epic"', "'hotfix'"),
        ({"status": 1}, "status", "1", "'archived'"),
        ({"approvalGates": {"plan": {"approved": "yes"}}}, "approvalGates.plan.approved", '"yes"', "boolean"),
        ({"approvalGates": {"plan": {}}}, "approvalGates.plan.approved", "nothing", "required"),
        ({"verifications": [{"status": "pass"}, {"status": 3}]}, "verifications[1].status", "3", "string"),
        ({"description": ["long"] * 40}, "description", "...", "string"),
    ],
)
def test_a_wrong_value_names_file_key_found_and_expected(data: Any, path: str, found: str, expected: str) -> None:
    with pytest.raises(Refusal) as refused:
        validate(data, WHERE)
    problem = refused.value.payload["problems"][0]
    assert refused.value.code == "invalid-feature"
    assert problem["path"] == path
    assert found in problem["found"] and len(problem["found"]) <= 80
    assert expected in problem["expected"]
    assert WHERE in refused.value.what and path in refused.value.what


def test_every_problem_is_listed() -> None:
    with pytest.raises(Refusal) as refused:
        validate({"workType": 1, "status": 2, "name": 3}, WHERE)
    assert [problem["path"] for problem in refused.value.payload["problems"]] == ["name", "workType", "status"]


def test_unknown_keys_are_welcome() -> None:
    validate({"later": 1, "approvalGates": {"other": {"approved": False, "x": 2}}}, WHERE)
