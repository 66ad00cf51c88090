"""Where the definitions of a source file begin and end. A graph has the line of a symbol and no end."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

# suffix -> language; the names of tree-sitter grammars but for Python, which is read by its own parser.
LANGUAGES = {
    ".py": "python", ".pyi": "python",
    ".js": "javascript", ".jsx": "javascript", ".mjs": "javascript", ".cjs": "javascript",
    ".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "tsx",
    ".go": "go", ".rs": "rust", ".cs": "csharp", ".java": "java", ".rb": "ruby",
}  # fmt: skip
LARGEST = 2 << 20


@dataclass(frozen=True, slots=True)
class Definition:
    """One definition: `owner` is the type it is a member of or "", the lines are from 1 and inclusive.

    `start` is the line of its first decorator, attribute or modifier. `parameters` are names without the receiver.
    """

    name: str
    owner: str
    kind: str  # type | function | method
    start: int
    end: int
    parameters: tuple[str, ...] = ()


def language_of(path: str) -> str | None:
    """Return the language that a file is parsed in, by its suffix; None for another."""
    name = path.rpartition("/")[2].lower()
    dot = name.rfind(".")
    return LANGUAGES.get(name[dot:]) if dot > 0 else None


def definitions(path: str, source: bytes) -> list[Definition] | None:
    """Return the types, functions and methods of a file by their first line; what is inside a function belongs to it.

    None when the language is not parsed, the file does not parse or is larger than `LARGEST` bytes. Never raises.
    """
    language = language_of(path)
    if language is None or len(source) > LARGEST:
        return None
    from morph_tasks.verify.testcode.reader import plain

    try:
        found = _read(language, plain(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return sorted(found, key=lambda one: (one.start, -one.end))


def _read(language: str, source: bytes) -> list[Definition]:
    if language == "python":
        from morph_tasks.codegraph.spans_python import read

        return read(source)
    from morph_tasks.codegraph.spans_trees import read as read_tree

    return read_tree(language, source)


def around(found: Iterable[Definition], line: int) -> Definition | None:
    """Return the innermost definition that a line is in; None when it is in none."""
    inside = [one for one in found if one.start <= line <= one.end]
    return min(inside, key=lambda one: (one.end - one.start, -one.start), default=None)


def matching(found: Iterable[Definition], name: str, owner: str, line: int | None) -> Definition | None:
    """Return the definition of a symbol that the graph has at a line; None when its name is not defined there.

    Of several with the name and owner, that is the one the line is in, or the nearest.
    """
    same = [one for one in found if one.name == name and (one.owner == owner or not owner)]
    if line is None:
        return same[0] if len(same) == 1 else None
    return min(same, key=lambda one: (max(one.start - line, line - one.end, 0), one.end - one.start), default=None)


def read_definitions(root: Path, path: str) -> list[Definition] | None:
    """Return the definitions of a file of a tree, as `definitions` does; None also when it cannot be read there."""
    from morph_tasks.errors import Refusal
    from morph_tasks.repo.files import confined, read_file

    try:
        place = confined(root, path)
        if language_of(path) is None or place.stat().st_size > LARGEST:
            return None
        return definitions(path, read_file(place))
    except (OSError, ValueError, Refusal):
        return None
