"""What is installed: names and versions of the packages that a node can import, and the lock files beside it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from morph_tasks.verify.digests import Digests
from morph_tasks.verify.probe import ask

LOCKS = {
    "python": (
        "poetry.lock", "uv.lock", "pdm.lock", "Pipfile.lock", "requirements.txt", "requirements-dev.txt", "pylock.toml",
    ),
    "node": (
        "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb", "deno.lock",
    ),
    "go": ("go.sum", "go.work.sum"),
    "cargo": ("Cargo.lock",),
    "dotnet": ("packages.lock.json", "global.json"),
    "php": ("composer.lock",),
    "ruby": ("Gemfile.lock",),
}  # fmt: skip
# Where package managers note what they have installed; the first file found speaks for the folder.
_INSTALLED = {
    "node": (
        "node_modules/.package-lock.json", "node_modules/.pnpm/lock.yaml",
        "node_modules/.yarn-integrity", "node_modules/.yarn-state.yml",
    ),
    "php": ("vendor/composer/installed.json",),
}  # fmt: skip
_MARKS = {
    "python": ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile"),
    "node": ("package.json",),
    "go": ("go.mod",),
    "cargo": ("Cargo.toml",),
    "dotnet": ("global.json", "Directory.Packages.props"),
    "php": ("composer.json",),
    "ruby": ("Gemfile",),
}
_RUNNERS = {
    "pytest": "python", "unittest": "python", "vitest": "node", "jest": "node", "mocha": "node", "node-test": "node",
    "playwright": "node", "karma": "node", "bun": "node", "deno": "node", "go": "go", "cargo": "cargo",
    "dotnet": "dotnet", "phpunit": "php", "rspec": "ruby",
}  # fmt: skip


def ecosystems(runner: str, root: Path, cwd: Path) -> list[str]:
    """Return the ecosystems of a node: its runner's, or every one that the tree shows marks of."""
    named = _RUNNERS.get(runner)
    if named:
        return [named]
    return [
        name
        for name, marks in _MARKS.items()
        if any((folder / mark).is_file() for folder in {root, cwd} for mark in marks)
    ]


def lock_files(names: Iterable[str], root: Path, cwd: Path, digests: Digests) -> dict[str, str]:
    """Return the lock files in the folder of a node and above it, as path in the tree -> digest."""
    found = {}
    for folder in _upwards(cwd, root):
        for name in (lock for ecosystem in names for lock in LOCKS.get(ecosystem, ())):
            digest = digests.of(str(folder / name))
            if digest:
                found[os.path.relpath(folder / name, root)] = digest
    return found


def installed(ecosystem: str, root: Path, cwd: Path, pythons: Iterable[str], digests: Digests) -> list[str]:
    """Return the installed packages of an ecosystem as sorted lines; [] when there is no record of any."""
    if ecosystem == "python":
        return sorted({name for python in pythons for folder in _sites(python) for name in _distributions(folder)})
    for folder in _upwards(cwd, root):
        for name in _INSTALLED.get(ecosystem, ()):
            if ask("file", str(folder / name)):
                return _listed(folder / name, digests)
    return []


def site_folders(root: Path, python: str) -> list[Path]:
    """Return the folders that a Python imports packages from."""
    path = str(root / python) if "/" in python else ask("which", python)
    return [Path(folder) for folder in _sites(path)] if path else []


def _sites(python: str) -> list[str]:
    hop = python
    for _ in range(16):
        home = os.path.dirname(os.path.dirname(os.path.abspath(hop)))
        if ask("file", f"{home}/pyvenv.cfg"):
            folders = _site_packages(home)
            if _sees_system(f"{home}/pyvenv.cfg"):
                folders += _base_sites(os.path.realpath(python))
            return folders
        target = ask("link", hop)
        if not target:
            break
        hop = os.path.join(os.path.dirname(hop), target)
    return _base_sites(os.path.realpath(python))


def _base_sites(real: str) -> list[str]:
    prefix = os.path.dirname(os.path.dirname(real))
    folders = _site_packages(prefix)
    if prefix == "/usr":
        folders += ["/usr/lib/python3/dist-packages", *_site_packages("/usr/local", "dist-packages")]
    ask("env", "HOME")
    return [*folders, *_site_packages(os.path.expanduser("~/.local"))]


def _site_packages(prefix: str, name: str = "site-packages") -> list[str]:
    ask("file", f"{prefix}/lib")
    try:
        versions = sorted(entry for entry in os.listdir(f"{prefix}/lib") if entry.startswith("python3"))
    except OSError:
        return []
    # Asked also where there is none: the first package that is installed there makes it.
    return [folder for version in versions if ask("file", folder := f"{prefix}/lib/{version}/{name}")]


def _sees_system(config: str) -> bool:
    try:
        text = Path(config).read_text("utf-8", "replace").lower()
    except OSError:
        return False
    return "include-system-site-packages = true" in text


def _distributions(folder: str) -> list[str]:
    ask("file", folder)
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return [name for name in names if name.endswith((".dist-info", ".egg-info", ".egg-link", ".egg"))]


def _listed(path: Path, digests: Digests) -> list[str]:
    """Return `name@version` lines of a manifest that has them, else its digest as the only line."""
    import json

    try:
        packages = json.loads(path.read_bytes()).get("packages") if path.suffix == ".json" else None
    except (OSError, ValueError, AttributeError, RecursionError):
        packages = None
    if isinstance(packages, dict):
        return sorted(_line(name, about or {}) for name, about in packages.items())
    digest = digests.of(str(path))
    return [f"{path.name} {digest}"] if digest else []


def _line(name: str, about: dict[str, Any]) -> str:
    return f"{name.removeprefix('node_modules/')}@{about.get('version')} {about.get('integrity', '')}".strip()


def _upwards(cwd: Path, root: Path) -> list[Path]:
    folders = [cwd]
    while folders[-1] != root and root in folders[-1].parents:
        folders.append(folders[-1].parent)
    return folders
