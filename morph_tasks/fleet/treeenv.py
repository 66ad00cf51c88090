"""`.morph/worktree.env`: what a shell or an editor loads in a work tree; no credentials, which have their own file."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.errors import Refusal

if TYPE_CHECKING:
    from morph_tasks.model.load import Config
    from morph_tasks.repo.git import Repo
    from morph_tasks.stack.env import StackEnv

FILE = ".morph/worktree.env"
_HEAD = "# Written by morph-spec; `morph-spec worktree link` writes it anew. Credentials: see `morph-spec env`.\n"
_PLAIN = re.compile(r"[A-Za-z0-9_./:@%+,=-]*")


def write(tree: Repo, config: Config, key: str, feature: str) -> Path:
    """Write the environment of a tree and return the file; `key`: `<feature>` or `task/<name>`.

    `feature` is what the tree works on. Raises Refusal `no-free-ports`, `busy` (3), `state-unwritable`, `write-failed`.
    """
    from morph_tasks.stack.env import tree_env

    return write_env(tree, tree_env(tree, config, key, feature))


def write_env(tree: Repo, env: StackEnv) -> Path:
    """Write an environment that is known; raises Refusal `write-failed`."""
    path = tree.root / FILE
    lines = [f"{name}={_quoted(value)}\n" for name, value in env.values.items()]
    data = (_HEAD + "".join(lines)).encode("utf-8", "surrogateescape")
    # Not synced: it can be written anew at any time. The same name for every try, so that a kill leaves no litter.
    part = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(exist_ok=True)
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600), "wb") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(data)
        os.replace(part, path)
    except OSError as error:
        raise Refusal("write-failed", f"{path} could not be written: {error.strerror or error}") from error
    return path


def works_on(tree: Repo, key: str) -> str:
    """Return the feature that a tree says it is for: what was written before stays."""
    from morph_tasks.stack.env import worked_on

    return worked_on(tree.root, key)


def _quoted(value: str) -> str:
    if _PLAIN.fullmatch(value):
        return value
    # Single quotes mean the same to a shell, to Compose and to libraries; what holds one has to be escaped instead.
    if "'" not in value:
        return f"'{value}'"
    return '"' + re.sub(r'(["\\$`])', r"\\\1", value) + '"'
