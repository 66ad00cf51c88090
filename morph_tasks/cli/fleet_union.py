"""`fleet --union`: all green features together, before anyone merges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from morph_tasks.cli.common import say, warn

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo


def run_union(repo: Repo, verify: bool, as_json: bool) -> int:
    """Make the union, print it, and return the exit code."""
    from morph_tasks.fleet.union.service import union
    from morph_tasks.fleet.union.wording import lines

    made = union(repo, verify=verify, say=_quiet if as_json else warn)
    for line in made.warnings:
        warn(f"warning: {line}")
    say(made.as_json(), "\n".join(lines(made)), as_json)
    return 0 if made.ok else 1


def _quiet(_: str) -> None:
    """Hear of a step."""
