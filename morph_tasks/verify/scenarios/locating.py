"""Where a test stands whose runner told no file or no line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from morph_tasks.errors import Refusal

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo
    from morph_tasks.verify.scenarios.proof import Carrier
    from morph_tasks.verify.scenarios.scan import Found


def locator(repo: Repo) -> Callable[[Carrier, str], Carrier]:
    """Return what completes a carrier from the sources. They are searched when it is first asked."""

    @cache
    def sources() -> tuple[Found, ...]:
        from morph_tasks.verify.scenarios.scan import scan

        try:
            return scan(repo).tests
        except Refusal:
            return ()

    def locate(carrier: Carrier, name: str) -> Carrier:
        if carrier.file and carrier.line:
            return carrier
        fit = [one for one in sources() if name in one.scenarios and carrier.file in (None, one.file)]
        own = carrier.name.split(" > ")[-1]
        found = next((one for one in fit if one.name.split(" > ")[-1] == own), fit[0] if len(fit) == 1 else None)
        return replace(carrier, file=found.file, line=found.line) if found else carrier

    return locate
