"""Where the payload that comes with the package lies."""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).resolve().parent


def framework_path(name: str) -> Path:
    """Return a file of `framework/`: inside the installed package, or beside it in a checkout."""
    inside = _HERE / "framework"
    return (inside if inside.is_dir() else _HERE.parent / "framework") / name
