"""The private copy of a work tree's index: git may refresh it and cache in it, the real one is never written.

The copy's name tells which index it was seeded from, so a slow git of an earlier seed cannot write over a
newer one. The seal beside it tells what was last left there: a copy that looks otherwise is seeded again.
"""

from __future__ import annotations

import fcntl
import os
import time

from morph_tasks.repo import private
from morph_tasks.repo.spawn import ChildError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from morph_tasks.repo.plumbing import Plumbing

_CHECKSUM = 32  # bytes; holds that of either hash
_CLOCK_LAG_NS = 50_000_000  # covers what the file system's clock is behind ours
_LONG_LOOK_NS = 500_000_000  # what a git of the user may have taken between its look and its writing
_STALE_S = 600
_QUIET = ("-c", "core.hooksPath=/dev/null", "-c", "core.splitIndex=false", "-c", "index.skipHash=false")

# Whatever the user or the repository has configured. Submodules are asked one by one: asked through
# their parent, git would refresh their real index.
_STATUS = (
    *("-c", "core.untrackedCache=true", "-c", "status.showUntrackedFiles=all", "-c", "core.fsmonitor=false"),
    *("-c", "core.trustctime=true", "-c", "core.checkStat=default", "-c", "core.ignoreStat=false"),
    *("-c", "core.splitIndex=false", "-c", "index.skipHash=false", "-c", "core.hooksPath=/dev/null"),
    *("-c", "status.renames=false", "-c", "status.showStash=false", "-c", "core.quotePath=false"),
    *("-c", "sparse.expectFilesOutsideOfPatterns=false"),
    *("status", "--porcelain=v2", "-z", "--branch", "-uall", "--no-renames", "--no-ahead-behind"),
    "--ignore-submodules=dirty",
)


class CorruptIndexError(Exception):
    """The real index is not whole."""


class PrivateIndex:
    """A seeded copy that no other process throws away while this one is entered."""

    __slots__ = ("_lock", "_plumbing", "_sealed", "fresh", "path")

    def __init__(self, plumbing: Plumbing) -> None:
        self._plumbing = plumbing
        self._lock = -1
        self._sealed = b""
        self.fresh = False
        self.path = ""

    def __enter__(self) -> PrivateIndex:
        """Seed the copy if it has to be; raises Refusal `state-unwritable`, `corrupt-index`, ..."""
        folder = self._plumbing.private
        try:
            private.make_folder(folder)
            self._lock = os.open(f"{folder}/lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            _share(self._lock)
            source = self._source(_look(f"{self._plumbing.git_dir}/index"))
            self.path = self._name(source)
            self._sealed = source + b"\n" + _look(self.path)
            if private.read(f"{folder}/seal") != self._sealed:
                self.seed()
            _drop_stale(f"{self.path}.lock")
        except OSError as error:
            self._release()
            raise self._plumbing.unusable(error) from None
        except BaseException:
            self._release()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        # Others may be reading an older copy: it goes when nobody is inside.
        if self.fresh and _flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB):
            self._sweep()
        self._release()

    def status(self) -> Iterator[bytes]:
        """Yield the fields of one `git status --porcelain=v2 -z`; raises ChildError."""
        started = time.time_ns()
        yield from self._plumbing.fields(*_STATUS, index=self.path)
        self._settle(started - _CLOCK_LAG_NS)

    def everything(self) -> Iterator[bytes]:
        """Yield the fields of a status that names what git ignores too; writes nothing at all; raises ChildError."""
        yield from self._plumbing.fields("--no-optional-locks", *_STATUS, "--ignored=matching", index=self.path)

    def seed(self) -> None:
        """Copy the real index, with every flag cleared that would hide a change from `git status`."""
        temporary = private.temporary(f"{self._plumbing.private}/index-seed")
        try:
            source = self._source(_copy(f"{self._plumbing.git_dir}/index", temporary))
            self.path = self._name(source)
            if os.path.exists(temporary):
                written = os.stat(temporary).st_mtime_ns
                self._unhide(temporary)
                _doubt(temporary, written - _LONG_LOOK_NS, written)
                os.replace(temporary, self.path)
            else:
                private.remove(self.path)
        except ChildError as error:
            raise self._plumbing.refusal(error) from None
        except CorruptIndexError:
            raise self._plumbing.corrupt_index("its checksum does not match") from None
        finally:
            private.remove(temporary)
        self.fresh = True
        self._seal(source)

    def _source(self, index: bytes) -> bytes:
        """Name what the copy depends on: the real index, and the settings that decide about its flags."""
        settings = (f"{self._plumbing.common_dir}/config", f"{self._plumbing.git_dir}/config.worktree")
        return b" ".join((index, *map(private.stat_text, settings)))

    def _name(self, source: bytes) -> str:
        return f"{self._plumbing.private}/index-{private.digest(source)[:16]}"

    def _seal(self, source: bytes) -> None:
        self._sealed = source + b"\n" + _look(self.path)
        private.write(f"{self._plumbing.private}/seal", self._sealed)

    def _settle(self, when: int) -> None:
        """Take note of what git has written into the copy.

        The copy gets the time at which git began to look. Git trusts a file that is older than the index, in
        whole seconds; dated by its end, a status that runs across a second would hide what changed meanwhile.
        """
        source, _, look = self._sealed.rpartition(b"\n")
        if _look(self.path) == look:
            return
        os.chmod(self.path, 0o600)
        if os.stat(self.path).st_mtime_ns > when:
            os.utime(self.path, ns=(when, when))
        _doubt(self.path, when, time.time_ns())
        self._seal(source)

    def _unhide(self, copy: str) -> None:
        """Clear assume-unchanged, and skip-worktree unless a sparse checkout uses it."""
        listed = b"".join(self._plumbing.stream("ls-files", "-v", "-z", index=copy))
        if listed.count(b"\0H ") + listed.startswith(b"H ") == listed.count(b"\0"):
            return
        lines = listed.split(b"\0")[:-1]
        assumed = [line[2:] for line in lines if line[:1].islower()]
        skipped = [line[2:] for line in lines if line[:1] in b"Ss"]
        if skipped and self._is_sparse():
            skipped = []
        for option, paths in (("--no-assume-unchanged", assumed), ("--no-skip-worktree", skipped)):
            if paths:
                names = b"".join(path + b"\0" for path in paths)
                self._plumbing.output(*_QUIET, "update-index", option, "-z", "--stdin", index=copy, stdin=names)

    def _is_sparse(self) -> bool:
        try:
            asked = self._plumbing.stream("config", "--type=bool", "--get", "core.sparseCheckout")
            return b"".join(asked).strip() == b"true"
        except ChildError:
            return False

    def _sweep(self) -> None:
        folder = self._plumbing.private
        for name in os.listdir(folder):
            path = f"{folder}/{name}"
            if name.startswith("index-") and not path.startswith(self.path):
                private.remove(path)
            elif name.endswith(private.TEMPORARY):
                _drop_stale(path)

    def _release(self) -> None:
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def _flock(fd: int, operation: int) -> bool:
    try:
        fcntl.flock(fd, operation)
    except OSError:  # held by another, or a file system without locks: nothing is swept there
        return False
    return True


