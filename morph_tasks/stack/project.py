"""One compose project for each feature: never shared by two features, nor by two clones of a repository."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from morph_tasks.repo.trees import TASK, TASK_BRANCH, checked_out, owner_tree
from morph_tasks.stack import userstate

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

_LONGEST = 64


def stack_key(repo: Repo, feature: str) -> str:
    """Return whose ports and containers a tree uses: `<feature>`, or `task/<name>` where another tree owns it.

    The tree that owns the feature and the root that holds it have the feature's own; any other tree would put other
    code into the containers of the owner.
    """
    if feature.startswith(TASK):
        return feature
    if os.path.realpath(owner_tree(repo, feature)) == os.path.realpath(repo.root):
        return feature
    here = os.path.realpath(repo.root)
    branch = next((name for tree, name in checked_out(repo) if os.path.realpath(tree) == here), "")
    if branch.startswith(TASK_BRANCH):
        return TASK + branch.removeprefix(TASK_BRANCH)
    return f"{TASK}tree-{hashlib.sha256(os.fsencode(here)).hexdigest()[:8]}"


def project_name(repo: Repo, key: str) -> str:
    """Return the name of the compose project of a feature, or of a key such as `task/x`; registered at first use.

    Raises Refusal `busy` (3), `state-unwritable`, `write-failed`.
    """
    found = known_project(repo, key)
    if found:
        return found
    from morph_tasks.repo.files import write_json

    with userstate.held():
        path = userstate.projects_file()
        userstate.settle(path)
        names = userstate.read(path, "names")
        found = known_project(repo, key) or next(name for name in candidates(repo, key) if name not in names)
        names[found] = {"repository": str(repo.common_dir), "key": key}
        write_json(path, {"version": 1, "names": dict(sorted(names.items()))}, mode=0o600)
        return found


def known_project(repo: Repo, key: str) -> str | None:
    """Return the name that a key has; writes nothing."""
    mine = {"repository": str(repo.common_dir), "key": key}
    names = userstate.read(userstate.projects_file(), "names")
    return next((name for name, owner in names.items() if owner == mine), None)


def release_project(repo: Repo, key: str) -> bool:
    """Forget the name of a key once nothing runs under it; tells whether it had one."""
    from morph_tasks.repo.files import write_json

    if known_project(repo, key) is None:
        return False
    with userstate.held():
        names = userstate.read(userstate.projects_file(), "names")
        left = {name: owner for name, owner in names.items() if name != known_project(repo, key)}
        write_json(userstate.projects_file(), {"version": 1, "names": left}, mode=0o600)
        return len(left) < len(names)


def normalised(text: str) -> str:
    """Return a text as Compose makes a project name of it; may be empty."""
    return re.sub(r"[^a-z0-9_-]", "", text.lower()).lstrip("_-")


def candidates(repo: Repo, key: str) -> Iterator[str]:
    """Yield the names a key may have, the best first, each valid for Compose; there is always another one."""
    slug = normalised(key.replace("/", "-"))
    short = slug[:_LONGEST].rstrip("_-")
    place = os.fsencode(repo.common_dir)
    whole = hashlib.sha256(place + b"\0" + os.fsencode(key)).hexdigest()
    if short and short == slug:
        yield f"morph-{slug}"
        yield f"morph-{slug}-{hashlib.sha256(place).hexdigest()[:6]}"
    for length in range(6, len(whole) + 1):
        yield "-".join(part for part in ("morph", short, whole[:length]) if part)
