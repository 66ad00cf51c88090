"""suite: how the output of a test runner is read."""

from __future__ import annotations

import shutil
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from morph_tasks.cli.common import EPILOG_CODES, json_option, say, warn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from morph_tasks.verify.runners.model import Reading

_EXAMPLE = """
\b
Example:
  pytest > out.txt 2>&1; morph-spec suite read --runner pytest --exit-code $? out.txt --json
"""


@click.group("suite", help="Ask how the output of a test runner is read.", epilog=EPILOG_CODES)
def suite() -> None:
    """Hold the subcommands."""


@suite.command(
    "read",
    help="Read the output of a test runner and say its verdict: pass, fail, no-tests or unknown.\n\n"
    "FILE holds the output (stdout, or both streams); `-` or no FILE reads standard input. The verdict is data: "
    "the exit code is 0 whenever the reading worked, whatever the colour.",
    epilog=f"{EPILOG_CODES}\n{_EXAMPLE}",
)
@click.argument("file", default="-")
@click.option(
    "--runner",
    default="auto",
    show_default=True,
    help="A runner's name, or auto: from the command, then from the output.",
)
@click.option("--exit-code", type=int, help="What the command exited with; negative for a signal.")
@click.option("--stderr", "stderr", metavar="FILE", help="The other stream, when it was kept apart.")
@click.option("--command", "command", metavar="TEXT", help="The command line that was run.")
@click.option("--junit", "junit", metavar="GLOB", multiple=True, help="JUnit XML reports of this run (repeatable).")
@click.option("--timed-out", is_flag=True, help="The run was stopped by its time limit.")
@json_option
def read(
    file: str,
    runner: str,
    exit_code: int | None,
    stderr: str | None,
    command: str | None,
    junit: Sequence[str],
    timed_out: bool,
    as_json: bool,
) -> int:
    """Read one output and print its verdict."""
    from morph_tasks.verify.runners.read import join_junit, read_output, runner_name

    runner_name(runner)
    with tempfile.TemporaryDirectory(prefix="morph-suite-") as folder:
        source = _stored(Path(folder) / "out", file)
        reading = read_output(
            runner,
            source,
            _stored(Path(folder) / "err", stderr) if stderr else None,
            exit_code=exit_code,
            command=command,
            timed_out=timed_out,
        )
    if junit:
        from morph_tasks.verify.junit import find_reports, read_junit

        reading = join_junit(reading, read_junit(find_reports(junit)), exit_code)
    for warning in reading.warnings:
        warn(f"warning: {warning}")
    say(reading.as_json(), _shown(reading), as_json)
    return 0


def _stored(copy: Path, name: str) -> Path:
    """Return a file that can be read more than once: the named one, or a copy of what can only be read on."""
    path = Path(name)
    if name != "-" and (path.is_file() or path.is_dir() or not path.exists()):
        return path
    with open(copy, "wb") as file, open(path, "rb") if name != "-" else nullcontext(sys.stdin.buffer) as source:
        shutil.copyfileobj(source, file, 1 << 20)
    return copy


def _shown(reading: Reading) -> str:
    executed = "unknown" if reading.executed is None else str(reading.executed)
    return f"{reading.verdict} ({reading.runner}): {reading.message}\nexecuted: {executed}"
