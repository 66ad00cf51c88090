"""What the branches `morph/<feature>` hold of their features: read from their commits, all of them at once."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from morph_tasks.features.store import ARCHIVE, FEATURES
from morph_tasks.features.view import Folders
from morph_tasks.repo.trees import BRANCH_PREFIX

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

# A clone that left out objects would begin to download them.
_HERE = {"GIT_NO_LAZY_FETCH": "1"}


@dataclass(frozen=True)
class OnBranch:
    """One feature at the tip of its branch. `record` and `archive`: what `feature.json` says there; None: no file.

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
    words = ("for-each-ref", "--format=%(refname)%00%(objectname)%00%(symref)", f"refs/heads/{BRANCH_PREFIX}")
    tips = {}
    for line in repo.git(*words).split(b"\n"):
        name, _, rest = line.partition(b"\0")
        tip, _, alias = rest.partition(b"\0")
        slug = os.fsdecode(name).removeprefix(f"refs/heads/{BRANCH_PREFIX}")
        if name and not alias and "/" not in slug:
            tips[slug] = tip.decode()
    return tips


def read_branches(repo: Repo, tips: Mapping[str, str]) -> dict[str, OnBranch]:
    """Return what the branches hold, by feature, from two questions to git.

    Folders first, then files by their ids: a path is looked up from the top of its commit, which takes long where a
    folder holds many features.
    """
    folders = {(slug, where): f"{tip}:{where}/{slug}" for slug, tip in tips.items() for where in (FEATURES, ARCHIVE)}
    trees = read_objects(repo, folders.values())
    inside = {key: _entries(trees[name], len(tips[key[0]]) // 2) for key, name in folders.items()}
    records = {key: found["feature.json"] for key, found in inside.items() if "feature.json" in found}
    said = read_objects(repo, records.values())

    def record(slug: str, where: str) -> Any:
        oid = records.get((slug, where))
        return _json(said[oid]) if oid else None

    found = {}
    for slug, tip in tips.items():
        there = inside[slug, FEATURES]
        kinds = Folders("1-design" in there, "4-review" in there)
        found[slug] = OnBranch(slug, tip, record(slug, FEATURES), record(slug, ARCHIVE), kinds)
    return found


def read_objects(repo: Repo, names: Iterable[str]) -> dict[str, bytes | None]:
    """Return the content of objects by their name, such as `<commit>:<path>`; None for one that is not there.

    No name may hold a newline.
    """
    asked = list(dict.fromkeys(names))
    if not asked:
        return {}
    given = b"".join(os.fsencode(name) + b"\n" for name in asked)
    said = repo.run("cat-file", "--batch", "--buffer", stdin=given, env=_HERE).stdout
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
        found[name] = said[at : at + size]
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
