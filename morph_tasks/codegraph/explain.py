"""What is around a symbol: the edges that come in and go out, each with its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from morph_tasks.codegraph.affected import CONTAINS, DISPATCH, IMPORTS, INHERITANCE
from morph_tasks.codegraph.answer import columns, edge_json, freshness_json, freshness_line, relation_words, seed_line
from morph_tasks.codegraph.ask import place, resolve, shown, symbol_json
from morph_tasks.codegraph.freshness import of_tree
from morph_tasks.codegraph.sparse import words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from morph_tasks.codegraph.asking import Tree
    from morph_tasks.codegraph.freshness import Freshness
    from morph_tasks.codegraph.index import Edge, Index, Symbol
    from morph_tasks.codegraph.mentions import Mentions
    from morph_tasks.codegraph.picture import Picture

NOT_COMPARED = "the text was not compared with so many; graph affected --mentions compares it"
_REMARKS = frozenset({"rationale_for"})


class Neighbour(NamedTuple):
    """One edge: the symbol at its other end, and the member of the explained symbol that it touches, if it is one."""

    symbol: Symbol
    edge: Edge
    member: Symbol | None

    def as_json(self) -> dict[str, Any]:
        member = {"id": self.member.key, "name": shown(self.member)} if self.member else None
        return {**symbol_json(self.symbol), **edge_json(self.edge), "member": member}


class Explained(NamedTuple):
    """A symbol and its neighbourhood. `mentions` is None when very many use it."""

    symbol: Symbol
    inside: Symbol | None
    members: Sequence[Symbol]
    used_by: Sequence[Neighbour]
    uses: Sequence[Neighbour]
    undecided: Sequence[dict[str, Any]]
    freshness: Freshness
    mentions: Mentions | None
    parts: Sequence[Edge] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the document of `--json`."""
        return {
            "ok": True,
            "symbol": symbol_json(self.symbol),
            "parts": [{"path": one.file, "line": one.line} for one in self.parts],
            "inside": symbol_json(self.inside) if self.inside else None,
            "freshness": freshness_json(self.freshness),
            "members": [symbol_json(one) for one in self.members],
            "usedBy": [one.as_json() for one in self.used_by],
            "uses": [one.as_json() for one in self.uses],
            "undecided": list(self.undecided),
            "mentions": self.mentions.as_json() if self.mentions else None,
            "mentionsTotal": self.mentions.total if self.mentions else None,
            "mentionsError": self.mentions.reason() if self.mentions else NOT_COMPARED,
        }

    def lines(self) -> list[str]:
        """Return the neighbourhood for people."""
        told = [seed_line(self.symbol)]
        if self.parts:
            places = ", ".join(place(one.file, one.line) for one in self.parts)
            told.append(f"declared in {len(self.parts)} parts: {places}")
        elif self.inside:
            told.append(f"inside {seed_line(self.inside)}")
        if self.members:
            told += ["", f"holds {len(self.members)}:"]
            told += columns([(shown(one), one.kind, place(one.file, one.line), "") for one in self.members])
        told += ["", f"used by {len(self.used_by)}:" if self.used_by else "nothing in the graph uses it"]
        told += _rows(self.used_by, "of")
        told += ["", f"uses {len(self.uses)}:" if self.uses else "the graph knows nothing that it uses"]
        told += _rows(self.uses, "in")
        if self.undecided:
            from morph_tasks.codegraph.answer import undecided_lines

            told += ["", *undecided_lines(self.undecided)]
        if self.mentions is not None:
            told += ["", *self.mentions.lines()]
        else:
            told += ["", NOT_COMPARED]
        return [*told, "", *words(self.freshness.left_out), freshness_line(self.freshness)]

    def picture(self) -> Picture:
        """Return what is drawn of it."""
        from morph_tasks.codegraph.picture import of_explained

        return of_explained(self)


