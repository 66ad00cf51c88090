"""Times as texts: in the names of journals and backups, where they sort, and in records."""

from __future__ import annotations

from datetime import UTC, datetime

_FORM = "%Y%m%dT%H%M%S%f"


def new_stamp() -> str:
    """Return the time now, such as `20261130T083013694123Z`."""
    return datetime.now(UTC).strftime(_FORM) + "Z"


def moment(stamp: str) -> datetime | None:
    """Return the time of a stamp; None for a text that is none."""
    try:
        return datetime.strptime(stamp.removesuffix("Z"), _FORM).replace(tzinfo=UTC) if stamp.endswith("Z") else None
    except ValueError:
        return None


def read_time(text: str | None) -> datetime | None:
    """Return the time that a record tells, in UTC where it names no zone; None for a text that is none."""
    try:
        found = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
