"""What tools make again: the one table by which an ignored path may go without a copy. In doubt it may not."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from morph_tasks.fleet.walking import walk
from morph_tasks.repo.byproducts import is_byproduct

_FOLDERS = frozenset(
    {"node_modules", "__pycache__", "test-results", "TestResults", ".auth", ".next", ".turbo", ".pytest_cache"}
    | {"graphify-out"}
)
_ENDINGS = (".tsbuildinfo",)
_OURS = frozenset({".morph/state.json", ".morph/worktree.env"})
# Copies of notebooks lie there, some of which nobody has saved.
_NOT_CACHES = frozenset({".ipynb_checkpoints"})

_PROJECTS = (".csproj", ".fsproj", ".vbproj")
_CONFIGURATIONS = frozenset({"Debug", "Release"})
# `obj` is also where models for 3D programs are kept.
_NOT_OUTPUT = frozenset({".obj", ".mtl", ".stl", ".fbx", ".gltf", ".glb", ".blend", ".ply", ".dae", ".3ds"})

# https://bford.info/cachedir/: written by tools into folders that backups may leave out.
_TAG, _TAG_BEGINS = "CACHEDIR.TAG", b"Signature: 8a477f597d28d172789f06886806bc55"
_ENVIRONMENT = frozenset({"bin", "include", "lib", "lib64", "share", "Scripts", "pyvenv.cfg", ".gitignore", ".lock"})


def is_regenerable_folder(tree: Path, path: str) -> bool:
    """Tell whether all in a folder of a tree is made again by some tool; `path` is relative to the tree."""
    above, _, name = path.rpartition("/")
    if name in _FOLDERS or _cached(path):
        return True
    if name in ("bin", "obj") and _beside_project(tree / above):
        return True
    if name == "obj":
        return not _holds_models(tree / path)
    if name in _CONFIGURATIONS and above.rpartition("/")[2] == "bin":
        return True
    return _is_tagged(tree / path) or (name in _ENVIRONMENT and _is_environment(tree / above))


def is_regenerable_file(tree: Path, path: str) -> bool:
    """Tell whether a tool makes a single file again, wherever it lies."""
    above, _, name = path.rpartition("/")
    if path in _OURS or name.endswith(_ENDINGS) or _cached(path):
        return True
    return name in _ENVIRONMENT and _is_environment(tree / above)


def _cached(path: str) -> bool:
    # As if tracked: reports count as written by somebody, caches do not.
    return is_byproduct(os.fsencode(path), True) and _NOT_CACHES.isdisjoint(path.split("/"))


def _beside_project(folder: Path) -> bool:
    return any(name.endswith(_PROJECTS) for name in _names(folder))


def _holds_models(folder: Path) -> bool:
    try:
        return any(os.path.splitext(entry.name)[1].lower() in _NOT_OUTPUT for entry in walk(folder))
    except OSError:
        return True


def _is_tagged(folder: Path) -> bool:
    return _begins(folder / _TAG, _TAG_BEGINS)


def _is_environment(folder: Path) -> bool:
    return _begins(folder / "pyvenv.cfg", b"home")


def _begins(path: Path, words: bytes) -> bool:
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return False
        with open(path, "rb") as file:
            return file.read(len(words)) == words
    except OSError:
        return False


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
