"""Which nodes a slice needs, and how much of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.verify.narrowing.model import Mode, Narrower, Selection
from morph_tasks.verify.narrowing.places import (
    Links,
    below,
    is_above,
    is_document,
    named_outside,
    normal,
    plain_name,
    shown,
)
from morph_tasks.verify.narrowing.table import narrower

if TYPE_CHECKING:
    from morph_tasks.verify.narrowing.slices import SliceFiles
    from morph_tasks.verify.nodes import Node

OUT = "no file of the slice is its own"
NOTHING = "the slice has no file on disk yet"
WHOLE_ONLY = "it runs in a whole verify only"
_FEATURE_RUNNERS = {"evals": "evals", "playwright": "browser tests"}


@dataclass(frozen=True)
class _Owned:
    """What of a slice belongs to one node."""

    files: tuple[str, ...]
    folders: tuple[str, ...]
    deleted: tuple[str, ...]
    above: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.files or self.folders or self.deleted or self.above)


def select(
    root: Path,
    nodes: Sequence[Node],
    files: SliceFiles,
    *,
    full: bool = False,
    chosen: Callable[[Node], bool] | None = None,
) -> dict[str, Selection]:
    """Return for each build and test node, by its ref, what a run of the slice takes of it.

    `chosen` forces the choice of test nodes (`--filter`); `full` takes every node as declared. Reads files, and asks
    neither git nor a runner.
    """
    tests = [node for node in nodes if node.family == "tests"]
    links = Links(root)
    owned = {node.ref: _owned(root, node, files, links) for node in nodes if node.family in ("build", "tests")}
    stray = _stray(tests, owned, files)
    found = {node.ref: _test(root, node, owned[node.ref], files, stray, full=full, chosen=chosen) for node in tests}
    builds = [node for node in nodes if node.family == "build"]
    return found | _builds(builds, tests, found, owned, files, full=full)


def _test(
    root: Path,
    node: Node,
    own: _Owned,
    files: SliceFiles,
    stray: str | None,
    *,
    full: bool,
    chosen: Callable[[Node], bool] | None,
) -> Selection:
    kept_out = _feature_only(node)
    if kept_out:
        return _left_out(node, kept_out, own)
    if chosen and not chosen(node):
        return _left_out(node, "not chosen by --filter", own)
    if full:
        return _taken("full", "--full", node, own)
    if files.empty and not chosen:
        return _left_out(node, NOTHING, own)
    if node.invalid:
        return _whole(node, "it cannot be measured as it is declared", own)
    if own:
        why = _why_whole(own, files)
        return _whole(node, why, own) if why else _narrowed(root, node, own)
    if stray:
        return _whole(node, stray, own)
    if files.unknown:
        return _whole(node, f"undecidable: what this branch committed cannot be told ({files.unknown})", own)
    if chosen:
        return _whole(node, f"chosen by --filter; {OUT}", own)
    return _left_out(node, OUT, own)


def _why_whole(own: _Owned, files: SliceFiles) -> str | None:
    """Return why the files alone do not allow to choose tests of a node."""
    if own.folders:
        return f"{own.folders[0]} is a folder: which of its files the slice changed is not known"
    if own.deleted:
        return f"{own.deleted[0]} was deleted: which tests it mattered to cannot be told"
    if own.above:
        return f"{own.above[0]} decides how the suites below it run"
    if files.unknown:
        return f"undecidable: what this branch committed cannot be told ({files.unknown})"
    odd = next((path for path in own.files if not plain_name(path)), None)
    return f"{odd!r} is a name that no command should hold" if odd else None


def _narrowed(root: Path, node: Node, own: _Owned) -> Selection:
    module = narrower(node.runner)
    if isinstance(module, str):
        return _whole(node, module, own)
    found = module.narrow(root, normal(node.cwd), node.command, own.files)
    if isinstance(found, str):
        return _whole(node, found, own)
    reason = found.note or f"{len(found.selectors)} selector{'s' if len(found.selectors) != 1 else ''}"
    return Selection("narrowed", reason, node.command, found.command, own.files, found.selectors, found.zero_guard)


def _whole(node: Node, reason: str, own: _Owned) -> Selection:
    return _taken("whole", shown(reason), node, own)


def _left_out(node: Node, reason: str, own: _Owned) -> Selection:
    return _taken("out-of-scope", reason, node, own)


def _taken(mode: Mode, reason: str, node: Node, own: _Owned) -> Selection:
    return Selection(mode, reason, node.command, node.command, tuple(shown(path) for path in own.files))


def _feature_only(node: Node) -> str | None:
    if node.e2e:
        return f"it needs the running application: {WHOLE_ONLY}"
    kind = _FEATURE_RUNNERS.get(node.runner)
    return f"{kind}: {WHOLE_ONLY}" if kind else None


def _owned(root: Path, node: Node, files: SliceFiles, links: Links) -> _Owned:
    folder = normal(node.cwd)
    owns = _owner(root, node, folder, links)
    return _Owned(
        tuple(path for path in files.files if owns(path)),
        tuple(path for path in files.folders if below(path, folder) or owns(path)),
        tuple(path for path in files.deleted if owns(path)),
        tuple(path for path in (*files.files, *files.deleted) if is_above(folder, path)),
    )


def _owner(root: Path, node: Node, folder: str, links: Links) -> Callable[[str], bool]:
    """Return the function that tells whether a file is a node's: by its folder, its `inputs`, or its command."""
    from morph_tasks.repo.globs import compile_globs

    reads = compile_globs(node.inputs) if node.inputs else None
    outside = _outside(root, node, folder)
    hook = _hook(node)

    def owns(path: str) -> bool:
        if any(links.inside(other, path) for other in (folder, *outside)):
            return True
        if reads and reads(path.encode("utf-8", "surrogateescape")):
            return True
        return bool(hook and hook(root, folder, node.command, path))

    return owns


