"""C# tests: xunit, nunit, mstest; their own assertions, FluentAssertions and Shouldly."""

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

_TESTS = re.compile(r"(?:\w*(?:Fact|Theory)|Test|TestCase|TestCaseSource|TestMethod|DataTestMethod|Property)$")
_CASES = frozenset({"InlineData", "TestCase", "DataRow", "Arguments"})
_ASSERTS = {
    "Equal": EXACT, "AreEqual": EXACT, "StrictEqual": EXACT, "Same": EXACT, "AreSame": EXACT, "Null": EXACT,
    "IsNull": EXACT, "Equivalent": CLOSE, "That": CLOSE, "Single": SIZED, "Empty": SIZED, "IsEmpty": SIZED,
    "Collection": CALLED_WITH, "CollectionEquals": EXACT, "True": UNEQUAL, "IsTrue": UNEQUAL, "False": UNEQUAL,
    "IsFalse": UNEQUAL, "Contains": PARTIAL, "DoesNotContain": PARTIAL, "StartsWith": PARTIAL, "EndsWith": PARTIAL,
    "Matches": PARTIAL, "InRange": PARTIAL, "IsType": PARTIAL, "IsAssignableFrom": PARTIAL, "IsInstanceOf": PARTIAL,
    "IsInstanceOfType": PARTIAL, "Greater": PARTIAL, "Less": PARTIAL, "All": PARTIAL, "NotNull": UNEQUAL,
    "IsNotNull": UNEQUAL, "NotEqual": UNEQUAL, "AreNotEqual": UNEQUAL, "NotEmpty": UNEQUAL, "NotSame": UNEQUAL,
    "Throws": PARTIAL, "ThrowsAsync": PARTIAL, "ThrowsAny": PARTIAL, "ThrowsAnyAsync": PARTIAL,
    "ThrowsException": PARTIAL, "ThrowsExceptionAsync": PARTIAL, "ThrowsExactly": PARTIAL, "Catch": PARTIAL,
    "DoesNotThrow": RUNS, "DoesNotThrowAsync": RUNS, "Fail": EXACT, "Pass": NOTHING, "Multiple": NOTHING,
}  # fmt: skip
_FLUENT = {
    "Be": EXACT, "Equal": EXACT, "BeEquivalentTo": CLOSE, "BeNull": EXACT, "BeTrue": EXACT, "BeFalse": EXACT,
    "BeSameAs": EXACT, "BeApproximately": CLOSE, "BeCloseTo": CLOSE, "HaveCount": SIZED, "BeEmpty": SIZED,
    "ContainSingle": SIZED, "HaveLength": SIZED, "Throw": PARTIAL, "ThrowAsync": PARTIAL, "ThrowExactly": PARTIAL,
    "NotBeNull": UNEQUAL, "NotBe": UNEQUAL, "NotBeEmpty": UNEQUAL, "NotBeNullOrEmpty": UNEQUAL, "NotThrow": RUNS,
    "NotThrowAsync": RUNS, "ShouldBe": EXACT, "ShouldBeNull": EXACT, "ShouldBeTrue": EXACT, "ShouldBeFalse": EXACT,
    "ShouldNotBeNull": UNEQUAL, "ShouldNotBe": UNEQUAL, "ShouldNotBeEmpty": UNEQUAL, "ShouldNotThrow": RUNS,
    "Verify": CALLED_WITH, "VerifyAll": CALLED_WITH, "Received": CALLED_WITH, "DidNotReceive": CALLED_WITH,
    "ShouldBeEmpty": SIZED, "VerifyNoOtherCalls": EXACT,
}  # fmt: skip
_CLASSES = frozenset({"Assert", "CollectionAssert", "StringAssert", "ClassicAssert", "Xunit"})
_ANY_ERROR = frozenset({"Exception", "System.Exception", "SystemException"})
_CUSTOM = re.compile(r"(?:Assert|Expect|Verify|Check|Should|Ensure)[A-Z]\w*$")
_LOUD = re.compile(r"\bthrow\b|\bAssert\b|\bFail\b|\.Should")


@dataclass
class _Attributes:
    is_test: bool = False
    skip: tuple[str, int] | None = None
    title: str | None = None
    timeout: float | None = None
    retries: int | None = None
    cases: list[str] = slot(default_factory=list)
    scenarios: list[str] = slot(default_factory=list)


def read(path: str, source: bytes) -> TestSource:
    """Return the tests of a file; raises SyntaxError when it does not parse."""
    root = parse("csharp", source)
    methods = list(_methods(root, (), None))
    helpers = tuple(
        made
        for node, _, said, _ in methods
        if not said.is_test and (made := _made(node, (), said, None, frozenset())).assertions
    )
    owned = frozenset(one.name for one in helpers)
    tests = tuple(_made(node, above, said, skip, owned) for node, above, said, skip in methods if said.is_test)
    return TestSource(path, "csharp", tests, True, helpers)


