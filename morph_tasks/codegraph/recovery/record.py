"""Turn what files use into edges between nodes of the graph."""

from __future__ import annotations

from dataclasses import dataclass, field

from morph_tasks.codegraph.recovery.model import Def, Expr, Facts, Use
from morph_tasks.codegraph.recovery.nodes import Nodes
from morph_tasks.codegraph.recovery.program import Found, Program, Type, Value, Values

_OWN = frozenset({"self", "cls", "super"})
_INNER = frozenset({"e", "k", "w", "t"})
_DERIVES = frozenset({"inherits", "implements", "embeds"})
_BUILT = ("__init__", "constructor", ".ctor")


@dataclass(slots=True)
class Edges:
    """The edges that are found: (source, target) -> (relation, file, line)."""

    program: Program
    nodes: Nodes
    found: dict[tuple[str, str], tuple[str, str, int]] = field(default_factory=dict)
    built: set[tuple[str, str]] = field(default_factory=set)  # (type, constructor)
    _of: dict[int, str | None] = field(default_factory=dict)
    _places: dict[tuple[str, int], str | None] = field(default_factory=dict)

    def uses(self, facts: Facts) -> None:
        """Note what each use of a file proves."""
        for use in facts.uses:
            source = self.place(facts, use.scope)
            if source is not None:
                self._walk(_Site(facts, use, source), use.expr, use.relation)

    def place(self, facts: Facts, scope: int) -> str | None:
        """Return the node of the smallest definition around a scope that the graph knows."""
        owner = facts.scopes[scope].owner
        if (facts.path, owner) not in self._places:
            self._places[facts.path, owner] = self._place(facts, owner)
        return self._places[facts.path, owner]

    def _place(self, facts: Facts, at: int) -> str | None:
        while at >= 0:
            node = self.node(facts, facts.defs[at])
            if node is not None and "field" not in facts.defs[at].flags:
                return node
            at = facts.defs[at].owner
        return self.nodes.files.get(facts.path)

    def node(self, facts: Facts, definition: Def) -> str | None:
        """Return the node of a definition; that of any part of a class that has several."""
        if id(definition) not in self._of:
            self._of[id(definition)] = self._search(facts, definition)
        return self._of[id(definition)]

    def _search(self, facts: Facts, definition: Def) -> str | None:
        found = self._node(facts, definition)
        if found is None and definition.kind in ("class", "interface"):
            parts = self.program.type_of(facts, definition).parts
            found = next((key for f, d in parts if (key := self._node(f, d)) is not None), None)
        return found

    def _node(self, facts: Facts, definition: Def) -> str | None:
        member = "member" in definition.flags
        return self.nodes.definition(facts.path, definition.name, definition.line, member=member)

    def add(self, site: _Site, facts: Facts, definition: Def, relation: str) -> bool:
        """Note an edge; False when the graph has no node for the target."""
        target = self.node(facts, definition)
        if target is None:
            return False
        if relation in _DERIVES and not self._is_type(site):
            relation = "references"  # a class without a node of its own, in a function that has one
        self.join(site.source, target, relation, site.facts.path, site.use.line)
        return True

    def _is_type(self, site: _Site) -> bool:
        owner = site.facts.scopes[site.scope].owner
        return owner >= 0 and self.node(site.facts, site.facts.defs[owner]) == site.source

    def join(self, source: str, target: str, relation: str, path: str, line: int) -> None:
        """Note an edge that the graph does not have; what is called says more than what is named."""
        if source != target and (source, target) not in self.nodes.pairs:
            known = self.found.get((source, target))
            if known is None or (known[0] == "references" and relation == "calls"):
                self.found[source, target] = (relation, path, line)

    def derive(self, source: str, target: str, relation: str, path: str, line: int) -> None:
        """Note that a type derives from another one, which says more than that it names it."""
        if source != target and (source, target) not in self.nodes.derives:
            self.found[source, target] = (relation, path, line)

    def _walk(self, site: _Site, expr: Expr, relation: str) -> Values:
        """Note what each step of a chain names, and return what the whole is a value of."""
        kind, program = expr[0], self.program
        if kind == "a":
            return self._attribute(site, expr, relation)
        if kind == "c":
            self._walk(site, expr[1], "calls")
        elif kind == "n":
            found = program.value(site.facts, site.scope, expr)
            self._named(site, found, relation)
            if site.facts.language == "csharp":
                self._implicit(site, expr[1], relation)
            return found
        elif kind == "tn":
            self._named(site, program.value(site.facts, site.scope, expr), relation)
        elif kind in _INNER:
            base = self._walk(site, expr[1], "references")
            if kind == "e":
                self._iterated(site, base)
        elif kind == "g":
            self._walk(site, expr[1], relation)
            for one in expr[2]:
                self._walk(site, one, "references")
        return program.value(site.facts, site.scope, expr)

    def _iterated(self, site: _Site, values: Values) -> None:
        """Note the method that iterating over an object of the program runs."""
        for value in values:
            for name in ("__iter__", "GetEnumerator"):
                self._members(site, value, self.program.members(value, name), "calls", False)

    def _named(self, site: _Site, values: Values, relation: str) -> None:
        for value in values:
            if value[0] == "fun":
                self.add(site, value[1], value[2], relation)
            elif value[0] in ("cls", "meta"):
                for one in (value,) if value[0] == "cls" else value[1]:
                    if one[0] == "cls":
                        self._type(site, one[1], relation)
                        if relation == "calls":
                            self._built(site, one)

    def _type(self, site: _Site, owner: Type, relation: str) -> None:
        facts, definition = owner.parts[0]
        self.add(site, facts, definition, relation)

    def _built(self, site: _Site, value: Value) -> None:
        """Note the constructor that a class of the program runs."""
        owner = self.node(*value[1].parts[0])
        for name in _BUILT:
            for one in self.program.members(value, name):
                if one.definition is None:
                    continue
                target = self.node(one.facts, one.definition)
                if owner is not None and target is not None and self._calls(site.source, owner):
                    self.built.add((owner, target))
                else:
                    self.add(site, one.facts, one.definition, "calls")

    def _calls(self, source: str, target: str) -> bool:
        """Tell whether the answers will have a call from one node to another."""
        pair = (source, target)
        return pair in self.nodes.calls or (pair in self.found and self.found[pair][0] == "calls")

    def _attribute(self, site: _Site, expr: Expr, relation: str) -> Values:
        base = self._walk(site, expr[1], "references")
        own = expr[1][0] in _OWN or (expr[1][0] == "n" and self._is_receiver(site, expr[1][1]))
        values: list[Value] = []
        for value in base:
            given = self.program.attribute(site.facts, site.scope, value, expr[2])
            values += given
            if value[0] == "mod":
                self._named(site, given, relation)
                continue
            found = self.program.members(value, expr[2])
            outside = not found
            if outside:
                found = self.program.world.extension(site.facts, site.scope, value, expr[2])
            self._members(site, value, _fitting(found, site.arguments(expr)), relation, own)
        return tuple(values)

    def _implicit(self, site: _Site, name: str, relation: str) -> None:
        """Note an inherited or own field that C# names without its receiver."""
        at = site.scope
        while at >= 0:
            scope = site.facts.scopes[at]
            if name in scope.names and scope.kind != "class":
                return
            if scope.kind == "class":
                owner = self.program.type_of(site.facts, site.facts.defs[scope.owner])
                value = ("inst", owner, self.program.own_arguments(owner))
                found = self.program.members(value, name)
                if found:
                    self._members(site, value, _fitting(found, site.arguments(("n", name))), relation, True)
                    return
            at = scope.parent

    def _members(self, site: _Site, value: Value, found: list[Found], relation: str, own: bool) -> None:
        """Note members that are used, and the type whose they are where the graph does not say it through them."""
        receiver = value[1] if value[0] in ("inst", "cls", "super") else None
        for one in found:
            shown = False
            if one.definition is not None:
                how = "calls" if one.definition.kind == "property" else relation
                shown = self.add(site, one.facts, one.definition, how)
                if one.definition.kind == "property":
                    shown = False
            here = self.program.enclosing(site.facts, site.scope)
            if not shown and one.owner is not here and receiver in (None, one.owner):
                self._type(site, one.owner, "references")
            if not own and receiver is not None and receiver is not one.owner and receiver is not here:
                self._type(site, receiver, "references")

    def _is_receiver(self, site: _Site, name: str) -> bool:
        at = site.scope
        while at >= 0:
            scope = site.facts.scopes[at]
            if name in scope.names and scope.kind != "class":
                return scope.names[name] in ([("self",)], [("cls",)])
            at = scope.parent
        return False


@dataclass(frozen=True, slots=True)
class _Site:
    """Where something is used."""

    facts: Facts
    use: Use
    source: str

    @property
    def scope(self) -> int:
        return self.use.scope

    def arguments(self, step: Expr) -> int | None:
        """Return with how many arguments a step is called; None when it is not called or they are not counted."""
        at = self.use.expr
        while at and isinstance(at, tuple):
            if at[0] == "c" and at[1] == step:
                return at[3] if len(at) > 3 else None
            at = at[1] if len(at) > 1 and isinstance(at[1], tuple) else ()
        return None


def _fitting(found: list[Found], given: int | None) -> list[Found]:
    """Return the overloads that take so many arguments; all when none or nothing is told."""
    if given is None or len(found) < 2:
        return found
    fits = [
        one
        for one in found
        if one.definition is None or one.definition.most < 0 or one.definition.least <= given <= one.definition.most
    ]
    return fits or found
