"""Tree-sitter: one grammar at a time, loaded when a file of its language is read."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

# grammar -> (package, the function that gives its language)
_GRAMMARS = {
    "javascript": ("tree_sitter_javascript", "language"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "go": ("tree_sitter_go", "language"),
    "rust": ("tree_sitter_rust", "language"),
    "csharp": ("tree_sitter_c_sharp", "language"),
    "java": ("tree_sitter_java", "language"),
    "ruby": ("tree_sitter_ruby", "language"),
}
_BLANKS = re.compile(r"\s+")
_LONGEST = 240


@cache
def _parser(grammar: str) -> Parser:
    from tree_sitter import Language, Parser

    package, function = _GRAMMARS[grammar]
    return Parser(Language(getattr(import_module(package), function)()))


def parse(grammar: str, source: bytes) -> Node:
    """Return the root of a file; raises SyntaxError when more than a part of it cannot be read."""
    root = _parser(grammar).parse(source).root_node
    if root.has_error and _broken(root):
        raise SyntaxError("the file does not parse")
    return root


def _broken(root: Node) -> bool:
    """Tell whether errors cover what matters: a grammar that lags behind its language stumbles over a word or two."""
    wrong = 0
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type == "ERROR":
            wrong += node.end_byte - node.start_byte
        elif node.has_error:
            stack += node.children
    return root.type == "ERROR" or wrong * 20 > max(root.end_byte - root.start_byte, 200)


def text(node: Node | None) -> str:
    """Return the source of a node."""
    return node.text.decode("utf-8", "replace") if node is not None and node.text is not None else ""


def line(node: Node) -> int:
    """Return the line that a node begins in, from 1."""
    return node.start_point[0] + 1


def one_line(node: Node | None) -> str:
    """Return the source of a node on one line."""
    return _BLANKS.sub(" ", text(node)).strip()


def squash(source: str) -> str:
    """Return a source as it compares: without blanks, trailing commas and the kind of quotes."""
    tight = re.sub(r"\s+", " ", source).strip().rstrip(";")
    tight = re.sub(r" ?([^\w ]) ?", r"\1", tight)
    return re.sub(r",([)\]}])", r"\1", tight).replace("'", '"').replace("`", '"')


def walk(node: Node, enter: Callable[[Node], bool] | None = None) -> Iterator[Node]:
    """Yield a node and all named ones below it, in the order of the source; `enter` False leaves out what is below."""
    stack = [node]
    while stack:
        here = stack.pop()
        yield here
        if enter is None or here is node or enter(here):
            stack += reversed(here.named_children)


def child(node: Node, kind: str) -> Node | None:
    """Return the first child of a type."""
    return next((one for one in node.named_children if one.type == kind), None)


def field(node: Node | None, name: str) -> Node | None:
    """Return a named child; None when there is none."""
    return node.child_by_field_name(name) if node is not None else None


def parts(node: Node | None) -> list[Node]:
    """Return the named children without comments."""
    return [one for one in node.named_children if "comment" not in one.type] if node is not None else []


def statements(body: Node | None, kinds: Collection[str] = ()) -> tuple[str, ...]:
    """Return the statements in a body that hold no other block, as they compare."""
    if body is None:
        return ()
    found = []
    for node in walk(body):
        simple = node.type in kinds or node.type.endswith(("_statement", "_declaration", "_expression_body"))
        if simple and node is not body and node.end_point[0] - node.start_point[0] < 12:
            found.append(squash(text(node))[:_LONGEST])
    return tuple(found)


def string_value(node: Node | None) -> str | None:
    """Return what a plain string literal holds, without its quotes and with simple escapes read; None for another."""
    if node is None:
        return None
    raw = text(node)
    match = re.fullmatch(r"[@$]?(\"\"\"|\"|'|`)(.*)\1", raw, re.S)
    if not match:
        return None
    return re.sub(r"\\(['\"`\\])", r"\1", match[2])


def number_value(node: Node | None) -> float | None:
    """Return the value of a number, also of `60 * 1000` and `10_000`; None for anything else."""
    raw = text(node).replace("_", "").strip()
    factors = [part.strip().rstrip("LlfFdDmMuU") for part in raw.strip("()").split("*")]
    try:
        product = 1.0
        for factor in factors:
            product *= float(factor)
    except ValueError:
        return None
    return product


def words(source: str) -> frozenset[str]:
    """Return the names and literals in a piece of source."""
    return frozenset(re.findall(r"[A-Za-z_]\w*|\d+(?:\.\d+)?", source))
