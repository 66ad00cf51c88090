"""Ruby tests: rspec and minitest."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from morph_tasks.verify.scenarios.tags import tag, tags
from morph_tasks.verify.testcode.body import Body, Dialect, body_of
from morph_tasks.verify.testcode.conditions import condition
from morph_tasks.verify.testcode.model import (
    CALLED_WITH,
    CLOSE,
    EXACT,
    NOTHING,
    PARTIAL,
    RUNS,
    SIZED,
    UNEQUAL,
    UNKNOWN,
    Assertion,
    SourceTest,
    TestSource,
)
from morph_tasks.verify.testcode.sitter import (
    field,
    line,
    number_value,
    one_line,
    parse,
    parts,
    squash,
    string_value,
    text,
    walk,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_SUITES = {"describe": "", "context": "", "feature": "", "xdescribe": "xdescribe", "xcontext": "xcontext",
           "fdescribe": "only", "fcontext": "only", "shared_examples": "", "shared_examples_for": "",
           "shared_context": ""}  # fmt: skip
_TESTS = {"it": "", "specify": "", "example": "", "scenario": "", "its": "", "test": "", "should": "", "xit": "xit",
          "xspecify": "xspecify", "xexample": "xexample", "xscenario": "xscenario", "fit": "only", "fspecify": "only",
          "fexample": "only", "pending": "pending", "skip": "skip"}  # fmt: skip
_MATCHERS = {
    "eq": EXACT, "eql": EXACT, "equal": EXACT, "be_nil": EXACT, "match_array": CALLED_WITH, "be_within": CLOSE,
    "contain_exactly": CALLED_WITH, "have_received": CALLED_WITH, "be_truthy": UNEQUAL, "be_falsey": UNEQUAL,
    "be_present": UNEQUAL, "exist": UNEQUAL, "be_empty": SIZED, "have_attributes": CLOSE, "raise_error": PARTIAL,
    "change": PARTIAL, "receive": CALLED_WITH, "match_snapshot": EXACT,
}  # fmt: skip
_ASSERTS = {
    "assert_equal": EXACT, "assert_nil": EXACT, "assert_same": EXACT, "assert_empty": SIZED, "assert_in_delta": CLOSE,
    "assert_in_epsilon": CLOSE, "assert_includes": PARTIAL, "assert_match": PARTIAL, "assert_instance_of": PARTIAL,
    "assert_kind_of": PARTIAL, "assert_respond_to": PARTIAL, "assert_operator": PARTIAL, "assert_predicate": PARTIAL,
    "assert_raises": PARTIAL, "assert_difference": SIZED, "assert_no_difference": EXACT, "assert_response": CALLED_WITH,
    "assert_redirected_to": CALLED_WITH, "assert_not_nil": UNEQUAL, "refute_nil": UNEQUAL, "refute_equal": UNEQUAL,
    "assert_not_equal": UNEQUAL, "refute_empty": UNEQUAL, "assert_nothing_raised": RUNS, "flunk": EXACT,
    "refute_includes": PARTIAL, "refute_match": PARTIAL, "assert": UNEQUAL, "refute": UNEQUAL, "assert_not": UNEQUAL,
    "must_equal": EXACT, "must_be_nil": EXACT, "must_include": PARTIAL, "must_match": PARTIAL, "wont_be_nil": UNEQUAL,
    "wont_equal": UNEQUAL, "must_raise": PARTIAL,
}  # fmt: skip
_ANY_ERROR = frozenset({"", "StandardError", "Exception", "RuntimeError"})
_CUSTOM = re.compile(r"(?:assert|refute|expect|verify|check|must)_\w+[?!]?$")


@dataclass(frozen=True)
class Scope:
    """What the groups around a place say."""

    titles: tuple[str, ...] = ()
    skipped: str | None = None
    skip_line: int | None = None
    only: bool = False
    scenarios: tuple[str, ...] = ()
    retries: int | None = None


def read(path: str, source: bytes) -> TestSource:
    """Return the tests of a file; raises SyntaxError when it does not parse."""
    root = parse("ruby", source)
    helpers = tuple(_helpers(root))
    owned = frozenset(one.name for one in helpers)
    return TestSource(path, "ruby", tuple(_tests(root, Scope(), owned)), True, helpers)


def _tests(node: Node, scope: Scope, owned: frozenset[str]) -> Iterator[SourceTest]:
    for one in node.named_children:
        if one.type == "class":
            inner = field(one, "body")
            if inner is not None:
                yield from _tests(inner, replace(scope, titles=(*scope.titles, text(field(one, "name")))), owned)
        elif one.type == "method":
            name = text(field(one, "name"))
            if re.match(r"test_\w", name):
                yield _made(one, replace(scope, titles=(*scope.titles, name)), field(one, "body"), owned)
        elif one.type == "call":
            yield from _call(one, scope, owned)
        elif one.type in (
            "module",
            "body_statement",
            "begin",
            "if",
            "unless",
            "then",
            "else",
            "do_block",
            "block",
            "block_body",
        ):
            yield from _tests(one, scope, owned)


def _call(node: Node, scope: Scope, owned: frozenset[str]) -> Iterator[SourceTest]:
    name, block = text(field(node, "method")), field(node, "block")
    receiver = text(field(node, "receiver"))
    given = parts(field(node, "arguments"))
    outside = not receiver or receiver == "RSpec"
    if outside and name in _SUITES and block is not None:
        inner = field(block, "body")
        if inner is not None:
            yield from _tests(inner, _within(scope, node, name, given, _SUITES), owned)
    elif (
        outside
        and name in _TESTS
        and (block is not None or (given and name not in ("should", "test", "pending", "skip")))
    ):
        inside = _within(scope, node, name, given, _TESTS)
        if block is None and inside.skipped is None:
            inside = replace(inside, skipped="without a body", skip_line=line(node))
        yield _made(node, inside, field(block, "body"), owned)
    elif block is not None:
        yield from _tests(block, scope, owned)


def _within(scope: Scope, node: Node, name: str, given: list[Node], table: dict[str, str]) -> Scope:
    """Return the scope inside of a group, or of an example itself."""
    mark = table[name]
    titles = [one for one in given if one.type not in ("pair", "simple_symbol", "hash_key_symbol")]
    said = " ".join(string_value(one) if one.type == "string" else one_line(one) for one in titles)  # type: ignore[misc]
    skipped = mark if mark and mark != "only" else None
    only, scenarios, retries = mark == "only", [], scope.retries
    for one in given:
        key, value = (text(field(one, "key")), field(one, "value")) if one.type == "pair" else (text(one), None)
        word = key.strip(":'\"")
        if one.type not in ("pair", "simple_symbol"):
            continue
        if word in ("skip", "pending") and text(value) not in ("false", "nil"):
            skipped = skipped or one_line(one)
        elif word in ("focus", "focused", "only"):
            only = only or text(value) != "false"
        elif word in ("scenario", "scenarios"):
            scenarios += [tag(hit) for hit in re.findall(r"(?:[\w.-]+:)?C\d+", text(value))]
        elif word == "retry":
            number = number_value(value)
            retries = int(number) if number is not None else retries
    return Scope(
        (*scope.titles, said or name), scope.skipped or skipped,
        scope.skip_line if scope.skipped else line(node) if skipped else None, scope.only or only,
        (*scope.scenarios, *scenarios), retries,
    )  # fmt: skip


def _body(inner: Node | None, owned: frozenset[str]) -> Body:
    def assertion(node: Node, guard: str | None) -> Assertion | None:
        return _assertion(node, guard, owned)

    dialect = Dialect(
        assertion, _skip, _called, blocks=("body_statement", "block_body", "then", "do_block", "block"),
        ends=("return",), branches=("if", "unless", "if_modifier", "unless_modifier"), tries=("begin",), quiet=_quiet,
        simple=("call", "assignment", "binary"),
    )  # fmt: skip
    return body_of(inner, dialect)


def _made(node: Node, scope: Scope, inner: Node | None, owned: frozenset[str]) -> SourceTest:
    body = _body(inner, owned)
    name = " > ".join(scope.titles)
    skip, where = (scope.skipped, scope.skip_line) if scope.skipped else body.skip or (None, None)
    ids = dict.fromkeys([*scope.scenarios, *tags(name)])
    test = SourceTest(
        name, line(node), node.end_point[0] + 1, tuple(ids), skip, tuple(body.assertions), None, scope.retries,
        scope.only, where,
    )  # fmt: skip
    return replace(test, body=body.lines, calls=tuple(body.calls), stops=body.stops)


def _helpers(root: Node) -> Iterator[SourceTest]:
    for node in walk(root):
        name = text(field(node, "name")) if node.type == "method" else ""
        if name and not name.startswith("test_"):
            body = _body(field(node, "body"), frozenset())
            if body.assertions:
                made = SourceTest(name, line(node), node.end_point[0] + 1, assertions=tuple(body.assertions))
                yield replace(made, body=body.lines, calls=tuple(body.calls))


def _quiet(node: Node) -> bool:
    clauses = [one for one in node.named_children if one.type == "rescue"]
    return any(not re.search(r"\braise\b|\bflunk\b|\bassert|\bfail\b", text(one)) for one in clauses)


def _called(node: Node) -> str | None:
    if node.type == "identifier":
        return text(node)
    return text(field(node, "method")) if node.type == "call" else None


def _skip(node: Node) -> str | None:
    plain = node.type == "call" and field(node, "receiver") is None and field(node, "block") is None
    if plain and text(field(node, "method")) in ("skip", "pending"):
        return one_line(node)
    return text(node) if node.type == "identifier" and text(node) in ("skip", "pending") else None


def _assertion(node: Node, guard: str | None, owned: frozenset[str]) -> Assertion | None:
    if node.type != "call":
        return None
    name, given = text(field(node, "method")), parts(field(node, "arguments"))
    receiver = field(node, "receiver")
    if name in ("to", "not_to", "to_not") and receiver is not None and given:
        return _expect(node, name, receiver, given[0], guard)
    if name not in _ASSERTS:
        if not _CUSTOM.match(name) or name in owned or receiver is not None:
            return None
        return Assertion(
            line(node), one_line(node), UNKNOWN, name, None, guard, None, one_line(given[0]) if given else ""
        )
    form, strength, subject, tolerance, error = name, _ASSERTS[name], one_line(given[0]) if given else "", None, None
    if name in ("assert", "refute", "assert_not") and given:
        form, strength, subject = condition(subject, negated=name != "assert")
    elif name == "assert_raises":
        error = subject
        strength = UNEQUAL if error in _ANY_ERROR else PARTIAL
    elif name in ("assert_in_delta", "assert_in_epsilon"):
        tolerance = number_value(given[2]) if len(given) > 2 else 0.001
    elif len(given) > 1:
        subject = one_line(given[1])
        if squash(text(given[0])) == squash(text(given[1])):
            strength = NOTHING
    return Assertion(line(node), one_line(node), strength, form, tolerance, guard, error, subject)


def _expect(node: Node, name: str, receiver: Node, matcher: Node, guard: str | None) -> Assertion | None:
    if not re.match(r"(?:expect|is_expected|allow|should)", text(receiver)) or text(receiver).startswith("allow"):
        return None
    said = one_line(matcher)
    form = re.split(r"[ ({.]", said, maxsplit=1)[0]
    strength = _MATCHERS.get(form, PARTIAL)
    if form == "be":
        strength = EXACT if re.match(r"be[ (](?:true|false|nil)\b", said) else PARTIAL
        strength = UNEQUAL if said == "be" else strength
    error, tolerance = None, None
    if form == "raise_error":
        hit = re.search(r"raise_error[ (]*([A-Z][\w:]*)?(.*)", said)
        error = (hit[1] or "") if hit else ""
        strength = UNEQUAL if error in _ANY_ERROR else PARTIAL
        strength += 5 if hit and re.search(r"[\"'/]", hit[2]) else 0
    close = re.search(r"be_within\(?\s*([\d.]+)", said)
    if close:
        tolerance = float(close[1].rstrip("."))
    subject = one_line(receiver)
    trivial = re.fullmatch(r"expect\((?:true|false|nil|\d+)\)", subject)
    if name != "to":
        strength = RUNS if form == "raise_error" else min(strength, UNEQUAL if strength == EXACT else PARTIAL)
        form = f"not {form}"
    return Assertion(
        line(node), one_line(node), NOTHING if trivial else strength, form, tolerance, guard, error, subject
    )
