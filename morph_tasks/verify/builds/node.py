"""Builds of TypeScript trees: the compiler checks every configuration and writes nothing into the tree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.verify.builds.detect import inferred, named, unbuilt, with_tool, word
from morph_tasks.verify.builds.scan import FRONTENDS, inside
from morph_tasks.verify.builds.tsconfig import covered
from morph_tasks.verify.nodes import Node
from morph_tasks.verify.probe import ask

if TYPE_CHECKING:
    from morph_tasks.model.load import Config

_TIMEOUT_MS = 300_000
_INCREMENTAL_SINCE = 4  # earlier compilers refuse --incremental beside --noEmit
# Compilers that know more kinds of files than tsc does: the package, and its program.
_WIDER = ("vue-tsc",)


def node_builds(root: Path, config: Config) -> list[Node]:
    """Return a type check for each folder with a `tsconfig.json`: the root, the declared and the known frontends."""
    declared = inside(root, config.project.get("frontendPath"))
    folders = [*FRONTENDS, "web", *([declared] if declared else [])]
    found = [folder for folder in dict.fromkeys(folders) if (root / folder / "tsconfig.json").is_file()]
    return [_check(root, name, folder) for name, folder in named("tsc", found)]


def _check(root: Path, name: str, folder: str) -> Node:
    there = covered(root / folder)
    node = inferred(name, "", cwd=folder, timeout_ms=_TIMEOUT_MS)
    compiler = _installed(root, folder, "typescript")
    if compiler is None:
        return unbuilt(node, "there is a tsconfig.json, but typescript is not installed")
    if there.chained:
        why = f"{there.chained} needs the output of other projects; declare `tsc --build` in `project.build`"
        return unbuilt(node, why)
    if not there.configs:
        return unbuilt(node, "tsconfig.json covers no file")
    program = next((wider for wider in _WIDER if _installed(root, folder, wider)), "tsc")
    runs = [f"{_npx(root)} {program} --noEmit{option}" for option in _options(name, there.configs, compiler)]
    return with_tool(inferred(name, " && ".join(runs), cwd=folder, timeout_ms=_TIMEOUT_MS), "node")


def _options(name: str, configs: tuple[str, ...], compiler: int) -> list[str]:
    """Return the options for each configuration; what the compiler remembers goes to a folder of our own."""
    options = []
    for place, config in enumerate(configs):
        chosen = "" if config == "tsconfig.json" else f" -p {word(config)}"
        notes = f' --incremental --tsBuildInfoFile "$MORPH_CACHE_DIR/{name}-{place}.tsbuildinfo"'
        options.append(chosen + (notes if compiler >= _INCREMENTAL_SINCE else ""))
    return options


def _npx(root: Path) -> str:
    return "yarn run" if (root / ".pnp.cjs").is_file() else "npx --no-install"


def _installed(root: Path, folder: str, package: str) -> int | None:
    """Return the major version of an installed package, looked for as node does; None when it is not there."""
    top = root / folder
    for place in (top, *top.parents):
        manifest = place / "node_modules" / package / "package.json"
        if ask("file", str(manifest)):
            return _major(manifest)
        if place == root:
            break
    # Plug'n'Play keeps packages in archives: yarn knows, and says so when there is none.
    return _INCREMENTAL_SINCE if package == "typescript" and (root / ".pnp.cjs").is_file() else None


def _major(manifest: Path) -> int:
    try:
        return int(str(json.loads(manifest.read_bytes())["version"]).split(".")[0])
    except (OSError, ValueError, KeyError, TypeError):
        return _INCREMENTAL_SINCE
