"""The words behind a runner's name: options, their values, and what is left as a selector."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from morph_tasks.verify.narrowing.line import Line


def _as_written(name: str) -> str:
    return name


def camel(name: str) -> str:
    """Return an option of a JavaScript tool in the one spelling of its tables (`--test-timeout` is `--testTimeout`)."""
    return "--" + re.sub(r"-([a-z])", lambda hit: hit[1].upper(), name[2:]) if name.startswith("--") else name


def single(name: str) -> str:
    """Return a flag of go in the one spelling of its table (`--run` and `-test.run` are `-run`)."""
    return "-" + name.lstrip("-").removeprefix("test.")


@dataclass(frozen=True)
class Table:
    """The options of a runner. `perhaps` take the next word when it is no option, `many` all words up to the next one.

    `selects` choose tests (or keep them from running), so that nothing can be chosen on top.
    """

    flags: frozenset[str] = frozenset()
    values: frozenset[str] = frozenset()
    perhaps: frozenset[str] = frozenset()
    many: frozenset[str] = frozenset()
    selects: frozenset[str] = frozenset()
    spelling: Callable[[str], str] = _as_written
    clusters: bool = True  # `-xq` is `-x -q`, `-n4` is `-n 4`


@dataclass(frozen=True)
class Args:
    """The words of a call by their places; `behind` are those after `--`, whose place is `dashes`."""

    plain: tuple[int, ...]
    options: dict[str, list[str]] = field(default_factory=dict)
    dashes: int | None = None
    behind: tuple[int, ...] = ()
    last: str = ""  # the last word when it is an option that may take one more


def read(line: Line, at: int, table: Table) -> Args | str:
    """Return the words from the place `at` on, or why they cannot be told apart."""
    plain: list[int] = []
    options: dict[str, list[str]] = {}
    last = ""
    size = len(line.words)
    while at < size:
        word = line.words[at]
        if word.text == "--":
            return Args(tuple(plain), options, at, tuple(range(at + 1, size)), last)
        last = ""
        if not word.text.startswith("-") or word.text == "-":
            if word.expands:
                return "a variable may name tests"
            plain.append(at)
            at += 1
            continue
        found = _option(line, at, table)
        if isinstance(found, str):
            return found
        name, value, at, open_end = found
        last = name if open_end else ""
        options.setdefault(name, []).append(value)
    return Args(tuple(plain), options, last=last)


def _option(line: Line, at: int, table: Table) -> tuple[str, str, int, bool] | str:
    """Return the option's name and value, the place behind both, and whether it would take one more word."""
    text = line.words[at].text
    written, given, value = text.partition("=")
    if line.words[at].expands and not given:
        return "a variable stands where an option is expected"
    name = table.spelling(written)
    cluster = _cluster(name, table)
    if cluster is not None:
        name, joined = cluster
        value, given = (joined, "=") if joined else (value, given)
    turned_off = table.spelling is camel and value == "false"
    if name in table.selects and not turned_off:
        return f"the command chooses its tests already (`{written}`)"
    if given:
        return name, value, at + 1, False
    following = line.words[at + 1] if at + 1 < len(line.words) else None
    bare = following is not None and (not following.text.startswith("-") or following.text == "-")
    if name in table.values:
        return (name, following.text, at + 2, False) if following else f"`{written}` has no value"
    if name in table.flags or (table.spelling is camel and written.startswith("--no-")):
        return name, "", at + 1, False
    if name in table.many:
        end = at + 1
        while end < len(line.words) and not line.words[end].text.startswith("-"):
            end += 1
        return name, "", end, True
    if name in table.perhaps:
        return (name, following.text, at + 2, False) if following and bare else (name, "", at + 1, True)
    if following and bare:
        return f"`{following.text[:60]}` may choose tests or belong to `{written}`"
    return name, "", at + 1, True


def _cluster(name: str, table: Table) -> tuple[str, str] | None:
    """Return the telling option of `-xqk` and what is joined to it; None for what is no cluster."""
    if not table.clusters or name.startswith("--") or len(name) < 3:
        return None
    for place in range(1, len(name)):
        short, rest = f"-{name[place]}", name[place + 1 :]
        if short in table.selects or short in table.values:
            return short, rest
        if short not in table.flags:
            return None
    return f"-{name[-1]}", ""
