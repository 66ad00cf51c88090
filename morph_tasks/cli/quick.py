"""`list` and `--help` without the machinery of commands, which costs more than the answer itself."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from morph_tasks.cli.printing import write_line
from morph_tasks.errors import Refusal

HELP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "help.txt")
_FLAGS = {"--all", "--json", "--no-branch"}


def quick(argv: Sequence[str]) -> int | None:
    """Answer `list` and `--help` in their plain forms; None for everything else, refusals included."""
    if list(argv) in (["--help"], ["-h"]):
        # Generated from the table of commands; a test compares.
        with open(HELP, encoding="utf-8") as file:
            text = file.read().rstrip("\n")
    elif argv[:1] == ["list"] and set(argv[1:]) <= _FLAGS:
        from morph_tasks.features.listing import listing

        try:
            text = listing(archived="--all" in argv, as_json="--json" in argv, branches="--no-branch" not in argv)
        except Refusal:
            return None
    else:
        return None
    write_line(sys.stdout, text)
    return 0
