"""The other names that imports and exports of a tree give: `export { Cart as Basket }`, `import Cart as Basket`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from morph_tasks.codegraph.clauses import STAR, Clause, clauses, places
from morph_tasks.codegraph.spans import LARGEST, language_of

if TYPE_CHECKING:
    from pathlib import Path

    from morph_tasks.codegraph.index import Index, Symbol
    from morph_tasks.repo.git import Repo

_FILES = 40  # with a clause, that are parsed for one question
_MODULES = 40  # that hand names on, beside those
_CLAUSE = r"([*]|[[:alnum:]_.$])[[:space:]]+as[[:space:]]+%s($|[^[:alnum:]_$])"
_ENDS = ("py", "pyi", "ts", "tsx", "mts", "cts", "js", "jsx", "mjs", "cjs")
_NAMED = re.compile(r"(?:(?P<path>[^:]+):|(?P<module>[\w$.]+)\.)?(?P<name>[\w$]+)(?:\(\))?")


class Behind(NamedTuple):
    """The symbols that have another name in the tree; `sure`: the name stands for nothing else there."""

    symbols: list[Symbol]
    sure: bool


def behind_alias(repo: Repo, index: Index, text: str) -> Behind:
    """Return what clauses that parse give the name of a text; what stands before it is the module with the clause."""
    said = _NAMED.fullmatch(text.strip())
    if said is None:
        return Behind([], False)
    name = said["name"]
    files = [path for path in _with_clauses(repo, name) if _is_meant(path, said["path"], said["module"])]
    tree = _Tree(repo.root, index)
    found: dict[int, Symbol] = {}
    sure = len(files) <= _FILES
    for path in files[:_FILES]:
        for one in tree.clauses(path):
            if one.local == name and one.original != name:
                symbols = tree.behind(path, one, set())
                sure = sure and bool(symbols)
                found |= {symbol.id: symbol for symbol in symbols}
    return Behind(list(found.values()), sure and len(found) == 1)


def _with_clauses(repo: Repo, name: str) -> list[str]:
    """Return the files that may have such a clause; prose is among them, which only the parser tells."""
    pattern = _CLAUSE % name.replace("$", "[$]")
    where = (*(f":(top)*.{end}" for end in _ENDS), ":(top,exclude).morph")
    asked = ("grep", "-l", "-z", "-I", "-E", "--full-name", "--untracked", "-e", pattern, "--", *where)
    done = repo.lightly().run("-c", "submodule.recurse=false", *asked, ok=(0, 1))
    return [one.decode("utf-8", "surrogateescape") for one in done.stdout.split(b"\0") if one]


def _is_meant(path: str, wanted: str | None, module: str | None) -> bool:
    if wanted is not None:
        wanted = wanted.removeprefix("./")
        return path == wanted or path.endswith(f"/{wanted}")
    stem = re.sub(r"(/(__init__|index))?\.\w+$", "", path)
    return module is None or f"/{stem}".endswith("/" + module.replace(".", "/"))


class _Tree:
    """The clauses of the files of a tree, each parsed once."""

    def __init__(self, root: Path, index: Index) -> None:
        self._root, self._index = root, index
        self._known: dict[str, list[Clause]] = {}

    def clauses(self, path: str) -> list[Clause]:
        """Return the clauses of a file; none where it cannot be read or does not parse."""
        if path not in self._known:
            self._known[path] = self._read(path) if len(self._known) < _FILES + _MODULES else []
        return self._known[path]

    def _read(self, path: str) -> list[Clause]:
        from morph_tasks.errors import Refusal
        from morph_tasks.repo.files import confined, read_file
        from morph_tasks.verify.testcode.reader import plain

        language = language_of(path)
        try:
            place = confined(self._root, path)
            if language is None or place.stat().st_size > LARGEST:
                return []
            return clauses(language, plain(read_file(place)))
        except (OSError, ValueError, SyntaxError, RecursionError, MemoryError, Refusal):
            return []

    def behind(self, path: str, clause: Clause, seen: set[tuple[str, str]]) -> list[Symbol]:
        """Return the symbols that a clause of a file names, also where modules hand them on; none twice for `seen`."""
        language = language_of(path) or ""
        files = [path] if clause.module is None else places(language, path, clause.module, self._is_file)
        if clause.original is None:
            return self._modules(files)
        found = [one for file in files for one in self._in(file, clause.original, seen)]
        if not found and language == "python" and clause.module is not None:
            inner = clause.module if clause.module.endswith(".") else f"{clause.module}."
            files = places(language, path, inner + clause.original, self._is_file)
            return self._modules(files)
        return found

    def _modules(self, files: list[str]) -> list[Symbol]:
        return [one for one in self._index.where("p.path IN ({})", files) if one.kind == "file"]

    def _in(self, file: str, name: str, seen: set[tuple[str, str]]) -> list[Symbol]:
        if (file, name) in seen:
            return []
        seen.add((file, name))
        inside = [one for one in self._index.in_file(file) if one.name == name and not one.owner and one.kind != "file"]
        if inside:
            return inside
        for wanted in (name, STAR):
            for one in self.clauses(file):
                if one.local == wanted:
                    on = one._replace(original=name) if wanted == STAR else one
                    inside += self.behind(file, on, seen)
            if inside:
                break
        return inside

    def _is_file(self, path: str) -> bool:
        return (self._root / path).is_file()
