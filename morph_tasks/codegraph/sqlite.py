"""SQLite without the adapters for dates, whose import takes longer than to open an index and to ask it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from sqlite3 import Connection, DatabaseError, Error, connect
else:
    try:
        from _sqlite3 import Connection, DatabaseError, Error, connect
    except ImportError:
        from sqlite3 import Connection, DatabaseError, Error, connect

__all__ = ["Connection", "DatabaseError", "Error", "connect", "open_fixed"]


def open_fixed(path: Path | str) -> Connection:
    """Open a file that nobody ever changes in place, without locks and without a file beside it; raises Error."""
    # Spelled here: `urllib.parse` takes longer to import than the file to open.
    name = str(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    return connect(f"file:{name}?mode=ro&immutable=1", uri=True, isolation_level=None)
