"""Where a JavaScript runner stands in a command, `yarn jest` and `pnpm vitest run` included."""

from __future__ import annotations

import json
from pathlib import Path

from morph_tasks.verify.narrowing.line import Line
from morph_tasks.verify.narrowing.program import base_name, find


def find_js(folder: Path, line: Line, program: str) -> int | str:
    """Return the place of the runner's name, or why it cannot be told. A script of the same name would go first."""
    at = line.first
    texts = [word.text for word in line.words[at : at + 2]]
    if len(texts) == 2 and base_name(texts[0]) in ("yarn", "pnpm") and texts[1] == program:
        if program in _scripts(folder):
            return f"`{' '.join(texts)}` runs the package's script of that name"
        return at + 1
    return find(line, (program,))


def _scripts(folder: Path) -> dict[str, object]:
    try:
        data = json.loads((folder / "package.json").read_text("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return {}
    found = data.get("scripts") if isinstance(data, dict) else None
    return found if isinstance(found, dict) else {}
