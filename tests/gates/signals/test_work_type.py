from __future__ import annotations

from pathlib import Path

import pytest

from morph_tasks.gates.signals.base import Facts
from morph_tasks.gates.signals.work_type import read
from morph_tasks.repo.git import Repo

REPO = Repo(Path("/none"), Path("/none/.git"), Path("/none/.git"))


@pytest.mark.parametrize("work_type", ["feature", "bug", "chore", "hotfix", None])
@pytest.mark.parametrize("gate", ["plan", "uiux", "review"])
def test_only_the_review_of_a_hotfix(work_type: str | None, gate: str) -> None:
    reading = read(Facts(REPO, "shop", Path("/none"), {"workType": work_type}, gate))
    assert reading.values == {"workType": work_type or "feature"}
    assert bool(reading.pause) is (work_type == "hotfix" and gate == "review")
