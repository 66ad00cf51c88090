"""What `git status --porcelain=v2 -z` says, path by path."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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


def read_status(fields: Iterable[bytes]) -> tuple[str | None, dict[bytes, Change]]:
    """Return the commit (None before the first) and the changes at the paths that count."""
    head: str | None = None
    changes: dict[bytes, Change] = {}
    fields = iter(fields)
    for field in fields:
        if not field.startswith(b"# "):
            _read_changes(changes, field, fields)
        elif field.startswith(b"# branch.oid "):
            commit = field[13:].decode()
            head = None if commit == "(initial)" else commit
    return head, changes


def _read_changes(changes: dict[bytes, Change], field: bytes, fields: Iterator[bytes]) -> None:
    """Read this field and all that follow: headers come first."""
    from morph_tasks.repo.byproducts import is_content  # a clean tree can do without

    while field:
        if field.startswith(b"? "):
            path = field[2:].rstrip(b"/")
            if is_content(path, False):
                # It is there already when only the index has lost it.
                change = changes.get(path)
                if change is None:
                    change = changes[path] = Change()
                change.tracked = False
                change.link = field.endswith(b"/")
                change.read_here("")
        else:
            *about, path = field.split(b" ", 8 if field.startswith(b"1") else 10)
            if is_content(path, True):
                words = [word.decode() for word in about]
                changes[path] = _ordinary(words) if words[0] == "1" else _unmerged(words[6])
        field = next(fields, b"")


def _ordinary(about: list[str]) -> Change:
    _, codes, _, head_mode, index_mode, tree_mode, head_oid, index_oid = about
    change = Change(
        head=None if head_mode == _ABSENT else (head_mode, head_oid),
        here=None if index_mode == _ABSENT else (index_mode, index_oid),
    )
    change.link = tree_mode == LINK
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
