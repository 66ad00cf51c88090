"""From what a report calls the owner of a test (module, class, package) to the file it stands in."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from morph_tasks.verify.junit import JUnitCase

_DOTTED = re.compile(r"[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+")
_GO_TEST = re.compile(r"((?:Test|Fuzz|Example)\w*)(?:/|$)")
_GO_MODULE = re.compile(rb"^module\s+\"?([^\s\"]+)", re.M)
_JVM = ("src/test/java", "src/test/kotlin", "src/test/groovy", "src/test/scala")
_JVM_ENDS = ("java", "kt", "groovy", "scala")


def placed(file: str | None, root: Path | None, cwd: str) -> str | None:
    """Return a file relative to the root, when it lies below it and is there; else as it was said."""
    if root is None or not file:
        return file
    top = os.path.realpath(root)
    file = file.removeprefix("file://")
    for place in (os.path.join(top, cwd, file), os.path.join(top, file)):
        inside = os.path.relpath(os.path.realpath(place), top)
        if not inside.startswith("..") and os.path.isfile(place):
            return inside
    return file


def file_of_owner(case: JUnitCase, root: Path | None, cwd: str) -> tuple[str | None, str]:
    """Return the file of a JUnit case and the group that it stands in; a file only where one is there.

    `tests.test_a.TestSum` is `tests/test_a.py` and `TestSum`; `com.shop.SumTest` is a class of a source folder of a
    JVM build; `src/a.test.ts`, as vitest and node write it, is the file itself.
    """
    owner = case.classname or (case.suites[-1] if case.suites else "")
    if owner == "test" and case.suites:
        return None, " > ".join(case.suites)  # node puts the titles into the suites
    if root is None or not owner:
        return None, owner
    base = os.path.join(root, cwd)
    if "/" in owner or re.search(r"\.[cm]?[jt]sx?$", owner):
        return (owner, "") if os.path.isfile(os.path.join(base, owner)) else (None, "" if case.file == owner else owner)
    if not _DOTTED.fullmatch(owner) and not owner.isidentifier():
        return None, owner
    return _of_python(owner, base) or _of_jvm(owner, base) or (None, owner)


def of_go(package: str, name: str, root: Path, cwd: str) -> tuple[str, int] | None:
    """Return the file (from `cwd`) and the line of a Go test; go names only packages. None for what is no Go test."""
    base = os.path.join(root, cwd)
    top = _GO_TEST.match(name)
    if not package or not top:
        return None
    try:
        with open(os.path.join(base, "go.mod"), "rb") as file:
            module = _GO_MODULE.search(file.read())
        folder = package.removeprefix(module[1].decode()).strip("/") if module else package
        for one in sorted(os.listdir(os.path.join(base, folder))):
            if one.endswith("_test.go"):
                with open(os.path.join(base, folder, one), "rb") as file:
                    data = file.read()
                if hit := re.search(rb"^func " + top[1].encode() + rb"\(", data, re.M):
                    return os.path.join(folder, one), data.count(b"\n", 0, hit.start()) + 1
    except (OSError, UnicodeDecodeError):
        return None
    return None


def _of_python(owner: str, base: str) -> tuple[str, str] | None:
    parts = owner.split(".")
    for size in range(len(parts), 0, -1):
        file = "/".join(parts[:size]) + ".py"
        if os.path.isfile(os.path.join(base, file)):
            return file, " > ".join(parts[size:])
    return None


def _of_jvm(owner: str, base: str) -> tuple[str, str] | None:
    """Look in the module itself and in the modules of one level below it."""
    name = owner.partition("$")[0].replace(".", "/")
    try:
        modules = ["", *sorted(one.name for one in os.scandir(base) if one.is_dir() and not one.name.startswith("."))]
    except OSError:
        return None
    for module in modules:
        for folder in _JVM:
            for end in _JVM_ENDS:
                file = os.path.join(module, folder, f"{name}.{end}")
                if os.path.isfile(os.path.join(base, file)):
                    return file, owner.rpartition(".")[2]
    return None
