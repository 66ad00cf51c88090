"""What of a file can run: its statements, and for each the lines whose run says that it did."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

Range = tuple[int, int]

_SILENT = (ast.Pass, ast.Global, ast.Nonlocal)
_COMPOUND = (
    ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.Match, ast.ExceptHandler,
    ast.match_case,
)  # fmt: skip
_Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True)
class Statement:
    """One statement. `ranges`: a test reaches it when it runs a line of the first, or else of the next one, …

    What runs at import belongs to no test: a definition is reached by what runs its body, the rest of a module by
    what runs anything of it.
    """

    first: int
    last: int
    ranges: tuple[Range, ...]


def statements(source: bytes) -> dict[int, Statement] | None:
    """Return the statement of each line of a Python file that can run; None when it does not parse.

    Comments, docstrings, `pass` and imports for type checkers alone have none.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    found: dict[int, Statement] = {}
    whole = (1, source.count(b"\n") + 1)
    for one in _of(tree.body, (whole,), inside=False):
        # The inner one comes later, and has its lines.
        found.update(dict.fromkeys(range(one.first, one.last + 1), one))
    return {line: one for line, one in found.items() if one.ranges}


def _of(body: list[ast.stmt], scope: tuple[Range, ...], *, inside: bool) -> Iterator[Statement]:
    """Yield the statements of a body, an outer one before its inner ones. `scope`: what stands in for an import."""
    for node in body:
        own = (_first(node), node.end_lineno or node.lineno)
        if isinstance(node, _Scope):
            yield from _definition(node, own, scope, inside=inside)
        elif _is_silent(node, inside=inside):
            yield Statement(*own, ())
        else:
            yield Statement(*own, (own,) if inside else (own, *scope))
            yield from _within(node, scope, inside=inside)


def _definition(node: _Scope, own: Range, scope: tuple[Range, ...], *, inside: bool) -> Iterator[Statement]:
    if isinstance(node, ast.ClassDef):
        yield Statement(*own, (own, *scope))
        yield from _of(node.body, (own, *scope), inside=False)
        return
    real = [one for one in node.body if not _is_silent(one, inside=True)]
    body = (min(map(_first, real)), own[1]) if real else None
    ranges = (body,) if body else ()
    yield Statement(*own, ranges)
    yield from _of(node.body, scope, inside=True)


def _within(node: ast.AST, scope: tuple[Range, ...], *, inside: bool) -> Iterator[Statement]:
    """Yield what stands in the bodies of a compound statement, its handlers and cases as statements of their own."""
    for name in ("body", "handlers", "cases", "orelse", "finalbody"):
        parts = getattr(node, name, None)
        if not isinstance(parts, list) or not isinstance(node, _COMPOUND):
            continue
        if name in ("handlers", "cases"):
            for part in parts:
                start = part.lineno if isinstance(part, ast.ExceptHandler) else part.pattern.lineno
                own = (start, max(one.end_lineno or start for one in part.body))
                yield Statement(*own, (own,) if inside else (own, *scope))
                yield from _of(part.body, scope, inside=inside)
        else:
            yield from _of(parts, scope, inside=inside)


def _first(node: ast.stmt) -> int:
    marks = node.decorator_list if isinstance(node, _Scope) else []
    return min([node.lineno, *(mark.lineno for mark in marks)])


def _is_silent(node: ast.stmt, *, inside: bool) -> bool:
    """Tell whether a statement leaves no trace when it runs, or never runs."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True
    if isinstance(node, ast.AnnAssign) and node.value is None and inside:
        return True
    if isinstance(node, ast.If):
        test = node.test
        named = test.id if isinstance(test, ast.Name) else test.attr if isinstance(test, ast.Attribute) else ""
        return named == "TYPE_CHECKING"
    return isinstance(node, _SILENT)
