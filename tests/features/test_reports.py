from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.features.reports import slice_reports


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "shop"
    (made / "2-plan").mkdir(parents=True)
    (made / "3-implement" / "reports").mkdir(parents=True)
    (made / "2-plan" / "checks.json").write_text(json.dumps({"slices": [{"id": "F1"}, {"id": "F10"}]}))
    return made


def report(folder: Path, name: str, text: str | bytes) -> None:
    path = folder / "3-implement" / "reports" / f"{name}.md"
    path.write_bytes(text.encode() if isinstance(text, str) else text)


def problems(folder: Path) -> dict[str, str | None]:
    return {one.slice_id: one.problem for one in slice_reports(folder)}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("# F1\n\nDone.\n", None),
        ("# F1\n\nThe PARTIAL index is used.\n", None),
        ("# F1 — partial refunds\nDone.\n", None),
        ("# F1 — IMPARTIAL judge\n", None),
        ("# F1 — PARTIAL\n", "partial"),
        ("PARCIAL: half of it\n", "partial"),
        ("\n\n  \r\nPARCIAL\r\n", "partial"),
        ("\ufeffPARCIAL\n", "partial"),
        ("", "empty"),
        (" \n\t\n", "empty"),
        (b"\xff\xfe bytes", None),
    ],
)
def test_the_first_line_tells(folder: Path, text: str | bytes, problem: str | None) -> None:
    report(folder, "F1", text)
    assert problems(folder) == {"F1": problem, "F10": "missing"}


def test_a_report_that_is_a_folder(folder: Path) -> None:
    (folder / "3-implement/reports/F1.md").mkdir()
    assert problems(folder)["F1"] == "unreadable"


def test_no_folder_at_all(folder: Path) -> None:
    (folder / "3-implement/reports").rmdir()
    assert set(problems(folder).values()) == {"missing"}


@pytest.mark.parametrize(
    "checks",
    ["{", [], {}, {"slices": []}, {"slices": [{}]}, {"slices": [{"id": "../../x"}]}, {"slices": [{"id": "F1"}, 7]}],
)
def test_checks_that_name_no_slices_prove_nothing(folder: Path, checks: Any) -> None:
    (folder / "2-plan/checks.json").write_text(checks if isinstance(checks, str) else json.dumps(checks))
    with pytest.raises(Refusal) as refused:
        slice_reports(folder)
    assert refused.value.code == "checks-unusable"


def test_checks_that_are_missing(folder: Path) -> None:
    (folder / "2-plan/checks.json").unlink()
    with pytest.raises(Refusal) as refused:
        slice_reports(folder)
    assert refused.value.code == "checks-missing" and "checks.json" in refused.value.what
