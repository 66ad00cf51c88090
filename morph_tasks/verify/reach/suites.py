"""Which suite runs a test file, whether it names its tests, and which test code the graph does not have."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from morph_tasks.verify.reach.kinds import FOREIGN

if TYPE_CHECKING:
    from morph_tasks.codegraph.index import Index
    from morph_tasks.repo.git import Repo
    from morph_tasks.verify.judge import Outcome
    from morph_tasks.verify.nodes import Node

Ran = Literal["named", "unnamed", "nowhere"]

# Languages whose code tests of the same family reach.
_FAMILIES = {
    "python": (".py", ".pyi", ".pyx"),
    "js": (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".vue", ".svelte"),
    "go": (".go",),
    "net": (".cs", ".fs", ".vb"),
    "jvm": (".java", ".kt", ".kts", ".scala", ".groovy"),
    "rust": (".rs",),
    "ruby": (".rb",),
    "php": (".php",),
    "c": (".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".m", ".mm"),
}
_RUNNERS = {
    "pytest": "python", "unittest": "python", "go": "go", "cargo": "rust", "dotnet": "net", "rspec": "ruby",
    "phpunit": "php", "surefire": "jvm", "gradle": "jvm", "ctest": "c",
    **dict.fromkeys(("vitest", "jest", "mocha", "node-test", "karma", "playwright", "bun", "deno"), "js"),
}  # fmt: skip
# What makes a runner name its tests.
_NAMING = {
    "go": "add -v to its command", "unittest": "add -v to its command", "jest": "add --verbose to its command",
    "vitest": "add --reporter=verbose to its command", "rspec": "add --format documentation to its command",
    "phpunit": "add --testdox to its command", "dotnet": 'add --logger "console;verbosity=normal" to its command',
    "playwright": "add --reporter=list to its command",
}  # fmt: skip
_BY_REPORT = "let it write JUnit XML, and declare that as `junit` of the node"


def family_of(path: str) -> str | None:
    """Return the family of languages of a file; None when it is none of those that are known."""
    lower = path.lower()
    return next((name for name, suffixes in _FAMILIES.items() if lower.endswith(suffixes)), None)


class Suites:
    """The test nodes of a proof, and the test files of the tree."""

    def __init__(self, repo: Repo, index: Index | None, outcomes: Iterable[Outcome]) -> None:
        self._repo, self._index = repo, index
        suites = [one for one in outcomes if one.node.family in ("tests", "e2e")]
        self._ran = [one for one in suites if one.node.command and one.node.runs]
        # Nodes without names of which a change depends, each with what would make it name them.
        self.unnamed: dict[str, str] = {}

    def ran(self, paths: Iterable[str]) -> Ran:
        """Tell how test files run: one by a suite that does not name its tests is enough, then one by none."""
        found: set[Ran] = set()
        for path in dict.fromkeys(paths):
            fit = self._fit(path)
            silent = [one.node for one in fit if (one.record or {}).get("named") is False]
            self.unnamed |= {node.ref: _NAMING.get(node.runner, _BY_REPORT) for node in silent}
            found.add("unnamed" if silent else "named" if fit else "nowhere")
        return "unnamed" if "unnamed" in found else "nowhere" if "nowhere" in found else "named"

    def family(self, ref: str) -> str | None:
        """Return the family of languages of the tests of a node; None: any."""
        return next((_RUNNERS.get(one.node.runner) for one in self._ran if one.node.ref == ref), None)

    def left_out(self, path: str) -> Sequence[str]:
        """Return the test files in the language of a file that the graph does not have."""
        family = family_of(path)
        return [one for one in self._left_out if family is not None and family_of(one) == family]

    def _fit(self, path: str) -> list[Outcome]:
        """Return the nodes that run a test file; one of unknown language only where no other does."""
        there = [one for one in self._ran if self._holds(one.node, path)]
        same = [one for one in there if _RUNNERS.get(one.node.runner) == family_of(path)]
        return same or [one for one in there if one.node.runner not in _RUNNERS]

    def _holds(self, node: Node, path: str) -> bool:
        from morph_tasks.verify.narrowing.places import inside, named_outside, normal

        folder, root = normal(node.cwd), self._repo.root
        places = (folder, *named_outside(root, folder, tuple(node.command.split())))
        return any(inside(root, place, path) for place in places)

    @cached_property
    def _left_out(self) -> list[str]:
        if self._index is None:
            return []
        listed = self._repo.git("ls-files", "-z", "--cached", "--others", "--exclude-standard").split(b"\0")
        tests = [path for path in map(os.fsdecode, filter(None, listed)) if _is_of_tests(path)]
        asked = "SELECT DISTINCT p.path FROM node n JOIN path p ON p.id = n.file WHERE p.path IN ({})"
        known = {row[0] for row in self._index.by(asked, tests)}
        return sorted(path for path in set(tests) - known if self._has_text(path))

    def _has_text(self, path: str) -> bool:
        try:
            return os.path.getsize(self._repo.root / path) > 0
        except OSError:
            return False


def _is_of_tests(path: str) -> bool:
    """Tell whether a file holds tests by its name; in .NET, where names say less, by its project."""
    from morph_tasks.codegraph.marks import is_helper, is_test

    family = family_of(path)
    *folders, name = path.split("/")
    if family is None or is_helper(path) or not (FOREIGN | {"testdata"}).isdisjoint(folders):
        return False
    return is_test(path if family == "net" else name)