_Method = tuple["Node", tuple[str, ...], _Attributes, "tuple[str, int] | None"]


def _methods(node: Node, above: tuple[str, ...], skip: tuple[str, int] | None) -> Iterator[_Method]:
    for one in node.named_children:
        if one.type in ("class_declaration", "record_declaration", "struct_declaration"):
            said = _attributes(one)
            inner = field(one, "body") or child(one, "declaration_list")
            if inner is not None:
                yield from _methods(inner, (*above, text(field(one, "name"))), skip or said.skip)
        elif one.type == "method_declaration":
            yield one, above, _attributes(one), skip
        elif one.type in (
            "namespace_declaration",
            "declaration_list",
            "preproc_if",
            "preproc_else",
            "file_scoped_namespace_declaration",
        ):
            condition = field(one, "condition") if one.type == "preproc_if" else None
            inside = (f"#if {one_line(condition)}", line(one)) if condition is not None else None
            yield from _methods(one, above, skip or inside)


def _attributes(node: Node) -> _Attributes:
    found = _Attributes()
    for group in node.named_children:
        for attribute in parts(group) if group.type == "attribute_list" else ():
            if attribute.type != "attribute":
                continue
            name = text(field(attribute, "name")).rsplit(".", 1)[-1].removesuffix("Attribute")
            given = child(attribute, "attribute_argument_list")
            _attribute(found, attribute, name, [(one_line(one), one) for one in parts(given)])
    return found


def _attribute(found: _Attributes, node: Node, name: str, given: list[tuple[str, Node]]) -> None:
    named = {
        said.split("=", 1)[0].strip(): one.named_children[-1] for said, one in given if re.match(r"\w+\s*=[^=]", said)
    }
    first = given[0][1].named_children[-1] if given and given[0][1].named_children else None
    if _TESTS.match(name):
        found.is_test = True
    whole = ("Skip" in named or "Ignore" in named) and name not in _CASES and text(named.get("Skip")) != "null"
    if whole or name in ("Ignore", "Explicit") or name.startswith("Skip"):
        found.skip = (f"[{one_line(node)}]", line(node))
    title = string_value(named.get("DisplayName") or named.get("TestName")) or (
        string_value(first)
        if name in ("DisplayName", "Description") or name in ("TestMethod", "DataTestMethod")
        else None
    )
    if title and name not in _CASES:
        found.title = title
    if "Timeout" in named or name in ("Timeout", "MaxTime", "CancelAfter"):
        value = number_value(named.get("Timeout") or first)
        found.timeout = None if value is None else value / 1000
    if name in ("Retry", "RetryFact", "RetryTheory", "Repeat"):
        value = number_value(named.get("MaxRetries") or first)
        found.retries = None if value is None or name == "Repeat" else int(value)
    if name in _CASES and given:
        found.cases.append(squash(", ".join(said for said, _ in given)))
    if name in ("Trait", "Category", "Property", "TestProperty", "TestCategory") and any(
        "cenario" in said for said, _ in given
    ):
        found.scenarios += [said.strip('"') for said, _ in given if re.fullmatch(r'"(?:[\w.-]+:)?C\d+"', said)]


def _made(
    node: Node, above: tuple[str, ...], said: _Attributes, outer: tuple[str, int] | None, owned: frozenset[str]
) -> SourceTest:
    method = text(field(node, "name"))
    name = " > ".join([*above, said.title or method])

    def assertion(inner: Node, guard: str | None) -> Assertion | None:
        return _assertion(inner, guard, owned)

    dialect = Dialect(assertion, _skip, _called, quiet=_quiet, simple=("local_declaration_statement",))
    body = body_of(field(node, "body") or child(node, "arrow_expression_clause"), dialect)
    skip, where = said.skip or outer or body.skip or (None, None)
    ids = [*said.scenarios, *tags(name), *tags(method), *(one for case in said.cases for one in tags(case))]
    test = SourceTest(
        name, line(node), node.end_point[0] + 1, tuple(dict.fromkeys(ids)), skip, tuple(body.assertions), said.timeout,
        said.retries,
    )  # fmt: skip
    return replace(
        test, skip_line=where, cases=tuple(said.cases), body=body.lines, calls=tuple(body.calls), stops=body.stops
    )


def _quiet(node: Node) -> bool:
    clauses = [one for one in node.named_children if one.type == "catch_clause"]
    return any(not _LOUD.search(text(field(one, "body") or one)) for one in clauses)


