"""The two signals that only a session can see: `design_divergence` and `standards_violations`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from morph_tasks.gates.signals import design_divergence, standards_violations
from morph_tasks.gates.signals.base import Facts
from morph_tasks.repo.git import Repo

REPO = Repo(Path("/none"), Path("/none/.git"), Path("/none/.git"))


@pytest.mark.parametrize(
    ("module", "given", "values", "pauses"),
    [
        (design_divergence, {}, {}, False),
        (design_divergence, {"designSystemDivergence": False}, {"designSystemDivergence": False}, False),
        (design_divergence, {"designSystemDivergence": True}, {"designSystemDivergence": True}, True),
        (standards_violations, {}, {}, False),
        (standards_violations, {"standardsViolations": []}, {"standardsViolations": []}, False),
        (standards_violations, {"standardsViolations": ["raw sql"]}, {"standardsViolations": ["raw sql"]}, True),
    ],
)
def test_what_the_session_says(module: Any, given: Any, values: Any, pauses: bool) -> None:
    reading = module.read(Facts(REPO, "shop", Path("/none"), {}, "plan", given))
    assert reading.values == values and bool(reading.pause) is pauses
