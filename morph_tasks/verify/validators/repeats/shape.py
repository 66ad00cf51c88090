"""The shape of a piece of code: its tokens without names and literals, and how near two of them are."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property

SMALLEST = 24  # names, words of the language and literals; below it, code looks alike by chance
_NEAR = 0.9
_LEAST_NEAR = 40  # what is only all but the same has to say more
FEWEST = 2  # members and called names: code without them is data, or arithmetic
SHARED = 0.6
_LONGEST = 4000

_NAME = r"[A-Za-z_$\u0080-\uffff][\w$]*"
_REST = rf"|\d[\w.]*|{_NAME}|[^\s\w]"
_QUOTED = r'"(?:\\.|[^"\\\n])*"'
_C = r"//[^\n]*|/\*.*?\*/|"
_CHAR = r"|'(?:\\.[^'\n]*|[^'\\\n])'"
_TOKENS = {
    "python": re.compile(
        rf"#[^\n]*|(?:\b[rbfuRBFU]{{1,2}})?(?:\"\"\".*?\"\"\"|'''.*?'''|{_QUOTED}|'(?:\\.|[^'\\\n])*'){_REST}", re.S
    ),
    "ruby": re.compile(rf"#[^\n{{]*|{_QUOTED}|'(?:\\.|[^'\\\n])*'{_REST}", re.S),
    "js": re.compile(rf"{_C}{_QUOTED}|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`{_REST}", re.S),
    "go": re.compile(rf"{_C}{_QUOTED}|`[^`]*`{_CHAR}{_REST}", re.S),
    "c": re.compile(rf"{_C}[@$]{{0,2}}{_QUOTED}{_CHAR}{_REST}", re.S),
}  # fmt: skip
_STYLES = {
    "python": "python", "ruby": "ruby", "javascript": "js", "typescript": "js", "tsx": "js", "go": "go", "rust": "c",
    "csharp": "c", "java": "c",
}  # fmt: skip
_KEYWORDS = frozenset({
    "and", "as", "assert", "async", "await", "break", "case", "catch", "class", "const", "continue", "def",
    "default", "defer", "del", "do", "elif", "else", "end", "ensure", "enum", "except", "export", "extends",
    "false", "finally", "fn", "for", "foreach", "from", "func", "function", "global", "go", "if", "impl",
    "implements", "import", "in", "instanceof", "interface", "is", "lambda", "let", "loop", "match", "mut", "new",
    "nil", "none", "nonlocal", "not", "null", "of", "or", "package", "pass", "private", "protected", "pub",
    "public", "raise", "range", "readonly", "rescue", "return", "select", "self", "static", "struct", "super",
    "switch", "this", "throw", "trait", "true", "try", "type", "typeof", "unless", "until", "using", "var",
    "void", "when", "where", "while", "with", "yield", "None", "True", "False",
})  # fmt: skip


@dataclass(frozen=True)
class Shape:
    """The tokens of one definition. `calls`: the names that it takes from elsewhere, members and what it calls."""

    renamed: tuple[str, ...]
    kept: tuple[str, ...]
    calls: frozenset[str]
    size: int

    @cached_property
    def counted(self) -> Counter[str]:
        return Counter(self.kept)


def shape_of(language: str, source: str, name: str) -> Shape:
    """Return the shape of a definition called `name`; comments and the text that describes it do not count."""
    tokens = _tokens(language, source)[:_LONGEST]
    numbers: dict[str, str] = {}
    renamed, kept, calls, size = [], [], set[str](), 0
    for at, token in enumerate(tokens):
        first = token[0]
        if token in _KEYWORDS:
            renamed.append(token)
            kept.append(token)
        elif first.isalpha() or first in "_$":
            renamed.append(numbers.setdefault(token, f"#{len(numbers)}"))
            free = token != name and (tokens[at - 1] == "." or tokens[at + 1 : at + 2] == ["("])
            kept.append(token if free else "#")
            if free:
                calls.add(token)
        elif first.isdigit() or first in "\"'`":
            renamed.append("0")
            kept.append("0")
        else:
            renamed.append(token)
            kept.append(token)
            continue
        size += 1
    return Shape(tuple(renamed), tuple(kept), frozenset(calls), size)


def names_in(source: str) -> frozenset[str]:
    """Return the names and words in a piece of code, in lower case."""
    return frozenset(name.lower() for name in re.findall(_NAME, source)) - _KEYWORDS


def _tokens(language: str, source: str) -> list[str]:
    style = _STYLES[language]
    found: list[str] = []
    for token in _TOKENS[style].findall(source):
        if token.startswith(("//", "/*")) or (token[0] == "#" and style in ("python", "ruby")):
            continue
        if token[0].isalpha() and token[-1] in "\"'":
            token = token.lstrip("rbfuRBFU")
        elif token[0] in "@$" and token[-1] == '"':
            token = token[-1]
        if style == "python" and token.startswith(('"""', "'''")) and found[-1:] == [":"]:
            continue
        found.append(token)
    return found


def near(one: Shape, other: Shape) -> bool:
    """Tell whether two pieces are the same but for names and literals, or nearly so, and share what they call."""
    if min(one.size, other.size) < SMALLEST or not 0.75 <= one.size / other.size <= 1.34:
        return False
    shared = one.calls & other.calls
    if len(shared) < FEWEST or len(shared) < SHARED * len(one.calls | other.calls):
        return False
    if one.renamed == other.renamed:
        return True
    return min(one.size, other.size) >= _LEAST_NEAR and ratio(one, other) >= _NEAR


def ratio(one: Shape, other: Shape) -> float:
    """Return how much two pieces have in common, members and called names by name, from 0 to 1."""
    most = 2 * (one.counted & other.counted).total() / (len(one.kept) + len(other.kept))
    if most < 0.7:
        return most
    return SequenceMatcher(None, one.kept, other.kept, autojunk=False).ratio()
