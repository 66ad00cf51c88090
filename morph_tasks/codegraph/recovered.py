"""The file of what was recovered: columns of numbers, which a question that has to make the index reads at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

VERSION = 2
Edge = tuple[str, str, str, str | None, int | None]  # source and target by graphify's ids, relation, site
Link = tuple[str, str, str, int | None]


class Recovered(msgspec.Struct):
    """Edge n runs from `ids[sources[n]]` to `ids[targets[n]]`; the site is `files[at[n]]`, line `lines[n]`.

    `refuted`: links of graphify that the source shows to be wrong: source, target, relation, line; `guessed`: those
    that it inferred from a name, and that the source neither shows to be right nor to be wrong. `built`: a type and the
    constructor that runs where it is called, in the place of an edge for each caller.
    """

    version: int
    ids: list[str]
    files: list[str | None]
    relations: list[str]
    sources: list[int]
    targets: list[int]
    kinds: list[int]
    at: list[int]
    lines: list[int | None]
    refuted: list[Link] = []
    guessed: list[Link] = []
    built: list[tuple[str, str]] = []


def encode(
    edges: Iterable[Edge],
    refuted: Iterable[Link] = (),
    guessed: Iterable[Link] = (),
    built: Iterable[tuple[str, str]] = (),
) -> bytes:
    """Return the bytes of the file."""
    ids, files, relations = _Numbers(), _Numbers(), _Numbers()
    rows = [(ids[s], ids[t], relations[r], files[file], line) for s, t, r, file, line in edges]
    sources, targets, kinds, at, lines = (list(column) for column in zip(*rows, strict=True)) if rows else ([],) * 5
    named = (list(ids), list(files), list(relations))
    beside = (list(refuted), list(guessed), list(built))
    return msgspec.json.encode(Recovered(VERSION, *named, sources, targets, kinds, at, lines, *beside))


def decode(data: bytes) -> Recovered | None:
    """Return what a file holds; None when it is empty, torn, inconsistent or of another version."""
    try:
        known = msgspec.json.decode(data, type=Recovered)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    named = (
        (known.sources, len(known.ids)),
        (known.targets, len(known.ids)),
        (known.kinds, len(known.relations)),
        (known.at, len(known.files)),
    )
    fits = all(
        len(column) == len(known.lines) and (not column or (min(column) >= 0 and max(column) < count))
        for column, count in named
    )
    return known if known.version == VERSION and fits else None


def edges_of(known: Recovered) -> list[Edge]:
    """Return the edges by their names."""
    ids, files, relations = known.ids, known.files, known.relations
    columns = zip(known.sources, known.targets, known.kinds, known.at, known.lines, strict=True)
    return [(ids[s], ids[t], relations[kind], files[at], line) for s, t, kind, at, line in columns]


class _Numbers(dict[Any, int]):
    """Number what is looked up, in the order of the first look."""

    def __missing__(self, key: Any) -> int:
        self[key] = number = len(self)
        return number
