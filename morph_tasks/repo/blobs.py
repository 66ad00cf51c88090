"""The entries that files of a work tree would have in git, at the price of reading only what was touched."""

from __future__ import annotations

import os
import stat
import time

from morph_tasks.repo.hashing import StatCache, blob_id, file_blob_id
from morph_tasks.repo.settings import Settings, settings_state
from morph_tasks.repo.spawn import ChildError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from morph_tasks.repo.plumbing import Plumbing
    from morph_tasks.repo.status import Change

UNREADABLE = "unreadable"
_LINK, _PLAIN, _EXECUTABLE = "120000", "100644", "100755"
_RAW_UNKNOWN = "-"
_MOST_READ_HERE = 50
_ARGUMENTS_AT_ONCE = 500


class BlobReader:
    """Fills in `here` of the changes that git left open, a link or a file each.

    `attributes` names the state of the attributes in the tree, empty when there are none.
    """

    __slots__ = ("_attributes", "_cache", "_index", "_plumbing", "_root", "_settings")

    def __init__(self, plumbing: Plumbing, index: str, attributes: bytes) -> None:
        self._plumbing = plumbing
        self._index = index
        self._attributes = attributes
        self._root = os.fsencode(plumbing.root) + b"/"
        self._cache = StatCache(f"{plumbing.private}/blobs", attributes + b" " + settings_state(plumbing))
        self._settings = Settings(plumbing, self._cache)

    def read(self, changes: dict[bytes, Change]) -> None:
        """Look at every path, read what was touched; raises Refusal `filter-failed`, OSError."""
        when = time.time_ns()
        looks: dict[bytes, os.stat_result] = {}
        found: dict[bytes, tuple[str, str]] = {}
        for path, change in changes.items():
            about = self._look(path, change)
            if about is None:
                continue
            looks[path] = about
            kept = (self._cache.get(path, about) or b"").decode().partition(":")
            if kept[0] and (kept[2] != _RAW_UNKNOWN or not _in_git(change)):
                found[path] = (kept[0], kept[2])
        missing = [path for path in looks if path not in found]
        if missing:
            for path, pair in self._hashed(missing, changes, looks).items():
                found[path] = pair
                self._keep(path, looks[path], pair, when)
            self._cache.save()
        self._settle(changes, looks, found)

    def _look(self, path: bytes, change: Change) -> os.stat_result | None:
        """Return what a regular file looks like; all else is settled on the spot."""
        change.here = None
        try:
            about = os.lstat(self._root + path)
            if stat.S_ISREG(about.st_mode):
                return about
            if stat.S_ISLNK(about.st_mode):
                change.here = (_LINK, blob_id(os.readlink(self._root + path), self._digits(change)))
        except (FileNotFoundError, NotADirectoryError):
            return None  # it went after git had seen it
        except OSError:
            change.here = (change.mode or _PLAIN, UNREADABLE)
        return None

    def _hashed(
        self, paths: list[bytes], changes: dict[bytes, Change], looks: dict[bytes, os.stat_result]
    ) -> dict[bytes, tuple[str, str]]:
        """Return for each path that is still there the blob id as git would add it, and that of its very bytes."""
        found: dict[bytes, tuple[str, str]] = {}
        raw: dict[bytes, str] = {}
        # A child process costs as much as reading some files here, and is faster with many.
        plain = len(paths) <= _MOST_READ_HERE and not self._attributes and self._settings.converts_nothing()
        for path in paths:
            try:
                if plain or _in_git(changes[path]):
                    raw[path] = file_blob_id(self._root + path, looks[path].st_size, self._digits(changes[path]))
                else:
                    os.close(os.open(self._root + path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK))
                    raw[path] = _RAW_UNKNOWN
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError:
                found[path] = (UNREADABLE, _RAW_UNKNOWN)
        filtered = raw if plain else self._filtered(list(raw))
        found.update((path, (oid, raw[path])) for path, oid in filtered.items())
        return found

    def _filtered(self, paths: list[bytes]) -> dict[bytes, str]:
        """Hash as `git add` does, with end-of-line conversion and clean filters."""
        found: dict[bytes, str] = {}
        while paths:
            names = b"".join(_quoted(path) + b"\n" for path in paths)
            said = b""
            failure = None
            try:
                for chunk in self._plumbing.stream("hash-object", "--stdin-paths", index=self._index, stdin=names):
                    said += chunk
            except ChildError as error:
                failure = error
            oids = said.decode().split()
            found.update(zip(paths, oids, strict=False))
            if failure is None:
                break
            culprit, paths = paths[len(oids) : len(oids) + 1], paths[len(oids) + 1 :]
            if not culprit or os.path.lexists(self._root + culprit[0]):
                raise self._plumbing.refusal(failure)
        return found

    def _keep(self, path: bytes, before: os.stat_result, pair: tuple[str, str], when: int) -> None:
        try:
            after = os.lstat(self._root + path)
        except OSError:
            return
        if pair[0] != UNREADABLE:
            self._cache.put(path, before, after, ":".join(pair).encode(), when)

    def _settle(
        self, changes: dict[bytes, Change], looks: dict[bytes, os.stat_result], found: dict[bytes, tuple[str, str]]
    ) -> None:
        doubtful = [path for path, pair in found.items() if _converted(changes[path], *pair)]
        untouched = self._with_committed_crlf(doubtful) if doubtful else set()
        for path, (filtered, raw) in found.items():
            change = changes[path]
            # What git converts can differ from the bytes that it has itself written for an unchanged file.
            same = raw != _RAW_UNKNOWN and raw in (change.staged, change.head[1] if change.head else "")
            oid = raw if same or path in untouched else filtered
            change.here = (self._mode(change, looks[path]), oid)

    def _mode(self, change: Change, about: os.stat_result) -> str:
        if change.mode:
            return change.mode
        if about.st_mode & stat.S_IXUSR and not self._settings.ignores_modes():
            return _EXECUTABLE
        return _PLAIN

    def _with_committed_crlf(self, paths: list[bytes]) -> set[bytes]:
        """Return the paths that git leaves as they are because the index has their CRLF.

        `git add` does so under `text=auto`; `git hash-object` does not look at the index.
        """
        found: set[bytes] = set()
        for start in range(0, len(paths), _ARGUMENTS_AT_ONCE):
            names = [os.fsdecode(path) for path in paths[start : start + _ARGUMENTS_AT_ONCE]]
            asked = ("--literal-pathspecs", "ls-files", "--eol", "-z", "--", *names)
            for field in self._plumbing.fields(*asked, index=self._index):
                about, _, path = field.partition(b"\t")
                index, _, attributes = about.split(None, 2)
                automatic = attributes.strip() == b"attr/" or attributes.startswith(b"attr/text=auto")
                if automatic and index in (b"i/crlf", b"i/mixed"):
                    found.add(path)
        return found

    def _digits(self, change: Change) -> int:
        known = change.staged or (change.head[1] if change.head else "")
        return len(known) or self._settings.digits()


def _in_git(change: Change) -> bool:
    return bool(change.head or change.staged)


def _converted(change: Change, filtered: str, raw: str) -> bool:
    return raw not in (_RAW_UNKNOWN, filtered, change.staged) and not (change.head and change.head[1] == raw)


def _quoted(path: bytes) -> bytes:
    """`--stdin-paths` reads lines, and takes a line that starts with a quote for a C string."""
    if b"\n" in path or path.endswith(b"\r") or path.startswith(b'"'):
        path = path.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n").replace(b"\r", b"\\r")
        return b'"' + path + b'"'
    return path
