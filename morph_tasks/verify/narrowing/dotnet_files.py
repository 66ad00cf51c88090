"""The files of a slice as a chain of `dotnet test` sees them: types to select, or a reason to run it whole."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from morph_tasks.verify.narrowing.dotnet_aims import Aim, reaches, taker
from morph_tasks.verify.narrowing.dotnet_compile import referenced
from morph_tasks.verify.narrowing.dotnet_projects import Projects
from morph_tasks.verify.narrowing.dotnet_source import Source, decoded, reads_as_test, scan
from morph_tasks.verify.narrowing.places import inside, normal

_MAY_HOLD_TESTS = (".razor", ".cshtml", ".fs", ".fsi", ".fsx", ".vb")
# They say how all suites below them are built and run.
_DECIDES = frozenset({
    "global.json", "nuget.config", "directory.build.props", "directory.build.targets", "directory.build.rsp",
    "directory.packages.props", "msbuild.rsp", "testconfig.json", "dotnet.config",
})  # fmt: skip
_LARGEST = 1 << 22


@dataclass(frozen=True)
class Sorted:
    """For each link the types to select by project; `types` are all of them in order."""

    links: tuple[dict[str, tuple[str, ...]], ...]
    types: tuple[str, ...]


def sorted_out(tree: Projects, cwd: str, aims: Sequence[Aim], files: Sequence[str]) -> Sorted | str:
    """Return the types of the test files, or why the whole command has to run."""
    links: list[dict[str, dict[str, None]]] = [{} for _ in aims]
    for path in files:
        if not path.lower().endswith(".cs"):
            why = _other(tree, cwd, aims, path)
            if why:
                return why
            continue
        found = _sharp(tree, cwd, aims, path)
        if isinstance(found, str):
            return found
        source, takers = found
        for chosen, project in zip(links, takers, strict=False):
            if isinstance(project, str):
                chosen.setdefault(project, {}).update(dict.fromkeys(source.types))
    every = dict.fromkeys(name for chosen in links for types in chosen.values() for name in types)
    return Sorted(tuple({one: tuple(types) for one, types in chosen.items()} for chosen in links), tuple(every))


def _other(tree: Projects, cwd: str, aims: Sequence[Aim], path: str) -> str | None:
    """Return why a file that is no C# has the whole command run; None when it does not matter to tests."""
    within = inside(tree.root, normal(cwd), path)
    if not within and not any(reaches(tree, cwd, aim, path) for aim in aims):
        return None
    name = posixpath.basename(path).lower()
    if name in _DECIDES or name.endswith(".runsettings"):
        return f"{path} decides how the suites below it run"
    near = tree.near(path)
    if any(_is_test(tree, aims, one) for one in near):
        return f"{path} of a test project is no C#: which tests it feeds cannot be told"
    if name.endswith(_MAY_HOLD_TESTS):
        text = tree.text(path)
        if text is None or reads_as_test(text, posixpath.basename(path).rsplit(".", 1)[0]):
            return f"{path} reads like a test, and only C# is looked into"
    return None


_Takers = Sequence[str | bool | None]
_NOTHING: tuple[Source, _Takers] = (Source(), ())


def _sharp(tree: Projects, cwd: str, aims: Sequence[Aim], path: str) -> tuple[Source, _Takers] | str:
    """Return a test file with the project that each link runs it by; nothing for a file that no test is in."""
    data = _data(tree.root / path)
    if data is None:
        return f"{path} cannot be read"
    takers = [taker(tree, cwd, aim, path) for aim in aims]
    owner = tree.nearest(path)
    in_test = owner is not None and _is_test(tree, aims, owner)
    if not any(takers) and None not in takers:
        why = _elsewhere(tree, aims, path, owner, in_test, data)
        return why or _NOTHING
    source = scan(data)
    # A link that names its project runs tests of all that it compiles, also of what stands in another one's folder.
    in_test = in_test or any(aim.project and project for aim, project in zip(aims, takers, strict=True))
    if not (source.tests or in_test or _reads(data, path)):
        return _NOTHING
    if None in takers:
        return f"which project compiles {path} cannot be told"
    if source.problem:
        return f"{path} {source.problem}"
    if not source.tests:
        if in_test:
            return f"{path} holds no test attribute: the tests that use it are in other files"
        return f"{path} reads like a test, but holds no test attribute that is known"
    return (source, takers) if source.types else f"{path} declares no type that could be selected"


def _elsewhere(
    tree: Projects, aims: Sequence[Aim], path: str, owner: str | None, in_test: bool, data: bytes
) -> str | None:
    """Return why a file that no link compiles matters all the same; None when it does not."""
    if owner is None:
        return f"{path} reads like a test, and no project is known to hold it" if _reads(data, path) else None
    if not in_test:
        return None
    for project in dict.fromkeys(aim.project for aim in aims if aim.project):
        built_on, known = referenced(tree, project)
        if known and not any(tree.same(one, owner) for one in built_on):
            continue
        source = scan(data)
        if not source.tests or source.problem:
            return f"{path} may be used by the tests of {project}, which builds on its project"
    return None


def _reads(data: bytes, path: str) -> bool:
    text = decoded(data)
    return text is None or reads_as_test(text, posixpath.basename(path).rsplit(".", 1)[0])


def _is_test(tree: Projects, aims: Sequence[Aim], project: str) -> bool:
    return any(aim.project and tree.same(aim.project, project) for aim in aims) or tree.is_test(project)


def _data(path: Path) -> bytes | None:
    try:
        with open(path, "rb") as file:
            data = file.read(_LARGEST + 1)
    except OSError:
        return None
    return data if len(data) <= _LARGEST else None
