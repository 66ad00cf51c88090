from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from morph_tasks.gates.signals.base import Facts
from morph_tasks.gates.signals.e2e_skip import classify, read
from morph_tasks.repo.git import Repo


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("project does not containerize", "project"),
        ("Project does not containerize (no compose file)", "project"),
        ("docker is not available on this machine", "environment"),
        ("--skip-e2e", "requested"),
        ("requested with --skip-e2e", "requested"),
        (None, "unknown"),
        ("", "unknown"),
        ("  ", "unknown"),
        ("e2e-not-available", "unknown"),
        ("somebody said: project does not containerize", "unknown"),
        ("docker is not available; project does not containerize", "environment"),
    ],
)
def test_the_class_of_a_reason(reason: str | None, kind: str) -> None:
    assert classify(reason) == kind


def look(gate: str, stamp: dict[str, Any] | None) -> Any:
    repo = Repo(Path("/none"), Path("/none/.git"), Path("/none/.git"))
    return read(Facts(repo, "shop", Path("/none"), {"verification": stamp}, gate))


@pytest.mark.parametrize(
    ("nodes", "reason", "kind", "pauses"),
    [
        ({"e2e": "pass"}, None, None, False),
        ({"e2e": "fail"}, None, None, False),
        ({"e2e": "skip"}, "project does not containerize", "project", False),
        ({"e2e": "skip"}, "docker is not available", "environment", True),
        ({"e2e": "skip"}, "--skip-e2e", "requested", True),
        ({"e2e": "skip"}, None, "unknown", True),
        ({"e2e": {"status": "skip"}}, "docker is not available", "environment", True),
        ({}, None, "unknown", True),
        ({"e2e": 7}, None, "unknown", True),
    ],
)
def test_the_review(nodes: Any, reason: str | None, kind: str | None, pauses: bool) -> None:
    reading = look("review", {"status": "pass", "nodes": nodes, "e2eReason": reason})
    assert reading.values["e2eSkipClass"] == kind and reading.values["e2eReason"] == reason
    assert bool(reading.pause) is pauses


@pytest.mark.parametrize("gate", ["plan", "uiux"])
def test_other_gates_do_not_ask(gate: str) -> None:
    assert look(gate, {"status": "pass", "nodes": {"e2e": "skip"}}).pause is None


def test_without_a_stamp_there_is_nothing_to_ask() -> None:
    assert look("review", None).pause is None
