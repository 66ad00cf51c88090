"""Assertions in JavaScript: `expect` of jest, vitest, playwright and chai, `assert` of node and chai, supertest."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from morph_tasks.verify.testcode.conditions import is_size
from morph_tasks.verify.testcode.js_calls import Chain, chain
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
)
from morph_tasks.verify.testcode.sitter import field, line, number_value, one_line, parts, squash, text

if TYPE_CHECKING:
    from tree_sitter import Node

# The matchers of jest, vitest and playwright, and the words of chai.
_MATCHERS = {
    "toBe": EXACT, "toEqual": EXACT, "toStrictEqual": EXACT, "toMatchSnapshot": EXACT, "toMatchInlineSnapshot": EXACT,
    "toThrowErrorMatchingSnapshot": EXACT, "toThrowErrorMatchingInlineSnapshot": EXACT, "toMatchFileSnapshot": EXACT,
    "toBeTrue": EXACT, "toBeFalse": EXACT,
    "toBeNull": EXACT, "toBeUndefined": EXACT, "toBeNaN": EXACT, "toHaveText": EXACT, "toHaveValue": EXACT,
    "toHaveURL": EXACT, "toHaveTitle": EXACT, "toHaveScreenshot": EXACT, "toHaveTextContent": PARTIAL,
    "toBeCloseTo": CLOSE, "toHaveLength": SIZED, "toHaveCount": SIZED, "toHaveBeenCalledTimes": SIZED,
    "toBeCalledTimes": SIZED, "toHaveBeenCalledOnce": SIZED, "toHaveBeenCalledWith": CALLED_WITH,
    "toBeCalledWith": CALLED_WITH, "toHaveBeenLastCalledWith": CALLED_WITH, "toHaveBeenNthCalledWith": CALLED_WITH,
    "toHaveBeenCalledExactlyOnceWith": CALLED_WITH, "toHaveReturnedWith": CALLED_WITH, "toHaveProperty": PARTIAL,
    "toMatchObject": CLOSE, "toContain": PARTIAL, "toContainEqual": PARTIAL, "toMatch": PARTIAL,
    "toBeGreaterThan": PARTIAL, "toBeGreaterThanOrEqual": PARTIAL, "toBeLessThan": PARTIAL,
    "toBeLessThanOrEqual": PARTIAL, "toBeInstanceOf": PARTIAL, "toBeTypeOf": PARTIAL, "toContainText": PARTIAL,
    "toThrow": UNEQUAL, "toThrowError": UNEQUAL, "toBeTruthy": UNEQUAL, "toBeFalsy": UNEQUAL, "toBeDefined": UNEQUAL,
    "toBeInTheDocument": UNEQUAL, "toBeVisible": UNEQUAL, "toBeAttached": UNEQUAL, "toHaveBeenCalled": UNEQUAL,
    "toBeCalled": UNEQUAL, "toHaveReturned": UNEQUAL, "toBeOK": UNEQUAL, "toBeNullable": UNEQUAL,
    "equal": EXACT, "equals": EXACT, "eq": EXACT, "eql": EXACT, "eqls": EXACT, "true": EXACT, "false": EXACT,
    "null": EXACT, "undefined": EXACT, "members": CALLED_WITH, "calledWith": CALLED_WITH, "closeTo": CLOSE,
    "approximately": CLOSE, "lengthOf": SIZED, "length": SIZED, "calledOnce": SIZED, "calledOnceWith": CALLED_WITH,
    "include": PARTIAL, "includes": PARTIAL, "contain": PARTIAL, "contains": PARTIAL, "match": PARTIAL,
    "above": PARTIAL, "below": PARTIAL, "greaterThan": PARTIAL, "lessThan": PARTIAL, "least": PARTIAL,
    "most": PARTIAL, "within": PARTIAL, "instanceof": PARTIAL, "instanceOf": PARTIAL, "property": PARTIAL,
    "keys": PARTIAL, "a": PARTIAL, "an": PARTIAL, "string": PARTIAL, "oneOf": PARTIAL, "rejectedWith": PARTIAL,
    "ok": UNEQUAL, "exist": UNEQUAL, "exists": UNEQUAL, "empty": SIZED, "throw": UNEQUAL, "throws": UNEQUAL,
    "called": UNEQUAL, "rejected": UNEQUAL, "fulfilled": RUNS,
}  # fmt: skip
_ASSERTS = {
    "equal": EXACT, "strictEqual": EXACT, "deepEqual": EXACT, "deepStrictEqual": EXACT, "is": EXACT, "same": EXACT,
    "isNull": EXACT, "isUndefined": EXACT, "isTrue": EXACT, "isFalse": EXACT, "true": EXACT, "false": EXACT,
    "snapshot": EXACT, "fileSnapshot": EXACT, "partialDeepStrictEqual": CLOSE, "closeTo": CLOSE, "like": CLOSE,
    "approximately": CLOSE, "lengthOf": SIZED, "match": PARTIAL, "regex": PARTIAL, "include": PARTIAL,
    "includes": PARTIAL, "isAbove": PARTIAL, "isBelow": PARTIAL, "instanceOf": PARTIAL, "typeOf": PARTIAL,
    "property": PARTIAL, "isAtLeast": PARTIAL, "isAtMost": PARTIAL, "oneOf": PARTIAL, "notMatch": PARTIAL,
    "doesNotMatch": PARTIAL, "throws": UNEQUAL, "rejects": UNEQUAL, "throwsAsync": UNEQUAL, "ok": UNEQUAL,
    "truthy": UNEQUAL, "falsy": UNEQUAL, "not": UNEQUAL, "notEqual": UNEQUAL, "notStrictEqual": UNEQUAL,
    "notDeepEqual": UNEQUAL, "notDeepStrictEqual": UNEQUAL, "isNotNull": UNEQUAL, "isDefined": UNEQUAL,
    "exists": UNEQUAL, "isOk": UNEQUAL, "notOk": UNEQUAL, "fail": EXACT, "ifError": UNEQUAL, "doesNotThrow": RUNS,
    "doesNotReject": RUNS, "notThrows": RUNS, "notThrowsAsync": RUNS, "pass": NOTHING, "plan": UNEQUAL,
}  # fmt: skip
_LOOSE_VALUES = re.compile(
    r"\bexpect(?:\.\w+)?\.(?:any\w*|objectContaining|arrayContaining|stringContaining|stringMatching)\b"
)
_ANY_ERROR = frozenset({"", "Error"})
_CUSTOM = re.compile(r"(?:assert|expect|verify|check|should|ensure)[A-Z_]\w*$")
_COMPARES = {
    "===": EXACT, "==": EXACT, "!==": UNEQUAL, "!=": UNEQUAL, "<": PARTIAL, ">": PARTIAL, "<=": PARTIAL, ">=": PARTIAL,
    "instanceof": PARTIAL, "in": PARTIAL,
}  # fmt: skip
_RUNNERS = frozenset({"t", "test", "assert", "tap"})


def assertion(node: Node, guard: str | None, owned: frozenset[str]) -> Assertion | None:
    """Return what a call, or a chain that ends in a property, asserts; None for anything else."""
    found = chain(node)
    if found is None:
        return _on_value(node, guard)
    root, names = found.names[0], found.names
    if root == "expect":
        return _expect(node, found, guard)
    if root == "assert" or (root in _RUNNERS and len(names) > 1 and (names[1] == "assert" or names[-1] in _ASSERTS)):
        return _assert(node, found, guard)
    if len(names) > 1 and names[-1] in ("expect", "should") and found.last:
        return _plain(node, CALLED_WITH, names[-1], guard, root)
    if "should" in names[1:] and names[-1] in _MATCHERS:
        return _plain(node, _MATCHERS[names[-1]], names[-1], guard, root)
    if len(names) == 1 and _CUSTOM.match(root) and root not in owned and node.type == "call_expression":
        return _plain(node, UNKNOWN, root, guard, one_line(found.last[0]) if found.last else "")
    return None


def _on_value(node: Node, guard: str | None) -> Assertion | None:
    """Chains on something that is no name: `request(app).get("/").expect(200)`, `(x).should.equal(1)`."""
    function = field(node, "function") if node.type == "call_expression" else None
    if function is None or function.type != "member_expression":
        return None
    name = text(field(function, "property"))
    if name in ("expect", "should") and parts(field(node, "arguments")):
        return _plain(node, CALLED_WITH, name, guard, one_line(field(function, "object")))
    return None


def _plain(node: Node, strength: int, form: str, guard: str | None, subject: str) -> Assertion:
    return Assertion(line(node), one_line(node), strength, form, None, guard, None, subject)


def _expect(node: Node, found: Chain, guard: str | None) -> Assertion | None:
    names = found.names
    if names[1:2] and names[1] in ("assertions", "hasAssertions"):
        return _plain(node, UNEQUAL, names[1], guard, "")
    given = found.arguments.get(0) or found.of("soft") or found.of("poll") or []
    matcher = next((name for name in reversed(names) if name in _MATCHERS or re.match(r"to[A-Z]", name)), None)
    if not given or len(names) == 1 or matcher is None:
        return None
    if node.type != "call_expression" and re.match(r"to[A-Z]", names[-1]):
        return None  # `expect(a).toBe;` calls nothing
    subject = one_line(given[0])
    expected = found.last if node.type == "call_expression" and len(found.arguments) > 1 else []
    strength = _MATCHERS.get(matcher, SIZED)
    error = None
    if matcher in ("toThrow", "toThrowError", "throw", "throws", "rejectedWith"):
        error = one_line(expected[0]) if expected else ""
        strength = UNEQUAL if error in _ANY_ERROR else PARTIAL
    if expected and _LOOSE_VALUES.search(one_line(expected[0])):
        whole = re.match(r"expect\.any(?:thing)?\b", one_line(expected[0])) is not None
        strength = min(strength, PARTIAL if whole else CLOSE)
    if matcher in ("toHaveURL", "toHaveText", "toHaveTitle") and expected and expected[0].type == "regex":
        strength = PARTIAL
    negated = "not" in names
    if negated:
        strength = EXACT if matcher in ("toHaveBeenCalled", "toBeCalled", "called") else min(strength, PARTIAL)
        strength = UNEQUAL if strength == PARTIAL and _MATCHERS.get(matcher) == EXACT else strength
        strength = RUNS if error is not None else strength
    elif given[0].type == "binary_expression" and matcher in ("toBe", "toEqual", "true", "toBeTruthy", "ok"):
        strength, subject = _comparison(given[0], strength)
    if strength == EXACT and is_size(subject, *map(text, expected[:1])):
        strength = SIZED
    if _trivial(given[0], expected):
        strength = NOTHING
    form = f"not.{matcher}" if negated else matcher
    return Assertion(line(node), one_line(node), strength, form, _precision(matcher, expected), guard, error, subject)


def _precision(matcher: str, expected: list[Node]) -> float | None:
    """Return what may differ: `toBeCloseTo` counts decimals, chai's `closeTo` says the difference."""
    if matcher == "toBeCloseTo":
        digits = number_value(expected[1]) if len(expected) > 1 else 2.0
        return float(10**-digits) if digits is not None else None
    if matcher in ("closeTo", "approximately"):
        return number_value(expected[-1]) if len(expected) > 1 else None
    return None


