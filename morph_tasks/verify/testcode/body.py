"""What the body of a test says, for the languages that tree-sitter reads."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from morph_tasks.verify.testcode import sitter
from morph_tasks.verify.testcode.model import Assertion
from morph_tasks.verify.testcode.sitter import line, one_line, squash, statements, text

if TYPE_CHECKING:
    from tree_sitter import Node


@dataclass
class Body:
    """What the statements of a function say."""

    assertions: list[Assertion] = field(default_factory=list)
    skip: tuple[str, int] | None = None
    stops: int | None = None
    timeout: float | None = None
    retries: int | None = None
    calls: dict[str, None] = field(default_factory=dict)
    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class Dialect:
    """The words of one grammar: node types, and what tells an assertion, a skip and a handler that says nothing."""

    assertion: Callable[[Node, str | None], Assertion | None]
    skip: Callable[[Node], str | None]
    called: Callable[[Node], str | None]
    blocks: Collection[str] = ("block", "statement_list")
    ends: Collection[str] = ("return_statement",)
    branches: Collection[str] = ("if_statement",)
    tries: Collection[str] = ("try_statement",)
    quiet: Callable[[Node], bool] = lambda node: False
    opaque: Callable[[Node], bool] = lambda node: False
    simple: Collection[str] = ()


def body_of(inner: Node | None, dialect: Dialect) -> Body:
    """Return what a block says."""
    body = Body()
    if inner is not None:
        _block(inner, None, body, dialect, top=True)
        body.lines = statements(inner, dialect.simple) or (squash(text(inner)),)
    return body


def _block(node: Node, guard: str | None, body: Body, dialect: Dialect, *, top: bool = False) -> None:
    children = [one for one in node.named_children if "comment" not in one.type]
    if top and len(children) == 1 and children[0].type in dialect.blocks:
        return _block(children[0], guard, body, dialect, top=True)
    for at, inner in enumerate(children):
        if top and body.skip is None and not body.assertions:
            body.skip = _skip_of(inner, dialect)
        _visit(inner, guard, body, dialect)
        ends = inner.type in dialect.ends or (
            inner.type == "expression_statement"
            and inner.named_children
            and inner.named_children[0].type in dialect.ends
        )
        if ends and node.type in dialect.blocks:
            if top and at + 1 < len(children):
                body.stops = line(inner)
            return None
    return None


def _visit(node: Node, guard: str | None, body: Body, dialect: Dialect) -> None:
    if dialect.opaque(node):
        return
    name = dialect.called(node)
    if name:
        body.calls[name] = None
    found = dialect.assertion(node, guard)
    if found is not None:
        body.assertions.append(found)
        for part in sitter.walk(node):
            name = dialect.called(part)
            if name:
                body.calls[name] = None
        return
    if node.type in dialect.blocks:
        _block(node, guard, body, dialect)
    elif node.type in dialect.branches:
        _branch(node, guard, body, dialect)
    elif node.type in dialect.tries:
        quiet = dialect.quiet(node)
        for at, part in enumerate(node.named_children):
            first = part == sitter.field(node, "body") or (at == 0 and sitter.field(node, "body") is None)
            _visit(part, "try/catch" if quiet and first else guard, body, dialect)
    else:
        for part in node.named_children:
            _visit(part, guard, body, dialect)


def _branch(node: Node, guard: str | None, body: Body, dialect: Dialect) -> None:
    condition = sitter.field(node, "condition")
    said = one_line(condition).strip("()")
    inner = guard if said == "true" else guard or f"if {said}"
    alternative = sitter.field(node, "alternative") or sitter.field(node, "else")
    for part in node.named_children:
        if part == condition:
            _visit(part, guard, body, dialect)
        elif said != "false" or part == alternative:
            _visit(part, inner, body, dialect)


def _skip_of(node: Node, dialect: Dialect) -> tuple[str, int] | None:
    """Return how a statement leaves the test out before anything is asserted, and its line."""
    how = dialect.skip(node)
    if how:
        return how, line(node)
    if node.type == "expression_statement" and node.named_children:
        return _skip_of(node.named_children[0], dialect)
    if node.type in dialect.branches:
        for part in node.named_children:
            first = part
            while first.type in (*dialect.blocks, "then") and first.named_children:
                first = first.named_children[0]
            found = _skip_of(first, dialect) if first is not part else None
            if found:
                return f"if {one_line(sitter.field(node, 'condition')).strip('()')}: {found[0]}", found[1]
    return None
