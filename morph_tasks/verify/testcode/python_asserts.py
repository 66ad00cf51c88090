"""Assertions in Python: `assert`, unittest, pytest's context managers, mocks and numpy."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import TypeGuard

from morph_tasks.verify.testcode.model import (
    CALLED_WITH,
    CLOSE,
    EXACT,
    NOTHING,
    PARTIAL,
    SIZED,
    UNEQUAL,
    UNKNOWN,
    Assertion,
)

_CALLS = {
    "assertEqual": EXACT, "assertEquals": EXACT, "assertIs": EXACT, "assertIsNone": EXACT, "assertListEqual": EXACT,
    "assertDictEqual": EXACT, "assertSetEqual": EXACT, "assertTupleEqual": EXACT, "assertSequenceEqual": EXACT,
    "assertMultiLineEqual": EXACT, "assertXMLEqual": EXACT, "assertJSONEqual": EXACT, "assertHTMLEqual": EXACT,
    "assertQuerySetEqual": EXACT, "assertQuerysetEqual": EXACT, "assertCountEqual": CALLED_WITH,
    "assertAlmostEqual": CLOSE, "assertAlmostEquals": CLOSE, "assertNumQueries": SIZED, "assertRaisesRegex": SIZED,
    "assertRaisesMessage": SIZED, "assertWarnsRegex": SIZED, "assertRaises": PARTIAL, "assertWarns": PARTIAL,
    "assertLogs": PARTIAL, "assertNoLogs": PARTIAL, "assertIn": PARTIAL, "assertNotIn": PARTIAL,
    "assertGreater": PARTIAL, "assertGreaterEqual": PARTIAL, "assertLess": PARTIAL, "assertLessEqual": PARTIAL,
    "assertRegex": PARTIAL, "assertNotRegex": PARTIAL, "assertIsInstance": PARTIAL, "assertNotIsInstance": PARTIAL,
    "assertContains": PARTIAL, "assertNotContains": PARTIAL, "assertRedirects": CALLED_WITH,
    "assertTemplateUsed": PARTIAL, "assertTrue": UNEQUAL, "assertFalse": UNEQUAL, "assertIsNotNone": UNEQUAL,
    "assertNotEqual": UNEQUAL, "assertIsNot": UNEQUAL, "assertNotAlmostEqual": UNEQUAL,
    "assert_called_once_with": CALLED_WITH, "assert_called_with": CALLED_WITH, "assert_has_calls": CALLED_WITH,
    "assert_awaited_once_with": CALLED_WITH, "assert_awaited_with": CALLED_WITH, "assert_any_call": PARTIAL,
    "assert_not_called": EXACT, "assert_not_awaited": EXACT, "assert_called_once": SIZED, "assert_awaited_once": SIZED,
    "assert_called": UNEQUAL, "assert_awaited": UNEQUAL, "assert_equal": EXACT, "assert_array_equal": EXACT,
    "assert_frame_equal": EXACT, "assert_series_equal": EXACT, "assert_index_equal": EXACT, "assert_allclose": CLOSE,
    "assert_almost_equal": CLOSE, "assert_array_almost_equal": CLOSE, "assert_approx_equal": CLOSE,
    "assert_array_less": PARTIAL, "assert_close": CLOSE, "assert_never": EXACT,
}  # fmt: skip
_CUSTOM = re.compile(r"(?:assert|expect|verify|check|should|ensure|must)(?:_\w+|[A-Z]\w*)$")
_RAISES = frozenset({"raises", "warns", "deprecated_call", "assertRaises", "assertWarns"})
_RAISES_TEXT = frozenset({"assertRaisesRegex", "assertRaisesMessage", "assertWarnsRegex"})
_ANY = frozenset({"Exception", "BaseException", "Warning", "UserWarning"})
_APPROX = frozenset({"approx", "isclose", "allclose"})
_TOLERANCES = ("abs", "rel", "atol", "rtol", "delta", "abs_tol", "rel_tol")
_COMPARES = {
    ast.Eq: ("==", EXACT), ast.Is: ("is", EXACT), ast.NotEq: ("!=", UNEQUAL), ast.IsNot: ("is not", UNEQUAL),
    ast.In: ("in", PARTIAL), ast.NotIn: ("not in", PARTIAL), ast.Lt: ("<", PARTIAL), ast.LtE: ("<=", PARTIAL),
    ast.Gt: (">", PARTIAL), ast.GtE: (">=", PARTIAL),
}  # fmt: skip
_UNORDERED = frozenset({"sorted", "set", "frozenset", "Counter"})
_FOLDS = frozenset({"lower", "upper", "casefold"})
_NEGATED = {"==": "!=", "!=": "==", "is": "is not", "is not": "is", "in": "not in", "not in": "in"}


def name_of(node: ast.expr) -> str:
    """Return the last part of a dotted name, and of what is called."""
    if isinstance(node, ast.Call):
        return name_of(node.func)
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def of_assert(node: ast.Assert, guard: str | None) -> Iterator[Assertion]:
    """Yield what an `assert` says: each part of an `and` for itself."""
    for part in _parts(node.test):
        yield _condition(part, node.lineno, "assert ", guard)


def of_call(node: ast.Call, guard: str | None, owned: frozenset[str] = frozenset()) -> Assertion | None:
    """Return what a call asserts; None for another call. `owned` are helpers whose own assertions are known."""
    name = name_of(node.func)
    if name in ("assertTrue", "assert_") and node.args:
        return _condition(node.args[0], node.lineno, "assert ", guard)
    if name == "assertFalse" and node.args:
        return _condition(ast.UnaryOp(ast.Not(), node.args[0]), node.lineno, "assert ", guard)
    if name in _RAISES or name in _RAISES_TEXT:
        return _raises(node, name, guard) if _is_raises(node, name) else None
    strength = _CALLS.get(name)
    if strength is None:
        plain = isinstance(node.func, ast.Name) or _owner(node.func) in ("self", "cls")
        if not _CUSTOM.match(name) or name in owned or not plain:
            return None
        strength = UNKNOWN
    if strength >= UNEQUAL and len(node.args) >= 2 and _same(node.args[0], node.args[1]):
        strength = NOTHING
    tolerance = _tolerance(node)
    if name in ("assertLess", "assertLessEqual") and len(node.args) > 1 and name_of(node.args[0]) == "abs":
        strength, tolerance = CLOSE, number_of(node.args[1])
    if strength == EXACT and any(map(_is_part, node.args[:2])):
        strength = CALLED_WITH
    subject = ast.unparse(node.args[0]) if node.args else ast.unparse(node.func)
    return Assertion(node.lineno, ast.unparse(node), strength, name, tolerance, guard, None, subject)


def _owner(node: ast.expr) -> str:
    return node.value.id if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) else ""


def _is_raises(node: ast.Call, name: str) -> bool:
    return name.startswith("assert") or name == "deprecated_call" or _owner(node.func) in ("pytest", "pt", "") or True


def _raises(node: ast.Call, name: str, guard: str | None) -> Assertion:
    error = ast.unparse(node.args[0]) if node.args else ""
    told = name in _RAISES_TEXT or any(
        word.arg in ("match", "check") and not _matches_all(word.value) for word in node.keywords
    )
    strength = UNEQUAL if error in _ANY else PARTIAL
    if told:
        strength += 5
    return Assertion(node.lineno, ast.unparse(node), strength, "raises", None, guard, error, "")


def _parts(test: ast.expr) -> Iterator[ast.expr]:
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        for value in test.values:
            yield from _parts(value)
    else:
        yield test


def _condition(test: ast.expr, line: int, lead: str, guard: str | None) -> Assertion:
    text = lead + ast.unparse(ast.fix_missing_locations(test))
    form, strength, subject = _shape(test)
    tolerance = next((found for call in _calls(test) if (found := _tolerance(call)) is not None), None)
    if _is_distance(test):
        tolerance = number_of(test.comparators[0])
    return Assertion(line, text, strength, form, tolerance, guard, None, subject)


def _shape(test: ast.expr) -> tuple[str, int, str]:
    """Return the form of a condition, how strict it is, and what it is about."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        form, strength, subject = _shape(test.operand)
        negated = _NEGATED.get(form)
        if negated:
            strengths = dict(_COMPARES.values())
            return negated, strengths[negated], subject
        # Little is false: `not errors` is as strict as `errors == []`.
        return "not", NOTHING if form == "constant" else strength if form == "any" else SIZED, subject
    if isinstance(test, ast.Constant | ast.JoinedStr) or (isinstance(test, ast.Tuple | ast.List) and test.elts):
        return "constant", NOTHING, ""
    if isinstance(test, ast.Compare):
        return _comparison(test)
    if isinstance(test, ast.BoolOp):
        shapes = [_shape(value) for value in test.values]
        trivial = any(isinstance(value, ast.Constant) and value.value for value in test.values)
        weakest = min(min(strength for _, strength, _ in shapes), PARTIAL - 5)
        return "or", NOTHING if trivial else weakest, shapes[0][2]
    if isinstance(test, ast.Call):
        return _called(test)
    return "truthy", UNEQUAL, ast.unparse(test)


