"""What is said of the changes of a feature to people: first what nothing explains."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterator, Sequence

from morph_tasks.verify.reach.model import FIX, Answer, Reached, Unexplained

_MOST = 10
_PLAIN = " \u200d"  # the second one joins pictures
_MOST_DATA = 5


def summary_lines(found: Answer, feature: str, *, whole: bool = False) -> list[str]:
    """Return what stands first in a summary: the changes that nothing explains, or why that is not known.

    Without `whole` only the first of them, and where to see the rest.
    """
    return [shown(line) for line in _summary(found, feature, None if whole else _MOST)]


def _summary(found: Answer, feature: str, most: int | None) -> Iterator[str]:
    if not found.owed:
        return
    if not found.known:
        yield f"unexplained changes: not verified: {found.reason}"
        return
    known = [one for one in found.unexplained if one.known]
    unknown = [one for one in found.unexplained if not one.known]
    if known:
        yield f"unexplained: {_count(known, 'change')} that no test of a scenario reaches"
        yield from unexplained_lines(known, most)
    if unknown:
        yield f"unexplained: {_count(unknown, 'change')} of which it is not known whether a test reaches them"
        yield from _remedies(found, {one.why for one in unknown})
        yield from unexplained_lines(unknown, most)
    if most is not None and max(len(known), len(unknown)) > most:
        yield f"  all of them: morph-spec trace {feature}"


def _remedies(found: Answer, reasons: Collection[str]) -> Iterator[str]:
    """Yield once what would make known what is not."""
    for node, fix in found.unnamed.items():
        yield f"  {node} does not name its tests, so nobody knows what they carry: {fix}"
    if "graph-missing" in reasons:
        yield f"  there is no code graph: run `{FIX['graph-missing']}`"
    if "graph-stale" in reasons:
        yield f"  files changed since the code graph was made: run `{FIX['graph-stale']}`"
    if "tests-not-in-graph" in reasons:
        yield f"  the graph has no test that is newer (`{FIX['graph-stale']}`), or that .graphifyignore leaves out"


def unexplained_lines(found: Sequence[Unexplained], most: int | None = None) -> Iterator[str]:
    """Yield a line for each change that nothing explains."""
    for one in found[:most]:
        tests = f" ({', '.join(one.tests)})" if one.tests else ""
        yield f"  {_place(one)}  {one.said}{tests}"
    if most is not None and len(found) > most:
        yield f"  and {len(found) - most} more"


def reached_lines(found: Answer, scenario: str) -> Iterator[str]:
    """Yield a line for each change that the tests of a scenario reach."""
    for one in found.reached:
        names = [test.name for test in one.tests if scenario in test.scenarios]
        if names:
            more = f" and {len(names) - 1} more" if len(names) > 1 else ""
            by = f"{one.by}, its file" if one.by_file else one.by
            yield f"{_place(one)}  (by {by}: {names[0]}{more})"


def data_line(found: Answer) -> str:
    """Return the line on changed files without symbols; "" when there are none."""
    paths = [path for path, _ in found.data]
    if not paths:
        return ""
    more = f" and {len(paths) - _MOST_DATA} more" if len(paths) > _MOST_DATA else ""
    return f"changed data, which no test is asked for: {', '.join(paths[:_MOST_DATA])}{more}"


def _place(one: Reached | Unexplained) -> str:
    first, last = one.lines or (0, 0)
    lines = "" if not one.lines else f":{first}" if first == last else f":{first}-{last}"
    gone = f" ({one.removed} removed)" if one.removed else ""
    return f"{one.file}{lines}{gone}" + (f"  {one.symbol}" if one.symbol else "")


def _count(things: Sequence[object], name: str) -> str:
    return f"{len(things)} {name}{'' if len(things) == 1 else 's'}"


def shown(text: str) -> str:
    """Return a text on one line, with signs that steer a terminal or turn its direction spelled out."""
    return "".join(
        char if char in _PLAIN or unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp") else _spelled(char)
        for char in text
    )


def _spelled(char: str) -> str:
    return char.encode("unicode_escape", "surrogatepass").decode("ascii")
