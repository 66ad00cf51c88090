"""The slices of a plan as a Mermaid flowchart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from morph_tasks.plan.waves import cycles, first_by_id, graph, waves

if TYPE_CHECKING:
    from morph_tasks.plan.values import Slice

_ESCAPED = {ord(sign): f"#{ord(sign)};" for sign in '"#<>&`\\;'} | dict.fromkeys(range(32), " ")


def mermaid(slices: Sequence[Slice]) -> str:
    """Return the flowchart: a subgraph a wave, an arrow from each slice to those that wait for it.

    Slices in a circle, and those behind one, belong to no wave and stand by themselves.
    """
    by_id = first_by_id(slices)
    needs = graph(by_id)
    stuck = _stuck(needs) if cycles(slices) else set()
    titles = {one.id: one.title for one in reversed(slices)}
    lines = ["flowchart LR"]
    for number, wave in enumerate(waves(one for name, one in by_id.items() if name not in stuck), 1):
        lines.append(f'  subgraph wave{number}["Wave {number}"]')
        lines += [f"    {_node(name, titles[name])}" for name in wave]
        lines.append("  end")
    lines += [f"  {_node(name, titles[name])}" for name in by_id if name in stuck]
    lines += [f"  {before} --> {name}" for name, needed in needs.items() for before in needed]
    return "\n".join(lines)


def _node(name: str, title: str) -> str:
    return f'{name}["{name} — {title.translate(_ESCAPED)}"]'


def _stuck(needs: dict[str, tuple[str, ...]]) -> set[str]:
    """Return the slices that no order reaches."""
    waiting = {name: len(needed) for name, needed in needs.items()}
    followers: dict[str, list[str]] = {}
    for name, needed in needs.items():
        for one in needed:
            followers.setdefault(one, []).append(name)
    ready = [name for name, count in waiting.items() if not count]
    while ready:
        for name in followers.get(ready.pop(), ()):
            waiting[name] -= 1
            if not waiting[name]:
                ready.append(name)
    return {name for name, count in waiting.items() if count}
