"""The test nodes of a verify in containers: each with the image it runs in, or the reason why it does not."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import replace

from morph_tasks.errors import Refusal
from morph_tasks.repo.git import Repo
from morph_tasks.verify.linux.images import Image, image_name
from morph_tasks.verify.nodes import Node

_known: dict[str, Image] = {}


def contained(nodes: Iterable[Node], option: str | None) -> tuple[Node, ...]:
    """Return nodes whose test suites run in containers; `option` is `--linux-image`.

    Raises Refusal `docker-not-available` or `linux-image-missing` (exit 2), before anything is run.
    """
    found = [_named(node, option) for node in nodes]
    _ensure([name for _, name in found if name])
    return tuple(replace(node, image=_known[name]) if name else node for node, name in found)


def clean_up(repo: Repo) -> None:
    """Remove the containers that a killed verify of this tree left behind."""
    from morph_tasks.verify.linux.client import connect
    from morph_tasks.verify.linux.labels import remove_leftovers

    client = connect()
    try:
        remove_leftovers(client, repo)
    finally:
        client.close()


def _named(node: Node, option: str | None) -> tuple[Node, str | None]:
    if node.family != "tests":
        return node, None
    if node.e2e:
        return replace(node, skip="it needs the running application, which a container of its own does not reach"), None
    if node.evals:
        return replace(node, skip="the answers it records would stay in the container"), None
    if not node.runs:
        return node, None
    try:
        return node, image_name(node.id, node.runner, option=option, declared=node.linux_image)
    except Refusal as refusal:
        said = f"{refusal.what}; fix: {refusal.fix}"
        return replace(node, invalid=said, reason=refusal.code), None


def _ensure(names: list[str]) -> None:
    """Ask the engine once a process: every verify in containers needs it, also one without a suite to run."""
    from morph_tasks.verify.linux.client import connect, ensure_images

    missing = [name for name in names if name not in _known]
    if not missing and _known:
        return
    client = connect()
    try:
        _known.update(ensure_images(client, missing, _say))
    finally:
        client.close()


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
