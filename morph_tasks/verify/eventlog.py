"""The log of events of a tree: whole lines, appended. Imports only what the no-op has anyway."""

import os
import time


def stamped(event: str) -> str:
    """Return an event as a line: `event` is the JSON text of its fields without time and id."""
    at = time.time()
    moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at)) + f".{int(at * 1000) % 1000:03d}Z"
    return f'{{"ts":"{moment}","schemaVersion":2,"eventId":"{os.urandom(16).hex()}",{event.removeprefix("{")}'


def write_event(root: str, line: str) -> None:
    """Append one whole line; a log that cannot be written stops nobody."""
    folder = f"{root}/.morph/logs"
    try:
        os.makedirs(folder, exist_ok=True)
        handle = os.open(f"{folder}/events.jsonl", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(handle, (line + "\n").encode())
        finally:
            os.close(handle)
    except OSError:
        return
