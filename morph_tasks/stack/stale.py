"""A volume that was initialised with other credentials: everything is healthy, and nobody can sign in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from morph_tasks.errors import Refusal
from morph_tasks.proc import ProcError
from morph_tasks.stack import engine
from morph_tasks.stack.logs import log_of
from morph_tasks.stack.model import Container
from morph_tasks.stack.sample import moment

# What databases say to a client with the wrong credentials, and about data of another version.
_REFUSED = re.compile(
    r"password authentication failed|Access denied for user|\bWRONGPASS\b|NOAUTH Authentication|"
    r"invalid username-password pair|Authentication failed|AuthenticationFailed|SCRAM authentication failed|"
    r"Login failed for user|role \"[^\"]*\" does not exist|no pg_hba\.conf entry|ACCESS_REFUSED",
    re.IGNORECASE,
)
_KEPT_DATA = re.compile(r"Skipping initialization|appears to contain a database", re.IGNORECASE)
_OTHER_VERSION = re.compile(
    r"database files are incompatible with server|was initialized by PostgreSQL version|"
    r"different version of MySQL|Cannot (?:up|down)grade|Invalid featureCompatibilityVersion",
    re.IGNORECASE,
)
# A volume made with its container is at most this much older.
_TOGETHER_S = 5.0


def suspects(project: str, containers: Sequence[Container], resolved: Mapping[str, Any]) -> list[str]:
    """Return the volumes of this project that were there before the containers that use them, by name."""
    about = {str(one.get("Name")): one for one in _volumes(project)}
    uses = _uses(resolved, project)
    found = []
    for name, services in uses.items():
        created = moment(str((about.get(name) or {}).get("CreatedAt", "")))
        began = [one.started for one in containers if one.service in services and one.started is not None]
        if created is not None and began and min(began) - created > _TOGETHER_S:
            found.append(name)
    return sorted(found)


def likely_cause(
    feature: str, project: str, containers: Sequence[Container], resolved: Mapping[str, Any], said: Iterable[str] = ()
) -> str | None:
    """Say that a kept volume is the likely cause of refused credentials; None when nothing points to it.

    `said` are further lines, such as the output of failed specs. No value of a credential is in the answer.
    """
    lines = [*said, *(line for one in containers for line in log_of(one))]

    def found(pattern: re.Pattern[str]) -> bool:
        return any(pattern.search(line) for line in lines)

    older = suspects(project, containers, resolved)
    named = ", ".join(f"volume {name}" for name in older or sorted(_uses(resolved, project))) or "a kept volume"
    anew = f"`morph-spec e2e up {feature} --fresh` removes it and begins anew"
    if found(_OTHER_VERSION):
        return f"{named} predates this configuration: its data was made by another version of the database; {anew}"
    if not found(_REFUSED) or not (older or found(_KEPT_DATA)):
        return None
    return (
        f"{named} predates this configuration: its data was initialised with other credentials, and a changed password "
        f"does not reach it; {anew}"
    )


def _uses(resolved: Mapping[str, Any], project: str) -> dict[str, set[str]]:
    """Return which services use which named volume, external ones left out: they are not ours to judge."""
    declared = resolved.get("volumes") or {}
    found: dict[str, set[str]] = {}
    for service, about in (resolved.get("services") or {}).items():
        for mount in about.get("volumes") or []:
            source = mount.get("source")
            entry = declared.get(source) if source else None
            if mount.get("type") == "volume" and source in declared and not (entry or {}).get("external"):
                found.setdefault(str((entry or {}).get("name") or f"{project}_{source}"), set()).add(service)
    return found


def _volumes(project: str) -> list[dict[str, Any]]:
    with suppress(Refusal, ProcError, engine.EngineError):
        if engine.socket_path() is None:
            from morph_tasks.stack.remote import list_by_command

            return list_by_command("volume", project)
        return engine.volumes(project)
    return []


def volume_ages(project: str) -> dict[str, float | None]:
    """Return when each volume of a project was made, in seconds of the epoch; None where the engine does not say."""
    return {str(one.get("Name")): moment(str(one.get("CreatedAt") or "")) for one in _volumes(project)}


def volume_names(project: str) -> list[str]:
    """Return the names of the volumes of a project; empty when nobody can tell."""
    return sorted(str(one.get("Name")) for one in _volumes(project))
