"""The last words of a service, without the credentials that may be among them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from morph_tasks.errors import Refusal
from morph_tasks.stack.model import Container

LINES = 20
_LOOKED_AT = 400
_ANSWER_S = 20
_SECRET_NAME = re.compile(r"PASS|PWD|PW$|SECRET|TOKEN|KEY|CREDENTIAL|PRIVATE|DSN", re.IGNORECASE)
_INSIDE = re.compile(r"://[^/\s:@]*:([^/\s@]+)@|(?:password|pwd)=([^;\s]+)", re.IGNORECASE)
_SHORTEST = 4
_NO_SECRETS = {"true", "false", "none", "null", "trust", "disabled", "enabled", "localhost"}
_LONGEST_LINE = 500


def secrets_of(resolved: Mapping[str, Any], further: Iterable[str] = ()) -> frozenset[str]:
    """Return what must not be shown: values whose name says so, passwords inside of addresses, and `further` ones."""
    found = set(further)
    for about in (resolved.get("services") or {}).values():
        said = about.get("environment") or {}
        pairs = said.items() if isinstance(said, Mapping) else (str(one).split("=", 1) for one in said if "=" in one)
        for name, raw in pairs:
            value = str(raw or "").replace("$$", "$")
            found |= {value} if _SECRET_NAME.search(str(name)) else set()
            found |= {part for match in _INSIDE.finditer(value) for part in match.groups() if part}
    return frozenset(value for value in found if len(value) >= _SHORTEST and value.lower() not in _NO_SECRETS)


def cleaned(text: str, secrets: Iterable[str]) -> str:
    """Return a text with each of these values replaced."""
    for value in sorted(secrets, key=len, reverse=True):
        text = text.replace(value, "***")
    return text


def log_of(container: Container, *, lines: int = _LOOKED_AT) -> list[str]:
    """Return the last lines that a container wrote; empty when the engine has none."""
    from morph_tasks.proc import run

    try:
        done = run(
            ["docker", "logs", "--tail", str(lines), container.id or container.name], timeout=_ANSWER_S, ok=(0, 1)
        )
    except Refusal:
        return []
    # The two streams come apart; what failed usually says so on the second.
    text = (done.stdout + done.stderr).decode("utf-8", "replace")
    return [line.rstrip()[:_LONGEST_LINE] for line in text.splitlines() if line.strip()]


def last_words(containers: Iterable[Container], secrets: Iterable[str]) -> tuple[str, ...]:
    """Return the last lines of containers as `service | line`, at most 20 of each."""
    hidden = list(secrets)
    return tuple(
        f"{one.service} | {cleaned(line, hidden)}" for one in containers for line in log_of(one, lines=LINES)[-LINES:]
    )
