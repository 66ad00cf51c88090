"""Begin something now, and wait for it when it is needed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

Made = TypeVar("Made")


def meanwhile(do: Callable[[], Made]) -> Callable[[], Made]:
    """Start `do` beside this thread, and return what waits for its result, or raises what it raised."""
    made: list[Made] = []
    failed: list[BaseException] = []

    def work() -> None:
        try:
            made.append(do())
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()

    def result() -> Made:
        thread.join()
        if failed:
            raise failed[0]
        return made[0]

    return result
