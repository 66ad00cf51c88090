"""`graph affected <symbol>` in its plain forms, without the machinery of commands, which costs more than the answer."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_FLAGS = {"--prod", "--uses-only", "--mentions", "--json"}


def answer(argv: Sequence[str]) -> int | None:
    """Answer and return the exit code; None for everything else, refusals included."""
    words = list(argv[2:])
    depth = "2"
    if "--depth" in words[:-1]:
        at = words.index("--depth")
        depth = words.pop(at + 1)
        words.pop(at)
    symbols = [word for word in words if word not in _FLAGS]
    if list(argv[:2]) != ["graph", "affected"] or len(symbols) != 1 or not symbols[0] or symbols[0].startswith("-"):
        return None
    if not (depth.isascii() and depth.isdigit() and 1 <= int(depth) <= 99):
        return None
    return _told(symbols[0], int(depth), words)


def _told(symbol: str, depth: int, words: Sequence[str]) -> int | None:
    import gc
    import sys

    from morph_tasks.cli.printing import write_line
    from morph_tasks.codegraph.answer import Asked
    from morph_tasks.codegraph.asking import Tree, about_symbol
    from morph_tasks.codegraph.index import open_index
    from morph_tasks.errors import Refusal

    places = _places()
    if places is None:
        return None
    gc.disable()  # thousands of small records that live until the end, which is near
    try:
        with open_index(places[0]) as index:
            asked = Asked(depth, "--prod" in words, "--uses-only" in words, "--mentions" in words)
            found = about_symbol(Tree(*places), index, symbol, asked)
            warnings = index.warnings
    except Refusal:
        return None
    if "--json" in words:
        import json

        text = json.dumps(found.as_json(), indent=2, ensure_ascii=False)
    else:
        text = "\n".join(found.lines())
    for line in warnings:
        write_line(sys.stderr, f"warning: {line}")
    write_line(sys.stdout, text)
    return 0


def _places() -> tuple[str, str, str] | None:
    """Return root, git folder and common folder of the tree around us in a plain layout; None: git has to say."""
    from morph_tasks.repo.plumbing import common_dir
    from morph_tasks.verify.witness import _place

    place = _place()
    if place is None:
        return None
    root, git_dir = place
    try:
        common = common_dir(git_dir)
        owners = {os.stat(path).st_uid for path in (root, git_dir, common)}
        with open(f"{common}/config", "rb") as file:
            config = file.read().lower()
    except OSError:
        return None
    moved = any(word in config for word in (b"worktree", b"bare = true", b"[include"))
    plain = os.path.exists(f"{git_dir}/HEAD") and os.path.isdir(f"{common}/objects")
    return (root, git_dir, common) if plain and not moved and owners == {os.geteuid()} else None
