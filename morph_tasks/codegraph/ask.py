"""Which symbol a question means, how it is named to people, and what to search for instead."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from morph_tasks.codegraph.index import Index, Symbol

_MANY = 40  # options that are listed


def resolve(index: Index, text: str, *, command: str = "morph-spec graph affected") -> Symbol:
    """Return the one symbol that a text names.

    Raises Refusal `not-found` or `ambiguous`, with the search to use instead in `grep` and, for the second, the
    symbols it could be in `options`, each with a `query` that means it alone.
    """
    found = _without_constructors(index.find(text))
    if len(found) == 1 and not _by_capitals_alone(found[0], text):
        return found[0]
    from morph_tasks.codegraph.ask_refusals import ambiguous, not_found, with_folder

    if len(found) == 1 and len(found := with_folder(index, text, found)) == 1:
        return found[0]

    if not found:
        raise not_found(index, text)
    raise ambiguous(index, text, found[:_MANY], len(found), command)


def _without_constructors(found: list[Symbol]) -> list[Symbol]:
    """Return the symbols without the constructors of a type among them, which have its name."""
    types = {(one.name, one.file) for one in found if one.kind == "type"}
    return [one for one in found if one.kind != "method" or one.owner != one.name or (one.owner, one.file) not in types]


def _by_capitals_alone(symbol: Symbol, text: str) -> bool:
    """Tell whether a text means a namespace only as long as capitals do not count: it may mean a folder."""
    return symbol.kind == "namespace" and symbol.label not in text


def shown(symbol: Symbol) -> str:
    """Return what people call a symbol: `Cart.total()`, `price()`, `src/cart.ts`."""
    if symbol.kind == "file":
        return printable(symbol.file or symbol.label)
    if symbol.kind == "other" and symbol.owner:  # a property, a field
        return printable(f"{symbol.owner}.{symbol.name}")
    return printable(f"{symbol.owner}{symbol.label}" if symbol.label.startswith(".") else symbol.label)


def place(file: str | None, line: int | None) -> str:
    """Return a citation, `file:line`; "" where the graph gives none."""
    if not file:
        return ""
    return printable(f"{file}:{line}" if line else file)


def printable(text: str) -> str:
    """Return a text whose control signs a terminal shows instead of obeying."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def symbol_json(symbol: Symbol) -> dict[str, Any]:
    """Return a symbol as `--json` prints it; `id` is the one that the graph has."""
    return {
        "id": symbol.key,
        "name": shown(symbol),
        "kind": symbol.kind,
        "path": symbol.file,
        "line": symbol.line,
        "namespace": symbol.namespace or None,
        "test": symbol.test,
        "external": symbol.external,
    }


def grep(name: str) -> list[str]:
    """Return the search for a name in the text of the whole tree, as an argument list."""
    plain = [] if name.isidentifier() else ["-F"]
    return ["git", "grep", "-n", "-w", *plain, "-e", name, "--", ":/"]