def _assert(node: Node, found: Chain, guard: str | None) -> Assertion | None:
    if node.type != "call_expression":
        return None
    method = found.names[-1] if len(found.names) > 1 else "ok"
    given = found.last
    strength = _ASSERTS.get(method)
    if strength is None:
        strength = SIZED if found.names[0] == "assert" or "assert" in found.names[1:2] else None
    if strength is None or not (given or method in ("fail", "pass")):
        return None
    subject = one_line(given[0]) if given else ""
    error, tolerance = None, None
    if method in ("throws", "rejects", "throwsAsync"):
        error = one_line(given[1]) if len(given) > 1 and given[1].type != "string" else ""
        strength = UNEQUAL if error in _ANY_ERROR else PARTIAL
    if method in ("closeTo", "approximately") and len(given) > 2:
        tolerance = number_value(given[2])
    if method in ("ok", "isOk", "isTrue", "true", "truthy") and given and given[0].type == "binary_expression":
        strength, subject = _comparison(given[0], strength)
    if strength == EXACT and is_size(*map(text, given[:2])):
        strength = SIZED
    if _trivial(given[0] if given else None, given[1:2]):
        strength = NOTHING
    return Assertion(line(node), one_line(node), strength, method, tolerance, guard, error, subject)


def _comparison(node: Node, strength: int) -> tuple[int, str]:
    operator = text(field(node, "operator"))
    subject = one_line(field(node, "left"))
    if operator == "||":
        return UNEQUAL, subject
    return _COMPARES.get(operator, strength), subject


def _trivial(given: Node | None, expected: list[Node]) -> bool:
    """Tell whether an assertion holds whatever the code does: it compares literals, or a value with itself."""
    literals = ("true", "false", "number", "string", "null", "undefined")
    if given is None:
        return False
    if given.type in literals:
        return not expected or expected[0].type in literals
    alike = expected and squash(text(given)) == squash(text(expected[0]))
    return bool(alike) and given.type in ("identifier", "member_expression")
