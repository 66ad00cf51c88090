"""Files of code that a sparse checkout leaves out: graphify does not see them, and nothing else is amiss.

Imports are few: each question asks it, and without such files it costs the first bytes of the index of git.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_SHOWN = 3
_WITH_FLAGS, _PACKED = 3, 4  # versions of the index; an entry that is marked skip-worktree makes it one of these


def left_out(root: str, git_dir: str, common_dir: str) -> list[str]:
    """Return the files of code that git has and does not check out, sorted; raises Refusal where git is not well."""
    if not _may_be(git_dir):
        return []
    from morph_tasks.codegraph.extracted import CODE, ignored, is_code
    from morph_tasks.repo.plumbing import Plumbing

    listed = Plumbing(root, git_dir).output("ls-files", "-t", "-z").split(b"\0")
    paths = [os.fsdecode(row[2:]) for row in listed if row.startswith(b"S ")]
    absent = [path for path in paths if is_code(path, CODE) and not os.path.lexists(f"{root}/{path}")]
    if not absent:
        return []
    return sorted({*absent} - ignored(root, git_dir, common_dir, absent))


def words(paths: Sequence[str]) -> list[str]:
    """Return a line that names the first of them, fit for a terminal; none when there are none."""
    if not paths:
        return []
    named = ", ".join(path if path.isprintable() else ascii(path) for path in paths[:_SHOWN])
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    many = "1 file of code is" if len(paths) == 1 else f"{len(paths)} files of code are"
    return [f"{many} not checked out (sparse checkout), so uses in there may be missing: {named}{more}"]


def _may_be(git_dir: str) -> bool:
    """Tell by its version whether the index may hold such entries; a packed one may also be without."""
    try:
        with open(f"{git_dir}/index", "rb") as file:
            version = int.from_bytes(file.read(8)[4:], "big")
    except OSError:
        return False
    return version == _WITH_FLAGS or (version >= _PACKED and os.path.exists(f"{git_dir}/info/sparse-checkout"))
