"""The production code of a tree that its base had already, read file by file when it is asked for."""

from __future__ import annotations

import os
import re
import stat
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from morph_tasks.codegraph.spans import LARGEST
from morph_tasks.verify.validators.repeats.names import plain
from morph_tasks.verify.validators.repeats.sources import Made, Source, by_name, family_of, is_production, read

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

_NAMES = re.compile(rb"[A-Za-z_$][\w$]*")
_USUAL = 4  # a name that every so many files hold tells little


class Holding:
    """The names that are looked for, by the files that hold them."""

    def __init__(self, held: Mapping[str, frozenset[bytes]]) -> None:
        self._held = held
        counted = Counter(name for names in held.values() for name in names)
        self._usual = {name for name, count in counted.items() if count > 8 and count * _USUAL > len(held)}

    def with_most(self, names: Collection[str], share: float) -> list[str]:
        """Return the files that hold a share of some names, and half of those that few files hold."""
        words = frozenset(name.encode() for name in names)
        rare = words - self._usual
        return [
            path
            for path, held in self._held.items()
            if len(words & held) >= share * len(words) and 2 * len(rare & held) >= len(rare)
        ]


class Project:
    """What was there before the feature and still is. `before` and `after` are the changed files, as parsed."""

    def __init__(self, repo: Repo, base: str, before: dict[str, Source], after: dict[str, Source]) -> None:
        self._repo, self._base = repo, base
        self._before, self._after = before, after
        listed = repo.git("ls-tree", "-r", "-z", "--name-only", "--full-tree", base).split(b"\0")
        self.paths = [path for path in map(os.fsdecode, listed) if path and is_production(path)]
        self._known = frozenset(self.paths)
        self._sources: dict[str, tuple[Made, ...]] = {}
        self._texts: dict[str, bytes] = {}
        self._named: dict[str, dict[str, list[Made]]] = {}

    def made(self, path: str) -> tuple[Made, ...]:
        """Return the definitions of a file that its base has as well."""
        if path not in self._known:
            return ()
        if path not in self._sources:
            self._sources[path] = tuple(self._kept(path))
        return self._sources[path]

    def called(self, path: str, name: str) -> list[Made]:
        """Return the definitions of a file that have a name, in whatever style it is written."""
        if path not in self._named:
            self._named[path] = by_name(self.made(path))
        return self._named[path].get(plain(name), [])

    def now(self, path: str, name: str) -> list[Made]:
        """Return the definitions of a file that have a name, also those that its base has not."""
        if path not in self._after:
            return self.called(path, name)
        return [one for one in self._after[path].made or () if plain(one.name) == plain(name)]

    def beyond(self, graphed: Collection[str], built_at: str | None) -> list[str]:
        """Return the files that the graph, which knows some paths, does not know as the base has them.

        All of them when the commit that it was made at is not known, or not here any more.
        """
        if built_at is None or built_at.startswith("-"):
            return self.paths
        options = ("--name-only", "-z", "--no-renames", "--no-ext-diff", "--ignore-submodules=all")
        done = self._repo.run("diff", *options, built_at, self._base, "--", ok=range(256))
        if done.code:
            return self.paths
        changed = {os.fsdecode(path) for path in done.stdout.split(b"\0")}
        return [path for path in self.paths if path in changed or path not in graphed]

    def says(self, path: str, names: Collection[str]) -> bool:
        """Tell whether the text of a file has one of some names in lower case; a whole word or not."""
        text = self._text(path).lower()
        return any(name.encode() in text for name in names)

    def holding(self, family: str, names: frozenset[str]) -> Holding:
        """Return which of some names each file of a language holds."""
        words = frozenset(name.encode() for name in names)
        ours = [path for path in self.paths if family_of(path) == family]
        return Holding({path: words.intersection(_NAMES.findall(self._text(path))) for path in ours})

    def _kept(self, path: str) -> Iterator[Made]:
        if path in self._before or path in self._after:
            now, old = (side[path].made if path in side else () for side in (self._after, self._before))
            ids = {one.id for one in old or ()}
            yield from (one for one in now or () if one.id in ids)
        else:
            yield from read(path, self._text(path)).made or ()

    def _text(self, path: str) -> bytes:
        """Return a file as it is now; nothing for one that is gone, a link or too large."""
        if path not in self._texts:
            self._texts[path] = self._read(path)
        return self._texts[path]

    def _read(self, path: str) -> bytes:
        place = self._repo.root / path
        try:
            about = os.lstat(place)
            if not stat.S_ISREG(about.st_mode) or about.st_size > LARGEST:
                return b""
            return place.read_bytes().removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")
        except OSError:
            return b""
