from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from morph_tasks.gates.signals.base import Facts
from morph_tasks.gates.signals.verification_status import read
from morph_tasks.repo.git import Repo

REPO = Repo(Path("/none"), Path("/none/.git"), Path("/none/.git"))


def pauses(gate: str, stamp: Any) -> bool:
    return bool(read(Facts(REPO, "shop", Path("/none"), {"verification": stamp}, gate)).pause)


@pytest.mark.parametrize("gate", ["plan", "uiux", "review"])
@pytest.mark.parametrize("status", ["fail", "flaky", "skip", "busy", "PASS", ""])
def test_only_pass_is_green(gate: str, status: str) -> None:
    assert pauses(gate, {"status": status})
    assert not pauses(gate, {"status": "pass"})


def test_no_stamp_pauses_the_review_alone() -> None:
    assert [pauses(gate, None) for gate in ("plan", "uiux", "review")] == [False, False, True]


def test_a_stamp_of_a_part_is_no_proof_of_the_whole() -> None:
    assert pauses("review", {"status": "pass", "scope": "slice:F1"})
    assert not pauses("plan", {"status": "pass", "scope": "slice:F1"})
