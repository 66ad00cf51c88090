"""What a work tree holds, as one number that only content decides, at less than the price of `git status`.

The number adds up mode, blob id and path of every file outside `.morph/` that git tracks or would add.
The part of HEAD is kept; one `git status` on a private index tells what differs from it. So neither a commit,
nor staging, nor the place of the tree changes it. Imports here are few on purpose: this runs before all else.
"""

from __future__ import annotations

import os

from morph_tasks.repo.index import PrivateIndex
from morph_tasks.repo.plumbing import Plumbing, common_dir
from morph_tasks.repo.spawn import ChildError
from morph_tasks.repo.status import LINK, Change, read_status
from morph_tasks.repo.sums import AttributesScope, Base, Scope, base_of, number, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from morph_tasks.errors import Refusal
    from morph_tasks.repo.plumbing import Entry

    Snapshot = tuple[str | None, Mapping[bytes, Entry | None]]

_ATTRIBUTES = b".gitattributes"


class TreeState:
    """The content of a work tree at one moment.

    `sum` and each of `groups` are 64 hex digits. `head` is the commit, None before the first. `dirty` holds the
    paths that differ from it: (mode, object id) in the work tree, or None when deleted there. The object id
    of a nested repository with changes is `<commit>+<sum>`; of a file that cannot be read, `unreadable`.
    """

    __slots__ = ("dirty", "groups", "head", "sum")

    def __init__(self, sum: str, groups: dict[str, str], head: str | None, dirty: dict[bytes, Entry | None]) -> None:
        self.sum = sum
        self.groups = groups
        self.head = head
        self.dirty = dirty

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TreeState):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"TreeState(sum={self.sum!r}, groups={self.groups!r}, head={self.head!r}, dirty={self.dirty!r})"


def tree_state(
    root: str, git_dir: str, groups: Mapping[str, Sequence[str]] | None = None, excluded: Sequence[str] = ()
) -> TreeState:
    """Fingerprint a work tree, and each named group of globs in it, without what `excluded` matches.

    Raises Refusal: `dubious-ownership`, `not-a-repository`, `corrupt-index`, `filter-failed`, `git-missing`,
    `git-timeout`, `git-failed`, `state-unwritable`, `unreadable-tree`, `bad-glob`.
    """
    plumbing = Plumbing(root, git_dir)
    try:
        return _state(plumbing, groups or {}, tuple(excluded), b"")
    except OSError as error:
        raise _unreadable(plumbing, error) from None


def changed_paths(root: str, old: Snapshot, new: Snapshot) -> list[tuple[bytes, str]] | None:
    """Return how two recorded (head, dirty) pairs differ: sorted (path, "added" | "removed" | "changed").

    None when it cannot be told, because git no longer has a commit.
    """
    from morph_tasks.repo.snapshots import differences

    return differences(Plumbing(root, f"{root}/.git"), old, new)


def _state(
    plumbing: Plumbing, groups: Mapping[str, Sequence[str]], excluded: tuple[str, ...], below: bytes
) -> TreeState:
    scopes = [Scope(below, excluded, None), *(Scope(below, excluded, globs) for globs in groups.values())]
    attributes = AttributesScope()
    with PrivateIndex(plumbing) as index:
        head, changes = _observed(plumbing, index)
        base = base_of(plumbing, head, [*scopes, attributes]) if head else Base("", {}, {})
        for path, oid in base.links.items():
            changes.setdefault(path, Change((LINK, oid), (LINK, oid), link=True))
        if excluded:
            changes = {path: change for path, change in changes.items() if _in_scope(scopes[0], path, change)}
        _name_heads(plumbing, head, changes)
        _settle_links(plumbing, changes, excluded, below)
        pending = {path: change for path, change in changes.items() if change.unread}
        if pending:
            from morph_tasks.repo.blobs import BlobReader

            about = _attributes(plumbing, base.totals.get(attributes.key(), 0), changes)
            BlobReader(plumbing, index.path, about).read(pending)
    totals, dirty = _totals(base, scopes, changes)
    shown_groups = {name: shown(total) for name, total in zip(groups, totals[1:], strict=True)}
    return TreeState(shown(totals[0]), shown_groups, head, dirty)


