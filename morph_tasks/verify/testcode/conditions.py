"""Conditions as text, for languages in which a test compares with operators."""

from __future__ import annotations

import re

from morph_tasks.verify.testcode.model import CLOSE, EXACT, NOTHING, PARTIAL, RUNS, SIZED, UNEQUAL
from morph_tasks.verify.testcode.sitter import squash

_OPERATORS = re.compile(r"===|!==|==|!=|<=|>=|=~|!~|<=>|<(?![<\w])|(?<![-=>])>(?!>)")
_STRENGTHS = {"==": EXACT, "===": EXACT, "!=": UNEQUAL, "!==": UNEQUAL}
_OPEN, _CLOSE = "([{", ")]}"
_PARTIAL = re.compile(
    r"\b(?:contains?|includes?|starts_?with|ends_?with|has_?prefix|has_?suffix|matches|match|is_match|is_a|kind_of"
    r"|instanceof|errors\.(?:is|as))\b", re.I,
)  # fmt: skip
_EXACT = re.compile(r"\b(?:DeepEqual|Equal|equals|SequenceEqual|eql)\(?", re.I)
_LITERAL = re.compile(r"!?(?:true|false|nil|null|\d[\w.]*|\"[^\"]*\"|'[^']*')")


def condition(source: str, *, negated: bool = False) -> tuple[str, int, str]:
    """Return the form of a condition, how strict it is, and what it is about. `negated`: it must not hold."""
    said = source.strip()
    while said.startswith("(") and _closing(said) == len(said) - 1:
        said = said[1:-1].strip()
    parts = split(said, "||")
    if len(parts) > 1:
        if negated:  # none of them may hold: as strict as the strictest
            return max((condition(part, negated=True) for part in parts), key=lambda one: one[1])
        shapes = [condition(part) for part in parts]
        weakest = min(shapes, key=lambda one: one[1])
        trivial = any(part.strip() == "true" for part in parts)
        return "||", NOTHING if trivial else min(weakest[1], PARTIAL - 5), shapes[0][2]
    parts = split(said, "&&")
    if len(parts) > 1:
        shapes = [condition(part, negated=negated) for part in parts]
        return max(shapes, key=lambda one: one[1]) if not negated else ("&&", UNEQUAL, shapes[0][2])
    if said.startswith("!") and not said.startswith("!="):
        return condition(said[1:], negated=not negated)
    return _simple(said, negated)


def _simple(said: str, negated: bool) -> tuple[str, int, str]:
    at = _operator(said)
    if at is None:
        if _LITERAL.fullmatch(said):
            return "constant", NOTHING, ""
        if _EXACT.search(said):
            return "equal", UNEQUAL if negated else EXACT, said
        if _PARTIAL.search(said):
            return "contains", PARTIAL, said
        return "not" if negated else "true", UNEQUAL, said
    start, end = at
    operator, left, right = said[start:end], said[:start].strip(), said[end:].strip()
    if squash(left) == squash(right) or (_LITERAL.fullmatch(left) and _LITERAL.fullmatch(right)):
        return operator, NOTHING, left
    subject = right if _LITERAL.fullmatch(left) else left
    if operator in _STRENGTHS:
        equal = (operator in ("==", "===")) is not negated
        if re.match(r"err\w*$", left) and right in ("nil", "null"):
            return "no error" if equal else "an error", RUNS if equal else UNEQUAL, subject
        if equal and (is_size(left, right) or re.search(r"\b(?:len|length|count|size)\b", left, re.I)):
            return "==", SIZED, subject
        return "==" if equal else "!=", EXACT if equal else UNEQUAL, subject
    return operator, CLOSE if "abs" in left.lower() else PARTIAL, subject


def _operator(said: str) -> tuple[int, int] | None:
    """Return where the comparison of a condition stands: outside of brackets and quotes."""
    depth, quote = 0, ""
    for at, char in enumerate(said):
        if quote:
            quote = "" if char == quote and said[at - 1] != "\\" else quote
        elif char in "\"'`":
            quote = char
        elif char in _OPEN:
            depth += 1
        elif char in _CLOSE:
            depth -= 1
        elif depth == 0 and char in "=!<>":
            hit = _OPERATORS.match(said, at)
            if hit:
                return at, hit.end()
    return None


_SIZES = re.compile(
    r"^len\(.*\)$|\.(?:length|Length|Count|count|size|len)(?:\(\))?$|^(?:\"\"|''|``|\[\]|\{\}|string\.Empty)$"
)


def is_size(*values: str) -> bool:
    """Tell whether one of the values that are compared is a length, or something empty."""
    return any(_SIZES.search(value.strip()) for value in values)


def split(said: str, operator: str) -> list[str]:
    """Return the parts of a source at an operator or comma, outside of brackets and quotes."""
    parts, start, depth, quote, at = [], 0, 0, "", 0
    while at < len(said):
        char = said[at]
        if quote:
            at += char == "\\"
            quote = "" if char == quote else quote
        elif char in '"`' or (char == "'" and said[at + 2 : at + 3] == "'"):
            quote = char
        elif char in _OPEN:
            depth += 1
        elif char in _CLOSE:
            depth -= 1
        elif depth == 0 and said.startswith(operator, at):
            parts.append(said[start:at])
            start = at = at + len(operator)
            continue
        at += 1
    return [*parts, said[start:]]


def _closing(said: str) -> int:
    depth = 0
    for at, char in enumerate(said):
        depth += (char in _OPEN) - (char in _CLOSE)
        if depth == 0:
            return at
    return -1
