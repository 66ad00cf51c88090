"""Whether the test projects of .NET are in the graph: the rules that are written here leave them out."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from morph_tasks.codegraph.index import Symbol

SUFFIXES = (".cs", ".fs", ".vb")
RULE = b"**/*.Tests/**"
TOLD = "test projects of .NET are not in the graph"


def left_out(root: str, common_dir: str, seeds: Iterable[Symbol]) -> bool:
    """Tell whether a symbol is of .NET and the ignore rules of its tree leave the test projects out."""
    if not any((one.file or "").lower().endswith(SUFFIXES) for one in seeds):
        return False
    from morph_tasks.codegraph.ignore_rules import NAME, main_root, rules_in

    for place in (root, main_root(common_dir)):
        if place is None:
            continue
        try:
            with open(os.path.join(place, NAME), "rb") as file:
                return RULE in rules_in(file.read())
        except OSError:
            continue
    return False
