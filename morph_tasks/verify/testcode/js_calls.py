"""Chains of calls in JavaScript: `it.skip.each(rows)("title", run)` as names and arguments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from morph_tasks.verify.testcode.sitter import field, number_value, one_line, parts, string_value, text

if TYPE_CHECKING:
    from tree_sitter import Node

_WRAPPED = (
    "await_expression", "parenthesized_expression", "non_null_expression", "as_expression", "instantiation_expression",
)  # fmt: skip
FUNCTIONS = ("arrow_function", "function_expression", "function", "generator_function")


@dataclass(frozen=True)
class Chain:
    """The names of a chain from its root, and the arguments of each that is called (the last call included)."""

    names: tuple[str, ...]
    arguments: dict[int, list[Node]]
    root: Node

    @property
    def last(self) -> list[Node]:
        """Return the arguments of the outermost call."""
        return self.arguments.get(len(self.names), self.arguments.get(len(self.names) - 1, []))

    def of(self, name: str) -> list[Node] | None:
        """Return the arguments that a name of the chain is called with; None when it is not."""
        return next((self.arguments.get(at) for at, one in enumerate(self.names) if one == name), None)


def chain(node: Node) -> Chain | None:
    """Return the chain that a call or member ends; None when its root is no plain name."""
    names: list[str] = []
    called: list[tuple[int, list[Node]]] = []
    here: Node | None = node
    outer = True
    while here is not None:
        if here.type == "call_expression":
            called.append((len(names), _arguments(here)))
            here = field(here, "function")
        elif here.type in ("member_expression", "subscript_expression"):
            prop = field(here, "property") or field(here, "index")
            names.append(text(prop).strip("\"'`"))
            here = field(here, "object")
        elif here.type in _WRAPPED:
            here = here.named_children[0] if here.named_children else None
        else:
            break
        outer = False
    if here is None or outer or here.type not in ("identifier", "this", "undefined"):
        return None
    names.append(text(here))
    size = len(names)
    arguments: dict[int, list[Node]] = {}
    for depth, given in called:  # the outermost call comes first
        at = size - 1 - depth
        if at in arguments and depth == 0:  # each(rows)(title, run)
            arguments.setdefault(size, arguments[at])
        arguments[at] = given
    return Chain(tuple(reversed(names)), arguments, here)


def _arguments(call: Node) -> list[Node]:
    given = field(call, "arguments")
    if given is None:
        return []
    return parts(given) if given.type == "arguments" else [given]  # a tagged template


def title(node: Node | None) -> str | None:
    """Return the title of a test or suite; an expression is shown as it stands."""
    if node is None or node.type in FUNCTIONS or node.type in ("object", "number", "true", "false", "array"):
        return None
    if node.type == "string":
        return string_value(node)
    if node.type == "template_string":
        return text(node)[1:-1]
    if node.type == "binary_expression":
        sides = [title(field(node, "left")), title(field(node, "right"))]
        return "".join(side or "" for side in sides) if all(sides) else one_line(node)
    if node.type in ("identifier", "member_expression", "call_expression"):
        return one_line(node)
    return None


def callback(arguments: list[Node]) -> Node | None:
    """Return the function among the arguments of a call."""
    for node in arguments:
        if node.type in FUNCTIONS:
            return node
        if node.type == "call_expression":  # fakeAsync(() => …), async(inject(…))
            inner = callback(parts(field(node, "arguments")))
            if inner is not None:
                return inner
    return None


def options(arguments: list[Node]) -> dict[str, Node]:
    """Return the literal options among the arguments of a call."""
    for node in arguments:
        if node.type == "object":
            found = {}
            for pair in parts(node):
                key, value = field(pair, "key"), field(pair, "value")
                if pair.type == "pair" and key is not None and value is not None:
                    found[text(key).strip("\"'")] = value
            return found
    return {}


def seconds(node: Node | None) -> float | None:
    """Return milliseconds in the source as seconds; also `"5s"`."""
    value = number_value(node)
    if value is not None:
        return value / 1000
    said = string_value(node) or ""
    for unit, factor in (("ms", 0.001), ("s", 1.0), ("m", 60.0)):
        if said.endswith(unit) and said.removesuffix(unit).replace(".", "").isdigit():
            return float(said.removesuffix(unit)) * factor
    return None
