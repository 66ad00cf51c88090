"""How each kind of expression is read (see model.py for the kinds)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from morph_tasks.codegraph.recovery.model import Expr, Facts

if TYPE_CHECKING:
    from morph_tasks.codegraph.recovery.program import Program, Value, Values

_ITERATES = ("__iter__", "GetEnumerator")


def _name(program: Program, facts: Facts, scope: int, expr: Expr) -> Values:
    return program.name(facts, scope, expr[1])


def _type_name(program: Program, facts: Facts, scope: int, expr: Expr) -> Values:
    return program.type_name(facts, scope, expr[1])


def _attribute(program: Program, facts: Facts, scope: int, expr: Expr) -> Values:
    base = program.value(facts, scope, expr[1])
    return tuple(v for one in base for v in program.attribute(facts, scope, one, expr[2]))


def _call(program: Program, facts: Facts, scope: int, expr: Expr) -> Values:
    function = expr[1]
    held = program.value(facts, scope, function)
    if not held and expr[2] and function[0] == "n":
        return _passing(program, facts, scope, function[1], expr[2])
    return tuple(v for one in held for v in program.called(one))


def _passing(program: Program, facts: Facts, scope: int, name: str, given: tuple[Expr, ...]) -> Values:
    """Return what Python's own functions make of their arguments."""
    if name == "filter":
        given = given[1:]
    parts = [program.value(facts, scope, one) for one in given]
    first = parts[0] if parts else ()
    if name in ("next", "min", "max"):
        return elements(program, first)
    if name == "enumerate":
        return (("seq", (("tuple", ((), elements(program, first))),)),)
    if name == "zip":
        return (("seq", (("tuple", tuple(elements(program, one) for one in parts)),)),)
    inside = elements(program, first)
    return (("seq", inside),) if inside else ()


def elements(program: Program, values: Values) -> Values:
    """Return what iterating gives."""
    return tuple(v for one in values for v in _element(program, one))


def _element(program: Program, value: Value) -> Values:
    if value[0] == "map" and program.world.pairs:
        return (("tuple", (value[1], value[2])),)
    if value[0] in ("seq", "map"):
        return tuple(value[1])
    if value[0] == "tuple":
        return tuple(v for each in value[1] for v in each)
    if value[0] == "inst":
        for name in _ITERATES:
            made = tuple(v for one in program.members(value, name) for v in program.content(one))
            given = tuple(v for one in made for v in program.called(one))
            if given:
                return tuple(v for one in given if one[0] == "seq" for v in one[1])
        return program.world.builtin(value, "[]", program)
    return ()


def _iterated(program: Program, facts: Facts, scope: int, expr: Expr) -> Values:
    return elements(program, program.value(facts, scope, expr[1]))


def _indexed(program: Program, facts: Facts, scope: int, expr: Expr) -> Values:
    found: list[Value] = []
    for value in program.value(facts, scope, expr[1]):
        if value[0] == "map":
            found += value[2]
        elif value[0] in ("seq", "tuple"):
            found += _element(program, value)
        elif value[0] in ("cls", "fun"):
            found.append(value)  # `Box[int]` is still the class
        elif value[0] == "inst":
            made = tuple(v for one in program.members(value, "__getitem__") for v in program.content(one))
            found += [v for one in made for v in program.called(one)]
            found += program.world.builtin(value, "[]", program)
    return tuple(found)


def _awaited(program: Program, facts: Facts, scope: int, expr: Expr) -> Values:
    base = program.value(facts, scope, expr[1])
    return tuple(v for one in base for v in (one[1] if one[0] == "late" else (one,)))


def _part(program: Program, facts: Facts, scope: int, expr: Expr) -> Values:
    base = program.value(facts, scope, expr[1])
    found: list[Value] = []
    for one in base:
        if one[0] == "tuple" and expr[2] < len(one[1]):
            found += one[1][expr[2]]
        elif one[0] == "seq":
            found += one[1]
    return tuple(found)


def _several(program: Program, facts: Facts, scope: int, expr: Expr) -> Values:
    return tuple(v for one in expr[1] for v in program.value(facts, scope, one))


def _receiver(program: Program, facts: Facts, scope: int, expr: Expr) -> Values:
    owner = program.enclosing(facts, scope)
    if owner is None:
        return ()
    return (({"self": "inst", "cls": "cls", "super": "super"}[expr[0]], owner, program.own_arguments(owner)),)


