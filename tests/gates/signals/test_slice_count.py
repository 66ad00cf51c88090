from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.gates.signals.base import Facts
from morph_tasks.gates.signals.slice_count import read
from morph_tasks.repo.git import Repo

REPO = Repo(Path("/none"), Path("/none/.git"), Path("/none/.git"))


def look(folder: Path, checks: Any, gate: str = "plan", data: Any = None) -> Any:
    (folder / "2-plan").mkdir()
    if checks is not None:
        text = checks if isinstance(checks, str) else json.dumps(checks)
        (folder / "2-plan" / "checks.json").write_text(text)
    return read(Facts(REPO, "shop", folder, data or {}, gate))


@pytest.mark.parametrize(("count", "pauses"), [(0, False), (12, False), (13, True)])
def test_the_threshold(tmp_path: Path, count: int, pauses: bool) -> None:
    reading = look(tmp_path, {"slices": [{}] * count})
    assert reading.values == {"sliceCount": count} and bool(reading.pause) is pauses


@pytest.mark.parametrize("gate", ["uiux", "review"])
def test_later_gates_only_record_it(tmp_path: Path, gate: str) -> None:
    reading = look(tmp_path, {"slices": [{}] * 13}, gate)
    assert reading.values == {"sliceCount": 13} and reading.pause is None


@pytest.mark.parametrize("checks", [None, "{", [], {}, {"slices": 3}])
def test_what_cannot_be_counted_is_not_zero(tmp_path: Path, checks: Any) -> None:
    assert look(tmp_path, checks).values == {"sliceCount": None}
