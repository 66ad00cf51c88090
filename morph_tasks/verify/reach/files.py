"""Where a node's run leaves the data of coverage.py, and which of it that very run wrote."""

from __future__ import annotations

import os
import re
import shlex
from configparser import ConfigParser
from configparser import Error as ConfigError
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from morph_tasks.verify.reach.data import is_data

if TYPE_CHECKING:
    from morph_tasks.verify.nodes import Node

_MOST = 500  # files of parallel runs
_MOVED = re.compile(r"\s*cd\s+((?:[\w./-]|\\ )+)\s*&&")
# File: the section that speaks of a run in it.
_SECTIONS = {".coveragerc": "run", "setup.cfg": "coverage:run", "tox.ini": "coverage:run"}


def data_file(root: Path, node: Node) -> Path:
    """Return where coverage.py would write in a run of a node: as configured, else `.coverage` where it runs."""
    folder = root / node.cwd
    moved = _MOVED.match(node.command)
    if moved:
        folder = folder / moved[1].replace("\\ ", " ")
    given = {**os.environ, **dict(node.set_env)}
    named = given.get("COVERAGE_FILE") or _option(node.command, "--data-file")
    if not named:
        rc = _option(node.command, "--cov-config") or _option(node.command, "--rcfile") or given.get("COVERAGE_RCFILE")
        named = _configured(folder, rc or "")
    return folder / os.path.expandvars(named or ".coverage")


def _option(command: str, name: str) -> str:
    """Return the value of an option of a command line, given as one word or as two."""
    if name not in command:
        return ""
    try:
        words = shlex.split(command)
    except ValueError:
        return ""
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word == name:
            return following
        if word.startswith(f"{name}="):
            return word.partition("=")[2]
    return ""


def _configured(folder: Path, rc: str) -> str:
    """Return what the first configuration says that speaks of coverage; "" when none does."""
    for name in (rc or ".coveragerc", "setup.cfg", "tox.ini", "pyproject.toml"):
        try:
            text = (folder / name).read_text("utf-8")
        except (OSError, ValueError):
            continue
        if "data_file" in text:
            said = _of_toml(text) if name.endswith(".toml") else _of_ini(text, _SECTIONS.get(name, "run"))
            if said:
                return said
    return ""


def _of_ini(text: str, section: str) -> str:
    parser = ConfigParser(interpolation=None)
    try:
        parser.read_string(text)
        return parser.get(section, "data_file", fallback="").strip()
    except ConfigError:
        return ""


def _of_toml(text: str) -> str:
    import tomllib

    try:
        said = tomllib.loads(text)["tool"]["coverage"]["run"]["data_file"]
    except (tomllib.TOMLDecodeError, KeyError, TypeError):
        return ""
    return said if isinstance(said, str) else ""


class Watch:
    """The data files as they are before a run. They are held open: so a new file never has the number of an old one.

    coverage.py removes its file and makes another, unless it was told to add to it.
    """

    def __init__(self, place: Path) -> None:
        self._place = place
        self._held: dict[Path, tuple[int, tuple[int, int, int]]] = {}

    def __enter__(self) -> Watch:
        for path in self._there():
            with suppress(OSError):
                held = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
                self._held[path] = (held, _state(os.fstat(held)))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for held, _ in self._held.values():
            os.close(held)
        self._held.clear()

    def written(self) -> tuple[list[Path], str | None]:
        """Return the data files that came to be meanwhile, and why one that changed does not count."""
        new, added = [], []
        for path in self._there():
            with suppress(OSError):
                state = _state(path.stat())
                before = self._held.get(path)
                if before is None or state[0] != before[1][0]:
                    new.append(path)
                elif state != before[1]:
                    added.append(path.name)
        why = f"{added[0]} was added to: it holds the lines of earlier runs as well" if added else None
        return ([] if added else [path for path in new if is_data(path)]), why

    def _there(self) -> list[Path]:
        with suppress(OSError):
            start = f"{self._place.name}."
            names = sorted(name for name in os.listdir(self._place.parent) if name.startswith(start))[:_MOST]
            found = [self._place, *(self._place.with_name(name) for name in names)]
            return [path for path in found if path.is_file()]
        return []


def _state(about: os.stat_result) -> tuple[int, int, int]:
    return about.st_ino, about.st_size, about.st_mtime_ns
