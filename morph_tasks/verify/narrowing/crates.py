"""The crates of a Cargo workspace, read from its manifests: where they are, and who needs whom."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from morph_tasks.verify.narrowing.places import below, normal

_TABLES = ("dependencies", "dev-dependencies", "build-dependencies")
_MOST = 500


@dataclass(frozen=True)
class Crate:
    """A crate: its name, its folder relative to the root, the folders of the crates it needs by path, its own tests.

    `named_tests` None: cargo finds the tests by their files.
    """

    name: str
    folder: str
    needs: frozenset[str]
    named_tests: tuple[str, ...] | None


@dataclass(frozen=True)
class Workspace:
    """All crates, and the folders of those that a command without `--workspace` runs."""

    crates: tuple[Crate, ...]
    default: frozenset[str]

    def owner(self, path: str) -> Crate | None:
        """Return the innermost crate that holds a path."""
        holding = [crate for crate in self.crates if below(crate.folder, path)]
        return max(holding, key=lambda crate: len(crate.folder) if crate.folder != "." else 0, default=None)

    def needing(self, crates: set[str]) -> set[str]:
        """Return the folders of crates and of everything that needs them, at first or second hand."""
        found, waiting = set(crates), list(crates)
        while waiting:
            one = waiting.pop()
            for crate in self.crates:
                if one in crate.needs and crate.folder not in found:
                    found.add(crate.folder)
                    waiting.append(crate.folder)
        return found


def read_workspace(root: Path, manifest: str) -> Workspace | str:
    """Return the workspace of a manifest relative to the root, or why it cannot be read."""
    here = posixpath.dirname(manifest) or "."
    top = _top(root, here)
    table = _toml(root / top / "Cargo.toml")
    own = _toml(root / manifest)
    if table is None or own is None:
        return f"{manifest} cannot be read"
    workspace = table.get("workspace")
    if not isinstance(workspace, dict):
        crate = _crate(root, here, own, {}, here)
        return Workspace((crate,), frozenset({here})) if crate else f"{manifest} names no package"
    shared = workspace.get("dependencies")
    folders = _members(root, top, table, workspace)
    if len(folders) > _MOST:
        return f"the workspace has more than {_MOST} crates"
    crates = []
    for folder in folders:
        data = _toml(root / folder / "Cargo.toml")
        crate = _crate(root, folder, data, shared if isinstance(shared, dict) else {}, top) if data else None
        if crate is None:
            return f"{normal(posixpath.join(folder, 'Cargo.toml'))} cannot be read"
        crates.append(crate)
    return Workspace(tuple(crates), _default(root, top, here, own, workspace, folders))


def _top(root: Path, folder: str) -> str:
    """Return the folder of the workspace around a crate, its own when there is none in the tree."""
    at = folder
    while True:
        table = _toml(root / at / "Cargo.toml")
        if table and isinstance(table.get("workspace"), dict):
            return at
        if at == ".":
            return folder
        at = posixpath.dirname(at) or "."


def _members(root: Path, top: str, table: dict[str, Any], workspace: dict[str, Any]) -> list[str]:
    found = [top] if isinstance(table.get("package"), dict) else []
    left_out = [normal(posixpath.join(top, one)) for one in _strings(workspace.get("exclude"))]
    for pattern in _strings(workspace.get("members")):
        for folder in _spread(root, top, pattern):
            if folder not in found and not any(below(one, folder) for one in left_out):
                found.append(folder)
    # Crates that members need by path are members too.
    for folder in found:
        data = _toml(root / folder / "Cargo.toml") or {}
        shared = workspace.get("dependencies")
        for need in _needs(folder, data, shared if isinstance(shared, dict) else {}, top):
            inside = below(top, need) and not any(below(one, need) for one in left_out)
            if inside and need not in found and (root / need / "Cargo.toml").is_file():
                found.append(need)
    return found


def _spread(root: Path, top: str, pattern: str) -> Iterator[str]:
    if pattern.startswith(("/", "..")):
        return
    if not any(sign in pattern for sign in "*?["):
        yield normal(posixpath.join(top, pattern))
        return
    for path in sorted((root / top).glob(pattern)):
        if (path / "Cargo.toml").is_file():
            yield normal(path.relative_to(root).as_posix())


def _default(
    root: Path, top: str, here: str, own: dict[str, Any], workspace: dict[str, Any], folders: list[str]
) -> frozenset[str]:
    """Return what runs without `--workspace`: the crate of the folder, else the default members, else all."""
    if here == top and (named := _strings(workspace.get("default-members"))):
        return frozenset(folder for pattern in named for folder in _spread(root, top, pattern))
    return frozenset({here}) if isinstance(own.get("package"), dict) else frozenset(folders)


def _crate(root: Path, folder: str, data: dict[str, Any], shared: dict[str, Any], top: str) -> Crate | None:
    package = data.get("package")
    name = package.get("name") if isinstance(package, dict) else None
    if not isinstance(name, str) or not isinstance(package, dict):
        return None
    tests = data.get("test")
    declared = tuple(str(one.get("name")) for one in tests if isinstance(one, dict)) if isinstance(tests, list) else ()
    found = declared if declared or package.get("autotests") is False else None
    return Crate(name, folder, frozenset(_needs(folder, data, shared, top)), found)


def _needs(folder: str, data: dict[str, Any], shared: dict[str, Any], top: str) -> Iterator[str]:
    targets = data.get("target")
    tables = [data, *(targets.values() if isinstance(targets, dict) else ())]
    for table in tables:
        for name in _TABLES:
            found = table.get(name) if isinstance(table, dict) else None
            for key, value in (found if isinstance(found, dict) else {}).items():
                if not isinstance(value, dict):
                    continue
                where, base = value, folder
                if value.get("workspace") is True and isinstance(shared.get(key), dict):
                    where, base = shared[key], top
                if isinstance(where.get("path"), str):
                    yield normal(posixpath.join(base, where["path"]))


def _strings(value: Any) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _toml(path: Path) -> dict[str, Any] | None:
    import tomllib

    try:
        return tomllib.loads(path.read_text("utf-8-sig"))
    except (OSError, ValueError):
        return None
