"""The program `graphify`: where it is, which version, whether that is one we know, and how it is called."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from morph_tasks.errors import Refusal

PACKAGE = "graphifyy"
PINNED = ">=0.9.50,<0.10"
INSTALL = f"pip install '{PACKAGE}{PINNED}'"
_LEAST, _BELOW = (0, 9, 50), (0, 10)
# They would move the output elsewhere, or change what is extracted.
_NOT_PASSED_ON = ("GRAPHIFY_OUT", "GRAPHIFY_FORCE")
_SETTINGS = {"GRAPHIFY_NO_TIPS": "1", "GRAPHIFY_NO_AUTO_REFRESH": "1"}
_HEAD_BYTES = 1024


def find() -> str | None:
    """Return where graphify is on the PATH; None when it is not there."""
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(folder or os.curdir, "graphify")
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return os.path.abspath(path)
    return None


def version_of(program: str) -> str | None:
    """Return the version of an installed graphify without running it; None when its environment does not tell."""
    python = _interpreter(os.path.realpath(program))
    if python is None:
        return None
    libraries = os.path.join(os.path.dirname(os.path.dirname(python)), "lib")
    for name in sorted(_names(libraries), reverse=True):
        if name.startswith("python"):
            for found in _names(os.path.join(libraries, name, "site-packages")):
                if found.startswith(f"{PACKAGE}-") and found.endswith(".dist-info"):
                    return found[len(PACKAGE) + 1 : -len(".dist-info")]
    return None


def ask_version(program: str) -> str | None:
    """Return the version, by running the program where nothing else tells; None when it does not say one."""
    known = version_of(program)
    if known is not None:
        return known
    from pathlib import Path

    from morph_tasks.errors import Refusal
    from morph_tasks.proc import run_bounded

    try:
        done = run_bounded([program, "--version"], cwd=Path("/"), env=environment(), timeout=10)
    except Refusal:
        return None
    words = done.text.split()
    return words[-1] if done.code == 0 and words and _parts(words[-1]) else None


def matches(version: str | None) -> bool | None:
    """Tell whether a version is in the range that this tool was tested with; None when it is not known."""
    parts = _parts(version or "")
    return _LEAST <= parts < _BELOW if parts else None


def extract_argv(program: str, root: str) -> list[str]:
    """Return the call that extracts a whole tree anew, without any language model."""
    return [program, "extract", root, "--code-only", "--force"]


def update_argv(program: str, root: str) -> list[str]:
    """Return the call that brings an existing graph up to date."""
    return [program, "update", root]


def environment() -> dict[str, str]:
    """Return the environment for graphify: no inherited repository, and nothing that moves its output."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith("GIT_") and name not in _NOT_PASSED_ON
    }
    return {"GRAPHIFY_VIZ_NODE_LIMIT": "0", **kept, **_SETTINGS}


def unavailable(**more: Any) -> Refusal:
    """Return the refusal of a run without the program; the way out is to install it."""
    import sys

    from morph_tasks.errors import Refusal

    beside = os.path.join(os.path.dirname(sys.executable), "graphify")
    what, fix = "graphify, which extracts the code graph, is not on the PATH", INSTALL
    if os.path.isfile(beside):
        folder = os.path.dirname(beside)
        what, fix = f"graphify is installed in {folder}, which is not on the PATH", f'export PATH="{folder}:$PATH"'
    return Refusal("graphify-unavailable", what, fix=fix, reason="graphify-unavailable", install=INSTALL, **more)


def _interpreter(program: str) -> str | None:
    """Return the Python that runs an installed script; None when its first lines name none."""
    try:
        with open(program, "rb") as file:
            head = os.fsdecode(file.read(_HEAD_BYTES)).splitlines()
    except OSError:
        return None
    if not head or not head[0].startswith("#!"):
        return None
    said = head[0][2:].strip()
    if said == "/bin/sh" and len(head) > 1 and head[1].startswith("'''exec' "):
        # What installers write for a path that is too long for a first line, or holds a space.
        said = head[1][len("'''exec' ") :].rpartition(' "$0"')[0].strip().strip('"')
    return said if os.path.isabs(said) and "python" in os.path.basename(said) and os.path.isfile(said) else None


def _parts(version: str) -> tuple[int, ...]:
    """Return the leading numbers of a version; none when it does not begin with one."""
    found: list[int] = []
    for word in version.strip().split(".")[:3]:
        digits = word[: len(word) - len(word.lstrip("0123456789"))]
        if not digits:
            break
        found.append(int(digits))
    return tuple(found)


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
