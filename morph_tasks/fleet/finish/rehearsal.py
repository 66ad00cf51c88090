"""What a finish will come to, tried out with objects that nobody keeps: the archive commit and the merge."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.features.store import ARCHIVE, FEATURES
from morph_tasks.repo.git import Repo
from morph_tasks.repo.merging import commit_tree, merge_trees
from morph_tasks.repo.scratch import scratch_objects

if TYPE_CHECKING:
    from morph_tasks.features.removal import Along
    from morph_tasks.fleet.finish.place import Place
    from morph_tasks.proc import Completed


@dataclass(frozen=True)
class Beside(Repo):
    """A work tree whose git runs with some more variables."""

    env: Mapping[str, str] = field(default_factory=dict, compare=False)

    def run(
        self, *args: str, ok: Collection[int] = (0,), stdin: bytes = b"", env: Mapping[str, str] | None = None
    ) -> Completed:
        return super().run(*args, ok=ok, stdin=stdin, env={**self.env, **(env or {})})


@dataclass(frozen=True)
class Rehearsal:
    """The commits a finish would make. `merge` is None where the two lines conflict.

    `left`: the merge keeps the feature's folder, because the default branch has a copy that it got in another way.
    """

    archive: str
    merge: str | None
    conflicts: tuple[str, ...]
    env: Mapping[str, str] = field(repr=False)
    left: bool = False

    def beside(self, tree: Repo) -> Repo:
        """Return a tree whose git knows these commits."""
        return _beside(tree, self.env)


@contextmanager
def rehearse(place: Place, along: Along) -> Iterator[Rehearsal]:
    """Yield what a finish of a feature would come to; nothing is written into the repository.

    Raises what `merge_trees` raises.
    """
    tree = place.tree or place.primary
    with scratch_objects(tree) as env:
        repo = _beside(tree, env)
        tip, default = str(place.tip), str(place.default_tip)
        apart = _cannot_matter(place, along)
        needless = place.archived or place.tree is None or apart
        archive = tip if needless else _archived(repo, place.slug, tip, along)
        merged = merge_trees(repo, default, archive)
        merge = commit_tree(repo, merged.tree, [default, archive], "rehearsal") if merged.clean else None
        left = merge is not None and not apart and _holds_feature(repo, place.slug, merge)
        yield Rehearsal(archive, merge, merged.conflicts, env, left)


def _cannot_matter(place: Place, along: Along) -> bool:
    """Tell whether the archive commit is sure to meet nothing: all that it moves or makes is the branch's own."""
    paths = [f"{FEATURES}/{place.slug}", f"{ARCHIVE}/{place.slug}", *along.write, *along.add]
    trees = [tree for tree in (place.home, None if place.linked else place.tree) if tree]
    own = paths[1:] if place.home is None else paths
    lying = any(os.path.lexists(tree.root / path) for tree in trees for path in own)
    if along.remove or lying:
        return False
    return not place.primary.git("ls-tree", "-z", "--name-only", "--full-tree", str(place.default_tip), *paths)


def _holds_feature(repo: Repo, slug: str, commit: str) -> bool:
    return bool(repo.git("ls-tree", "-z", "--name-only", "--full-tree", commit, f"{FEATURES}/{slug}"))


def _beside(tree: Repo, env: Mapping[str, str]) -> Repo:
    return Beside(tree.root, tree.git_dir, tree.common_dir, light=True, env=env)


def _archived(repo: Repo, slug: str, tip: str, along: Along) -> str:
    """Return a commit with the feature's folder, as it lies on disk, in the archive."""
    source, target = f"{FEATURES}/{slug}", f"{ARCHIVE}/{slug}"
    with tempfile.TemporaryDirectory(prefix="morph-rehearsal-") as folder:
        env = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
        repo.run("read-tree", tip, env=env)
        lying = [path for path in (source, target, *along.add) if os.path.lexists(repo.root / path)]
        # Ignored files end it with 1; what is not ignored is added all the same.
        for path in lying:
            repo.run("--literal-pathspecs", "add", "-A", "--", path, env=env, ok=range(256))
        listed = repo.run("--literal-pathspecs", "ls-files", "-s", "-z", "--", source, env=env).stdout
        lines = []
        for line in filter(None, listed.split(b"\0")):
            about, _, name = line.partition(b"\t")
            mode, oid, _ = about.split(b" ")
            moved = os.fsencode(target) + name.removeprefix(os.fsencode(source))
            lines += [b"0 %s\t%s" % (b"0" * len(oid), name), b"%s %s\t%s" % (mode, oid, moved)]
        for written, text in along.write.items():
            data = text.encode("utf-8", "surrogateescape")
            blob = repo.run("hash-object", "-w", "--stdin", f"--path={written}", stdin=data).stdout.strip()
            lines.append(b"100644 %s\t%s" % (blob, os.fsencode(written)))
        lines += [b"0 %s\t%s" % (b"0" * len(tip), os.fsencode(removed)) for removed in along.remove]
        stdin = b"".join(line + b"\0" for line in lines)
        repo.run("update-index", "-z", "--index-info", stdin=stdin, env=env)
        made = repo.run("write-tree", env=env).text.strip()
    return commit_tree(repo, made, [tip], "rehearsal")
