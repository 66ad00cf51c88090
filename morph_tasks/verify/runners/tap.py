"""TAP as node, vitest, mocha and deno write it: subtests by indentation, a parent before or after its children."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from morph_tasks.verify.runners.told import Status, Told, joined, told

_POINT = re.compile(
    r"^( *)(?P<no>not )?ok (?P<number>\d+)(?: -)? (?P<name>.+?)"
    r"(?: # (?P<said>(?:SKIP|TODO|time=)\S*).*?)?(?P<opens> \{)?$",
    re.I,
)  # fmt: skip
_SUBTEST = re.compile(r"^( *)# Subtest: (.+)$")
_LOCATION = re.compile(r"^ +location: '(.+?):(\d+):\d+'$")
_SUITE = re.compile(r"^ +type: 'suite'$")
_FILE = re.compile(r"^\S+\.[cm]?[jt]sx?$")


class _Point:
    """A test point until it is known that no more about it follows."""

    def __init__(self, names: list[str], status: Status, depth: int) -> None:
        self.names, self.status, self.depth = names, status, depth
        self.suite = False
        self.place: tuple[str, int] | None = None


def read(lines: Iterable[str], version: bool = True) -> Iterator[Told]:
    """Yield the tests of a TAP stream; a suite, or a test that is judged by its subtests, is none.

    `version`: the stream begins with the line that says its version.
    """
    reader = _Stream(not version)
    for line in lines:
        yield from reader.read(line)
    yield from reader.close()


class _Stream:
    def __init__(self, begun: bool) -> None:
        self._begun = begun
        self._open: _Point | None = None
        self._begin()

    def _begin(self) -> None:
        self._above: list[tuple[int, str]] = []
        self._numbers: dict[int, int] = {}
        self._parents: set[tuple[str, ...]] = set()
        self._failed: set[tuple[str, ...]] = set()

    def read(self, line: str) -> Iterator[Told]:
        if self._open and _more(self._open, line):
            return
        if subtest := _SUBTEST.match(line):
            depth = len(subtest[1])
            self._above = [*(one for one in self._above if one[0] < depth), (depth, _plain(subtest[2]))]
        elif re.match(r"^TAP version \d+$", line):
            yield from self.close()
            self._begin()
            self._begun = True
        elif self._begun and (hit := _POINT.match(line)) and self._in_turn(len(hit[1]), int(hit["number"])):
            yield from self.close()
            self._take(hit)

    def _in_turn(self, depth: int, number: int) -> bool:
        """Tell whether a number follows the last one of its level; what a test printed has another."""
        last = self._numbers.get(depth)
        if number != 1 + (last or 0) and (last is not None or self._numbers):
            return False
        self._numbers = {level: one for level, one in self._numbers.items() if level < depth} | {depth: number}
        return True

    def _take(self, hit: re.Match[str]) -> None:
        depth, name = len(hit[1]), _plain(hit["name"])
        self._above = [one for one in self._above if one[0] < depth]
        if hit["opens"]:
            self._above.append((depth, name))
            return
        left_out = (hit["said"] or "")[:4].upper() in ("SKIP", "TODO")
        status: Status = "skipped" if left_out else "failed" if hit["no"] else "passed"
        self._open = _Point([*(one for _, one in self._above), name], status, depth)

    def close(self) -> Iterator[Told]:
        if self._open:
            yield from _close(self._open, self._parents, self._failed)
        self._open = None


def _more(point: _Point, line: str) -> bool:
    """Take what a line of the block below a point says; False when the line is no part of it."""
    if _SUITE.match(line):
        point.suite = True
    elif place := _LOCATION.match(line):
        point.place = (place[1], int(place[2]))
    elif (len(line) - len(line.lstrip()) <= point.depth and line.strip()) or _SUBTEST.match(line) or _POINT.match(line):
        return False
    return True


def _close(point: _Point, parents: set[tuple[str, ...]], failed: set[tuple[str, ...]]) -> Iterator[Told]:
    names = tuple(point.names)
    above = {names[:size] for size in range(1, len(names))}
    parents |= above
    if point.status == "failed":
        # A parent that failed by itself is a result of its own.
        judged_by_children = names in failed
        failed |= above
        if point.suite or (names in parents and judged_by_children):
            return
    elif point.suite or names in parents:
        return
    shown = list(names)
    file = shown.pop(0) if len(shown) > 1 and _FILE.match(shown[0]) else None
    if file is None and (flat := re.match(r"^(\S+\.[cm]?[jt]sx?) > (.+)$", shown[0])):
        file, shown[0] = flat[1], flat[2]
    place = point.place if file is None else None
    yield told(joined(shown), point.status, place[0] if place else file, place[1] if place else None)


def _plain(name: str) -> str:
    """Return a name without the escapes of TAP."""
    return re.sub(r"\\([#\\])", r"\1", name)
