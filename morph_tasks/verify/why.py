"""Why a measurement does not hold any more. One function serves `uptodate`, `explain` and the judges."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from morph_tasks.verify.evidence import Record
from morph_tasks.verify.facts import Manifest, packages_file

Snapshot = Mapping[str, Any]
Diff = Callable[[Snapshot, Snapshot], "list[tuple[str, str]] | None"]

NEVER = "never measured"
_SHOWN = 5


def why_stale(record: Record | None, key: str, status: str | None) -> str | None:
    """Return why the newest record of a key is no proof; None when it is.

    `status` is what the judge makes of the record now: a baseline may have changed since.
    """
    if record is None:
        return NEVER
    if record.get("key") != key:
        return "measured on other inputs"
    if status != "pass":
        reason = record.get("reason")
        return f"last time it was {status}" + (f" ({reason})" if reason else "")
    return None


def changes(old: Manifest, new: Manifest, paths: list[tuple[str, str]] | None, shared: Path) -> list[str]:
    """Return what differs between two manifests, a line each.

    `paths` are the files that differ between the two trees and belong to the node; None when that cannot be told.
    """
    lines = []
    for name in (
        "command",
        "cwd",
        "runner",
        "junit",
        "outputs",
        "settings",
        "os",
        "arch",
        "scripts",
        "rules",
        "validator",
        "cache",
        "image",
    ):
        if old.get(name) != new.get(name):
            lines.append(_option(name, old.get(name), new.get(name)))
    if _globs(old) != _globs(new):
        lines.append("option inputs changed")
    elif (old.get("inputs") or {}).get("digest") != new["inputs"]["digest"]:
        lines += _files(paths)
    for name, what in (
        ("ignored", "ignored file"),
        ("locks", "lock file"),
        ("tools", "tool"),
        ("env", "variable"),
        ("needs", "output of"),
    ):
        lines += _entries(what, old.get(name) or {}, new.get(name) or {})
    for ecosystem in sorted({*(old.get("packages") or {}), *(new.get("packages") or {})}):
        before, after = (old.get("packages") or {}).get(ecosystem), (new.get("packages") or {}).get(ecosystem)
        if before != after:
            lines += _packages(ecosystem, before, after, shared)
    return lines


def _globs(manifest: Manifest) -> Any:
    return (manifest.get("inputs") or {}).get("globs")


def _option(name: str, old: Any, new: Any) -> str:
    if name == "image":
        return "where it runs changed: this machine or a container, or its image"
    if name == "cache":
        return "the recorded answers changed"
    if name == "validator":
        return "what the validator compares with changed"
    if name in ("scripts", "rules"):
        return "the way morph-spec measures changed"
    return f"option {name} changed from {old!r} to {new!r}"


def _files(paths: list[tuple[str, str]] | None) -> list[str]:
    if paths is None:
        return ["files changed (which ones cannot be told: the commit they were measured at is gone)"]
    if not paths:
        return ["the content of the files changed"]
    lines = [f"file {path} {how}" for path, how in paths[:_SHOWN]]
    return [*lines, f"and {len(paths) - _SHOWN} more files"] if len(paths) > _SHOWN else lines


def _entries(what: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    lines = []
    for name in sorted({*old, *new}):
        if old.get(name) == new.get(name):
            continue
        how = "added" if old.get(name) is None else "removed" if new.get(name) is None else "changed"
        if what == "variable":
            how = {"added": "set", "removed": "unset"}.get(how, how)
        lines.append(f"{what} {name} {how}")
    return lines


def _packages(ecosystem: str, before: str | None, after: str | None, shared: Path) -> list[str]:
    old, new = _package_lines(shared, before), _package_lines(shared, after)
    if old is None or new is None:
        return [f"packages of {ecosystem} changed"]
    lines = [f"package {_short(name)} removed" for name in sorted(old - new)]
    lines += [f"package {_short(name)} added" for name in sorted(new - old)]
    return [*lines[:_SHOWN], f"and {len(lines) - _SHOWN} more packages"] if len(lines) > _SHOWN else lines


def _package_lines(shared: Path, digest: str | None) -> set[str] | None:
    if digest is None:
        return set()
    try:
        return set(packages_file(shared, digest).read_text("utf-8", "surrogateescape").splitlines())
    except OSError:
        return None


def _short(line: str) -> str:
    return line.split(" ")[0].removesuffix(".dist-info").removesuffix(".egg-info")
