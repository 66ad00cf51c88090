"""Between a service and its log: copies what it says and leaves its secrets out. Run as a program of its own.

The service outlives the command that started it, so nobody else could do it. It reads stdin to its end and appends
to stdout; `MORPH_HOST_SECRETS` holds `{value: what to write instead}` as JSON. Only the standard library, and little
of it: one of these runs beside each service that has secrets.
"""

import os
import select
import signal

_IDLE_S = 0.2
_CHUNK = 1 << 16


def clean(data: bytes, secrets: list[tuple[bytes, bytes]], *, last: bool) -> tuple[bytes, bytes]:
    """Return what can be written and what has to wait, since it may be the beginning of a secret.

    `secrets` are (value, instead), the longest first. With `last` nothing waits.
    """
    # Before anything is held back: a secret may end with what begins it.
    for value, instead in secrets:
        data = data.replace(value, instead)
    held = 0 if last else _held(data, secrets)
    return (data[:-held], data[-held:]) if held else (data, b"")


def _held(data: bytes, secrets: list[tuple[bytes, bytes]]) -> int:
    longest = min(max((len(value) for value, _ in secrets), default=1) - 1, len(data))
    for length in range(longest, 0, -1):
        tail = data[-length:]
        if any(len(value) > length and value.startswith(tail) for value, _ in secrets):
            return length
    return 0


def _write(data: bytes) -> None:
    while data:
        try:
            data = data[os.write(1, data) :]
        except OSError:
            return  # a full disk costs the log, not the service


def main() -> None:
    """Copy stdin to stdout until every writer is gone."""
    import json

    # A stop of the whole group is for the service; its last words still go through here.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    told = json.loads(os.environ.pop("MORPH_HOST_SECRETS", "{}"))
    pairs = [(os.fsencode(value), os.fsencode(instead)) for value, instead in told.items()]
    secrets = sorted(pairs, key=lambda pair: -len(pair[0]))
    rest = b""
    while True:
        # What only may be the beginning of a secret is not kept from the log for longer than a moment.
        if rest and not select.select([0], [], [], _IDLE_S)[0]:
            ready, rest = clean(rest, secrets, last=True)
            _write(ready)
            continue
        chunk = os.read(0, _CHUNK)
        ready, rest = clean(rest + chunk, secrets, last=not chunk)
        _write(ready)
        if not chunk:
            return


if __name__ == "__main__":
    main()
