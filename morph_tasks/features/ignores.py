"""Keep what can be derived out of git: lines in ignore files, added and never taken away."""

from __future__ import annotations

from pathlib import Path

from morph_tasks.repo.files import write_atomic

IGNORES = ".morph/.gitignore"
DERIVED = ("state.json", "evidence/", "logs/", "worktree.env")


def ignore_derived(root: Path) -> list[str]:
    """Add the derived files to `.morph/.gitignore`; return the lines that were missing."""
    return add_lines(root / IGNORES, DERIVED)


def is_ours(path: Path) -> bool:
    """Tell whether an ignore file is there and holds only lines that this tool writes."""
    try:
        lines = path.read_text("utf-8", "surrogateescape").split()
    except OSError:
        return False
    return {_bare(line) for line in lines} <= {_bare(line) for line in DERIVED}


def add_lines(path: Path, lines: tuple[str, ...]) -> list[str]:
    """Append the lines that an ignore file lacks, in its own line ends; return them."""
    try:
        old = path.read_bytes()
    except FileNotFoundError:
        old = b""
    present = {_bare(line) for line in old.decode("utf-8", "surrogateescape").splitlines()}
    missing = [line for line in lines if _bare(line) not in present]
    if not missing:
        return []
    end = b"\r\n" if b"\r\n" in old else b"\n"
    joint = b"" if not old or old.endswith(b"\n") else end
    write_atomic(path, old + joint + b"".join(line.encode() + end for line in missing))
    return missing


def _bare(line: str) -> str:
    return line.strip().strip("/")
