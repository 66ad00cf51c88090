"""What a tree holds: the files that git tracks or does not ignore, without other checkouts and other people's code."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from fnmatch import fnmatchcase
from pathlib import Path

from morph_tasks.errors import Refusal

# Other checkouts, packages, and what compilers leave behind.
FOREIGN = frozenset({
    "worktrees", ".worktrees", "node_modules", "bin", "obj", ".git", ".morph", ".venv", "venv", "target", "vendor",
    "third_party",
})  # fmt: skip
# Projects below these are data of a test, not a part of what is built.
DATA = frozenset({
    "fixtures", "__fixtures__", "fixture", "testdata", "test-data", "test_data", "testassets", "snapshots",
})  # fmt: skip
_BESIDE = frozenset({"test", "tests", "examples", "example", "docs", "tools", "scripts", "benches"})
# Where a frontend lives when `project.frontendPath` does not say.
FRONTENDS = (".", "src/frontend", "src/web", "frontend", "apps/web", "packages/app")
_LIST = ("ls-files", "-z", "-co", "--exclude-standard", "--")


# Everything that is ever looked for, so that one question to git serves every kind of project.
_MANIFESTS = (
    "*.sln", "*.slnx", "*.csproj", "*.fsproj", "*.vbproj", "go.mod", "*_test.go", "Cargo.toml", "package.json",
)  # fmt: skip
_look: ContextVar[dict[str, list[str]] | None] = ContextVar("_look", default=None)


@contextmanager
def one_look() -> Iterator[None]:
    """Ask git once for each tree as long as this lasts; a look inside of another one belongs to it."""
    if _look.get() is not None:
        yield
        return
    token = _look.set({})
    try:
        yield
    finally:
        _look.reset(token)


def listed(root: Path, patterns: Sequence[str], *, foreign: frozenset[str] = FOREIGN | DATA) -> list[str]:
    """Return the paths in the tree whose names match one of the patterns (`*.csproj`), sorted, shallow ones first.

    Only what `_MANIFESTS` names can be asked for. Registered work trees of the repository are left out wherever they
    lie. Raises Refusal `git-failed`.
    """
    wanted = tuple(pattern.lower() for pattern in patterns)
    return [
        path
        for path in _manifests(root)
        if foreign.isdisjoint(path.split("/")[:-1])
        and any(fnmatchcase(path.rsplit("/", 1)[-1].lower(), pattern) for pattern in wanted)
    ]


def _manifests(root: Path) -> list[str]:
    memo = _look.get()
    if memo is not None and str(root) in memo:
        return memo[str(root)]
    said = _ask(root, [*_LIST, *(f":(glob,icase)**/{pattern}" for pattern in _MANIFESTS)])
    found = {path for path in said.split("\0") if path and not path.endswith("/") and (root / path).is_file()}
    if found:
        elsewhere = tuple(f"{tree}/" for tree in _work_trees(root))
        found = {path for path in found if not path.startswith(elsewhere)}
    paths = sorted(found, key=lambda path: (path.count("/"), path))
    if memo is not None:
        memo[str(root)] = paths
    return paths


def _work_trees(root: Path) -> list[str]:
    """Return the registered work trees that lie inside this one, relative to it."""
    top = os.path.realpath(root)
    lines = _ask(root, ["worktree", "list", "--porcelain", "-z"]).split("\0")
    paths = [os.path.realpath(line.removeprefix("worktree ")) for line in lines if line.startswith("worktree ")]
    return [os.path.relpath(path, top) for path in paths if path.startswith(top.rstrip("/") + "/")]


def _ask(root: Path, words: list[str]) -> str:
    from morph_tasks.repo.git import clean_env
    from morph_tasks.repo.spawn import ChildError, stream

    try:
        said = b"".join(stream(["git", "-C", str(root), *words], clean_env()))
    except FileNotFoundError:
        raise Refusal("git-missing", "git is not on the PATH", fix="install git") from None
    except ChildError as error:
        why = error.stderr.decode("utf-8", "replace").strip()[-300:]
        raise Refusal("git-failed", f"git could not list the files of {root}: {why}") from None
    return said.decode("utf-8", "surrogateescape")


def own_folders(root: Path, name: str) -> list[str]:
    """Return every folder with a manifest that is the project's own: not of tests, examples or tools."""
    return [os.path.dirname(path) or "." for path in listed(root, [name], foreign=FOREIGN | DATA | _BESIDE)]


def manifests(root: Path, name: str, backend: str | None) -> list[str]:
    """Return the folders that hold a manifest such as `go.mod`: the root, else the backend, else the topmost ones.

    Folders more than two levels down, and those of tests, examples and tools, are not the project's own.
    """
    for folder in (".", backend):
        if folder and (root / folder / name).is_file():
            return [folder]
    folders = [os.path.dirname(path) for path in listed(root, [name], foreign=FOREIGN | DATA | _BESIDE)]
    near = [folder for folder in folders if folder.count("/") < 2]
    return [folder for folder in near if not any(folder.startswith(f"{other}/") for other in near)]


def slug(folder: str) -> str:
    """Return a folder as a part of a node's id."""
    import re

    return re.sub(r"[^a-z0-9]+", "-", folder.lower()).strip("-")


def inside(root: Path, folder: str | None) -> str | None:
    """Return a declared folder relative to the root; None when there is none or it leads outside the tree."""
    from morph_tasks.repo.files import confined

    if not folder:
        return None
    try:
        path = confined(root, folder)
    except (Refusal, ValueError):
        return None
    return os.path.relpath(path, os.path.realpath(root))
