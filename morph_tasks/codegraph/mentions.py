"""Where the text of the tree names a symbol and the graph does not say why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from morph_tasks.codegraph.ask import place, printable
from morph_tasks.codegraph.layout import FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterable

    from morph_tasks.codegraph.index import Index, Symbol
    from morph_tasks.repo.git import Repo

_MOST = 50
_LONGEST = 160
_READ = 4 << 20  # bytes of the answer of git


@dataclass(frozen=True)
class Mention:
    """One line of text with the name in it."""

    path: str
    line: int
    text: str

    def as_json(self) -> dict[str, Any]:
        return {"path": self.path, "line": self.line, "text": self.text}


@dataclass(frozen=True)
class Mentions:
    """The first mentions and how many there are; `error` says why the text could not be searched."""

    names: tuple[str, ...]
    found: tuple[Mention, ...] | None
    total: int | None
    error: str | None = None

    def as_json(self) -> list[dict[str, Any]] | None:
        return None if self.found is None else [one.as_json() for one in self.found]

    def lines(self) -> list[str]:
        """Return them for people."""
        said = ", ".join(map(printable, self.names))
        if self.found is None:
            return [f"the text was not searched for {said}: {self.error}"]
        if not self.found:
            return [f"no other line of the tree has the word {said}"]
        many = f"{self.total} line{'' if self.total == 1 else 's'}"
        head = f"{many} with the word {said} that the graph does not explain:"
        rows = [f"  {place(one.path, one.line)}: {printable(one.text)}" for one in self.found]
        more = (self.total or 0) - len(self.found)
        return [head, *rows, *([f"  … and {more} more"] if more > 0 else [])]


def mentions(repo: Repo, index: Index, seeds: Iterable[Symbol]) -> Mentions:
    """Search the tracked and the new files for the names of symbols, as whole words.

    Left out: definitions of symbols of that name, the sites of edges to them, and what is inside a seed itself.
    """
    from morph_tasks.errors import Refusal

    seeds = list(seeds)
    names = tuple(sorted({name for one in seeds if (name := _word(one))}))
    if not names:
        return Mentions((), (), 0)
    try:
        lines = _search(repo, names)
    except Refusal as refusal:
        return Mentions(names, None, None, refusal.what)
    explained = _explained(index, names, seeds)
    inside = _Inside(repo, seeds)
    left = [one for one in lines if (one.path, one.line) not in explained and not inside.holds(one)]
    return Mentions(names, tuple(left[:_MOST]), len(left))


def _word(symbol: Symbol) -> str:
    """Return the word to search for; that of a file is its name without endings."""
    if symbol.kind != "file":
        return symbol.name
    name = (symbol.file or symbol.label).rsplit("/", 1)[-1]
    return name.split(".", 1)[0] or name


def _search(repo: Repo, names: Iterable[str]) -> list[Mention]:
    words = [part for name in names for part in ("-e", name)]
    options = ("-I", "-n", "-w", "-z", "-F", "--full-name", "--no-color", "--untracked")
    where = ("--", ".", f":(exclude){FOLDER}", ":(exclude).graphifyignore")
    done = repo.lightly().run("-c", "submodule.recurse=false", "grep", *options, *words, *where, ok=(0, 1))
    found = []
    for line in done.stdout[:_READ].split(b"\n"):
        path, _, rest = line.partition(b"\0")
        number, _, text = rest.partition(b"\0")
        if number.isdigit():
            shown = text[: 4 * _LONGEST].decode("utf-8", "replace").strip()[:_LONGEST]
            found.append(Mention(path.decode("utf-8", "surrogateescape"), int(number), shown))
    return found


def _explained(index: Index, names: Iterable[str], seeds: Iterable[Symbol]) -> set[tuple[str | None, int | None]]:
    same = {one.id: one for one in (*index.names(set(names)), *seeds)}
    return {(one.file, one.line) for one in same.values()} | {(edge.file, edge.line) for edge in index.into(list(same))}


class _Inside:
    """Where the seeds themselves lie."""

    def __init__(self, repo: Repo, seeds: Iterable[Symbol]) -> None:
        self._spans: dict[str, list[tuple[int, int]]] = {}
        for path in {one.file for one in seeds if one.file}:
            mine = [one for one in seeds if one.file == path]
            if any(one.kind == "file" for one in mine):
                self._spans[path] = [(1, 1 << 60)]
                continue
            self._spans[path] = [span for one in mine if (span := _span(repo, path, one))]

    def holds(self, mention: Mention) -> bool:
        return any(start <= mention.line <= end for start, end in self._spans.get(mention.path, ()))


def _span(repo: Repo, path: str, symbol: Symbol) -> tuple[int, int] | None:
    from morph_tasks.codegraph.spans import matching, read_definitions

    found = read_definitions(repo.root, path)
    one = matching(found or [], symbol.name, symbol.owner, symbol.line)
    return (one.start, one.end) if one else None
