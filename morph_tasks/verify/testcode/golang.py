"""Go tests: `Test*` and `Fuzz*`, their subtests, testify."""

from __future__ import annotations

import platform
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from morph_tasks.verify.scenarios.tags import tags
from morph_tasks.verify.testcode.body import Body, Dialect, body_of
from morph_tasks.verify.testcode.conditions import condition, is_size
from morph_tasks.verify.testcode.model import (
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
from morph_tasks.verify.testcode.sitter import field, line, one_line, parse, parts, squash, string_value, text, walk

if TYPE_CHECKING:
    from tree_sitter import Node

# Systems and processors that a file name can end in; what builds anywhere is no part of the list.
_SYSTEM = re.compile(
    r"_((?:aix|android|darwin|dragonfly|freebsd|illumos|ios|js|linux|netbsd|openbsd|plan9|solaris|wasip1|windows"
    r"|386|amd64|arm|arm64|loong64|mips\w*|ppc64\w*|riscv64|s390x|wasm))_test\.go$"
)
_NAME = re.compile(r"(?:Test|Fuzz)(?![a-z])\w*$")
_FAILS = re.compile(
    r"\b\w+\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\(|\bpanic\(|\b(?:t|tb|require|assert)\.Fail\w*\("
)
_SKIPS = frozenset({"Skip", "Skipf", "SkipNow"})
_TESTIFY = {
    "Equal": EXACT, "Exactly": EXACT, "EqualValues": EXACT, "JSONEq": EXACT, "YAMLEq": EXACT, "Nil": EXACT,
    "Empty": SIZED, "Zero": EXACT, "Same": EXACT, "EqualError": EXACT, "True": UNEQUAL, "False": UNEQUAL,
    "ElementsMatch": CLOSE, "InDelta": CLOSE, "InEpsilon": CLOSE, "WithinDuration": CLOSE, "Len": SIZED,
    "Contains": PARTIAL, "NotContains": PARTIAL, "Subset": PARTIAL, "Greater": PARTIAL, "GreaterOrEqual": PARTIAL,
    "Less": PARTIAL, "LessOrEqual": PARTIAL, "Regexp": PARTIAL, "IsType": PARTIAL, "Implements": PARTIAL,
    "ErrorIs": SIZED, "ErrorAs": PARTIAL, "ErrorContains": SIZED, "Positive": PARTIAL, "Negative": PARTIAL,
    "NotNil": UNEQUAL, "NotEmpty": UNEQUAL, "NotEqual": UNEQUAL, "NotZero": UNEQUAL, "Error": UNEQUAL,
    "Panics": UNEQUAL, "PanicsWithValue": PARTIAL, "NoError": RUNS, "NotPanics": RUNS, "Eventually": UNEQUAL,
    "FileExists": UNEQUAL, "Fail": EXACT, "FailNow": EXACT, "DeepEqual": EXACT, "Assert": CLOSE, "Check": CLOSE,
    "NilError": RUNS, "Cmp": EXACT, "EqualExportedValues": CLOSE, "ObjectsAreEqual": EXACT,
}  # fmt: skip
_PACKAGES = frozenset({"assert", "require", "is", "qt", "td", "should", "must", "s", "suite", "c", "a", "r"})
_CUSTOM = re.compile(r"(?:assert|expect|verify|check|require|must)[A-Z]\w*$", re.I)


def read(path: str, source: bytes) -> TestSource:
    """Return the tests of a file; raises SyntaxError when it does not parse."""
    root = parse("go", source)
    functions = [node for node in root.named_children if node.type in ("function_declaration", "method_declaration")]
    helpers = tuple(made for node in functions if not _is_test(node) and (made := _helper(node)).assertions)
    owned = frozenset(one.name for one in helpers)
    suites = _suites(functions)
    tests = tuple(test for node in functions if _is_test(node) for test in _tests(node, owned, suites))
    tag = next((one for one in root.named_children if text(one).startswith("//go:build ")), None)
    if tag is not None:
        tests = tuple(
            replace(one, skipped=one.skipped or text(tag), skip_line=one.skip_line or line(tag)) for one in tests
        )
    system = _SYSTEM.search(path)
    if system is not None and system[1] not in _here():
        tests = tuple(replace(one, skipped=one.skipped or f"the file is for {system[1]} alone") for one in tests)
    return TestSource(path, "go", tests, True, helpers)


def _here() -> tuple[str, str]:
    """Return the system and the processor of this machine in go's words."""
    machine = platform.machine().lower()
    return sys.platform, {"x86_64": "amd64", "aarch64": "arm64"}.get(machine, machine)


def _is_test(node: Node) -> bool:
    name = text(field(node, "name"))
    if name == "TestMain" or not _NAME.match(name):
        return False
    given = parts(field(node, "parameters"))
    return not given if node.type == "method_declaration" else len(given) == 1


def _receiver(node: Node) -> str:
    return text(field(node, "receiver")).strip("()").split(" ")[-1].lstrip("*") if field(node, "receiver") else ""


def _suites(functions: list[Node]) -> dict[str, str]:
    """Return the test function that runs each suite of testify."""
    found = {}
    for node in functions:
        hit = re.search(r"suite\.Run\(\w+, (?:new\((\w+)\)|&(\w+)\{)", text(node))
        if hit:
            found[hit[1] or hit[2]] = text(field(node, "name"))
    return found


def _helper(node: Node) -> SourceTest:
    body = body_of(field(node, "body"), _dialect(frozenset()))
    return _made(node, text(field(node, "name")), body)


def _made(node: Node, name: str, body: Body, title: str = "") -> SourceTest:
    skip, where = body.skip or (None, None)
    ids = dict.fromkeys([*tags(name), *tags(title)])
    test = SourceTest(name, line(node), node.end_point[0] + 1, tuple(ids), skip, tuple(body.assertions))
    return replace(test, skip_line=where, body=body.lines, calls=tuple(body.calls), stops=body.stops)


def _tests(node: Node, owned: frozenset[str], suites: dict[str, str]) -> Iterator[SourceTest]:
    name, receiver = text(field(node, "name")), _receiver(node)
    if receiver:
        name = f"{suites.get(receiver, receiver)}/{name}"
    yield from _within(node, field(node, "body"), name, "", owned, None)


def _within(
    node: Node, inner: Node | None, name: str, title: str, owned: frozenset[str], skip: tuple[str, int] | None
) -> Iterator[SourceTest]:
    """Yield a test and its subtests; a skip of the outer one leaves them out as well."""
    body = body_of(inner, _dialect(owned))
    body.skip = body.skip or skip
    rows, named = _table(inner)
    test = _made(node, name, body, title)
    yield replace(test, cases=rows)
    for row, case in named:
        yield SourceTest(
            f"{name}/{_shown(case)}", line(row), row.end_point[0] + 1, tags(case), test.skipped,
            skip_line=test.skip_line, body=(squash(text(row)),),
        )  # fmt: skip
    for call in _runs(inner):
        given = parts(field(call, "arguments"))
        said = string_value(given[0]) or ""
        yield from _within(call, field(given[1], "body"), f"{name}/{_shown(said)}", said, owned, body.skip)


def _shown(title: str) -> str:
    return "".join("_" if char.isspace() else char for char in title)


def _is_run(node: Node) -> bool:
    function = field(node, "function") if node.type == "call_expression" else None
    given = parts(field(node, "arguments")) if function is not None else []
    return (
        function is not None
        and text(field(function, "field")) == "Run"
        and len(given) == 2
        and given[1].type == "func_literal"
    )


def _literal_run(node: Node) -> bool:
    return _is_run(node) and string_value(parts(field(node, "arguments"))[0]) is not None


def _runs(inner: Node | None) -> list[Node]:
    if inner is None:
        return []
    return [node for node in walk(inner, lambda one: not _literal_run(one)) if _literal_run(node)]


def _table(inner: Node | None) -> tuple[tuple[str, ...], list[tuple[Node, str]]]:
    """Return the rows of the tables of a test: those without a name as text, and those with one."""
    rows: list[str] = []
    named: list[tuple[Node, str]] = []
    runs_by_name = inner is not None and any(_is_run(node) and not _literal_run(node) for node in walk(inner))
    for node in walk(inner, lambda one: not _literal_run(one)) if inner is not None else ():
        kind = field(node, "type") if node.type == "composite_literal" else None
        if kind is None or kind.type not in ("slice_type", "array_type", "map_type", "implicit_length_array_type"):
            continue
        value = field(node, "body")
        for row in parts(value):
            said = _row_name(row) if runs_by_name else None
            if said is not None:
                named.append((row, said))
            elif "{" in text(row):
                rows.append(squash(text(row)))
    return tuple(rows), named


def _row_name(row: Node) -> str | None:
    """Return the name in a row: the key of a map, the field `name`, or the first value when it is a text."""
    if row.type == "keyed_element":
        return string_value(_bare(row.named_children[0]))
    value = _bare(row)
    fields = parts(value) if value is not None and value.type in ("literal_value", "composite_literal") else []
    if value is not None and value.type == "composite_literal":
        fields = parts(field(value, "body"))
    for one in fields:
        if one.type == "keyed_element" and text(one.named_children[0]).lower() in (
            "name",
            "desc",
            "title",
            "scenario",
            "description",
            "testname",
        ):
            return string_value(_bare(one.named_children[-1]))
    return string_value(_bare(fields[0])) if fields and fields[0].type != "keyed_element" else None


def _bare(node: Node | None) -> Node | None:
    while node is not None and node.type == "literal_element" and node.named_children:
        node = node.named_children[0]
    return node


def _dialect(owned: frozenset[str]) -> Dialect:
    def assertion(node: Node, guard: str | None) -> Assertion | None:
        return _assertion(node, guard, owned)

    return Dialect(
        assertion, _skip, _called, opaque=_literal_run, simple=("short_var_declaration", "expression_statement")
    )


def _called(node: Node) -> str | None:
    function = field(node, "function") if node.type == "call_expression" else None
    return text(field(function, "field") or function) if function is not None else None


def _skip(node: Node) -> str | None:
    function = field(node, "function") if node.type == "call_expression" else None
    return one_line(node) if function is not None and text(field(function, "field")) in _SKIPS else None


def _assertion(node: Node, guard: str | None, owned: frozenset[str]) -> Assertion | None:
    if node.type == "if_statement":
        return _failing(node, guard)
    function = field(node, "function") if node.type == "call_expression" else None
    if function is None:
        return None
    given = parts(field(node, "arguments"))
    if function.type == "selector_expression":
        name = text(field(function, "field"))
        operand = text(field(function, "operand"))
        strength = _TESTIFY.get(name.removesuffix("f") if name.removesuffix("f") in _TESTIFY else name)
        about = operand.split("(")[0].split(".")[-1]
        if strength is None or not (operand.split(".")[0] in _PACKAGES or about in ("Require", "Assert")):
            return None
        given = [one for one in given if text(one) not in ("t", "tb", "c")]
        return _testify(node, name, strength, given, guard)
    if _CUSTOM.match(text(function)) and text(function) not in owned:
        return Assertion(line(node), one_line(node), UNKNOWN, text(function), None, guard)
    return None


def _testify(node: Node, name: str, strength: int, given: list[Node], guard: str | None) -> Assertion:
    form, subject, tolerance = name, one_line(given[-1]) if given else "", None
    if name.startswith(("True", "False")) and given:
        form, strength, subject = condition(one_line(given[0]), negated=name.startswith("False"))
    elif len(given) > 1:
        subject = one_line(given[1])
        if squash(text(given[0])) == squash(text(given[1])):
            strength = NOTHING
        elif strength == EXACT and is_size(text(given[0]), text(given[1])):
            strength = SIZED
    if name.startswith(("InDelta", "InEpsilon")) and len(given) > 2:
        try:
            tolerance = float(text(given[2]))
        except ValueError:
            tolerance = None
    return Assertion(line(node), one_line(node), strength, form, tolerance, guard, None, subject)


def _failing(node: Node, guard: str | None) -> Assertion | None:
    """Return what `if … { t.Error(…) }` asserts: that its condition does not hold."""
    consequence = field(node, "consequence")
    if consequence is None or not _FAILS.search(text(consequence)):
        return None
    inner = [one for one in walk(consequence) if one.type == "if_statement"]
    direct = [one for one in _plain_statements(consequence) if _FAILS.search(text(one))]
    if not direct and inner:
        return None
    said = one_line(field(node, "condition"))
    form, strength, subject = condition(said, negated=True)
    if re.search(r"\bdiff\b\s*!=\s*\"\"", said) or "cmp.Diff" in text(field(node, "initializer")):
        form, strength = "==", EXACT
    lead = one_line(field(node, "initializer"))
    return Assertion(line(node), f"if {lead + '; ' if lead else ''}{said}", strength, form, None, guard, None, subject)


def _plain_statements(block: Node) -> Iterator[Node]:
    for node in block.named_children:
        if node.type == "statement_list":
            yield from _plain_statements(node)
        elif node.type == "expression_statement":
            yield node
