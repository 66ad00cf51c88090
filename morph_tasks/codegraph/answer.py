"""What `graph affected` answers: the document of `--json` and the lines for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from morph_tasks.codegraph.ask import place, printable, shown, symbol_json
from morph_tasks.codegraph.sparse import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from morph_tasks.codegraph.affected import Hit, Reach
    from morph_tasks.codegraph.diff import Changed
    from morph_tasks.codegraph.freshness import Freshness
    from morph_tasks.codegraph.index import Edge, Symbol
    from morph_tasks.codegraph.mentions import Mentions
    from morph_tasks.codegraph.not_compared import NotCompared
    from morph_tasks.codegraph.picture import Picture

_WIDE = 48
_MOST = 40  # seeds that are listed for people
MOVED = "lines may have moved since"
UNCOMPARED = "whether files differ from what was extracted is not known"


class Asked(NamedTuple):
    """The switches of one question."""

    depth: int = 2
    prod: bool = False
    uses_only: bool = False
    mentions: bool = False  # compare with the text however many consumers there are, and list all lines

    def words(self) -> str:
        """Return what was looked for, in words."""
        what = "consumers" if self.uses_only else "consumers and subtypes"
        return f"{what} to depth {self.depth}{', test code left out' if self.prod else ''}"


class Answer(NamedTuple):
    """One answer. `mentions` is None when no symbol was asked for.

    `untested`: test code of the language is not in the graph, so that none in the answer is not known to be none.
    """

    seeds: Sequence[Symbol]
    asked: Asked
    reach: Reach
    freshness: Freshness
    mentions: Mentions | NotCompared | None = None
    undecided: Sequence[dict[str, Any]] = ()
    changed: Changed | None = None
    untested: bool = False

    @property
    def hits(self) -> list[Hit]:
        return self.reach.hits

    def as_json(self) -> dict[str, Any]:
        """Return the document of `--json`."""
        names = self._names()
        what = self.changed.as_json() if self.changed else {"symbol": symbol_json(self.seeds[0])}
        return {
            "ok": True,
            **what,
            "symbols": [symbol_json(one) for one in self.seeds],
            "depth": self.asked.depth,
            "prod": self.asked.prod,
            "usesOnly": self.asked.uses_only,
            "freshness": freshness_json(self.freshness),
            "counts": {
                "affected": len(self.hits),
                "direct": sum(hit.depth == 1 for hit in self.hits),
                "test": sum(hit.test for hit in self.hits) or (None if self.untested else 0),
            },
            "testsNotInGraph": self.untested,
            "affected": [_hit_json(hit, names) for hit in self.hits],
            "undecided": list(self.undecided),
            "lookedAt": {"members": len(self.reach.members), "overridden": len(self.reach.stones)},
            "leftOut": {"tests": self.reach.tests_left_out, "inheritance": self.reach.inheritance_left_out},
            "mentions": self.mentions.as_json() if self.mentions else None,
            "mentionsTotal": self.mentions.total if self.mentions else None,
            "mentionsError": self.mentions.reason() if self.mentions else None,
            **(self.mentions.more_json() if self.mentions else {}),
        }

    def picture(self) -> Picture:
        """Return what is drawn of it."""
        from morph_tasks.codegraph.picture import of_answer

        return of_answer(self)

    def _names(self) -> dict[int, Symbol]:
        return {**self.reach.targets, **{one.id: one for one in self.seeds}}

    def lines(self) -> list[str]:
        """Return the answer for people."""
        told = [] if self.changed is None else self.changed.head()
        told += [seed_line(one) for one in self.seeds[:_MOST]]
        if len(self.seeds) > _MOST:
            told.append(f"… and {len(self.seeds) - _MOST} more")
        told += self.summary()
        targets = self._names()
        for depth in range(1, self.asked.depth + 1):
            layer = [hit for hit in self.hits if hit.depth == depth]
            if layer:
                told += ["", "directly" if depth == 1 else f"at distance {depth}", *_table(layer, targets)]
        if self.changed is not None and (more := self.changed.lines()):
            told += ["", *more]
        if self.undecided:
            told += ["", *undecided_lines(self.undecided)]
        if self.mentions is not None and (lines := self.mentions.lines()):
            told += ["", *lines]
        return [*told, "", *words(self.freshness.left_out), freshness_line(self.freshness)]

    def _untested(self) -> str:
        from morph_tasks.codegraph.dotnet_tests import TOLD

        return TOLD if self.untested else ""

    def summary(self) -> Iterator[str]:
        """Say how many there are, or what was looked at."""
        left = []
        if self.reach.tests_left_out:
            left.append(f"{_many(self.reach.tests_left_out, 'consumer')} in test code left out by --prod")
        if self.reach.inheritance_left_out:
            left.append(f"{_many(self.reach.inheritance_left_out, 'subtype')} left out by --uses-only")
        if self.hits:
            direct = sum(hit.depth == 1 for hit in self.hits)
            tests = sum(hit.test for hit in self.hits)
            it = "it" if len(self.seeds) == 1 else "them"
            in_tests = f"{tests} in test code" if tests or not self.untested else ""
            told = [f"{_depend(len(self.hits))} on {it}: {direct} directly", in_tests, self._untested()]
            yield "; ".join(filter(None, told))
        elif self.seeds:
            looked = [f"{len(self.seeds)} symbols" if len(self.seeds) > 1 else "the symbol"]
            if self.reach.members:
                looked.append(_many(len(self.reach.members), "member"))
            if self.reach.stones:
                looked.append(f"{_many(len(self.reach.stones), 'member')} of supertypes that they override")
            it = "it" if len(self.seeds) == 1 else "them"
            yield f"the graph has nothing that depends on {it}; looked at {', '.join(looked)} for {self.asked.words()}"
            left.append(self._untested())
        left = [one for one in left if one]
        if left:
            yield "; ".join(left)


def seed_line(symbol: Symbol) -> str:
    """Return a symbol with its kind and place."""
    where = place(symbol.file, symbol.line) or ("outside of the project" if symbol.external else "no place known")
    inside = f"  in {printable(symbol.namespace)}" if symbol.namespace else ""
    return f"{shown(symbol)}  {symbol.kind}  {where}{inside}{'  (test)' if symbol.test else ''}"


def freshness_json(found: Freshness) -> dict[str, Any]:
    """Return how old the graph is, as `graph status` tells it."""
    differs = found.drift.as_json() if found.drift is not None else None
    told = {"state": found.state, "reason": found.reason or None, "detail": found.detail or None, "differs": differs}
    return {**told, "notCheckedOut": found.left_out}


def freshness_line(found: Freshness) -> str:
    """Return one line on the age of the graph."""
    if found.state == "fresh":
        if found.drift is None:
            return f"graph: fresh for HEAD; {UNCOMPARED}"
        if len(found.drift):
            return f"graph: fresh for HEAD; {found.drift.words()}; {MOVED}; {found.way_out}"
        return "graph: fresh" if found.drift.complete else f"graph: fresh for HEAD; {found.drift.words()}"
    why = found.detail or found.reason or "not known to be of this commit"
    return f"graph: {found.state}, {MOVED} ({printable(str(why))}); {found.way_out}"


def columns(rows: Sequence[tuple[str, str, str, str]]) -> list[str]:
    """Return rows of name, relation, place and remark below each other."""
    first, second = (max((len(row[at]) for row in rows if len(row[at]) <= _WIDE), default=0) for at in (0, 1))
    told: list[str] = []
    for name, word, where, remark in rows:
        if len(name) > _WIDE:  # on a line of its own, so that the columns stay
            told.append(f"  {name}")
            name = ""
        told.append(f"  {name:<{first}}  {word:<{second}}  {where}  {remark}".rstrip())
    return told


def relation_words(relation: str, via: str) -> str:
    """Return a relation with where it comes from, if graphify did not say it so."""
    return printable(relation) if via == "direct" else f"{printable(relation)} ({via})"


def _table(layer: Sequence[Hit], symbols: dict[int, Symbol]) -> list[str]:
    rows = []
    for hit in layer:
        target = symbols.get(hit.target)
        words = relation_words(hit.relation, hit.via)
        remarks = [f"of {shown(target)}"] if target is not None and (hit.depth > 1 or hit.target != hit.through) else []
        remarks += ["test"] if hit.test else []
        rows.append((shown(hit.symbol), words, place(hit.file, hit.line), ", ".join(remarks)))
    return columns(rows)


def undecided_lines(found: Sequence[dict[str, Any]]) -> list[str]:
    """Return the references that may mean a symbol and may mean another one of its name, for people."""
    rows = []
    for one in found:
        options = ", ".join(printable(option["path"] or option["id"]) for option in one["options"])
        rows.append((one["name"], printable(one["relation"]), place(one["site"]["path"], one["site"]["line"]), options))
    return ["may mean it, or another symbol of the name:", *columns(rows)]


def _hit_json(hit: Hit, symbols: dict[int, Symbol]) -> dict[str, Any]:
    return {
        **symbol_json(hit.symbol),
        "depth": hit.depth,
        "relation": hit.relation,
        "via": hit.via,
        "site": {"path": hit.file, "line": hit.line},
        "through": _short(hit.through, symbols),
        "target": _short(hit.target, symbols),
        "more": [edge_json(one) for one in hit.more],
    }


def edge_json(edge: Edge) -> dict[str, Any]:
    """Return an edge without its ends."""
    return {"relation": edge.relation, "via": edge.via, "site": {"path": edge.file, "line": edge.line}}


def _short(number: int, symbols: dict[int, Symbol]) -> dict[str, Any] | None:
    symbol = symbols.get(number)
    return {"id": symbol.key, "name": shown(symbol)} if symbol else None


def _many(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"


def _depend(count: int) -> str:
    return f"{count} symbol depends" if count == 1 else f"{count} symbols depend"