def _definition(program: Program, facts: Facts, scope: int, expr: Expr) -> Values:
    found = facts.defs[expr[1]]
    if found.kind in ("class", "interface"):
        return (("cls", program.type_of(facts, found), ()),)
    if found.kind == "property":
        return program.result(facts, found)
    return (("fun", facts, found, None),)


def _of_type(program: Program, facts: Facts, scope: int, expr: Expr) -> Values:
    found = program.value(facts, scope, expr[1])
    if not found and facts.language == "csharp" and not _is_parameter(program, facts, scope, expr[1]):
        return program.world.foreign(expr[1])
    return program.instance(found)


def _is_parameter(program: Program, facts: Facts, scope: int, expr: Expr) -> bool:
    return expr[0] == "tn" and any(one[0] == "tp" for one in program.type_name(facts, scope, expr[1]))


def _with_arguments(program: Program, facts: Facts, scope: int, expr: Expr) -> Values:
    arguments = tuple(program.instance(program.value(facts, scope, one)) for one in expr[2])
    base = program.value(facts, scope, expr[1])
    return tuple((one[0], one[1], arguments) if one[0] in ("cls", "inst") else one for one in base)


def _container(program: Program, facts: Facts, scope: int, expr: Expr) -> Values:
    return ((expr[0], tuple(v for one in expr[1] for v in program.value(facts, scope, one))),)


def _mapping(program: Program, facts: Facts, scope: int, expr: Expr) -> Values:
    return (("map", program.value(facts, scope, expr[1]), program.value(facts, scope, expr[2])),)


def _tuple(program: Program, facts: Facts, scope: int, expr: Expr) -> Values:
    return (("tuple", tuple(program.value(facts, scope, one) for one in expr[1])),)


def _wrapped(program: Program, facts: Facts, scope: int, expr: Expr) -> Values:
    return (({"class": "meta"}.get(expr[0], expr[0]), program.value(facts, scope, expr[1])),)


def _given_value(program: Program, facts: Facts, scope: int, expr: Expr) -> Values:
    """Return a function that has no name, of which only what it gives is known."""
    return (("fn", program.value(facts, scope, expr[1])),)


def _parameter(program: Program, facts: Facts, scope: int, expr: Expr) -> Values:
    return (("tp", facts.defs[expr[1]], expr[2]),)


def _module(program: Program, facts: Facts, scope: int, expr: Expr) -> Values:
    return program.world.module(facts, expr)


def _callback(program: Program, facts: Facts, scope: int, expr: Expr) -> Values:
    """Return the parameter of a callback: the element of the container whose method is called with it."""
    found: list[Value] = []
    for value in program.value(facts, scope, expr[1]):
        if value[0] in ("seq", "late"):
            found += value[1] if expr[3] == program_position(expr[2]) else ()
        elif value[0] == "map":
            found += value[2] if expr[3] == 0 else ()
    return tuple(found)


def program_position(method: str) -> int:
    """Return which parameter of a container's callback is the element."""
    return 1 if method in ("reduce", "reduceRight", "Aggregate") else 0


def _arithmetic(program: Program, facts: Facts, scope: int, expr: Expr) -> Values:
    """Return the type that C# gives a sum or a product of its own types."""
    from morph_tasks.codegraph.recovery import csharp_plain

    left, right = (program.value(facts, scope, one) for one in expr[1:])
    kinds = [one[0][1] if len(one) == 1 and one[0][0] == "foreign" else None for one in (left, right)]
    found = csharp_plain.arithmetic(kinds[0], kinds[1])
    return (("foreign", found),) if found else ()


def _same(program: Program, facts: Facts, scope: int, expr: Expr) -> Values:
    return (("self",),)


TABLE: dict[str, Any] = {
    "n": _name,
    "tn": _type_name,
    "a": _attribute,
    "c": _call,
    "e": _iterated,
    "k": _indexed,
    "w": _awaited,
    "t": _part,
    "u": _several,
    "self": _receiver,
    "cls": _receiver,
    "super": _receiver,
    "d": _definition,
    "i": _of_type,
    "g": _with_arguments,
    "seq": _container,
    "map": _mapping,
    "tuple": _tuple,
    "class": _wrapped,
    "late": _wrapped,
    "fn": _wrapped,
    "fnv": _given_value,
    "tp": _parameter,
    "mod": _module,
    "path": _module,
    "cb": _callback,
    "same": _same,
    "+": _arithmetic,
}
