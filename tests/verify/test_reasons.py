from __future__ import annotations

import ast
from pathlib import Path

import morph_tasks.verify as room
from morph_tasks.verify.reasons import REASONS

FIELDS = {"reason", "problem"}


def _constants(node: ast.AST | None) -> list[str]:
    if isinstance(node, ast.IfExp):
        return _constants(node.body) + _constants(node.orelse)
    return [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []


def _codes() -> set[str]:
    found: set[str] = set()
    for path in Path(room.__path__[0]).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.keyword) and node.arg in FIELDS:
                found.update(_constants(node.value))
            if isinstance(node, ast.Dict):
                for key, value in zip(node.keys, node.values, strict=True):
                    if isinstance(key, ast.Constant) and key.value in FIELDS:
                        found.update(_constants(value))
    return {code for code in found if code.replace("-", "").isalpha() and " " not in code}


def test_every_reason_that_the_code_writes_is_explained() -> None:
    assert _codes() - REASONS.keys() == set()
