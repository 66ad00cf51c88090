"""Write the tables of docs/index.md that come from the models; `--check` only says whether they are current."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from morph_tasks.model.config import Config

PAGE = Path(__file__).resolve().parents[1] / "docs/index.md"
BEGIN, END = "<!-- configuration: begin -->", "<!-- configuration: end -->"


def configuration() -> str:
    """Return one table a part of `.morph/config/config.json`: key, type, default, meaning."""
    schema = Config.model_json_schema(by_alias=True)
    parts = [
        ("The file", schema),
        ("`project`", schema["$defs"]["Project"]),
        ("An entry of `project.build[]`", schema["$defs"]["BuildNode"]),
        ("An entry of `project.tests[]`", schema["$defs"]["TestNode"]),
    ]
    return "\n\n".join(f"### {title}\n\n{_table(part)}" for title, part in parts)


def _table(part: dict[str, Any]) -> str:
    required = set(part.get("required", []))
    lines = ["| key | type | default | meaning |", "| --- | --- | --- | --- |"]
    for key, value in part["properties"].items():
        default = "required" if key in required else _default(value.get("default"))
        meaning = value.get("description", "").replace("|", "\\|")
        lines.append(f"| `{key}` | {_type(value)} | {default} | {meaning} |")
    return "\n".join(lines)


def _default(value: Any) -> str:
    return (
        ""
        if value is None or isinstance(value, list | dict)
        else f"`{value!r}`".replace("False", "false").replace("'", '"')
    )


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


def main(arguments: list[str]) -> int:
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    wanted = f"{before}{BEGIN}\n\n{configuration()}\n\n{END}{after}"
    if arguments == ["--check"]:
        return 0 if text == wanted else 1
    PAGE.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
