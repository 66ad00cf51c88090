"""What is said when a text names no symbol of the graph, or several."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from morph_tasks.codegraph.ask import grep, place, printable, shown, symbol_json
from morph_tasks.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from morph_tasks.codegraph.index import Index, Symbol
    from morph_tasks.repo.git import Repo

_LINE = re.compile(r"(?<=.)(:L?\d+)+$")
_NEAR = 20  # symbols that are named where the text names none


def not_found(index: Index, text: str, repo: Repo | None = None) -> Refusal:
    """Return the refusal for a text that names nothing, with what it may mean in `near`.

    `meant`: the query of the one symbol that it surely means. With `repo` other names that the tree gives are found.
    """
    from morph_tasks.codegraph.ask_near import at_place, in_folder, similar

    name = bare(text)
    here = at_place(index, text)
    files = [] if here else in_folder(index, text)
    other, alias = _other_names(repo, index, text) if repo and not (here or files) else ([], False)
    near = [here] if here else files or other or similar(index, text, name)
    options = [{**symbol_json(one), "query": query_for(index, one)} for one in near[:_NEAR]]
    if here:
        what = f"{printable(text)!r} is a place and no symbol: {shown(here)} is the definition there"
    elif files:
        what = (
            f"{printable(text)!r} is a folder with {len(files)} files of the graph, and no symbol: ask for one of them"
        )
    elif alias:
        what = f"{printable(text)!r} is another name for what the graph has as {shown(other[0])}"
    else:
        what = (
            f"the graph has no symbol {printable(text)!r}: it holds files, types, functions and methods, but hardly a "
            "constant, field or variable; or it is new, ignored, or in a file that is not extracted"
        )
    meant = options[0]["query"] if here or alias else None
    search = grep(name)
    return Refusal(
        "not-found",
        what,
        fix=shlex.join(search),
        state="not-found",
        symbol=text,
        grep=search,
        near=options,
        meant=meant,
    )


def _other_names(repo: Repo, index: Index, text: str) -> tuple[list[Symbol], bool]:
    from morph_tasks.codegraph.aliases import behind_alias

    return behind_alias(repo, index, text)


def not_unique(index: Index, text: str) -> Refusal:
    """Return the refusal for a text for which graphify finds no single node; the index may find one."""
    search = grep(bare(text))
    what = f"graphify finds no single node for {printable(text)!r} (No unique node match)"
    return Refusal(
        "not-found", what, fix=shlex.join(search), state="not-found", symbol=text, grep=search, raw=True, near=[]
    )


def with_folder(index: Index, text: str, found: list[Symbol]) -> list[Symbol]:
    """Return what a text names together with the files of the folder of that name."""
    from morph_tasks.codegraph.ask_near import in_folder

    return [*found, *in_folder(index, text)]


def without_graph(refusal: Refusal, text: str) -> Refusal:
    """Return the refusal for a tree without a graph that can be read, with the search to use instead."""
    search = grep(bare(text))
    return Refusal(
        refusal.code, refusal.what, fix=refusal.fix, state=refusal.code, symbol=text, grep=search, **refusal.payload
    )


def ambiguous(index: Index, text: str, found: Sequence[Symbol], total: int, command: str) -> Refusal:
    """Return the refusal for a text that names several symbols; the way out means the first of them."""
    options = [{**symbol_json(one), "query": query_for(index, one)} for one in found]
    return Refusal(
        "ambiguous",
        f"{printable(text)!r} names {total} symbols of the graph: say which one",
        fix=f"{command} {shlex.quote(options[0]['query'])}",
        state="ambiguous",
        symbol=text,
        options=options,
        total=total,
        grep=grep(bare(text)),
    )


def option_lines(options: Sequence[dict[str, Any]], total: int) -> list[str]:
    """Return the options for people: the query that means each, and where it is."""
    width = min(60, max((len(printable(one["query"])) for one in options), default=0))
    lines = [
        f"  {printable(one['query']):<{width}}  {one['kind']:<9}  {place(one['path'], one['line']) or 'external'}"
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
    said = text.strip()
    text = _LINE.sub("", said) or text
    words = text.strip().rstrip("()").replace(":", ".").replace("#", ".").replace("/", ".").split(".")
    path = ":" not in text and ("/" in text or _is_file(text, placed=text != said))
    if path:
        return text.rsplit("/", 1)[-1] or text
    return next((word for word in reversed(words) if word), text) or text


def _is_file(text: str, *, placed: bool) -> bool:
    """Tell whether a text without a folder is the name of a file: `cart.py`; without a line `Cart.go` is a member."""
    from morph_tasks.codegraph.spans import language_of

    return language_of(text) is not None and (placed or not text[:1].isupper())
