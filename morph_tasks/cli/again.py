"""What was typed, so that a refusal can name the very command to type elsewhere."""

from __future__ import annotations

import shlex

import click


def typed() -> str:
    """Return the running command with its arguments, without the name of the program."""
    ctx = click.get_current_context()
    words = [ctx.info_name or ""]
    for param in ctx.command.params:
        if param.name is None or ctx.get_parameter_source(param.name) is not click.core.ParameterSource.COMMANDLINE:
            continue
        value = ctx.params.get(param.name)
        if isinstance(param, click.Option):
            names = param.secondary_opts if param.is_flag and value is False else param.opts
            words.append(max(names, key=len))
            if param.is_flag:
                continue
        words.append(str(value).lower() if isinstance(value, bool) else str(value))
    return shlex.join(words)
