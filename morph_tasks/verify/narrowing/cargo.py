"""cargo test: `-p` for the crates of the slice's files and those that need them, `--test` for integration tests."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from morph_tasks.verify.narrowing.crates import Crate, Workspace, read_workspace
from morph_tasks.verify.narrowing.line import Line, parse
from morph_tasks.verify.narrowing.model import Narrowed
from morph_tasks.verify.narrowing.options import Args, read
from morph_tasks.verify.narrowing.places import is_any_test, is_document, normal
from morph_tasks.verify.narrowing.program import base_name, find
from morph_tasks.verify.narrowing.vocabulary import CARGO, LIBTEST

_SUITE = re.compile(
    r"^(?:cargo\.(?:toml|lock)|build\.rs|rust-toolchain(?:\.toml)?|\.env.*|clippy\.toml|nextest\.toml|\.tool-versions)$",
    re.I,
)
# Code in other languages is no data of a crate, unless it lies among that.
_FOREIGN = re.compile(r"\.(?:pyi?|[cm]?[jt]sx?|go|cs|java|kts?|rb|php|vue|svelte|css|scss)$")
_DATA = frozenset({"tests", "fixtures", "testdata", "data", "golden", "snapshots", "benches", "examples"})
_ALL = ("--workspace", "--all")
_NOTHING = re.compile(r"^running 0 tests$|^\s*Starting 0 tests|^error: no tests to run", re.M)
_SOMETHING = re.compile(r"^running [1-9]\d* tests?$|^\s*Starting [1-9]\d* tests?", re.M)


@dataclass(frozen=True)
class _Call:
    """A call of `cargo test`, the place of its verb, and whether it is nextest's."""

    line: Line
    verb: int
    args: Args


def narrow(root: Path, cwd: str, command: str, files: Sequence[str]) -> Narrowed | str:
    """Return the command with the crates of the slice's files; integration tests alone are named by `--test`."""
    call = _call(command)
    if isinstance(call, str):
        return call
    manifest = _manifest(root, cwd, call)
    if manifest is None:
        return "there is no Cargo.toml above the node's folder"
    workspace = read_workspace(root, manifest)
    if isinstance(workspace, str):
        return workspace
    sources = _sources(files)
    if isinstance(sources, str):
        return sources
    declared = frozenset(crate.folder for crate in workspace.crates)
    if not any(name in call.args.options for name in _ALL):
        declared = workspace.default
    chosen = _chosen(workspace, sources, declared)
    if isinstance(chosen, str):
        return chosen
    crates, tests = chosen
    every = [crate for crate in workspace.crates if crate.folder in declared]
    if not tests and len(crates) >= len(every):
        return "the slice's files matter to every crate of the command"
    selectors = [word for crate in crates for word in ("-p", crate.name)] if len(every) > 1 else []
    selectors += [word for name in tests for word in ("--test", name)]
    without = [place for place, word in enumerate(call.line.words) if word.text in _ALL and place > call.verb]
    return Narrowed(call.line.insert(call.verb, selectors, without), tuple(selectors))


def _call(command: str) -> _Call | str:
    line = parse(command)
    if isinstance(line, str):
        return line
    at = find(line, ("cargo", "cargo-nextest"))
    if isinstance(at, str):
        return at
    verb = at + 1
    if verb < len(line.words) and line.words[verb].text.startswith("+"):
        verb += 1
    name = line.words[verb].text if verb < len(line.words) else ""
    if base_name(line.words[at].text) == "cargo-nextest" or name == "nextest":
        verb += base_name(line.words[at].text) == "cargo"
        if verb >= len(line.words) or line.words[verb].text not in ("run", "r"):
            return "`cargo nextest` runs no tests here"
    elif name not in ("test", "t"):
        return f"`cargo {name}` runs no tests here"
    args = read(line, verb + 1, CARGO)
    if isinstance(args, str):
        return args
    if args.plain:
        return f"the command chooses its tests already (`{line.words[args.plain[0]].text[:60]}`)"
    if args.dashes is not None:
        behind = read(line, args.dashes + 1, LIBTEST)
        if isinstance(behind, str):
            return behind
        if behind.plain or behind.behind:
            return (
                f"the command chooses its tests already (`{line.words[[*behind.plain, *behind.behind][0]].text[:60]}`)"
            )
    return _Call(line, verb, args)


def _manifest(root: Path, cwd: str, call: _Call) -> str | None:
    named = call.args.options.get("--manifest-path")
    if named:
        path = os.path.relpath(named[-1], root) if named[-1].startswith("/") else normal(posixpath.join(cwd, named[-1]))
        return path if not path.startswith("..") and (root / path).is_file() else None
    folder = cwd
    while not (root / folder / "Cargo.toml").is_file():
        if folder == ".":
            return None
        folder = posixpath.dirname(folder) or "."
    return normal(posixpath.join(folder, "Cargo.toml"))


def _sources(files: Sequence[str]) -> list[str] | str:
    """Return the Rust files of the slice, or what of it matters to more than crates."""
    found = []
    for path in files:
        *folders, name = path.split("/")
        if _SUITE.match(name) or ".cargo" in folders or ".config" in folders:
            return f"{path} changes how the suite runs"
        if name.endswith(".rs"):
            found.append(path)
        elif not (is_document(path) or is_any_test(path) or (_FOREIGN.search(name) and _DATA.isdisjoint(folders))):
            return f"{path} is no Rust file: which tests read it cannot be told"
    return found or "the slice changed no Rust file"


def _chosen(
    workspace: Workspace, sources: Sequence[str], declared: frozenset[str]
) -> tuple[list[Crate], list[str]] | str:
    """Return the crates to run and the integration tests to name; none of those when code changed too."""
    code, tested, names = set[str](), set[str](), set[str]()
    for path in sources:
        crate = workspace.owner(path)
        if crate is None:
            return f"{path} belongs to no crate of the workspace"
        inner = path if crate.folder == "." else path[len(crate.folder) + 1 :]
        name = _test_name(crate, inner)
        if name:
            tested.add(crate.folder)
            names.add(name)
        elif inner.startswith(("tests/", "benches/", "examples/")):
            tested.add(crate.folder)
            names.add("")
        else:
            code.add(crate.folder)
    wanted = (workspace.needing(code) | tested) & declared
    crates = [crate for crate in workspace.crates if crate.folder in wanted]
    if not crates:
        return "no crate that the slice's files matter to is among those of the command"
    only_tests = not code and "" not in names and tested <= declared
    return crates, sorted(names) if only_tests else []


def _test_name(crate: Crate, inner: str) -> str | None:
    """Return the integration test that a file is; None for what several of them may use."""
    if crate.named_tests is not None:
        return None
    steps = inner.split("/")
    if len(steps) == 2 and steps[0] == "tests":
        return steps[1].removesuffix(".rs")
    return steps[1] if len(steps) == 3 and steps[0] == "tests" and steps[2] == "main.rs" else None


def is_zero(log: str, exit_code: int | None) -> bool:
    """Tell whether every binary of a red run had no test to run."""
    return bool(_NOTHING.search(log)) and not _SOMETHING.search(log)
