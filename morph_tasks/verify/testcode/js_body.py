"""What the body of a JavaScript test says: its assertions, and what keeps them from being seen."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from morph_tasks.verify.testcode import sitter
from morph_tasks.verify.testcode.js_asserts import assertion
from morph_tasks.verify.testcode.js_calls import FUNCTIONS, chain, seconds
from morph_tasks.verify.testcode.model import Assertion
from morph_tasks.verify.testcode.sitter import line, number_value, one_line, statements, text

if TYPE_CHECKING:
    from tree_sitter import Node

_ENDS = ("return_statement", "throw_statement")
_LOUD = re.compile(r"\b(?:throw|expect|assert|fail|done|reject)\b")
_SKIPPERS = frozenset({"this", "t", "ctx", "context", "test"})


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


def body_of(function: Node, owned: frozenset[str]) -> Body:
    """Return what a function says. `owned` are helpers whose own assertions are known."""
    body = Body()
    inner = sitter.field(function, "body")
    if inner is not None:
        _block(inner, None, body, owned, top=True)
        body.lines = statements(inner) or (sitter.squash(text(inner)),)
    return body


def _block(node: Node, guard: str | None, body: Body, owned: frozenset[str], *, top: bool = False) -> None:
    """Gather from a node and what is below it, up to an unconditional `return`."""
    if node.type != "statement_block":
        _visit(node, guard, body, owned)
        return
    children = node.named_children
    for at, inner in enumerate(children):
        if top and body.skip is None and not body.assertions:
            body.skip = _skip_of(inner)
        _visit(inner, guard, body, owned)
        if inner.type in _ENDS:
            rest = [one for one in children[at + 1 :] if "comment" not in one.type]
            if rest and top and inner.type == "return_statement":
                body.stops = line(inner)
            return


def _visit(node: Node, guard: str | None, body: Body, owned: frozenset[str]) -> None:
    kind = node.type
    if kind == "statement_block":
        _block(node, guard, body, owned)
    elif kind == "if_statement":
        condition = sitter.field(node, "condition")
        said = text(condition).strip("() ")
        if said in ("false", "0"):
            alternative = sitter.field(node, "alternative")
            if alternative is not None:
                _visit(alternative, guard, body, owned)
            return
        inner = guard if said in ("true", "1") else guard or f"if {one_line(condition).strip('()')}"
        for part in node.named_children:
            _visit(part, inner if part != condition else guard, body, owned)
    elif kind == "try_statement":
        handler = sitter.field(node, "handler")
        quiet = handler is not None and not _LOUD.search(text(sitter.field(handler, "body")))
        for part in node.named_children:
            _visit(part, "try/catch" if quiet and part == sitter.field(node, "body") else guard, body, owned)
    elif kind in ("call_expression", "member_expression"):
        _call(node, guard, body, owned)
    elif kind == "ternary_expression" or (
        kind == "binary_expression" and text(sitter.field(node, "operator")) in ("&&", "||", "??")
    ):
        first = sitter.field(node, "condition") or sitter.field(node, "left")
        for part in node.named_children:
            _visit(part, guard if part == first else guard or f"if {one_line(first)}", body, owned)
    else:
        for part in node.named_children:
            _visit(part, guard, body, owned)


def _call(node: Node, guard: str | None, body: Body, owned: frozenset[str]) -> None:
    found = chain(node)
    if found and node.type == "call_expression":
        body.calls[found.names[-1]] = None
        first = found.last[0] if found.last else None
        if found.names in (("test", "setTimeout"), ("this", "timeout")):
            body.timeout = seconds(first)
        elif found.names == ("this", "retries"):
            number = number_value(first)
            body.retries = None if number is None else int(number)
    swallowed = guard
    if node.type == "call_expression" and _swallows(node):
        swallowed = ".catch"
    elif found and not {"resolves", "rejects"}.isdisjoint(found.names) and _is_dropped(node):
        swallowed = guard or "without await"
    said = assertion(node, swallowed, owned) if swallowed != ".catch" or guard else None
    if said is not None:
        body.assertions.append(said)
        # What is below belongs to the chain, except for functions that are given to it.
        for part in sitter.walk(node, lambda one: one.type not in FUNCTIONS):
            if part.type in FUNCTIONS:
                inner = sitter.field(part, "body")
                if inner is not None:
                    _block(inner, guard, body, owned)
            elif part.type == "call_expression" and (deeper := chain(part)):
                body.calls[deeper.names[-1]] = None
        return
    for part in node.named_children:
        _visit(part, swallowed, body, owned)


def _is_dropped(node: Node) -> bool:
    """Tell whether nobody waits for what a call returns."""
    return node.parent is not None and node.parent.type == "expression_statement"


def _swallows(node: Node) -> bool:
    """Tell whether a call is `.catch(() => {})`."""
    function = sitter.field(node, "function")
    if function is None or text(sitter.field(function, "property")) != "catch":
        return False
    return not _LOUD.search(text(sitter.field(node, "arguments")))


def _skip_of(node: Node) -> tuple[str, int] | None:
    """Return how a statement ends the test before anything is asserted, and its line."""
    if node.type == "if_statement":
        consequence = sitter.field(node, "consequence")
        inner = (
            consequence.named_children
            if consequence is not None and consequence.type == "statement_block"
            else [consequence]
        )
        first = next((one for one in inner if one is not None), None)
        found = _skip_of(first) if first is not None else None
        return (f"if {one_line(sitter.field(node, 'condition'))}: {found[0]}", found[1]) if found else None
    call = (
        node.named_children[0]
        if node.type in ("expression_statement", "return_statement") and node.named_children
        else None
    )
    found_chain = chain(call) if call is not None and call.type == "call_expression" else None
    if found_chain is None or found_chain.names[0] not in _SKIPPERS or len(found_chain.names) != 2:
        return None
    if found_chain.names[1] in ("skip", "todo", "fixme", "fail"):
        return one_line(call), line(node)
    return None