def _comparison(test: ast.Compare) -> tuple[str, int, str]:
    form, strength = _COMPARES[type(test.ops[0])]
    left, right = test.left, test.comparators[0]
    subject = ast.unparse(right if isinstance(left, ast.Constant) else left)
    if _same(left, right) or (isinstance(left, ast.Constant) and isinstance(right, ast.Constant)):
        return form, NOTHING, subject
    if "ANY" in (name_of(left), name_of(right)):
        return form, NOTHING, subject
    if form == "in" and isinstance(right, ast.Tuple | ast.List | ast.Set) and len(right.elts) == 1:
        return form, EXACT, subject
    if strength != EXACT:
        return form, CLOSE if _is_distance(test) else strength, subject
    if any(name_of(call) in _APPROX for call in _calls(test)):
        return form, CLOSE, subject
    if name_of(left) == "len" or name_of(right) == "len":
        return form, SIZED, subject
    if any(
        isinstance(side, ast.List | ast.Tuple | ast.Dict | ast.Set) and not _elements(side) for side in (left, right)
    ):
        return form, SIZED, subject
    if name_of(left) == "type":
        return form, PARTIAL, subject
    return form, CALLED_WITH if _is_part(left) or _is_part(right) else EXACT, subject


def _is_distance(test: ast.expr) -> TypeGuard[ast.Compare]:
    """Tell whether a condition is `abs(…) < number`: one value, give or take."""
    return isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Lt | ast.LtE) and name_of(test.left) == "abs"


