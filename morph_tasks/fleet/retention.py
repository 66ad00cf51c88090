"""Which backups may go: of each namespace the newest stay, and what they hold of credentials goes after some days.

A setting that cannot be read skips the pruning: whoever wrote it may have meant that everything stays. What has no
manifest was written by an older tool and is never touched here.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.features.store import now
from morph_tasks.fleet import backups
from morph_tasks.fleet.backups import Backup
from morph_tasks.fleet.deletion import delete
from morph_tasks.fleet.lock import fleet_lock
from morph_tasks.fleet.triage import is_secret
from morph_tasks.fleet.walking import walk
from morph_tasks.repo.files import parse_json, read_file, write_json
from morph_tasks.repo.trees import primary_root

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from morph_tasks.repo.git import Repo

    Loader = Callable[[], Mapping[str, Any]]

NAMESPACES = ("", backups.TASKS)
_COUNT, _AGE, _SECRETS = "maxCount", "maxAgeDays", "secretMaxAgeDays"
_DEFAULT = {_COUNT: 20, _AGE: None, _SECRETS: 7}
_SAMPLE = 5
_ABSENT = object()


@dataclass(frozen=True)
class Rules:
    """What stays. Ages are in days; `max_age` None: age does not matter."""

    max_count: int
    max_age: int | None
    secret_max_age: int


class _Unreadable(Exception):
    """A setting that is not one: nothing is pruned."""


@dataclass
class _Report:
    removed: list[str] = field(default_factory=list)
    stripped: int = 0
    declined: list[dict[str, str]] = field(default_factory=list)
    legacy: int = 0

    def as_json(self, top: Path) -> dict[str, Any] | None:
        """Return only what there is to tell."""
        told: dict[str, Any] = {}
        if self.removed:
            told |= {"removed": len(self.removed), "removedSample": self.removed[:_SAMPLE]}
        if self.stripped:
            told["secretsStripped"] = self.stripped
        if self.declined:
            told |= {"declined": len(self.declined), "declinedSample": self.declined[:_SAMPLE]}
        if self.legacy:
            told |= {"legacyPending": self.legacy, "legacyHint": _legacy_hint(self.legacy, top)}
        return told or None


def settings_of(repo: Repo) -> Loader:
    """Return what reads the configuration of the main tree; it raises Refusal when that cannot be parsed."""

    def load() -> Mapping[str, Any]:
        from morph_tasks.model.load import CONFIG_PATH

        try:
            data = parse_json(read_file(primary_root(repo) / CONFIG_PATH), Path(CONFIG_PATH), unique=True)
        except FileNotFoundError:
            return {}
        if not isinstance(data, dict):
            raise Refusal("invalid-config", f"{CONFIG_PATH} is not an object", fix=f"correct {CONFIG_PATH}")
        return data

    return load


def prune(
    repo: Repo, config_loader: Loader | None = None, *, protect: str | Collection[str] = ()
) -> dict[str, Any] | None:
    """Prune all namespaces; return the key `backupRetention`, None when there is nothing to tell. Raises nothing.

    `config_loader` returns the configuration as it is on disk; `protect`: the stamps of the run that asks.
    """
    stamps = {protect} if isinstance(protect, str) else set(protect)
    try:
        rules = _rules(config_loader or settings_of(repo))
        if rules is None:
            return None
        with fleet_lock(repo):
            report = _Report()
            for namespace in NAMESPACES:
                _prune_one(repo, namespace, rules, stamps, report)
        return report.as_json(backups.root_of(repo))
    except _Unreadable as error:
        return {"skipped": str(error)}
    except (Refusal, OSError, ValueError, OverflowError) as error:
        return {"skipped": f"the pruning failed: {error}"}


def forecast(repo: Repo, config_loader: Loader | None = None, *, coming: str | None = None) -> dict[str, Any] | None:
    """Return what `prune` would do now; deletes nothing. `coming`: the namespace of a backup that is yet to be made."""
    try:
        rules = _rules(config_loader or settings_of(repo))
        if rules is None:
            return None
        outside, overdue, legacy = 0, 0, 0
        for namespace in NAMESPACES:
            groups, old = _groups(repo, namespace)
            judged = _judge(groups, rules, set(), slots=rules.max_count - (coming == namespace))
            outside += sum(not stays for _, stays in judged)
            overdue += sum(_overdue(group, rules) and bool(_secrets_of(group)) for group, stays in judged if stays)
            legacy += old
    except _Unreadable as error:
        return {"skipped": str(error)}
    except (Refusal, OSError, ValueError, OverflowError) as error:
        return {"skipped": f"it could not be looked at: {error}"}
    told = {"outsideRetention": outside, "overdueSecrets": overdue, "legacyPending": legacy}
    return {key: count for key, count in told.items() if count} or None


def resolve(data: Mapping[str, Any]) -> Rules | None:
    """Return the rules that a configuration sets; None where pruning is off. Raises ValueError with the reason."""
    block = data.get("finishBackup", _ABSENT)
    if block is _ABSENT:
        return _checked({})
    if not isinstance(block, dict):
        raise ValueError("finishBackup is not an object")
    odd = sorted(set(block) - {"retention"})
    if odd:
        raise ValueError(f"finishBackup has a key that is not known: {odd[0]}")
    said = block.get("retention", _ABSENT)
    if said is False:
        return None
    if said is _ABSENT:
        return _checked({})
    if not isinstance(said, dict):
        raise ValueError("finishBackup.retention is neither an object nor false")
    return _checked(said)


def _rules(loader: Loader) -> Rules | None:
    try:
        return resolve(loader())
    except Refusal as refusal:
        raise _Unreadable(f"the configuration cannot be read: {refusal.what}") from refusal
    except ValueError as error:
        raise _Unreadable(str(error)) from error


def _checked(said: Mapping[str, Any]) -> Rules:
    odd = sorted(set(said) - set(_DEFAULT))
    if odd:
        raise ValueError(f"finishBackup.retention has a key that is not known: {odd[0]}")
    for key, value in said.items():
        whole = isinstance(value, int) and not isinstance(value, bool) and value >= 1
        if not whole and not (key == _AGE and value is None):
            raise ValueError(f"finishBackup.retention.{key} is not a whole number of at least 1")
    found = {**_DEFAULT, **said}
    return Rules(found[_COUNT], found[_AGE], found[_SECRETS])


def _groups(repo: Repo, namespace: str) -> tuple[list[list[Backup]], int]:
    """Return the backups that can be judged, those of one run together, the newest first; and how many are legacy."""
    groups: dict[tuple[str, str], list[Backup]] = {}
    legacy = 0
    for backup in backups.manifests(repo, namespace):
        if backup.manifest is None or backup.at is None:
            legacy += backup.manifest is None
        else:
            groups.setdefault((backup.stamp, backup.name), []).append(backup)
    return [groups[key] for key in sorted(groups, reverse=True)], legacy


def _judge(
    groups: list[list[Backup]], rules: Rules, protect: set[str], *, slots: int | None = None
) -> list[tuple[list[Backup], bool]]:
    """Tell for each backup whether it stays. One of the future stays and takes no place among the newest."""
    judged, left = [], rules.max_count if slots is None else slots
    for group in groups:
        age = _age(group)
        if age < timedelta(0):
            judged.append((group, True))
            continue
        stays = left > 0 and not (rules.max_age is not None and age > _days(rules.max_age))
        left -= 1
        judged.append((group, stays or group[0].stamp in protect))
    return judged


def _prune_one(repo: Repo, namespace: str, rules: Rules, protect: set[str], report: _Report) -> None:
    if any(path.is_symlink() for path in (backups.root_of(repo), backups.root_of(repo, namespace))):
        return
    backups.sweep(backups.root_of(repo, namespace))
    groups, legacy = _groups(repo, namespace)
    report.legacy += legacy
    for group, stays in _judge(groups, rules, protect):
        why = None if stays else next((why for one in group if (why := _forbidden(one))), None)
        if why:
            report.declined.append({"backup": group[0].path.name, "reason": why})
        if not stays and why is None:
            try:
                for backup in group:
                    _remove(backup)
                report.removed.append(group[0].path.name)
            except OSError as error:
                report.declined.append({"backup": group[0].path.name, "reason": str(error.strerror or error)})
        elif why or _overdue(group, rules):
            # What is kept against the rules loses at least its credentials.
            report.stripped += sum(_strip(backup) for backup in group)


def _forbidden(backup: Backup) -> str | None:
    """Return why a backup is not deleted although it may go."""
    try:
        backups.read_manifest(backup.path)
    except (Refusal, FileNotFoundError):
        return "its manifest cannot be read"
    for entry in walk(backup.path):
        if entry.is_symlink():
            return "there is a link in it"
        if not (entry.is_dir(follow_symlinks=False) or entry.is_file(follow_symlinks=False)):
            return "there is something in it that is no file"
    return None


def _remove(backup: Backup) -> None:
    """Delete a backup and its manifest; a kill in between leaves something that `sweep` knows."""
    trash = backup.path.with_name(f"{backups.TRASH}{backup.path.name}")
    os.rename(backup.path, trash)
    os.unlink(backups.manifest_of(backup.path))
    delete(trash)


def _strip(backup: Backup) -> int:
    """Delete the credentials files of a backup, note it in the manifest, return how many went."""
    try:
        told = backups.read_manifest(backup.path)
    except (Refusal, FileNotFoundError):
        return 0  # without it nobody would learn what was there
    if told.get("secretsStrippedAt"):
        return 0
    gone = 0
    for path in _secrets_in(backup):
        with suppress(OSError):
            os.unlink(path)
            gone += 1
    if (gone or told.get("secrets")) and not _secrets_in(backup):
        write_json(backups.manifest_of(backup.path), {**told, "secretsStrippedAt": now()}, mode=0o600)
    return gone


def _secrets_of(group: list[Backup]) -> list[Path]:
    return [path for backup in group for path in _secrets_in(backup)]


def _secrets_in(backup: Backup) -> list[Path]:
    """Return the credentials files of a backup, and links that are called like one."""
    found = [entry for entry in walk(backup.path) if is_secret(entry.name)]
    return [Path(entry.path) for entry in found if not entry.is_dir(follow_symlinks=False)]


def _overdue(group: list[Backup], rules: Rules) -> bool:
    return _age(group) > _days(rules.secret_max_age)


def _age(group: list[Backup]) -> timedelta:
    at = group[0].at
    return datetime.now(UTC) - at if at else timedelta(0)


def _days(count: int) -> timedelta:
    return timedelta(days=min(count, 999_999))


def _legacy_hint(count: int, top: Path) -> str:
    many = "1 backup has" if count == 1 else f"{count} backups have"
    return f"{many} no manifest, so an older version made them; they are never pruned: look at them in {top}"
