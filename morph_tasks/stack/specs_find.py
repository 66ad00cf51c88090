"""Where the browser specs of a project are: what runs them, and which configurations nothing runs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.verify.builds.scan import DATA, FOREIGN, FRONTENDS, inside

if TYPE_CHECKING:
    from morph_tasks.model.load import Config

PACKAGE = "@playwright/test"
# In the order in which Playwright itself takes them.
CONFIG_NAMES = tuple(f"playwright.config.{ending}" for ending in ("ts", "js", "mts", "mjs", "cts", "cjs"))
_KNOWN = (*(folder for folder in FRONTENDS if folder != "."), "web")
_PNP = (".pnp.cjs", ".pnp.js")
_LOCKS = (
    ("package-lock.json", "npm ci"),
    ("npm-shrinkwrap.json", "npm ci"),
    ("pnpm-lock.yaml", "pnpm install --frozen-lockfile"),
    ("yarn.lock", "yarn install"),
    ("bun.lock", "bun install"),
    ("bun.lockb", "bun install"),
)


@dataclass(frozen=True)
class Unexecuted:
    """A Playwright configuration that nothing runs: its path in the tree, why, and the way out."""

    path: str
    why: str
    fix: str

    def __str__(self) -> str:
        return f"{self.path} was not executed: {self.why}; {self.fix}"


@dataclass(frozen=True)
class Specs:
    """Specs that can be run.

    `folder` is where, relative to the root. `argv` is what starts Playwright there, () when it is not installed, which
    `missing` then says. `command` is the project's own `e2e.command` instead, run as it is.
    """

    folder: str = "."
    config: str = ""
    argv: tuple[str, ...] = ()
    command: str = ""
    missing: str = ""
    fix: str = ""
    unexecuted: tuple[Unexecuted, ...] = ()


@dataclass(frozen=True)
class NoSpecs:
    """There is nothing to run; `unexecuted` names the configurations that lie where nobody looks."""

    unexecuted: tuple[Unexecuted, ...] = ()


def find_specs(root: Path, config: Config) -> Specs | NoSpecs:
    """Return the browser specs of a tree: `e2e.command`, or Playwright in the root, `frontendPath`, a known folder."""
    command = (config.data.get("e2e") or {}).get("command")
    if isinstance(command, str) and command.strip():
        return Specs(command=command)
    declared = config.project.get("frontendPath")
    places = _places(root, declared)
    found = next((specs for folder in places if (specs := _in_folder(root, folder))), None)
    # What can be run is taken before what lacks its packages, wherever it is.
    ready = next((specs for folder in places if (specs := _in_folder(root, folder)) and specs.argv), found)
    return _naming_others(root, ready, places)


def _places(root: Path, declared: str | None) -> list[str]:
    """Return the folders to look into, in order, each once, none outside the tree."""
    wanted = [declared] if declared else list(_KNOWN)
    real = [inside(root, folder) for folder in wanted]
    return list(dict.fromkeys([".", *(folder for folder in real if folder)]))


def _naming_others(root: Path, chosen: Specs | None, looked: list[str]) -> Specs | NoSpecs:
    from dataclasses import replace

    skipped: list[Unexecuted] = []
    for folder in dict.fromkeys([*looked, *_first_level(root), *_KNOWN]):
        name = config_in(root / folder)
        if name is None or (chosen is not None and folder == chosen.folder):
            continue
        skipped.append(_unexecuted(root, folder, name, chosen, folder in looked))
    if chosen is None:
        return NoSpecs(tuple(skipped))
    return replace(chosen, unexecuted=tuple(skipped))


def _unexecuted(root: Path, folder: str, name: str, chosen: Specs | None, looked: bool) -> Unexecuted:
    path = name if folder == "." else f"{folder}/{name}"
    if chosen is not None:
        why = f"only one place is run, and that is {_shown(chosen.folder)}"
        return Unexecuted(path, why, "set e2e.command to a command that runs all of them")
    if looked:
        why = f"{PACKAGE} is not installed there, and no package.json asks for it"
        return Unexecuted(path, why, f"add {PACKAGE} to the project and install it")
    return Unexecuted(
        path, "it is in a folder where specs are not looked for", f'set project.frontendPath to "{folder}"'
    )


def _shown(folder: str) -> str:
    return "the root" if folder == "." else folder


def _first_level(root: Path) -> list[str]:
    """Return the folders of the first level that may be the project's own; a link is none."""
    try:
        with os.scandir(root) as entries:
            names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    return sorted(name for name in names if name not in FOREIGN | DATA and not name.startswith("."))


def config_in(folder: Path) -> str | None:
    """Return the name of the Playwright configuration in a folder, None when there is none."""
    return next((name for name in CONFIG_NAMES if (folder / name).is_file()), None)


def _in_folder(root: Path, folder: str) -> Specs | None:
    """Return the specs of a folder; None where nothing asks for Playwright, or nothing configures it."""
    place = root / folder
    name = config_in(place)
    if name is None:
        return None
    parents = list(_upwards(place, root))
    if argv := _starting(place, parents):
        return Specs(folder, name, argv)
    if not any(_declares(parent / "package.json") for parent in parents):
        return None
    install = next((words for lock, words in _LOCKS for parent in parents if (parent / lock).is_file()), "npm install")
    missing = f"{_shown(folder)} has {name}, and {PACKAGE} is not installed"
    return Specs(folder, name, missing=missing, fix=f"install the packages: {install}")


def _starting(place: Path, parents: list[Path]) -> tuple[str, ...]:
    """Return what starts the Playwright that the folder's own files would import; nothing is ever downloaded for it."""
    for parent in (place, *place.parents):
        cli = parent / "node_modules" / PACKAGE / "cli.js"
        if cli.is_file():
            return ("node", str(cli))
    for parent in parents:
        for name in _PNP:
            if (parent / name).is_file() and any(_declares(above / "package.json") for above in parents):
                return ("yarn", "playwright")
    return ()


def _upwards(place: Path, root: Path) -> Iterator[Path]:
    """Yield a folder and those above it, the last one is the root of the tree."""
    for folder in (place, *place.parents):
        yield folder
        if folder == root:
            return


def _declares(manifest: Path) -> bool:
    try:
        said = json.loads(manifest.read_text("utf-8-sig"))
    except (OSError, ValueError):
        return False
    if not isinstance(said, dict):
        return False
    parts = [said.get(key) for key in ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")]
    return any(isinstance(part, dict) and PACKAGE in part for part in parts)
