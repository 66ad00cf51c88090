"""`plan-check` on disk: reads the plan of a feature, honours its approval, writes `checks.json`."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from morph_tasks.errors import Refusal
from morph_tasks.features.store import feature_dir, read_feature
from morph_tasks.repo.files import confined, read_json, to_json, write_json

if TYPE_CHECKING:
    from morph_tasks.plan.check import Report

LARGEST = 1 << 20
PLAN = "2-plan/plan.md"
CHECKS = "2-plan/checks.json"

State = Literal["fresh", "missing", "stale", "unreadable"]


def plan_check(root: Path, feature: str, *, accept: bool = False) -> Report:
    """Check the plan of a feature and, when it has no error, write its `checks.json`.

    The base that the plan was written against stays as long as the plan does; `accept` takes what the tree holds now.
    Raises Refusal `feature-not-found`, `plan-missing` (exit 2), `frozen`, `plan-too-large`, `plan-too-deep`,
    `plan-unreadable`, `path-outside-tree`, `corrupt-file`, `invalid-agents`.
    """
    report = read_report(root, feature)
    _refuse_frozen(root, feature, report.hash)
    if report.ok:
        from morph_tasks.plan.checks_file import carried, checks_of, hash_in

        path = confined(root, str(feature_dir(root, feature) / CHECKS))
        before, made = read_checks(root, feature), checks_of(report)
        if accept or hash_in(before) != report.hash:
            from morph_tasks.plan.base import base_of_tree

            base = base_of_tree(root)
            made["plan"]["base"] = base.as_json() if base else None
        _write(path, carried(before, made))
    return report


def read_checks(root: Path, feature: str) -> Any:
    """Return the parsed `checks.json` of a feature; None when there is none that can be read."""
    try:
        return read_json(confined(root, str(feature_dir(root, feature) / CHECKS)))
    except (OSError, Refusal):
        return None


def read_report(root: Path, feature: str) -> Report:
    """Check the plan of a feature and write nothing; raises what `plan_check` raises but `frozen`."""
    from morph_tasks.plan.agents import read_agents
    from morph_tasks.plan.check import check_plan
    from morph_tasks.plan.record import read_index

    text = read_plan(root, feature)
    return check_plan(text, read_agents(root), read_index(root), lambda path: _leads_out(root, path))


def read_plan(root: Path, feature: str) -> str:
    """Return the text of a plan; raises Refusal as `plan_check` does."""
    folder = feature_dir(root, feature)
    _require_folder(root, feature, folder)
    path = confined(root, str(folder / PLAN))
    shown = f"{folder.relative_to(root)}/{PLAN}"
    try:
        kind = os.stat(path).st_mode
        if not stat.S_ISREG(kind):
            raise _unreadable(shown, "is a folder" if stat.S_ISDIR(kind) else "is no ordinary file")
        with open(path, "rb") as file:
            data = file.read(LARGEST + 1)
    except (FileNotFoundError, NotADirectoryError):
        raise _missing(feature, shown) from None
    except OSError as error:
        raise _unreadable(shown, f"cannot be read: {error.strerror}") from error
    return decoded(data, shown)


def plan_state(root: Path, feature: str) -> State:
    """Tell whether `checks.json` belongs to the plan as it is now. Never raises for what is on disk.

    `missing`: one of the two files is not there. `unreadable`: one of them cannot be read or tells no hash.
    """
    from morph_tasks.plan.checks_file import hash_in
    from morph_tasks.plan.hashing import plan_hash

    try:
        made_from = hash_in(read_json(confined(root, str(feature_dir(root, feature) / CHECKS))))
        if made_from is None:
            return "unreadable"
        return "fresh" if plan_hash(read_plan(root, feature)) == made_from else "stale"
    except (FileNotFoundError, NotADirectoryError):
        return "missing"
    except OSError:
        return "unreadable"
    except Refusal as refusal:
        return "missing" if refusal.code in ("plan-missing", "feature-not-found") else "unreadable"


def _require_folder(root: Path, feature: str, folder: Path) -> None:
    try:
        if not folder.is_dir():
            read_feature(root, feature)  # refuses, and knows what to say
    except OSError:  # a name too long for the file system
        what = f"there is no feature {feature[:60]!r} in this tree"
        raise Refusal("feature-not-found", what, fix="morph-spec list", exit_code=2) from None


def decoded(data: bytes, shown: str) -> str:
    """Return the bytes of a plan as text; raises Refusal `plan-too-large`, `plan-unreadable`."""
    if len(data) > LARGEST:
        raise Refusal(
            "plan-too-large",
            f"{shown} is larger than {LARGEST >> 10} KiB",
            fix="part the feature, or keep attachments in files of their own",
        )
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _unreadable(shown, f"is not UTF-8 text (line {line}, byte {error.start + 1})") from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise _unreadable(shown, f"holds a NUL byte (line {line}): it is no text, or UTF-16")
    return text


def _refuse_frozen(root: Path, feature: str, found: str) -> None:
    """Raise Refusal `frozen` when the plan is approved and is no longer what was approved."""
    approved = _approved_hash(root, feature)
    if approved is None or approved == found:
        return
    what = f"the plan of {feature!r} is approved and has changed outside its errata"
    raise Refusal(
        "frozen",
        what,
        fix=f"morph-spec unapprove {feature} plan, then plan-check and the gate again; or write it under `## Errata`",
        hash=found,
        planHash=approved,
        **_as_errors("frozen", what),
    )


def _approved_hash(root: Path, feature: str) -> str | None:
    stored = approval_of(root, feature).get("planHash")
    return stored if isinstance(stored, str) and stored else None


def approval_of(root: Path, feature: str) -> dict[str, Any]:
    """Return the record of the approval of a plan; empty when it is not approved, or there is no record."""
    try:
        data = read_json(confined(root, str(feature_dir(root, feature) / "feature.json")))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    gates = data.get("approvalGates") if isinstance(data, dict) else None
    gate = gates.get("plan") if isinstance(gates, dict) else None
    return gate if isinstance(gate, dict) and gate.get("approved") is True else {}


def _leads_out(root: Path, path: str) -> bool:
    try:
        confined(root, path)
    except Refusal:
        return True
    except (OSError, ValueError):  # a loop of links, or no path at all
        return False
    return False


def _write(path: Path, checks: dict[str, Any]) -> None:
    """Write the file unless it says the same already."""
    try:
        if path.read_bytes() == to_json(checks):
            return
    except OSError:
        pass  # not there: written below, and a better error comes from there
    write_json(path, checks)


def _missing(feature: str, shown: str) -> Refusal:
    what = f"there is no {shown}"
    return Refusal(
        "plan-missing",
        what,
        fix=f"write {shown}; `morph-spec plan-check --help` shows its form",
        exit_code=2,
        feature=feature,
        **_as_errors("plan-missing", what),
    )


def _unreadable(shown: str, why: str) -> Refusal:
    return Refusal("plan-unreadable", f"{shown} {why}", fix="save the plan as a UTF-8 text file at that place")


def _as_errors(code: str, what: str) -> dict[str, Any]:
    """Return the keys that a report has too, so that a reader of `errors` finds a refusal there."""
    return {"errors": [{"code": code, "line": 1, "column": 1, "message": what}], "warnings": [], "waves": []}
