"""Whether two commits hold the same code: a commit of `.morph/` alone, or an empty one, moves nothing in a graph."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME = "graph-same-code.json"


def same_code(root: str, git_dir: str, old: str, new: str) -> bool:
    """Tell whether two commits differ in nothing outside of `.morph/`; git is asked once, its answer is kept.

    False as well where git does not answer, such as for a commit that is gone.
    """
    import json

    from morph_tasks.repo import private

    place = f"{git_dir}/morph-spec/{NAME}"
    try:
        kept: Any = json.loads(private.read(place))
    except (ValueError, RecursionError):
        kept = None
    if isinstance(kept, dict) and (kept.get("old"), kept.get("new")) == (old, new) and "same" in kept:
        return kept["same"] is True
    same = _ask(root, git_dir, old, new)
    if same is not None:
        keep(place, {"old": old, "new": new, "same": same})
    return same is True


def keep(place: str, answer: dict[str, Any]) -> None:
    """Keep what git said for the next question, where that can be written."""
    import json

    from morph_tasks.repo import private

    try:
        private.write(place, json.dumps(answer).encode())
    except OSError:
        return  # git is asked again


def _ask(root: str, git_dir: str, old: str, new: str) -> bool | None:
    from morph_tasks.errors import Refusal
    from morph_tasks.repo.plumbing import Plumbing
    from morph_tasks.repo.spawn import ChildError

    asked = (
        "diff-tree",
        "-r",
        "--quiet",
        "--no-ext-diff",
        "--end-of-options",
        old,
        new,
        "--",
        ":/",
        ":(top,exclude).morph",
    )
    try:
        b"".join(Plumbing(root, git_dir).stream(*asked))
    except ChildError as error:
        return False if error.code == 1 else None
    except Refusal:
        return None
    return True
