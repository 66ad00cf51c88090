"""The lines of a tree that hold one of some words, by `git grep`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from morph_tasks.codegraph.layout import FOLDER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from morph_tasks.repo.git import Repo

_READ = 4 << 20  # bytes of the answer of git
_SPECIAL = re.compile(r"[][{}()*+?^$|.\\]")


class Line(NamedTuple):
    """A line of text, as bytes, and the words that are in it."""

    path: str
    line: int
    text: bytes
    words: tuple[str, ...]


def search(repo: Repo, words: Sequence[str]) -> tuple[list[Line], bool]:
    """Return the lines of tracked and new files with any of the words, and whether those are all.

    The words are one expression: git tries many expressions one after the other. `.morph/` is nobody's code and is left
    out. Raises ProcError.
    """
    either = "|".join(_SPECIAL.sub(lambda sign: f"\\{sign[0]}", word) for word in words)
    options = ("-I", "-n", "-w", "-z", "-E", "--full-name", "--no-color", "--untracked", "-e", f"({either})")
    where = ("--", ".", f":(exclude){FOLDER}", ":(exclude).graphifyignore", ":(top,exclude).morph")
    done = repo.lightly().run("-c", "submodule.recurse=false", "grep", *options, *where, ok=(0, 1))
    names = {word.encode("utf-8", "surrogateescape"): word for word in words}
    longest = b"|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    word = re.compile(rb"(?<![0-9A-Za-z_])(?:" + longest + rb")(?![0-9A-Za-z_])")
    found = []
    for row in done.stdout[:_READ].split(b"\n"):
        path, _, rest = row.partition(b"\0")
        number, _, text = rest.partition(b"\0")
        if number.isdigit():
            inside = tuple(dict.fromkeys(names[one] for one in word.findall(text)))
            found.append(Line(path.decode("utf-8", "surrogateescape"), int(number), text, inside))
    return found, len(done.stdout) <= _READ
