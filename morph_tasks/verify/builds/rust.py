"""Builds of Rust crates: `cargo check`, with its products outside of the tree."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.verify.builds.detect import COMPILE_TIMEOUT_MS, inferred, named, with_tool
from morph_tasks.verify.builds.scan import inside, manifests
from morph_tasks.verify.nodes import Node

if TYPE_CHECKING:
    from morph_tasks.model.load import Config

TARGET = 'CARGO_TARGET_DIR="$MORPH_CACHE_DIR/cargo"'
# Cargo writes the lock file that it lacks; a build of ours leaves nothing in the tree.
_UNDO = "test -e Cargo.lock || trap 'rm -f Cargo.lock' EXIT; "
_UNLOCKED = "Cargo.lock is missing: versions are chosen anew at every run; commit the file, or ignore it"


def rust_builds(root: Path, config: Config) -> list[Node]:
    """Return a build for each crate or workspace of a tree; none when it has none of its own."""
    nodes = []
    for name, folder in named("rust", crates(root, config)):
        command, warnings = cargo(root, folder, "check")
        node = inferred(name, command, cwd=folder, timeout_ms=COMPILE_TIMEOUT_MS, warnings=warnings)
        nodes.append(with_tool(node, "cargo"))
    return nodes


def crates(root: Path, config: Config) -> list[str]:
    """Return the folders of a tree's own crates or workspaces."""
    return manifests(root, "Cargo.toml", inside(root, config.project.get("backendPath")))


def cargo(root: Path, folder: str, words: str) -> tuple[str, tuple[str, ...]]:
    """Return a cargo command for all members of a folder, unless the project chose some, and its warnings.

    A lock file that counts as source is binding; one that git ignores is cargo's own.
    """
    command = f"{TARGET} cargo {words}{_every_member(root / folder)}"
    if _ignored(root, f"{folder}/Cargo.lock"):
        return command, ()
    if (root / folder / "Cargo.lock").is_file():
        return f"{command} --locked", ()
    return _UNDO + command, (_UNLOCKED,)


def _every_member(folder: Path) -> str:
    workspace = _manifest(folder / "Cargo.toml").get("workspace")
    return " --workspace" if isinstance(workspace, dict) and not workspace.get("default-members") else ""


def _ignored(root: Path, path: str) -> bool:
    from morph_tasks.repo.git import clean_env
    from morph_tasks.repo.spawn import ChildError, stream

    try:
        return bool(b"".join(stream(["git", "-C", str(root), "check-ignore", "--", path], clean_env())))
    except (ChildError, OSError):
        return False


def _manifest(path: Path) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(path.read_text("utf-8-sig"))
    except (OSError, ValueError):
        return {}
