"""go test: the packages of the slice's files, and those that import what changed, in place of the declared ones."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from morph_tasks.verify.narrowing.gopackages import Module, constrained, head_of, module_folder, read_module
from morph_tasks.verify.narrowing.line import Line, parse
from morph_tasks.verify.narrowing.model import Narrowed
from morph_tasks.verify.narrowing.options import read
from morph_tasks.verify.narrowing.places import below, is_any_test, is_document, normal
from morph_tasks.verify.narrowing.program import base_name, find
from morph_tasks.verify.narrowing.vocabulary import GO, GOTESTSUM

_SUITE = frozenset({"go.mod", "go.sum", "go.work", "go.work.sum", ".go-version", ".tool-versions", "mise.toml"})
_DATA = frozenset({"fixtures", "golden", "test", "tests", "mocks", "snapshots", "data"})
_CHOOSING = ("-run", "-skip", "-list")
_PLAIN = re.compile(r"(?:[A-Za-z0-9_.~+][A-Za-z0-9_.~+-]*/)*[A-Za-z0-9_.~+][A-Za-z0-9_.~+-]*")
_NOTHING = re.compile(r"^(?:\?\s+\t|ok\s.*\[no tests to run\]|no packages to test|go: warning: .*matched no packages)")


@dataclass(frozen=True)
class _Call:
    """A call of `go test`: the places of its package words in the line, and the word before them."""

    line: Line
    packages: tuple[int, ...]
    before: int


def narrow(root: Path, cwd: str, command: str, files: Sequence[str]) -> Narrowed | str:
    """Return the command for the packages that the slice's files are in or are imported by, within the declared ones.

    `zero_guard` is `count-or-exit` where the output counts no tests: `ok` for a package without tests says so.
    """
    call = _call(command)
    if isinstance(call, str):
        return call
    sources = _sources(root, files)
    if isinstance(sources, str):
        return sources
    folder = module_folder(root, cwd)
    if folder is None:
        return "there is no go.mod above the node's folder"
    if any(module_folder(root, path) != folder for path in sources):
        return "a file of the slice belongs to another module"
    module = read_module(root, folder)
    if isinstance(module, str):
        return module
    wanted = _wanted(module, folder, sources)
    declared = _declared(root, cwd, call, module)
    if isinstance(declared, str):
        return declared
    chosen = sorted(wanted & declared & set(module.imports))
    if not any(package in module.tested for package in chosen):
        return "no package that the slice's files matter to has tests among those of the command"
    if odd := [package for package in chosen if package not in module.plain]:
        return f"all files of {odd[0]} have build constraints: go refuses it when it is named"
    if set(module.imports) & declared <= wanted:
        return "the slice's files matter to every package of the command"
    return _command(cwd, folder, call, chosen)


def _call(command: str) -> _Call | str:
    line = parse(command)
    if isinstance(line, str):
        return line
    at = find(line, ("go", "gotestsum"))
    if isinstance(at, str):
        return at
    if line.sets("GOFLAGS", at) or any(flag in os.environ.get("GOFLAGS", "") for flag in _CHOOSING):
        return "GOFLAGS may choose tests already"
    at = _verb(line, at)
    if isinstance(at, str):
        return at
    args = read(line, at + 1, GO)
    if isinstance(args, str):
        return args
    if args.dashes is not None:
        return "the command hands words behind `--` on"
    # The list of packages ends at the first flag behind it; what comes later is for the test binary.
    for one, following in zip(args.plain, args.plain[1:], strict=False):
        if following != one + 1:
            return f"`{line.words[following].text[:60]}` is for the test binary"
    return _Call(line, args.plain, args.plain[0] - 1 if args.plain else at)


def _verb(line: Line, at: int) -> int | str:
    """Return the word behind which the words of `go test` begin."""
    if base_name(line.words[at].text) == "go":
        verb = line.words[at + 1].text if at + 1 < len(line.words) else ""
        return at + 1 if verb == "test" else f"`go {verb}` runs no tests"
    args = read(line, at + 1, GOTESTSUM)
    if isinstance(args, str):
        return args
    if args.dashes is None or args.plain:
        return "`gotestsum` takes packages only behind `--`"
    return args.dashes


def _sources(root: Path, files: Sequence[str]) -> list[str] | str:
    """Return the Go files of the slice, or what of it matters to more than packages."""
    found = []
    for path in files:
        *folders, name = path.split("/")
        if name in _SUITE or name.startswith(".env"):
            return f"{path} changes how the suite runs"
        if {"testdata", "vendor"}.intersection(folders):
            return f"{path} is data or foreign code that any package may read"
        if name.endswith(".go"):
            if constrained(name, head_of(root / path)):
                return f"{path} has a build constraint: whether it is part of a run cannot be told"
            found.append(path)
        elif not is_document(path) and not is_any_test(path) and (problem := _read_by(root, path, folders)):
            return problem
    return found or "the slice changed no Go file"


def _read_by(root: Path, path: str, folders: Sequence[str]) -> str | None:
    """Return why a file that is no source may matter to tests."""
    if _DATA.intersection(folders):
        return f"{path} is data that any package may read"
    for depth in range(len(folders), -1, -1):
        for source in (root / "/".join(folders[:depth])).glob("*.go"):
            if (depth == len(folders) and depth) or "//go:embed" in head_of(source):
                return f"{path} lies in a package, which may read or embed it"
    return None


def _wanted(module: Module, folder: str, sources: Sequence[str]) -> set[str]:
    """Return the packages of the files; code matters to its importers too, a test only to its own package."""
    tests, code = set[str](), set[str]()
    for path in sources:
        inner = path if folder == "." else path[len(folder) + 1 :]
        (tests if inner.endswith("_test.go") else code).add(posixpath.dirname(inner) or ".")
    return tests | module.importers(code)


def _declared(root: Path, cwd: str, call: _Call, module: Module) -> set[str] | str:
    """Return the packages of the module that the command names."""
    at = normal(posixpath.relpath(cwd, module.folder))
    words = [call.line.words[place].text for place in call.packages] or ["."]
    found = set[str]()
    for word in words:
        if not (word in (".", "..", "...") or word.startswith(("./", "../"))):
            if word != module.path and not word.startswith(f"{module.path}/"):
                return f"`{word[:60]}` is no path of a package"
            place = word[len(module.path) + 1 :] or "."
        else:
            place = normal(posixpath.join(at, word))
        wide = place == "..." or place.endswith("/...")
        stem = place.removesuffix("...").rstrip("/") or "."
        if "..." in stem or place.endswith(".go"):
            return f"`{word[:60]}` chooses packages or files in a way that is not followed"
        found |= {name for name in module.imports if (below(stem, name) if wide else name == stem)}
    return found


def _command(cwd: str, folder: str, call: _Call, chosen: Sequence[str]) -> Narrowed | str:
    selectors = []
    for package in chosen:
        path = posixpath.relpath(normal(posixpath.join(folder, package)), cwd)
        if path != "." and not _PLAIN.fullmatch(path.replace("../", "")):
            return f"go takes no path like {path}"
        selectors.append(path if path in (".", "..") or path.startswith("../") else f"./{path}")
    texts = [word.text for word in call.line.words]
    counted = any(text in ("-v", "--v", "-v=true", "-json", "--json", "-test.v") for text in texts) or any(
        base_name(text) == "gotestsum" for text in texts
    )
    changed = call.line.insert(call.before, selectors, call.packages)
    return Narrowed(changed, tuple(selectors), "count" if counted else "count-or-exit")


def is_zero(log: str, exit_code: int | None) -> bool:
    """Tell whether every package of a red run said that it has no tests."""
    lines = [line for line in log.splitlines() if line.strip()]
    return bool(lines) and all(_NOTHING.match(line) for line in lines)
