"""Whether two places hold variants of one thing: then neither is a copy of the other."""

from __future__ import annotations

import re

from morph_tasks.verify.validators.repeats.sources import Made

_VERSION = re.compile(r"(?i)/v\d+(?=[/.])")
# Code that runs in different places is not shared, though it often bears the same names.
_SIDES = (frozenset({"server", "backend", "api"}), frozenset({"client", "frontend", "web", "ui", "app", "mobile"}))
_VARIANT = re.compile(
    r"(?i)(?<![a-z])(?:linux|windows|win32|win|darwin|macos|unix|posix|bsd|android|ios|native|web|browser|node|server|client|"
    r"amd64|arm64|x86|wasm|sync|async|legacy|v\d+(?:_\d+|(?:alpha|beta)\d+)?)(?![a-z])"
)


def apart(one: Made, other: Made) -> bool:
    """Tell whether two places hold variants of one thing: for another system, side or version, or a build."""
    mine, its = one.path, other.path
    if mine == its:
        return False
    if one.family == "go" and mine.rpartition("/")[0] == its.rpartition("/")[0]:
        return True
    if mine.rpartition(".")[0] == its.rpartition(".")[0] or _VERSION.sub("", mine) == _VERSION.sub("", its):
        return True
    return _VARIANT.sub("*", mine) == _VARIANT.sub("*", its) or _on_other_sides(mine, its)


def _on_other_sides(mine: str, its: str) -> bool:
    for here, there in (_SIDES, _SIDES[::-1]):
        if not here.isdisjoint(mine.split("/")[:-1]) and not there.isdisjoint(its.split("/")[:-1]):
            return here.isdisjoint(its.split("/")[:-1]) and there.isdisjoint(mine.split("/")[:-1])
    return False
