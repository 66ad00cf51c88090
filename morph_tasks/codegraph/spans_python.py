"""The definitions of a Python file, by Python's own parser."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator

from morph_tasks.codegraph.spans import Definition

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def read(source: bytes) -> list[Definition]:
    """Return the definitions of a file; raises SyntaxError or ValueError when it does not parse."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the file's own escapes
        tree = ast.parse(source)
    return list(_below(tree, ""))


def _below(node: ast.AST, owner: str) -> Iterator[Definition]:
    """Yield what is defined in a body, also under its conditions and handlers."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield Definition(child.name, owner, "type", _start(child), child.end_lineno or child.lineno)
            yield from _below(child, child.name)
        elif isinstance(child, _Function):
            end = child.end_lineno or child.lineno
            kind = "method" if owner else "function"
            yield Definition(child.name, owner, kind, _start(child), end, _parameters(child, owner))
        elif isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield from _below(child, owner)


def _start(node: ast.ClassDef | _Function) -> int:
    return min([node.lineno, *(one.lineno for one in node.decorator_list)])


def _parameters(node: _Function, owner: str) -> tuple[str, ...]:
    """Return the names of the parameters without the receiver of a method."""
    given = node.args
    positional = [one.arg for one in (*given.posonlyargs, *given.args)]
    if owner and positional and not _is_static(node):
        positional = positional[1:]
    rest = [given.vararg, *given.kwonlyargs, given.kwarg]
    return (*positional, *(one.arg for one in rest if one))


def _is_static(node: _Function) -> bool:
    return any(isinstance(one, ast.Name) and one.id == "staticmethod" for one in node.decorator_list)
