"""Digests of files outside the tree's fingerprint, cached by what `stat` says of them."""

from __future__ import annotations

import hashlib
import json
import os
import time
from pathlib import Path

from morph_tasks.errors import Refusal
from morph_tasks.repo.files import write_atomic
from morph_tasks.verify.probe import RACY_NS, ask

_MOST = 4000


class Digests:
    """Answers `of(path)`; one JSON file keeps the answers between runs."""

    def __init__(self, store: Path) -> None:
        self._path = store / "cache" / "digests.json"
        self._known: dict[str, str] | None = None
        self._dirty = False

    def of(self, path: str) -> str | None:
        """Return the SHA-256 of a file's content in hex; None when it cannot be read."""
        sign = ask("file", path)
        if not sign:
            return None
        name = f"{path}\0{sign}"
        known = self._load()
        if name not in known:
            digest = file_digest(path)
            if digest is None:
                return None
            if time.time_ns() - int(sign.rsplit(":", 1)[1]) < RACY_NS:
                return digest
            known[name] = digest
            self._dirty = True
        return known[name]

    def save(self) -> None:
        """Keep what was learnt; a cache that cannot be written only costs time."""
        if not self._dirty or self._known is None:
            return
        newest = dict(list(self._known.items())[-_MOST:])
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_atomic(self._path, json.dumps(newest).encode("utf-8", "surrogateescape"), mode=0o600)
        except (OSError, Refusal):
            return
        self._dirty = False

    def _load(self) -> dict[str, str]:
        if self._known is None:
            try:
                found = json.loads(self._path.read_bytes().decode("utf-8", "surrogateescape"))
            except (OSError, ValueError, RecursionError):
                found = {}
            self._known = found if isinstance(found, dict) else {}
        return self._known


def file_digest(path: str) -> str | None:
    """Return the SHA-256 of a file's content in hex; None when it cannot be read."""
    if not os.path.isfile(path):
        return None
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def text_digest(text: str) -> str:
    """Return the SHA-256 of a text in hex."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
