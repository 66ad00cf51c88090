"""Everything outside the tree's content that decides what a stack is: files git may ignore, and variables.

Compose alone resolves a compose file. Here its text is only scanned, too widely rather than too narrowly, for what a
later run has to compare before it may believe that nothing changed.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

_VARIABLE = re.compile(rb"\$\{?([A-Za-z_][A-Za-z0-9_]*)")
_ALWAYS = ("COMPOSE_FILE", "COMPOSE_PROFILES", "COMPOSE_ENV_FILES", "DOCKER_HOST", "DOCKER_CONTEXT")
_MOST_BYTES = 1 << 20
_MOST_FILES = 200


def inputs_of(root: Path, config_files: tuple[str, ...], env: Mapping[str, str]) -> dict[str, Any]:
    """Return files and variables with their digests, as a stamp keeps them."""
    files: dict[str, str] = {}
    names = set(_ALWAYS)
    todo = [Path(os.path.join(root, name)) for name in config_files]
    todo += [root / name for name in _defaults()]
    while todo and len(files) < _MOST_FILES:
        path = Path(os.path.normpath(todo.pop()))
        if str(path) in files:
            continue
        files[str(path)] = _file_digest(path)
        if path.suffix in (".yml", ".yaml") and files[str(path)]:
            data = path.read_bytes()
            names |= {name.decode() for name in _VARIABLE.findall(data)}
            todo += _named_in(data, path.parent, root)
    return {"files": files, "variables": {name: value_digest(env.get(name)) for name in sorted(names)}}


def changed(recorded: Mapping[str, Any], env: Mapping[str, str]) -> str | None:
    """Return what differs from a record, in words; None when nothing does."""
    for name, digest in recorded["files"].items():
        if _file_digest(Path(name)) != digest:
            return f"{name} changed"
    for name, digest in recorded["variables"].items():
        if value_digest(env.get(name)) != digest:
            return f"the variable {name} changed"
    return None


def value_digest(value: str | None) -> str:
    """Return what stands for a value in a file: it may be a password."""
    if value is None:
        return ""
    return hashlib.sha256(b"morph-spec stack input\0" + value.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _defaults() -> Iterator[str]:
    from morph_tasks.stack.compose import FILES

    yield ".env"
    for name in FILES:
        stem, _, ending = name.rpartition(".")
        # An absent one counts too: it would be read once it is there.
        yield name
        yield f"{stem}.override.{ending}"


def _named_in(data: bytes, folder: Path, root: Path) -> list[Path]:
    """Return the files that the scalars of a YAML document name: included, extended, of variables, of secrets."""
    import yaml

    found: list[Path] = []
    with suppress(yaml.YAMLError, UnicodeDecodeError, RecursionError):
        for token in yaml.scan(data.decode("utf-8-sig")):
            if isinstance(token, yaml.ScalarToken) and 0 < len(token.value) < 500 and "\n" not in token.value:
                for base in {folder, root}:
                    path = base / token.value
                    with suppress(OSError, ValueError):
                        if path.is_file():
                            found.append(path)
    return found


def _file_digest(path: Path) -> str:
    """Return the digest of a file; "" when there is none, its signature when it is large."""
    try:
        about = os.stat(path)
        if about.st_size > _MOST_BYTES:
            return f"{about.st_size}:{about.st_mtime_ns}"
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except (OSError, ValueError):
        return ""
