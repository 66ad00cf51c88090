"""Task names: every id maps to one name, and no two ids to the same."""

from __future__ import annotations

_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-/")


def task_name(*parts: str) -> str:
    """Return the doit name of an id path, such as `verify:cart`.

    doit reads `=` as a variable, `*` as a wildcard, `:` as a subtask and a leading `-` as an option.
    """
    return ":".join(_escaped(part) for part in parts)


def _escaped(part: str) -> str:
    shown = "".join(sign if sign in _PLAIN else _coded(sign) for sign in part)
    return f"%{ord(shown[0]):02X}{shown[1:]}" if shown.startswith(("-", "_")) else shown


def _coded(sign: str) -> str:
    return "".join(f"%{byte:02X}" for byte in sign.encode("utf-8", "surrogateescape"))


def id_of(name: str) -> str:
    """Return the id that one part of a task's name stands for."""
    from urllib.parse import unquote_to_bytes

    return unquote_to_bytes(name).decode("utf-8", "surrogateescape")
