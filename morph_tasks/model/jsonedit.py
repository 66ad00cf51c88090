"""Change a number or add members in a JSON text, and leave every other character as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_SPACE = re.compile(r"[ \t\r\n]*")
_SCALAR = re.compile(r"[^\s,\]}]+")
_STRING = json.JSONDecoder().raw_decode


@dataclass
class _Value:
    """A value and where it stands; members of an object by key, of an array by number."""

    start: int
    end: int = 0
    members: dict[str | int, _Value] = field(default_factory=dict)


def set_number(text: str, path: list[str | int], number: int) -> str:
    """Return the text with the number at a path set; its last key is added when it is missing.

    The text must be valid JSON in which the path leads to an object; raises KeyError otherwise.
    """
    value, _ = _value(text, 0)
    for part in path[:-1]:
        value = value.members[part]
    old = value.members.get(path[-1])
    if old is not None:
        return text[: old.start] + str(number) + text[old.end :]
    entry = f"{json.dumps(path[-1])}: {number}"
    if not value.members:
        return text[: value.start + 1] + entry + text[value.end - 1 :]
    last = max(value.members.values(), key=lambda member: member.end)
    return text[: last.end] + "," + _gap(text, value) + entry + text[last.end :]


def add_members(text: str, path: list[str], members: Mapping[str, Any]) -> str:
    """Return the text with members added at the end of an object, which is made when its parent lacks it.

    In the indentation and the line ends of the text. The text must be valid JSON in which the path leads through
    objects, none of which has one of the members; raises KeyError otherwise.
    """
    value, _ = _value(text, 0)
    for depth, part in enumerate(path, 1):
        if part not in value.members:
            made: Any = dict(members)
            for inner in reversed(path[depth:]):
                made = {inner: made}
            return _added(text, value, depth - 1, {part: made})
        value = value.members[part]
    return _added(text, value, len(path), members)


def _added(text: str, value: _Value, depth: int, members: Mapping[str, Any]) -> str:
    """Add members to the object at `value`, which lies `depth` objects deep."""
    end, unit = ("\r\n" if "\r\n" in text else "\n"), _unit(text)
    if value.members:
        last = max(value.members.values(), key=lambda member: member.end)
        gap = _gap(text, value)
        start, opening, closing = last.end, "," + gap, ""
    else:
        gap = end + unit * (depth + 1)
        start, opening, closing = value.start + 1, gap, end + unit * depth
    one_line = "\n" not in gap
    shown = [f"{json.dumps(key)}: {_shown(member, gap, unit, one_line)}" for key, member in members.items()]
    rest = text[start:] if value.members else text[value.end - 1 :]
    return text[:start] + opening + ("," + gap).join(shown) + closing + rest


def _shown(member: Any, gap: str, unit: str, one_line: bool) -> str:
    text = json.dumps(member, ensure_ascii=False, indent=None if one_line else unit)
    return text if one_line else text.replace("\n", gap)


def _unit(text: str) -> str:
    """Return by how much the text indents; two spaces when it does not tell."""
    value, _ = _value(text, 0)
    gap = _gap(text, value) if value.members else ""
    return gap.rpartition("\n")[2] if "\n" in gap else "  "


def _gap(text: str, value: _Value) -> str:
    """Return the white space that stands before the members of an object."""
    space = _SPACE.match(text, value.start + 1)
    found = space.group() if space else ""
    return found if "\n" in found else " "


def _value(text: str, at: int) -> tuple[_Value, int]:
    at = _skip(text, at)
    value = _Value(at)
    if text[at] == "{":
        at = _members(text, at + 1, "}", value)
    elif text[at] == "[":
        at = _members(text, at + 1, "]", value)
    elif text[at] == '"':
        at = _STRING(text, at)[1]
    else:
        scalar = _SCALAR.match(text, at)
        at = scalar.end() if scalar else at + 1
    value.end = at
    return value, at


def _members(text: str, at: int, close: str, value: _Value) -> int:
    number = 0
    at = _skip(text, at)
    while text[at] != close:
        key: str | int = number
        if close == "}":
            key, at = _STRING(text, at)
            at = _skip(text, at) + 1
        member, at = _value(text, at)
        # Of a key that stands twice the last one counts, as for every reader of JSON.
        value.members[key] = member
        number += 1
        at = _skip(text, at)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return at + 1


def _skip(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at
