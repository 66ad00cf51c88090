"""What is said of the changes of a feature to people: first what nothing explains."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

from morph_tasks.verify.reach.model import Answer, Reached, Unexplained

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
        yield from unexplained_lines(unknown, most)
    if most is not None and max(len(known), len(unknown)) > most:
        yield f"  all of them: morph-spec trace {feature}"


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
            yield f"{_place(one)}  (by {one.by}: {names[0]}{more})"


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
