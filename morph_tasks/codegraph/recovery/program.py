"""What expressions of a program are values of: names, members, calls, followed through all its files.

A value is a tuple, its first item says what it is: `("cls", Type, arguments)` a class itself, `("inst", Type,
arguments)` one of its instances, `("super", Type, arguments)` one whose own members are passed over, `("fun", Facts,
Def, bindings)` a function, `("mod", language, key)` a module or a package, `("seq", values)`, `("map", keys,
values)`, `("tuple", (values, …))`, `("late", values)` something awaited, `("fn", values)` something that gives values
when called, `("meta", values)` a class as a value, `("tp", Def, i)` a type parameter, `("self",)` the receiver,
whatever it is, `("foreign", name)` an instance of a type that is not of this tree. Nothing known is the empty tuple:
nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from morph_tasks.codegraph.recovery.model import Def, Expr, Facts

Value = tuple[Any, ...]
Values = tuple[Value, ...]
NOTHING: Values = ()
_DEEPEST = 40
_MOST = 8


@dataclass(slots=True, eq=False, repr=False)
class Type:
    """A class, an interface or a struct, in all its parts."""

    name: str
    parts: list[tuple[Facts, Def]] = field(default_factory=list)
    outer: dict[str, list[tuple[Facts, Def]]] = field(default_factory=dict)  # members that are declared outside of it
    lines: list[tuple[Type, tuple[Values, ...]]] | None = None  # itself and its bases, nearest first

    @property
    def generics(self) -> tuple[str, ...]:
        return next((one.generics for _, one in self.parts if one.generics), ())


@dataclass(frozen=True, slots=True)
class Found:
    """A member: where it was found and what it is there (a definition, or the expressions that a field holds)."""

    owner: Type
    bindings: Mapping[Any, Values]
    facts: Facts
    definition: Def | None
    held: tuple[tuple[int, Expr], ...] = ()
    key: tuple[str, int, str] = ("", 0, "")


class World(Protocol):
    """How a language finds what is not in the scopes of a file; `pairs`: iterating a mapping gives keys and values."""

    pairs: bool

    def outside(self, facts: Facts, scope: int, name: str) -> Values:
        """Return what a name stands for that no scope of the file holds."""

    def module(self, facts: Facts, expr: Expr) -> Values:
        """Return what an import names."""

    def attribute(self, key: Any, name: str) -> Values:
        """Return what a module or package gives under a name."""

    def extension(self, facts: Facts, scope: int, value: Value, name: str) -> list[Found]:
        """Return the members that are declared outside of a type."""

    def foreign(self, expr: Expr) -> Values:
        """Return an instance of a type that is not of this tree."""

    def builtin(self, value: Value, name: str, program: Program) -> Values:
        """Return what a member of a container gives."""


class Program:
    """All files of one language, and what their expressions are values of."""

    def __init__(self, files: Iterable[Facts]) -> None:
        self.files = {one.path: one for one in files}
        self.types: dict[tuple[str, int], Type] = {}
        self.world: World
        self.owners: dict[int, Type] = {}  # of definitions that lie outside of their type
        self._names: dict[tuple[str, int, str], Values] = {}
        self._results: dict[int, Values] = {}
        self._members: dict[tuple[int, bool, str], list[Found]] = {}
        self._fields: dict[tuple[str, int, str], Values] = {}
        self._values: dict[tuple[str, int, int], Values] = {}
        self._depth = 0
        self._homes = {id(one): facts for facts in self.files.values() for one in facts.defs}

    def type_of(self, facts: Facts, definition: Def) -> Type:
        """Return the type that a definition is, or is a part of."""
        key = (facts.path, definition.at)
        if key not in self.types:
            self.types[key] = Type(definition.name, [(facts, definition)])
        return self.types[key]

    def enclosing(self, facts: Facts, scope: int) -> Type | None:
        """Return the class around a scope."""
        at = facts.scopes[scope].owner
        while at >= 0:
            definition = facts.defs[at]
            if definition.kind in ("class", "interface"):
                return self.type_of(facts, definition)
            if id(definition) in self.owners:
                return self.owners[id(definition)]
            at = definition.owner
        return None

    # --- expressions

    def value(self, facts: Facts, scope: int, expr: Expr) -> Values:
        """Return what an expression can be a value of; nothing when that is not proved."""
        own = _EVALUATE.get(expr[0])
        if own is None or self._depth > _DEEPEST:
            return NOTHING
        key = (facts.path, scope, id(expr))  # the files keep their expressions
        known = self._values.get(key)
        if known is not None:
            return known
        self._values[key] = NOTHING
        self._depth += 1
        try:
            found: Values = own(self, facts, scope, expr)
        finally:
            self._depth -= 1
        if len(found) > 1:
            found = tuple(dict.fromkeys(found))[:_MOST]
        self._values[key] = found
        return found

    def name(self, facts: Facts, scope: int, name: str) -> Values:
        """Return what a name stands for, from the innermost scope outwards."""
        key = (facts.path, scope, name)
        known = self._names.get(key)
        if known is not None:
            return known
        self._names[key] = NOTHING  # what is defined by itself is not known
        found = self._names[key] = self._look(facts, scope, name)
        return found

    def type_name(self, facts: Facts, scope: int, name: str) -> Values:
        """Return the type that C# means by a name, past members that are called like it."""
        key = (facts.path, scope, f"type {name}")
        known = self._names.get(key)
        if known is not None:
            return known
        self._names[key] = NOTHING
        at, found = scope, NOTHING
        while at >= 0 and not found:
            here = facts.scopes[at]
            found = self._all(facts, at, [one for one in here.names.get(name, ()) if one[0] in ("tp", "path")])
            if not found and here.kind == "class":
                owner = self.type_of(facts, facts.defs[here.owner])
                inside = self.members(("cls", owner, self.own_arguments(owner)), name)
                kept = [one for one in inside if one.definition and one.definition.kind in ("class", "interface")]
                found = tuple(value for one in kept for value in self.content(one))
            at = here.parent
        self._names[key] = found = found or self.world.outside(facts, scope, name)
        return found

    def _look(self, facts: Facts, scope: int, name: str) -> Values:
        at, start = scope, True
        while at >= 0:
            here = facts.scopes[at]
            held = here.names.get(name)
            if held is not None:
                if here.kind != "class" or (start and facts.language == "python"):
                    return self._all(facts, at, held)
                kept = [one for one in held if one[0] == "tp"]
                if kept:
                    return self._all(facts, at, kept)
            if here.kind == "class" and facts.language == "csharp":
                inherited = self._implicit(facts, here.owner, name)
                if inherited is not None:
                    return inherited
            at, start = here.parent, start and here.kind != "function"
        return self.world.outside(facts, scope, name)

    def _implicit(self, facts: Facts, at: int, name: str) -> Values | None:
        """Return a member that C# names without its receiver; None when the class has none."""
        owner = self.type_of(facts, facts.defs[at])
        found = self.members(("inst", owner, self.own_arguments(owner)), name)
        return tuple(value for one in found for value in self.content(one)) if found else None

    def _all(self, facts: Facts, scope: int, held: Iterable[Expr]) -> Values:
        return tuple(value for one in held for value in self.value(facts, scope, one))

    # --- types

    def instance(self, values: Values) -> Values:
        """Return values of the types that are given."""
        return tuple(made for one in values for made in _instances(self, one))

    def own_arguments(self, owner: Type) -> tuple[Values, ...]:
        """Return the type parameters of a class as they are within it."""
        definition = next((one for _, one in owner.parts if one.generics), None)
        return tuple((("tp", definition, at),) for at in range(len(definition.generics))) if definition else ()

    def ancestry(self, owner: Type) -> list[tuple[Type, tuple[Values, ...]]]:
        """Return a type and what it derives from, each with its arguments in the terms of the type."""
        if owner.lines is None:
            owner.lines = [(owner, self.own_arguments(owner))]
            found = list(owner.lines)
            for facts, definition in owner.parts:
                for base in definition.bases:
                    for value in self.value(facts, _head(definition), base):
                        if value[0] == "cls" and value[1] is not owner:
                            bound = self.bindings(value[1], value[2])
                            found += [
                                (one, tuple(self.put(each, bound) for each in given))
                                for one, given in self.ancestry(value[1])
                            ]
            first: dict[int, tuple[Type, tuple[Values, ...]]] = {}
            for line in found:
                first.setdefault(id(line[0]), line)
            owner.lines = list(first.values())[:64]
        return owner.lines

    def bindings(self, owner: Type, arguments: tuple[Values, ...]) -> dict[Any, Values]:
        """Return what the type parameters of a class stand for."""
        return {
            (id(definition), at): given
            for _, definition in owner.parts
            for at, given in enumerate(arguments[: len(definition.generics)])
        }

    def put(self, values: Values, bound: Mapping[Any, Values]) -> Values:
        """Put what is bound in the place of type parameters and of the receiver."""
        if not bound or not values:
            return values
        return tuple(new for one in values for new in _put(self, one, bound))

    # --- members

    def members(self, value: Value, name: str) -> list[Found]:
        """Return the members of a value that have a name: those of the nearest type that has any."""
        if value[0] == "tp":
            limit = value[1].limits.get(value[1].generics[value[2]])
            home = self._homes.get(id(value[1]))
            if limit is None or home is None:
                return []
            return [
                m for one in self.instance(self.value(home, value[1].scope, limit)) for m in self.members(one, name)
            ]
        if value[0] not in ("inst", "cls", "super"):
            return []
        owner, arguments = value[1], value[2]
        key = (id(owner), value[0] == "super", name)
        known = self._members.get(key)
        if known is None:
            known = self._members[key] = self._nearest(owner, name, 1 if value[0] == "super" else 0)
        if not known or not (arguments or known[0].bindings):
            return known or []
        return [replace(one, bindings=self._bound(value, one.bindings)) for one in known]

    def _nearest(self, owner: Type, name: str, first: int) -> list[Found]:
        for home, given in self.ancestry(owner)[first:]:
            found = self._declared(home, name, self.bindings(home, given))
            if found:
                return found
        return []

    def _bound(self, value: Value, within: Mapping[Any, Values]) -> dict[Any, Values]:
        outer = self.bindings(value[1], value[2])
        return {key: self.put(held, outer) for key, held in within.items()}

    def _declared(self, owner: Type, name: str, bound: Mapping[Any, Values]) -> list[Found]:
        found = [Found(owner, bound, facts, definition) for facts, definition in owner.outer.get(name, ())]
        for facts, definition in owner.parts:
            held = [one for one in facts.scopes[definition.scope].names.get(name, ()) if one[0] != "tp"]
            found += [Found(owner, bound, facts, facts.defs[one[1]]) for one in held if one[0] == "d"]
            rest = [(definition.scope, one) for one in held if one[0] != "d"] + definition.fields.get(name, [])
            if rest:
                found.append(Found(owner, bound, facts, None, tuple(rest), (facts.path, definition.at, name)))
        return found

    def content(self, found: Found, receiver: Values = NOTHING) -> Values:
        """Return what a member of a receiver holds."""
        definition = found.definition
        bound = {**found.bindings, "self": receiver} if receiver else found.bindings
        if definition is None:
            return self.put(self._field(found), bound)
        if definition.kind in ("class", "interface"):
            return (("cls", self.type_of(found.facts, definition), ()),)
        if definition.kind == "property":
            return self.put(self.result(found.facts, definition), bound)
        return (("fun", found.facts, definition, _Bound(bound)),)

    def _field(self, found: Found) -> Values:
        known = self._fields.get(found.key)
        if known is None:
            self._fields[found.key] = NOTHING
            held = tuple(v for scope, expr in found.held for v in self.value(found.facts, scope, expr))
            known = self._fields[found.key] = tuple(dict.fromkeys(held))[:_MOST]
        return known

    def result(self, facts: Facts, definition: Def) -> Values:
        """Return what a function gives, in its own terms."""
        known = self._results.get(id(definition))
        if known is not None:
            return known
        self._results[id(definition)] = NOTHING
        if definition.result is not None:
            found = self.instance(self.value(facts, definition.scope, definition.result))
            if not found and facts.language == "csharp":
                found = self.world.foreign(definition.result)
        elif "changed" in definition.flags:
            found = NOTHING
        else:
            found = self._all(facts, definition.scope, definition.returned)
        if "async" in definition.flags and not any(one[0] == "late" for one in found):
            found = (("late", found),) if found else NOTHING
        self._results[id(definition)] = found
        return found

    def called(self, value: Value) -> Values:
        """Return what calling a value gives."""
        if value[0] == "cls":
            return (("inst", value[1], value[2]),)
        if value[0] == "fun" and "changed" not in value[2].flags:
            return self.put(self.result(value[1], value[2]), value[3].held if value[3] else {})
        if value[0] in ("fn", "meta"):
            return self.instance(value[1])
        if value[0] == "inst":
            found = self.members(value, "__call__")
            return tuple(v for one in found for made in self.content(one) for v in self.called(made))
        return NOTHING

    def attribute(self, facts: Facts, scope: int, value: Value, name: str) -> Values:
        """Return what a value gives under a name."""
        if value[0] == "mod":
            return self.world.attribute(value[2], name)
        found = self.members(value, name)
        if not found:
            found = self.world.extension(facts, scope, value, name)
        if found:
            receiver = (value,) if value[0] == "inst" else NOTHING
            return tuple(v for one in found for v in self.content(one, receiver))
        return self.world.builtin(value, name, self)


