"""`e2e status` and a warm `e2e up`, answered from a note when nothing at all is different. Any doubt: the long way.

The note holds what the last `up` found, and what it rested on: files and variables, the content of the tree, and each
container as the engine described it. The engine and the tree are asked every time; what is spared is the import of the
machinery that interprets the answers.
"""

from __future__ import annotations

import hashlib
import marshal
import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

_VERSION = 1
_COMMANDS = ("status", "up")


def answer(argv: list[str]) -> int | None:
    """Answer `e2e status|up <feature> [--json]`; None when that cannot be done from the note."""
    as_json = "--json" in argv[2:]
    words = [word for word in argv[2:] if word != "--json"]
    if argv[:1] != ["e2e"] or argv[1:2] not in (["status"], ["up"]) or len(words) != 1 or words[0].startswith("-"):
        return None
    kept = settled(words[0])
    if kept is None:
        return None
    try:
        sys.stdout.write(kept["answers"][argv[1]]["json" if as_json else "text"] + "\n")
        sys.stdout.flush()
    except (UnicodeEncodeError, BrokenPipeError):
        return None
    return 0


def settled(feature: str) -> dict[str, Any] | None:
    """Return the note of a feature when all that it rests on is as it was."""
    from morph_tasks.verify.witness import _place

    place = _place()
    if place is None:
        return None
    root, git_dir = place
    kept = _read(_path(git_dir, feature))
    if kept is None or kept["root"] != root or kept["feature"] != feature:
        return None
    same_files = all(_signature(name) == about for name, about in kept["files"].items())
    same_variables = all(_digest(os.environ.get(name)) == digest for name, digest in kept["variables"].items())
    if not (same_files and same_variables):
        return None
    from morph_tasks.errors import Refusal
    from morph_tasks.repo.fingerprint import tree_state
    from morph_tasks.stack.engine import EngineError

    try:
        same = facts(kept["project"]) == kept["containers"] and tree_state(root, git_dir).sum == kept["sum"]
    except (Refusal, EngineError, ValueError):
        return None
    return kept if same else None


def facts(project: str) -> dict[str, tuple[Any, ...]]:
    """Return each container of a project with all that can change about it; raises what the engine's door raises."""
    from morph_tasks.stack import engine

    found = {}
    for listed in engine.containers(project):
        one = engine.inspect(str(listed["Id"])) or {}
        state = one.get("State") or {}
        health = (state.get("Health") or {}).get("Status") or ""
        moments = (str(state.get("StartedAt")), str(state.get("FinishedAt")))
        about = (str(one.get("Image")), str(state.get("Status")), str(health), *moments)
        found[str(listed["Id"])] = (*about, int(one.get("RestartCount") or 0), int(state.get("ExitCode") or 0))
    return found


def note(
    root: str,
    git_dir: str,
    feature: str,
    *,
    project: str,
    sum: str,
    files: Iterable[str],
    variables: Iterable[str],
    answers: Mapping[str, Mapping[str, str]],
) -> None:
    """Keep a note; one that cannot be kept only costs time. `answers` hold `json` and `text` for `status` and `up`."""
    from morph_tasks.errors import Refusal
    from morph_tasks.stack.engine import EngineError

    try:
        containers = facts(project)
    except (Refusal, EngineError, ValueError):
        return
    about = {name: _signature(name) for name in files}
    if any(_racy(name) for name in about):
        return
    kept = {
        "of": _identity(),
        "root": root,
        "feature": feature,
        "project": project,
        "sum": sum,
        "files": about,
        "variables": {name: _digest(os.environ.get(name)) for name in variables},
        "containers": containers,
        "answers": {command: dict(answers[command]) for command in _COMMANDS},
    }
    body = marshal.dumps(kept)
    path = _path(git_dir, feature)
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(hashlib.sha256(body).digest() + body)
        os.replace(temporary, path)
    except OSError:
        return


def _read(path: str) -> dict[str, Any] | None:
    try:
        with open(path, "rb") as file:
            data = file.read()
        if hashlib.sha256(data[32:]).digest() != data[:32]:
            return None
        kept = marshal.loads(data[32:])  # noqa: S302 (written by us, private to the user, its checksum right)
    except (OSError, ValueError, EOFError, TypeError):
        return None
    return kept if isinstance(kept, dict) and kept.get("of") == _identity() else None


def _identity() -> str:
    return f"{_VERSION} {sys.hexversion} {_signature(__file__)}"


def _path(git_dir: str, feature: str) -> str:
    return f"{git_dir}/morph-spec/stack-notes/{feature.encode('utf-8', 'surrogateescape').hex()[:200]}"


def _signature(path: str) -> str:
    from morph_tasks.verify.probe import signature

    return signature(path)


def _racy(path: str) -> bool:
    """Tell whether a file was touched so recently that its times do not tell one more change."""
    from morph_tasks.verify.probe import RACY_NS

    try:
        return time.time_ns() - os.stat(path).st_mtime_ns < RACY_NS
    except OSError:
        return False


def _digest(value: str | None) -> str:
    """Return what stands for a value: it may be a password."""
    if value is None:
        return ""
    return hashlib.sha256(b"morph-spec stack note\0" + value.encode("utf-8", "surrogateescape")).hexdigest()
