"""A trace as one page of HTML that needs nothing else: no script, no other file, no place of this machine."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from pathlib import Path

from morph_tasks.repo import own_page
from morph_tasks.verify.reach.wording import reached_lines, shown, summary_lines
from morph_tasks.verify.scenarios.carriers import Carrier
from morph_tasks.verify.scenarios.page_style import STYLE
from morph_tasks.verify.scenarios.trace import Row, Stray, Trace
from morph_tasks.verify.scenarios.wording import LISTS, headline

MARK = '<meta name="generator" content="morph-spec trace">'
_WORDS = {"covered": "covered", "gap": "no test", "manual": "by hand", "unknown": "at run time"}
_FOUND = {"collected": "by its runner", "source": "in the source", "text": "as text"}
_KINDS = {"gap": "bad", "covered": "good"}


def check_target(path: Path, *, force: bool) -> None:
    """Refuse a place that holds something else than such a page; raises `not-a-trace-page`, `write-failed`."""
    own_page.check_target(path, MARK, "trace", force=force)


def write_page(path: Path, found: Trace, *, force: bool = False) -> None:
    """Write the page, whole or not at all; raises Refusal as `check_target` does."""
    from morph_tasks.repo.files import write_atomic

    check_target(path, force=force)
    write_atomic(path, page(found).encode("utf-8"))


def page(found: Trace) -> str:
    """Return the page; the same trace is the same page."""
    return "\n".join(_page(found)) + "\n"


def _page(found: Trace) -> Iterator[str]:
    title = f"Trace of {_text(found.feature)}"
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield MARK
    yield """<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">"""
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>"
    yield f'<p class="sum">{_text(headline(found))}</p>'
    yield from _origin(found)
    yield from _changes(found)
    yield from _gaps(found)
    yield from _matrix(found)
    for name, heading in LISTS:
        yield from _strays(heading, getattr(found, name))
    yield from _strays("Ids of other features", found.others)
    yield from _nodes(found)
    yield "</main>\n</body>\n</html>"


def _origin(found: Trace) -> Iterator[str]:
    commit = _code(found.commit[:12]) if found.commit else "none yet"
    state = {True: " with changes that are not committed", False: "", None: " (changes could not be looked for)"}
    plan = _code(found.plan_hash[:12]) if found.plan_hash else "none"
    yield f'<dl class="origin"><dt>Commit</dt><dd>{commit}{state[found.dirty]}</dd><dt>Plan</dt><dd>{plan}</dd></dl>'


def _gaps(found: Trace) -> Iterator[str]:
    if found.problems:
        yield '<section class="bad"><h2>Not verified</h2><ul>'
        yield from (f"<li>{_text(one)}</li>" for one in found.problems)
        yield "</ul></section>"
    if found.gaps:
        yield '<section class="bad"><h2>Scenarios without a test</h2><ul>'
        for row in found.gaps:
            yield f'<li><a href="#{_text(row.id)}">{_text(row.id)}</a> {_text(row.title)}: {_text(row.gap or "")}</li>'
        yield "</ul></section>"


def _changes(found: Trace) -> Iterator[str]:
    """Yield the changes that no scenario explains, or why that is not known."""
    said = summary_lines(found.changes, found.feature, whole=True)
    if said:
        yield f'<section class="{"bad" if found.changes.known else "mute"}"><h2>Changes</h2><ul>'
        yield from (f"<li>{_text(line.strip())}</li>" for line in said)
        yield "</ul></section>"


def _matrix(found: Trace) -> Iterator[str]:
    rows = found.rows
    if not rows:
        return
    yield '<table class="matrix"><caption>Scenarios of the plan, and below each the tests that carry it</caption>'
    yield "<colgroup><col><col><col><col></colgroup>\n<thead><tr>"
    yield "".join(f'<th scope="col">{head}</th>' for head in ("Test", "File", "Run by", "Found")) + "</tr></thead>"
    for row in rows:
        yield from _row(row, list(reached_lines(found.changes, row.id)))
    yield "</table>"


def _row(row: Row, reached: Sequence[str]) -> Iterator[str]:
    """Yield one scenario: a line that stays in sight while its tests pass by, and the tests."""
    many = f"{len(row.tests)} test{'' if len(row.tests) == 1 else 's'}"
    slices = f"slice{'s' if len(row.slices) > 1 else ''} {', '.join(row.slices)}" if row.slices else "no slice"
    note = row.gap or row.note
    yield f'<tbody id="{_text(row.id)}"><tr class="head"><th scope="rowgroup" colspan="4"><b>{_text(row.id)}</b> '
    yield f'{_text(row.title)} <span class="{_KINDS.get(row.state, "mute")}">{_WORDS[row.state]}</span>'
    said = "; ".join(filter(None, (f"proof: {row.proof}", slices, many, note)))
    yield f"<small>{_text(said)}</small></th></tr>"
    yield from map(_test, row.tests)
    yield from (f'<tr><td colspan="4"><small>reaches {_text(line)}</small></td></tr>' for line in reached)
    yield "</tbody>"


def _test(test: Carrier) -> str:
    cases = f" <small>{test.cases} cases</small>" if test.cases > 1 else ""
    skipped = f'<br><small class="bad">skipped: {_text(test.skipped)}</small>' if test.skipped else ""
    by = _text(", ".join(test.nodes)) if test.nodes else f'<span class="bad">no node</span>: {_text(test.unrun or "")}'
    return (
        f"<tr><td>{_text(test.name)}{cases}{skipped}</td><td>{_code(test.place) if test.place else '—'}</td>"
        f"<td>{by}</td><td>{_FOUND[test.found]}</td></tr>"
    )


def _strays(heading: str, strays: Sequence[Stray]) -> Iterator[str]:
    if not strays:
        return
    yield f'<section><h2>{heading} <small>{len(strays)}</small></h2><table class="strays">'
    yield '<colgroup><col><col><col><col></colgroup><thead><tr><th scope="col">Id</th><th scope="col">Test</th>'
    yield '<th scope="col">File</th><th scope="col">Why</th></tr></thead><tbody>'
    for one in strays:
        why = f"{one.why}; {one.fix}" if one.fix else one.why
        yield f'<tr><th scope="row">{_text(one.id)}</th><td>{_text(one.test.name)}</td>'
        yield f"<td>{_code(one.test.place) if one.test.place else '—'}</td><td>{_text(why)}</td></tr>"
    yield "</tbody></table></section>"


def _nodes(found: Trace) -> Iterator[str]:
    if not found.nodes:
        return
    yield '<section><h2>Test nodes</h2><table><thead><tr><th scope="col">Node</th><th scope="col">Runner</th>'
    yield '<th scope="col">Its tests</th></tr></thead><tbody>'
    for node in found.nodes:
        many = f"{node['tests']} named" if node["tests"] is not None else "files named"
        said = many + ("" if node["complete"] else ", not all") if node["collected"] else node["why"] or "no answer"
        yield f'<tr><th scope="row">{_text(node["node"])}</th><td>{_text(node["runner"])}</td>'
        yield f"<td>{_text(said)}</td></tr>"
    yield "</tbody></table></section>"


def _text(text: str) -> str:
    return html.escape(shown(text), quote=True)


def _code(text: str) -> str:
    return f"<code>{_text(text)}</code>"
