"""All work trees of a repository: what each is for and how it stands."""

from __future__ import annotations

import os
import shlex
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.features.shape import GATES
from morph_tasks.features.store import FEATURES
from morph_tasks.fleet.layout import is_ours, primary_of
from morph_tasks.fleet.statuses import uncommitted
from morph_tasks.model.load import load_config
from morph_tasks.repo.git import open_repo
from morph_tasks.repo.trees import TASK, TASK_BRANCH, checked_out, feature_of, same_place

if TYPE_CHECKING:
    from morph_tasks.features.view import FeatureView
    from morph_tasks.repo.git import Repo


@dataclass(frozen=True)
class Row:
    """One work tree. `kind`: root, feature, task or other; `dirty`: None when git could not be asked.

    `locked`, `prunable`: the reason, maybe empty; None for no.
    """

    path: Path
    branch: str | None
    kind: str
    key: str | None
    view: FeatureView | None
    dirty: bool | None
    locked: str | None
    prunable: str | None
    in_container: bool

    def as_json(self) -> dict[str, Any]:
        """Return one entry of `worktree list --json`."""
        view = self.view
        said: dict[str, Any] = {"path": str(self.path), "branch": self.branch, "kind": self.kind, "key": self.key}
        said |= {"feature": view.slug if view else None, "phase": view.phase if view else None}
        said |= {"gates": view.gates if view else None, "dirty": self.dirty, "locked": self.locked}
        return said | {"prunable": self.prunable, "inContainer": self.in_container}


def inventory(repo: Repo) -> list[Row]:
    """Return every work tree that git knows, the main one first; writes nothing."""
    primary = primary_of(repo)
    config = load_config(primary)
    trees = [tree for tree in primary.worktrees() if not tree.bare]
    # A tree in the middle of a rebase is still on its branch; git calls it detached.
    branches = {os.path.realpath(path): branch for path, branch in checked_out(primary)}
    changes = uncommitted(tree.path for tree in trees if not tree.prunable and (tree.path / ".git").exists())
    rows = []
    for tree in trees:
        branch = tree.branch or branches.get(os.path.realpath(tree.path))
        kind, key = _kind(primary, tree.path, branch)
        ours = is_ours(primary, config, tree.path)
        prunable = tree.why_prunable if tree.prunable else None
        view = _view(tree.path, key) if key and not key.startswith(TASK) else None
        changed = changes.get(tree.path)
        dirty = bool(changed.count) if changed else None
        rows.append(Row(tree.path, branch, kind, key, view, dirty, tree.locked, prunable, ours))
    return rows


def relink(repo: Repo, wanted: str | None, *, every: bool) -> list[dict[str, Any]]:
    """Link one tree, or all, again; return a row for each. Raises Refusal `no-worktree`, `feature-not-named` (2)."""
    from morph_tasks.fleet.lock import fleet_lock
    from morph_tasks.fleet.setup import link

    primary = primary_of(repo)
    with fleet_lock(primary):
        known = {key: path for path, key in _keyed(primary)}
        if every:
            chosen = known
        else:
            key = _meant(wanted, known) or next(
                (key for key, path in known.items() if same_place(path, repo.root)), None
            )
            if key is None:
                what = "this tree belongs to no feature and no task"
                raise Refusal("feature-not-named", what, fix="morph-spec worktree link --all", exit_code=2)
            if key not in known:
                verb, name = ("provision" if key.startswith(TASK) else "setup"), shlex.quote(key.removeprefix(TASK))
                what, fix = f"{key!r} has no work tree", f"morph-spec worktree {verb} {name}"
                raise Refusal("no-worktree", what, fix=fix, feature=key)
            chosen = {key: known[key]}
        return [_relinked(primary, key, path, link) for key, path in chosen.items()]


def _meant(wanted: str | None, known: Container[str]) -> str | None:
    """Return the key that a name stands for: a feature's, or else that of a task, as `worktree remove` takes it."""
    return f"{TASK}{wanted}" if wanted and wanted not in known and f"{TASK}{wanted}" in known else wanted


def table(rows: list[Row]) -> str:
    """Return the rows for people."""
    cells = [[row.key or row.kind, row.branch or "(detached)", _state(row), _gates(row), str(row.path)] for row in rows]
    widths = [max(len(line[column]) for line in cells) for column in range(5)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells)
    return "\n".join(f"{line}{_marks(row)}" for line, row in zip(lines, rows, strict=True))


def _relinked(primary: Repo, key: str, path: Path, link: Any) -> dict[str, Any]:
    said: dict[str, Any] = {"key": key, "path": str(path)}
    try:
        linked, env = link(primary, open_repo(path).lightly(), key)
    except Refusal as refusal:
        failed = {"ok": False, "code": refusal.code, "message": refusal.what, "fix": refusal.fix}
        return said | failed | {"links": {"made": [], "kept": [], "skipped": []}, "ports": None, "warnings": []}
    said |= {"ok": True, "links": linked.as_json(), "ports": env.values["MORPH_PORT_RANGE"]}
    return said | {"feature": env.values["MORPH_FEATURE"], "warnings": list(env.warnings)}


def _keyed(primary: Repo) -> list[tuple[Path, str]]:
    """Return the living linked trees of features and tasks, with their keys."""
    found = []
    for path, branch in checked_out(primary):
        _, key = _kind(primary, path, branch)
        if key and not same_place(path, primary.root):
            found.append((path, key))
    return found


def _kind(primary: Repo, path: Path, branch: str | None) -> tuple[str, str | None]:
    """Return what a tree is, and the feature or task it is for."""
    key = feature_of(branch)
    if branch and branch.startswith(TASK_BRANCH):
        key = TASK + branch.removeprefix(TASK_BRANCH)
    if same_place(path, primary.root) and primary.git_dir == primary.common_dir:
        return "root", key
    return ("task" if key.startswith(TASK) else "feature") if key else "other", key


def _view(path: Path, slug: str) -> FeatureView | None:
    from morph_tasks.features.view import unreadable, view_of
    from morph_tasks.repo.files import read_json

    folder = path / FEATURES / slug
    try:
        return view_of(folder, read_json(folder / "feature.json"))
    except FileNotFoundError:
        return None
    except (OSError, Refusal) as error:
        return unreadable(folder, str(error))


def _state(row: Row) -> str:
    return (row.view.phase or "unreadable") if row.view else "-"


def _gates(row: Row) -> str:
    return " ".join(f"{gate}{'✓' if row.view.gates[gate] else '·'}" for gate in GATES) if row.view else "-"


def _marks(row: Row) -> str:
    marks = ["changes"] if row.dirty else ["not verified"] if row.dirty is None else []
    marks += [f"locked: {row.locked}" if row.locked else "locked"] if row.locked is not None else []
    if row.prunable is not None:
        marks.append(f"gone: {row.prunable}; if it was moved: git worktree repair <where it is now>")
    marks += ["out of the container"] if row.kind in ("feature", "task") and not row.in_container else []
    return f"  [{'; '.join(marks)}]" if marks else ""
