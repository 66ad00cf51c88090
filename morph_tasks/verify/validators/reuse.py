"""`reuse`: what a feature adds and the project has already, by name or by body, and what the plan says of it.

A repeat is a warning that asks for a verdict; `CREATE` with a reason answers it. A copy of what the plan says to reuse
or to extend is an error; that the project does not have it at all is a warning.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.verify.digests import file_digest
from morph_tasks.verify.probe import ask
from morph_tasks.verify.validators.base import find_base
from morph_tasks.verify.validators.model import Checked, printable, skipped, unavailable

if TYPE_CHECKING:
    from morph_tasks.model.load import Config
    from morph_tasks.repo.git import Repo
    from morph_tasks.verify.validators.repeats.search import Repeat
    from morph_tasks.verify.validators.repeats.sources import Made
    from morph_tasks.verify.validators.repeats.verdicts import Verdicts

NAME = "reuse"
FEATURE = True  # the plan of the feature decides
DIGESTS = True  # files that git does not know decide
RULES = 3  # raised when the same change would be judged in another way
IGNORED = "reuse-ignored"
NO_GRAPH = "there is no code graph: `morph-spec graph build` makes one"
UNREADABLE = "unreadable"
_SHOWN = 40
_NAMED = 4


def applies(repo: Repo, config: Config) -> str | None:
    """Return None: it applies to every tree."""
    return None


def facts(
    repo: Repo, config: Config, feature: str | None = None, digest: Callable[[str], str | None] = file_digest
) -> dict[str, Any]:
    """Return the base, the graph and the verdicts of the plan. Without a graph nothing else decides."""
    from morph_tasks.codegraph.layout import graph_file, recovered_file

    base = find_base(repo)
    known = {"rules": RULES, "base": base.tree, "why": base.why}
    ask("file", str(graph_file(repo.root)))
    graph = digest(str(graph_file(repo.root)))
    if graph is None:
        return {**known, "graph": UNREADABLE if graph_file(repo.root).exists() else None}
    from morph_tasks.verify.validators.repeats.verdicts import read_verdicts

    ask("file", str(recovered_file(repo.root)))
    if feature is not None:
        ask("file", str(_plan(repo, feature)))
    plan = read_verdicts(repo.root, feature).as_json()
    return {**known, "graph": graph, "recovered": digest(str(recovered_file(repo.root))), "plan": plan}


def check(repo: Repo, config: Config, feature: str | None = None) -> Checked:
    """Compare what the tree adds with what was there; the status is `pass`, `fail` or `skip`."""
    from morph_tasks.codegraph.layout import graph_file

    if not graph_file(repo.root).is_file():
        return unavailable(NO_GRAPH)
    base = find_base(repo)
    if base.tree is None:
        return unavailable(str(base.why))
    from morph_tasks.verify.validators.repeats.added import added, is_looked_at
    from morph_tasks.verify.validators.weakening.changes import changed_files

    found = added(changed_files(repo, base.tree, is_looked_at))
    from morph_tasks.errors import Refusal
    from morph_tasks.verify.validators.repeats.verdicts import read_verdicts

    plan = read_verdicts(repo.root, feature)
    if not found.made and not any(one.verdict in ("REUSE", "EXTEND") for one in plan.items):
        return _nothing_added(found.unread)
    from morph_tasks.verify.validators.repeats.absent import absent
    from morph_tasks.verify.validators.repeats.project import Project
    from morph_tasks.verify.validators.repeats.search import repeats

    try:
        from morph_tasks.codegraph.index import open_index

        with open_index(repo.root) as index:
            unheld = absent(repo, index, plan)
            if not found.made:
                return _nothing_added(found.unread, unheld)
            known = repeats(found, Project(repo, base.tree, found.before, found.after), index, plan.names)
    except Refusal as refusal:
        if refusal.code not in ("no-graph", "corrupt-graph", "unreadable-file"):
            raise
        return unavailable(f"{refusal.what}: {refusal.fix or '`morph-spec graph build` makes it anew'}")
    said = _said(known, len(found.made), plan, found.unread, feature)
    return replace(said, warnings=(*_some(unheld), *said.warnings))


def _nothing_added(unread: Sequence[str], unheld: Sequence[str] = ()) -> Checked:
    nothing = skipped("no symbol was added")
    return Checked(nothing.status, nothing.reason, nothing.message, (*_some(unheld), *_unread(unread)))


def _said(known: Sequence[Repeat], added: int, plan: Verdicts, unread: Sequence[str], feature: str | None) -> Checked:
    errors, half, open_ones, answered = [], [], [], 0
    for one in known:
        created, kept = plan.created(one.new), plan.kept(one.every)
        if created and created.why:
            answered += 1
        elif kept:
            said, old = kept
            errors.append(f"{shown(one, old)}; {said.slice} says {said.verdict} {printable(said.symbol)}")
        elif created:
            half.append(f"{shown(one)}; {created.slice} says CREATE without `— why: …`")
        else:
            open_ones.append(one)
    warnings = _warnings([*half, *grouped(open_ones)], plan, feature) + list(_unread(unread))
    if not errors:
        repeated = f"{len(known)} of them repeat what is there" if known else "none of them repeats what is there"
        by_plan = f", {answered} by a decision of the plan" if answered else ""
        return Checked("pass", None, f"{added} symbols added, {repeated}{by_plan}", tuple(warnings))
    of = f"the plan of {feature}" if feature else "the plan"
    them, is_ = ("them", "are") if len(errors) > 1 else ("it", "is")
    message = (
        f"{len(errors)} {is_} made anew though {of} says to reuse: use what is there, or let the plan say "
        f"`reuse: CREATE <name> — why: …` of {them}"
    )
    return Checked("fail", IGNORED, message, tuple(warnings), tuple(_some(errors)))


def _warnings(lines: Sequence[str], plan: Verdicts, feature: str | None) -> list[str]:
    """Return the lines, and what to do about them."""
    if not lines:
        return []
    of = f"the plan of {feature}" if feature else "the plan"
    ask = f"use what is there, or give a verdict in a slice of {of}: `- reuse: CREATE <name> — why: …`"
    unknown = [f"no verdict of the plan counts: {plan.unknown}"] if plan.unknown else []
    return [*_some(lines), *unknown, ask]


def grouped(found: Sequence[Repeat]) -> list[str]:
    """Return a line for each repeat, and one for all others when a file repeats several things of another."""
    groups: dict[tuple[str, str], list[Repeat]] = {}
    for one in found:
        groups.setdefault((one.new.path, one.old.path), []).append(one)
    lines = []
    for (new, old), (first, *rest) in groups.items():
        lines.append(shown(first))
        if len(rest) == 1:
            lines.append(shown(rest[0]))
        elif rest:
            names = ", ".join(_called(one.new) for one in rest[:_NAMED])
            names += f" and {len(rest) - _NAMED} more" if len(rest) > _NAMED else ""
            lines.append(f"{printable(new)}: {len(rest)} more repeat what {printable(old)} has: {names}")
    return lines


def shown(one: Repeat, old: Made | None = None) -> str:
    """Return a repeat on one line: what is new, what was there and how much uses it, and how they are alike."""
    how = "same name and body" if one.name and one.body else "same body" if one.body else "same name"
    was = old or one.old
    where = f"{printable(was.path)}:{was.line}"
    if was is one.old and one.uses is not None:
        where += f", used in {one.uses} file{'' if one.uses == 1 else 's'}" if one.uses else ", no use of it is known"
    more = f" and {len(one.every) - 1} more" if len(one.every) > 1 else ""
    new = f"{printable(one.new.path)}:{one.new.line}"
    return f"{new}: {_called(one.new)} repeats {_called(was)} ({where}){more}: {how}"


def _called(made: Made) -> str:
    return printable(f"{made.about.owner}.{made.name}" if made.about.owner else made.name)


def _unread(paths: Sequence[str]) -> tuple[str, ...]:
    return (f"not verified: {', '.join(map(printable, _some(paths)))}",) if paths else ()


def _some(lines: Sequence[str]) -> list[str]:
    more = [f"and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
    return [*lines[:_SHOWN], *more]


def _plan(repo: Repo, feature: str) -> Path:
    from morph_tasks.features.store import feature_dir
    from morph_tasks.plan.service import PLAN

    return feature_dir(repo.root, feature) / PLAN
