"""The types that C# has of its own: what literals and arithmetic are of, and what their own members are called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from morph_tasks.codegraph.recovery.model import UNKNOWN, Expr
from morph_tasks.verify.testcode.sitter import text

if TYPE_CHECKING:
    from tree_sitter import Node

_ALIASES = {
    "String": "string", "Decimal": "decimal", "Int32": "int", "Int64": "long", "Int16": "short", "Byte": "byte",
    "Double": "double", "Single": "float", "Boolean": "bool", "Char": "char", "Object": "object",
}  # fmt: skip
_LITERALS = {
    "string_literal": "string", "verbatim_string_literal": "string", "raw_string_literal": "string",
    "interpolated_string_expression": "string", "character_literal": "char", "boolean_literal": "bool",
}  # fmt: skip
_SUFFIXES = {"m": "decimal", "f": "float", "d": "double", "l": "long", "u": "uint"}
_WIDER = ("byte", "short", "int", "long", "float", "double")  # each takes those before it
_ANY = frozenset({"ToString", "Equals", "GetHashCode", "GetType", "CompareTo"})
_TEXT = _ANY | {
    "Contains", "StartsWith", "EndsWith", "IndexOf", "LastIndexOf", "IndexOfAny", "Split", "Substring", "Replace",
    "ReplaceLineEndings", "Remove", "Insert", "Trim", "TrimStart", "TrimEnd", "PadLeft", "PadRight", "ToUpper",
    "ToLower", "ToUpperInvariant", "ToLowerInvariant", "ToCharArray", "Clone", "CopyTo", "Normalize", "AsSpan",
    "EnumerateRunes", "Length", "Chars",
}  # fmt: skip
_GIVES_TEXT = frozenset({
    "Substring", "Replace", "ReplaceLineEndings", "Remove", "Insert", "Trim", "TrimStart", "TrimEnd", "PadLeft",
    "PadRight", "ToUpper", "ToLower", "ToUpperInvariant", "ToLowerInvariant", "Normalize",
})  # fmt: skip
ARITHMETIC = frozenset({"+", "-", "*", "/", "%"})


def name(written: str) -> str:
    """Return the keyword for a type that has one."""
    return _ALIASES.get(written, written)


def literal(node: Node) -> Expr:
    """Return what a literal is a value of."""
    if node.type in ("integer_literal", "real_literal"):
        written = text(node).lower()
        if written.startswith(("0x", "0b")):
            return UNKNOWN
        last = _SUFFIXES.get(written[-1])
        return ("i", ("tn", last or ("int" if node.type == "integer_literal" else "double")))
    found = _LITERALS.get(node.type)
    return ("i", ("tn", found)) if found else UNKNOWN


def arithmetic(left: str | None, right: str | None) -> str | None:
    """Return the type of a sum or a product of two types; None where it is not known."""
    both = {left, right}
    if "string" in both:
        return "string"
    if "decimal" in both and both <= {"decimal", *_WIDER[:4]}:
        return "decimal"
    if left in _WIDER and right in _WIDER:
        return _WIDER[max(_WIDER.index(str(left)), _WIDER.index(str(right)), _WIDER.index("int"))]
    return None


def is_own(kind: str, member: str) -> bool:
    """Tell whether a type has a member of its own, which no extension method takes the place of."""
    return member in (_TEXT if kind == "string" else _ANY)


def gives(kind: str, member: str) -> str | None:
    """Return the type that a type's own method gives; None where it is not known."""
    if member == "ToString":
        return "string"
    return "string" if kind == "string" and member in _GIVES_TEXT else None
