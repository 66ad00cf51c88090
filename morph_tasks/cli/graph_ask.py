"""`morph-spec graph affected|explain`: the questions that are asked of the code graph."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from morph_tasks.cli.common import Command, json_option, say, warn
from morph_tasks.cli.graph import path_option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from morph_tasks.codegraph.index import Index
    from morph_tasks.codegraph.picture import Drawable
    from morph_tasks.repo.git import Repo

Found = TypeVar("Found")
HEAD = "\0"  # --diff alone; an argument never holds it, and an empty one is a variable that was not set

_AFFECTED = """\
Show what depends on a symbol, by distance, each with the file and line of the place that says so.

A symbol is a name (Cart), a name with its owner, namespace or module (Cart.total), a file (src/cart.ts), a name in a
file (src/cart.ts:Cart), or an id of the graph. A type stands for its members as well, and a method for what it
overrides. With --diff the symbols are those that the work tree changes against HEAD, or against a commit, or that a
range A..B changes. An empty answer says what was looked at, and which lines of text name the symbol all the same.
"""

_EXPLAIN = """\
Show what is around a symbol: what uses it and what it uses, each with the file and line of the place that says so,
how the edge came to be known, and whether the other end is test code.
"""

_SYMBOL_HELP = "Exit codes: 0 also when nothing depends on it, 1 no graph, no such symbol, or several."


def _drawing_options(command: Command) -> Command:
    for option in (
        click.option("--force", is_flag=True, help="With --html: replace the file whatever it is."),
        click.option(
            "--html",
            "target",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Draw it as one page as well; replaces nothing but a page of its own.",
        ),
        click.option("--mermaid", is_flag=True, help="Print a Mermaid flowchart in place of the lines."),
    ):
        command = option(command)
    return command


@click.command(
    "affected",
    help=_AFFECTED,
    epilog=f"{_SYMBOL_HELP} 2 usage. Example: morph-spec graph affected Cart.total --prod",
    short_help="Show what depends on a symbol, or on a change.",
)
@click.argument("symbol", required=False)
@click.option(
    "--diff",
    "base",
    is_flag=False,
    flag_value=HEAD,
    default=None,
    metavar="[BASE]",
    help="Ask for what the work tree changes against HEAD, or against BASE: a commit, a range A..B, or main... for "
    "all since HEAD left main.",
)
@click.option("--prod", is_flag=True, help="Leave test code out of the answer.")
@click.option("--uses-only", is_flag=True, help="Do not follow inherits, implements and extends.")
@click.option("--mentions", is_flag=True, help="List every line of text with the name that the graph does not explain.")
@click.option("--depth", type=click.IntRange(1, 99), default=2, show_default=True, metavar="N", help="How far to look.")
@click.option("--raw", is_flag=True, help="Tell what graphify itself answers, with nothing put right.")
@_drawing_options
@path_option
@json_option
def affected(
    symbol: str | None,
    base: str | None,
    prod: bool,
    uses_only: bool,
    mentions: bool,
    depth: int,
    raw: bool,
    mermaid: bool,
    target: Path | None,
    force: bool,
    path: Path | None,
    as_json: bool,
) -> int:
    from morph_tasks.codegraph.answer import Asked
    from morph_tasks.codegraph.asking import Tree, about_change, about_symbol

    _check(symbol, base, raw=raw, others=prod or uses_only or mentions or mermaid or target is not None)
    _check_page(target, force=force)
    with _ways_out(as_json), _open(path, symbol, target, force=force) as (repo, index):
        if raw:
            from morph_tasks.codegraph.raw_answer import raw_answer

            payload, told = raw_answer(index, repo.root, symbol or "", depth)
            say(payload, "\n".join(told), as_json)
            return 0
        asked = Asked(depth, prod, uses_only, mentions)
        if symbol is None:
            found = about_change(repo, index, None if base == HEAD else base, asked)
        else:
            found = _named(repo, index, symbol, lambda: about_symbol(Tree.of(repo), index, symbol, asked))
        return _tell(found, index, mermaid=mermaid, target=target, force=force, as_json=as_json)


@click.command(
    "explain",
    help=_EXPLAIN,
    epilog=f"{_SYMBOL_HELP} 2 usage. Example: morph-spec graph explain FakeMailer",
    short_help="Show what uses a symbol, and what it uses.",
)
@click.argument("symbol")
@_drawing_options
@path_option
@json_option
def explain(symbol: str, mermaid: bool, target: Path | None, force: bool, path: Path | None, as_json: bool) -> int:
    from morph_tasks.codegraph.asking import Tree
    from morph_tasks.codegraph.explain import explain as look

    _check_symbol(symbol)
    _check_page(target, force=force)
    with _ways_out(as_json), _open(path, symbol, target, force=force) as (repo, index):
        found = _named(repo, index, symbol, lambda: look(Tree.of(repo), index, symbol))
        return _tell(found, index, mermaid=mermaid, target=target, force=force, as_json=as_json)


def _check(symbol: str | None, base: str | None, *, raw: bool, others: bool) -> None:
    if symbol is not None and base is not None:
        raise click.UsageError("name a symbol or ask with --diff, not both")
    if symbol is None and base is None:
        raise click.UsageError("name a symbol, or ask with --diff for what a change touches")
    if base is not None and not base.strip():
        raise click.UsageError("the commit after --diff is empty: name one, or write --diff alone for HEAD")
    if raw and (others or symbol is None):
        raise click.UsageError("--raw is what graphify answers: it takes a symbol, --depth and --json")
    if symbol is not None:
        _check_symbol(symbol)


def _check_symbol(symbol: str) -> None:
    if not symbol.strip():
        raise click.UsageError("name a symbol: this one is empty")


def _check_page(target: Path | None, *, force: bool) -> None:
    if force and target is None:
        raise click.UsageError("--force belongs to --html")


@contextmanager
def _ways_out(as_json: bool) -> Iterator[None]:
    """Let a refusal out with commands that run where the question was asked, and tell people what was near."""
    from morph_tasks.errors import Refusal

    try:
        yield
    except Refusal as refusal:
        from morph_tasks.cli.graph_ways import runnable, told

        runnable(refusal)
        for line in told(refusal) if not as_json else ():
            warn(line)
        raise


@contextmanager
def _open(path: Path | None, symbol: str | None, target: Path | None, *, force: bool) -> Iterator[tuple[Repo, Index]]:
    """Open the graph of a tree; where there is none that can be read, the refusal names the search to use instead."""
    from morph_tasks.codegraph.index import open_index
    from morph_tasks.errors import Refusal
    from morph_tasks.repo.git import open_repo

    if target is not None:
        from morph_tasks.codegraph.page import check_target

        check_target(target, force=force)
    repo = open_repo(path)
    try:
        index = open_index(repo.root)
    except Refusal as refusal:
        if refusal.code in ("no-graph", "corrupt-graph", "unreadable-file") and symbol is not None:
            from morph_tasks.codegraph.ask_refusals import without_graph

            raise without_graph(refusal, symbol) from None
        raise
    with index:
        yield repo, index


def _named(repo: Repo, index: Index, symbol: str, look: Callable[[], Found]) -> Found:
    """Ask; where nothing has that name, find what else in the tree it may mean."""
    from morph_tasks.errors import Refusal

    try:
        return look()
    except Refusal as refusal:
        if refusal.code != "not-found":
            raise
    from morph_tasks.codegraph.ask_refusals import not_found

    raise not_found(index, symbol, repo)


def _tell(found: Drawable, index: Index, *, mermaid: bool, target: Path | None, force: bool, as_json: bool) -> int:
    from morph_tasks.cli.graph_ways import of_tree

    for line in index.warnings:
        warn(f"warning: {line}")
    found.freshness.way_out = of_tree(found.freshness.way_out)
    payload, told = found.as_json(), found.lines()
    if mermaid:
        from morph_tasks.codegraph.mermaid import flowchart

        payload["mermaid"] = drawn = flowchart(found.picture())
        told = [drawn.rstrip("\n")]
    if target is not None:
        from morph_tasks.codegraph.page import write_page

        write_page(target, found, force=force)
        payload["html"] = str(target)
        if not mermaid:
            told += ["", f"wrote {target}"]
    say(payload, "\n".join(told), as_json)
    return 0