def explain(tree: Tree, index: Index, text: str) -> Explained:
    """Return the neighbourhood of the symbol that a text names; raises Refusal as `resolve` does."""
    from morph_tasks.codegraph.asking import FEW, undecided_uses

    symbol = resolve(index, text, command="morph-spec graph explain")
    members = _members(index, symbol)
    own = {symbol.id: symbol, **{one.id: one for one in members}}
    into, out_of = index.into(own), index.out_of(own)
    holders = [edge.source for edge in into if edge.relation in CONTAINS and edge.target == symbol.id]
    ends = index.symbols({edge.source for edge in into} | {edge.target for edge in out_of})
    used_by = _neighbours(into, own, ends, incoming=True, centre=symbol)
    uses = _neighbours(out_of, own, ends, incoming=False, centre=symbol)
    mentioned = None
    if len(used_by) <= FEW:
        from morph_tasks.codegraph.mentions import mentions

        mentioned = mentions(tree.repo(), index, [symbol], used=[symbol.id] if used_by else [])
    inside = next((ends[one] for one in holders if one in ends and ends[one].kind != "file"), None)
    inside = inside or next((ends[one] for one in holders if one in ends), None)
    used_by = [_placed(tree.root, one, one.member or symbol) for one in used_by]
    uses = [_placed(tree.root, one, one.symbol) for one in uses]
    undecided = undecided_uses(index, [symbol], [one.id for one in members])
    parts = _parts(into, ends, symbol)
    fresh = of_tree(*tree, stamp=lambda: index.built_at)
    return Explained(symbol, inside, members, used_by, uses, undecided, fresh, mentioned, parts)


def _placed(root: str, one: Neighbour, target: Symbol) -> Neighbour:
    """Return a neighbour with the line of its import, where the graph gives none and the source shows one."""
    if one.edge.line is not None or one.edge.relation not in IMPORTS:
        return one
    from morph_tasks.codegraph.import_lines import line_of_import

    return one._replace(edge=one.edge._replace(line=line_of_import(root, one.edge.file, target)))


def _parts(into: Sequence[Edge], ends: dict[int, Symbol], symbol: Symbol) -> list[Edge]:
    """Return where each part of a type is declared; none for one that is declared in one place."""
    by_file = {
        edge.file: edge
        for edge in into
        if edge.target == symbol.id and edge.relation == "contains" and edge.file and ends[edge.source].kind == "file"
    }
    return sorted(by_file.values(), key=lambda edge: edge.file or "") if len(by_file) > 1 else []


def _members(index: Index, symbol: Symbol) -> list[Symbol]:
    """Return what a type or a file holds, what its types hold included, by line."""
    found: dict[int, Symbol] = {}
    layer = [symbol.id] if symbol.kind in ("type", "file", "other") else []
    while layer:
        inside = index.symbols(edge.target for edge in index.out_of(layer) if edge.relation in CONTAINS)
        fresh = [one for one in inside.values() if one.id not in found and one.id != symbol.id]
        fresh = [one for one in fresh if one.kind in ("type", "function", "method", "other") and " " not in one.label]
        found |= {one.id: one for one in fresh}
        layer = [one.id for one in fresh if one.kind == "type"]
    return sorted(found.values(), key=lambda one: (one.file or "", one.line or 0, one.id))


def _neighbours(
    edges: Sequence[Edge], own: dict[int, Symbol], ends: dict[int, Symbol], *, incoming: bool, centre: Symbol
) -> list[Neighbour]:
    found: list[Neighbour] = []
    for edge in edges:
        mine, other = (edge.target, edge.source) if incoming else (edge.source, edge.target)
        if edge.relation in CONTAINS | _REMARKS or other in own or other not in ends:
            continue
        found.append(Neighbour(ends[other], edge, own[mine] if mine != centre.id else None))
    return sorted(found, key=_order)


def _order(one: Neighbour) -> tuple[bool, int, str, int, str, int]:
    """Put what runs first, then what is inherited, then imports; production code before tests."""
    relation = one.edge.relation
    rank = 3 if relation in IMPORTS else 2 if relation in INHERITANCE else 1 if relation == DISPATCH else 0
    return one.symbol.test, rank, one.edge.file or "", one.edge.line or 0, relation, one.symbol.id


def _rows(neighbours: Sequence[Neighbour], word: str) -> list[str]:
    rows = []
    for one in neighbours:
        remarks = [f"{word} {shown(one.member)}"] if one.member else []
        remarks += ["test"] if one.symbol.test else []
        remarks += ["outside of the project"] if one.symbol.external else []
        words = relation_words(one.edge.relation, one.edge.via)
        rows.append((shown(one.symbol), words, place(one.edge.file, one.edge.line), ", ".join(remarks)))
    return columns(rows)
