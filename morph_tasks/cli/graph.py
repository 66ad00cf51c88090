"""`morph-spec graph build|refresh|status`; the questions to the graph are in `graph_ask`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from morph_tasks.cli.common import EPILOG_CODES, Command, json_option, say, warn

if TYPE_CHECKING:
    from morph_tasks.codegraph.running import Ran
    from morph_tasks.repo.git import Repo

_WHAT = """\
The code graph: who uses what, as graphify extracts it and made trustworthy. It lies in graphify-out/ of each tree, is
never committed, and everything works without it.
"""
_ASKS = ("affected", "explain")


class _Group(click.Group):
    """A group that imports the questions only when one is asked."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*self.commands, *_ASKS})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _ASKS:
            return self.commands.get(cmd_name)
        from importlib import import_module

        found: click.Command = getattr(import_module("morph_tasks.cli.graph_ask"), cmd_name)
        return found


@click.group("graph", cls=_Group, help=_WHAT, epilog=EPILOG_CODES, short_help="Make the code graph, and ask it.")
def graph() -> None:
    """Hold the commands on the code graph."""


def path_option(command: Command) -> Command:
    """Give a command `-p`: the tree that it is about, passed on as `path`."""
    return click.option(
        "-p",
        "--path",
        type=click.Path(path_type=Path),
        help="A folder of the work tree that is meant.  [default: the current folder]",
    )(command)


@graph.command(
    "build",
    help="Extract the code graph of this tree anew. Where there is no .graphifyignore, one that fits the project is "
    "written first, and one that nobody edited is renewed. A project without code is no error; while another run is "
    "under way nothing is done and that is said. A run that fails leaves the graph that was there.",
    epilog=f"{EPILOG_CODES} Example: morph-spec graph build",
    short_help="Extract the graph of this tree.",
)
@path_option
@json_option
def build(path: Path | None, as_json: bool) -> int:
    return _run(path, "build", as_json)


@graph.command(
    "refresh",
    help="Bring the code graph of this tree up to date with HEAD and the ignore rules. In a work tree this is the only "
    "way its graph moves; the one of the main tree is also refreshed in the background.",
    epilog=f"{EPILOG_CODES} Example: morph-spec graph refresh",
    short_help="Bring the graph up to date.",
)
@path_option
@json_option
def refresh(path: Path | None, as_json: bool) -> int:
    return _run(path, "refresh", as_json)


@graph.command(
    "status",
    help="Say whether there is a code graph, how big it is, whether it is that of HEAD and of the ignore rules, which "
    "files differ from what was extracted, and what is going to happen. Moves no graph; that there is none, or no "
    "graphify, is a state and no error.",
    epilog=f"{EPILOG_CODES} Example: morph-spec graph status --json",
    short_help="Say whether the graph is up to date.",
)
@click.option("--compare", is_flag=True, help="Compare every file; by itself it does so up to 1500 files and folders.")
@path_option
@json_option
def status(compare: bool, path: Path | None, as_json: bool) -> int:
    from morph_tasks.codegraph.status import look, text

    repo = _repo(path)
    told = look(str(repo.root), str(repo.git_dir), str(repo.common_dir), full=compare)
    say(told, text(told), as_json)
    return 0


def _repo(path: Path | None) -> Repo:
    from morph_tasks.repo.git import open_repo

    return open_repo(path)


def _run(path: Path | None, command: str, as_json: bool) -> int:
    from contextlib import nullcontext

    from morph_tasks.codegraph.progress import Progress
    from morph_tasks.codegraph.running import run, silent

    with nullcontext() if as_json else Progress(warn) as progress:
        ran = run(_repo(path), command, stage=progress.at if progress else silent)
    for line in ran.warnings:
        warn(f"warning: {line}")
    say(ran.as_json(), told(ran), as_json)
    return 0


def told(ran: Ran) -> str:
    """Return what a run came to, in a line for people."""
    from morph_tasks.codegraph.layout import GRAPH

    if ran.holder is not None:
        who = f" (process {ran.holder['pid']}, since {ran.holder.get('since')})" if ran.holder.get("pid") else ""
        return f"another run of graphify is under way{who}: nothing was done"
    if ran.empty:
        return f"no graph: the project holds no code ({ran.duration_ms / 1000:.1f} s)"
    counts = ran.counts or {}
    size = f"{counts['nodes']} nodes, {counts['links']} links" if counts else "its size is not known"
    at = f" at {ran.head[:10]}" if ran.head else ""
    found = f", {ran.recovered['edges']} edges recovered" if ran.recovered else ""
    return f"{GRAPH}{at}: {size}{found} ({ran.duration_ms / 1000:.1f} s)"