def _share(fd: int) -> None:
    """Keep sweepers out; a sweep is short, and one that was stopped in the middle is not waited for."""
    for _ in range(200):
        if _flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB):
            return
        time.sleep(0.005)


def _look(path: str) -> bytes:
    """Return what tells one state of an index file from another; empty when there is none."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return b"none"
    try:
        return _look_at(fd)
    finally:
        os.close(fd)


def _look_at(fd: int) -> bytes:
    about = os.fstat(fd)
    end = os.pread(fd, _CHECKSUM, max(about.st_size - _CHECKSUM, 0))
    return private.text_of(about) + b":" + end.hex().encode()


def _copy(source: str, target: str) -> bytes:
    """Copy an index with its time, which decides what git takes for certain; returns its look.

    Raises CorruptIndexError: git itself reads a torn index without a word, and finds files deleted.
    """
    try:
        fd = os.open(source, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return b"none"
    from morph_tasks.repo.index_file import is_whole

    try:
        with open(fd, "rb", closefd=False) as file:
            data = file.read()
        if not is_whole(data):
            raise CorruptIndexError
        with open(target, "wb", opener=private.opener) as file:
            file.write(data)
        when = os.fstat(fd).st_mtime_ns
        os.utime(target, ns=(when, when))
        return _look_at(fd)
    finally:
        os.close(fd)


def _doubt(index: str, since: int, until: int) -> None:
    """Have git look again at what changed between two times; keeps the time of the file."""
    from morph_tasks.repo.index_file import doubted

    with open(index, "rb") as file:
        about = os.fstat(file.fileno())
        data = file.read()
    changed = doubted(data, range(since // 10**9, until // 10**9 + 1))
    if changed is not None:
        private.write(index, changed, when=about.st_mtime_ns)


def _drop_stale(path: str) -> None:
    """Remove what a killed process left behind."""
    try:
        if time.time() - os.stat(path).st_mtime > _STALE_S:
            os.unlink(path)
    except FileNotFoundError:
        return