def _outside(root: Path, node: Node, folder: str) -> tuple[str, ...]:
    if folder == "." or ".." not in node.command:
        return ()
    from morph_tasks.verify.runners.shell import steps

    return named_outside(root, folder, tuple(word for step in steps(node.command) for word in step.words))


def _hook(node: Node) -> Callable[[Path, str, str, str], bool | None] | None:
    if node.family != "tests":
        return None
    module: Narrower | str = narrower(node.runner)
    return None if isinstance(module, str) else getattr(module, "owns", None)


def _stray(tests: Sequence[Node], owned: dict[str, _Owned], files: SliceFiles) -> str | None:
    """Return why nodes without files of their own run whole: a file that nothing owns may matter to all of them."""
    taken = set[str]()
    for node in tests:
        own = owned[node.ref]
        # A node that a slice never runs proves nothing of a file just because its folder is the root.
        if not _feature_only(node) or normal(node.cwd) != ".":
            taken.update(own.files, own.folders, own.deleted)
    for path in (*files.files, *files.folders, *files.deleted):
        if path not in taken and not is_document(path):
            return f"undecidable: {path} belongs to no node"
    return None


def _builds(
    builds: Sequence[Node],
    tests: Sequence[Node],
    found: dict[str, Selection],
    owned: dict[str, _Owned],
    files: SliceFiles,
    *,
    full: bool,
) -> dict[str, Selection]:
    by_ref = {node.ref: node for node in builds}
    needed = set[str]()
    waiting = [ref for node in tests if found[node.ref].mode != "out-of-scope" for ref in node.needs]
    while waiting:
        ref = waiting.pop()
        if ref in by_ref and ref not in needed:
            needed.add(ref)
            waiting += by_ref[ref].needs
    chosen: dict[str, Selection] = {}
    for node in builds:
        own = owned[node.ref]
        if full:
            chosen[node.ref] = _taken("full", "--full", node, own)
        elif node.ref in needed:
            chosen[node.ref] = _whole(node, "a suite in scope needs it", own)
        elif own:
            chosen[node.ref] = _whole(node, "files of the slice are its own", own)
        elif node.invalid and not files.empty:
            chosen[node.ref] = _whole(node, "it cannot be measured as it is declared", own)
        else:
            chosen[node.ref] = _left_out(node, NOTHING if files.empty else OUT, own)
    return chosen
