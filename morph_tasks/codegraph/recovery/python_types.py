"""Read what Python says of types: annotations, bases, type parameters."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from morph_tasks.codegraph.recovery.model import UNKNOWN, Expr

# Functions whose result holds what their argument holds.
PASSING = frozenset({
    "next", "iter", "list", "sorted", "reversed", "set", "tuple", "frozenset", "min", "max", "enumerate", "zip",
    "filter",
})  # fmt: skip
_INNER = frozenset({"Optional", "Annotated", "ClassVar", "Final", "Required", "NotRequired", "ReadOnly"})
_MANY = frozenset({
    "list", "List", "set", "Set", "frozenset", "FrozenSet", "Sequence", "MutableSequence", "Iterable", "Iterator",
    "Collection", "deque", "Deque", "Generator", "AsyncIterator", "AsyncIterable", "AsyncGenerator", "AbstractSet",
    "KeysView", "ValuesView",
})  # fmt: skip
_PAIRS = frozenset({"dict", "Dict", "Mapping", "MutableMapping", "defaultdict", "DefaultDict", "OrderedDict"})
_CLASSES = frozenset({"type", "Type"})
_LATE = frozenset({"Awaitable", "Coroutine"})


def simple(node: ast.expr) -> Expr | None:
    """Return a name or a constant; None for anything else."""
    if isinstance(node, ast.Name):
        return ("n", node.id)
    return UNKNOWN if isinstance(node, ast.Constant) else None


def convert(node: ast.expr) -> Expr:
    """Return the type that an annotation names."""
    if isinstance(node, ast.Constant):
        inner = _quoted(node)
        return convert(inner) if inner is not None else UNKNOWN
    if isinstance(node, ast.Name):
        return ("n", node.id)
    if isinstance(node, ast.Attribute):
        return ("a", convert(node.value), node.attr)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return ("u", (convert(node.left), convert(node.right)))
    if isinstance(node, ast.Subscript):
        return _with_arguments(node)
    return UNKNOWN


def _with_arguments(node: ast.Subscript) -> Expr:
    name = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
    inside = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if not inside or name == "Literal":
        return UNKNOWN
    if name in _INNER:
        return convert(inside[0])
    if name == "Union":
        return ("u", tuple(convert(one) for one in inside))
    if name in _MANY:
        return ("seq", (convert(inside[0]),))
    if name in ("tuple", "Tuple"):
        several = [one for one in inside if not (isinstance(one, ast.Constant) and one.value is Ellipsis)]
        return ("seq" if len(several) < len(inside) else "tuple", tuple(convert(one) for one in several))
    if name in _PAIRS and len(inside) == 2:
        return ("map", convert(inside[0]), convert(inside[1]))
    if name in _CLASSES:
        return ("class", convert(inside[0]))
    if name in _LATE:
        return ("late", convert(inside[-1]))
    if name == "Callable":
        return ("fn", convert(inside[-1]))
    return ("g", convert(node.value), tuple(convert(one) for one in inside))


def named(node: ast.expr) -> Iterator[Expr]:
    """Yield each name or dotted name in an annotation."""
    if isinstance(node, ast.Constant):
        inner = _quoted(node)
        if inner is not None:
            yield from named(inner)
    elif isinstance(node, ast.Name | ast.Attribute):
        yield convert(node)
    elif isinstance(node, ast.Subscript):
        yield from named(node.value)
        if getattr(node.value, "id", getattr(node.value, "attr", "")) != "Literal":
            yield from named(node.slice)
    else:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                yield from named(child)


def taken(args: ast.arguments) -> Iterator[Expr]:
    """Yield (how it is given, name, whether it is needed) for each parameter: `*` and `**` stand for themselves."""
    listed = [*args.posonlyargs, *args.args]
    needed = len(listed) - len(args.defaults)
    for number, one in enumerate(listed):
        hidden = number < len(args.posonlyargs) or (one.arg.startswith("__") and not one.arg.endswith("__"))
        yield "positional" if hidden else "any", one.arg, number < needed
    if args.vararg is not None:
        yield "any", "*", False
    for one, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        yield "named", one.arg, default is None
    if args.kwarg is not None:
        yield "any", "**", False


def parameters(node: ast.ClassDef) -> tuple[str, ...]:
    """Return the type parameters of a class: its own syntax, or those of `Generic[T]` and `Protocol[T]`."""
    own = [getattr(one, "name", "") for one in getattr(node, "type_params", [])]
    for base in node.bases:
        if isinstance(base, ast.Subscript) and getattr(base.value, "id", getattr(base.value, "attr", "")) in (
            "Generic",
            "Protocol",
        ):
            inside = base.slice.elts if isinstance(base.slice, ast.Tuple) else [base.slice]
            own += [one.id for one in inside if isinstance(one, ast.Name)]
    return tuple(own)


def _quoted(node: ast.Constant) -> ast.expr | None:
    if not isinstance(node.value, str) or len(node.value) > 300:
        return None
    try:
        return ast.parse(node.value.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
