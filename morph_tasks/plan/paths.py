"""Paths as a plan may name them: files, relative to the tree, inside it."""

from __future__ import annotations

import re
import unicodedata

_DRIVE = re.compile(r"[A-Za-z]:")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\ufffd]")
_LONGEST = 1024


def normal_path(text: str) -> str:
    """Return one spelling of a path: no `./`, no doubled slashes."""
    return "/".join(step for step in text.split("/") if step not in ("", "."))


def same_file_key(path: str) -> str:
    """Return what two names of one file have in common.

    Without case: some systems keep `A.py` and `a.py` in one file, and two waves more cost little.
    """
    return unicodedata.normalize("NFC", normal_path(path)).casefold()


def path_problem(text: str) -> str | None:
    """Return why `text` cannot name a file of the tree, as the end of a sentence; None when it can."""
    steps = text.split("/")
    if len(text) > _LONGEST:
        return f"is longer than {_LONGEST} characters"
    if _CONTROL.search(text):
        return "holds a control character"
    if "\\" in text:
        return "has a backslash: steps are parted by `/`"
    if _DRIVE.match(text) or "://" in text:
        return "is no path inside the tree"
    if text.startswith("/"):
        return "is absolute: name it from the root of the tree"
    if text.startswith("~"):
        return "is outside the tree: `~` is a home folder"
    if ".." in steps:
        return "climbs with `..`: name it from the root of the tree"
    if any(step.lower() == ".git" for step in steps):
        return "lies in `.git`"
    if text.endswith("/") or not normal_path(text):
        return "is a folder: name the files"
    if "*" in text or "?" in text:
        return "is a pattern: name the files"
    return None
