"""A trace as people read it in a terminal: what is missing first, then the matrix, then what counts for nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from morph_tasks.verify.reach.wording import data_line, reached_lines, shown, summary_lines
from morph_tasks.verify.scenarios.carriers import Carrier
from morph_tasks.verify.scenarios.trace import Row, Stray, Trace

_MOST_OTHERS = 5
LISTS = (
    ("unknown", "Ids that name no scenario"),
    ("ambiguous", "Ids that may be another feature's"),
    ("unrun", "Tests that no node would run"),
)


def lines(found: Trace) -> list[str]:
    """Return the trace, a line each; nothing in it can steer a terminal."""
    return [shown(line) for line in _lines(found)]


def headline(found: Trace) -> str:
    """Return in one sentence how many scenarios have a test."""
    if found.rows is None:
        return f"{found.feature}: what its plan owes is not known"
    owed = [row for row in found.rows if row.state != "manual"]
    covered = sum(row.state == "covered" for row in owed)
    tests = len({(test.file, test.line, test.name) for row in found.rows for test in row.tests})
    said = f"{found.feature}: {covered} of {_count(owed, 'scenario')} covered"
    manual = len(found.rows) - len(owed)
    by_hand = f", {manual} to be checked by a person" if manual else ""
    return f"{said}{by_hand}; {tests} test{'s carry' if tests != 1 else ' carries'} them"


def _lines(found: Trace) -> Iterator[str]:
    yield headline(found)
    yield from summary_lines(found.changes, found.feature, whole=True)
    rows = found.rows or ()
    for row in sorted(rows, key=lambda row: not row.gap):
        yield ""
        yield from _row(row)
        yield from (f"       reaches {line}" for line in reached_lines(found.changes, row.id))
    if data := data_line(found.changes):
        yield from ("", data)
    for name, title in LISTS:
        strays: Sequence[Stray] = getattr(found, name)
        if strays:
            yield from ("", f"{title}:")
            yield from (f"  {_where(one.test)}  {one.id}: {one.why}{_fix(one)}" for one in strays)
    if found.others:
        many = "1 test carries an id" if len(found.others) == 1 else f"{len(found.others)} tests carry ids"
        ids = list(dict.fromkeys(one.id for one in found.others))
        more = ", …" if len(ids) > _MOST_OTHERS else ""
        yield from ("", f"{many} of other features: {', '.join(ids[:_MOST_OTHERS])}{more}")
    silent = [node for node in found.nodes if not node["collected"]]
    if silent:
        yield from ("", "Seen in the source only, not asked for their tests:")
        yield from (f"  {node['node']}: {node['why'] or 'it did not answer'}" for node in silent)
    if found.problems:
        yield from ("", "Problems:")
        yield from (f"  {problem}" for problem in found.problems)


def _row(row: Row) -> Iterator[str]:
    word = "GAP" if row.gap else row.state
    slices = f"  ({', '.join(row.slices)})" if row.slices else ""
    yield f"{row.id:<4} {word:<8} {row.proof:<6} {row.title}{slices}"
    if row.gap or row.note:
        yield f"       {row.gap or row.note}"
    for test in row.tests:
        yield f"       {_where(test)}  {_how(test)}"


def _where(test: Carrier) -> str:
    cases = f" ({test.cases} cases)" if test.cases > 1 else ""
    return f"{test.place}  {test.name}{cases}" if test.place else f"{test.name}{cases}"


def _how(test: Carrier) -> str:
    """Return what would run a test, how it was found, and whether it is left out."""
    by = ", ".join(test.nodes) or "no node"
    skipped = f"; skipped: {test.skipped}" if test.skipped else ""
    return f"[{by}; {test.found}{skipped}]"


def _fix(one: Stray) -> str:
    return f"; {one.fix}" if one.fix else ""


def _count(things: Sequence[object], name: str) -> str:
    return f"{len(things)} {name}{'' if len(things) == 1 else 's'}"
