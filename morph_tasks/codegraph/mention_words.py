"""The words under which a question searches the text, and the symbols that each of them stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from morph_tasks.codegraph.affected import CONTAINS, HOLDS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from morph_tasks.codegraph.index import Index, Symbol

_CODE = frozenset({"type", "function", "method", "other"})
_ANONYMOUS = frozenset({"__init__", "index", "mod"})  # files that are imported by the name of their folder


class Wanted(NamedTuple):
    """A seed, the members that it stands for, and whether the graph knows nobody who uses it."""

    seed: Symbol
    members: Sequence[Symbol]
    unused: bool

    @property
    def words(self) -> list[str]:
        """Return the words of the seed, its own first; what the language calls by a sign is not called by a word."""
        own = word_of(self.seed)
        more = [one.name for one in self.members if not _by_sign(one.name) and " " not in one.label]
        return [word for word in dict.fromkeys([own, *more]) if word and "\n" not in word and "\r" not in word]


def wanted(index: Index, seeds: Iterable[Symbol], alone: Collection[int], used: Collection[int]) -> list[Wanted]:
    """Return what to search for; seeds in `alone` do not stand for their members, those in `used` have consumers."""
    seeds = list(seeds)
    owner = {one.id: one.id for one in seeds if one.kind in HOLDS and one.id not in alone}
    members: dict[int, list[Symbol]] = {}
    layer = dict(owner)
    while layer:
        inside = {edge.target: layer[edge.source] for edge in index.out_of(layer) if edge.relation in CONTAINS}
        fresh = index.symbols(one for one in inside if one not in owner)
        for one in fresh.values():
            if one.kind in _CODE and one.file:
                members.setdefault(inside[one.id], []).append(one)
        owner |= {one: inside[one] for one in fresh}
        layer = {one.id: inside[one.id] for one in fresh.values() if one.kind in HOLDS}
    return [Wanted(one, members.get(one.id, ()), one.id not in used) for one in seeds]


def word_of(symbol: Symbol) -> str:
    """Return the word of a symbol; that of a file is its name without endings, or the one of its folder."""
    if symbol.kind != "file":
        return symbol.name
    folder, _, name = (symbol.file or symbol.label).rpartition("/")
    stem = name.split(".", 1)[0] or name
    return folder.rpartition("/")[2] or stem if stem in _ANONYMOUS else stem


def _by_sign(name: str) -> bool:
    return name == "constructor" or (len(name) > 4 and name.startswith("__") and name.endswith("__"))
