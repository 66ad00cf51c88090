"""Who works on which feature. A claim warns, it never stops anybody; one that was not renewed for a while is not live.

One file a repository, `<git-common-dir>/morph-spec/claims.json`, private to the user and shared by all work trees. A
session has at most one claim in a tree; several sessions may claim the same feature, and each hears of the others.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.features.store import lock_wait, now
from morph_tasks.fleet.stamps import new_stamp, read_time
from morph_tasks.repo.files import locked, read_json, write_json

if TYPE_CHECKING:
    from morph_tasks.machine.identity import Identity
    from morph_tasks.repo.git import Repo

TTL_S = 30 * 60
_KEPT_S = 7 * 24 * 3600  # one that is older is dropped at the next change
_FRESH_S = 60.0  # a heartbeat this young is not written again
_SESSION_NAMES = ("MORPH_SESSION_ID", "CLAUDE_CODE_SESSION_ID")


@dataclass(frozen=True)
class Claim:
    """One session on one feature. Times are UTC texts; `process` is that of the session where one can be told."""

    feature: str
    session: str
    tree: str
    since: str
    heartbeat: str
    process: dict[str, Any] | None = None

    def as_json(self) -> dict[str, Any]:
        """Return what is kept, and printed, of it."""
        told = {"feature": self.feature, "session": self.session, "tree": self.tree}
        return {**told, "since": self.since, "heartbeat": self.heartbeat, "process": self.process}

    @property
    def age_s(self) -> float | None:
        """Return the seconds since the last heartbeat; None when its time cannot be read."""
        beat = read_time(self.heartbeat)
        return (datetime.now(UTC) - beat).total_seconds() if beat else None

    def is_live(self) -> bool:
        """Tell whether the session is heard of and its process, as far as it is known, still runs."""
        age = self.age_s
        # A clock that was set back may have left a time ahead of now, but not for good.
        if age is None or abs(age) > TTL_S:
            return False
        if self.process is None:
            return True
        from morph_tasks.machine.identity import state

        return state(self.process) != "dead"


@dataclass(frozen=True)
class Registry:
    """All claims of a repository. `problem`: why they cannot be read; then nothing is known about anybody."""

    claims: tuple[Claim, ...] = ()
    problem: str = ""


@dataclass(frozen=True)
class Acquired:
    """What claiming did. `moved_from`: the feature this tree was on; `others`: live claims of other sessions."""

    claim: Claim
    moved_from: str | None
    others: tuple[Claim, ...]


def read(repo: Repo) -> Registry:
    """Return the claims of a repository, live or not; writes nothing."""
    try:
        data = read_json(_path(repo))
    except FileNotFoundError:
        return Registry()
    except Refusal as refusal:
        return Registry(problem=refusal.what)
    rows = data.get("claims") if isinstance(data, dict) else None
    if not isinstance(rows, list):
        return Registry(problem=f"{_path(repo)} holds no list of claims")
    return Registry(tuple(claim for claim in map(_claim, rows) if claim))


def live(repo: Repo) -> list[Claim]:
    """Return the claims of sessions that are heard of, by feature."""
    return sorted((claim for claim in read(repo).claims if claim.is_live()), key=lambda claim: claim.feature)


def of(repo: Repo, feature: str) -> list[Claim]:
    """Return the live claims on one feature."""
    return [claim for claim in live(repo) if claim.feature == feature]


def acquire(repo: Repo, feature: str) -> Acquired:
    """Claim a feature for this session in this tree, in place of what it had claimed here.

    Raises Refusal `busy` (3), `state-unwritable`, `write-failed`.
    """
    mine = _here(repo, feature)
    with _changing(repo, lock_wait.get()) as (claims, write):
        before = [claim for claim in claims if _key(claim) == _key(mine)]
        same = next((claim for claim in before if claim.feature == feature and claim.is_live()), None)
        mine = replace(mine, since=same.since) if same else mine
        write([*(claim for claim in claims if _key(claim) != _key(mine)), mine])
    moved = next((claim.feature for claim in before if claim.feature != feature and claim.is_live()), None)
    others = (claim for claim in claims if claim.feature == feature and claim.is_live() and not _is_mine(claim, mine))
    return Acquired(mine, moved, tuple(others))


def release(repo: Repo, feature: str) -> list[Claim]:
    """Take all claims on a feature back, whosever they are, and return them; raises what `acquire` raises."""
    return _drop(repo, lambda claim: claim.feature == feature)


def release_mine(repo: Repo) -> list[Claim]:
    """Take the claim of this session in this tree back; raises what `acquire` raises."""
    mine = _key(_here(repo, ""))
    return _drop(repo, lambda claim: _key(claim) == mine)


def renew(repo: Repo) -> bool:
    """Give this session's claim in this tree a new heartbeat, soon or not at all; tells whether it has one."""
    mine = _key(_here(repo, ""))
    found = next((claim for claim in read(repo).claims if _key(claim) == mine), None)
    if found is None:
        return False
    age = found.age_s
    if age is not None and 0 <= age < _FRESH_S:
        return True
    try:
        with _changing(repo, 1.0) as (claims, write):
            write([replace(claim, heartbeat=now()) if _key(claim) == mine else claim for claim in claims])
    except Refusal:
        return True
    return True


