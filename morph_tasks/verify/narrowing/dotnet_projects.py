"""Project files of a .NET tree: which one a source file belongs to, and what it says of its tests."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

CSHARP = (".csproj",)
ANY = (".csproj", ".fsproj", ".vbproj")
SHARED = ("Directory.Build.props", "Directory.Build.targets", "Directory.Packages.props")
_LARGEST = 1 << 22
# The frameworks that a filter is known for, and those that have none (or none in this mode).
_FRAMEWORKS = {
    "xunit.v3": re.compile(r"xunit\.v3(?:\.core)?(?:\.mtp-v\d+)?"),
    "mstest": re.compile(r"mstest(?:\.testframework|\.testadapter|\.sdk)?"),
    "nunit": re.compile(r"nunit(?:3testadapter)?"),
    "other": re.compile(
        r"xunit(?:\.core)?|xunit\.v3(?:\.core)?\.mtp-off|tunit(?:\.(?:core|engine))?|expecto|fixie(?:\..+)?|"
        r"machine\.specifications|ytest\.mtp\.xunit2|nspec|storyteller|persimmon"
    ),
}
_TESTING = re.compile(
    r"microsoft\.net\.test\.sdk|microsoft\.testing\.(?:platform|extensions).*|xunit.*|nunit.*|mstest.*|tunit.*|bunit.*|"
    r"coverlet\..*|verify\..*|ytest\..*|expecto.*|fixie.*|machine\.specifications.*|reqnroll.*|specflow.*"
)
_TEST_NAME = re.compile(r"(?:(?<=[a-z0-9._-])|^)(?:Tests?|Specs?)(?=$|[._-])|(?:^|[._-])(?:tests?|specs?)(?=$|[._-])")
_ON_NAME = re.compile(r"\$\(MSBuildProjectName\.(EndsWith|StartsWith|Contains)\(\s*['\"`]([^'\"`]*)['\"`]\s*\)\)", re.I)


@dataclass
class Projects:
    """Reads the projects of one tree, each file at most once. Paths are relative to `root`, with slashes."""

    root: Path
    _folders: dict[str, list[str]] = field(default_factory=dict)
    _texts: dict[str, str | None] = field(default_factory=dict)
    _trees: dict[str, Element | None] = field(default_factory=dict)
    _around: dict[tuple[str, tuple[str, ...]], list[Path]] = field(default_factory=dict)

    def nearest(self, path: str) -> str | None:
        """Return the C# project of the nearest folder above a file: the first by name where there are several."""
        return next(iter(self.near(path, CSHARP)), None)

    def near(self, path: str, endings: tuple[str, ...] = ANY) -> list[str]:
        """Return the projects of the nearest folder above a file that has any, by name."""
        folder = posixpath.dirname(path)
        while True:
            found = [posixpath.join(folder, name) for name in self.listed(folder) if name.lower().endswith(endings)]
            if found or not folder:
                return found
            folder = posixpath.dirname(folder)

    def listed(self, folder: str) -> list[str]:
        """Return the names of the files of a folder, sorted; none when it cannot be read."""
        if folder not in self._folders:
            try:
                with os.scandir(self.root / folder) as entries:
                    self._folders[folder] = sorted(one.name for one in entries if not one.is_dir())
            except OSError:
                self._folders[folder] = []
        return self._folders[folder]

    def text(self, path: str | Path) -> str | None:
        """Return a file's text, "" when it is not there, None when it cannot be read."""
        full = os.path.join(self.root, path)
        if full not in self._texts:
            self._texts[full] = _kept(full, _signature(full))[0]
        return self._texts[full]

    def tree(self, path: str | Path) -> Element | None:
        """Return a project file as elements without namespaces; None when it is missing or cannot be read."""
        full = os.path.join(self.root, path)
        if full not in self._trees:
            self._trees[full] = _kept(full, _signature(full))[1]()
        return self._trees[full]

    def said(self, project: str) -> Iterator[str | Path]:
        """Yield a project and the shared files around it."""
        yield project
        yield from self.around(project)

    def around(self, project: str, names: tuple[str, ...] = SHARED) -> Iterator[Path]:
        """Yield the shared files that exist from a project's folder up to the root of the disk.

        The build engine takes the nearest one, which may import the next; it does not stop at the repository.
        """
        here = posixpath.dirname(project)
        if (here, names) not in self._around:
            parts = os.path.abspath(os.path.join(self.root, here)).split("/")
            folders = ["/".join(parts[:many]) for many in range(len(parts), 0, -1)]
            paths = [f"{folder}/{name}" for folder in folders for name in names]
            self._around[here, names] = [Path(path) for path in paths if os.path.isfile(path)]
        yield from self._around[here, names]

    def beside(self, project: str, ending: str) -> list[str]:
        """Return the files in a project's folder whose names end so, in any case."""
        folder = posixpath.dirname(project)
        return [posixpath.join(folder, name) for name in self.listed(folder) if name.lower().endswith(ending)]

    def same(self, one: str, other: str) -> bool:
        """Tell whether two paths are one file, also through links and on a disk that ignores case."""
        if one == other:
            return True
        try:
            return os.path.samefile(self.root / one, self.root / other)
        except OSError:
            return False

    def is_test(self, project: str) -> bool:
        """Tell whether a project holds tests: by its packages, its properties or its name; in doubt it does."""
        stem = posixpath.basename(project).rsplit(".", 1)[0]
        tree = self.tree(project)
        if tree is None or _TEST_NAME.search(stem):
            return True
        for name in ("IsTestProject", "IsTestingPlatformApplication"):
            if any((element.text or "").strip().lower() != "false" for element in tree.iter(name)):
                return True
        trees = map(self.tree, self.said(project))
        return any(one is None or any(map(_TESTING.fullmatch, packages(one, stem))) for one in trees)

    def framework(self, project: str) -> str | None:
        """Return `xunit.v3`, `mstest` or `nunit`; None when it is another one, several, or cannot be told."""
        stem = posixpath.basename(project).rsplit(".", 1)[0]
        found = set[str]()
        for tree in map(self.tree, self.said(project)):
            if tree is None:
                return None
            for package in packages(tree, stem):
                found |= {name for name, pattern in _FRAMEWORKS.items() if pattern.fullmatch(package)}
        return found.pop() if len(found) == 1 and found != {"other"} else None


