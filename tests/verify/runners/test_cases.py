"""Every handed case of runner output: verdict, counts and each key its expectation names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.verify.runners.read import read_output

_FILE = Path(__file__).parents[2] / "data" / "cases-a.jsonl"
# Words for people, or said in another shape here: the code of a reason, the name of a runner.
_FOR_PEOPLE = {"reason", "must_not", "runner", "accept_alternative", "exit_ok", "verdict", "counts"}
_OUR_NAMES = {"node:test": "node-test", "dotnet-vstest": "dotnet"}


def _variants() -> list[Any]:
    found = []
    for line in _FILE.read_text("utf-8").splitlines():
        case = json.loads(line)
        given, wanted = case["input"], case["expect"]
        pairs = zip(given.get("variants", [given]), wanted.get("variants", [wanted]), strict=True)
        for number, (one, want) in enumerate(pairs):
            found.append(pytest.param(one, {"runner": wanted.get("runner")} | want, id=f"{case['id']}-{number}"))
    return found


@pytest.mark.parametrize(("given", "wanted"), _variants())
@pytest.mark.parametrize("how", ["command", "named", "merged"])
def test_a_handed_case_is_read_as_expected(given: dict[str, Any], wanted: dict[str, Any], how: str) -> None:
    out, err = given.get("stdout", "").encode(), given.get("stderr", "").encode()
    runner = _OUR_NAMES.get(wanted["runner"], wanted["runner"]) if wanted["runner"] and how == "named" else "auto"
    reading = read_output(
        runner,
        out + err if how == "merged" else out,
        None if how == "merged" else err,
        exit_code=given["exit_code"],
        command=given["command"],
        timed_out="killed_by" in given,
    ).as_json()
    assert reading["verdict"] == wanted["verdict"].replace("_", "-")
    if wanted["runner"]:
        assert reading["runner"] == _OUR_NAMES.get(wanted["runner"], wanted["runner"])
    if "counts" in wanted:
        counts = wanted["counts"]
        assert (reading["counts"] is None) == (counts is None)
        assert {word: reading["counts"][word] for word in counts or ()} == (counts or {})
    for key in wanted.keys() - _FOR_PEOPLE:
        assert reading[key] == wanted[key], key
    assert (reading["reason"] is None) == (reading["verdict"] == "pass")
