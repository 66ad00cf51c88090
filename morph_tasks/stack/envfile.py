"""A file of `NAME=value` lines, as `docker compose --env-file` and dotenv libraries read it."""

from __future__ import annotations

import re

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_START = re.compile(r"\s*(?:export\s+)?([^\s=:#]+)\s*[=:]\s*")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "$": "$"}


def parse(text: str) -> tuple[dict[str, str], list[int]]:
    """Return the values, later ones winning, and the numbers of the lines that make no sense.

    Single quotes keep everything, double quotes know escapes, both may hold newlines; a bare value ends at ` #`.
    A `$` is kept as it is: values are credentials, and nothing is resolved in them.
    """
    values: dict[str, str] = {}
    odd: list[int] = []
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    at = 0
    while at < len(lines):
        number, line = at + 1, lines[at]
        at += 1
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        found = _START.match(line)
        if not found or not NAME.fullmatch(found[1]):
            odd.append(number)
            continue
        rest = line[found.end() :]
        if rest[:1] not in ("'", '"'):
            values[found[1]] = _bare(rest)
            continue
        value, used = _quoted([rest, *lines[at:]])
        if value is None:
            odd.append(number)
            continue
        values[found[1]] = value
        at += used
    return values, odd


def _bare(rest: str) -> str:
    return re.split(r"(?:^|\s)#", rest, maxsplit=1)[0].strip()


def _quoted(lines: list[str]) -> tuple[str | None, int]:
    """Return what stands between quotes and how many further lines it took; None when they are never closed."""
    text = "\n".join(lines)
    found: list[str] = []
    quote, at = text[0], 1
    while at < len(text):
        sign = text[at]
        if sign == quote:
            return "".join(found), text.count("\n", 0, at)
        if sign == "\\" and quote == '"' and at + 1 < len(text):
            at += 1
            sign = _ESCAPES.get(text[at], "\\" + text[at])
        found.append(sign)
        at += 1
    return None, 0
