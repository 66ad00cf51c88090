"""What the branches `morph/<feature>` hold of their features: read from their commits, all of them at once."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from morph_tasks.features.store import ARCHIVE, FEATURES
from morph_tasks.features.view import Folders
from morph_tasks.repo.trees import BRANCH_PREFIX, feature_of

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

# A clone that left out objects would begin to download them.
_HERE = {"GIT_NO_LAZY_FETCH": "1"}


@dataclass(frozen=True)
class OnBranch:
    """One feature at the tip of its branch. `record`: what its `feature.json` says there; None: there is none.

    `archive`: the same of the one in the archive, looked for only where there is no `record`.
    A file that is no JSON is an empty text.
    """

    slug: str
    tip: str
    record: Any
    archive: Any
    folders: Folders

    @property
    def branch(self) -> str:
        return BRANCH_PREFIX + self.slug


def feature_tips(repo: Repo) -> dict[str, str]:
    """Return the commit of every branch `morph/<feature>`, by feature."""
    return {slug: tip for branch, tip in local_branches(repo, BRANCH_PREFIX).items() if (slug := feature_of(branch))}


def local_branches(repo: Repo, prefix: str = "") -> dict[str, str]:
    """Return local branches with their commits; one that is only another name of a branch is not among them."""
    words = ("for-each-ref", "--format=%(refname)%00%(objectname)%00%(symref)", f"refs/heads/{prefix}")
    found = {}
    for line in repo.git(*words).split(b"\n"):
        name, _, rest = line.partition(b"\0")
        tip, _, alias = rest.partition(b"\0")
        if name and not alias:
            found[os.fsdecode(name).removeprefix("refs/heads/")] = tip.decode()
    return found


def not_merged(repo: Repo, tips: Mapping[str, str]) -> dict[str, str]:
    """Return the branches that hold more than this tree and the main one have checked out.

    What a tree has checked out is newer than the commits that led there: a feature that is gone from it is gone.
    """
    words = ("for-each-ref", "--format=%(refname)", "--no-merged=HEAD", "--no-merged=main-worktree/HEAD")
    said = repo.run(*words, f"refs/heads/{BRANCH_PREFIX}", ok=range(256))
    if said.code:  # nothing is checked out before the first commit
        return dict(tips)
    left = {os.fsdecode(name).removeprefix(f"refs/heads/{BRANCH_PREFIX}") for name in said.stdout.split(b"\n")}
    return {slug: tip for slug, tip in tips.items() if slug in left}


def read_branches(repo: Repo, tips: Mapping[str, str]) -> dict[str, OnBranch]:
    """Return what the branches hold, by feature, however many there are, from a few questions to git.

    Folders first, then files by their ids: a path is looked up from the top of its commit, which takes long where a
    folder holds many features.
    """
    trees = _folders(repo, tips, FEATURES)
    records = _records(repo, trees)
    bare = {slug: tip for slug, tip in tips.items() if slug not in records}
    archives = _records(repo, _folders(repo, bare, ARCHIVE))
    found = {}
    for slug, tip in tips.items():
        kinds = Folders("1-design" in trees[slug], "4-review" in trees[slug])
        found[slug] = OnBranch(slug, tip, records.get(slug), archives.get(slug), kinds)
    return found


def _folders(repo: Repo, tips: Mapping[str, str], where: str) -> dict[str, dict[str, str]]:
    """Return what the folder of each feature holds: names and ids."""
    names = {slug: f"{tip}:{where}/{slug}" for slug, tip in tips.items()}
    said = read_objects(repo, names.values())
    return {slug: _entries(said[name], len(tips[slug]) // 2) for slug, name in names.items()}


def _records(repo: Repo, folders: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    ids = {slug: found["feature.json"] for slug, found in folders.items() if "feature.json" in found}
    said = read_objects(repo, ids.values())
    return {slug: _json(said[oid]) for slug, oid in ids.items()}


def read_objects(
    repo: Repo, names: Iterable[str], *, kind: str = "", env: Mapping[str, str] | None = None
) -> dict[str, bytes | None]:
    """Return the content of objects by their name, such as `<commit>:<path>`; None for one that is not there.

    `kind`: what alone counts, such as `blob`. No name may hold a newline.
    """
    asked = list(dict.fromkeys(names))
    if not asked:
        return {}
    given = b"".join(os.fsencode(name) + b"\n" for name in asked)
    said = repo.run("cat-file", "--batch", "--buffer", stdin=given, env={**_HERE, **(env or {})}).stdout
    found: dict[str, bytes | None] = {}
    at = 0
    for name in asked:
        end = said.index(b"\n", at)
        words = said[at:end].rsplit(b" ", 2)
        at = end + 1
        if len(words) < 3 or not words[2].isdigit():
            found[name] = None
            continue
        size = int(words[2])
        found[name] = said[at : at + size] if kind in ("", words[1].decode()) else None
        at += size + 1
    return found


def _entries(tree: bytes | None, id_bytes: int) -> dict[str, str]:
    """Return the names in a tree object with their ids."""
    found, at = {}, 0
    while tree and at < len(tree):
        end = tree.index(b"\0", at)
        name = tree[at:end].partition(b" ")[2]
        at = end + 1 + id_bytes
        found[os.fsdecode(name)] = tree[end + 1 : at].hex()
    return found


def _json(content: bytes | None) -> Any:
    if content is None:
        return None
    try:
        return json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return ""  # no record at all, and no sound one either
