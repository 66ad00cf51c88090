"""Names as they compare: the words in them, whatever the style, and those that say nothing of their own."""

from __future__ import annotations

import re
from functools import lru_cache

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
# Called by a program, a runtime or a framework, or made anew wherever there is something of its kind.
_GIVEN = frozenset({
    "main", "init", "new", "default", "constructor", "initialize", "setup", "teardown", "setupmodule", "dispose",
    "tostring", "string", "equals", "gethashcode", "hashcode", "compareto", "clone", "drop", "fmt", "from",
    "into", "handler", "handle", "run", "execute", "start", "stop", "close", "register", "configure", "render",
    "index", "page", "layout", "loader", "action", "getserversideprops", "getstaticprops", "getstaticpaths",
    "generatemetadata", "generatestaticparams", "upgrade", "downgrade", "up", "down", "migrate", "forwards",
    "backwards", "forward", "backward", "createapp", "getapp", "parseargs", "buildparser", "getparser",
    "includeme", "ready", "process", "create", "get", "set", "update", "delete", "program", "startup",
    "migration", "meta", "props", "state", "options", "config", "settings", "params", "args", "result", "error",
    "errors", "request", "response", "builder", "factory", "context", "module", "app", "plugin", "extension",
    "extensions", "utils", "helpers", "constants", "types", "dependencyinjection", "servicecollectionextensions",
    "command", "query", "view", "model", "service", "controller", "client", "server", "item", "node", "data",
    "info", "entry", "base", "window", "option",
})  # fmt: skip


@lru_cache(maxsize=16384)
def words(name: str) -> tuple[str, ...]:
    """Return the words of a name in lower case: the same for `formatPrice`, `format_price` and `FormatPrice`."""
    found = tuple(one.lower() for one in _WORD.findall(name)) if name.isascii() else ()
    return found or (name.casefold(),)


def plain(name: str) -> str:
    """Return a name as it compares."""
    return "".join(words(name))


def spellings(name: str) -> set[str]:
    """Return the spellings that a graph may hold for a name, in lower case."""
    joined = {"".join(words(name)), "_".join(words(name))}
    return joined | {f"_{one}" for one in joined}


def is_given(name: str) -> bool:
    """Tell whether a name is none that somebody chose: a constructor, `main`, a hook, `__repr__`, `_`."""
    return (name.startswith("__") and name.endswith("__")) or plain(name) in _GIVEN or len(plain(name)) < 3