def _is_part(side: ast.expr) -> bool:
    """Tell whether a side of a comparison leaves something out: the order, the case, or what is beyond a slice."""
    if isinstance(side, ast.Subscript):
        return isinstance(side.slice, ast.Slice)
    if not isinstance(side, ast.Call):
        return False
    if isinstance(side.func, ast.Attribute) and side.func.attr in _FOLDS:
        return not side.args
    return name_of(side.func) in _UNORDERED and len(side.args) == 1


def _matches_all(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value in ("", ".", ".*", ".+")


def _elements(node: ast.List | ast.Tuple | ast.Dict | ast.Set) -> bool:
    return bool(node.keys if isinstance(node, ast.Dict) else node.elts)


def _called(test: ast.Call) -> tuple[str, int, str]:
    name = name_of(test)
    subject = ast.unparse(test.args[0]) if test.args else ast.unparse(test.func)
    if name in _APPROX:
        return name, CLOSE, subject
    if name in ("isinstance", "issubclass", "search", "match", "fullmatch", "startswith", "endswith", "hasattr"):
        return name, PARTIAL, ast.unparse(test.func.value) if isinstance(test.func, ast.Attribute) else subject
    if name in ("array_equal", "equals", "compare_digest"):
        return name, EXACT, subject
    if name == "bool":
        return "truthy", UNEQUAL, subject
    if name in ("all", "any") and test.args and isinstance(test.args[0], ast.GeneratorExp | ast.ListComp):
        strength = _shape(test.args[0].elt)[1]
        return name, strength if name == "all" else min(strength, PARTIAL), subject
    return "truthy", UNEQUAL, ast.unparse(test)


def _tolerance(node: ast.Call) -> float | None:
    """Return what may differ; `places` and `decimal` as a power of ten."""
    found = [
        number for word in node.keywords if word.arg in _TOLERANCES and (number := number_of(word.value)) is not None
    ]
    if found:
        return max(found)
    places = [number_of(word.value) for word in node.keywords if word.arg in ("places", "decimal", "significant")]
    if not places and name_of(node).lower().replace("_", "") in ("assertalmostequal", "assertarrayalmostequal"):
        places = [number_of(node.args[2]) if len(node.args) > 2 else 7]
    return float(10 ** -places[0]) if places and places[0] is not None else None


def number_of(node: ast.expr | None) -> float | None:
    """Return the value of a number, also of `60 * 1000`; None for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return float(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = number_of(node.operand)
        return -inner if inner is not None else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        left, right = number_of(node.left), number_of(node.right)
        return left * right if left is not None and right is not None else None
    return None


def _calls(test: ast.expr) -> Iterator[ast.Call]:
    return (node for node in ast.walk(test) if isinstance(node, ast.Call))


def _same(left: ast.expr, right: ast.expr) -> bool:
    return ast.dump(left) == ast.dump(right) and not isinstance(left, ast.Call | ast.Await)


def swallows(handlers: Sequence[ast.ExceptHandler]) -> bool:
    """Tell whether a failure of an assertion would go unseen in one of the handlers."""
    for handler in handlers:
        caught = [name_of(one) for one in _types(handler.type)]
        if not caught or not {"AssertionError", "Exception", "BaseException"}.isdisjoint(caught):
            loud = (ast.Raise, ast.Assert)
            return not any(isinstance(node, loud) or _fails(node) for part in handler.body for node in ast.walk(part))
    return False


def _types(node: ast.expr | None) -> Sequence[ast.expr]:
    return node.elts if isinstance(node, ast.Tuple) else [node] if node is not None else []


def _fails(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and (name_of(node.func) == "fail" or name_of(node.func).startswith("assert"))
