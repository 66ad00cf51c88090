"""Questions about things outside the tree, and the answers this process got.

A later run that gets the same answers knows that nothing out there has changed. Imports only `os`:
the no-op asks these questions before anything else is loaded.
"""

import os
import time

# A file touched this close to the question may change once more without its times telling, in nanoseconds.
RACY_NS = 50_000_000

UNSETTLED = "?"

_answers: dict[tuple[str, str], str] = {}


def signature(path: str) -> str:
    """Return what identifies a file's content without reading it; "" when there is none."""
    try:
        about = os.stat(path)
    except (OSError, ValueError):
        return ""
    return f"{about.st_mode:o}:{about.st_ino}:{about.st_size}:{about.st_mtime_ns}:{about.st_ctime_ns}"


def which(name: str) -> str:
    """Return the path of a program on the PATH; "" when there is none."""
    if "/" in name:
        return name if os.access(name, os.X_OK) else ""
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        path = f"{folder or '.'}/{name}"
        if os.access(path, os.X_OK) and os.path.isfile(path):
            return path
    return ""


def variable(name: str) -> str:
    """Return the value of an environment variable, told apart from an unset one."""
    value = os.environ.get(name)
    return "" if value is None else "=" + value


def link(path: str) -> str:
    """Return where a link points to; "" for anything else."""
    try:
        return os.readlink(path)
    except (OSError, ValueError):
        return ""


def folder(path: str) -> str:
    """Return where a folder really is; "" when there is none. What is in it does not matter."""
    return os.path.realpath(path) if os.path.isdir(path) else ""


_KINDS = {"file": signature, "which": which, "env": variable, "link": link, "folder": folder}


def ask(kind: str, subject: str) -> str:
    """Answer a question and remember the answer. Ask before you read: then what changes meanwhile is not missed."""
    answer = _KINDS[kind](subject)
    # Values of variables are secrets as often as not.
    kept = _hidden(answer) if kind == "env" else answer
    # Two answers in one run: nobody knows which of them it went by, and no later question is answered like this.
    settled = _answers.get((kind, subject), kept) == kept and not (kind == "file" and _racy(kept))
    _answers[kind, subject] = kept if settled else UNSETTLED
    return answer


def _racy(sign: str) -> bool:
    """Tell whether a file was touched just now, and so may change once more without a trace."""
    return bool(sign) and time.time_ns() - int(sign.rpartition(":")[2]) < RACY_NS


def same(kind: str, subject: str, answer: str) -> bool:
    """Tell whether a question still has the answer it had."""
    now = _KINDS[kind](subject)
    return (_hidden(now) if kind == "env" else now) == answer


def answers() -> dict[tuple[str, str], str]:
    """Return every question this process asked, with its answer."""
    return dict(_answers)


def _hidden(value: str) -> str:
    from hashlib import sha256

    return sha256(value.encode("utf-8", "surrogateescape")).hexdigest() if value else ""
