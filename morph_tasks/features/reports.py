"""The report that each slice of a plan owes before the work is reviewed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from morph_tasks.errors import Refusal
from morph_tasks.repo.files import read_json

REPORTS = "3-implement/reports"
_PARTIAL = re.compile(r"\b(?:PARCIAL|PARTIAL)\b")
_SLICE = re.compile(r"F[1-9][0-9]*")


@dataclass(frozen=True)
class SliceReport:
    """A slice and what is wrong with its report: None, `missing`, `empty`, `unreadable` or `partial`."""

    slice_id: str
    path: str
    problem: str | None


def slice_reports(folder: Path) -> list[SliceReport]:
    """Return the state of every slice's report; raises Refusal `checks-missing` or `checks-unusable`."""
    return [_look(folder, one) for one in slice_ids(folder)]


def slice_ids(folder: Path) -> list[str]:
    """Return the slices of `checks.json`; raises Refusal `checks-missing` or `checks-unusable`."""
    path = folder / "2-plan" / "checks.json"
    fix = f"morph-spec plan-check {folder.name}"
    try:
        checks: Any = read_json(path)
    except (FileNotFoundError, NotADirectoryError):
        raise Refusal("checks-missing", "2-plan/checks.json is missing: no slices are known", fix=fix) from None
    except Refusal as error:
        raise Refusal("checks-unusable", error.what, fix=fix) from error
    named = named_slices(checks)
    if named is None:
        raise Refusal("checks-unusable", "2-plan/checks.json does not hold a list of slices", fix=fix)
    return named


def named_slices(checks: Any) -> list[str] | None:
    """Return the slices that a parsed `checks.json` names; None when it holds no list of them."""
    slices = checks.get("slices") if isinstance(checks, dict) else None
    ids = [one.get("id") if isinstance(one, dict) else None for one in slices] if isinstance(slices, list) else []
    named = [one for one in ids if isinstance(one, str) and _SLICE.fullmatch(one)]
    # No slices is no proof that all of them are done.
    return named if named and len(named) == len(ids) else None


def _look(folder: Path, slice_id: str) -> SliceReport:
    path = f"{REPORTS}/{slice_id}.md"
    try:
        content = (folder / path).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return SliceReport(slice_id, path, "missing")
    except OSError:
        return SliceReport(slice_id, path, "unreadable")
    return SliceReport(slice_id, path, problem_in(content))


def problem_in(report: bytes) -> str | None:
    """Return what is wrong with a report: `empty`, `partial` or None."""
    text = report.decode("utf-8-sig", "replace").strip()
    if not text:
        return "empty"
    return "partial" if _PARTIAL.search(text.partition("\n")[0]) else None
