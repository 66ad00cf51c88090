"""Which names a new feature may have."""

from __future__ import annotations

import re
import unicodedata

from morph_tasks.errors import Refusal

LONGEST = 64

_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
# `task` is the space of names of work trees without a feature; the others cannot be folders on every system.
_RESERVED = {"task", "con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10))}


def check_name(slug: str) -> None:
    """Raise Refusal `invalid-name` (exit 2) unless the name is fit for a folder, a branch and a task."""
    if not _SLUG.fullmatch(slug):
        why = "is not kebab-case: lower-case ASCII letters and digits, joined by single hyphens"
    elif len(slug) > LONGEST:
        why = f"is {len(slug)} characters long, {LONGEST} is the most"
    elif slug in _RESERVED:
        why = "is reserved"
    else:
        return
    better = suggest(slug)
    raise Refusal(
        "invalid-name",
        f"the name {slug!r} {why}",
        fix=f"morph-spec create {better} …" if better else "choose a name such as cart-totals",
        exit_code=2,
        suggestion=better or None,
    )


def suggest(text: str) -> str:
    """Return the nearest name that is allowed; empty when nothing is left of the text."""
    plain = unicodedata.normalize("NFKD", text.casefold()).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:LONGEST].strip("-")
    return f"{slug}-work" if slug in _RESERVED else slug
