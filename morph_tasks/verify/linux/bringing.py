"""What comes back from a container: the files a node declares, and never anywhere else than where it declares them."""

from __future__ import annotations

import json
import os
import secrets
import tarfile
from bisect import bisect
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from morph_tasks.verify.linux.inside import WORK

if TYPE_CHECKING:
    from docker import APIClient

_MOST_FILES = 5_000
_MOST_BYTES = 512 << 20
_CHUNK = 1 << 20
_DELETED = 2
# From this many files on a folder is asked for at once; each question costs some 40 ms.
_MANY = 4
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
    from docker.errors import APIError
    from requests import RequestException

    said: list[str] = []
    wanted, all_of_it = _made(client, container, globs, known)
    if len(wanted) > _MOST_FILES:
        said.append(f"{len(wanted)} files match `junit` or `outputs`: only {_MOST_FILES} are brought back")
    budget = _MOST_BYTES
    for place, names in _requests(wanted[:_MOST_FILES], all_of_it):
        try:
            with _opened(client, container, f"{WORK}/{place}") as archive:
                budget = _extract(archive, place, names, root, budget, said)
        except (APIError, RequestException, OSError, ValueError, tarfile.TarError) as error:
            said.append(_not_brought(place, error))
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
        with _opened(client, container, path) as archive:
            member = archive.next()
            file = archive.extractfile(member) if member and member.isreg() and member.size <= _MOST_BYTES else None
            return file.read() if file else None
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


def _made(
    client: APIClient, container: str, globs: Sequence[str], known: frozenset[bytes]
) -> tuple[list[str], list[str]]:
    """Return the paths that globs match and neither the image nor the copy had, and all that the image had not."""
    from morph_tasks.repo.globs import compile_globs

    matches = compile_globs(globs)
    changes = cast("list[dict[str, Any]]", client.diff(container) or [])
    paths = sorted(str(one["Path"])[len(WORK) + 1 :] for one in changes if _lies_in_tree(one))
    names = {path: path.encode("utf-8", "surrogateescape") for path in paths}
    return [path for path in paths if names[path] not in known and matches(names[path])], paths


def _lies_in_tree(change: dict[str, Any]) -> bool:
    return str(change.get("Path")).startswith(f"{WORK}/") and change.get("Kind") != _DELETED


def _requests(wanted: Sequence[str], all_of_it: Sequence[str]) -> Iterator[tuple[str, set[str]]]:
    """Yield what to ask for, and which files are wanted of it: a folder at once where most of it is wanted."""
    folders: dict[str, set[str]] = {}
    for path in wanted:
        folders.setdefault(path.rpartition("/")[0], set()).add(path)
    for folder, paths in folders.items():
        first, last = bisect(all_of_it, f"{folder}/"), bisect(all_of_it, f"{folder}0")
        if folder and len(paths) >= _MANY and last - first <= _MANY * len(paths):
            yield folder, paths
        else:
            yield from ((path, {path}) for path in sorted(paths))


def _extract(archive: tarfile.TarFile, place: str, names: set[str], root: Path, budget: int, said: list[str]) -> int:
    """Write the wanted files of an archive to their places; returns how many bytes may still come."""
    above = place.rpartition("/")[0]
    while (member := archive.next()) is not None:
        path = f"{above}/{member.name}" if above else member.name
        file = archive.extractfile(member) if member.isreg() and path in names else None
        if file is None:
            continue
        try:
            if member.size > budget:
                raise ValueError(f"more than {_MOST_BYTES >> 20} MiB match `junit` or `outputs`")
            budget -= member.size
            _write(root, _parts(path), file)
        except (OSError, ValueError) as error:
            said.append(_not_brought(path, error))
    return budget


def _parts(path: str) -> list[str]:
    parts = path.split("/")
    if any(part in ("", ".", "..") or part.lower() == ".git" for part in parts):
        raise ValueError("its place is not one for reports")
    return parts


def _not_brought(path: str, error: Exception) -> str:
    why = getattr(error, "explanation", None) or getattr(error, "strerror", None) or error
    return f"{path} was not brought back: {' '.join(str(why).split())}"


@contextmanager
def _opened(client: APIClient, container: str, path: str) -> Iterator[tarfile.TarFile]:
    """Give a file or a folder of a container as the archive that the engine sends."""
    pieces, _ = client.get_archive(container, path, chunk_size=_CHUNK)
    with tarfile.open(fileobj=cast("IO[bytes]", _Pieces(pieces)), mode="r|", encoding="utf-8") as archive:
        yield archive


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
