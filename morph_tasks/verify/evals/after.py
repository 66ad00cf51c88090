"""After an eval command: its summary, its end and its cache become the fields of a record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.verify.evals import refresh as refreshing
from morph_tasks.verify.evals.before import NotReady, Ready
from morph_tasks.verify.evals.cache import COLD, REFRESHED, WARM, CacheState, compare, entries, uncommitted
from morph_tasks.verify.evals.summary import Result, Summary, Unreadable, read_summary

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo
    from morph_tasks.verify.runners.model import TestResult

EMPTY_RUN = "eval-empty-run"
_ENDINGS = {126: "command-not-executable", 127: "command-not-found"}
_FIRST_SIGNAL = 128
_MOST_FAILURES = 10
_SHOWN = 5

Fields = dict[str, Any]


def after(repo: Repo, ready: Ready, exit_code: int | None, log: Path, *, cut_off: bool = False) -> Fields:
    """Return what a run came to, as the fields of a record; `exit_code` is -N after signal N, None when not known.

    `cut_off`: it was stopped by its time limit or by us, whatever code it ended with.

    `count` is the `scenarios` of a summary that this run wrote, else None. `tests` are as a record keeps them.
    """
    summary, why = _summary(repo, ready)
    ended = not cut_off and _ended_badly(exit_code) is None
    back = _settled(repo, ready, complete=ended and (exit_code == 0 or summary is not None))
    cache = _cache(repo, ready, summary)
    tests = [one.as_json() for one in carriers_of(summary)] if summary else []
    warnings = [*ready.warnings, *(summary.warnings if summary else ()), *_cache_warnings(ready, cache, back)]
    fields: Fields = {
        "exitCode": exit_code,
        "count": summary.count if summary else None,
        "counts": dict(summary.counts) or None if summary else None,
        "tests": tests,
        "named": bool(summary and summary.listed),
        "cache": cache.as_json(),
        "warnings": warnings,
        "detail": [],
    }
    return {**fields, **_verdict(ready, summary, why, exit_code, log, warnings)}


def not_run(found: NotReady) -> Fields:
    """Return the fields of a record for a command that was not started: red, never a skip."""
    return {
        "exitCode": None, "count": None, "counts": None, "tests": [], "named": False, "cache": None, "warnings": [],
        "detail": [], "status": "fail", "reason": found.code, "message": f"{found.what}; fix: {found.fix}",
        "attempts": ["fail"],
    }  # fmt: skip


def carriers_of(summary: Summary) -> list[TestResult]:
    """Return the listed scenarios that carry a scenario of a plan."""
    from typing import cast

    from morph_tasks.verify.runners.model import TestResult

    return [
        TestResult(_name(one), cast("Any", one.status), one.file, one.line, one.scenarios)
        for one in summary.results
        if one.scenarios
    ]


def _name(one: Result) -> str:
    return f"{one.name} ({one.model})" if one.model and one.model not in one.name else one.name


def _summary(repo: Repo, ready: Ready) -> tuple[Summary | None, str]:
    from morph_tasks.verify.evals.declared import place_problem

    # The command may have made a link of a folder on the way to it.
    if said := place_problem(repo.root, ready.declared.summary):
        return None, said
    try:
        return read_summary(repo.root / ready.declared.summary, ready.started_ns), ""
    except Unreadable as error:
        return None, str(error)


def _verdict(
    ready: Ready, summary: Summary | None, why: str, exit_code: int | None, log: Path, warnings: list[str]
) -> Fields:
    bad = _ended_badly(exit_code)
    failed = _failures(summary) if summary else []
    if bad:
        return {"status": "fail", "reason": bad[0], "message": bad[1], "detail": failed or _tail(log)}
    if summary is None:
        unread = f"the summary {ready.declared.summary} cannot be read: {why}"
        if exit_code == 0:
            warnings.append(f"{unread}; the number of scenarios is unknown, not zero, and none of them is proved")
            return {"status": "pass", "reason": None, "message": unread}
        message = f"the command ended with exit code {exit_code}; {unread}"
        return {"status": "fail", "reason": "exit-code", "message": message, "detail": _tail(log)}
    if failed or summary.counts.get("failed"):
        reason = "inconsistent-exit" if exit_code == 0 else "tests-failed"
        return {
            "status": "fail",
            "reason": reason,
            "message": _counted(summary, exit_code),
            "detail": failed or _tail(log),
        }
    if exit_code != 0:
        green = summary.count > 0 and summary.counts.get("passed") == summary.count
        reason = "inconsistent-exit" if green else "exit-code"
        return {"status": "fail", "reason": reason, "message": _counted(summary, exit_code), "detail": _tail(log)}
    if summary.count == 0 or summary.counts.get("skipped") == summary.count:
        how = "ran no scenario" if summary.count == 0 else f"skipped all of its {summary.count} scenarios"
        return {"status": "fail", "reason": EMPTY_RUN, "message": f"the run {how}: nothing failed because nothing ran"}
    colour = ("flaky", "flaky-in-runner") if _flaky(summary) else ("pass", None)
    return {"status": colour[0], "reason": colour[1], "message": _counted(summary, exit_code)}


def _ended_badly(exit_code: int | None) -> tuple[str, str] | None:
    """Return the reason and the sentence for an end that is none: a signal, a command that is not there."""
    if exit_code is None:
        return "not-ended", "the command did not end by itself"
    if exit_code < 0 or exit_code > _FIRST_SIGNAL:
        number = -exit_code if exit_code < 0 else exit_code - _FIRST_SIGNAL
        return ("signal", f"the command was ended by signal {number}") if number < 65 else None
    if exit_code in _ENDINGS:
        return _ENDINGS[exit_code], f"the command ended with exit code {exit_code}"
    return None


def _flaky(summary: Summary) -> bool:
    return any(one.status == "flaky" for one in summary.results)


def _failures(summary: Summary) -> list[str]:
    found = [
        f"{_name(one)}: {one.message.splitlines()[0] if one.message else ''}".rstrip(": ")
        for one in summary.results
        if one.status == "failed"
    ]
    more = [f"and {len(found) - _MOST_FAILURES} more"] if len(found) > _MOST_FAILURES else []
    return found[:_MOST_FAILURES] + more


def _counted(summary: Summary, exit_code: int | None) -> str:
    said = [f"{summary.count} scenarios", *(f"{many} {name}" for name, many in summary.counts.items() if many)]
    listed = sum(one.status == "failed" for one in summary.results)
    if listed and not summary.counts.get("failed"):
        said.append(f"{listed} listed as failed")
    return ", ".join(said) + ("" if exit_code == 0 and not listed else f"; exit code {exit_code}")


def _settled(repo: Repo, ready: Ready, *, complete: bool) -> tuple[str, ...]:
    """Finish a refresh: drop what was put aside, or bring it back when the run did not come to its end."""
    if not ready.aside:
        return ()
    if complete:
        refreshing.forget(repo, ready.node_id)
        return ()
    return refreshing.put_back(repo, ready.node_id)


def _cache(repo: Repo, ready: Ready, summary: Summary | None) -> CacheState:
    folder = ready.declared.cache_dir
    found = compare(ready.cache, entries(repo, folder), uncommitted(repo, folder), WARM)
    asked = found.added or found.changed or (summary and summary.asked)
    state = REFRESHED if ready.refresh else COLD if asked else WARM
    return CacheState(state, found.entries, found.added, found.changed, found.removed, found.dirty)


def _cache_warnings(ready: Ready, cache: CacheState, back: Sequence[str]) -> list[str]:
    folder, said = ready.declared.cache_dir, []
    if back:
        said.append(f"the refresh did not come to its end: {len(back)} recorded answers were put back")
    if cache.dirty is None:
        said.append(f"git could not tell whether {folder} is committed")
    elif cache.state == COLD and not (cache.added or cache.changed):
        said.append(f"the cache was cold: a provider was asked, and no answer was recorded in {folder}")
    if cache.dirty:
        told = {
            COLD: f"the cache was cold: {cache.added} answers recorded, {cache.changed} changed",
            REFRESHED: f"the cache was refreshed: {cache.added} answers recorded, {cache.changed} changed, "
            f"{cache.removed} gone",
            WARM: "the cache holds what no commit does",
        }[cache.state]
        else_ = f"commit {folder}, else the next proof elsewhere pays again"
        said.append(f"{told}; the tree is dirty ({_some(cache.dirty)}): {else_}")
    if not cache.entries:
        said.append(f"the run left no recorded answer in {folder}: the next verify needs --refresh-cache")
    return said


def _tail(log: Path) -> list[str]:
    from morph_tasks.verify.reading import tail

    try:
        return tail(log)
    except OSError:
        return []


def _some(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return ", ".join(paths[:_SHOWN]) + more


def same_but_for_the_cache(before: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Tell whether two manifests of an evals node differ in nothing but what the run recorded."""
    return {**before, "cache": None} == {**now, "cache": None}
