"""Which context of coverage.py is which test of a record."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

_PARTS = re.compile(r" > |::|[./\s()]+")


@dataclass(frozen=True)
class Named:
    """A test as a record has it: suites and title joined by ` > `, the file from the root of the tree."""

    name: str
    file: str | None


class Contexts:
    """Answers which test of some a context belongs to."""

    def __init__(self, tests: Iterable[Named]) -> None:
        self._exact: dict[str, list[Named]] = defaultdict(list)
        self._last: dict[str, list[Named]] = defaultdict(list)
        for one in tests:
            self._exact[one.name].append(one)
            for word in dict.fromkeys(words(one.name)):
                self._last[word].append(one)

    def tests(self, context: str) -> list[Named]:
        """Return the tests of a context: `file::Class::test[case]` of pytest-cov, `module.Class.test` of coverage."""
        if "::" in context:
            path, _, name = context.partition("::")
            # A static context stands in front.
            path, (head, bracket, rest) = path.rpartition("|")[2], name.partition("[")
            told = head.replace("::", " > ") + bracket + rest
            return [one for one in self._exact.get(told, ()) if one.file and _ends(one.file, path)]
        parts = context.rpartition("|")[2].split(".")
        return [one for one in self._last.get(parts[-1], ()) if _dotted(one, parts)]


def words(name: str) -> list[str]:
    """Return the names of which the name of a test is made, without its case."""
    return [part for part in _PARTS.split(name.partition("[")[0]) if part]


def _ends(file: str, path: str) -> bool:
    """Tell whether a path is that of a file, seen from a folder on its way or from one above the tree."""
    path = path.removeprefix("./")
    return file == path or file.endswith(f"/{path}") or path.endswith(f"/{file}")


def _dotted(one: Named, parts: list[str]) -> bool:
    """Tell whether a dotted context names a test: module, classes and function."""
    own = words(one.name)
    if one.file is None:
        return len(parts) > 1 and set(parts[-2:]) <= set(own)
    module = one.file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    for count in range(len(parts) - 1, 0, -1):
        said = ".".join(parts[:count])
        if module == said or module.endswith(f".{said}"):
            return set(parts[count:]) <= set(own)
    return False
