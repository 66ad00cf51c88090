"""Whether a commit holds just the work that a graph was extracted with before that was committed.

What was extracted is the commit of the graph with the files beside it that `extracted` noted, by the name that git
gives their content. A later commit that differs from the first in these files alone, each with that content, is it.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME = "graph-committed-work.json"
_CONTENTS = ("100644", "100755")


def committed(root: str, git_dir: str, old: str, new: str, first: dict[str, Any]) -> frozenset[str] | None:
    """Return the files that `new` has as they were extracted and `old` has not; None when others differ as well.

    `first`: the first line of the note of the graph. git is asked once for two commits, and the answer is kept.
    """
    import json

    from morph_tasks.codegraph.same_code import keep
    from morph_tasks.repo import private

    if not first.get("beside"):
        return None
    key = {"old": old, "new": new, "begun": first["begun"]}
    place = f"{git_dir}/morph-spec/{NAME}"
    try:
        kept: Any = json.loads(private.read(place))
    except (ValueError, RecursionError):
        kept = None
    if not isinstance(kept, dict) or "files" not in kept or any(kept.get(name) != key[name] for name in key):
        try:
            kept = {**key, "files": _ask(root, git_dir, old, new)}
        except OSError:
            return None
        keep(place, kept)
    files = kept["files"]
    return frozenset(map(str, files)) if isinstance(files, list) else None


def _ask(root: str, git_dir: str, old: str, new: str) -> list[str] | None:
    """Compare two commits by what git names their files; raises OSError where that does not come to an answer."""
    from morph_tasks.codegraph import extracted
    from morph_tasks.errors import Refusal
    from morph_tasks.repo.plumbing import Plumbing
    from morph_tasks.repo.spawn import ChildError

    read = extracted.read(root)
    beside = read[0].get("beside") if read else None
    if not isinstance(beside, dict):
        raise OSError("there is no note")
    options = ("-r", "-z", "--raw", "--no-abbrev", "--no-renames", "--no-ext-diff", "--end-of-options")
    try:
        asked = Plumbing(root, git_dir).stream("diff-tree", *options, old, new, "--", ":/", ":(top,exclude).morph")
        rows = b"".join(asked).split(b"\0")
    except (ChildError, Refusal) as error:
        raise OSError("git did not answer") from error
    found = []
    for about, name in zip(rows[::2], rows[1::2], strict=False):
        _, mode, _, content, _ = about.decode().split(" ")
        path = os.fsdecode(name)
        if path not in beside or beside[path] != (content if mode in _CONTENTS else None):
            return None
        if beside[path] is None and mode.strip("0"):
            return None
        found.append(path)
    return found
