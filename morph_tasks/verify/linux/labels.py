"""Whose a container is: labels say it, and removal goes by them alone."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from docker import APIClient

    from morph_tasks.repo.git import Repo

RUN = "morph-spec.verify"
ROOT = "morph-spec.root"
FEATURE = "morph-spec.feature"
NODE = "morph-spec.node"
OWNER = "morph-spec.owner"
TOKEN = "morph-spec.token"  # noqa: S105


def root_hash(repo: Repo) -> str:
    """Return the digest of the place of a tree."""
    return hashlib.sha256(os.fsencode(os.path.realpath(repo.root))).hexdigest()


def labels_of(repo: Repo, *, run_id: str, feature: str, node: str, token: str) -> dict[str, str]:
    """Return the labels of a container; the owner is the process that waits for it."""
    from morph_tasks.machine import identity

    return {
        RUN: run_id,
        ROOT: root_hash(repo),
        FEATURE: feature,
        NODE: node,
        OWNER: json.dumps(identity.me().as_json()),
        TOKEN: token,
    }


def remove_token(client: APIClient, token: str) -> int:
    """Remove the container that carries a token; returns how many there were."""
    found = _with(client, f"{TOKEN}={token}")
    for one in found:
        _remove(client, one["Id"])
    return len(found)


def remove_leftovers(client: APIClient, repo: Repo) -> list[str]:
    """Remove the containers of this tree whose verify is dead; returns their names.

    Only what carries our labels with this tree's digest, and an owner who is known to be gone: one on another machine
    that shares the engine, or one that cannot be judged from here, may still wait for it.
    """
    from morph_tasks.machine import identity

    removed = []
    for one in _with(client, RUN, f"{ROOT}={root_hash(repo)}"):
        owner = identity.parsed((one.get("Labels") or {}).get(OWNER, ""))
        if owner is not None and identity.state(owner) == "dead":
            _remove(client, one["Id"])
            removed.append((one.get("Names") or [one["Id"][:12]])[0].lstrip("/"))
    return removed


def _with(client: APIClient, *labels: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.containers(all=True, filters={"label": list(labels)})
    return found


def _remove(client: APIClient, container: str) -> None:
    from docker.errors import APIError

    # Somebody else may be removing it, or it is gone already.
    with suppress(APIError):
        client.remove_container(container, v=True, force=True)
