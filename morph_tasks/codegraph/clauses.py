"""What the imports and exports of a Python or TypeScript file name, as its parser sees them, and of which module."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tree_sitter import Node

SCRIPTS = frozenset({"javascript", "typescript", "tsx"})
STAR = "*"
_SCRIPT_ENDS = (".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
_PYTHON_ENDS = (".py", ".pyi", "/__init__.py")


class Clause(NamedTuple):
    """`local` stands for `original` of a module; None: for the module itself. No module: of this file.

    `local` STAR: every name of the module. In Python a module begins with as many dots as the import.
    """

    local: str
    original: str | None
    module: str | None


def clauses(language: str, source: bytes) -> list[Clause]:
    """Return the clauses of a file; raises SyntaxError, ValueError and RecursionError where it does not parse."""
    return list(_python(source) if language == "python" else _script(language, source))


def _python(source: bytes) -> Iterator[Clause]:
    import ast

    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (Clause(one.asname, None, one.name) for one in node.names if one.asname)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            yield from (Clause(one.asname or one.name, one.name, module) for one in node.names)


def _script(language: str, source: bytes) -> Iterator[Clause]:
    from morph_tasks.verify.testcode.sitter import field, parse, string_value, text, walk

    for statement in parse(language, source).named_children:
        if statement.type not in ("import_statement", "export_statement"):
            continue
        module = string_value(field(statement, "source"))
        if statement.type == "export_statement":
            yield from _exported(statement, module)
        for node in walk(statement, lambda one: "clause" in one.type or "import" in one.type or "export" in one.type):
            name = text(field(node, "name"))
            if node.type in ("import_specifier", "export_specifier") and name:
                yield Clause(text(field(node, "alias")) or name, name, module)
            elif node.type in ("namespace_import", "namespace_export"):
                yield Clause(text(node.named_children[-1]), None, module)
            elif node.type == "import_clause" and node.named_children[0].type == "identifier":
                yield Clause(text(node.named_children[0]), "default", module)


def _exported(statement: Node, module: str | None) -> Iterator[Clause]:
    from morph_tasks.verify.testcode.sitter import field, text

    kinds = {one.type for one in statement.children}
    if "default" in kinds:
        value = field(statement, "value")
        name = (
            value
            if value is not None and value.type == "identifier"
            else field(field(statement, "declaration"), "name")
        )
        if name is not None:
            yield Clause("default", text(name), None)
    elif STAR in kinds and module is not None:
        yield Clause(STAR, STAR, module)


def places(language: str, path: str, module: str, is_file: Callable[[str], bool]) -> list[str]:
    """Return the files of the tree that a module is, as seen from a file; none for one that may lie elsewhere."""
    if language in SCRIPTS:
        return _script_places(posixpath.dirname(path), module, is_file)
    steps = module.lstrip(".")
    dots = len(module) - len(steps)
    folder = posixpath.dirname(path)
    if dots:
        for _ in range(dots - 1):
            folder = posixpath.dirname(folder)
        roots = [folder]
    else:
        above = [folder]
        while above[-1]:
            above.append(posixpath.dirname(above[-1]))
        roots = [one for one in dict.fromkeys((*above, "src")) if not is_file(posixpath.join(one, "__init__.py"))]
    bases = [posixpath.join(root, *steps.split(".")) if steps else root for root in roots]
    firsts = (next((base + end for end in _PYTHON_ENDS if is_file((base + end).lstrip("/"))), None) for base in bases)
    return list(dict.fromkeys(one.lstrip("/") for one in firsts if one))


def _script_places(folder: str, module: str, is_file: Callable[[str], bool]) -> list[str]:
    if not re.match(r"\.\.?(/|$)", module):
        return []
    place = posixpath.normpath(posixpath.join(folder, module))
    stem = re.sub(r"\.([mc]?)jsx?$", "", place)
    tries = [place, *(base + end for base in dict.fromkeys((place, stem)) for end in _SCRIPT_ENDS)]
    tries += [posixpath.normpath(f"{place}/index{end}") for end in _SCRIPT_ENDS]
    return [one for one in tries if is_file(one)][:1]
