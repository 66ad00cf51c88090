"""`morph-spec heavy status|run`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from morph_tasks.cli.common import EPILOG_CODES, json_option, say, warn

if TYPE_CHECKING:
    from morph_tasks.machine.heavy.settings import Settings

_WHAT = """\
Heavy jobs of one user share a few slots, so that two sessions do not build and test at the same time until the machine
runs out of memory.
"""

_STATUS = """\
Show who holds the slots for heavy jobs, who waits for one, and how much memory is free; change nothing.

The slots are shared by all repositories and sessions of a user on this machine.
"""

_RUN = """\
Run a command in a slot for heavy jobs and pass its exit code on: 128 + N when signal N ended it, 127 when it cannot be
executed.

The command is not read by a shell. It starts when a slot and enough memory are free; whoever came first goes first, and
stderr says every 30 seconds who holds the slots. After heavy.waitTimeoutSec the command is not run and the exit code is
3. Signals are passed on to it. Commands in it, a verify included, use the same slot. With --json only a refusal is
printed as JSON: stdout belongs to the command.
"""


@click.group("heavy", help=_WHAT, epilog=EPILOG_CODES, short_help="Run heavy commands a few at a time.")
def heavy() -> None:
    """Hold the two commands."""


@heavy.command(
    "status",
    help=_STATUS,
    epilog=f"{EPILOG_CODES} Example: morph-spec heavy status --json",
    short_help="Show who holds the slots, and who waits.",
)
@json_option
def status(as_json: bool) -> int:
    from morph_tasks.machine.heavy.status import status as look

    found = look(_settings())
    say(found.as_json(), "\n".join(found.lines()), as_json)
    return 0


@heavy.command(
    "run",
    help=_RUN,
    epilog="Exit codes: those of the command, 3 no slot in time, 127 it cannot be executed. "
    'Example: morph-spec heavy run --label "api tests" -- dotnet test api',
    short_help="Run a command in a slot.",
    context_settings={"allow_interspersed_args": False},
)
@click.option("--label", metavar="TEXT", help="How others see the job.  [default: the first words of the command]")
@json_option
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def run(label: str | None, as_json: bool, command: tuple[str, ...]) -> int:
    from morph_tasks.machine.heavy.running import run_through
    from morph_tasks.machine.heavy.slots import slot

    feature = os.environ.get("MORPH_FEATURE")
    said = label or _label(command)
    with slot(said, settings=_settings(), feature=feature, on_wait=lambda seen: warn(seen.line())) as lease:
        env = {**os.environ, **lease.env}
        return run_through(command, env, lambda why: warn(f"heavy: {command[0]} cannot be executed: {why}"))


def _settings() -> Settings:
    from morph_tasks.errors import Refusal
    from morph_tasks.machine.heavy.settings import tree_settings
    from morph_tasks.repo.git import open_repo

    root: Path | None = None
    try:
        root = open_repo().root
    except Refusal as refusal:
        # Slots belong to the user: they need no repository, whatever is wrong with this one.
        if refusal.code != "not-a-repository":
            warn(f"warning: {refusal.what}: the defaults of heavy hold")
    settings, warnings = tree_settings(root)
    for line in warnings:
        warn(f"warning: {line}")
    return settings


def _label(command: tuple[str, ...]) -> str:
    """Return the program and its first word: arguments may hold what others should not read."""
    words = [os.path.basename(command[0]), *(word for word in command[1:2] if not word.startswith("-"))]
    return " ".join(words)[:60]
