"""What comes back from a container: the files a node declares, and never anywhere else than where it declares them."""

from __future__ import annotations

import json
import os
import secrets
import tarfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from morph_tasks.verify.linux.inside import WORK

if TYPE_CHECKING:
    from docker import APIClient

_MOST_FILES = 5_000
_MOST_BYTES = 512 << 20
_CHUNK = 1 << 20
_DELETED = 2
_PRIVATE = 0o600


class _Pieces:
    """A stream of pieces as something to read from."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self._rest = b""

    def read(self, size: int) -> bytes:
        while len(self._rest) < size:
            piece = next(self._pieces, None)
            if piece is None:
                break
            self._rest += piece
        found, self._rest = self._rest[:size], self._rest[size:]
        return found


def bring_back(
    client: APIClient, container: str, root: Path, globs: Sequence[str], known: frozenset[bytes] = frozenset()
) -> list[str]:
    """Copy the files that a run made and `globs` name to the same places below `root`; returns what went wrong.

    Only regular files are taken. What was copied in (`known`) is never written over, and no place that leads through
    a link or into a `.git` is written to.
    """
    if not globs:
        return []
    said: list[str] = []
    left = _MOST_BYTES
    for count, path in enumerate(_made(client, container, globs, known)):
        if count >= _MOST_FILES or left <= 0:
            said.append(f"more than {_MOST_FILES} files or {_MOST_BYTES >> 20} MiB match `junit` or `outputs`")
            break
        try:
            left -= _one(client, container, path, root, left)
        except (OSError, ValueError, tarfile.TarError) as error:
            said.append(f"{path} was not brought back: {getattr(error, 'strerror', None) or error}")
    return said


def bring_report(client: APIClient, container: str, inside: str, target: Path, root: Path) -> None:
    """Copy the report of the pytest plugin, if there is one, with its paths said from the host's root."""
    data = read_small(client, container, inside)
    if data is None:
        return
    lines = [_translated(line, root) for line in data.splitlines()]
    handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, _PRIVATE)
    with os.fdopen(handle, "wb") as file:
        file.write(b"".join(line + b"\n" for line in lines))


def read_small(client: APIClient, container: str, path: str) -> bytes | None:
    """Return the content of a file in a container; None when it is not there, or is no file."""
    from docker.errors import APIError

    try:
        found = _opened(client, container, path, _MOST_BYTES)
        return None if found is None else found[1].read()
    except (APIError, OSError, tarfile.TarError):
        return None


def host_path(path: str, root: Path) -> str:
    """Return the place on the host of a path that was said in a container."""
    return f"{root}{path.removeprefix(WORK)}" if path.startswith(f"{WORK}/") else path


def _translated(line: bytes, root: Path) -> bytes:
    try:
        said = json.loads(line)
    except ValueError:  # cut off in the middle
        return line
    if isinstance(said, dict) and isinstance(said.get("path"), str):
        said["path"] = host_path(said["path"], root)
        return json.dumps(said).encode()
    return line


def _made(client: APIClient, container: str, globs: Sequence[str], known: frozenset[bytes]) -> Iterator[str]:
    """Yield the paths below the tree that globs match and that are in neither the image nor the copy."""
    from morph_tasks.repo.globs import compile_globs

    matches = compile_globs(globs)
    changes = cast("list[dict[str, Any]]", client.diff(container) or [])
    for change in sorted(changes, key=lambda one: str(one.get("Path"))):
        path = str(change.get("Path"))
        inside = path.removeprefix(f"{WORK}/")
        name = inside.encode("utf-8", "surrogateescape")
        if inside != path and change.get("Kind") != _DELETED and name not in known and matches(name):
            yield inside


def _one(client: APIClient, container: str, path: str, root: Path, limit: int) -> int:
    """Bring one file back; returns its size, 0 for what is no file."""
    from docker.errors import APIError

    parts = path.split("/")
    if any(part in ("", ".", "..") or part.lower() == ".git" for part in parts):
        raise ValueError("its place is not one for reports")
    try:
        found = _opened(client, container, f"{WORK}/{path}", limit)
    except APIError as error:
        raise ValueError(" ".join(str(error.explanation or error).split())) from None
    if found is None:
        return 0
    size, file = found
    _write(root, parts, file)
    return size


def _opened(client: APIClient, container: str, path: str, limit: int) -> tuple[int, IO[bytes]] | None:
    """Return the size and the content of a file in a container; None for a folder, a link or a device."""
    pieces, _ = client.get_archive(container, path, chunk_size=_CHUNK)
    archive = tarfile.open(fileobj=cast("IO[bytes]", _Pieces(pieces)), mode="r|", encoding="utf-8")  # noqa: SIM115
    member = archive.next()
    if member is None or not member.isreg():
        return None
    if member.size > limit:
        raise ValueError(f"it has {member.size >> 20} MiB")
    file = archive.extractfile(member)
    return None if file is None else (member.size, file)


def _write(root: Path, parts: Sequence[str], file: IO[bytes]) -> None:
    """Write a file below the root: each folder on the way is one itself, and the last step is a rename."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(os.path.realpath(root), flags)
    temporary = f".morph-{secrets.token_hex(8)}.tmp"
    try:
        for part in parts[:-1]:
            with suppress(FileExistsError):
                os.mkdir(part, 0o755, dir_fd=handle)
            below = os.open(part, flags, dir_fd=handle)
            os.close(handle)
            handle = below
        new = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644, dir_fd=handle)
        try:
            with os.fdopen(new, "wb") as target:
                while chunk := file.read(_CHUNK):
                    target.write(chunk)
            os.replace(temporary, parts[-1], src_dir_fd=handle, dst_dir_fd=handle)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary, dir_fd=handle)
            raise
    finally:
        os.close(handle)
