"""Judge the links that graphify inferred from a name alone: does the name mean that definition where it stands?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from morph_tasks.codegraph.recovered import Link
from morph_tasks.codegraph.recovery.model import Expr, Facts, Site
from morph_tasks.codegraph.recovery.nodes import INFERRED, Inferred
from morph_tasks.codegraph.recovery.program import Values
from morph_tasks.codegraph.recovery.record import Edges

_HELD = 8  # what a scope remembers of a name; with so many there may be more


@dataclass(slots=True)
class Judged:
    """The links that are wrong, and those of which the source does not tell."""

    refuted: list[Link] = field(default_factory=list)
    guessed: list[Link] = field(default_factory=list)

    def all_of(self, edges: Edges) -> None:
        """Judge the links in the files of a program; one that is wrong hides no other use of the same."""
        for path, facts in edges.program.files.items():
            for link in edges.nodes.inferred.pop(path, ()):
                told = _told(edges, facts, link)
                if told is None:
                    self.guessed.append((link.source, link.target, INFERRED, link.line))
                elif not told:
                    self.refuted.append((link.source, link.target, INFERRED, link.line))
                    if link[:2] not in edges.nodes.firm:
                        edges.nodes.pairs.discard(link[:2])

    def rest(self, unread: Iterable[list[Inferred]]) -> None:
        """Take the links in files that were not read as guessed."""
        self.guessed += [(link.source, link.target, INFERRED, link.line) for links in unread for link in links]


def _told(edges: Edges, facts: Facts, link: Inferred) -> bool | None:
    """Tell whether the source proves a link (True) or refutes it (False)."""
    known = edges.nodes.names.get(link.target)
    if known is None:
        return None
    sites = [one for one in facts.sites if one.line == link.line and one.name == known[1]]
    try:
        return _together(_Question(edges, facts, link.target, known[0]).site(one) for one in sites) if sites else None
    except RecursionError:
        return None


def _together(told: Iterable[bool | None]) -> bool | None:
    """Let one proof do, and no doubt be left by what refutes."""
    every = list(told)
    return True if True in every else None if None in every else False


@dataclass(frozen=True, slots=True)
class _Question:
    """Whether names of a file mean one definition."""

    edges: Edges
    facts: Facts
    target: str
    path: str

    def site(self, site: Site) -> bool | None:
        if site.scope < 0:
            return None
        if site.receiver is not None:
            return self._asked_of(site, site.receiver)
        at, start = site.scope, self.facts.language == "python"
        while at >= 0:
            here = self.facts.scopes[at]
            held = here.names.get(site.name)
            if held is not None and (here.kind != "class" or start):
                told = _together(self._held(at, one, site.name) for one in held)
                return None if told is False and len(held) >= _HELD else told
            at, start = here.parent, start and here.kind != "function"
        outside = self.edges.program.world.outside(self.facts, site.scope, site.name)
        if self._means(outside):
            return True
        # Without a star what no scope holds is Python's own; elsewhere another script may have declared it.
        return False if self.facts.language == "python" and not self.facts.stars else None

    def _held(self, at: int, expr: Expr, name: str) -> bool | None:
        """Tell of one thing that a scope holds under the name."""
        if expr[0] == "d":
            return self.edges.node(self.facts, self.facts.defs[expr[1]]) == self.target
        found = self.edges.program.value(self.facts, at, expr)
        if self._means(found):
            return True
        if expr[0] == "a" and expr[1][0] == "mod":
            return False if found else self._imported(expr[1])
        unknown = expr[0] == "a" and expr[2] == name and not found  # a member of something whose type is not known
        return None if unknown or (expr[0] == "mod" and self.facts.language != "python") else False

    def _imported(self, module: Expr) -> bool | None:
        """Tell of a name that is imported, of which the module says nothing that is read."""
        places = [one[2] for one in self.edges.program.world.module(self.facts, module)]
        if places:
            return None if self.path in places else False
        stem = self.path.removesuffix("/__init__.py").rpartition("/")[2].partition(".")[0]
        return None if self.facts.language != "python" or stem == str(module[1]).rpartition(".")[2] else False

    def _asked_of(self, site: Site, receiver: Expr) -> bool | None:
        """Tell of a name in quotes: it proves nothing where it is not known of what it is asked."""
        program, proved = self.edges.program, False
        values = program.value(self.facts, site.scope, receiver)
        for value in values:
            members = program.members(value, site.name)
            nodes = [self.edges.node(one.facts, one.definition) for one in members if one.definition]
            proved |= self.target in nodes
            proved |= self._means(program.attribute(self.facts, site.scope, value, site.name))
        return True if proved else None if values else False

    def _means(self, values: Values) -> bool:
        return any(one[0] == "fun" and self.edges.node(one[1], one[2]) == self.target for one in values)
