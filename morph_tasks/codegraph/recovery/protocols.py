"""Python's protocols, which classes satisfy without naming them: by all members, with the same parameters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from morph_tasks.codegraph.recovery.model import Def, Expr, Facts
from morph_tasks.codegraph.recovery.program import Program, Type

if TYPE_CHECKING:
    from morph_tasks.codegraph.recovery.record import Edges

_HOMES = frozenset({"typing", "typing_extensions"})


def note(edges: Edges) -> None:
    """Note which classes of a program satisfy which of its protocols."""
    program = edges.program
    classes = [(facts, one) for facts in program.files.values() for one in facts.defs if one.kind == "class"]
    protocols = [(facts, one) for facts, one in classes if _is_protocol(facts, one)]
    ruled_out = {id(one) for _, one in protocols}
    for there, protocol in protocols:
        wanted = dict(_members(program, there, protocol))
        # What only has members of the language's own, `__len__` or `__call__`, is satisfied by half of a program.
        if all(name.startswith("__") for name in wanted):
            continue
        for facts, one in classes:
            if id(one) not in ruled_out and _satisfies(program, program.type_of(facts, one), wanted):
                source, target = edges.node(facts, one), edges.node(there, protocol)
                if source is not None and target is not None:
                    edges.derive(source, target, "implements", facts.path, one.line)


def _is_protocol(facts: Facts, definition: Def) -> bool:
    return any(_names_protocol(facts, base[1] if base[0] == "g" else base) for base in definition.bases)


def _names_protocol(facts: Facts, base: Expr) -> bool:
    top = facts.scopes[0].names
    if base[0] == "n":
        return any(one[0] == "a" and one[2] == "Protocol" and one[1][1] in _HOMES for one in top.get(base[1], ()))
    if base[0] == "a" and base[2] == "Protocol" and base[1][0] == "n":
        return any(one[0] == "mod" and one[1] in _HOMES for one in top.get(base[1][1], ()))
    return False


def _members(program: Program, facts: Facts, protocol: Def) -> Iterator[tuple[str, Def | None]]:
    """Yield what a protocol asks for, that of the protocols it extends included; None for what is no method."""
    for one, _ in reversed(program.ancestry(program.type_of(facts, protocol))):
        for home, definition in one.parts:
            for name, held in home.scopes[definition.scope].names.items():
                if held[0][0] != "tp":
                    yield name, home.defs[held[0][1]] if held[0][0] == "d" else None


def _satisfies(program: Program, one: Type, wanted: dict[str, Def | None]) -> bool:
    for name, asked in wanted.items():
        found = program.members(("inst", one, ()), name)
        if not found:
            return False
        if asked is None or asked.kind != "function":
            continue
        if not any(each.definition is not None and _same(asked, each.definition) for each in found):
            return False
    return True


def _same(asked: Def, given: Def) -> bool:
    """Tell whether a method can be called as another one says; what is decorated may take anything."""
    if given.kind != "function" or "changed" in given.flags or ("async" in asked.flags) != ("async" in given.flags):
        return False
    wanted, own = _parameters(asked), _parameters(given)
    if len(own) < len(wanted) or any(needed for _, _, needed in own[len(wanted) :]):
        return False
    return all(_fits(one, other) for one, other in zip(wanted, own, strict=False))


def _fits(wanted: Expr, own: Expr) -> bool:
    """Tell of two parameters whether they have one name, where a call may give it, and whether both may be left out."""
    (kind, name, needed), (_, other, also_needed) = wanted, own
    return (kind == "positional" or name == other) and (needed or not also_needed)


def _parameters(definition: Def) -> tuple[Expr, ...]:
    bound = "static" not in definition.flags and "member" in definition.flags
    return definition.parameters[1:] if bound else definition.parameters
