"""Pages that a command writes where it is told to, and that replace nothing but a page of their own."""

from __future__ import annotations

import os
import shlex
import stat
from pathlib import Path

from morph_tasks.errors import Refusal

_HEAD = 4096  # the mark stands in the first bytes


def check_target(path: Path, mark: str, command: str, *, force: bool) -> None:
    """Refuse a place that holds something else than a page with this mark.

    Raises Refusal `not-a-<command>-page`, `write-failed`.
    """
    code = f"not-a-{command}-page"
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        if not os.path.isdir(path.parent):
            fix = shlex.join(["mkdir", "-p", "--", str(path.parent)])
            raise Refusal("write-failed", f"the folder {path.parent} does not exist", fix=fix) from None
        if os.path.islink(path):
            fix = shlex.join(["rm", "--", str(path)])
            raise Refusal(code, f"{path} is a link that leads nowhere", fix=fix) from None
        return
    except OSError as error:
        raise Refusal("write-failed", f"{path} cannot be looked at: {error.strerror}") from None
    if not stat.S_ISREG(mode):
        raise Refusal(code, f"{path} is no file that could be replaced", fix="name another file")
    if not force and not _is_ours(path, mark):
        raise Refusal(
            code,
            f"{path} exists and is no page that `morph-spec {command}` wrote",
            fix="name another file, or replace it with --force",
        )


def _is_ours(path: Path, mark: str) -> bool:
    try:
        with open(path, "rb") as file:
            head = file.read(_HEAD)
    except OSError:
        return False
    return not head or mark.encode() in head
