from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.gates.signals import verification_stale
from morph_tasks.gates.signals.base import Facts
from morph_tasks.repo.git import Repo

REPO = Repo(Path("/none"), Path("/none/.git"), Path("/none/.git"))
ASK = verification_stale._ask


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Let `stamp_staleness` answer, or raise, what the test says."""
    monkeypatch.setattr(verification_stale, "_ask", ASK)

    def install(what: Any) -> None:
        def stamp_staleness(repo: Repo, data: dict[str, Any]) -> Any:
            if isinstance(what, Exception):
                raise what
            return what

        module = types.ModuleType("morph_tasks.verify.stamp")
        module.stamp_staleness = stamp_staleness  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "morph_tasks.verify.stamp", module)

    return install


def look(gate: str, stamp: Any = None) -> Any:
    data = {"verification": stamp if stamp is not None else {"status": "pass"}}
    return verification_stale.read(Facts(REPO, "shop", Path("/none"), data, gate))


def test_a_fresh_stamp_passes(answer: Any) -> None:
    answer(None)
    assert look("review").values == {"verificationStale": False} and look("review").pause is None


@pytest.mark.parametrize(("gate", "pauses"), [("plan", False), ("uiux", False), ("review", True)])
def test_a_stale_stamp_is_told_everywhere_and_pauses_the_review(answer: Any, gate: str, pauses: bool) -> None:
    answer("the code changed")
    reading = look(gate)
    assert reading.values == {"verificationStale": True, "verificationStaleReason": "the code changed"}
    assert bool(reading.pause) is pauses


@pytest.mark.parametrize("error", [Refusal("x", "git is gone"), OSError("disk"), KeyError("head")])
def test_what_cannot_be_told_is_not_verified(answer: Any, error: Exception) -> None:
    answer(error)
    reading = look("review")
    assert reading.values["verificationStale"] is None and reading.values["verificationStaleReason"]
    assert "not verified" in reading.pause
    assert look("plan").pause is None


def test_no_stamp_is_no_question(answer: Any) -> None:
    answer(OSError("never asked"))
    assert look("review", {}).values == {"verificationStale": None}
