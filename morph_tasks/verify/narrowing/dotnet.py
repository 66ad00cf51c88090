"""Narrows chains of `dotnet test` to the types that the test files of a slice declare.

A selector is the bare name of a type. Both filters match a part of a full name, so that a narrowed run may hold more
tests than those of the files, never fewer. Whatever is not understood runs whole.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from morph_tasks.verify.narrowing.dotnet_aims import Aim, aims, reaches
from morph_tasks.verify.narrowing.dotnet_files import sorted_out
from morph_tasks.verify.narrowing.dotnet_links import Link, chain, quoted
from morph_tasks.verify.narrowing.dotnet_log import blocks as blocks
from morph_tasks.verify.narrowing.dotnet_log import is_zero as is_zero
from morph_tasks.verify.narrowing.dotnet_mtp import (
    PLATFORM,
    filtered,
    has_floor,
    ignored_exit,
    lowered,
    settings_filter,
    uses_platform,
)
from morph_tasks.verify.narrowing.dotnet_projects import Projects
from morph_tasks.verify.narrowing.model import Narrowed

# A shell takes its script as one argument, which the kernel limits.
_LONGEST = 100_000
_BRIDGE = "testingplatformdotnettestsupport"


def narrow(
    root: Path, cwd: str, command: str, files: Sequence[str], env: Mapping[str, str] | None = None
) -> Narrowed | str:
    """Return the command for the test types of `files`, or why the whole one has to run.

    `env` is the environment of the run, that of this process by default.
    """
    links = chain(command)
    if isinstance(links, str):
        return links
    tree = Projects(root)
    aimed = aims(tree, cwd, links)
    if isinstance(aimed, str):
        return aimed
    platform = uses_platform(root / cwd)
    if isinstance(platform, str):
        return platform
    if platform and any(link.kind == "solution" for link in links):
        return f"{PLATFORM} runs a solution here, which is not taken apart"
    found = sorted_out(tree, cwd, aimed, files)
    if isinstance(found, str):
        return found
    job = _Job(tree, cwd, platform, os.environ if env is None else env)
    parts: list[str] = []
    left_out_build = False
    for link, aim, groups in zip(links, aimed, found.links, strict=True):
        made = job.narrowed(link, aim, groups)
        if isinstance(made, str):
            return made
        if made and link.unbuilt and left_out_build:
            return "a link that would be left out may build what another one runs with `--no-build`"
        left_out_build = left_out_build or not (made or link.unbuilt)
        parts += made
    if not parts:
        return "no link of the command compiles a test file of the slice"
    whole = " && ".join(parts)
    if len(whole) > _LONGEST:
        return "the slice declares more types than one command can hold"
    return Narrowed(whole, found.types, "count-or-exit" if platform else "count")


def owns(root: Path, cwd: str, command: str, path: str) -> bool | None:
    """Tell whether a project of the command compiles a file or has it in its folder; whether it overlaps a folder.

    None when the command, or which projects it runs, cannot be told.
    """
    links = chain(command)
    if isinstance(links, str):
        return None
    tree = Projects(root)
    aimed = aims(tree, cwd, links)
    if isinstance(aimed, str):
        return None
    answers = [reaches(tree, cwd, aim, path) for aim in aimed]
    return True if True in answers else None if None in answers else False


@dataclass(frozen=True)
class _Job:
    tree: Projects
    cwd: str
    platform: bool
    env: Mapping[str, str]

    def narrowed(self, link: Link, aim: Aim, groups: Mapping[str, Sequence[str]]) -> list[str] | str:
        """Return a call for each project of a link that holds types, none for a link without, or why it runs whole."""
        found = []
        for project, types in groups.items():
            why = self._refused(link, project)
            if why:
                return why
            added = self._filter(project, types)
            if added is None:
                return f"{project} tests with a framework that has no known filter on {PLATFORM}"
            if has_floor(self.tree, project):
                floor = self._floor(link, project, len(groups))
                if not floor.startswith("-p:"):
                    return floor
                added.append(quoted(floor))
            found.append(self._call(link, aim, project, added))
        return found

    def _refused(self, link: Link, project: str) -> str | None:
        if self.tree.tree(project) is None:
            return f"{project} cannot be read"
        named = [os.path.normpath(os.path.join(self.cwd, path)) for path in link.settings]
        why = filtered(self.tree, project, self.platform) or settings_filter(self.tree, project, named)
        if why:
            return why
        if self.platform:
            return ignored_exit(self.tree, project, self.env)
        for path in self.tree.said(project):
            if _BRIDGE in (self.tree.text(path) or "").lower():
                return f"{project} runs {PLATFORM} in place of VSTest, which takes no filter from here"
        return None

    def _filter(self, project: str, types: Sequence[str]) -> list[str] | None:
        framework = self.tree.framework(project) if self.platform else "vstest"
        if framework is None:
            return None
        if framework == "xunit.v3":
            return [f"--filter-class {quoted(f'*{name}*')}" for name in types]
        return ["--filter", quoted("|".join(f"FullyQualifiedName~{name}" for name in types))]

    def _floor(self, link: Link, project: str, many: int) -> str:
        """Return the property that lowers the project's floor of tests to one, or why that cannot be done."""
        said = f"{project} has a floor of tests"
        if not self.platform:
            return f"{said}, and VSTest runs it"
        if many > 1:
            return f"{said}, and the link runs more than one project"
        if link.declares:
            return f"{said}, and the command sets the same arguments"
        return lowered(self.tree, project) or f"{said} that is not a literal in one place"

    def _call(self, link: Link, aim: Aim, project: str, added: Sequence[str]) -> str:
        if link.kind == "project":
            return link.text(added)
        path = posixpath.relpath(project, self.cwd or ".")
        path = f"./{path}" if path.startswith("-") else path
        return link.text(added, path, "--project" if self.platform else None)
