"""The rules of `.graphifyignore` by content: which ones hold for a tree, and what a borrowed copy looks like."""

from __future__ import annotations

import os

from morph_tasks.repo.private import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

NAME = ".graphifyignore"
MARK = "# morph-spec: the rules of the main tree, lent to this work tree for one run of graphify; not to be committed"
_MARKED = MARK.encode()


def rules_in(data: bytes) -> list[bytes]:
    """Return the rules of a file: without comments, blank lines, a byte order mark, line ends and trailing blanks."""
    lines = data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    return [rule for rule in map(_trimmed, lines) if rule and not rule.startswith(b"#")]


def rules_digest(root: str, common_dir: str) -> str | None:
    """Return 64 hex digits for the rules that hold in a tree; None when they cannot be read.

    A tree without a file of its own goes by the one of the main tree; no file at all is the same as no rules.
    """
    for place in (root, main_root(common_dir)):
        if place is None:
            break
        try:
            data = _read(os.path.join(place, NAME))
        except FileNotFoundError:
            continue
        except OSError:
            return None
        if place == root and is_lent(data) and main_root(common_dir) != root:
            continue
        return digest(b"\n".join(rules_in(data)))
    return digest(b"")


def main_root(common_dir: str) -> str | None:
    """Return the main work tree; None when the repository has none."""
    if os.path.basename(common_dir) == ".git":
        return os.path.dirname(common_dir)
    from pathlib import Path

    from morph_tasks.repo.git import Repo
    from morph_tasks.repo.trees import primary_root

    found = primary_root(Repo(Path(common_dir), Path(common_dir) / "?", Path(common_dir), light=True))
    return None if str(found) == common_dir else str(found)


def lend(data: bytes) -> bytes:
    """Return rules as a run in a work tree borrows them: marked, with a digest, since what somebody edits is his."""
    return b"%s (%s)\n%s" % (_MARKED, digest(data)[:16].encode(), data)


def is_lent(data: bytes) -> bool:
    """Tell whether a file is the copy that a run in a work tree borrowed, as it was borrowed."""
    return data.startswith(_MARKED) and data == lend(data.partition(b"\n")[2])


def leftover(root: Path) -> bool:
    """Tell whether a work tree still has the copy that a killed run borrowed; it is nobody's work."""
    try:
        return is_lent(_read(root / NAME))
    except OSError:
        return False


def drop_leftover(root: Path) -> None:
    """Remove the copy that a killed run left in a work tree, if it is one."""
    if leftover(root):
        os.unlink(root / NAME)


def _read(path: str | Path) -> bytes:
    """Read a file, and nothing else: a pipe would be waited for. Raises OSError."""
    import stat

    if not stat.S_ISREG(os.stat(path).st_mode):
        raise IsADirectoryError(os.fspath(path))
    with open(path, "rb") as file:
        return file.read()


def _trimmed(line: bytes) -> bytes:
    """Return a line without the blanks around it, of which a backslash at the end keeps one."""
    line = line.lstrip()
    bare = line.rstrip()
    return bare + b" " if bare.endswith(b"\\") and bare != line else bare
