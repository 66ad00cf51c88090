"""What each call of a chain runs: one project, or the projects of a solution and a folder."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Sequence
from dataclasses import dataclass

from morph_tasks.verify.narrowing.dotnet_compile import compiles, in_solution
from morph_tasks.verify.narrowing.dotnet_links import SOLUTIONS, Link
from morph_tasks.verify.narrowing.dotnet_projects import ANY, CSHARP, Projects
from morph_tasks.verify.narrowing.places import below, inside, normal


@dataclass(frozen=True)
class Aim:
    """What a link runs, relative to the root: its `project`, or else what its `solution` lists (None: not known)."""

    project: str | None = None
    solution: tuple[str, ...] | None = None


def aims(tree: Projects, cwd: str, links: Sequence[Link]) -> tuple[Aim, ...] | str:
    """Return what every link runs, or why it cannot be told."""
    found = []
    for link in links:
        aim = _aim(tree, normal(cwd), link)
        if isinstance(aim, str):
            return aim
        found.append(aim)
    return tuple(found)


def taker(tree: Projects, cwd: str, aim: Aim, path: str) -> str | bool | None:
    """Return the project with which a link runs a C# file, False for none, None when it cannot be told.

    A solution's link reaches the projects of the files below the node's folder, and those that the solution lists.
    """
    if aim.project:
        answer = compiles(tree, aim.project, path)
        return aim.project if answer else answer
    owner = tree.nearest(path)
    if owner is None or not (inside(tree.root, normal(cwd), path) or _lists(tree, aim, owner)):
        return False
    answer = compiles(tree, owner, path)
    return owner if answer else answer


def reaches(tree: Projects, cwd: str, aim: Aim, path: str) -> bool | None:
    """Tell whether a file of any kind, or a folder, belongs to what a link runs; None when it cannot be told."""
    if (tree.root / path).is_dir():
        return _overlaps(tree, cwd, aim, path)
    if path.lower().endswith(".cs") and aim.project:
        return compiles(tree, aim.project, path)
    near = tree.near(path)
    if aim.project:
        return any(tree.same(one, aim.project) for one in near)
    if not near:
        return False
    if inside(tree.root, normal(cwd), path) or any(_lists(tree, aim, one) for one in near):
        return True
    return None if aim.solution is None else False


def _aim(tree: Projects, cwd: str, link: Link) -> Aim | str:
    if link.kind == "nothing":
        return _folder(tree, cwd)
    path = _relative(tree, cwd, link.path)
    if link.kind == "solution":
        listed = None if path is None else in_solution(tree, path)
        return Aim(solution=None if listed is None else tuple(listed))
    if path is None:
        return f"`{link.path}` lies outside of the tree"
    if not (tree.root / path).is_file():
        return f"the project `{link.path}` does not exist"
    if tree.tree(path) is None:
        return f"the project `{link.path}` cannot be read"
    return Aim(project=path)


def _folder(tree: Projects, cwd: str) -> Aim | str:
    """Return what `dotnet test` takes from a folder: its solution, else its project."""
    folder = "" if cwd == "." else cwd
    names = tree.listed(folder)
    solutions = [name for name in names if name.lower().endswith((*SOLUTIONS, ".slnf"))]
    if not solutions:
        here = [name for name in names if name.lower().endswith(ANY)]
        sharp = [name for name in here if name.lower().endswith(CSHARP)]
        if sharp:
            return Aim(project=posixpath.join(folder, sharp[0]))
        return f"`{here[0]}`, which the command runs, is no .csproj" if here else Aim()
    listed = in_solution(tree, posixpath.join(folder, solutions[0])) if len(solutions) == 1 else None
    return Aim(solution=None if listed is None else tuple(listed))


def _relative(tree: Projects, cwd: str, path: str) -> str | None:
    """Return a path of a command relative to the root; None when it lies, or leads, outside."""
    root = os.path.abspath(tree.root)
    full = os.path.normpath(os.path.join(root, cwd, path))
    found = os.path.relpath(full, root).replace(os.sep, "/")
    real, real_root = os.path.realpath(full), os.path.realpath(root)
    outside = found.startswith("../") or not real.startswith(real_root.rstrip("/") + "/")
    return None if outside else found


def _lists(tree: Projects, aim: Aim, project: str) -> bool:
    return any(tree.same(one, project) for one in aim.solution or ())


def _overlaps(tree: Projects, cwd: str, aim: Aim, folder: str) -> bool | None:
    owned = [aim.project] if aim.project else aim.solution
    if owned is None:
        return True if _meet(normal(cwd), folder) else None
    return any(_meet(posixpath.dirname(one) or ".", folder) for one in owned)


def _meet(one: str, other: str) -> bool:
    return below(one, other) or below(other, one)