def warning(repo: Repo, feature: str) -> str | None:
    """Return what to know before a feature is ended: another session works on it. None when nobody is heard of."""
    known = read(repo)
    if known.problem:
        return f"who works on {feature!r} is not known: {known.problem}"
    mine = _here(repo, feature)
    others = [claim for claim in known.claims if claim.feature == feature and claim.is_live()]
    told = [said_of(claim) for claim in others if not _is_mine(claim, mine)]
    return f"{feature!r} is claimed by {'; '.join(told)}: ask there first" if told else None


def said_of(claim: Claim) -> str:
    """Return who has a claim, and since when, in words."""
    age = claim.age_s
    seen = "at an unknown time" if age is None else f"{max(0, int(age // 60))} min ago"
    return f"session {claim.session} in {claim.tree} (last heard of {seen})"


def session_here(repo: Repo) -> str:
    """Return the name of this session: what the agent or the user gave it, else the tree it works in."""
    given = next((os.environ[name].strip() for name in _SESSION_NAMES if os.environ.get(name, "").strip()), "")
    return given or f"tree:{os.path.realpath(repo.root)}"


def _here(repo: Repo, feature: str) -> Claim:
    moment = now()
    process = _session_process()
    told = process.as_json() if process else None
    return Claim(feature, session_here(repo), os.path.realpath(repo.root), moment, moment, told)


def _session_process() -> Identity | None:
    """Return the shell of the terminal this runs in; None without one.

    What starts commands for an agent may end with each of them, and would make its claims dead at once.
    """
    try:
        if not sys.stdin.isatty():
            return None
        leader = os.getsid(0)
    except (OSError, ValueError, AttributeError):
        return None
    from morph_tasks.machine.identity import identify

    return identify(leader) if leader != os.getpid() else None


def _is_mine(claim: Claim, mine: Claim) -> bool:
    return claim.session == mine.session or (claim.process is not None and claim.process == mine.process)


def _key(claim: Claim) -> tuple[str, str]:
    return claim.tree, claim.session


def _drop(repo: Repo, gone: Callable[[Claim], bool]) -> list[Claim]:
    if not any(map(gone, read(repo).claims)):
        return []
    with _changing(repo, lock_wait.get()) as (claims, write):
        write([claim for claim in claims if not gone(claim)])
    return [claim for claim in claims if gone(claim)]


@contextmanager
def _changing(repo: Repo, wait_s: float) -> Iterator[tuple[list[Claim], Callable[[list[Claim]], None]]]:
    """Hold the lock, and yield the claims with what writes them; a file that cannot be read is set aside."""
    path = _path(repo)

    def write(claims: list[Claim]) -> None:
        young = [claim for claim in claims if claim.age_s is not None and abs(claim.age_s) <= _KEPT_S]
        write_json(path, {"version": 1, "claims": [claim.as_json() for claim in young]}, mode=0o600)

    with suppress(OSError):  # the lock says it better
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with locked(path.with_suffix(".lock"), wait_s=wait_s, what="the list of claims"):
        known = read(repo)
        if known.problem:
            _set_aside(path)
        yield list(known.claims), write


def _set_aside(path: Path) -> None:
    try:
        os.replace(path, path.with_name(f"{path.name}.corrupt-{new_stamp()}"))
    except OSError as error:
        raise Refusal("state-unwritable", f"{path} cannot be set aside: {error.strerror}", fix=f"rm {path}") from None


def _path(repo: Repo) -> Path:
    return repo.store / "claims.json"


def _claim(row: object) -> Claim | None:
    """Read one claim; None when it cannot be one."""
    if not isinstance(row, dict):
        return None
    texts = [row.get(name) for name in ("feature", "session", "tree", "since", "heartbeat")]
    if not all(isinstance(text, str) and text for text in texts):
        return None
    feature, session, tree, since, heartbeat = map(str, texts)
    process = row.get("process")
    return Claim(feature, session, tree, since, heartbeat, process if isinstance(process, dict) else None)
