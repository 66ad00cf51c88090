"""What a run in a container adds to its result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from morph_tasks.machine.processes import Ended
    from morph_tasks.verify.nodes import Node


def of_container(node: Node, result: dict[str, Any], ended: Ended) -> dict[str, Any]:
    """Return a result with the warnings of its container, red when a project that the suite needs did not build."""
    from morph_tasks.verify.linux.run import EndedInside

    if not isinstance(ended, EndedInside):
        return result
    result = {**result, "warnings": [*ended.warnings, *result["warnings"]]}
    if ended.unbuilt is None or ended.unbuilt >= len(node.prebuild):
        return result
    said = f"`{node.prebuild[ended.unbuilt]}` failed, so no test was run: {result['message']}"
    return {**result, "status": "fail", "reason": "prebuild-failed", "message": said}
