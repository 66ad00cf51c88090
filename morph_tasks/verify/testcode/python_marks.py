"""Marks and decorators of Python tests."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from morph_tasks.verify.testcode.python_asserts import name_of, number_of

_SKIPS = frozenset({"skip", "skipif", "xfail", "skipIf", "skipUnless", "expectedFailure"})
_RETRY = frozenset({"flaky", "retry", "retries", "repeat_on_failure", "rerun"})
_RETRY_WORDS = ("reruns", "max_runs", "retries", "attempts", "tries", "stop_max_attempt_number", "max_attempts")
_TIMEOUTS = frozenset({"timeout", "async_timeout"})


@dataclass(frozen=True)
class Marks:
    """What marks say about a test."""

    skip: str | None = None
    skip_line: int | None = None
    scenarios: tuple[str, ...] = ()
    timeout: float | None = None
    retries: int | None = None
    cases: tuple[str, ...] = ()
    skipped_cases: tuple[str, ...] = ()
    case_names: tuple[str, ...] = ()
    is_fixture: bool = False

    def with_skip(self, how: str, line: int) -> Marks:
        return self if self.skip else replace(self, skip=how, skip_line=line)

    def joined(self, inner: Marks) -> Marks:
        """Return these marks with those of something inside of them, which win."""
        skip = (inner.skip, inner.skip_line) if inner.skip else (self.skip, self.skip_line)
        return Marks(
            skip[0], skip[1], (*self.scenarios, *inner.scenarios),
            self.timeout if inner.timeout is None else inner.timeout,
            self.retries if inner.retries is None else inner.retries,
            (*self.cases, *inner.cases), (*self.skipped_cases, *inner.skipped_cases),
            (*self.case_names, *inner.case_names), inner.is_fixture,
        )  # fmt: skip


def marks_of(decorators: Iterable[ast.expr], named: Mapping[str, ast.expr]) -> Marks:
    """Return what decorators say; a name stands for what the module assigned to it."""
    marks = Marks()
    for node in decorators:
        marks = _with(marks, _meant(node, named), named)
    return marks


def _meant(node: ast.expr, named: Mapping[str, ast.expr]) -> ast.expr:
    for _ in range(4):
        if not (isinstance(node, ast.Name) and node.id in named):
            break
        node = named[node.id]
    return node


def _with(marks: Marks, node: ast.expr, named: Mapping[str, ast.expr]) -> Marks:
    name, call = name_of(node), node if isinstance(node, ast.Call) else None
    if name in _SKIPS:
        return marks if _never(call, name) else marks.with_skip(f"@{ast.unparse(node)}", node.lineno)
    if name == "fixture":
        return replace(marks, is_fixture=True)
    if call is None:
        return replace(marks, retries=1) if name == "flaky" and marks.retries is None else marks
    if name == "scenario":
        return replace(marks, scenarios=(*marks.scenarios, *_texts(call.args)))
    if name in _TIMEOUTS:
        words = [*call.args[:1], *(word.value for word in call.keywords if word.arg in ("timeout", "seconds"))]
        return replace(marks, timeout=next(filter(None, map(number_of, words)), marks.timeout))
    if name in _RETRY:
        return replace(marks, retries=_retries(call) if marks.retries is None else marks.retries)
    if name == "parametrize" and len(call.args) + len(call.keywords) >= 2:
        return _with_cases(marks, call, named)
    return marks


def _never(call: ast.Call | None, name: str) -> bool:
    """Tell whether a conditional mark has a condition that never holds."""
    condition = call.args[0] if call and call.args and name in ("skipif", "skipIf") else None
    return isinstance(condition, ast.Constant) and not condition.value


def _retries(call: ast.Call) -> int | None:
    words = [word.value for word in call.keywords if word.arg in _RETRY_WORDS] or list(call.args[:1])
    found = next((number for word in words if (number := number_of(word)) is not None), None)
    return None if found is None else int(found)


def _with_cases(marks: Marks, call: ast.Call, named: Mapping[str, ast.expr]) -> Marks:
    words = {word.arg: word.value for word in call.keywords}
    values = call.args[1] if len(call.args) > 1 else words.get("argvalues")
    rows = _meant(values, named) if values is not None else None
    ids = words.get("ids")
    names = _texts(ids.elts) if isinstance(ids, ast.List | ast.Tuple) else []
    if not isinstance(rows, ast.List | ast.Tuple | ast.Set):
        return replace(marks, case_names=(*marks.case_names, *names))
    if not rows.elts:
        return marks.with_skip("parametrize without a row", call.lineno)
    cases = [ast.unparse(row) for row in rows.elts]
    left_out = [ast.unparse(row) for row in rows.elts if _is_left_out(row)]
    names += [name for row in rows.elts for name in _row_names(row)]
    return replace(
        marks, cases=(*marks.cases, *cases), skipped_cases=(*marks.skipped_cases, *left_out),
        case_names=(*marks.case_names, *names), scenarios=(*marks.scenarios, *_row_scenarios(rows.elts)),
    )  # fmt: skip


def _row_marks(row: ast.expr) -> list[ast.expr]:
    if not isinstance(row, ast.Call) or name_of(row) != "param":
        return []
    found = [word.value for word in row.keywords if word.arg == "marks"]
    return [one for node in found for one in (node.elts if isinstance(node, ast.List | ast.Tuple) else [node])]


def _is_left_out(row: ast.expr) -> bool:
    return any(name_of(mark) in _SKIPS for mark in _row_marks(row))


def _row_scenarios(rows: Iterable[ast.expr]) -> Iterator[str]:
    for row in rows:
        for mark in _row_marks(row):
            if name_of(mark) == "scenario" and isinstance(mark, ast.Call):
                yield from _texts(mark.args)


def _row_names(row: ast.expr) -> list[str]:
    """Return the id that a row has in the name of its test: the one given, and texts that pytest takes."""
    if isinstance(row, ast.Call) and name_of(row) == "param":
        return _texts(word.value for word in row.keywords if word.arg == "id") or _texts(row.args)
    return _texts(row.elts if isinstance(row, ast.Tuple | ast.List) else [row])


def _texts(nodes: Iterable[ast.expr]) -> list[str]:
    return [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
