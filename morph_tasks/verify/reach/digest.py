"""What a measurement keeps of the coverage of its run: for each file of the tree, the lines that each test ran.

Tests that carry a scenario are kept in full; of the others as many as it takes to name one for each line.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.verify.probe import ask
from morph_tasks.verify.reach.contexts import Contexts, Named
from morph_tasks.verify.reach.data import Bits, Lines, UnreadableError, read_data

if TYPE_CHECKING:
    from morph_tasks.verify.evidence import Store
    from morph_tasks.verify.nodes import Node
    from morph_tasks.verify.reach.files import Watch

VERSION = 1
_FOREIGN = frozenset({"site-packages", "node_modules", ".venv", "venv", ".tox", ".nox", ".morph"})


@dataclass(frozen=True)
class FileRan:
    """One file: the digest of its content as it ran, all lines that ran, and those of each test that is kept."""

    content: str
    ran: Bits
    contexts: Mapping[str, Bits] = field(default_factory=dict)


@dataclass(frozen=True)
class Digest:
    """The coverage of one measurement. `named` False: the run did not tell which test ran which line."""

    files: Mapping[str, FileRan]
    named: bool


@contextmanager
def watched(root: Path, node: Node) -> Iterator[Watch | None]:
    """Watch the data files of a node's run; None where no file of this machine would tell of it."""
    from morph_tasks.verify.reach.files import Watch, data_file

    if node.family != "tests" or node.image is not None:
        yield None
        return
    with Watch(data_file(root, node)) as seen:
        yield seen


def kept(root: Path, node: Node, seen: Watch | None, result: Mapping[str, Any], log: Path) -> dict[str, Any]:
    """Keep the coverage of a run beside its log; returns what its record says of that, nothing when there is none."""
    from morph_tasks.repo.files import write_atomic

    if seen is None or result["status"] not in ("pass", "flaky"):
        return {}
    paths, problem = seen.written()
    if problem or not paths:
        return {"coverage": {"file": None, "problem": problem}} if problem else {}
    place = log.with_suffix(".coverage.json")
    tests = [Named(one["name"], one.get("file")) for one in result.get("tests") or ()]
    try:
        made = make(root, node.cwd, [read_data(path) for path in paths], tests)
    except UnreadableError as error:
        return {"coverage": {"file": None, "problem": str(error)}}
    if not made.files:
        return {}
    write_atomic(
        place, json.dumps(_as_json(made), separators=(",", ":")).encode("utf-8", "surrogateescape"), mode=0o600
    )
    return {"coverage": {"file": place.name, "problem": None}}


def make(root: Path, cwd: str, data: Iterable[Lines], tests: Iterable[Named]) -> Digest:
    """Return the digest of the data of one run."""
    merged: dict[str, dict[str, Bits]] = {}
    for lines in data:
        for said, contexts in lines.items():
            path = _in_tree(root, cwd, said)
            if path is not None:
                into = merged.setdefault(path, {})
                for name, bits in contexts.items():
                    into[name] = into.get(name, 0) | bits
    known = Contexts(tests)
    carrying = {name for contexts in merged.values() for name in contexts if name and known.tests(name)}
    files = {}
    for path, contexts in sorted(merged.items()):
        content = content_of(root / path)
        if content is not None:
            files[path] = FileRan(content, _union(contexts.values()), _chosen(contexts, carrying))
    return Digest(files, any(name for contexts in merged.values() for name in contexts))


def _in_tree(root: Path, cwd: str, said: str) -> str | None:
    """Return the path of a production file from the root of the tree; None for any other file."""
    from morph_tasks.codegraph.marks import is_test

    real = os.path.realpath(root)
    path = os.path.relpath(os.path.realpath(os.path.join(real, cwd, said)), real)
    parts = path.split("/")
    return None if parts[0] == ".." or not _FOREIGN.isdisjoint(parts) or is_test(path) else path


def _chosen(contexts: Mapping[str, Bits], carrying: set[str]) -> dict[str, Bits]:
    chosen = {name: bits for name, bits in contexts.items() if name in carrying}
    seen = 0
    for name in sorted(contexts, key=lambda one: (-contexts[one].bit_count(), one)):
        if name and name not in carrying and contexts[name] & ~seen:
            chosen[name] = contexts[name]
            seen |= contexts[name]
    return chosen


def _union(many: Iterable[Bits]) -> Bits:
    found = 0
    for bits in many:
        found |= bits
    return found


def content_of(path: Path) -> str | None:
    """Return what identifies the content of a file; None when it cannot be read."""
    try:
        return sha256(path.read_bytes()).hexdigest()[:32]
    except OSError:
        return None


def _as_json(made: Digest) -> dict[str, Any]:
    names = sorted({name for one in made.files.values() for name in one.contexts})
    at = {name: number for number, name in enumerate(names)}
    files = {
        path: [one.content, f"{one.ran:x}", {str(at[name]): f"{bits:x}" for name, bits in one.contexts.items()}]
        for path, one in made.files.items()
    }
    return {"version": VERSION, "named": made.named, "contexts": names, "files": files}


def read_digest(store: Store, record: Mapping[str, Any]) -> Digest | None:
    """Return the coverage that a record kept; None when it kept none, or it is gone."""
    name = (record.get("coverage") or {}).get("file")
    if not isinstance(name, str) or name != os.path.basename(name):
        return None
    # By its place in the store: a repository may have moved since.
    place = str(store.node(str(record.get("node"))) / str(record.get("key")) / name)
    ask("file", place)
    try:
        said = json.loads(Path(place).read_bytes().decode("utf-8", "surrogateescape"))
        if said["version"] != VERSION:
            return None
        names = said["contexts"]
        files = {
            path: FileRan(content, int(ran, 16), {names[int(at)]: int(bits, 16) for at, bits in contexts.items()})
            for path, (content, ran, contexts) in said["files"].items()
        }
        return Digest(files, bool(said["named"]))
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError):
        return None
