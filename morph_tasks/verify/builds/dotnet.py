"""Builds of a .NET tree: one solution or project, chosen by rules that never guess between several."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.verify.builds.detect import COMPILE_TIMEOUT_MS, inferred, unbuilt, with_tool, word
from morph_tasks.verify.builds.scan import inside, listed
from morph_tasks.verify.nodes import Node

if TYPE_CHECKING:
    from morph_tasks.model.load import Config

SOLUTIONS = (".sln", ".slnx")
PROJECTS = (".csproj", ".fsproj", ".vbproj")
# Build servers would outlive the command that started them. A project in the root would compile the sources of work
# trees that lie below it, too.
QUIET = (
    ("DefaultItemExcludes", "worktrees/**;.worktrees/**"),
    ("DOTNET_CLI_TELEMETRY_OPTOUT", "1"),
    ("DOTNET_CLI_UI_LANGUAGE", "en"),
    ("DOTNET_CLI_USE_MSBUILD_SERVER", "0"),
    ("DOTNET_NOLOGO", "1"),
    ("MSBUILDDISABLENODEREUSE", "1"),
    ("UseSharedCompilation", "false"),
)
_FIX = "name the folder of the solution in `project.backendPath` of .morph/config/config.json"
_SHOWN = 8


@dataclass(frozen=True)
class Target:
    """What `dotnet build` is given; `code` and `message` say why there is none. `foreign`: the stack names others."""

    path: str | None = None
    code: str | None = None
    message: str = ""
    foreign: bool = False


def dotnet_builds(root: Path, config: Config) -> list[Node]:
    """Return the .NET build of a tree; none when it is not a .NET tree."""
    target = find_target(root, config)
    if target is None:
        return []
    if target.foreign:
        return [unbuilt(inferred("dotnet", ""), target.message)]
    if target.path is None:
        return [inferred("dotnet", "", invalid=target.message, reason=target.code)]
    node = inferred("dotnet", f"dotnet build {word(target.path)}", set_env=QUIET, timeout_ms=COMPILE_TIMEOUT_MS)
    return [with_tool(node, "dotnet")]


def find_target(root: Path, config: Config) -> Target | None:
    """Return what a .NET tree builds, None when nothing says that it is one.

    In this order: what `project.backendPath` holds, what the root holds, the only solution of the tree, the only
    project of the tree. Codes: `dotnet-solution-not-found`, `dotnet-solution-ambiguous`.
    """
    everything = dotnet_files(root)
    named = names_dotnet(config)
    if not everything and not named:
        return None
    backend = inside(root, config.project.get("backendPath"))
    if config.project.get("backendPath") and backend is None and named:
        return _missing("`project.backendPath` leads outside the tree", everything)
    for folder in (backend, "."):
        chosen = _choice(_within(folder, everything)) if folder else []
        if chosen:
            return _only(chosen)
        if folder and folder != "." and named:
            return _missing(f"`project.backendPath` ({folder}) holds no solution and no project", everything)
    if not everything:
        return _missing("`project.stack` names dotnet, but the tree holds no solution and no project", [])
    if config.project.get("stack") and not named:
        said = f"`project.stack` does not name dotnet, though the tree holds {_shown(everything)}"
        return Target(message=said, foreign=True)
    return _only(_choice(everything))


def dotnet_files(root: Path) -> list[str]:
    """Return the solutions and projects of a tree, shallow ones first."""
    return listed(root, [f"*{ending}" for ending in (*SOLUTIONS, *PROJECTS)])


def names_dotnet(config: Config) -> bool:
    """Tell whether a tag of `project.stack` names .NET."""
    tags = [tag.strip().lower() for tag in (config.project.get("stack") or "").split("+")]
    return any(tag.startswith(("dotnet", ".net", "aspnet")) or tag in ("csharp", "c#", "fsharp") for tag in tags)


def at_root(files: list[str]) -> list[str]:
    """Return what `dotnet` would choose from in the root: solutions, else projects."""
    return _choice(_within(".", files))


def _within(folder: str, files: list[str]) -> list[str]:
    """Return the files of one folder, or the one file that `folder` names."""
    return [path for path in files if (os.path.dirname(path) or ".") == folder or path == folder]


def _choice(files: list[str]) -> list[str]:
    """Return the solutions, else the projects; a solution kept in both formats counts once, as the older one."""
    solutions = [path for path in files if path.lower().endswith(SOLUTIONS)]
    both = {path for path in solutions if path.lower().endswith(".slnx") and path[:-1] in solutions}
    return [path for path in solutions if path not in both] or [
        path for path in files if path.lower().endswith(PROJECTS)
    ]


def _only(chosen: list[str]) -> Target:
    if len(chosen) == 1:
        return Target(chosen[0])
    kind = "solutions" if chosen[0].lower().endswith(SOLUTIONS) else "projects"
    return Target(
        code="dotnet-solution-ambiguous", message=f"{len(chosen)} {kind} could be built: {_shown(chosen)}; {_FIX}"
    )


def _missing(why: str, candidates: list[str]) -> Target:
    there = f"; the tree holds {_shown(_choice(candidates))}" if candidates else ""
    return Target(code="dotnet-solution-not-found", message=f"{why}{there}; {_FIX}")


def _shown(paths: list[str]) -> str:
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return ", ".join(paths[:_SHOWN]) + more
