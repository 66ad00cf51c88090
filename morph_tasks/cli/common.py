"""What every command shares: the JSON switch, printing, the words on exit codes."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click

from morph_tasks.cli.printing import write_line

Command = TypeVar("Command", bound=Callable[..., Any])

EPILOG_CODES = "Exit codes: 0 done or green, 1 red or refused, 2 usage, 3 busy (try again), 4 unsafe."


def json_option(command: Command) -> Command:
    """Give a command `--json`, passed on as `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout and nothing else.")(
        command
    )


def wait_option(command: Command) -> Command:
    """Give a command that changes features `--wait`: how long it waits for another one."""
    return click.option(
        "--wait",
        type=click.FloatRange(min=0),
        metavar="S",
        expose_value=False,
        callback=_set_wait,
        help="Seconds to wait for another command that changes this tree.  [default: 10]",
    )(command)


def _set_wait(context: click.Context, _: click.Parameter, value: float | None) -> None:
    if value is not None:
        from morph_tasks.features.store import lock_wait

        token = lock_wait.set(value)
        context.call_on_close(lambda: lock_wait.reset(token))  # for this command, not for the rest of the process


def feature_argument(command: Command) -> Command:
    """Give a command the feature it is about; shells complete the names of this tree."""
    return click.argument("feature", shell_complete=_feature_names)(command)


def slice_argument(command: Command) -> Command:
    """Give a command a slice of the plan, such as F2, passed on as `slice_id`."""
    return click.argument("slice_id", metavar="[SLICE]", required=False)(command)


def _feature_names(_: click.Context, __: click.Parameter, incomplete: str) -> list[Any]:
    from morph_tasks.cli.completion import features

    return features(incomplete)


def say(payload: Any, text: str, as_json: bool) -> None:
    """Print the payload as the one JSON document, or the text for people."""
    out(json.dumps(payload, indent=2, ensure_ascii=False) if as_json else text)


def out(text: str) -> None:
    """Write a line to stdout, whatever it can encode; a reader that went away is no error."""
    write_line(sys.stdout, text)


def warn(text: str) -> None:
    """Write a line to stderr, where it survives `--json`."""
    write_line(sys.stderr, text)
