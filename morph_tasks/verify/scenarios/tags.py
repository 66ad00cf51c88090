"""Scenario ids in the names of tests: `[C3]`, `[C3, C4]`, `cart:C3`; `scenario_C3` where names are identifiers."""

from __future__ import annotations

import re

_BRACKET = re.compile(r"\[((?:[\w.-]+:)?C\d+(?:[,_ ]+(?:[\w.-]+:)?C\d+)*)\]")
_OWNED = re.compile(r"(?<![\w.:/-])([a-z0-9][\w.-]*):(C\d+)(?![\w:.-])")
_IDENTIFIER = re.compile(r"(?:(?<![A-Za-z0-9])[Ss]|(?<=[a-z0-9])S)cenario_?[Cc](\d+)(?![a-z0-9])")
_PART = re.compile(r"((?:[\w.-]+:)?)C(\d+)")
# What any of them begins with, for a quick look at a long log.
ANCHORS = (b"[C", b":C", b"cenario_c", b"cenario_C", b"cenarioC", b"cenarioc")


def tags(name: str) -> tuple[str, ...]:
    """Return the scenario ids in a name as `C3` or `<feature>:C3`, each once, in order."""
    found: list[tuple[int, str]] = []
    for group in _BRACKET.finditer(name):
        found += [(group.start() + part.start(), tag(part[1] + "C" + part[2])) for part in _PART.finditer(group[1])]
    found += [(hit.start(), tag(f"{hit[1]}:{hit[2]}")) for hit in _OWNED.finditer(name)]
    found += [(hit.start(), tag(f"C{hit[1]}")) for hit in _IDENTIFIER.finditer(name)]
    return tuple(dict.fromkeys(one for _, one in sorted(found)))


def tag(text: str) -> str:
    """Return an id in its one spelling: no zeros in front of the number."""
    feature, _, number = text.rpartition("C")
    return f"{feature}C{int(number)}" if number.isdigit() else text
