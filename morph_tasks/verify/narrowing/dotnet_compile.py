"""Which project compiles a file: the nearest one, unless project files say otherwise in a way that can be read."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from morph_tasks.verify.narrowing.dotnet_projects import Projects

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_THIS_FOLDER = re.compile(r"\$\(MSBuildThisFileDirectory\)[\\/]?", re.I)
_IN_SOLUTION = re.compile(r'^\s*Project\("[^"]*"\)\s*=\s*"[^"]*",\s*"([^"]+)"', re.M)


def compiles(projects: Projects, project: str, path: str) -> bool | None:
    """Tell whether a project compiles a C# file; None when its files are chosen in a way that is not followed."""
    nearest = projects.nearest(path)
    own = nearest is not None and projects.same(nearest, project)
    tree = projects.tree(project)
    if tree is None:
        return None
    answers = [own and not _explicit(tree)]
    doubt = False
    for verb, pattern, base in _items(projects, project, tree):
        hit = _matches(pattern, base, path)
        if verb == "Include":
            answers.append(hit is True)
        doubt = doubt or (hit is not False if verb == "Remove" and own else hit is None and not own)
    if own and _explicit(tree):
        return True if any(answers) and not doubt else None
    if doubt:
        return None
    return any(answers)


def referenced(projects: Projects, project: str) -> tuple[set[str], bool]:
    """Return the projects that one builds on, itself left out, and whether all of them could be told."""
    found, waiting, known = set[str](), [project], True
    while waiting:
        one = waiting.pop()
        tree = projects.tree(one)
        if tree is None:
            known = False
            continue
        for element in tree.iter("ProjectReference"):
            for word in (element.get("Include") or "").split(";"):
                path = _joined(posixpath.dirname(one), word)
                if path is None:
                    known = False
                elif path not in found:
                    found.add(path)
                    waiting.append(path)
    return found, known


def in_solution(projects: Projects, solution: str) -> list[str] | None:
    """Return the projects that a solution lists, relative to the root; None when it is missing or cannot be read."""
    text = projects.text(solution)
    if not text:
        return None
    if solution.lower().endswith(".slnx"):
        from defusedxml import DefusedXmlException
        from defusedxml.ElementTree import ParseError, fromstring

        try:
            names = [element.get("Path") or "" for element in fromstring(text).iter("Project")]
        except (ParseError, DefusedXmlException, ValueError):
            return None
    else:
        names = _IN_SOLUTION.findall(text)
    paths = [_joined(posixpath.dirname(solution), name) for name in names if name.lower().endswith("proj")]
    return [path for path in paths if path is not None]


def _explicit(tree: Element) -> bool:
    """Tell whether a project lists its files instead of taking all of its folder."""
    names = ("EnableDefaultCompileItems", "EnableDefaultItems")
    return any((one.text or "").strip().lower() != "true" for name in names for one in tree.iter(name))


def _items(projects: Projects, project: str, tree: Element) -> Iterator[tuple[str, str, str]]:
    """Yield (`Include` or `Remove`, pattern, folder that it is relative to), of shared files too."""
    here = posixpath.dirname(project)
    trees = [(tree, None), *((projects.tree(path), path.parent) for path in projects.around(project))]
    for one, folder in trees:
        if one is None:
            yield "Include", "$(unreadable)", here
            continue
        for element in one.iter("Compile"):
            for verb, name in (("Include", "Include"), ("Remove", "Remove"), ("Remove", "Exclude")):
                for word in (element.get(name) or "").split(";"):
                    text = word.strip()
                    if folder is not None:
                        place = os.path.relpath(folder, projects.root).replace(os.sep, "/")
                        text = f"/{place}/".join(_THIS_FOLDER.split(text))
                    if text:
                        yield verb, text, here
        for element in one.iter("Import"):
            shared = element.get("Project") or ""
            if shared.lower().endswith(".projitems"):
                # What a shared project lists is compiled by every project that imports it.
                yield "Include", shared.replace("\\", "/").rpartition("/")[0] + "/**", here


def _matches(pattern: str, base: str, path: str) -> bool | None:
    """Tell whether a pattern of the build engine names a path; None when it holds properties."""
    pattern = pattern.replace("\\", "/")
    if "$(" in pattern or "@(" in pattern or "%(" in pattern:
        return None
    full = posixpath.normpath(pattern[1:] if pattern.startswith("/") else posixpath.join(base, pattern))
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", full)
    kinds = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return bool(re.fullmatch("".join(kinds.get(part) or re.escape(part) for part in parts), path, re.I))


def _joined(folder: str, word: str) -> str | None:
    """Return a path of a project file relative to the root; None when properties are in it."""
    if "$(" in word:
        return None
    return posixpath.normpath(posixpath.join(folder, word.strip().replace("\\", "/")))
