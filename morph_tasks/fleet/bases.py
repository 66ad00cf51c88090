"""Where the branch of a task's work tree begins, and which names such a tree may have."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.repo.branching import default_start, no_commits
from morph_tasks.repo.files import read_json
from morph_tasks.repo.trees import BRANCH_PREFIX

if TYPE_CHECKING:
    from morph_tasks.model.load import Config
    from morph_tasks.repo.git import Repo

_LONGEST = 200  # bytes: git puts `.lock` behind it, and a file system ends at 255
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]")
_SETTINGS = (".claude/settings.local.json", ".claude/settings.json")


@dataclass(frozen=True)
class Base:
    """A commit to begin at, how people call it, and the feature whose branch it is."""

    name: str
    commit: str
    feature: str | None = None


def check_task_name(name: str) -> None:
    """Raise Refusal `invalid-name` (2) for what git takes for no branch, or what leads out of the container."""
    parts = name.split("/")
    if not name or _FORBIDDEN.search(name):
        why = "it is empty, or holds a space, a control character or one of ~ ^ : ? * [ \\"
    elif not all(parts):
        why = "it has an empty part between slashes"
    elif any(part.startswith((".", "-")) for part in parts):
        why = "a part of it begins with a dot or a hyphen"
    elif ".." in name or "@{" in name or name.endswith(".") or any(part.endswith(".lock") for part in parts):
        why = "git allows no `..`, no `@{`, no dot at the end and no `.lock`"
    elif any(len(os.fsencode(part)) > _LONGEST for part in parts):
        why = f"a part of it has more than {_LONGEST} bytes"
    else:
        return
    raise Refusal(
        "invalid-name", f"{name!r} cannot be a branch: {why}", fix="choose a name such as fix-totals", exit_code=2
    )


def task_base(repo: Repo, primary: Repo, config: Config, asked: str | None) -> Base:
    """Return where a task begins: as asked, by the setting `worktree.baseRef`, else at the feature one stands on.

    Without any of them: at the default branch. Raises Refusal `no-such-base` (2), `no-commits`, `no-default-branch`.
    """
    if asked is not None:
        return _named(repo, asked)
    setting = base_setting(primary, config)
    if setting == "head":
        return _named(repo, repo.branch() or "HEAD", unborn=True)
    if setting != "fresh":
        from morph_tasks.repo.trees import checked_out

        here = os.path.realpath(repo.root)
        branch = next((name for tree, name in checked_out(repo) if os.path.realpath(tree) == here), "")
        if branch.startswith(BRANCH_PREFIX):
            return _named(repo, branch)
    return Base(*start_of_default(primary))


def start_of_default(repo: Repo) -> tuple[str, str]:
    """Return name and commit of the default branch; raises Refusal `no-commits`, `no-default-branch`."""
    try:
        return default_start(repo)
    except Refusal:
        if repo.head() is None:
            raise no_commits(repo) from None
        raise


def base_setting(primary: Repo, config: Config) -> str | None:
    """Return `worktree.baseRef`: ours first, then the layers of Claude Code's settings; None when none says it."""
    block = config.data.get("worktree")
    said = block.get("baseRef") if isinstance(block, dict) else None
    return said or next(_said_by_claude(primary), None)


def _said_by_claude(primary: Repo) -> Iterator[str]:
    home = Path(os.environ.get("CLAUDE_CONFIG_DIR") or os.path.join(os.path.expanduser("~"), ".claude"))
    for path in (*(primary.root / name for name in _SETTINGS), home / "settings.json"):
        try:
            found: Any = read_json(path)
        except (OSError, Refusal):
            continue
        block = found.get("worktree") if isinstance(found, dict) else None
        said = block.get("baseRef") if isinstance(block, dict) else None
        if said in ("fresh", "head"):
            yield said


def _named(repo: Repo, name: str, *, unborn: bool = False) -> Base:
    said = repo.text("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}", ok=(0, 1, 128))
    if not said:
        if unborn or repo.head() is None:
            raise no_commits(repo)
        what = f"there is no branch or commit {name!r} to begin at"
        raise Refusal("no-such-base", what, fix="git branch --all", exit_code=2, base=name)
    full = repo.text("rev-parse", "--symbolic-full-name", "--end-of-options", name, ok=(0, 1, 128)).splitlines()
    for prefix in (f"refs/heads/{BRANCH_PREFIX}", f"refs/remotes/origin/{BRANCH_PREFIX}"):
        feature = next((ref.removeprefix(prefix) for ref in full if ref.startswith(prefix)), None)
        if feature:
            return Base(name, said, feature)
    return Base(name, said)
