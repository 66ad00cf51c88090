"""Suites of prompts end to end: recorded answers, keys, refreshes, and the scenarios that they prove."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.conftest import Project

# Asks a "model" (a pure function) unless the answer is recorded; writes what morph-spec reads.
SUITE = """\
import json, os, pathlib, sys
cache = pathlib.Path(os.environ["MORPH_EVAL_CACHE"])
prompts = json.loads(pathlib.Path("evals/prompts.json").read_text())
calls, results = 0, []
for name, wanted in prompts.items():
    kept = cache / f"{name}.txt"
    if os.environ["MORPH_EVAL_REFRESH"] or not kept.exists():
        calls += 1
        cache.mkdir(parents=True, exist_ok=True)
        kept.write_text(name.upper())
    passed = kept.read_text() == wanted
    results.append({"name": f"{name} [C1]", "status": "passed" if passed else "failed"})
failed = sum(one["status"] == "failed" for one in results)
said = {"scenarios": len(results), "failed": failed, "calls": calls, "results": results}
pathlib.Path(os.environ["MORPH_EVAL_SUMMARY"]).write_text(json.dumps(said))
sys.exit(1 if failed else 0)
"""
PLAN = """\
# Greetings

## Problem
Answers are rude.

## Scenarios

### C1 — The model greets
Given a greeting, then the answer is loud.
- proof: eval

## Decisions

### Conflicts with the record
none

## Slices

### F1 — The prompt
- persona: python-senior
- files: evals/prompts.json
- covers: C1
"""


@pytest.fixture
def evals(project: Project) -> Project:
    """A project with a suite of two prompts whose answers are not recorded yet."""
    project.write("evals/run.py", SUITE)
    project.write("evals/prompts.json", json.dumps({"hello": "HELLO", "bye": "BYE"}))
    project.write(".gitignore", "evals/summary.json\n")
    _declare(project)
    project.commit()
    assert project.morph("create", "cart", "--type", "feature", "--description", "Greet").code == 0
    project.write(".morph/features/cart/2-plan/plan.md", PLAN)
    assert project.morph("plan-check", "cart").code == 0
    return project


def _declare(project: Project, **more: Any) -> None:
    block = {"summary": "evals/summary.json", "cacheDir": "evals/cache", "requiredEnv": ["MODEL_KEY"]}
    node = {"id": "prompts", "runner": "evals", "command": "python evals/run.py", "evals": block, **more}
    project.config(project={"build": [], "tests": [node]})


def _run(document: Any) -> Any:
    return document["nodes"]["tests"]["runs"][0]


def test_from_nothing_recorded_to_a_warm_proof(evals: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    unpaid = evals.verify()
    assert (unpaid["exit"], _run(unpaid)["reason"]) == (1, "eval-key-missing")
    assert not (evals.root / "evals/summary.json").exists(), "nothing was started"

    monkeypatch.setenv("MODEL_KEY", "k")
    bare = evals.verify()
    assert _run(bare)["reason"] == "eval-cache-missing"

    cold = evals.verify("cart", "--refresh-cache")
    assert cold["exit"] == 0, cold["feedback"]
    assert (_run(cold)["count"], _run(cold)["cache"]["added"]) == (2, 2)
    assert any("commit evals/cache" in line for line in cold["feedback"])
    (scenario,) = cold["scenarios"]
    assert (scenario["state"], scenario["nodes"]) == ("proven", ["tests/prompts"])

    evals.commit("answers")
    warm = evals.verify()
    assert (warm["exit"], _run(warm)["cache"]["state"], _run(warm)["reused"]) == (0, "warm", None)
    assert warm["scenarios"][0]["state"] == "proven"


def test_answers_belong_to_the_key_of_a_node_that_is_reused(evals: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_KEY", "k")
    _declare(evals, reuse=True)
    first = evals.verify("cart", "--refresh-cache")
    assert first["exit"] == 0, first["feedback"]
    again = evals.verify()
    assert _run(again)["reused"], "the answers that the first run recorded are the ones it proves"
    for _ in range(2):  # settled, also for the quick answer
        assert _run(evals.verify())["reused"]
    evals.write("evals/cache/hello.txt", "hello")
    changed = evals.verify()
    assert (changed["exit"], _run(changed)["status"], _run(changed)["reason"]) == (1, "fail", "tests-failed")
    assert changed["scenarios"][0]["state"] == "failed"
    assert changed["fingerprint"] != again["fingerprint"]
    assert "recorded answers changed" in evals.morph("explain", "cart").out or changed["exit"] == 1


def test_trace_tells_what_evidence_is_owed(evals: Project) -> None:
    (owed,) = evals.morph("trace", "cart", "--json").json["evidence"]
    assert (owed["slice"], owed["exists"], owed["due"], owed["complete"]) == ("F1", False, ["C1"], False)
    assert "3-implement/evidencias/F1.md" in evals.morph("trace", "cart").out


def test_a_run_of_nothing_is_red(evals: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_KEY", "k")
    evals.write("evals/prompts.json", "{}")
    evals.write("evals/cache/hello.txt", "HELLO")
    assert _run(evals.verify())["reason"] == "eval-empty-run"


def test_options_that_would_refresh_nothing_are_refused(evals: Project) -> None:
    assert evals.verify("cart", "--refresh-cache", "--skip-tests")["code"] == "options-exclude"
    assert evals.verify("cart", "F1", "--refresh-cache")["code"] == "options-exclude"
    evals.config(project={"build": [], "tests": [{"id": "unit", "command": "true"}]})
    refused = evals.verify("cart", "--refresh-cache")
    assert (refused["code"], refused["exit"]) == ("refresh-matches-nothing", 2)


def test_a_slice_leaves_evals_out_and_says_so(evals: Project) -> None:
    found = evals.verify("cart", "F1")
    assert (_run(found)["status"], _run(found)["selection"]["mode"]) == ("skip", "out-of-scope")
    assert "whole verify only" in _run(found)["message"]


@pytest.mark.parametrize(
    ("block", "says"),
    [
        (None, "needs a block"),
        ({"summary": "evals/summary.json", "cacheDir": "../cache"}, "cacheDir"),
        ({"summary": "evals/run.py", "cacheDir": "evals/cache"}, "summary"),
    ],
)
def test_a_block_that_cannot_be_meant_is_an_invalid_node(evals: Project, block: Any, says: str) -> None:
    _declare(evals, evals=block)
    run = _run(evals.verify())
    assert (run["status"], run["reason"]) == ("fail", "invalid-test-node")
    assert says in run["message"]
