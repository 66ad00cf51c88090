"""The lines that a tree has and its base has not: committed, staged, unstaged and untracked alike."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.repo.hidden import hidden_paths

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

_SETTINGS = (
    "-c", "core.quotePath=false", "-c", "core.fsmonitor=false", "-c", "core.splitIndex=false",
    "-c", "core.safecrlf=false", "-c", "core.untrackedCache=false", "-c", "diff.autoRefreshIndex=false",
)  # fmt: skip
# Said in full, so that nobody's own settings change what counts as added.
_DIFF = (
    "diff", "-U0", "-M", "-l2000", "--inter-hunk-context=0", "--diff-algorithm=myers", "--indent-heuristic",
    "--no-color", "--no-ext-diff", "--no-textconv", "--no-relative", "--ignore-submodules=all",
    "--src-prefix=a/", "--dst-prefix=b/",
)  # fmt: skip
HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_QUOTED = re.compile(rb'\\([abtnvfr"\\]|[0-7]{3})')
_PLAIN = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}


@dataclass(frozen=True)
class AddedFile:
    """One file with its added lines: number in the file as it is now, from 1, and bytes without the line end."""

    path: str
    lines: tuple[tuple[int, bytes], ...]


def added_files(repo: Repo, base: str, names: Sequence[str] = ()) -> list[AddedFile]:
    """Return the files with added lines since the tree `base`; a file that only moved has none.

    `names` are patterns such as `*.py`; `.morph/` never counts. Git's rules about binary files and line ends hold.
    Raises ProcError.
    """
    return list(parse_added(diff_since(repo, base, names)))


def diff_since(repo: Repo, base: str, names: Sequence[str] = (), *, deleted: bool = False) -> bytes:
    """Return git's diff without context from the tree `base` to the files as they are, untracked ones included.

    `names` as for `added_files`; `deleted`: with the files that are gone. Raises ProcError.
    """
    wanted = [f":(glob,icase)**/{name}" for name in names] or [":/"]
    pathspecs = ["--", *wanted, ":(top,exclude).morph"]
    untracked = [
        path
        for path in repo.git(*_SETTINGS, "ls-files", "-z", "-o", "--exclude-standard", *pathspecs).split(b"\0")
        if path and not path.endswith(b"/")
    ]
    with tempfile.TemporaryDirectory(prefix="morph-added-") as folder:
        env = _private_index(repo, Path(folder), untracked, hidden_paths(repo))
        words = [*_SETTINGS, *_DIFF, *([] if deleted else ["--diff-filter=d"]), base, *pathspecs]
        return _git(repo, words, env)


def _private_index(repo: Repo, folder: Path, untracked: Sequence[bytes], hidden: Sequence[bytes]) -> dict[str, str]:
    """Return the environment of a copy of the index that knows the untracked files, without writing to the repository.

    Content counts the same before it is committed and after: so a new file may be an old one that moved. A file that
    git was told not to look at counts by what it holds.
    """
    env = {"GIT_OPTIONAL_LOCKS": "0"}
    if not untracked and not hidden:
        return env
    env["GIT_INDEX_FILE"] = str(folder / "index")
    if (repo.git_dir / "index").exists():
        shutil.copy2(repo.git_dir / "index", folder / "index")
    # Even an empty entry makes git write an object: it goes to a store of its own.
    (folder / "objects").mkdir()
    objects = str(repo.common_dir / "objects").replace("\\", "\\\\").replace('"', '\\"')
    own = {**env, "GIT_OBJECT_DIRECTORY": str(folder / "objects"), "GIT_ALTERNATE_OBJECT_DIRECTORIES": f'"{objects}"'}
    words = [*_SETTINGS, "--literal-pathspecs", "add", "-N", "--pathspec-from-file=-", "--pathspec-file-nul"]
    if untracked:
        _git(repo, words, own, stdin=b"\0".join(untracked))
    for option in ("--no-assume-unchanged", "--no-skip-worktree") if hidden else ():
        _git(repo, [*_SETTINGS, "update-index", option, "-z", "--stdin"], own, stdin=b"\0".join(hidden))
    return env


def _git(repo: Repo, words: Sequence[str], env: dict[str, str], *, stdin: bytes = b"") -> bytes:
    return repo.run(*words, env=env, stdin=stdin).stdout


def parse_added(diff: bytes) -> Iterator[AddedFile]:
    """Yield the files with added lines of a diff without context."""
    path: str | None = None
    lines: list[tuple[int, bytes]] = []
    old = new = number = 0
    for line in diff.split(b"\n"):
        if new > 0 and line.startswith(b"+"):
            lines.append((number, line[1:].removesuffix(b"\r")))
            number, new = number + 1, new - 1
        elif old > 0 and line.startswith(b"-"):
            old -= 1
        elif hit := HUNK.match(line):
            old, number, new = int(hit[1] or 1), int(hit[2]), int(hit[3] or 1)
        elif line.startswith(b"diff --git "):
            if path is not None and lines:
                yield AddedFile(path, tuple(lines))
            path, lines, old, new = None, [], 0, 0
        elif line.startswith(b"+++ "):
            path = path_of(line[4:])
    if path is not None and lines:
        yield AddedFile(path, tuple(lines))


def path_of(shown: bytes, side: bytes = b"b/") -> str | None:
    """Return the path of a `+++` line, with `a/` of a `---` line; None for no file.

    Git quotes odd characters, and ends names with spaces in a tab.
    """
    name = shown.removesuffix(b"\t")
    if name.startswith(b'"') and name.endswith(b'"'):
        name = _QUOTED.sub(_unquoted, name[1:-1])
    return os.fsdecode(name.removeprefix(side)) if name.startswith(side) else None


def _unquoted(hit: re.Match[bytes]) -> bytes:
    code = hit[1]
    return bytes([int(code, 8)]) if code.isdigit() else _PLAIN.get(code, code)
