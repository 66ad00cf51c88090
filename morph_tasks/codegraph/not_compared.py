"""An answer beside so many consumers that the text is not compared; light, because the largest answers load it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class NotCompared:
    """What stands in place of the mentions; a plain class: making a tuple with names costs more than the line."""

    __slots__ = ("consumers",)
    total: int | None = None

    def __init__(self, consumers: int) -> None:
        self.consumers = consumers

    def as_json(self) -> list[dict[str, Any]] | None:
        return None

    def more_json(self) -> dict[str, Any]:
        names = ("mentionsByWord", "mentionsInCode", "mentionsElsewhere", "mentionsInTestsLeftOut")
        return dict.fromkeys(names)

    def reason(self) -> str:
        """Return why the text was not compared."""
        return f"not compared with the text beside {self.consumers} symbols; affected --mentions compares it"

    def lines(self) -> list[str]:
        """Return the same for people."""
        return [f"the text was not compared beside {self.consumers} symbols; affected --mentions compares it"]
