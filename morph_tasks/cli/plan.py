"""`morph-spec plan-check`."""

from __future__ import annotations

from collections.abc import Sized
from typing import TYPE_CHECKING, Any

import click

from morph_tasks.cli.common import EPILOG_CODES, feature_argument, json_option, out, say, warn
from morph_tasks.plan.guide import as_written, help_text

if TYPE_CHECKING:
    from morph_tasks.fleet.outlook import Outlook
    from morph_tasks.plan.check import Report

# A plan can hold signs that would steer a terminal.
_CONTROL = dict.fromkeys((*range(32), *range(127, 160)), "\ufffd")
_WHAT = """\
Check the plan of a feature, .morph/features/<FEATURE>/2-plan/plan.md.

Prints every error and warning as `plan.md:<line>:<column>: error <code>: <sentence>`. Without an error it writes
2-plan/checks.json, which nothing else writes, and prints the waves: slices that can be worked on at the same time,
at most 4, no file in common. A plan that is approved and has changed outside its errata is refused (`frozen`).

It is compared with the plans of all other features in work (`collides-with`, see `fleet --collisions`), and with what
came into the default branch since it was written down (`stale-by-merge`). Both are warnings.
"""


@click.command(
    "plan-check",
    help=f"{_WHAT}\n\n{help_text()}",
    epilog="\n\n".join((EPILOG_CODES, as_written("Example:\n  morph-spec plan-check cart-totals --json"))),
    short_help="Check a plan and write its checks.json.",
)
@feature_argument
@click.option(
    "--mermaid",
    "drawn",
    is_flag=True,
    help="Print the slices as a Mermaid flowchart and write nothing; errors go to stderr and do not block.",
)
@click.option(
    "--accept",
    is_flag=True,
    help="Say that the plan still holds with all that this tree has merged: it is no longer stale by a merge.",
)
@json_option
def plan_check(feature: str, drawn: bool, accept: bool, as_json: bool) -> int:
    """Check, print, return 0 or 1."""
    from morph_tasks.features.dotnet import seed_build_ignores
    from morph_tasks.fleet.outlook import plan_check as check
    from morph_tasks.plan import service
    from morph_tasks.repo.git import open_repo
    from morph_tasks.repo.trees import require_owner_tree

    if drawn and accept:
        raise click.UsageError("--mermaid and --accept exclude each other")
    repo = open_repo().lightly()
    root = require_owner_tree(repo, feature, command=f"plan-check {feature}")
    if drawn:
        return _draw(service.read_report(root, feature), as_json)
    outlook = check(repo, feature, accept=accept)
    report = outlook.report
    seeded = seed_build_ignores(repo, feature) if report.ok else []
    told = [f"added to .gitignore, commit it with the plan: {', '.join(seeded)}"] if seeded else []
    say(
        {**_payload(report), **outlook.as_json(), **({"gitignore": seeded} if seeded else {})},
        "\n".join([*report_lines(report), *around_lines(outlook), *told]),
        as_json,
    )
    return 0 if report.ok else 1


def report_lines(report: Report) -> list[str]:
    """Return the findings in the order of the file, then the verdict and the waves."""
    lines = _findings(report)
    if not report.ok:
        return [*lines, f"{_count(report.errors, 'error')}; checks.json was not written"]
    plan = report.plan
    counts = f"{_count(plan.scenarios, 'scenario')}, {_count(plan.slices, 'slice')}"
    lines.append(f"ok: {counts}; checks.json is up to date")
    return lines + [f"wave {number}: {', '.join(wave)}" for number, wave in enumerate(report.waves, 1)]


def around_lines(outlook: Outlook) -> list[str]:
    """Return what of its surroundings a plan could not be compared with; nothing where nobody had to be asked."""
    from morph_tasks.fleet.colliding import unknowns

    said = unknowns(outlook.comparison)
    if outlook.outdated.stale is None and outlook.report.ok:
        said.append(f"stale by a merge or not is not verified: {outlook.outdated.reason}")
    return [line.translate(_CONTROL) for line in said]


def _count(things: Sized, name: str) -> str:
    return f"{len(things)} {name}{'' if len(things) == 1 else 's'}"


def _draw(report: Report, as_json: bool) -> int:
    from morph_tasks.plan.mermaid import mermaid

    chart = mermaid(report.plan.slices)
    if as_json:
        say({**_payload(report), "mermaid": chart}, "", True)
        return 0
    for line in _findings(report):
        warn(line)
    out(chart)
    return 0


def _payload(report: Report) -> dict[str, Any]:
    return {
        "ok": report.ok,
        "errors": [one.as_json() for one in report.errors],
        "warnings": [one.as_json() for one in report.warnings],
        "waves": [list(wave) for wave in report.waves],
        "hash": report.hash,
    }


def _findings(report: Report) -> list[str]:
    """Return the messages in the order of the file."""
    both = [(one, "error") for one in report.errors] + [(one, "warning") for one in report.warnings]
    return [
        f"plan.md:{one.place.line}:{one.place.column}: {kind} {one.code}: {one.message}".translate(_CONTROL)
        for one, kind in sorted(both, key=lambda pair: pair[0].place)
    ]
