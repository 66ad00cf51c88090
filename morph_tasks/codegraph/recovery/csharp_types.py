"""Read types and expressions of C# as far as they tell what something is; `Name`n` is a name with n type arguments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from morph_tasks.codegraph.recovery import csharp_plain as plain_types
from morph_tasks.codegraph.recovery.model import UNKNOWN, Expr
from morph_tasks.verify.testcode.sitter import child, field, parts, text

if TYPE_CHECKING:
    from tree_sitter import Node

_MANY = frozenset({
    "List", "IList", "IEnumerable", "ICollection", "IReadOnlyList", "IReadOnlyCollection", "HashSet", "ISet",
    "IReadOnlySet", "Queue", "Stack", "SortedSet", "IQueryable", "LinkedList", "ObservableCollection", "Collection",
    "ConcurrentBag", "ConcurrentQueue", "ImmutableArray", "ImmutableList", "IAsyncEnumerable", "Span", "ReadOnlySpan",
    "IOrderedEnumerable", "IEnumerator",
})  # fmt: skip
_PAIRS = frozenset({
    "Dictionary", "IDictionary", "IReadOnlyDictionary", "ConcurrentDictionary", "SortedDictionary",
    "ImmutableDictionary",
})  # fmt: skip
_LATE = frozenset({"Task", "ValueTask"})
_NAMES = frozenset({"identifier", "qualified_name", "generic_name", "alias_qualified_name"})


def type_(node: Node | None) -> Expr:
    """Return the type that is written."""
    if node is None:
        return UNKNOWN
    kind, inside = node.type, parts(node)
    if kind in ("identifier", "predefined_type"):
        return ("tn", text(node))
    if kind == "qualified_name":
        return ("a", type_(field(node, "qualifier")), _written(field(node, "name")))
    if kind == "alias_qualified_name":
        return type_(field(node, "name"))
    if kind == "generic_name":
        return _generic(node)
    if kind in ("nullable_type", "ref_type", "scoped_type"):
        return type_(field(node, "type") or (inside[0] if inside else None))
    if kind in ("array_type", "stackalloc_expression"):
        return ("seq", (type_(field(node, "type")),))
    if kind == "tuple_type":
        return ("tuple", tuple(type_(field(one, "type")) for one in inside))
    return UNKNOWN


def _generic(node: Node) -> Expr:
    given = tuple(type_(one) for one in parts(child(node, "type_argument_list")))
    name = text(parts(node)[0])
    if name in _MANY and len(given) == 1:
        return ("seq", given)
    if name in _PAIRS and len(given) == 2:
        return ("map", *given)
    if name in _LATE and len(given) == 1:
        return ("late", given[0])
    if name == "Func" and given:
        return ("fn", given[-1])
    return ("g", ("tn", _written(node)), given)


def _written(node: Node | None) -> str:
    """Return a name with the number of its type arguments."""
    if node is None or node.type != "generic_name":
        return text(node)
    return f"{text(parts(node)[0])}`{len(parts(child(node, 'type_argument_list')))}"


def plain(node: Node | None) -> str:
    """Return a name without its type arguments."""
    return text(parts(node)[0]) if node is not None and node.type == "generic_name" else text(node)


def named(node: Node | None) -> Iterator[tuple[Expr, Node]]:
    """Yield each name of a type and of its arguments, with the node it stands at."""
    if node is None:
        return
    if node.type == "generic_name":
        yield ("tn", _written(node)), node
        yield from named(child(node, "type_argument_list"))
    elif node.type == "qualified_name":
        yield ("a", type_(field(node, "qualifier")), _written(field(node, "name"))), node
        last = field(node, "name")
        if last is not None and last.type == "generic_name":
            yield from named(child(last, "type_argument_list"))
    elif node.type in _NAMES:
        yield type_(node), node
    elif node.type == "tuple_element":
        yield from named(field(node, "type"))
    else:
        for one in parts(node):
            yield from named(one)


def value(node: Node | None, hole: Expr = UNKNOWN) -> Expr:
    """Return an expression as far as it says what it is a value of; `hole` is what stands before a `?.`."""
    if node is None:
        return UNKNOWN
    kind = node.type
    if kind in ("identifier", "generic_name"):
        return ("n", _written(node))
    if kind in ("this", "base"):
        return ("self",) if kind == "this" else ("super",)
    if kind == "member_access_expression":
        return ("a", value(field(node, "expression"), hole), _written(field(node, "name")))
    if kind == "member_binding_expression":
        return ("a", hole, _written(field(node, "name")))
    if kind == "conditional_access_expression":
        rest = parts(node)
        return value(rest[-1], value(field(node, "condition"), hole))
    if kind == "invocation_expression":
        function = value(field(node, "function"), hole)
        if function[0] in ("n", "a"):
            function = (*function[:-1], function[-1].partition("`")[0])
        return ("c", function, (), len(parts(field(node, "arguments"))))
    if kind == "object_creation_expression":
        return ("c", type_(field(node, "type")), (), len(parts(field(node, "arguments"))))
    if kind == "qualified_name":
        return type_(node)
    return _compound(node, hole)


def _compound(node: Node, hole: Expr) -> Expr:
    kind, inside = node.type, parts(node)
    if kind in ("parenthesized_expression", "postfix_unary_expression", "checked_expression"):
        return value(inside[0], hole) if inside else UNKNOWN
    if kind == "await_expression":
        return ("w", value(inside[0], hole)) if inside else UNKNOWN
    if kind == "element_access_expression":
        return ("k", value(field(node, "expression"), hole))
    if kind == "cast_expression":
        return ("i", type_(field(node, "type")))
    if kind == "as_expression":
        return ("i", type_(field(node, "right")))
    if kind == "array_creation_expression":
        return ("i", type_(field(node, "type") or (inside[0] if inside else None)))
    if kind == "binary_expression":
        sides, operator = (value(field(node, "left")), value(field(node, "right"))), text(field(node, "operator"))
        return ("u", sides) if operator == "??" else ("+", *sides) if operator in plain_types.ARITHMETIC else UNKNOWN
    if kind == "conditional_expression":
        return ("u", (value(field(node, "consequence")), value(field(node, "alternative"))))
    if kind == "switch_expression":
        arms = [parts(one)[-1] for one in inside if one.type == "switch_expression_arm"]
        return ("u", tuple(value(one) for one in arms[:6]))
    if kind == "assignment_expression":
        return value(field(node, "right"))
    if kind == "tuple_expression":
        return ("tuple", tuple(value(parts(one)[-1]) for one in inside if parts(one)))
    if kind == "lambda_expression":
        body = field(node, "body")
        return ("fnv", value(body)) if body is not None and body.type != "block" else UNKNOWN
    return plain_types.literal(node)
