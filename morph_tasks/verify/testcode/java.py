"""Java tests: JUnit 4 and 5, TestNG; their assertions, AssertJ, Hamcrest, Truth and Mockito."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from dataclasses import field as slot
from typing import TYPE_CHECKING

from morph_tasks.verify.scenarios.tags import tags
from morph_tasks.verify.testcode.body import Dialect, body_of
from morph_tasks.verify.testcode.conditions import condition, is_size
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
    child,
    field,
    line,
    number_value,
    one_line,
    parse,
    parts,
    squash,
    string_value,
    text,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_TESTS = frozenset(
    {"Test", "ParameterizedTest", "RepeatedTest", "TestFactory", "TestTemplate", "Property", "RetryingTest"}
)
_CASES = frozenset({"ValueSource", "CsvSource", "EnumSource", "MethodSource"})
_UNITS = {
    "NANOSECONDS": 1e-9,
    "MICROSECONDS": 1e-6,
    "MILLISECONDS": 1e-3,
    "SECONDS": 1.0,
    "MINUTES": 60.0,
    "HOURS": 3600.0,
}
_ASSERTS = {
    "assertEquals": EXACT, "assertArrayEquals": EXACT, "assertIterableEquals": EXACT, "assertLinesMatch": CLOSE,
    "assertSame": EXACT, "assertNull": EXACT, "assertTrue": UNEQUAL, "assertFalse": UNEQUAL, "assertNotNull": UNEQUAL,
    "assertNotEquals": UNEQUAL, "assertNotSame": UNEQUAL, "assertThrows": PARTIAL, "assertThrowsExactly": PARTIAL,
    "assertInstanceOf": PARTIAL, "assertDoesNotThrow": RUNS, "assertTimeout": PARTIAL,
    "assertTimeoutPreemptively": PARTIAL, "fail": EXACT, "verify": CALLED_WITH, "verifyNoInteractions": EXACT,
    "verifyNoMoreInteractions": EXACT, "verifyZeroInteractions": EXACT,
}  # fmt: skip
_FLUENT = {
    "isEqualTo": EXACT, "isSameAs": EXACT, "isNull": EXACT, "isTrue": EXACT, "isFalse": EXACT, "isZero": EXACT,
    "containsExactly": CALLED_WITH, "containsExactlyInAnyOrder": CALLED_WITH, "usingRecursiveComparison": CLOSE,
    "isCloseTo": CLOSE, "isEqualToIgnoringCase": CLOSE, "hasSize": SIZED, "isEmpty": SIZED, "hasMessage": SIZED,
    "hasMessageContaining": PARTIAL, "isNotNull": UNEQUAL, "isNotEqualTo": UNEQUAL, "isNotEmpty": UNEQUAL,
    "isPresent": UNEQUAL, "isNotBlank": UNEQUAL, "doesNotThrowAnyException": RUNS,
}  # fmt: skip
_ANY_ERROR = frozenset({"Exception", "Throwable", "RuntimeException"})
_CUSTOM = re.compile(r"(?:assert|expect|verify|check|should|ensure)[A-Z]\w*$")
_LOUD = re.compile(r"\bthrow\b|\bassert\w*\b|\bfail\b")


@dataclass
class _Annotations:
    is_test: bool = False
    skip: tuple[str, int] | None = None
    title: str | None = None
    timeout: float | None = None
    retries: int | None = None
    cases: list[str] = slot(default_factory=list)
    expected: tuple[str, int] | None = None
    scenarios: list[str] = slot(default_factory=list)


def read(path: str, source: bytes) -> TestSource:
    """Return the tests of a file; raises SyntaxError when it does not parse."""
    root = parse("java", source)
    methods = list(_methods(root, (), _Annotations()))
    helpers = tuple(
        made
        for node, _, said, _ in methods
        if not said.is_test and (made := _made(node, (), said, _Annotations(), frozenset())).assertions
    )
    owned = frozenset(one.name for one in helpers)
    tests = tuple(_made(node, above, said, outer, owned) for node, above, said, outer in methods if said.is_test)
    return TestSource(path, "java", tests, True, helpers)


def _methods(
    node: Node, above: tuple[str, ...], outer: _Annotations
) -> Iterator[tuple[Node, tuple[str, ...], _Annotations, _Annotations]]:
    for one in node.named_children:
        if one.type in ("class_declaration", "record_declaration", "interface_declaration"):
            said = _annotations(one)
            said.skip = outer.skip or said.skip
            said.timeout = outer.timeout if said.timeout is None else said.timeout
            inner = field(one, "body")
            if inner is not None:
                yield from _methods(inner, (*above, said.title or text(field(one, "name"))), said)
        elif one.type == "method_declaration":
            yield one, above, _annotations(one), outer


def _annotations(node: Node) -> _Annotations:
    found = _Annotations()
    for annotation in parts(child(node, "modifiers")):
        if annotation.type in ("annotation", "marker_annotation"):
            _annotation(found, annotation, text(field(annotation, "name")).rsplit(".", 1)[-1])
    return found


def _annotation(found: _Annotations, node: Node, name: str) -> None:
    given = parts(field(node, "arguments"))
    named = {text(field(one, "key")): field(one, "value") for one in given if one.type == "element_value_pair"}
    value = named.get("value") or (given[0] if given and given[0].type != "element_value_pair" else None)
    if name in _TESTS:
        found.is_test = True
        if name == "RetryingTest":
            number = number_value(named.get("maxAttempts") or value)
            found.retries = int(number) if number is not None else None
    if name in ("Disabled", "Ignore") or name.startswith(("DisabledOn", "DisabledIf", "EnabledIf", "EnabledOn")):
        found.skip = (one_line(node), line(node))
    if text(named.get("enabled")) == "false":
        found.skip = (one_line(node), line(node))
    if name == "DisplayName":
        found.title = string_value(value)
    if name == "Timeout":
        number = number_value(value)
        unit = text(named.get("unit")).rsplit(".", 1)[-1] or "SECONDS"
        found.timeout = None if number is None else number * _UNITS.get(unit, 1.0)
    if name == "Test" and ("timeout" in named or "timeOut" in named):
        number = number_value(named.get("timeout") or named.get("timeOut"))
        found.timeout = None if number is None else number / 1000
    expected = named.get("expected") or named.get("expectedExceptions")
    if expected is not None:
        found.expected = (text(expected).removesuffix(".class"), line(node))
    if name in ("Retry", "Flaky", "Retryable"):
        number = number_value(value or named.get("maxAttempts"))
        found.retries = int(number) if number is not None else 1
    if name in _CASES:
        found.cases += _rows(node, named, value)
    if name in ("Tag", "Tags", "Category") and value is not None:
        found.scenarios += re.findall(r'"((?:[\w.-]+:)?C\d+)"', text(value))


def _rows(node: Node, named: dict[str, Node | None], value: Node | None) -> list[str]:
    rows = next((one for one in [value, *named.values()] if one is not None and "array_initializer" in one.type), None)
    if rows is not None:
        return [squash(text(row)) for row in parts(rows)]
    return [squash(text(node))]


def _made(
    node: Node, above: tuple[str, ...], said: _Annotations, outer: _Annotations, owned: frozenset[str]
) -> SourceTest:
    method = text(field(node, "name"))
    name = " > ".join([*above, said.title or method])

    def assertion(inner: Node, guard: str | None) -> Assertion | None:
        return _assertion(inner, guard, owned)

    dialect = Dialect(
        assertion, _skip, _called, quiet=_quiet, tries=("try_statement", "try_with_resources_statement"),
        simple=("local_variable_declaration",),
    )  # fmt: skip
    body = body_of(field(node, "body"), dialect)
    assertions = list(body.assertions)
    if said.expected:
        error, where = said.expected
        strength = UNEQUAL if error in _ANY_ERROR else PARTIAL
        assertions.append(Assertion(where, f"expected = {error}", strength, "assertThrows", None, None, error))
    skip, at = said.skip or outer.skip or body.skip or (None, None)
    ids = [*said.scenarios, *tags(name), *tags(method), *(one for case in said.cases for one in tags(case))]
    test = SourceTest(
        name, line(node), node.end_point[0] + 1, tuple(dict.fromkeys(ids)), skip, tuple(assertions),
        outer.timeout if said.timeout is None else said.timeout, said.retries,
    )  # fmt: skip
    return replace(
        test, skip_line=at, cases=tuple(said.cases), body=body.lines, calls=tuple(body.calls), stops=body.stops
    )


def _quiet(node: Node) -> bool:
    clauses = [one for one in node.named_children if one.type == "catch_clause"]
    return any(not _LOUD.search(text(field(one, "body"))) for one in clauses)


def _called(node: Node) -> str | None:
    return text(field(node, "name")) if node.type == "method_invocation" else None


def _skip(node: Node) -> str | None:
    said = one_line(node) if node.type == "method_invocation" else ""
    return (
        said
        if re.match(r"(?:Assumptions\.|Assume\.)?(?:assumeTrue\(\s*false|assumeFalse\(\s*true|abort\()", said)
        else None
    )


def _assertion(node: Node, guard: str | None, owned: frozenset[str]) -> Assertion | None:
    if node.type == "assert_statement":
        form, strength, subject = condition(one_line(parts(node)[0]))
        return Assertion(line(node), one_line(node), strength, form, None, guard, None, subject)
    if node.type != "method_invocation":
        return None
    name, said, given = text(field(node, "name")), one_line(node), parts(field(node, "arguments"))
    owner = one_line(field(node, "object"))
    if re.search(r"\bassertThat\w*\(", owner) or (re.search(r"\bverify\(", owner) and not _CUSTOM.match(name)):
        return _chained(node, name, said, owner, given, guard)
    if name == "assertThat" and len(given) > 1:
        form, strength = _hamcrest(one_line(given[-1]))
        return Assertion(line(node), said, strength, form, None, guard, None, one_line(given[-2]))
    if name in _ASSERTS and (not owner or owner in ("Assertions", "Assert", "Mockito", "this", "Truth")):
        return _junit(node, name, said, given, guard)
    if _CUSTOM.match(name) and name not in owned and name != "assertThat" and owner in ("", "this"):
        return Assertion(line(node), said, UNKNOWN, name, None, guard, None, one_line(given[0]) if given else "")
    return None


def _junit(node: Node, name: str, said: str, given: list[Node], guard: str | None) -> Assertion | None:
    form, strength, subject, tolerance, error = name, _ASSERTS[name], one_line(given[0]) if given else "", None, None
    if name == "verify" and node.parent is not None and node.parent.type == "method_invocation":
        return None
    if name in ("assertTrue", "assertFalse") and given:
        value = given[-1] if given[0].type == "string_literal" and len(given) > 1 else given[0]
        form, strength, subject = condition(one_line(value), negated=name == "assertFalse")
    elif name.startswith("assertThrows"):
        error = one_line(given[0]).removesuffix(".class") if given else ""
        strength = UNEQUAL if error in _ANY_ERROR else PARTIAL
    elif len(given) > 1:
        subject = one_line(given[1])
        if squash(text(given[0])) == squash(text(given[1])):
            strength = NOTHING
        elif strength == EXACT and is_size(text(given[0]), text(given[1])):
            strength = SIZED
        if len(given) > 2 and name == "assertEquals" and number_value(given[2]) is not None:
            tolerance, strength = number_value(given[2]), CLOSE
    return Assertion(line(node), said, strength, form, tolerance, guard, error, subject)


def _chained(node: Node, name: str, said: str, owner: str, given: list[Node], guard: str | None) -> Assertion | None:
    if "verify(" in owner:
        return Assertion(line(node), said, CALLED_WITH, "verify", None, guard, None, owner)
    # The strictest link of a chain stands for it.
    links = re.findall(r"\.(\w+)\(", said[said.find("assertThat") :])
    strength = max(
        [
            _FLUENT.get(link, PARTIAL if re.match(r"is|has|contains|starts|ends|match|all|any", link) else RUNS)
            for link in links
        ]
        or [RUNS]
    )
    hit = re.search(r"(?:isInstanceOf|isExactlyInstanceOf)\((\w+)\.class", said)
    error = hit[1] if hit and "assertThatThrownBy" in said else None
    if error in _ANY_ERROR:
        strength = min(strength, UNEQUAL)
    close = re.search(r"(?:within|offset|byLessThan)\(([\d.]+)", said)
    tolerance = float(close[1].rstrip(".")) if close else None
    return Assertion(line(node), said, strength, name, tolerance, guard, error, owner.split(").")[0])


def _hamcrest(said: str) -> tuple[str, int]:
    name = re.sub(r"\(.*", "", said)
    inner = re.match(r"is\((\w+)\(", said)
    name = inner[1] if inner else name
    if name in ("equalTo", "is", "nullValue", "sameInstance"):
        return name, EXACT
    if name in ("contains", "containsInAnyOrder", "arrayContaining"):
        return name, CALLED_WITH
    if name in ("closeTo",):
        return name, CLOSE
    if name in ("hasSize", "empty"):
        return name, SIZED
    return name, UNEQUAL if name in ("notNullValue", "not", "anything") else PARTIAL
