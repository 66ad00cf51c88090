"""`list` without the machinery of commands, which costs more than the list itself."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from morph_tasks.cli.printing import write_line
from morph_tasks.errors import Refusal

_FLAGS = {"--all", "--json"}


def quick_list(argv: Sequence[str]) -> int | None:
    """Answer `list` in its plain forms; None for everything else, refusals included: the full way words them."""
    if argv[:1] != ["list"] or not set(argv[1:]) <= _FLAGS:
        return None
    from morph_tasks.features.listing import listing

    try:
        text = listing(archived="--all" in argv, as_json="--json" in argv)
    except Refusal:
        return None
    write_line(sys.stdout, text)
    return 0
