"""Where a file stands as seen from a node: what lies below its folder, and what its command names outside of it."""

from __future__ import annotations

import os
import posixpath
import re
from pathlib import Path

_DOCUMENTS = (".md", ".rst", ".adoc", ".txt")
_NO_DOCUMENTS = ("requirements", "constraints", "cmakelists", "robots", "runtime")
# They change how suites below them run, wherever those are.
_ABOVE = frozenset({
    "package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "pnpm-workspace.yaml",
    "bun.lock", "bun.lockb", ".npmrc", ".yarnrc", ".yarnrc.yml", ".nvmrc", ".node-version", "babel.config.js",
    "babel.config.json", "babel.config.cjs", ".babelrc", "tsconfig.json", "tsconfig.base.json", "turbo.json", "nx.json",
    "vitest.workspace.ts", "vitest.workspace.js", "vitest.config.ts", "vitest.config.js", "jest.config.js",
    "jest.config.ts", "jest.preset.js", "conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", "pyproject.toml",
    "setup.cfg", "tox.ini", "setup.py", "uv.lock", "poetry.lock", "pdm.lock", "pipfile", "pipfile.lock", ".coveragerc",
    ".python-version", "go.mod", "go.sum", "go.work", "go.work.sum", "cargo.toml", "cargo.lock", "rust-toolchain",
    "rust-toolchain.toml", "global.json", "nuget.config", "directory.build.props", "directory.build.targets",
    "directory.build.rsp", "directory.packages.props", ".tool-versions", "mise.toml", ".mise.toml", ".env",
    ".runsettings",
})  # fmt: skip


def normal(path: str) -> str:
    """Return a folder relative to the root in one spelling, `.` for the root."""
    return posixpath.normpath(path.replace(os.sep, "/") or ".")


def below(folder: str, path: str) -> bool:
    """Tell whether a path lies in a folder or is it; both relative to the root, by their text."""
    return folder == "." or path == folder or path.startswith(f"{folder}/")


def inside(root: Path, folder: str, path: str) -> bool:
    """Tell whether a path lies in a folder, by its text or where links really lead."""
    if below(folder, path):
        return True
    real, real_folder = os.path.realpath(root / path), os.path.realpath(root / folder)
    return real.startswith(real_folder.rstrip("/") + "/")


class Links:
    """Where the folders of a tree really are; each is asked once."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._known: dict[str, str] = {}

    def inside(self, folder: str, path: str) -> bool:
        """Tell what `inside` tells; a file that is a link itself belongs to the folder it stands in."""
        if below(folder, path):
            return True
        where, _, name = path.rpartition("/")
        return f"{self._real(where)}/{name}".startswith(self._real(folder).rstrip("/") + "/")

    def _real(self, folder: str) -> str:
        if folder not in self._known:
            self._known[folder] = os.path.realpath(self._root / folder)
        return self._known[folder]


def seen_from(root: Path, folder: str, path: str) -> str | None:
    """Return a path relative to a folder that holds it; None when it lies elsewhere."""
    if folder == ".":
        return path
    if path.startswith(f"{folder}/"):
        return path[len(folder) + 1 :]
    real, real_folder = os.path.realpath(root / path), os.path.realpath(root / folder).rstrip("/") + "/"
    return real[len(real_folder) :] if real.startswith(real_folder) else None


def plain_name(path: str) -> bool:
    """Tell whether a path can stand in a command and in a report as it is: UTF-8, without control characters."""
    return path.isprintable() or not any(
        ord(sign) < 32 or "\ud800" <= sign <= "\udfff" or sign == "\x7f" for sign in path
    )


def shown(text: str) -> str:
    """Return a text that can be written as UTF-8; bytes of a name that are none become question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


def is_document(path: str) -> bool:
    """Tell whether a file only tells people something; lists of packages are not among those."""
    name = path.rsplit("/", 1)[-1].lower()
    return name.endswith(_DOCUMENTS) and not any(word in name for word in _NO_DOCUMENTS)


def is_above(folder: str, path: str) -> bool:
    """Tell whether a file stands right in a folder around a node's own and decides how suites below it run."""
    where, _, name = path.rpartition("/")
    where = where or "."
    return where != folder and below(where, folder) and (name.lower() in _ABOVE or name.lower().startswith(".env"))


def named_outside(root: Path, folder: str, texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the files and folders of the tree outside of a node's folder that the words of its command name."""
    found = []
    for text in texts:
        for word in {text, text.rpartition("=")[2]}:
            if ".." not in word.split("/"):
                continue
            path = posixpath.normpath(posixpath.join(folder, word.removesuffix("/...")))
            if not path.startswith("../") and path != ".." and os.path.exists(root / path) and not below(folder, path):
                found.append(path)
    return tuple(dict.fromkeys(found))


_FOREIGN_TEST = re.compile(
    r"^(?:test_.+\.py|.+_test\.(?:py|go|rb|dart|exs)|.+\.(?:test|spec)\.[cm]?[jt]sx?|.+Tests?\.(?:cs|java|kt|php|swift)"
    r"|.+_spec\.rb)$"
)


def is_any_test(path: str) -> bool:
    """Tell whether a file has the name of a test in one of the usual languages."""
    return bool(_FOREIGN_TEST.match(path.rsplit("/", 1)[-1]))
