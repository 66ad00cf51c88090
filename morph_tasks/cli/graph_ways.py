"""Ways out of a refused question, as commands that run where the question was asked."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from morph_tasks.errors import Refusal


def again(symbol: str | None, *more: str, without: tuple[str, ...] = ()) -> str:
    """Return the command that is running with another symbol, with all the options that it was given."""
    context = click.get_current_context()
    options: list[str] = []
    for option in context.command.params:
        name = option.name or ""
        given = context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        if not isinstance(option, click.Option) or not given or name in without:
            continue
        value = context.params[name]
        options += [option.opts[0]] if option.is_flag or value == option.flag_value else [option.opts[0], str(value)]
    words = [] if symbol is None else ["--", symbol] if symbol.startswith("-") else [symbol]
    head = ["morph-spec", "graph", str(context.info_name)]
    ends = [*options, *more, *words] if words[:1] == ["--"] else [*words, *options, *more]
    return shlex.join([*head, *ends])


def runnable(refusal: Refusal) -> Refusal:
    """Return a refusal whose way out, and whose search, mean the tree that was asked about."""
    if refusal.code == "ambiguous":
        refusal.fix = again(refusal.payload["options"][0]["query"])
    elif refusal.code == "not-found" and refusal.payload.get("meant"):
        refusal.fix = again(refusal.payload["meant"])
    elif refusal.code == "not-found" and refusal.payload.get("raw"):
        refusal.fix = again(refusal.payload["symbol"], without=("raw",))
    elif refusal.code == "not-a-graph-page" and "--force" in refusal.fix:
        refusal.fix = again(click.get_current_context().params.get("symbol"), "--force")
    else:
        refusal.fix = of_tree(refusal.fix)
    if search := refusal.payload.get("grep"):
        refusal.payload["grep"] = shlex.split(of_tree(shlex.join(search)))
    return refusal


def told(refusal: Refusal) -> list[str]:
    """Return what people read before a refusal: what the text can mean, and the search to use instead."""
    from morph_tasks.codegraph.ask_refusals import option_lines

    lines: list[str] = []
    if refusal.code == "ambiguous":
        lines = option_lines(refusal.payload["options"], refusal.payload["total"])
    elif near := refusal.payload.get("near"):
        lines = ["near to it:", *option_lines(near, len(near))]
    search = shlex.join(refusal.payload.get("grep") or [])
    return [*lines, *([f"to search the text: {search}"] if search and search != refusal.fix else [])]


def of_tree(fix: str) -> str:
    """Return a command that means the tree of `-p`, where that was given."""
    path = click.get_current_context().params.get("path")
    if path is None:
        return fix
    if fix.startswith("git "):
        return f"git -C {shlex.quote(str(path))} {fix.removeprefix('git ')}"
    return f"{fix} -p {shlex.quote(str(path))}" if fix.startswith("morph-spec ") else fix
