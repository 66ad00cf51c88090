"""What a suite finds in its container besides the tree: our own folder, its environment, its command."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from morph_tasks.verify.nodes import Node

WORK = "/work"
OURS = "/morph-spec"
REPORT = f"{OURS}/out/tests"
UNBUILT = f"{OURS}/out/unbuilt"

# An inferred suite names the Python of the host; a declared command is run as it is written.
_HOST_PYTHON = re.compile(r"^(?:\.?venv/bin/)?python(?= )")


def environment(node: Node, feature: str, more: Mapping[str, str], image: Sequence[str] = ()) -> dict[str, str]:
    """Return what is added to the environment of the image (`NAME=value`): what the node declares, and ours."""
    declared = {name: os.environ[name] for name in node.env if name in os.environ}
    ours = {
        "MORPH_FEATURE": feature,
        "MORPH_CACHE_DIR": f"{OURS}/cache",
        "MORPH_SCRIPTS": f"{OURS}/scripts",
    }
    found = {**declared, **ours, **dict(node.set_env), **more}
    return found | _naming(node, dict(one.partition("=")[::2] for one in image) | found)


def _naming(node: Node, found: Mapping[str, str]) -> dict[str, str]:
    """Return what lets pytest find our plugin in our folder, beside what the image and the node ask for."""
    if node.runner != "pytest":
        return {}
    return {
        "MORPH_TEST_REPORT": REPORT,
        "PYTHONPATH": ":".join(filter(None, [found.get("PYTHONPATH"), f"{OURS}/plugin"])),
    }


def script(node: Node) -> str:
    """Return what the shell runs: the prebuilds, each noted when it fails, then the command."""
    command = node.command if node.declared else _HOST_PYTHON.sub("python3", node.command)
    if not node.prebuild:
        return command
    steps = [
        f"(\n{step}\n) || {{ code=$?; echo {number} >{UNBUILT}; exit $code; }}"
        for number, step in enumerate(node.prebuild)
    ]
    return "\n".join([*steps, "unset code", command])


def kit(node: Node) -> Iterator[tuple[str, bytes]]:
    """Yield the files of our folder: path in the container and content."""
    from morph_tasks.verify.launch import PLUGIN_FOLDER, SCRIPTS

    yield f"{OURS[1:]}/cache/.keep", b""
    yield f"{OURS[1:]}/out/.keep", b""
    if node.runner == "pytest":
        for path in sorted(PLUGIN_FOLDER.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield f"{OURS[1:]}/plugin/{path.relative_to(PLUGIN_FOLDER).as_posix()}", path.read_bytes()
    if "MORPH_SCRIPTS" in node.command:
        for path in sorted(SCRIPTS.glob("*.py")):
            yield f"{OURS[1:]}/scripts/{path.name}", path.read_bytes()
