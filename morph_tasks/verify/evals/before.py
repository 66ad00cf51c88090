"""Before an eval command is started: what must be there, so that nobody pays for a run that cannot prove anything."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from morph_tasks.verify.evals import refresh as refreshing
from morph_tasks.verify.evals.cache import entries, uncommitted
from morph_tasks.verify.evals.declared import Evals, place_problem

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

KEY_MISSING, CACHE_MISSING = "eval-key-missing", "eval-cache-missing"
SUMMARY_UNSAFE, CACHE_UNSAFE = "eval-summary-unsafe", "eval-cache-unsafe"
SUMMARY, CACHE, REFRESH = "MORPH_EVAL_SUMMARY", "MORPH_EVAL_CACHE", "MORPH_EVAL_REFRESH"
_SHOWN = 5


@dataclass(frozen=True)
class Ready:
    """The state before a run. `env` is for the command; `cache` what was recorded, `aside` what was put aside of it."""

    node_id: str
    declared: Evals
    env: Mapping[str, str]
    started_ns: int
    cache: Mapping[str, str]
    refresh: bool = False
    aside: tuple[str, ...] = ()
    warnings: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class NotReady:
    """Why the command is not started: the reason code of a red node, a sentence, and the way out."""

    code: str
    what: str
    fix: str


def before(
    repo: Repo, node_id: str, declared: Evals, *, refresh: bool, environ: Mapping[str, str] | None = None
) -> Ready | NotReady:
    """Decide whether a run can start, then remove the old summary and, for a refresh, put committed answers aside.

    `environ`: what the command inherits (default: ours). Nothing is touched when it cannot start, except that
    answers come back which a refresh that was cut off had put aside.
    """
    came_back = refreshing.put_back(repo, node_id)
    for code, path in ((SUMMARY_UNSAFE, declared.summary), (CACHE_UNSAFE, declared.cache_dir)):
        if unsafe := _unsafe(repo, code, path):
            return unsafe
    recorded = entries(repo, declared.cache_dir)
    missing = _missing(declared, os.environ if environ is None else environ)
    if missing:
        return _no_key(declared, missing, bool(recorded), refresh)
    if not recorded and not refresh:
        return _no_cache(repo, declared)
    try:
        (repo.root / declared.summary).unlink(missing_ok=True)
    except OSError as error:
        what = f"the old summary {declared.summary} cannot be removed: {error.strerror}"
        return NotReady(SUMMARY_UNSAFE, what, f"remove {declared.summary}")
    warnings = [f"an earlier --refresh-cache was cut off: {_some(came_back)} came back"] if came_back else []
    aside: tuple[str, ...] = ()
    try:
        if refresh:
            aside, kept = _aside(repo, node_id, declared, recorded)
            warnings += kept
    except OSError as error:
        refreshing.put_back(repo, node_id)
        what = f"the recorded answers could not be put aside: {error.strerror or error}"
        return NotReady(CACHE_UNSAFE, what, f"make {declared.cache_dir} writable")
    return Ready(
        node_id=node_id,
        declared=declared,
        env=environment(repo, declared, refresh=refresh),
        started_ns=time.time_ns(),
        cache=recorded,
        refresh=refresh,
        aside=aside,
        warnings=tuple(warnings),
    )


def again(repo: Repo, ready: Ready) -> Ready | NotReady:
    """Prepare one more attempt of the same run: answers that it has paid for are not asked for twice."""
    declared = ready.declared
    if unsafe := _unsafe(repo, SUMMARY_UNSAFE, declared.summary) or _unsafe(repo, CACHE_UNSAFE, declared.cache_dir):
        return unsafe
    (repo.root / declared.summary).unlink(missing_ok=True)
    env = environment(repo, declared, refresh=False)
    return replace(ready, env=env, started_ns=time.time_ns(), aside=())


def environment(repo: Repo, declared: Evals, *, refresh: bool) -> dict[str, str]:
    """Return the variables that tell the command where its files are; MORPH_EVAL_REFRESH is `1` or empty."""
    return {
        SUMMARY: str(repo.root / declared.summary),
        CACHE: str(repo.root / declared.cache_dir),
        # Always set: one that was inherited would ask the provider when nobody asked for that.
        REFRESH: "1" if refresh else "",
    }


def _unsafe(repo: Repo, code: str, path: str) -> NotReady | None:
    place = repo.root / path
    said = place_problem(repo.root, path)
    if said is None and code == SUMMARY_UNSAFE and os.path.lexists(place) and not place.is_file():
        said = f"{path} is not a file"
    if said is None and code == CACHE_UNSAFE and os.path.lexists(place) and not place.is_dir():
        said = f"{path} is no folder"
    if said is None:
        return None
    option = "summary" if code == SUMMARY_UNSAFE else "cacheDir"
    return NotReady(
        code, f"`evals.{option}`: {said}; nothing was run", f"name a plain path of the tree in `evals.{option}`"
    )


def _missing(declared: Evals, environ: Mapping[str, str]) -> list[str]:
    return [name for name in declared.required_env if not environ.get(name, "").strip()]


def _no_key(declared: Evals, missing: list[str], recorded: bool, refresh: bool) -> NotReady:
    some = "is" if len(missing) == 1 else "are"
    what = f"{', '.join(missing)} {some} not set or empty, and `evals.requiredEnv` asks for it; nothing was run"
    fix = f"export {' '.join(f'{name}=…' for name in missing)}"
    if not recorded and not refresh:
        what += f"; {declared.cache_dir} holds no recorded answer either"
        fix += ", then verify with --refresh-cache"
    return NotReady(KEY_MISSING, what, fix)


def _no_cache(repo: Repo, declared: Evals) -> NotReady:
    folder = declared.cache_dir
    state = "holds no recorded answer" if (repo.root / folder).is_dir() else "does not exist"
    what = f"{folder} {state}, and a run without it asks the provider for every answer; nothing was run"
    gone = [path for path in uncommitted(repo, folder) or () if not os.path.lexists(repo.root / path)]
    if gone:
        return NotReady(CACHE_MISSING, f"{what}; the commit has {_some(gone)}", f"git restore -- {shlex.quote(folder)}")
    return NotReady(CACHE_MISSING, what, f"verify with --refresh-cache and commit {folder}")


def _aside(repo: Repo, node_id: str, declared: Evals, recorded: Mapping[str, str]) -> tuple[tuple[str, ...], list[str]]:
    (repo.root / declared.cache_dir).mkdir(parents=True, exist_ok=True)
    safe = refreshing.committed(repo, declared.cache_dir, recorded)
    moved = refreshing.put_aside(repo, node_id, sorted(safe))
    kept = sorted(recorded.keys() - set(moved))
    if not kept:
        return moved, []
    heeds = f"only a command that heeds {REFRESH} asks for them again"
    return moved, [f"kept, because no commit holds them: {_some(kept)}; {heeds}"]


def _some(paths: list[str] | tuple[str, ...]) -> str:
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return ", ".join(paths[:_SHOWN]) + more
