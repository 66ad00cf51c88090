"""Joins what the source shows with what the runners named: each test once, with the nodes that would run it."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from morph_tasks.verify.scenarios.collect import Collection
from morph_tasks.verify.scenarios.listed import Listed
from morph_tasks.verify.scenarios.proof import proof_kind
from morph_tasks.verify.scenarios.scan import Found

if TYPE_CHECKING:
    pass

_HOLE = re.compile(r"%[sdifjoOpc#$]|\$\{[^}]*\}|\$[\w.#]+")
_JS = frozenset({"javascript", "typescript", "vue", "svelte"})
# Runner: languages of its tests. Others run anything.
LANGUAGES: dict[str, frozenset[str]] = {
    "pytest": frozenset({"python"}), "unittest": frozenset({"python"}),
    "vitest": _JS, "jest": _JS, "mocha": _JS, "node-test": _JS, "karma": _JS, "playwright": _JS, "bun": _JS,
    "deno": _JS, "go": frozenset({"go"}), "cargo": frozenset({"rust"}), "dotnet": frozenset({"csharp", "fs", "vb"}),
    "rspec": frozenset({"ruby"}), "phpunit": frozenset({"php", "phpt"}),
    "surefire": frozenset({"java", "kt", "scala", "groovy"}),
    "gradle": frozenset({"java", "kt", "kts", "scala", "groovy"}),
    "ctest": frozenset({"c", "cc", "cpp", "cxx", "m"}), "evals": frozenset(),
}  # fmt: skip


@dataclass(frozen=True)
class Carrier:
    """A test that carries scenarios. `nodes` would run it; without any, `unrun` says why.

    `found` is `collected` when a runner named it with its scenario, `source` when the source shows it, `text` when
    only a line of a file in another language does.
    """

    name: str
    file: str | None
    line: int | None
    scenarios: tuple[str, ...]
    nodes: tuple[str, ...]
    found: Literal["collected", "source", "text"]
    skipped: str | None = None
    cases: int = 1
    kinds: frozenset[str] = field(default_factory=frozenset)
    unrun: str | None = None

    @property
    def node(self) -> str | None:
        return self.nodes[0] if self.nodes else None

    @property
    def place(self) -> str:
        """Return `file:line` as far as it is known."""
        return f"{self.file}:{self.line}" if self.file and self.line else self.file or ""

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "file": self.file,
            "line": self.line,
            "node": self.node,
            "nodes": list(self.nodes),
            "found": self.found,
            "skipped": self.skipped,
            "cases": self.cases,
        }


def carriers(root: Path, found: Sequence[Found], said: Sequence[Collection]) -> tuple[Carrier, ...]:
    """Return every test that carries a scenario, by file and line."""
    matchers = [_Matcher(root, one) for one in said if one.node.invalid is None]
    made = [_of_source(test, matchers) for test in found]
    for one in matchers:
        made += one.rest()
    return tuple(sorted(made, key=lambda test: (test.file or "\U0010ffff", test.line or 0, test.name)))


def _of_source(test: Found, matchers: Sequence[_Matcher]) -> Carrier:
    """Return a test of the source with the nodes that run it, by their word or by where it stands."""
    runs: list[_Matcher] = []
    named: list[Listed] = []
    missing: list[str] = []
    for matcher in matchers:
        answer = matcher.runs(test)
        if answer is None:
            missing.append(matcher.node.ref)
        elif answer is not False:
            runs.append(matcher)
            named += answer
    unrun = None
    if not runs:
        unrun = f"{', '.join(missing)} does not collect it" if missing else _outside(test, matchers)
    ids = dict.fromkeys([*test.scenarios, *(name for one in named for name in one.scenarios)])
    collected = bool(named) and {name for one in named for name in one.scenarios} >= set(test.scenarios)
    left_out = test.skipped or next((one.skipped for one in named), None)
    return Carrier(
        test.name, test.file, test.line, tuple(ids), tuple(dict.fromkeys(one.node.ref for one in runs)),
        "collected" if collected else "text" if test.by_text else "source",
        left_out, max((one.cases for one in named), default=1), _kinds(runs), unrun,
    )  # fmt: skip


def _kinds(runs: Iterable[_Matcher]) -> frozenset[str]:
    """Return the kinds of proof that nodes give; a test of the running application is a test too."""
    kinds = {proof_kind(one.node) for one in runs}
    return frozenset(kinds | ({"test"} if "e2e" in kinds else set()))


def _outside(test: Found, matchers: Sequence[_Matcher]) -> str:
    if not any(one.node.command for one in matchers):
        return "no test node is declared or inferred"
    fit = [one for one in matchers if one.node.command and one.speaks(test.language)]
    return "it lies outside the folder of every test node" if fit else f"no test node runs {test.language}"


class _Matcher:
    """One node: which tests of the source it runs, and what it named that no source shows."""

    def __init__(self, root: Path, said: Collection) -> None:
        self.node, self._said, self._root = said.node, said, root
        self._used: set[int] = set()
        self._by_file: dict[str | None, list[Listed]] = defaultdict(list)
        self._by_name: dict[str, list[Listed]] = defaultdict(list)
        for one in said.tests or ():
            self._by_file[one.file].append(one)
            self._by_name[_last(one.name)].append(one)

    def speaks(self, language: str) -> bool:
        known = LANGUAGES.get(self.node.runner)
        return known is None or language in known

    def runs(self, test: Found) -> list[Listed] | Literal[False] | None:
        """Return what the node named of a test, [] when it may run it; False: not its business, None: left out."""
        if not self.node.command or not self.speaks(test.language):
            return False
        if self._said.tests is not None:
            named = self._named(test)
            self._used.update(map(id, named))
            if named:
                return named
        elif self._said.files is not None and test.file in self._said.files:
            return []
        if not self._reaches(test.file):
            return False
        if not self._said.asked or not self._known(test.file):
            return []
        # Vitest does not list what is skipped.
        return [] if test.skipped and self.node.runner == "vitest" and test.file in self._by_file else None

    def rest(self) -> list[Carrier]:
        """Return the tests with scenarios that no source showed."""
        return [
            Carrier(
                one.name, one.file, one.line, one.scenarios, (self.node.ref,), "collected", one.skipped, one.cases,
                _kinds([self]),
            )
            for one in self._said.tests or ()
            if one.scenarios and id(one) not in self._used
        ]  # fmt: skip

    def _known(self, path: str) -> bool:
        """Tell whether what was not named of a file does not run."""
        from morph_tasks.verify.narrowing.places import below

        said = self._said
        return said.complete or (bool(said.open) and not any(below(one, path) for one in said.open))

    def _named(self, test: Found) -> list[Listed]:
        return MATCH.get(self.node.runner, _in_file)(test, self._by_file, self._by_name)

    def _reaches(self, path: str) -> bool:
        from morph_tasks.verify.narrowing.places import inside, named_outside, normal
        from morph_tasks.verify.narrowing.table import NARROWERS, narrower

        folder = normal(self.node.cwd)
        if inside(self._root, folder, path):
            return True
        words = tuple(self.node.command.split())
        if any(inside(self._root, place, path) for place in named_outside(self._root, folder, words)):
            return True
        module = narrower(self.node.runner) if self.node.runner in NARROWERS else None
        owns = getattr(module, "owns", None)
        return bool(owns and owns(self._root, folder, self.node.command, path))


_Index = dict[str | None, list[Listed]]
_Names = dict[str, list[Listed]]


def _in_file(test: Found, by_file: _Index, by_name: _Names) -> list[Listed]:
    """Match by name, then by line, then by a title that is filled in at run time."""
    here = by_file.get(test.file, [])
    same = [one for one in here if one.name == test.name]
    if not same:
        # Several may stand on one line.
        same = [one for one in here if one.line == test.line and (not one.scenarios or _shared(one, test))]
    return same or _of_title(test, here)


def _of_title(test: Found, here: Sequence[Listed]) -> list[Listed]:
    parts = _HOLE.split(test.name)
    if len(parts) == 1:
        return []
    pattern = re.compile(".*".join(map(re.escape, parts)), re.S)
    return [one for one in here if pattern.fullmatch(one.name)]


def _shared(one: Listed, test: Found) -> bool:
    return bool(one.scenarios) and set(one.scenarios) <= set(test.scenarios)


def _by_package(test: Found, by_file: _Index, by_name: _Names) -> list[Listed]:
    """go names functions by package; subtests are known to the source only."""
    folder = posixpath.dirname(test.file) or "."
    named = by_name.get(test.name.split("/")[0].split(" > ")[0], [])
    return [one for one in named if one.package in (None, folder)]


def _by_path(test: Found, by_file: _Index, by_name: _Names) -> list[Listed]:
    """cargo names functions by their modules, of which the source of one file shows only the inner ones."""
    path = test.name.replace(" > ", "::")
    return [
        one
        for one in by_name.get(_last(path), [])
        if (one.name == path or one.name.endswith(f"::{path}")) and one.file in (None, test.file)
    ]


MATCH: dict[str, Callable[[Found, _Index, _Names], list[Listed]]] = {"go": _by_package, "cargo": _by_path}


def _last(name: str) -> str:
    return name.rsplit("::", 1)[-1]