def _called(node: Node) -> str | None:
    function = field(node, "function") if node.type == "invocation_expression" else None
    return re.sub(r"<.*", "", text(field(function, "name") or function), flags=re.S) if function is not None else None


def _skip(node: Node) -> str | None:
    said = one_line(node) if node.type == "invocation_expression" else ""
    return said if re.match(r"Assert\.(?:Ignore|Inconclusive|Skip\w*|Pass)\(|Skip\.(?:If|IfNot)\(", said) else None


def _assertion(node: Node, guard: str | None, owned: frozenset[str]) -> Assertion | None:
    function = field(node, "function") if node.type == "invocation_expression" else None
    if function is None:
        return None
    name = _called(node) or ""
    given = [one for one in parts(field(node, "arguments")) if one.type == "argument"]
    said = one_line(node)
    owner = text(field(function, "expression"))
    if owner in _CLASSES:
        return _classic(node, name, given, guard)
    if (
        ".Should()" in said
        or name.startswith("Should")
        or name in ("Verify", "VerifyAll", "VerifyNoOtherCalls", "Received")
    ):
        strength = _FLUENT.get(
            name, PARTIAL if name not in ("Should", "And", "Which", "WithMessage", "Because") else -1
        )
        if _type_argument(function) and not given and strength == EXACT:
            strength = PARTIAL  # `ShouldBe<T>()`
        if name in ("WithMessage", "WithParameterName"):
            strength = SIZED
        if strength < 0:
            return None
        subject = squash(re.split(r"\.Should\w*\(", said, maxsplit=1)[0])
        error = _type_argument(function) if "Throw" in said else None
        if error in _ANY_ERROR:
            strength = min(strength, UNEQUAL)
        tolerance = number_value(given[1]) if name in ("BeApproximately", "BeCloseTo") and len(given) > 1 else None
        return Assertion(line(node), said, strength, name, tolerance, guard, error, subject)
    if _CUSTOM.match(name) and name not in owned and (not owner or owner in ("this", "base")):
        return Assertion(line(node), said, UNKNOWN, name, None, guard, None, one_line(given[0]) if given else "")
    return None


def _type_argument(function: Node) -> str | None:
    hit = re.search(r"\w+<([^<>]*(?:<[^<>]*>)?)>$", one_line(function))
    return hit[1] if hit else None


def _classic(node: Node, name: str, given: list[Node], guard: str | None) -> Assertion | None:
    strength = _ASSERTS.get(name, SIZED)
    if name == "Multiple" or name in ("Ignore", "Inconclusive", "Skip"):
        return None
    form, subject, tolerance, error = name, one_line(given[0]) if given else "", None, None
    if name in ("True", "IsTrue", "False", "IsFalse") and given:
        form, strength, subject = condition(subject, negated="False" in name)
    elif name == "That" and len(given) > 1:
        form, strength, tolerance, error = _constraint(one_line(given[1]))
    elif name == "That" and given:
        form, strength, subject = condition(subject)
    elif "Throws" in name or name == "Catch":
        error = _type_argument(field(node, "function") or node) or ""
        strength = UNEQUAL if error in _ANY_ERROR or not error else PARTIAL
    elif len(given) > 1:
        if squash(text(given[0])) == squash(text(given[1])):
            strength = NOTHING
        elif strength == EXACT and is_size(text(given[0]), text(given[1])):
            strength = SIZED
        if len(given) > 2 and strength == EXACT and (value := number_value(given[2])) is not None:
            whole = name == "Equal" and float(value).is_integer()
            tolerance, strength = float(10**-value) if whole and value > 0 else value, CLOSE
        subject = one_line(given[1])
    return Assertion(line(node), one_line(node), strength, form, tolerance, guard, error, subject)


def _constraint(said: str) -> tuple[str, int, float | None, str | None]:
    """Return what nunit's `Is.EqualTo(3).Within(0.1)` and its like assert."""
    form = re.sub(r"\(.*", "", said)
    within = re.search(r"\.Within\(([\d.]+)", said)
    error = re.search(r"(?:TypeOf|InstanceOf)<([\w.]+)>|Throws\.(\w+)", said)
    if within:
        return form, CLOSE, float(within[1]), None
    if said.startswith("Throws"):
        name = (error[1] or error[2]) if error else "Exception"
        return "Throws", RUNS if name == "Nothing" else UNEQUAL if name in _ANY_ERROR else PARTIAL, None, name
    if re.match(r"Is\.(?:EqualTo|SameAs|Null|True|False|Zero)\b", said):
        return form, EXACT, None, None
    if re.match(r"(?:Is\.Empty|Has\.(?:Count|Length|Exactly|One))\b", said):
        return form, SIZED, None, None
    return form, UNEQUAL if said.startswith("Is.Not") else PARTIAL, None, None
