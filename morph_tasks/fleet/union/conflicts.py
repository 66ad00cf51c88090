"""What a person would have to decide: features against the default branch, and pair by pair against each other.

Each feature is merged into the default branch once. What it brings is the difference between the default branch and
that merge; two that bring changes to paths that do not meet cannot conflict, and are not merged with each other.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

from morph_tasks.repo.merging import Merge, merge_trees

if TYPE_CHECKING:
    from morph_tasks.fleet.union.candidates import Candidate, Default
    from morph_tasks.fleet.union.scratch import Scratch

_ABSENT = b"000000"
# The same commits for the same features, so that a proof is known again. No person made them.
_WHO = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "morph-spec"), ("EMAIL", "morph-spec@invalid"))
}

Entry = tuple[bytes, bytes]  # mode and object id


@dataclass(frozen=True)
class Conflict:
    """Two features that change the same place, or one (`against` the default branch); `paths` need a decision."""

    features: tuple[str, ...]
    paths: tuple[str, ...]
    against: str | None = None

    def as_json(self) -> dict[str, Any]:
        return {"features": list(self.features), "against": self.against, "paths": list(self.paths)}


@dataclass(frozen=True)
class Brought:
    """What a feature changes in the default branch. `changes`: path -> its entry afterwards, None when it is gone.

    `commit`: the merge of the two, `tree` its tree.
    """

    commit: str
    tree: str
    changes: dict[bytes, Entry | None] = field(default_factory=dict, repr=False)

    @property
    def size(self) -> int:
        """Return how many paths change; what a feature says of itself does not count."""
        return sum(not path.startswith(b".morph/") for path in self.changes)

    def meets(self, other: Brought) -> bool:
        """Tell whether a merge with another one has anything to decide; False is a proof that it has not.

        Renames are looked for among paths that one side removed and added, so both ends of one are changes here. Where
        neither side removes a path there is none, and then the same entry on both sides is no question either.
        """
        mine, theirs = self.changes, other.changes
        shared = mine.keys() & theirs.keys()
        if shared:
            removes = None in mine.values() or None in theirs.values()
            if removes or any(mine[path] != theirs[path] for path in shared):
                return True
        # A file here, a folder of that name there.
        return bool(_folders(mine) & theirs.keys() or _folders(theirs) & mine.keys())


def make_commit(room: Scratch, tree: str, parents: Sequence[str], when: int) -> str:
    """Make a commit in the scratch repository; its id depends on nothing but the arguments."""
    env = {**_WHO, "GIT_AUTHOR_DATE": f"@{when} +0000", "GIT_COMMITTER_DATE": f"@{when} +0000"}
    options = [word for parent in parents for word in ("-p", parent)]
    words = ("commit-tree", "--no-gpg-sign", *options, "-m", "Union of features", tree)
    return room.tree.run(*words, env=env).text.strip()


def merge(room: Scratch, ours: str, theirs: str) -> Merge:
    """Merge two commits, the paths of conflicts as they are in the trees; raises what `merge_trees` raises."""
    found = merge_trees(room.merging, ours, theirs)
    return Merge(found.tree, tuple(dict.fromkeys(_plain(path, ours, theirs) for path in found.conflicts)))


def against_default(
    room: Scratch, default: Default, found: Sequence[Candidate]
) -> tuple[dict[str, Brought], list[Conflict]]:
    """Merge each feature into the default branch; return what each brings, and the conflicts of the others."""
    brought, conflicts = {}, []
    for one in found:
        merged = merge(room, default.commit, str(one.tip))
        if merged.clean:
            commit = make_commit(room, merged.tree, (default.commit, str(one.tip)), max(default.when, one.when))
            brought[one.feature] = Brought(commit, merged.tree)
        else:
            conflicts.append(Conflict((one.feature,), merged.conflicts, default.name))
    base = room.tree.text("rev-parse", f"{default.commit}^{{tree}}")
    changes = _changes(room, base, [one.tree for one in brought.values()])
    return {name: Brought(one.commit, one.tree, changes[one.tree]) for name, one in brought.items()}, conflicts


def between(
    room: Scratch, found: Sequence[Candidate], brought: dict[str, Brought], count: Callable[[], None] = lambda: None
) -> Iterator[Conflict]:
    """Yield the pairs that conflict, by name. `count` is called for each pair that had to be merged."""
    present = sorted((one for one in found if one.feature in brought), key=lambda one: one.feature)
    for one, other in combinations(present, 2):
        if brought[one.feature].meets(brought[other.feature]):
            count()
            # As it comes to pass: one of the two is in the default branch when the other one arrives.
            merged = merge(room, brought[one.feature].commit, str(other.tip))
            if not merged.clean:
                yield Conflict((one.feature, other.feature), merged.conflicts)


def as_it_came(
    room: Scratch, one: Candidate, merged: Sequence[str], brought: Mapping[str, Brought]
) -> Iterator[Conflict]:
    """Yield the features of a union that keep one out which none of them meets.

    Where the default branch has moved files, git may take another file for the moved one once a feature is merged.
    """
    for other in merged:
        found = merge(room, brought[other].commit, str(one.tip))
        if not found.clean:
            yield Conflict(tuple(sorted((one.feature, other))), found.conflicts)


def _changes(room: Scratch, base: str, trees: Sequence[str]) -> dict[str, dict[bytes, Entry | None]]:
    """Return how trees differ from the base; one git process for all of them."""
    found: dict[str, dict[bytes, Entry | None]] = {tree: {} for tree in trees}
    given = "".join(f"{base} {tree}\n" for tree in found).encode()
    words = ("diff-tree", "--stdin", "-r", "-z", "--raw", "--no-renames", "--no-abbrev")
    said = room.tree.git(*words, stdin=given) if given else b""
    at, tree = 0, ""
    while at < len(said):
        if said[at : at + 1] != b":":
            end = said.index(b"\n", at)
            tree, at = said[at:end].split(b" ")[1].decode(), end + 1
            continue
        end = said.index(b"\0", at)
        after = said.index(b"\0", end + 1)
        _, mode, _, oid, _ = said[at:end].split(b" ")
        found[tree][said[end + 1 : after]] = None if mode == _ABSENT else (mode, oid)
        at = after + 1
    return found


def _folders(changes: dict[bytes, Entry | None]) -> set[bytes]:
    """Return every folder above the changed paths."""
    found: set[bytes] = set()
    for path in changes:
        above = path.rpartition(b"/")[0]
        while above and above not in found:
            found.add(above)
            above = above.rpartition(b"/")[0]
    return found


def _plain(path: str, ours: str, theirs: str) -> str:
    """Return a path without what git appends to a file that lies where the other side has a folder."""
    for commit in (ours, theirs):
        name, mark, rest = path.rpartition(f"~{commit}")
        if mark and (not rest or (rest[0] == "_" and rest[1:].isdigit())):
            return name
    return path


def changed_attributes(brought: Mapping[str, Brought]) -> bool:
    """Tell whether any feature changes how git merges or converts files."""
    return any(os.path.basename(path) == b".gitattributes" for one in brought.values() for path in one.changes)
