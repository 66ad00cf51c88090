"""Write the parts of the documentation that come from the code; `--check` only says whether they are current."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from morph_tasks.cli.main import COMMANDS, cli
from morph_tasks.cli.quick import HELP
from morph_tasks.model.config import Config
from morph_tasks.verify.reasons import REASONS

DOCS = Path(__file__).resolve().parents[1] / "docs"


def configuration() -> str:
    """Return one table a part of `.morph/config/config.json`: key, type, default, meaning."""
    schema = Config.model_json_schema(by_alias=True)
    parts = [
        ("The file", schema),
        ("`project`", schema["$defs"]["Project"]),
        ("An entry of `project.build[]`", schema["$defs"]["BuildNode"]),
        ("An entry of `project.tests[]`", schema["$defs"]["TestNode"]),
        ("The block `evals` of a test node", schema["$defs"]["EvalSettings"]),
        ("`e2e`", schema["$defs"]["E2e"]),
        ("`worktree`", schema["$defs"]["Worktree"]),
    ]
    return "\n\n".join(f"### {title}\n\n{_table(part)}" for title, part in parts)


def reasons() -> str:
    """Return the table of reason codes."""
    return "\n".join(
        ["| reason | means |", "| --- | --- |", *(f"| `{code}` | {text} |" for code, text in REASONS.items())]
    )


def commands() -> str:
    """Return a section for every command: what it does, how it is called, its options."""
    context = click.Context(cli, info_name="morph-spec", **cli.context_settings)
    return "\n\n".join(_command(name, context) for name in COMMANDS)


def _command(name: str, context: click.Context) -> str:
    module, _, attribute = COMMANDS[name][0].partition(":")
    command = getattr(import_module(module), attribute)
    if isinstance(command, click.Group):
        inner = click.Context(command, info_name=name, parent=context)
        # In the order in which they are written down; those that are loaded late come last.
        names = dict.fromkeys([*command.commands, *command.list_commands(inner)])
        found = {sub: command.get_command(inner, sub) for sub in names}
        return "\n\n".join(_section(each, inner, sub) for sub, each in found.items() if each)
    return _section(command, context, name)


def _section(command: click.Command, parent: click.Context, name: str) -> str:
    context = click.Context(command, info_name=name, parent=parent)
    usage = " ".join(command.collect_usage_pieces(context))
    lines = [f"## {context.command_path}", "", _prose(command.help or ""), "", f"`{context.command_path} {usage}`", ""]
    records = [option.get_help_record(context) for option in command.params if isinstance(option, click.Option)]
    rows = [record for record in records if record]
    if rows:
        lines += ["| option | meaning |", "| --- | --- |"]
        lines += [f"| `{_cell(names)}` | {_cell(text)} |" for names, text in rows]
    return "\n".join([*lines, "", _prose(command.epilog or "")]).rstrip()


def _prose(text: str) -> str:
    """Return help text as Markdown; a paragraph that keeps its line breaks becomes a code block."""
    parts = []
    for part in text.replace("\r", "").split("\n\n"):
        if part.startswith("\b"):
            parts.append("```text\n" + part.removeprefix("\b").strip("\n") + "\n```")
        elif part.strip():
            parts.append(" ".join(part.split()))
    return "\n\n".join(parts)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _table(part: dict[str, Any]) -> str:
    required = set(part.get("required", []))
    lines = ["| key | type | default | meaning |", "| --- | --- | --- | --- |"]
    for key, value in part["properties"].items():
        default = "required" if key in required else _default(value.get("default"))
        lines.append(f"| `{key}` | {_type(value)} | {default} | {_cell(value.get('description', ''))} |")
    return "\n".join(lines)


def _default(value: Any) -> str:
    if value is None or isinstance(value, list | dict):
        return ""
    return f"`{value!r}`".replace("False", "false").replace("'", '"')


def _type(value: dict[str, Any]) -> str:
    if "anyOf" in value:
        kinds = [_type(kind) for kind in value["anyOf"] if kind.get("type") != "null"]
        return " or ".join(dict.fromkeys(kinds))
    if "enum" in value:
        return ", ".join(f"`{choice}`" for choice in value["enum"])
    if "const" in value:
        return f"`{value['const']}`"
    if "$ref" in value:
        return "object, see below"
    if value.get("type") == "array":
        return f"list of {_type(value['items'])}"
    return {"string": "text", "integer": "number", "boolean": "true/false", "object": "object"}.get(
        value.get("type", ""), "any"
    )


# page: {name of the marked part: what makes it}
PAGES = {
    "index.md": {"configuration": configuration},
    "evidence.md": {"reasons": reasons},
    "commands.md": {"commands": commands},
}


def current(page: str) -> str:
    """Return a page with its generated parts made anew."""
    text = (DOCS / page).read_text(encoding="utf-8")
    for name, make in PAGES[page].items():
        begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
        before, rest = text.split(begin)
        _, after = rest.split(end)
        text = f"{before}{begin}\n\n{make()}\n\n{end}{after}"
    return text


def short_help() -> str:
    """Return what `morph-spec --help` prints; kept as a file, so that it is there without loading the commands."""
    return cli.get_help(click.Context(cli, info_name="morph-spec", **cli.context_settings)) + "\n"


def main(arguments: list[str]) -> int:
    """Write what drifted, or with `--check` name it and return 1."""
    wanted = {DOCS / page: current(page) for page in PAGES} | {Path(HELP): short_help()}
    drifted = {path: text for path, text in wanted.items() if not path.exists() or path.read_text("utf-8") != text}
    for path, text in drifted.items():
        if "--check" in arguments:
            print(f"{path.name} is behind the code")
        else:
            path.write_text(text, encoding="utf-8")
    return 1 if drifted and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