def packages(tree: Element, project: str) -> Iterator[str]:
    """Yield the names of packages and SDKs in lower case, without those that a condition keeps from this project."""
    for sdk in (tree.get("Sdk") or "").split(";"):
        yield sdk.split("/")[0].strip().lower()
    for group in tree.iter():
        if group.tag in ("Sdk", "Import"):
            yield (group.get("Name") or group.get("Sdk") or "").split("/")[0].strip().lower()
        for item in group:
            if item.tag not in ("PackageReference", "GlobalPackageReference", "Reference"):
                continue
            if _holds(group.get("Condition"), project) and _holds(item.get("Condition"), project):
                yield from (name.strip().lower() for name in (item.get("Include") or "").split(";"))


def _holds(condition: str | None, project: str) -> bool:
    """Tell whether a condition may hold; only a plain question about the project's name is ever answered with no."""
    hit = _ON_NAME.search(condition or "")
    if not condition or hit is None:
        return True
    rest = re.sub(r"[\s'\"]", "", condition.replace(hit[0], "")).lower()
    if rest not in ("", "==true", "true=="):
        return True
    name, word = project, hit[2]
    answers = {"endswith": name.endswith(word), "startswith": name.startswith(word), "contains": word in name}
    return answers[hit[1].lower()]


def _signature(path: str) -> tuple[int, ...] | None:
    try:
        seen = os.stat(path)
    except OSError:
        return None
    return seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns


@lru_cache(maxsize=512)
def _kept(path: str, signature: tuple[int, ...] | None) -> tuple[str | None, Callable[[], Element | None]]:
    """Return a file's text and a function that parses it once; many nodes ask for the same few projects."""
    text = _read(path)
    return text, lru_cache(maxsize=1)(lambda: _parsed(text))


def _read(path: str) -> str | None:
    try:
        with open(path, "rb") as file:
            data = file.read(_LARGEST + 1)
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError:
        return None
    if len(data) > _LARGEST:
        return None
    try:
        return data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError:
        return None


def _parsed(text: str | None) -> Element | None:
    from xml.etree.ElementTree import Element, ParseError

    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    if text is None:
        return None
    if not text.strip():
        # It says nothing, and whatever runs it is red.
        return Element("Project")
    try:
        tree: Element = fromstring(re.sub(r"^\s*<\?xml[^>]*\?>", "", text))
    except (ParseError, DefusedXmlException, ValueError):
        return None
    for element in tree.iter():
        if isinstance(element.tag, str):
            element.tag = element.tag.rpartition("}")[2]
    return tree if tree.tag == "Project" else None
