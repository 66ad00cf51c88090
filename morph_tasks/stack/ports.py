"""Ten ports for each feature, kept in a registry that all work trees of a repository share."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.errors import Refusal
from morph_tasks.stack import userstate

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

SIZE = 10
# Below what Linux and macOS hand out to outgoing connections, and below the node ports of Kubernetes.
FIRST, LAST = 20_000, 29_990
# place in the block: what it is for
LAYOUT = {"web": 0, "api": 1, "postgres": 2, "redis": 3}


@dataclass(frozen=True)
class Block:
    """Ten ports from `base` on, held by a key: `<feature>` or `task/<name>`."""

    base: int
    key: str

    @property
    def ports(self) -> range:
        return range(self.base, self.base + SIZE)


def block_of(repo: Repo, key: str, *, free: Callable[[int], bool] | None = None) -> Block:
    """Return the block of a key, allocated now when it has none.

    `free` tells whether nobody on the machine listens on a port; the default binds it. Raises Refusal
    `no-free-ports`, `busy` (3), `state-unwritable`, `write-failed`.
    """
    found = known_block(repo, key)
    if found:
        return found
    with userstate.held(), _held(repo):
        path = _registry(repo)
        userstate.settle(path)
        found = known_block(repo, key)
        if found:
            return found
        block = Block(_unused(repo, free or port_is_free), key)
        _write(path, {**blocks(repo), key: block})
        return block


def claim(repo: Repo, key: str, base: int, *, free: Callable[[int], bool] | None = None) -> Block:
    """Give a key the very block it had; raises Refusal `ports-taken`, `busy` (3), `state-unwritable`."""
    with userstate.held(), _held(repo):
        path = _registry(repo)
        userstate.settle(path)
        refuse_claim(repo, key, base, free=free)
        known = blocks(repo)
        if key not in known:
            known[key] = Block(base, key)
            _write(path, known)
        return known[key]


def refuse_claim(repo: Repo, key: str, base: int, *, free: Callable[[int], bool] | None = None) -> None:
    """Raise Refusal `ports-taken` where `claim` would; writes nothing."""
    known, probe, fix = blocks(repo), free or port_is_free, "free them, then try again"
    mine = known.get(key)
    holder = next((block.key for block in known.values() if block.base == base), None)
    if mine and mine.base != base:
        why = f"{key!r} has the ports from {mine.base} on by now"
    elif mine:
        return
    elif holder or base in _elsewhere(repo):
        why = f"{holder or 'another repository'!r} has them by now"
        if holder:
            fix = f"morph-spec finish {holder} --merge, or morph-spec delete {holder} --with-worktree, then try again"
    elif not all(probe(port) for port in range(base, base + SIZE)):
        why, fix = "another program listens on one of them", "stop that program, then try again"
    else:
        return
    what = f"the ports {base}-{base + SIZE - 1} of {key!r} cannot be given back to it: {why}"
    raise Refusal("ports-taken", what, fix=fix, base=base, key=key, holder=holder)


def known_block(repo: Repo, key: str) -> Block | None:
    """Return the block that a key has; writes nothing."""
    return blocks(repo).get(key)


def blocks(repo: Repo) -> dict[str, Block]:
    """Return all blocks of a repository by key."""
    return _read(_registry(repo))


def release(repo: Repo, key: str) -> bool:
    """Give the block of a key back; tells whether it had one. Raises Refusal `busy` (3), `write-failed`."""
    if key not in blocks(repo):
        return False
    with _held(repo):
        left = blocks(repo)
        had = left.pop(key, None) is not None
        if had:
            _write(_registry(repo), left)
        return had


def port_is_free(port: int) -> bool:
    """Tell whether nobody listens on a TCP port of this machine, on any of its addresses."""
    import socket

    places = [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET, "0.0.0.0")]  # noqa: S104
    places += [(socket.AF_INET6, "::1"), (socket.AF_INET6, "::")] if socket.has_ipv6 else []
    return all(_binds(family, host, port) for family, host in places)


def _binds(family: int, host: str, port: int) -> bool:
    import errno
    import socket

    try:
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            if family == socket.AF_INET6:
                probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            if sys.platform == "linux":
                # Else a port counts as taken for a minute after its last connection has ended. Elsewhere the option
                # lets two programs listen, on one address and on all of them.
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except OSError as error:
        # A machine without that address says nothing about the port.
        return error.errno not in (errno.EADDRINUSE, errno.EACCES, errno.EPERM)
    return True


def _unused(repo: Repo, free: Callable[[int], bool]) -> int:
    taken = {block.base for block in blocks(repo).values()} | _elsewhere(repo)
    bases = range(FIRST, LAST + 1, SIZE)
    # Each repository begins somewhere else, so that two that do not know each other seldom meet.
    start = int(hashlib.sha256(os.fsencode(repo.common_dir)).hexdigest()[:8], 16) % len(bases)
    order: list[int] = [*bases[start:], *bases[:start]]
    for base in order:
        if base not in taken and all(free(port) for port in range(base, base + SIZE)):
            return base
    what = f"all blocks of {SIZE} ports between {FIRST} and {LAST + SIZE - 1} are taken"
    raise Refusal("no-free-ports", what, fix="close features that are done: morph-spec list")


def _elsewhere(repo: Repo) -> set[int]:
    """Return the bases that other repositories of this user hold."""
    held_by = userstate.read(userstate.projects_file(), "names").values()
    places = {str(entry.get("repository")) for entry in held_by if isinstance(entry, dict)}
    others = [Path(place) / "morph-spec" / "ports.json" for place in places if place != str(repo.common_dir)]
    return {block.base for path in others for block in _read(path).values()}


def _registry(repo: Repo) -> Path:
    return repo.store / "ports.json"


@contextmanager
def _held(repo: Repo) -> Iterator[None]:
    from morph_tasks.repo.files import locked

    with locked(repo.store / "ports.lock", wait_s=userstate.WAIT_S, what="the registry of ports"):
        yield


def _read(path: Path) -> dict[str, Block]:
    found = userstate.read(path, "blocks")
    return {key: Block(int(entry["base"]), key) for key, entry in found.items() if _sound(entry)}


def _sound(entry: object) -> bool:
    base = entry.get("base") if isinstance(entry, dict) else None
    return isinstance(base, int) and not isinstance(base, bool) and 0 < base <= 65_536 - SIZE


def _write(path: Path, found: dict[str, Block]) -> None:
    from morph_tasks.repo.files import write_json

    write_json(path, {"version": 1, "blocks": {key: {"base": found[key].base} for key in sorted(found)}}, mode=0o600)