def _observed(plumbing: Plumbing, index: PrivateIndex) -> tuple[str | None, dict[bytes, Change]]:
    while True:
        try:
            return read_status(index.status())
        except ChildError as error:
            if index.fresh:
                raise plumbing.refusal(error) from None
            index.seed()  # the fault may lie in our copy


def _name_heads(plumbing: Plumbing, head: str | None, changes: dict[bytes, Change]) -> None:
    """Look up HEAD's side of what is in conflict: the index does not tell it."""
    unmerged = [path for path, change in changes.items() if change.unmerged]
    if not unmerged or head is None:
        return
    try:
        entries = plumbing.entries(head, unmerged)
    except ChildError as error:
        raise plumbing.refusal(error) from None
    for path in unmerged:
        changes[path].head = entries.get(path)


def _in_scope(whole: Scope, path: bytes, change: Change) -> bool:
    """Tell whether a change can matter: what is excluded is not even read."""
    links = {change.link, change.head is not None and change.head[0] == LINK}
    return any(whole.holds(path, link=link) for link in links)


def _settle_links(plumbing: Plumbing, changes: dict[bytes, Change], excluded: tuple[str, ...], below: bytes) -> None:
    """Give every nested repository its entry: its commit, and its own sum when it has changes."""
    for path in [path for path, change in changes.items() if change.link]:
        change = changes[path]
        change.unread = False
        nested = _nested(plumbing, path)
        if nested is not None:
            state = _state(nested, {}, excluded, below + path + b"/")
            clean = state.head is not None and not state.dirty
            change.here = (LINK, str(state.head) if clean else f"{state.head or 'unborn'}+{state.sum}")
        elif change.tracked:
            change.here = change.here or (LINK, change.staged)
        elif change.head is None:
            del changes[path]


def _nested(plumbing: Plumbing, path: bytes) -> Plumbing | None:
    """Return the repository in a folder; None when there is none, or when it is one more work tree of ours."""
    root = f"{plumbing.root}/{os.fsdecode(path)}"
    git_dir = f"{root}/.git"
    if os.path.isfile(git_dir):
        with open(git_dir, encoding="utf-8", errors="surrogateescape") as file:
            git_dir = os.path.normpath(os.path.join(root, file.read().removeprefix("gitdir: ").rstrip("\r\n")))
    if not os.path.isfile(f"{git_dir}/HEAD"):
        return None
    ours = os.path.realpath(plumbing.common_dir) == os.path.realpath(common_dir(git_dir))
    return None if ours else Plumbing(root, git_dir)


def _attributes(plumbing: Plumbing, committed: int, changes: dict[bytes, Change]) -> bytes:
    """Name the state of the attributes in the tree: they decide about the blobs of files. Empty without any."""
    from morph_tasks.repo.private import stat_text

    files = sorted(path for path in changes if path.endswith(_ATTRIBUTES))
    if not committed and not files:
        return b""
    return b" ".join((b"%x" % committed, *(stat_text(f"{plumbing.root}/{os.fsdecode(path)}") for path in files)))


def _totals(
    base: Base, scopes: list[Scope], changes: dict[bytes, Change]
) -> tuple[list[int], dict[bytes, Entry | None]]:
    totals = [base.totals.get(scope.key(), 0) for scope in scopes]
    dirty: dict[bytes, Entry | None] = {}
    for path, change in changes.items():
        if change.here == change.head:
            continue
        for sign, entry in ((-1, change.head), (1, change.here)):
            if entry is None:
                continue
            term = sign * number(entry[0].encode(), entry[1].encode(), path)
            for at, scope in enumerate(scopes):
                if scope.holds(path, link=entry[0] == LINK):
                    totals[at] += term
                    if at == 0:
                        dirty[path] = change.here
    return totals, dirty


def _unreadable(plumbing: Plumbing, error: OSError) -> Refusal:
    from morph_tasks.errors import Refusal

    where = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else ""
    if where.startswith(plumbing.private):
        return plumbing.unusable(error)
    return Refusal("unreadable-tree", f"{where or plumbing.root} cannot be read: {error.strerror or error}")
