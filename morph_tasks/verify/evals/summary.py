"""Read the summary that an eval command writes; whatever cannot be read is unknown, never zero."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

MOST = 1_000_000  # scenarios of one run; more is a slip, not a suite
_MOST_BYTES = 64 * 1024 * 1024
# A file system that keeps coarser times than the clock gives.
_SLACK_NS = 50_000_000
_COUNTS = ("passed", "failed", "skipped")
_STATUS = {
    "passed": "passed", "pass": "passed", "ok": "passed", "success": "passed",
    "failed": "failed", "fail": "failed", "error": "failed", "errored": "failed",
    "skipped": "skipped", "skip": "skipped", "flaky": "flaky",
}  # fmt: skip


@dataclass(frozen=True)
class Result:
    """One scenario as the summary lists it; `scenarios` are ids of the plan as `tags` writes them."""

    name: str
    status: str
    scenarios: tuple[str, ...] = ()
    model: str | None = None
    message: str = ""
    file: str | None = None
    line: int | None = None


@dataclass(frozen=True)
class Summary:
    """What a summary says: `count` is its `scenarios`, `asked` whether a provider was asked (None: it does not say)."""

    count: int
    counts: dict[str, int] = field(default_factory=dict)
    results: tuple[Result, ...] = ()
    listed: bool = False
    asked: bool | None = None
    warnings: tuple[str, ...] = ()


class Unreadable(ValueError):
    """Why a summary cannot be read, as the end of a sentence."""


def read_summary(path: Path, since_ns: int) -> Summary:
    """Return the summary that a run since `since_ns` (ns since the epoch) wrote; raises Unreadable."""
    return parse(_bytes(path, since_ns))


def parse(data: bytes) -> Summary:
    """Return what the bytes of a summary say; raises Unreadable."""
    said = _json(data)
    if not isinstance(said, dict):
        raise Unreadable("it is not a JSON object")
    if "scenarios" not in said:
        raise Unreadable("it has no `scenarios`")
    if isinstance(said["scenarios"], list):
        raise Unreadable("`scenarios` is a list; it is the number of scenarios, and the list is `results`")
    count = _count("scenarios", said["scenarios"])
    counts = {name: _count(name, said[name]) for name in _COUNTS if said.get(name) is not None}
    if sum(counts.values()) > count:
        told = ", ".join(f"{many} {name}" for name, many in counts.items())
        raise Unreadable(f"it contradicts itself: {count} scenarios, {told}")
    results, warnings = _results(said.get("results"))
    if counts.keys() >= {"passed", "failed"} and count > 0 and sum(counts.values()) < count:
        warnings.append(f"{count - sum(counts.values())} of {count} scenarios have no verdict in the summary")
    asked = _asked(said)
    return Summary(count, counts, results, isinstance(said.get("results"), list), asked, tuple(warnings))


def _bytes(path: Path, since_ns: int) -> bytes:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise Unreadable("the command wrote none") from None
    except OSError as error:
        raise Unreadable("it is a link" if path.is_symlink() else f"{error.strerror}") from None
    about = os.fstat(handle)
    if not stat.S_ISREG(about.st_mode):
        os.close(handle)
        raise Unreadable("it is not a file")
    with os.fdopen(handle, "rb") as file:
        if about.st_mtime_ns + _SLACK_NS < since_ns:
            raise Unreadable("it is older than this run")
        if about.st_size > _MOST_BYTES:
            raise Unreadable(f"it is larger than {_MOST_BYTES // 1024 // 1024} MiB")
        return file.read(_MOST_BYTES + 1)


def _json(data: bytes) -> Any:
    if not data.strip():
        raise Unreadable("it is empty")
    try:
        return json.loads(data.decode("utf-8-sig"), object_pairs_hook=_without_doubles, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise Unreadable(f"it is not whole JSON (line {error.lineno}, column {error.colno}: {error.msg})") from None
    except UnicodeDecodeError:
        raise Unreadable("it is not UTF-8 text") from None
    except RecursionError:
        raise Unreadable("it is nested too deeply") from None
    except Unreadable:
        raise
    except ValueError:  # an integer with thousands of digits
        raise Unreadable("it holds a number that is too long") from None


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise Unreadable(f"the key {max(names, key=names.count)!r} is there twice")
    return found


def _no_number(text: str) -> Any:
    raise Unreadable(f"{text} is not a number of JSON")


def _count(name: str, value: Any) -> int:
    if isinstance(value, float) and isfinite(value) and value.is_integer() and abs(value) <= MOST:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST:
        text = repr(value)
        shown = text if len(text) <= 40 else f"{text[:40]}…"
        raise Unreadable(f"`{name}` is {shown}, not a count from 0 to {MOST}")
    return value


def _results(value: Any) -> tuple[tuple[Result, ...], list[str]]:
    if value is None:
        return (), []
    if not isinstance(value, list):
        return (), ["`results` of the summary is not a list and was not read"]
    read = [_result(item) for item in value]
    bad = sum(one is None for one in read)
    said = [f"{bad} of {len(read)} `results` of the summary cannot be read"] if bad else []
    return tuple(one for one in read if one), said


def _result(item: Any) -> Result | None:
    from morph_tasks.verify.scenarios.tags import tags

    if not isinstance(item, dict):
        return None
    status = _STATUS.get(str(item.get("status")).lower())
    name = _text(item.get("name")) or _text(item.get("id"))
    own = _text(item.get("id"))
    ids = _ids(item.get("scenario", item.get("covers")))
    if status is None or not (name or ids):
        return None
    carried = (*ids, *tags(name or ""), *tags(own or ""))
    line = item.get("line")
    return Result(
        name=name or ids[0],
        status=status,
        scenarios=tuple(dict.fromkeys(carried)),
        model=_text(item.get("model")),
        message=_text(item.get("message")) or "",
        file=_text(item.get("file")),
        line=line if isinstance(line, int) and not isinstance(line, bool) and line > 0 else None,
    )


def _ids(value: Any) -> tuple[str, ...]:
    """Return the scenario ids of a field that holds one, or a list of them."""
    from morph_tasks.verify.scenarios.tags import tags

    items: Sequence[Any] = value if isinstance(value, list) else [value]
    return tuple(found for one in items if isinstance(one, str) for found in tags(f"[{one.strip().strip('[]')}]"))


def _text(value: Any) -> str | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value.strip()[:500] or None if isinstance(value, str) else None


def _asked(said: dict[str, Any]) -> bool | None:
    """Return whether the command says that it asked a provider; None when it does not say."""
    calls, cache = said.get("calls"), said.get("cache")
    if isinstance(calls, int) and not isinstance(calls, bool):
        return calls > 0
    return cache == "cold" if cache in ("cold", "warm") else None
