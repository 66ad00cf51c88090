"""What the configuration of a repository says of one branch, such as what it follows: it goes when the branch goes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo


def read_settings(repo: Repo, branch: str) -> list[list[str]]:
    """Return [name, value] pairs without the branch, such as ["remote", "origin"]; a name can come more than once."""
    start = f"branch.{branch}."
    done = repo.run("config", "--local", "-z", "--list", ok=range(256))
    found = []
    for entry in done.stdout.split(b"\0"):
        key, _, value = os.fsdecode(entry).partition("\n")
        if key.startswith(start) and "." not in key.removeprefix(start):
            found.append([key.removeprefix(start), value])
    return found


def put_settings(repo: Repo, branch: str, settings: Sequence[Sequence[str]]) -> None:
    """Add the pairs that are not there; raises ProcError."""
    there = read_settings(repo, branch)
    for name, value in settings:
        if [name, value] not in there:
            repo.git("config", "--local", "--add", f"branch.{branch}.{name}", value)
