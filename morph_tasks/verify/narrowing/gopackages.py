"""The packages of a Go module and who imports whom, read from the sources: `go list` would cost more than it saves."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MOST_FILES = 5000
_HEAD = 1 << 16  # imports stand at the top
_IGNORED = frozenset({"testdata", "vendor", "node_modules"})
_IMPORTS = re.compile(r"^import\s*(?:\(([^)]*)\)|(?:[\w.]+\s+)?(\"[^\"\n]+\"|`[^`\n]+`))", re.M)
_PATH = re.compile(r"\"([^\"\n]+)\"|`([^`\n]+)`")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_MODULE = re.compile(r"^module\s+(?:\"([^\"]+)\"|(\S+))", re.M)
_SYSTEMS = re.compile(
    r"_(?:aix|android|darwin|dragonfly|freebsd|illumos|ios|js|linux|netbsd|openbsd|plan9|solaris|wasip1|windows"
    r"|386|amd64|arm|arm64|loong64|mips\w*|ppc64\w*|riscv64|s390x|wasm)(?:_test)?\.go$"
)
CONSTRAINT = re.compile(r"^//\s*\+build\b|^//go:build\b", re.M)


@dataclass(frozen=True)
class Module:
    """A module: its folder relative to the root, its import path, and each package's imports within it.

    Packages are folders relative to the module, `.` for its own. `tested` are those with test files, `plain` those
    with a file that no build constraint keeps out.
    """

    folder: str
    path: str
    imports: dict[str, frozenset[str]]
    tested: frozenset[str]
    plain: frozenset[str]

    def importers(self, packages: set[str]) -> set[str]:
        """Return the packages and everything that imports them, at first or second hand."""
        found, waiting = set(packages), list(packages)
        while waiting:
            one = waiting.pop()
            for name, wanted in self.imports.items():
                if one in wanted and name not in found:
                    found.add(name)
                    waiting.append(name)
        return found


def module_folder(root: Path, path: str) -> str | None:
    """Return the folder of the module that holds a path, relative to the root; None when there is none in the tree."""
    folder = path
    while True:
        if (root / folder / "go.mod").is_file():
            return folder or "."
        if folder in ("", "."):
            return None
        folder = os.path.dirname(folder)


def read_module(root: Path, folder: str) -> Module | str:
    """Return a module's packages, or why they cannot be read."""
    top = root / folder
    try:
        named = _MODULE.search((top / "go.mod").read_text("utf-8", "replace"))
    except OSError:
        named = None
    if not named:
        return "go.mod names no module"
    path = named[1] or named[2]
    imports: dict[str, set[str]] = {}
    tested, plain = set[str](), set[str]()
    for count, (package, file) in enumerate(_files(top)):
        if count >= MOST_FILES:
            return f"the module has more than {MOST_FILES} files: who imports what is not read"
        inner = imports.setdefault(package, set())
        text = head_of(file)
        inner.update(_within(path, imported) for imported in _imports(text) if _is_within(path, imported))
        if not constrained(file.name, text):
            plain.add(package)
        if file.name.endswith("_test.go"):
            tested.add(package)
    return Module(
        folder, path, {name: frozenset(found) for name, found in imports.items()}, frozenset(tested), frozenset(plain)
    )


def _files(top: Path) -> Iterator[tuple[str, Path]]:
    """Yield each source file of a module with its package; modules inside of it are others."""
    for where, folders, names in os.walk(top):
        here = Path(where)
        folders[:] = [
            name
            for name in folders
            if name not in _IGNORED and not name.startswith((".", "_")) and not (here / name / "go.mod").exists()
        ]
        package = os.path.relpath(where, top).replace(os.sep, "/")
        for name in names:
            if name.endswith(".go") and not name.startswith((".", "_")):
                yield package, here / name


def head_of(file: Path) -> str:
    """Return the start of a source file, where imports and build constraints stand; "" when it cannot be read."""
    try:
        with open(file, "rb") as opened:
            return opened.read(_HEAD).decode("utf-8", "replace")
    except OSError:
        return ""


def constrained(name: str, text: str) -> bool:
    """Tell whether a build may leave a file out."""
    return bool(_SYSTEMS.search(name) or CONSTRAINT.search(text))


def _imports(text: str) -> Iterator[str]:
    for block, one in _IMPORTS.findall(_COMMENT.sub("", text)):
        for hit in _PATH.findall(block or one):
            yield hit[0] or hit[1]


def _is_within(module: str, imported: str) -> bool:
    return imported == module or imported.startswith(f"{module}/")


def _within(module: str, imported: str) -> str:
    return imported[len(module) + 1 :] or "."
