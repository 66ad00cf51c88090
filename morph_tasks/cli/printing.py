"""Write a line whatever the stream can encode. Apart from the commands, so that it costs no import of theirs."""

from __future__ import annotations

import os
from typing import Any


def write_line(stream: Any, text: str) -> None:
    """Write a line; signs that the stream cannot encode are spelled out, and a reader that went away is no error."""
    encoding = stream.encoding or "utf-8"
    shown = text.encode("utf-8", "backslashreplace").decode("utf-8")
    try:
        stream.write(shown.encode(encoding, "backslashreplace").decode(encoding) + "\n")
        stream.flush()
    except BrokenPipeError:
        # Keeps the interpreter from complaining when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
