"""The few settings of git that decide about a blob, asked once and kept until a file with settings changes."""

from __future__ import annotations

import os
import time

from morph_tasks.repo import private
from morph_tasks.repo.spawn import ChildError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from morph_tasks.repo.hashing import StatCache
    from morph_tasks.repo.plumbing import Plumbing

_ASKED = r"^(core\.(autocrlf|attributesfile|filemode)|extensions\.objectformat)$"
_OFF = ("false", "no", "off", "0")
_KEY = b"/settings"  # no path in a tree starts so
_SYSTEM_FOLDERS = ("/etc", "/usr/etc", "/usr/local/etc", "/opt/homebrew/etc")


class Settings:
    """What git is told in its configuration, for one work tree."""

    __slots__ = ("_cache", "_known", "_plumbing")

    def __init__(self, plumbing: Plumbing, cache: StatCache) -> None:
        self._plumbing = plumbing
        self._cache = cache
        self._known: dict[str, str] | None = None

    def ignores_modes(self) -> bool:
        """Tell whether executable bits do not count."""
        return self._all().get("core.filemode", "") in _OFF

    def digits(self) -> int:
        """Return the length of an object id of the repository."""
        return 64 if self._all().get("extensions.objectformat") == "sha256" else 40

    def converts_nothing(self) -> bool:
        """Tell whether blobs are the very bytes of files, where no file of the tree has attributes."""
        known = self._all()
        if known.get("core.autocrlf", "false") not in _OFF or "core.attributesfile" in known:
            return False
        return not any(map(os.path.exists, _attribute_files(self._plumbing)))

    def _all(self) -> dict[str, str]:
        if self._known is None:
            self._known = _parsed(self._read())
        return self._known

    def _read(self) -> bytes:
        file = f"{self._plumbing.common_dir}/config"
        when = time.time_ns()
        before = os.stat(file)
        kept = self._cache.get(_KEY, before)
        if kept is not None:
            return bytes.fromhex(kept.decode().removeprefix("-"))
        try:
            said = b"".join(self._plumbing.stream("config", "-z", "--get-regexp", _ASKED))
        except ChildError:  # none of them is set
            said = b""
        self._cache.put(_KEY, before, os.stat(file), b"-" + said.hex().encode(), when)
        self._cache.save()
        return said


def settings_state(plumbing: Plumbing) -> bytes:
    """Name the state of every file that commonly holds settings and attributes of git."""
    home = os.environ.get("HOME", "")
    files = (
        *(f"{plumbing.common_dir}/config", f"{plumbing.git_dir}/config.worktree"),
        os.environ.get("GIT_CONFIG_GLOBAL") or f"{home}/.gitconfig",
        *(f"{_config_folder()}/git/config", os.environ.get("GIT_CONFIG_SYSTEM", "")),
        *(f"{folder}/gitconfig" for folder in _SYSTEM_FOLDERS),
        *_attribute_files(plumbing),
    )
    return b" ".join(map(private.stat_text, files))


def _attribute_files(plumbing: Plumbing) -> tuple[str, ...]:
    return (
        f"{plumbing.common_dir}/info/attributes",
        f"{_config_folder()}/git/attributes",
        *(f"{folder}/gitattributes" for folder in _SYSTEM_FOLDERS),
    )


def _config_folder() -> str:
    return os.environ.get("XDG_CONFIG_HOME") or f"{os.environ.get('HOME', '')}/.config"


def _parsed(said: bytes) -> dict[str, str]:
    """Read `git config -z`: the last value of a name counts; a name alone is true."""
    found: dict[str, str] = {}
    for field in said.decode("utf-8", "replace").split("\0"):
        name, newline, value = field.partition("\n")
        found[name] = value.lower() if newline else "true"
    return found
