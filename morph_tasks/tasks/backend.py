"""A state backend for doit that keeps nothing: the evidence store is what remembers."""

from __future__ import annotations

from typing import Any


class NullDB:
    """Holds what doit asks within one run, and writes no database."""

    desc = "keeps no state: morph-spec has its own evidence"

    def __init__(self, name: str, codec: Any, *, module_name: str | None = None) -> None:
        self.name = name
        self._values: dict[str, dict[str, Any]] = {}

    def get(self, task_id: str, dependency: str) -> Any:
        return self._values.get(task_id, {}).get(dependency)

    def set(self, task_id: str, dependency: str, value: Any) -> None:
        self._values.setdefault(task_id, {})[dependency] = value

    def in_(self, task_id: str) -> bool:
        return task_id in self._values

    def remove(self, task_id: str) -> None:
        self._values.pop(task_id, None)

    def remove_all(self) -> None:
        self._values = {}

    def dump(self) -> None:
        """Write nothing."""
