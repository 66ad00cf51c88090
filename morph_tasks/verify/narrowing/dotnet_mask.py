"""C# with its comments, literals and directives blanked out, character by character."""

from __future__ import annotations

import re

COMMENT, LITERAL, DIRECTIVE = "\x01", "\x02", "\x03"
_TOKEN = re.compile(
    r"(?P<line>//[^\r\n\u0085\u2028\u2029]*)|(?P<block>/\*)|(?P<char>')"
    r"|(?P<string>(?P<mark>[$@]*)(?P<quotes>\"+))"
    r"|(?P<directive>(?:(?<=[\r\n\u0085\u2028\u2029])|(?<![\s\S]))[^\S\r\n\u0085\u2028\u2029]*\#[^\r\n\u0085\u2028\u2029]*)"
)
_CHAR = re.compile(r"'(?:[^'\\\r\n]|\\(?:u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|x[0-9A-Fa-f]{1,4}|[^\r\n]))'")
_REGULAR = re.compile(r'"(?:[^"\\\r\n]|\\[^\r\n])*"')
_VERBATIM = re.compile(r'"(?:[^"]|"")*"')


class Unreadable(Exception):
    """The scan lost its way; the text says where and why, as the rest of a sentence about the file."""


def masked(text: str) -> str:
    """Return the text with everything that is no code replaced by marks; length and line ends stay.

    Raises `Unreadable` for what has no end, and for an interpolation hole that holds quotes.
    """
    for mark in (COMMENT, LITERAL, DIRECTIVE):
        if mark in text:
            raise Unreadable("holds control characters")
    out: list[str] = []
    at = 0
    while hit := _TOKEN.search(text, at):
        kind = hit.lastgroup if hit.lastgroup not in ("mark", "quotes") else "string"
        if kind == "block":
            end = text.find("*/", hit.end()) + 2
            if end < 2:
                raise Unreadable(f"has a comment without its end at line {_line(text, hit.start())}")
        elif kind == "char":
            end = _ended(_CHAR.match(text, hit.start()), text, hit.start())
        elif kind == "string":
            end = _string(text, hit)
        else:
            end = hit.end()
        mark = DIRECTIVE if kind == "directive" else COMMENT if kind in ("line", "block") else LITERAL
        out += [text[at : hit.start()], re.sub(r"[^\r\n]", mark, text[hit.start() : end])]
        at = end
    return "".join([*out, text[at:]])


def _string(text: str, hit: re.Match[str]) -> int:
    """Return where a literal ends, whatever its kind."""
    marks, quotes, start = hit["mark"], len(hit["quotes"]), hit.start("quotes")
    holes = marks.count("$")
    if marks.count("@") > 1 or (holes > 1 and (quotes < 3 or "@" in marks)):
        raise Unreadable(f"has a literal of an unknown kind at line {_line(text, start)}")
    if "@" in marks:
        end = _ended(_VERBATIM.match(text, start), text, start)
        content = text[start + 1 : end - 1]
    elif quotes < 3:
        end = _ended(_REGULAR.match(text, start), text, start)
        content = text[start + 1 : end - 1]
    else:
        closing = re.compile(rf'"{{{quotes},}}').search(text, start + quotes)
        end = _ended(closing, text, start)
        if closing is not None and len(closing[0]) != quotes:
            raise Unreadable(f"has a raw literal with too many quotes at line {_line(text, start)}")
        content = text[start + quotes : end - quotes]
    if holes and not _whole(content, holes):
        raise Unreadable(f"has an interpolation at line {_line(text, start)} that quotes or braces cut in two")
    return end


def _whole(content: str, holes: int) -> bool:
    """Tell whether every hole of an interpolated literal closes inside of it. `holes`: braces that open one."""
    at, depth = 0, 0
    while at < len(content):
        char = content[at]
        run = len(content) - at - len(content[at:].lstrip(char)) if char in "{}" and not depth else 1
        if char == "{" and not depth:
            # One brace opens, two are a brace; with several marks that many open and fewer are text.
            depth = run % 2 if holes == 1 else int(run >= holes)
            if holes > 1 and run >= 2 * holes:
                return False
        elif char == "{":
            depth += 1
        elif char == "}" and depth > 1:
            depth -= 1
        elif char == "}" and depth == 1:
            if not content.startswith("}" * holes, at):
                return False
            depth, run = 0, holes
        elif char == "}" and (run % 2 if holes == 1 else run >= holes):
            return False
        at += run
    return not depth


def _ended(hit: re.Match[str] | None, text: str, start: int) -> int:
    if hit is None:
        raise Unreadable(f"has a literal without its end at line {_line(text, start)}")
    return hit.end()


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
