"""What a project says to Microsoft.Testing.Platform that decides whether a narrowed run would still be a proof."""

from __future__ import annotations

import json
import os
import posixpath
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from morph_tasks.verify.narrowing.dotnet_projects import SHARED, Projects

PLATFORM = "Microsoft.Testing.Platform"
IGNORES = "TESTINGPLATFORM_EXITCODE_IGNORE"
_PROPERTY = "TestingPlatformCommandLineArguments"
_NAMED = re.compile(_PROPERTY, re.I)
_FLOOR = re.compile(r"minimum-?expected-?tests", re.I)
_IGNORED = re.compile(r"ignore-?exit-?code|exit-?code-?_?ignore", re.I)
_FILTERED = re.compile(r"--(?:filter|treenode-filter)", re.I)
_LITERAL = re.compile(rf"<{_PROPERTY}>([^<>]*)</{_PROPERTY}>")
_UNSAFE = re.compile(r"[$;,\"'`\\!@%&\x00-\x1f\x7f]")
_ARGUMENT = re.compile(r"(?<!\S)(--minimum-expected-tests(?:[ ]+|[=:]))(\d+)(?!\S)")
_FLOORED = (*SHARED, "Directory.Build.rsp")


def uses_platform(folder: Path) -> bool | str:
    """Tell whether `dotnet test` in a folder runs Microsoft.Testing.Platform rather than VSTest, or why not known.

    The nearest global.json decides, up to the root of the disk.
    """
    here = Path(os.path.abspath(folder))
    for place in (here, *here.parents):
        try:
            data = (place / "global.json").read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            return "global.json cannot be read"
        return _runner(data)
    return False


def _runner(data: bytes) -> bool | str:
    try:
        found = json.loads(_without_comments(data.decode("utf-8-sig")))
    except (ValueError, RecursionError):
        return "global.json cannot be read"
    tests = found.get("test") if isinstance(found, dict) else ()
    if tests is None:
        return False
    runner = tests.get("runner", "VSTest") if isinstance(tests, dict) else None
    if not isinstance(runner, str) or runner.lower() not in (PLATFORM.lower(), "vstest"):
        return "global.json names a test runner that is not known"
    return runner.lower() == PLATFORM.lower()


def _without_comments(text: str) -> str:
    """Return JSON without the comments and last commas that the SDK allows."""
    kept = r'("(?:[^"\\]|\\.)*")'
    text = re.sub(rf"{kept}|//[^\n]*|/\*.*?\*/", lambda hit: hit[1] or " ", text, flags=re.S)
    return re.sub(rf"{kept}|,(?=\s*[}}\]])", lambda hit: hit[1] or "", text, flags=re.S)


def ignored_exit(projects: Projects, project: str, env: Mapping[str, str]) -> str | None:
    """Return why exit code 0 would not prove that a test ran, None when it does."""
    if (env.get(IGNORES) or "").strip():
        return f"{IGNORES} is set: zero tests would exit 0"
    beside = [*projects.beside(project, "testconfig.json"), *projects.beside(project, ".csproj.user")]
    launch = posixpath.join(posixpath.dirname(project), "Properties/launchSettings.json")
    for path in (*projects.said(project), *beside, launch):
        text = projects.text(path)
        if text is None:
            return f"{_shown(projects, path)} cannot be read"
        if _IGNORED.search(text):
            return f"{_shown(projects, path)} makes the test platform ignore an exit code: zero tests may exit 0"
    return None


def filtered(projects: Projects, project: str, platform: bool) -> str | None:
    """Return the sentence about a filter that the project has of its own, None when it has none."""
    said = (*projects.said(project), *projects.around(project, _FLOORED[-1:]))
    for path in (*said, *projects.beside(project, ".csproj.user")):
        text = projects.text(path)
        if text is None:
            return f"{_shown(projects, path)} cannot be read"
        if "vstesttestcasefilter" in text.lower():
            return f"{_shown(projects, path)} declares VSTestTestCaseFilter, which a filter would replace"
        if platform and _FILTERED.search(text):
            return f"{_shown(projects, path)} gives the test platform a filter already"
    return None


def settings_filter(projects: Projects, project: str, named: Sequence[str]) -> str | None:
    """Return the sentence about run settings that choose tests; `named`: those of the command, relative to the root.

    Where a project names some, all of its folder and of those above are looked into.
    """
    paths: list[str] = list(named)
    if any("runsettingsfilepath" in (projects.text(path) or "").lower() for path in projects.said(project)):
        folder = posixpath.dirname(project)
        while True:
            paths += [posixpath.join(folder, name) for name in projects.listed(folder) if name.endswith(".runsettings")]
            if not folder:
                break
            folder = posixpath.dirname(folder)
    for path in paths:
        text = projects.text(path)
        if text is None or re.search(r"<\s*TestCaseFilter|exitcode_ignore", text, re.I):
            return f"{_shown(projects, path)} chooses tests, or what counts as a failure, by itself"
    return None


def has_floor(projects: Projects, project: str) -> bool:
    """Tell whether anything around a project names a least number of tests; what cannot be read may."""
    return any(text is None or bool(_FLOOR.search(text)) for text in map(projects.text, _places(projects, project)))


def lowered(projects: Projects, project: str) -> str | None:
    """Return the project's own arguments with a floor of 1; None when they are not the only place, or no literal.

    Replacing the property replaces all of it, so that everything else it says has to be there, and known.
    """
    for path in _places(projects, project):
        other = path != project and projects.text(path)
        if other is None or (other and (_FLOOR.search(other) or _NAMED.search(other))):
            return None
    text, tree = projects.text(project) or "", projects.tree(project)
    hits = _LITERAL.findall(text)
    if tree is None or len(hits) != 1 or len(_NAMED.findall(text)) != 2 or len(_FLOOR.findall(text)) != 1:
        return None
    if "TreatAsLocalProperty" in tree.attrib or any(True for _ in tree.iter("Import")):
        return None
    groups = [group for group in tree if group.tag == "PropertyGroup" and group.find(_PROPERTY) is not None]
    if len(groups) != 1 or groups[0].attrib:
        return None
    value = hits[0].strip()
    if _UNSAFE.search(value) or len(_ARGUMENT.findall(value)) != 1:
        return None
    return f"-p:{_PROPERTY}={_ARGUMENT.sub(lambda hit: f'{hit[1]}1', value)}"


def _places(projects: Projects, project: str) -> tuple[str | Path, ...]:
    beside = [*projects.beside(project, ".csproj.user"), *projects.beside(project, "testconfig.json")]
    return project, *beside, *projects.around(project, _FLOORED)


def _shown(projects: Projects, path: str | Path) -> str:
    full = os.path.abspath(projects.root / path)
    root = os.path.abspath(projects.root)
    return os.path.relpath(full, root) if full.startswith(root.rstrip("/") + "/") else full
