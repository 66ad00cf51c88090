"""Which lines of a file hold comments, which hold code, and which belong to tests inside of it."""

from __future__ import annotations

import io
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tokenize import TokenInfo

Span = tuple[int, int]

_LONGEST = 2_000_000  # characters; longer files are data
_CFG = re.compile(r"#\s*\[\s*cfg\s*\(([^\]]*)\)\s*\]")
_FORMATTED = re.compile(r"[a-z]*f", re.I)
_NOT_TEST = re.compile(r"\bnot\s*\(\s*test\s*\)")


class UnreadableError(Exception):
    """A file whose comments cannot be told from its code."""


@dataclass(frozen=True)
class Lines:
    """Lines of a file, from 1. `comments` has the text of the comment on a line; a line can hold code as well."""

    comments: dict[int, str] = field(default_factory=dict)
    code: frozenset[int] = frozenset()
    tests: frozenset[int] = frozenset()


def read_lines(text: str, language: str) -> Lines:
    """Sort the lines of a file. Docstrings are comments; raises UnreadableError."""
    if len(text) > _LONGEST:
        raise UnreadableError("too long")
    # One line end, and as many lines as git counts: a lone carriage return ends none.
    text = text.replace("\r\n", "\n").replace("\r", " ")
    text += "" if text.endswith("\n") else "\n"
    starts = [0, *(hit.end() for hit in re.finditer("\n", text))]
    spans = sorted(_python(text, starts) if language == "python" else _lexed(text, language))
    code = _masked(text, spans)
    comments: dict[int, list[str]] = {}
    for start, end in spans:
        for number, part in _by_line(text[start:end], bisect_right(starts, start)):
            comments.setdefault(number, []).append(part)
    return Lines(
        {number: " ".join(parts) for number, parts in comments.items()},
        frozenset(number for number, line in enumerate(code.split("\n"), 1) if line.strip()),
        _rust_tests(code, starts) if language == "rust" else frozenset(),
    )


def _by_line(comment: str, first: int) -> Iterator[tuple[int, str]]:
    for number, part in enumerate(comment.split("\n"), first):
        if part.strip():
            yield number, part.strip()


def _masked(text: str, spans: list[Span]) -> str:
    """Return the text with blanks in place of its comments, every line kept."""
    parts, at = [], 0
    for start, end in spans:
        parts += [text[at:start], re.sub(r"[^\n]", " ", text[start:end])]
        at = max(at, end)
    return "".join([*parts, text[at:]])


def _python(text: str, starts: list[int]) -> Iterator[Span]:
    """Yield comments, and strings that stand alone as a statement."""
    import tokenize

    before, lone = tokenize.NEWLINE, None
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT and (token.start != (1, 0) or not token.string.startswith("#!")):
                yield _span(token, starts)
            if token.type in (tokenize.COMMENT, tokenize.NL):
                continue
            if lone and token.type in (tokenize.NEWLINE, tokenize.ENDMARKER):
                yield _span(lone, starts)
            begins = before in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
            lone = token if token.type == tokenize.STRING and begins and not _FORMATTED.match(token.string) else None
            before = token.type
    except (tokenize.TokenError, SyntaxError) as error:
        raise UnreadableError(str(error)) from None


def _span(token: TokenInfo, starts: list[int]) -> Span:
    return starts[token.start[0] - 1] + token.start[1], starts[token.end[0] - 1] + token.end[1]


def _lexed(text: str, language: str) -> Iterator[Span]:
    from pygments.token import Comment, String

    directives = (Comment.Preproc, Comment.PreprocFile, Comment.Hashbang)
    for start, kind, value in _lexer(language).get_tokens_unprocessed(text):
        prose = (kind in Comment and not any(kind in directive for directive in directives)) or kind in String.Doc
        if not prose or value == "<!--":
            continue
        # The text between the tags of JSX is no code to a lexer: an address in it is no comment.
        if value.startswith("//") and text[start - 1 : start] == ":":
            continue
        yield start, start + len(value.rstrip("\n"))


def _lexer(language: str) -> Any:
    if language == "csharp":
        from pygments.lexers.dotnet import CSharpLexer

        return CSharpLexer()
    if language == "go":
        from pygments.lexers.go import GoLexer

        return GoLexer()
    if language == "rust":
        from pygments.lexers.rust import RustLexer

        return RustLexer()
    return _script_lexer()


def _script_lexer() -> Any:
    """Return a lexer whose quotes end with their line: an apostrophe in the text of JSX would swallow what follows."""
    from pygments.lexer import inherit
    from pygments.lexers.javascript import TypeScriptLexer
    from pygments.token import String

    class ScriptLexer(TypeScriptLexer):  # type: ignore[misc]
        tokens = {  # noqa: RUF012
            "root": [
                (r'"(?:\\.|[^"\\\n])*"?', String.Double),
                (r"'(?:\\.|[^'\\\n])*'?", String.Single),
                inherit,
            ]
        }

    return ScriptLexer()


def _rust_tests(code: str, starts: list[int]) -> frozenset[int]:
    """Return the lines of what stands behind `#[cfg(test)]`: a module, or another item, to its closing brace."""
    lines: set[int] = set()
    for hit in _CFG.finditer(code):
        if not re.search(r"\btest\b", _NOT_TEST.sub("", hit[1])):
            continue
        end = _end_of_item(code, hit.end())
        lines.update(range(bisect_right(starts, hit.start()), bisect_right(starts, end) + 1))
    return frozenset(lines)


_STRING_OR_BRACE = re.compile(r'r(#*)".*?"\1|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'|[{};]', re.S)


def _end_of_item(code: str, start: int) -> int:
    depth = 0
    for hit in _STRING_OR_BRACE.finditer(code, start):
        mark = hit[0]
        if mark == "{":
            depth += 1
        elif mark == "}":
            depth -= 1
        if depth <= 0 and mark in "};":
            return hit.start()
    return len(code) - 1
