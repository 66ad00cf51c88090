"""SQLite without the adapters for dates, whose import takes longer than to open an index and to ask it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection, DatabaseError, Error, connect
else:
    try:
        from _sqlite3 import Connection, DatabaseError, Error, connect
    except ImportError:
        from sqlite3 import Connection, DatabaseError, Error, connect

__all__ = ["Connection", "DatabaseError", "Error", "connect"]