class _Bound:
    """What type parameters are bound to; equal only to itself, so that functions can be told apart."""

    __slots__ = ("held",)

    def __init__(self, held: Mapping[Any, Values]) -> None:
        self.held = held


def _head(definition: Def) -> int:
    return definition.head if definition.head >= 0 else definition.scope


def _instances(program: Program, value: Value) -> Values:
    kind = value[0]
    if kind == "cls":
        return (("inst", value[1], value[2] or program.own_arguments(value[1])[:0]),)
    if kind in ("seq", "late", "fn"):
        return ((kind, program.instance(value[1])),)
    if kind == "map":
        return (("map", program.instance(value[1]), program.instance(value[2])),)
    if kind == "tuple":
        return (("tuple", tuple(program.instance(each) for each in value[1])),)
    if kind == "meta":
        return tuple(value[1])
    return (value,) if kind in ("inst", "tp", "self", "foreign") else NOTHING


def _put(program: Program, value: Value, bound: Mapping[Any, Values]) -> Values:
    kind = value[0]
    if kind == "tp":
        return bound.get((id(value[1]), value[2]), (value,))
    if kind == "self":
        return bound.get("self", NOTHING)
    if kind in ("inst", "cls") and value[2]:
        return ((kind, value[1], tuple(program.put(each, bound) for each in value[2])),)
    if kind in ("seq", "late", "fn", "meta"):
        return ((kind, program.put(value[1], bound)),)
    if kind == "map":
        return (("map", program.put(value[1], bound), program.put(value[2], bound)),)
    if kind == "tuple":
        return (("tuple", tuple(program.put(each, bound) for each in value[1])),)
    return (value,)


def _evaluators() -> dict[str, Any]:
    from morph_tasks.codegraph.recovery import expressions

    return expressions.TABLE


_EVALUATE: dict[str, Any] = _evaluators()
