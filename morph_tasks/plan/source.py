"""The text of a plan as lines and places in them."""

from __future__ import annotations

import re
from dataclasses import dataclass

# CommonMark's line ends and no others: `str.splitlines` also breaks at U+2028 and form feeds.
_LINE_END = re.compile(r"\r\n|\r|\n")
_FRONT_LINE = re.compile(r"[\w\"'][^\s:]*[ \t]*:(\s|$)|[ \t]+\S|-[ \t]|#|[\]}]|$")


@dataclass(frozen=True, order=True)
class Place:
    """A place in the file: line and column from 1, columns in characters, a BOM not counted."""

    line: int
    column: int


@dataclass(frozen=True)
class Finding:
    """Something wrong at a place; `code` is stable."""

    code: str
    place: Place
    message: str

    def as_json(self) -> dict[str, object]:
        return {"code": self.code, "line": self.place.line, "column": self.place.column, "message": self.message}


def split_lines(text: str) -> list[str]:
    """Return the lines without their ends; a byte order mark is dropped."""
    return _LINE_END.split(text.removeprefix("\ufeff"))


def front_matter(lines: list[str]) -> int:
    """Return how many lines at the top are front matter (`---`, YAML, `---` or `...`); 0 when there is none."""
    if lines[0].rstrip() != "---":
        return 0
    keys = 0
    for number, line in enumerate(lines[1:], 2):
        if line.rstrip() in ("---", "..."):
            # `---`, a heading, `---` is a rule and a heading, not a comment in YAML.
            return number if keys or number == 2 else 0
        if not _FRONT_LINE.match(line):
            return 0
        keys += bool(line.strip()) and not line.startswith("#")
    return 0
