"""`graph status` without the machinery of commands, which costs more than the answer itself."""

from __future__ import annotations

import sys


def answer(argv: list[str]) -> int | None:
    """Answer `graph status [--json]` in the tree around us; None for everything else, refusals included."""
    if argv[:2] != ["graph", "status"] or argv[2:] not in ([], ["--json"]):
        return None
    from morph_tasks.verify.witness import _place

    place = _place()
    if place is None:
        return None
    from morph_tasks.codegraph.status import look, text
    from morph_tasks.repo.plumbing import common_dir

    root, git_dir = place
    told = look(root, git_dir, common_dir(git_dir))
    if argv[2:]:
        import json

        said = json.dumps(told, indent=2, ensure_ascii=False)
    else:
        said = text(told)
    try:
        sys.stdout.write(said + "\n")
        sys.stdout.flush()
    except (UnicodeEncodeError, BrokenPipeError):
        return None
    return 0
