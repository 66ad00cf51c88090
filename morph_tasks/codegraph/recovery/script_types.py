"""Read types and expressions of TypeScript and JavaScript as far as they say what something is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from morph_tasks.codegraph.recovery.model import UNKNOWN, Expr
from morph_tasks.verify.testcode.sitter import field, parts, string_value, text

if TYPE_CHECKING:
    from tree_sitter import Node

_MANY = frozenset(
    ["Array", "ReadonlyArray", "Set", "ReadonlySet", "Iterable", "Iterator", "IterableIterator", "Generator"]
)
_PAIRS = frozenset({"Map", "ReadonlyMap", "Record", "WeakMap"})
_INNER = frozenset({"Partial", "Readonly", "Required", "NonNullable", "Pick", "Omit"})
_LATE = frozenset({"Promise", "PromiseLike"})
_SAME = frozenset({"parenthesized_expression", "non_null_expression"})


def type_(node: Node | None) -> Expr:
    """Return the type that an annotation names."""
    if node is None:
        return UNKNOWN
    kind = node.type
    inside = parts(node)
    if kind in ("type_identifier", "identifier"):
        return ("n", text(node))
    if kind in ("nested_type_identifier", "nested_identifier"):
        names = text(node).split(".")
        found: Expr = ("n", names[0].strip())
        for name in names[1:]:
            found = ("a", found, name.strip())
        return found
    if kind == "generic_type":
        return _generic(node)
    if kind == "array_type":
        return ("seq", (type_(inside[0]),)) if inside else UNKNOWN
    if kind in ("union_type", "intersection_type"):
        return ("u", tuple(type_(one) for one in inside))
    if kind in ("type_annotation", "parenthesized_type", "readonly_type", "optional_type"):
        return type_(inside[0]) if inside else UNKNOWN
    if kind == "tuple_type":
        return ("tuple", tuple(type_(one) for one in inside))
    if kind == "function_type":
        return ("fn", type_(field(node, "return_type")))
    return ("same",) if kind == "this_type" else UNKNOWN


def _generic(node: Node) -> Expr:
    base = field(node, "name")
    arguments = field(node, "type_arguments") or next(
        (one for one in parts(node) if one.type == "type_arguments"), None
    )
    given = tuple(type_(one) for one in parts(arguments))
    return _applied(text(base), type_(base), given)


def _applied(name: str, base: Expr, given: tuple[Expr, ...]) -> Expr:
    """Return a type with its arguments; those of the language are known by their names."""
    if not given:
        return base
    if name in _MANY:
        return ("seq", given[:1])
    if name in _PAIRS:
        return ("map", given[0], given[-1])
    if name in _INNER:
        return given[0]
    if name in _LATE:
        return ("late", given[0])
    return ("g", base, given)


def named(node: Node | None) -> Iterator[tuple[Expr, Node]]:
    """Yield each name or dotted name in a type, with the node it stands at."""
    if node is None:
        return
    if node.type in ("type_identifier", "nested_type_identifier"):
        yield type_(node), node
        return
    for one in parts(node):
        if one.type == "type_query":
            inner = parts(one)
            if inner:
                yield value(inner[0]), one
        else:
            yield from named(one)


def value(node: Node | None) -> Expr:
    """Return an expression as far as it says what it is a value of."""
    if node is None:
        return UNKNOWN
    kind = node.type
    if kind in ("identifier", "shorthand_property_identifier"):
        return ("n", text(node))
    if kind in ("this", "super"):
        return ("self",) if kind == "this" else ("super",)
    if kind == "member_expression":
        return ("a", value(field(node, "object")), text(field(node, "property")))
    if kind == "nested_identifier":
        return type_(node)
    if kind == "call_expression":
        return _call(node)
    if kind == "new_expression":
        return _new(node)
    if kind == "await_expression":
        return ("w", value(parts(node)[0])) if parts(node) else UNKNOWN
    if kind == "subscript_expression":
        return ("k", value(field(node, "object")))
    return _compound(node)


def is_object(node: Node | None) -> bool:
    """Tell whether an expression is an object that is written out, whatever is said of its type."""
    while node is not None and node.type in ("as_expression", "satisfies_expression", *_SAME):
        inside = parts(node)
        if len(inside) == 2 and node.type == "as_expression" and text(inside[1]) != "const":
            return False  # it has the type that is said
        node = inside[0] if inside else None
    return node is not None and node.type == "object"


def _call(node: Node) -> Expr:
    function = field(node, "function")
    arguments = parts(field(node, "arguments"))
    if function is not None and (function.type == "import" or text(function) == "require"):
        spec = string_value(arguments[0]) if arguments else None
        if spec is None:
            return UNKNOWN
        return ("late", ("mod", spec)) if function.type == "import" else ("mod", spec)
    return ("c", value(function), ())


def _new(node: Node) -> Expr:
    built = field(node, "constructor")
    arguments = next((one for one in parts(node) if one.type == "type_arguments"), None)
    base = _applied(text(built), value(built), tuple(type_(one) for one in parts(arguments)))
    return ("i", base) if base[0] in ("seq", "map", "late") else ("c", base, ())


def _compound(node: Node) -> Expr:
    kind, inside = node.type, parts(node)
    if kind in _SAME:
        return value(inside[0]) if inside else UNKNOWN
    if kind in ("as_expression", "satisfies_expression") and len(inside) == 2:
        return value(inside[0]) if text(inside[1]) == "const" else ("i", type_(inside[1]))
    if kind == "binary_expression" and text(field(node, "operator")) in ("||", "??", "&&"):
        return ("u", (value(field(node, "left")), value(field(node, "right"))))
    if kind == "ternary_expression":
        return ("u", (value(field(node, "consequence")), value(field(node, "alternative"))))
    if kind == "array":
        return ("seq", tuple(value(one) for one in inside[:4]))
    if kind == "assignment_expression":
        return value(field(node, "right"))
    if kind == "arrow_function":
        body = field(node, "body")
        declared = field(node, "return_type")
        if declared is not None:
            return ("fn", type_(declared))
        return ("fnv", value(body)) if body is not None and body.type != "statement_block" else UNKNOWN
    return UNKNOWN
