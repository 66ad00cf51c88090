"""What graphify itself answers to `affected`, told in its own form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from morph_tasks.codegraph.ask import printable
from morph_tasks.codegraph.raw_affected import RELATIONS, raw_affected, resolve_seed

if TYPE_CHECKING:
    from pathlib import Path

    from morph_tasks.codegraph.index import Index


def raw_answer(index: Index, root: Path, text: str, depth: int) -> tuple[dict[str, Any], list[str]]:
    """Return the document and the lines; raises Refusal `not-found` where graphify finds no single node."""
    seed = resolve_seed(index, text, root)
    if seed is None:
        from morph_tasks.codegraph.ask_refusals import not_unique

        raise not_unique(index, text)
    hits = raw_affected(index, seed, depth=depth)
    keys = dict(index.by("SELECT id, key FROM node WHERE id IN ({})", [seed, *(hit.id for hit in hits)]))
    rows = [
        {
            "id": keys[hit.id],
            "label": hit.label,
            "depth": hit.depth,
            "relation": hit.relation,
            "site": {"path": hit.file, "line": hit.line},
        }
        for hit in hits
    ]
    payload = {"ok": True, "raw": True, "id": keys[seed], "depth": depth, "relations": sorted(RELATIONS)}
    told = [
        printable(f"- {hit.label} [{hit.relation}] {hit.file or '-'}{f':L{hit.line}' if hit.line else ''}")
        for hit in hits
    ]
    return {**payload, "affected": rows}, told or ["No affected nodes found."]
