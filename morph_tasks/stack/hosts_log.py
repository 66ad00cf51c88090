"""Logs of host services: private, without secrets, and their last lines."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.machine import starting

if TYPE_CHECKING:
    import subprocess

TAIL_LINES = 20
_TAIL_BYTES = 1 << 16
_LONGEST_LINE = 2000
_FILTER = Path(__file__).with_name("hosts_filter.py")


def secrets_of(env: Mapping[str, str], values: Collection[str] = ()) -> dict[str, str]:
    """Return what has to stay out of a log, and what stands there instead.

    By the rule of node logs: values of 8 signs and more whose names speak of a secret. `values` are secret whatever
    they are called (a credentials file).
    """
    from morph_tasks.verify.launch import _SECRET_WORDS, _SHORTEST_SECRET

    return {
        value: f"[{name}]"
        for name, value in sorted(env.items())
        if len(value) >= _SHORTEST_SECRET and (value in values or any(word in name.upper() for word in _SECRET_WORDS))
    }


def redact(text: str, secrets: Mapping[str, str]) -> str:
    """Return a text without secrets."""
    for value in sorted(secrets, key=len, reverse=True):
        text = text.replace(value, secrets[value])
    return text


def redact_file(log: Path, secrets: Mapping[str, str]) -> None:
    """Take the secrets out of a log that nobody writes any more."""
    if not secrets:
        return
    with suppress(OSError):
        before = log.read_bytes()
        after = before
        for value in sorted(secrets, key=len, reverse=True):
            after = after.replace(os.fsencode(value), os.fsencode(secrets[value]))
        if after != before:
            log.write_bytes(after)


def begin(log: Path) -> None:
    """Begin a new log; the one before stays beside it as `.1`, since it may say why its service died."""
    with suppress(OSError):
        os.replace(log, log.with_name(f"{log.name}.1"))


@contextmanager
def sink(log: Path, env: Mapping[str, str], secrets: Mapping[str, str]) -> Iterator[tuple[int, int | None]]:
    """Give what a service writes to, and the number of the filter in between, if its secrets need one.

    `env` is that of the service: the filter carries the same marks, so whoever stops the one finds the other.
    Raises Refusal `command-not-started`.
    """
    with starting.opened(log) as out:
        if not secrets or not sys.executable:
            yield out, None
            return
        reader, writer = os.pipe()
        try:
            child = _start_filter(reader, out, {**env, "MORPH_HOST_SECRETS": json.dumps(dict(secrets))})
            # Whoever started it does not wait for it: it ends with the last process that writes to it.
            child.returncode = 0
            yield writer, child.pid
        finally:
            os.close(reader)
            os.close(writer)


def _start_filter(reader: int, out: int, env: Mapping[str, str]) -> subprocess.Popen[bytes]:
    import subprocess

    try:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", str(_FILTER)],
            stdin=reader,
            stdout=out,
            stderr=subprocess.DEVNULL,
            env=env,
            cwd="/",
            start_new_session=True,
        )
    except OSError as error:
        raise starting.not_started(f"the filter of its log: {error.strerror}") from None


def tail(log: Path, secrets: Mapping[str, str]) -> str:
    """Return the last 20 lines of a log, without terminal codes and secrets; empty when there is none."""
    from morph_tasks.verify.runners.text import strip_codes

    try:
        with open(log, "rb") as file:
            file.seek(0, os.SEEK_END)
            size = file.tell()
            file.seek(max(size - _TAIL_BYTES, 0))
            data = file.read()
    except OSError:
        return ""
    # Before anything is cut: half a secret is one that is not found.
    text = redact(data.decode("utf-8", "replace").replace("\r\n", "\n"), secrets)
    lines = [strip_codes(line.rpartition("\r")[2]) for line in text.rstrip("\n").split("\n")]
    if size > _TAIL_BYTES:
        lines = lines[1:] or lines
    return "\n".join(line[:_LONGEST_LINE] for line in lines[-TAIL_LINES:]).strip("\n")
