"""What is said when a text names no symbol of the graph, or several."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from morph_tasks.codegraph.ask import grep, place, printable, shown, symbol_json
from morph_tasks.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from morph_tasks.codegraph.index import Index, Symbol


def not_found(index: Index, text: str) -> Refusal:
    """Return the refusal for a text that names nothing, with the symbols of the same last name."""
    name = bare(text)
    near = [symbol_json(one) for one in index.names([name])[:10]] if name != text else []
    what = f"the graph has no symbol {printable(text)!r}: it may be new, ignored, or in a file that is not extracted"
    search = grep(name)
    return Refusal("not-found", what, fix=shlex.join(search), state="not-found", symbol=text, grep=search, near=near)


def without_graph(refusal: Refusal, text: str) -> Refusal:
    """Return the refusal for a tree without a graph with the search to use instead."""
    search = grep(bare(text))
    return Refusal(
        refusal.code,
        refusal.what,
        fix=f"{refusal.fix}; until then {shlex.join(search)} searches the text",
        state=refusal.code,
        symbol=text,
        grep=search,
        **refusal.payload,
    )


def ambiguous(index: Index, text: str, found: Sequence[Symbol], total: int, command: str) -> Refusal:
    """Return the refusal for a text that names several symbols."""
    options = [{**symbol_json(one), "query": query_for(index, one)} for one in found]
    search = grep(bare(text))
    example = f"{command} {shlex.quote(options[0]['query'])}"
    return Refusal(
        "ambiguous",
        f"{printable(text)!r} names {total} symbols of the graph: say which one",
        fix=f"{example}, or another of the options; {shlex.join(search)} searches the text",
        state="ambiguous",
        symbol=text,
        options=options,
        total=total,
        grep=search,
    )


def option_lines(options: Sequence[dict[str, Any]], total: int) -> list[str]:
    """Return the options for people: the query that means each, and where it is."""
    width = min(60, max((len(printable(one["query"])) for one in options), default=0))
    lines = [
        f"  {printable(one['query']):<{width}}  {one['kind']:<8}  {place(one['path'], one['line']) or 'external'}"
        + ("  (test)" if one["test"] else "")
        for one in options
    ]
    return lines + ([f"  … and {total - len(options)} more"] if total > len(options) else [])


def query_for(index: Index, symbol: Symbol) -> str:
    """Return the shortest text that means this symbol alone; its id in the graph always does."""
    tries = []
    if symbol.kind == "file" and symbol.file:
        tries.append(symbol.file)
    elif symbol.file:
        tries.append(f"{symbol.owner}.{symbol.name}" if symbol.owner else symbol.name)
        tries.append(f"{symbol.file}:{shown(symbol).removesuffix('()')}")
    for query in tries:
        if [one.id for one in index.find(query)] == [symbol.id]:
            return query
    return symbol.key


def bare(text: str) -> str:
    """Return the last name in a text that was meant as a symbol: `total` of `src/cart.py:Cart.total()`."""
    words = text.strip().rstrip("()").replace(":", ".").replace("#", ".").replace("/", ".").split(".")
    path = "/" in text and ":" not in text
    if path:
        return text.rsplit("/", 1)[-1] or text
    return next((word for word in reversed(words) if word), text) or text
