"""What is known of the graph of a tree, without reading the graph. Imports are few: the command answers with this."""

from __future__ import annotations

import os

from morph_tasks.codegraph import graphify, record, runlock
from morph_tasks.codegraph.freshness import FRESH, NO_GRAPH, STALE, Freshness, of_tree
from morph_tasks.codegraph.layout import GRAPH, INDEX
from morph_tasks.codegraph.sparse import words
from morph_tasks.codegraph.torn import CORRUPT, DETAIL, is_torn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SANITISED = ("coalescible", "external", "ambiguous", "recoveredDispatch", "recoveredCalls")
_SWITCH = "MORPH_GRAPH_AUTO_REFRESH"


def look(root: str, git_dir: str, common_dir: str, *, full: bool = False) -> dict[str, Any]:
    """Return the document of `graph status --json`; what is not known is null. Raises Refusal where git is not well.

    `full`: compare every file, however many there are.
    """
    found = of_tree(root, git_dir, common_dir, full=full)
    if found.state == STALE and record.current(root, git_dir) is None and is_torn(root):
        found.reason, found.detail, found.built_at = CORRUPT, DETAIL, None
    known = record.read(git_dir)
    held = runlock.holder(git_dir)
    held = runlock.started(git_dir) if held is None else held
    main = git_dir == common_dir
    program = graphify.find()
    counts = None if found.state == NO_GRAPH else _counts(root, git_dir)
    version = _version(program, known["last"])
    refresh: dict[str, Any] = {"auto": main and os.environ.get(_SWITCH) != "0", "running": held is not None}
    refresh |= {"since": (held or {}).get("since"), "pid": (held or {}).get("pid"), "last": known["last"]}
    told: dict[str, Any] = {"available": found.state != NO_GRAPH, "path": f"{root}/{GRAPH}"}
    told |= {name: (counts or {}).get(name) for name in ("nodes", "testNodes", "links")}
    told |= {"freshness": found.as_json(), "refresh": refresh}
    told["version"] = {"installed": version, "pinned": graphify.PINNED, "matches": graphify.matches(version)}
    told |= {"sanitize": {name: counts.get(name) for name in _SANITISED} if counts else None}
    told |= {"indexed": None if found.state == NO_GRAPH else counts is not None}
    told |= {"tree": "root" if main else "worktree", "graphify": program}
    return {**told, "next": _next(found, told)}


def text(told: dict[str, Any]) -> str:
    """Return the document in lines for people."""
    lines = [_size(told), f"{told['freshness']['state']}: {told['freshness']['detail']}"]
    if told["freshness"]["reason"] and told["available"]:
        lines[1] = f"stale ({told['freshness']['reason']}): {told['freshness']['detail']}"
    elif not told["available"]:
        lines = lines[:1]
    lines += words(told["freshness"]["notCheckedOut"])
    if told["sanitize"]:
        lines.append(f"sanitised: {_sanitised(told['sanitize'])}")
    lines += [_program(told), *([told["next"]] if told["next"] else [])]
    return "\n".join(lines)


def _next(found: Freshness, told: dict[str, Any]) -> str | None:
    """Return what is going to happen, or what to type; None where there is nothing to do."""
    refresh, verb = told["refresh"], "refresh" if told["available"] else "build"
    if refresh["running"]:
        who = f" (process {refresh['pid']})" if refresh["pid"] else ""
        return f"a run of graphify is under way since {refresh['since'] or 'a moment ago'}{who}"
    if found.state == FRESH:
        return "take them into the graph: morph-spec graph refresh" if found.drift else None
    if told["graphify"] is None:
        again = f", then morph-spec graph {verb}"
        return f"install graphify: {graphify.unavailable().fix}{again}"
    last = refresh["last"] or {}
    if last.get("status") == "empty" and not told["available"]:
        return "the last run found no code: morph-spec graph build when there is some"
    if last.get("status") == "failed" and (found.state == NO_GRAPH or _same(last, found)):
        return f"the last run failed ({last.get('message')}): morph-spec graph {verb}"
    if found.reason == CORRUPT:
        return "make another: morph-spec graph build"
    if found.state == STALE and told["tree"] == "worktree":
        return "the graph of a work tree is copied from the main tree and moves by hand only: morph-spec graph refresh"
    return f"bring it up to date: morph-spec graph {verb}" if told["available"] else "make one: morph-spec graph build"


def _same(last: dict[str, Any], found: Freshness) -> bool:
    return (last.get("head"), last.get("rules")) == (found.head, found.rules)


def _counts(root: str, git_dir: str) -> dict[str, Any] | None:
    """Return the numbers of the graph that is there, from the record or the index; None when neither is of it."""
    known = record.current(root, git_dir)
    if known is not None and isinstance(known.get("counts"), dict):
        counts: dict[str, Any] = known["counts"]
        return counts
    return _indexed(root)


def _indexed(root: str) -> dict[str, Any] | None:
    """Return the numbers of the index, if it is of the graph as it lies there; nothing is read to find out."""
    path = f"{root}/{INDEX}"
    if not os.path.isfile(path):
        return None
    from morph_tasks.codegraph import sqlite
    from morph_tasks.codegraph.index_key import look as look_at

    try:
        seen = look_at(f"{root}/{GRAPH}")
        connection = sqlite.open_fixed(path)
        try:
            meta = dict(connection.execute("SELECT name, value FROM meta"))
        finally:
            connection.close()
    except (OSError, sqlite.Error):
        return None
    if meta.get("graph_seen") != seen:
        return None
    return {name[len("count_") :]: value for name, value in meta.items() if name.startswith("count_")}


def _version(program: str | None, last: dict[str, Any] | None) -> str | None:
    """Return the version of the program; where its environment does not tell, what it said at its last run."""
    if program is None:
        return None
    known = graphify.version_of(program)
    said = (last or {}).get("version") if (last or {}).get("program") == program else None
    return known or (said if isinstance(said, str) else None)


def _size(told: dict[str, Any]) -> str:
    if not told["available"]:
        return f"there is no code graph ({told['path']})"
    if told["freshness"]["reason"] == CORRUPT:
        return f"{told['path']}: cannot be read, so its size is not known"
    if told["nodes"] is None:
        return f"{told['path']}: not indexed, so its size is not known; the first question makes the index"
    tests = f" ({told['testNodes']} of tests)" if told["testNodes"] is not None else ""
    return f"{told['path']}: {told['nodes']} nodes{tests}, {told['links']} links"


def _sanitised(numbers: dict[str, Any]) -> str:
    words = {
        "coalescible": "stubs joined to their definition",
        "external": "external",
        "ambiguous": "ambiguous",
        "recoveredDispatch": "dispatches recovered",
        "recoveredCalls": "calls recovered",
    }
    return ", ".join(f"{numbers[name]} {word}" for name, word in words.items() if numbers.get(name) is not None)


def _program(told: dict[str, Any]) -> str:
    version = told["version"]
    if told["graphify"] is None:
        return "graphify is not on the PATH"
    if version["installed"] is None:
        return f"graphify of an unknown version ({told['graphify']}); tested with {version['pinned']}"
    note = "" if version["matches"] else f", which is not one this was tested with ({version['pinned']})"
    return f"graphify {version['installed']}{note}"
