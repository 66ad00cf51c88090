"""`morph-spec fleet`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from morph_tasks.cli.common import EPILOG_CODES, json_option, say
from morph_tasks.repo.git import open_repo

if TYPE_CHECKING:
    from morph_tasks.fleet.board import Fleet, Post

# Paths and symbols come from plans and from a graph: they can hold signs that would steer a terminal.
_CONTROL = dict.fromkeys((*range(32), *range(127, 160)), "\ufffd")


@click.command(
    "fleet",
    help="Show every active feature of the repository, wherever it is: phase, where, how far it went (local, pushed, "
    "PR), uncommitted paths, gates ahead, slices with a report, claims, ports, handoff, last activity. It is the same "
    "from every tree.",
    epilog=f"{EPILOG_CODES} Example: morph-spec fleet",
)
@click.option("--union", is_flag=True, help="Merge all green features beside every work tree: does it fit together?")
@click.option("--verify", "prove", is_flag=True, help="With --union: prove the result, and name the guilty pair.")
@click.option(
    "--collisions",
    "collide",
    is_flag=True,
    help="Compare the plans of all features in work: who changes the same file, or what a file of the other needs?",
)
@json_option
def fleet(union: bool, prove: bool, collide: bool, as_json: bool) -> int:
    """Run `morph-spec fleet`."""
    if collide and (union or prove):
        raise click.UsageError("--collisions compares plans, --union what is built: one at a time")
    if prove and not union:
        raise click.UsageError("--verify goes with --union")
    if union:
        from morph_tasks.cli.fleet_union import run_union

        return run_union(open_repo(), prove, as_json)
    if collide:
        return _collisions(as_json)
    from morph_tasks.fleet import board

    found = board.board(open_repo())
    say(board.as_json(found), "\n".join(_lines(found)), as_json)
    return 0


def _collisions(as_json: bool) -> int:
    from morph_tasks.fleet import colliding

    found = colliding.fleet_collisions(open_repo())
    shown = [line.translate(_CONTROL) for line in colliding.lines(found)]
    say(colliding.as_json(found), "\n".join(shown), as_json)
    return 0


def _lines(found: Fleet) -> list[str]:
    from morph_tasks.fleet.github import NO_ORIGIN

    cells = [_cells(post) for post in found.posts]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for post, row in zip(found.posts, cells, strict=True):
        told = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        flags = [f"[{', '.join(post.view.flags)}]"] if post.view.flags else []
        lines.append("  ".join([told, *flags, post.view.problem]).rstrip())
        lines.append(f"     {' · '.join(_details(post))}")
    if not found.pulls.verified and found.pulls.reason != NO_ORIGIN:
        lines.append(f"pull requests not verified: {found.pulls.reason}")
    if found.registry.problem:
        lines.append(f"claims not known: {found.registry.problem}")
    return lines or ["no active features"]


def _cells(post: Post) -> list[str]:
    view, changed = post.view, post.changed
    uncommitted = "" if changed is None else f"{changed.count} uncommitted" if changed.count else "clean"
    return ["⚠" if view.flags else " ", view.slug, view.phase or "?", view.where, post.remote, uncommitted]


def _details(post: Post) -> list[str]:
    gates = "?" if post.pending_gates is None else ", ".join(post.pending_gates) or "none"
    claimed = "claims ?" if post.claims is None else "unclaimed"
    return [
        f"gates ahead: {gates}",
        f"slices {post.slices.done}/{post.slices.total}" if post.slices else "slices ?",
        f"claimed by {', '.join(claim.session for claim in post.claims)}" if post.claims else claimed,
        f"ports {post.ports.base}" if post.ports else "no ports",
        "handoff" if post.handoff else "no handoff",
        f"last activity {post.last_activity or '?'}",
    ]
