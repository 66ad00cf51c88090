"""The files of one slice: those its plan names, and those it really changed."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

_STATUS = ("--no-optional-locks", "status", "--porcelain=v2", "-z", "-uall", "--no-renames", "--ignore-submodules=none")
_DIFF = ("diff-tree", "-r", "-z", "--no-renames", "--name-status", "--ignore-submodules=none")
_MOST_NAMED = 20


@dataclass(frozen=True)
class SliceFiles:
    """What a slice is about, relative to the root, spelled as on disk, sorted.

    `missing` are planned paths that are not there, `deleted` those that git knows to be gone. `unknown` says why the
    commits of this branch cannot be told; then no list is complete.
    """

    slice_id: str
    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    planned: tuple[str, ...] = ()
    unknown: str | None = None

    @property
    def empty(self) -> bool:
        """Tell whether nothing of the slice is there yet."""
        return not (self.files or self.folders or self.deleted)


def require_slice(root: Path, feature: str, slice_id: str) -> tuple[dict[str, tuple[str, ...]], str]:
    """Return the files that each slice of a plan names, and the id that was meant; raises as `slice_files` does."""
    slices, wanted = planned_files(root, feature), slice_id.strip()
    if wanted not in slices:
        raise _not_found(feature, wanted, list(slices))
    return slices, wanted


def slice_files(repo: Repo, feature: str, slice_id: str) -> SliceFiles:
    """Return what a slice is about, by its plan and by git (a constant number of processes).

    Raises Refusal `plan-missing`, `slice-not-found` (exit 2), `plan-invalid`, and what reading a plan or git raises.
    """
    slices, wanted = require_slice(repo.root, feature, slice_id)
    planned = [path for path in slices[wanted] if not _is_ours(path)]
    others = {path for one, paths in slices.items() if one != wanted for path in paths}
    light = repo.lightly()
    head, uncommitted = _uncommitted(light)
    committed, unknown = _committed(light, head)
    taken = {_same(path) for path in others} - {_same(path) for path in planned}
    changed = uncommitted | {path for path in committed if not _within(path, taken)}
    return _sorted_out(repo.root, wanted, planned, changed, unknown)


def planned_files(root: Path, feature: str) -> dict[str, tuple[str, ...]]:
    """Return the files of every slice of a plan, from `checks.json` when it belongs to the plan as it is now.

    Raises Refusal `plan-missing` (exit 2), `plan-invalid`, and what reading a plan raises.
    """
    from morph_tasks.plan.service import plan_state, read_report

    if plan_state(root, feature) == "fresh":
        checked = _checked(root, feature)
        if checked is not None:
            return checked
    report = read_report(root, feature)
    if not report.ok:
        first = report.errors[0]
        more = f" and {len(report.errors) - 1} more" if len(report.errors) > 1 else ""
        raise Refusal(
            "plan-invalid",
            f"the plan of {feature!r} has errors: line {first.place.line}: {first.message}{more}",
            fix=f"morph-spec plan-check {feature}",
            feature=feature,
            errors=[error.as_json() for error in report.errors],
        )
    return {one.id: one.files for one in report.plan.slices}


def _checked(root: Path, feature: str) -> dict[str, tuple[str, ...]] | None:
    """Return the files by slice that `checks.json` holds; None when it does not hold them in their form."""
    from morph_tasks.features.store import feature_dir
    from morph_tasks.plan.service import CHECKS
    from morph_tasks.repo.files import read_json

    try:
        data = read_json(feature_dir(root, feature) / CHECKS)
    except (OSError, Refusal):
        return None
    slices = data.get("slices") if isinstance(data, dict) else None
    if not isinstance(slices, list) or not all(_is_slice(one) for one in slices):
        return None
    return {one["id"]: tuple(one["files"]) for one in slices}


def _is_slice(one: Any) -> bool:
    if not isinstance(one, dict) or not isinstance(one.get("id"), str):
        return False
    files = one.get("files")
    return isinstance(files, list) and all(isinstance(path, str) for path in files)


def _not_found(feature: str, wanted: str, known: list[str]) -> Refusal:
    shown = ", ".join(known[:_MOST_NAMED]) + (" …" if len(known) > _MOST_NAMED else "")
    near = next((one for one in known if one.casefold() == wanted.casefold()), known[0] if known else "")
    return Refusal(
        "slice-not-found",
        f"the plan of {feature!r} has no slice {wanted[:60]!r}; it has {shown or 'none'}",
        fix=f"morph-spec verify {feature} {near}".rstrip(),
        exit_code=2,
        feature=feature,
        slice=wanted[:60],
        slices=known,
    )


def _uncommitted(repo: Repo) -> tuple[str | None, set[str]]:
    from morph_tasks.repo.status import read_status

    head, changes = read_status(repo.git(*_STATUS, "--branch").split(b"\0"))
    return head, {os.fsdecode(path) for path in changes}


def _committed(repo: Repo, head: str | None) -> tuple[set[str], str | None]:
    """Return what the commits of this branch changed in the end, and why that cannot be told."""
    from morph_tasks.repo.byproducts import is_content
    from morph_tasks.verify.validators.base import find_base

    if head is None:
        return set(), None
    base = find_base(repo)
    if base.tree is None:
        return set(), base.why
    fields = repo.git(*_DIFF, base.tree, head).split(b"\0")
    return {os.fsdecode(path) for path in fields[1::2] if path and is_content(path, True)}, None


def _sorted_out(
    root: Path, slice_id: str, planned: Iterable[str], changed: Iterable[str], unknown: str | None
) -> SliceFiles:
    files, folders, missing, deleted = set[str](), set[str](), set[str](), set[str]()
    look = lru_cache(maxsize=None)(_names)
    for path in planned:
        found = spelled(root, path, look)
        if found is None:
            missing.add(path)
        else:
            (folders if os.path.isdir(root / found) else files).add(found)
    for path in changed:
        if os.path.isdir(root / path):
            folders.add(path)
        elif os.path.lexists(root / path):
            files.add(path)
        else:
            deleted.add(path)
    return SliceFiles(
        slice_id,
        files=tuple(sorted(files)),
        folders=tuple(sorted(folders)),
        missing=tuple(sorted(missing - deleted)),
        deleted=tuple(sorted(deleted)),
        planned=tuple(planned),
        unknown=unknown,
    )


def spelled(root: Path, path: str, look: Any = None) -> str | None:
    """Return a path in the spelling of the disk; None when nothing there has that name.

    Only case and the form of accents come from the disk: a path over a link stays as written. A name that two entries
    answer to belongs to neither.
    """
    folder, steps = root, []
    for step in path.split("/"):
        if step in ("", "."):
            continue
        names: Mapping[str, tuple[str, ...]] = (look or _names)(folder)
        answers = names.get(_same(step), ())
        if step in answers:
            found = step
        elif len(answers) == 1:
            found = answers[0]
        else:
            return None
        steps.append(found)
        folder = folder / found
    return "/".join(steps) or None


def _names(folder: Path) -> dict[str, tuple[str, ...]]:
    """Return the entries of a folder by what their names have in common."""
    found: dict[str, tuple[str, ...]] = {}
    try:
        names = os.listdir(folder)
    except OSError:
        return found
    for name in sorted(names):
        key = _same(name)
        found[key] = (*found.get(key, ()), name)
    return found


def _same(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold()


def _within(path: str, taken: set[str]) -> bool:
    """Tell whether a path, or a folder around it, is one of those that others have taken."""
    key = _same(path)
    while key:
        if key in taken:
            return True
        key = key.rpartition("/")[0]
    return False


def _is_ours(path: str) -> bool:
    return path == ".morph" or path.startswith(".morph/")
