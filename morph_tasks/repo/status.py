"""What `git status --porcelain=v2 -z` says, path by path."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from morph_tasks.repo.plumbing import Entry

LINK = "160000"
_ABSENT = "000000"


class Change:
    """One path that may differ from HEAD.

    `head` is HEAD's entry and `here` the work tree's, None for no entry. While `unread`, `here` is not known
    yet: the file has to be hashed, with `mode` where git told one. `staged` is the object id in the index.
    """

    __slots__ = ("head", "here", "link", "mode", "staged", "tracked", "unmerged", "unread")

    def __init__(self, head: Entry | None = None, here: Entry | None = None, *, link: bool = False) -> None:
        self.head = head
        self.here = here
        self.link = link
        self.mode = ""
        self.staged = ""
        self.tracked = True
        self.unmerged = False
        self.unread = False

    def read_here(self, mode: str) -> None:
        """Leave the work tree's side open: the file decides."""
        self.here = None
        self.mode = mode
        self.unread = True


def read_status(
    fields: Iterable[bytes], counts: Callable[[bytes, bool], bool]
) -> tuple[str | None, dict[bytes, Change]]:
    """Return the commit (None before the first) and the changes at the paths that count."""
    head: str | None = None
    changes: dict[bytes, Change] = {}
    for field in fields:
        kind = field[:2]
        if kind == b"? ":
            path = field[2:].rstrip(b"/")
            if counts(path, False):
                _untracked(changes, path, link=field.endswith(b"/"))
        elif kind == b"1 ":
            about, path = field.split(b" ", 8)[1:8], field.split(b" ", 8)[8]
            if counts(path, True):
                changes[path] = _ordinary([word.decode() for word in about])
        elif kind == b"u ":
            *about, path = field.split(b" ", 10)
            if counts(path, True):
                changes[path] = _unmerged(about[6].decode())
        elif field.startswith(b"# branch.oid "):
            commit = field[13:].decode()
            head = None if commit == "(initial)" else commit
    return head, changes


def _untracked(changes: dict[bytes, Change], path: bytes, *, link: bool) -> None:
    change = changes.setdefault(path, Change())  # it is there already when only the index has lost it
    change.tracked = False
    change.link = link
    change.read_here("")


def _ordinary(about: list[str]) -> Change:
    codes, submodule, head_mode, index_mode, tree_mode, head_oid, index_oid = about
    change = Change(
        head=None if head_mode == _ABSENT else (head_mode, head_oid),
        here=None if index_mode == _ABSENT else (index_mode, index_oid),
    )
    change.link = submodule[0] == "S" and codes[1] != "D" and LINK in (index_mode, tree_mode)
    change.staged = "" if index_mode == _ABSENT else index_oid
    if codes[1] == "D":
        change.here = None
    elif codes[1] != ".":
        change.read_here(tree_mode)
    return change


def _unmerged(tree_mode: str) -> Change:
    # Stage 2 is not asked for HEAD's side: a conflict over a rename shows it at a path that HEAD does not have.
    change = Change(link=tree_mode == LINK)
    change.unmerged = True
    if tree_mode != _ABSENT:
        change.read_here(tree_mode)
    return change
