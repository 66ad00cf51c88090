"""What a node of runner `evals` declares, and what cannot be meant by it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo
    from morph_tasks.verify.nodes import Node

RUNNER = "evals"
_WILD = "*?[]{}\\"


@dataclass(frozen=True)
class Evals:
    """The block `evals` of one node; the paths are relative to the root of the tree, in one spelling."""

    summary: str
    cache_dir: str
    required_env: tuple[str, ...] = ()

    @staticmethod
    def of(block: dict[str, Any]) -> Evals:
        """Return the values of a validated block."""
        required = tuple(dict.fromkeys(block.get("requiredEnv") or ()))
        return Evals(_spelt(block["summary"]), _spelt(block["cacheDir"]), required)

    @property
    def not_inputs(self) -> tuple[str, ...]:
        """Return the globs of what a run writes: it counts by `cache.digest`, never as an input of a node."""
        return (self.summary, f"{self.cache_dir}/**")


def problem(repo: Repo, item: dict[str, Any]) -> str | None:
    """Return why an entry of `project.tests` cannot be an evals node, or why its block is in the wrong place."""
    block, runner = item.get("evals"), item.get("runner")
    if runner != RUNNER:
        if block is None:
            return None
        named = (
            f"this node's runner is {runner}" if runner else "this node names no runner, and evals is never inferred"
        )
        return f"`evals` is for runner evals; {named}"
    if not block:
        return "runner evals needs a block `evals` with `summary` and `cacheDir`"
    for option in ("summary", "cacheDir"):
        if said := _path_problem(repo.root, option, block[option]):
            return said
    declared = Evals.of(block)
    return _nested(declared) or _summary_problem(repo, declared) or _cache_problem(repo, declared)


def declared_node(root: Path, node: Node, item: dict[str, Any]) -> Node:
    """Return a node of runner `evals` with its block; `invalid` when block, runner or places cannot be meant."""
    from dataclasses import replace

    from morph_tasks.repo.git import open_repo

    said = problem(open_repo(root).lightly(), item)
    if said:
        return replace(node, invalid=said)
    return replace(node, evals=Evals.of(item["evals"]))


def without_clashes(nodes: Sequence[Node]) -> list[Node]:
    """Mark the nodes that write to one place."""
    from dataclasses import replace

    found = clashes((node.id, node.evals) for node in nodes if node.evals)
    return [replace(node, invalid=found[node.id]) if node.evals and node.id in found else node for node in nodes]


def clashes(declared: Iterable[tuple[str, Evals]]) -> dict[str, str]:
    """Return, by node id, why two evals nodes cannot go together: they write to the same place."""
    seen: list[tuple[str, Evals]] = []
    found: dict[str, str] = {}
    for own, mine in declared:
        for other, theirs in seen:
            if mine.summary == theirs.summary or _touch(mine.cache_dir, theirs.cache_dir):
                what = "summary" if mine.summary == theirs.summary else "cacheDir"
                found.setdefault(own, f"`evals.{what}` is that of node {other} too: each needs its own")
                found.setdefault(other, f"`evals.{what}` is that of node {own} too: each needs its own")
            elif _touch(mine.summary, theirs.cache_dir) or _touch(theirs.summary, mine.cache_dir):
                found.setdefault(own, f"its summary and its cacheDir meet those of node {other}")
                found.setdefault(other, f"its summary and its cacheDir meet those of node {own}")
        seen.append((own, mine))
    return found


def place_problem(root: Path, path: str) -> str | None:
    """Return why a path of the tree is not safe to write or remove now; None when it is."""
    if not _inside(root, path):
        return f"{path} leads outside the tree"
    folder = ""
    for part in path.split("/"):
        folder = f"{folder}/{part}"
        if os.path.islink(f"{root}{folder}"):
            return f"{folder[1:]} is a link"
    return None


def _inside(root: Path, path: str) -> bool:
    from morph_tasks.repo.files import confined

    try:
        confined(root, path)
    except (Refusal, ValueError, OSError):
        return False
    return True


def _spelt(path: str) -> str:
    return os.path.normpath(path.strip()) if path.strip() else path


def _path_problem(root: Path, option: str, path: str) -> str | None:
    spelt = _spelt(path)
    if "\0" in path or "\n" in path or os.path.isabs(path) or spelt == ".." or spelt.startswith("../"):
        return f"`evals.{option}` names {path!r}, which is not a path in the tree"
    if spelt in (".", ""):
        return f"`evals.{option}` names the whole tree"
    if any(mark in path for mark in _WILD):
        return f"`evals.{option}` names {path!r}: it is one path, not a glob"
    if spelt.split("/")[0].lower() == ".git":
        return f"`evals.{option}` names {path!r}, which belongs to git"
    said = place_problem(root, spelt)
    return f"`evals.{option}` names {path!r}: {said}" if said else None


def _nested(declared: Evals) -> str | None:
    if _below(declared.summary, declared.cache_dir):
        return "`evals.summary` lies in `evals.cacheDir`: a summary is no recorded answer"
    if _below(declared.cache_dir, declared.summary):
        return "`evals.cacheDir` lies below `evals.summary`, which is a file"
    return None


def _summary_problem(repo: Repo, declared: Evals) -> str | None:
    if (repo.root / declared.summary).is_dir():
        return f"`evals.summary` names {declared.summary}, which is a folder"
    if repo.git("--literal-pathspecs", "ls-files", "-z", "--", declared.summary):
        return f"`evals.summary` names {declared.summary}, which git tracks: it is written anew by each run"
    return None


def _cache_problem(repo: Repo, declared: Evals) -> str | None:
    place = repo.root / declared.cache_dir
    if place.exists() and not place.is_dir():
        return f"`evals.cacheDir` names {declared.cache_dir}, which is no folder"
    probe = f"{declared.cache_dir}/answer.json"
    if repo.run("check-ignore", "-q", "--no-index", "--", probe, ok=(0, 1, 128)).code == 0:
        return f"`evals.cacheDir` names {declared.cache_dir}, which git ignores: recorded answers are committed"
    return None


def _touch(one: str, other: str) -> bool:
    return _below(one, other) or _below(other, one)


def _below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")
