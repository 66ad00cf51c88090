"""A `docker` command that runs beside us: in a session of its own, on record, and ended when we leave."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from morph_tasks.errors import Refusal

if TYPE_CHECKING:
    import subprocess

    from morph_tasks.machine.groups import Group

_GRACE_S = 3.0
_KEPT = 1 << 20


class Child:
    """One running command; a context manager that ends it, whatever happens.

    Its record in `live_dir` lets a later command end it when this process was killed. Output goes to `log`. Raises
    Refusal `command-not-started`, `interrupted`.
    """

    def __init__(self, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], log: Path, live_dir: Path) -> None:
        self._argv, self._cwd, self._env, self._live_dir = list(argv), cwd, env, live_dir
        self.log = log
        self.code: int | None = None
        self._popen: subprocess.Popen[bytes] | None = None
        self._group: Group | None = None
        self._path: Path | None = None

    def __enter__(self) -> Child:
        from dataclasses import replace

        from morph_tasks.machine import identity, live, starting
        from morph_tasks.machine.groups import Group
        from morph_tasks.machine.identity import Identity
        from morph_tasks.machine.registry import LIVE

        record = live.Record("stack", os.urandom(8).hex(), identity.me(), None)
        self._path = live.announce(self._live_dir, record)
        try:
            with starting.opened(self.log) as out, LIVE.starting(record.token):
                if LIVE.closed:
                    raise Refusal("interrupted", "this process is about to end")
                env = {**self._env, **starting.marks_of(record)}
                self._popen = starting.spawn(self._argv, self._cwd, env, out)
                pid = self._popen.pid
                leader = identity.identify(pid) or Identity(pid, None, identity.boot(), identity.host())
                self._group = Group(leader, record.token, held=True)
                LIVE.add(self._group)
            self._path = live.confirm(self._path, replace(record, leader=leader))
            self._group.record = self._path
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def poll(self, wait_s: float = 0.0) -> int | None:
        """Return the exit code once the command has ended; waits at most `wait_s` seconds for it."""
        import subprocess

        if self.code is None and self._popen is not None:
            with suppress(subprocess.TimeoutExpired):
                self.code = self._popen.wait(wait_s) if wait_s > 0 else self._popen.poll()
                if self.code is not None and self._group is not None:
                    self._group.held = False
        return self.code

    def output(self) -> str:
        """Return what it wrote, the end of it when that is much."""
        try:
            with open(self.log, "rb") as file:
                file.seek(max(0, os.path.getsize(self.log) - _KEPT))
                return file.read().decode("utf-8", "replace")
        except OSError:
            return ""

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        from morph_tasks.machine import groups, live
        from morph_tasks.machine.registry import LIVE

        if self._group is not None:
            if self.poll() is None:
                groups.stop([self._group], _GRACE_S)
                self.poll(_GRACE_S)
            LIVE.remove(self._group)
        if self._path is not None and (self._group is None or not self._group.held):
            live.forget(self._path)
