"""Read types and expressions of Go as far as they say what something is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from morph_tasks.codegraph.recovery.model import UNKNOWN, Expr
from morph_tasks.verify.testcode.sitter import field, parts, text

if TYPE_CHECKING:
    from tree_sitter import Node

_NAMES = frozenset({"type_identifier", "qualified_type"})
_INNER = frozenset({"pointer_type", "parenthesized_type", "type_elem", "negated_type"})
_SAME = frozenset({"parenthesized_expression", "unary_expression"})


def type_(node: Node | None) -> Expr:
    """Return the type that is written."""
    if node is None:
        return UNKNOWN
    kind, inside = node.type, parts(node)
    if kind in ("type_identifier", "identifier"):
        return ("n", text(node))
    if kind in ("qualified_type", "selector_expression"):
        package = field(node, "package") or field(node, "operand")
        return ("a", ("n", text(package)), text(field(node, "name") or field(node, "field")))
    if kind in _INNER:
        return type_(inside[0]) if inside else UNKNOWN
    if kind in ("slice_type", "array_type", "implicit_length_array_type"):
        return ("seq", (type_(field(node, "element")),))
    if kind == "channel_type":
        return ("seq", (type_(field(node, "value")),))
    if kind == "map_type":
        return ("map", type_(field(node, "key")), type_(field(node, "value")))
    if kind == "function_type":
        return ("fn", result(field(node, "result")))
    if kind == "generic_type":
        given = tuple(type_(one) for one in parts(field(node, "type_arguments")))
        return ("g", type_(field(node, "type")), given)
    return UNKNOWN


def result(node: Node | None) -> Expr:
    """Return what a function gives: one type, or several."""
    if node is None or node.type != "parameter_list":
        return type_(node)
    found: list[Expr] = []
    for one in parts(node):
        names = max(len(one.children_by_field_name("name")), 1)
        found += [type_(field(one, "type"))] * names
    return found[0] if len(found) == 1 else ("tuple", tuple(found))


def named(node: Node | None) -> Iterator[tuple[Expr, Node]]:
    """Yield each name of a type, with the node it stands at."""
    if node is None:
        return
    if node.type in _NAMES:
        yield type_(node), node
        return
    for one in parts(node):
        yield from named(one)


def signature(node: Node) -> tuple[Expr, ...]:
    """Return the types of the parameters and results of a method, so that two can be held against each other."""
    found: list[Expr] = []
    for role in ("parameters", "result"):
        listed = field(node, role)
        if listed is None:
            found.append(("x", f"<{role}>"))
        elif listed.type != "parameter_list":
            found += [("x", f"<{role}>"), *_tokens(listed)]
        else:
            found.append(("x", f"<{role}>"))
            for one in parts(listed):
                written = field(one, "type")
                variadic = ("x", "...") if one.type.startswith("variadic") else ("x", ",")
                for _ in range(max(len(one.children_by_field_name("name")), 1)):
                    found += [variadic, *_tokens(written)]
    return tuple(found)


def _tokens(node: Node | None) -> Iterator[Expr]:
    if node is None:
        return
    if node.type in _NAMES:
        yield type_(node)
    elif not node.children:
        yield ("x", text(node))
    else:
        for one in node.children:
            yield from _tokens(one)


def value(node: Node | None) -> Expr:
    """Return an expression as far as it says what it is a value of."""
    if node is None:
        return UNKNOWN
    kind = node.type
    if kind == "identifier":
        return ("n", text(node))
    if kind == "selector_expression":
        return ("a", value(field(node, "operand")), text(field(node, "field")))
    if kind == "call_expression":
        return _call(node)
    if kind in ("composite_literal", "type_assertion_expression", "type_conversion_expression"):
        return ("i", type_(field(node, "type")))
    if kind == "index_expression":
        return ("k", value(field(node, "operand")))
    if kind == "slice_expression":
        return value(field(node, "operand"))
    if kind == "unary_expression" and text(field(node, "operator")) == "<-":
        return ("e", value(field(node, "operand")))
    if kind in _SAME:
        return value(field(node, "operand") or (parts(node)[0] if parts(node) else None))
    if kind == "func_literal":
        return ("fn", result(field(node, "result")))
    if kind == "type_instantiation_expression":
        return value(field(node, "type"))
    return type_(node) if kind in ("generic_type", "pointer_type") else UNKNOWN


def _call(node: Node) -> Expr:
    function, arguments = field(node, "function"), parts(field(node, "arguments"))
    name = text(function)
    if name in ("make", "new") and arguments:
        return ("i", type_(arguments[0]))
    if name == "append" and arguments:
        return value(arguments[0])
    return ("c", value(function), ())
