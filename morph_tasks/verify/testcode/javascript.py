"""JavaScript and TypeScript tests: jest, vitest, mocha, node:test, bun, playwright, cypress."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from morph_tasks.verify.scenarios.tags import tags
from morph_tasks.verify.testcode.js_body import Body, body_of
from morph_tasks.verify.testcode.js_calls import Chain, callback, chain, options, seconds, title
from morph_tasks.verify.testcode.model import Setting, SourceTest, TestSource
from morph_tasks.verify.testcode.sitter import field, line, number_value, one_line, parse, parts, squash, text, walk

if TYPE_CHECKING:
    from tree_sitter import Node

_TESTS = {"it": "", "test": "", "specify": "", "fit": "only", "ftest": "only", "xit": "xit", "xtest": "xtest",
          "xspecify": "xspecify"}  # fmt: skip
_SUITES = {"describe": "", "context": "", "suite": "", "fdescribe": "only", "fcontext": "only",
           "xdescribe": "xdescribe", "xcontext": "xcontext", "xsuite": "xsuite"}  # fmt: skip
_SKIPS = ("skip", "todo", "fixme", "fail", "fails", "failing", "skipIf", "runIf", "todoIf", "if")
_CONDITIONS = ("skipIf", "runIf", "todoIf", "if")
# What stands between a test's name and its call, and changes nothing here.
_PLAIN = frozenset({
    "only", "each", "for", "concurrent", "sequential", "serial", "parallel", "shuffle", "extend", "describe", "test",
    "it", "override", *_SKIPS,
})  # fmt: skip


@dataclass(frozen=True)
class Scope:
    """What the suites around a place say."""

    titles: tuple[str, ...] = ()
    skipped: str | None = None
    skip_line: int | None = None
    only: bool = False
    timeout: float | None = None
    retries: int | None = None


def read(path: str, source: bytes) -> TestSource:
    """Return the tests of a file; raises SyntaxError when it does not parse."""
    lower = path.lower()
    grammar = (
        "tsx" if lower.endswith(".tsx") else "typescript" if lower.endswith(("ts", ".mts", ".cts")) else "javascript"
    )
    root = parse(grammar, source)
    language = "javascript" if grammar == "javascript" else "typescript"
    file = _File(root)
    tests = tuple(file.tests(root, Scope()))
    return TestSource(path, language, tests, True, tuple(file.helpers.values()), tuple(file.settings))


class _File:
    """One file: its helpers, and what it sets for all its tests."""

    def __init__(self, root: Node) -> None:
        self.settings: list[Setting] = []
        self.helpers = {name: made for name, made in _helpers(root) if made.assertions}
        self.owned = frozenset(self.helpers)

    def tests(self, node: Node, scope: Scope) -> Iterator[SourceTest]:
        """Yield the tests below a node, which stands in `scope`."""
        stack = [node]
        while stack:
            here = stack.pop()
            if here.type == "if_statement" and here != node and scope.skipped is None:
                how = f"if {one_line(field(here, 'condition')).strip('()')}"
                yield from self.tests(here, replace(scope, skipped=how, skip_line=line(here)))
                continue
            found = chain(here) if here.type == "call_expression" else None
            kind = _kind(found) if found else None
            if found and kind == "suite":
                yield from self._suite(here, found, scope)
            elif found and kind == "test":
                yield self._test(here, found, scope)
            else:
                if found:
                    scope = self._setting(here, found, scope)
                stack += reversed(here.named_children)

    def _suite(self, node: Node, found: Chain, scope: Scope) -> Iterator[SourceTest]:
        inner = _within(scope, node, found, _SUITES)
        run = callback(found.last)
        body = field(run, "body")
        if body is not None:
            yield from self.tests(body, inner)

    def _test(self, node: Node, found: Chain, scope: Scope) -> SourceTest:
        scope = _within(scope, node, found, _TESTS)
        run = callback(found.last)
        body = body_of(run, self.owned) if run is not None else Body()
        name = " > ".join(scope.titles)
        skipped, where = scope.skipped, scope.skip_line
        if skipped is None and body.skip:
            skipped, where = body.skip
        elif skipped is None and run is None and len(found.last) == 1:
            skipped, where = "without a body", line(node)
        cases = _rows(found)
        ids = dict.fromkeys([*tags(name), *(one for case in cases for one in tags(case))])
        test = SourceTest(
            name, line(node), node.end_point[0] + 1, tuple(ids), skipped, tuple(body.assertions),
            _first(body.timeout, scope.timeout), scope.retries if body.retries is None else body.retries,
            scope.only, where, cases,
        )  # fmt: skip
        return replace(test, body=body.lines, calls=tuple(body.calls), stops=body.stops)

    def _setting(self, node: Node, found: Chain, scope: Scope) -> Scope:
        """Return the scope with what a call sets for everything in it, such as `jest.setTimeout(5000)`."""
        names, given = found.names, found.last
        first = given[0] if given else None
        said = options(given)
        timeout = next((seconds(said[word]) for word in ("timeout", "testTimeout") if word in said), None)
        retries = next((number_value(said[word]) for word in ("retry", "retries") if word in said), None)
        if (names[-1] == "setTimeout" and names[0] in ("jest", "test", "vi")) or names == ("this", "timeout"):
            timeout = seconds(first)
        elif names[-1] == "retryTimes" or names == ("this", "retries"):
            retries = number_value(first)
        elif names[0] == "test" and names[-1] in ("skip", "fixme") and scope.skipped is None:
            return replace(scope, skipped=one_line(node)[:80], skip_line=line(node))
        elif names[-1] not in ("configure", "setConfig", "use"):
            return scope
        label = ".".join(names)
        place = f"{label} in {' > '.join(scope.titles)}" if scope.titles else label
        if timeout is not None:
            self.settings.append(Setting("timeout", place, timeout, line(node)))
        if retries is not None:
            self.settings.append(Setting("retries", place, retries, line(node)))
        return scope


def _first(inner: float | None, outer: float | None) -> float | None:
    return outer if inner is None else inner


def _kind(found: Chain) -> str | None:
    """Tell whether a chain declares a suite or a test."""
    names, given = found.names, found.last
    if names[0] in ("t", "ctx") and names[1:] == ("test",):
        return "test" if callback(given) is not None else None
    if not all(name in _PLAIN for name in names[1:]) or not given:
        return None
    run, named = callback(given), title(given[0])
    if names[0] in _SUITES or "describe" in names:
        return "suite" if run is not None and "configure" not in names else None
    if names[0] not in _TESTS or names[-1] == "extend":
        return None
    if run is not None:
        return "test"
    # `test.skip(condition, "why")` speaks of the test or suite around it.
    if names[-1] in ("skip", "fixme", "fail") and not (
        len(given) == 1 and given[0].type in ("string", "template_string")
    ):
        return None
    return "test" if named is not None and (len(given) == 1 or given[1].type in ("identifier", "object")) else None


def _within(scope: Scope, node: Node, found: Chain, table: dict[str, str]) -> Scope:
    """Return the scope inside of a suite, or of a test itself."""
    names, given = found.names, found.last
    said = options(given)
    named = title(given[0]) if given else None
    mark = table.get(names[0], "")
    how = next((name for name in names[1:] if name in _SKIPS), None)
    skipped = None
    if mark and mark != "only":
        skipped = mark
    elif how in _CONDITIONS:
        condition = found.of(how) or []
        skipped = f"{names[0]}.{how}({', '.join(map(one_line, condition))})"
    elif how:
        skipped = ".".join(names)
    for word in ("skip", "todo", "fails"):
        if skipped is None and word in said and text(said[word]) not in ("false", "undefined", "null"):
            skipped = f"{word}: {one_line(said[word])}"
    only = mark == "only" or "only" in names or ("only" in said and text(said["only"]) != "false")
    timeout = seconds(said.get("timeout"))
    last = given[-1] if len(given) > 2 or (len(given) == 2 and given[1].type == "number") else None
    timeout = timeout if timeout is not None else seconds(last) if last is not None and last.type != "object" else None
    retries = number_value(said.get("retry") or said.get("retries"))
    return Scope(
        (*scope.titles, named if named is not None else ".".join(names)),
        scope.skipped or skipped, scope.skip_line if scope.skipped else line(node) if skipped else None,
        scope.only or only, scope.timeout if timeout is None else timeout,
        scope.retries if retries is None else int(retries),
    )  # fmt: skip


def _rows(found: Chain) -> tuple[str, ...]:
    """Return the rows of `each` and `for`."""
    for name in ("each", "for"):
        given = found.of(name)
        if given and given[0].type == "array":
            return tuple(squash(text(row)) for row in parts(given[0]))
        if given and given[0].type == "template_string":
            rows = [row.strip() for row in text(given[0])[1:-1].strip().split("\n")]
            return tuple(squash(row) for row in rows[1:] if row)
    return ()


def _helpers(root: Node) -> Iterator[tuple[str, SourceTest]]:
    """Yield the functions with a name that stand outside of every test."""

    def enter(node: Node) -> bool:
        found = chain(node) if node.type == "call_expression" else None
        return not (found and _kind(found) == "test")

    for node in walk(root, enter):
        name, function = None, node
        if node.type == "function_declaration":
            name = text(field(node, "name"))
        elif node.type == "variable_declarator":
            value = field(node, "value")
            if value is not None and value.type in ("arrow_function", "function_expression"):
                name, function = text(field(node, "name")), value
        if name:
            body = body_of(function, frozenset())
            made = SourceTest(name, line(node), node.end_point[0] + 1, assertions=tuple(body.assertions))
            yield name, replace(made, body=body.lines, calls=tuple(body.calls), stops=body.stops)
