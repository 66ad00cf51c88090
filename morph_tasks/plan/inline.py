"""What a run of Markdown text shows: comments and code spans are told from prose, places are kept."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import compress

HIDDEN = "\0"  # stands for a character of a code span, its ticks included; the source has none
CODE = re.compile(f"{HIDDEN}+")

_MARK = re.compile(r"\\[\\`<]|`+|<!--")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_SIGN = re.compile(CODE.pattern + r"|\\[!-/:-@\[-`{-~]|\*+|_+")


def masked(text: str) -> tuple[str, str]:
    """Return two texts of the same length and lines as `text`.

    The first has comments as blanks; the second also has code spans, ticks included, as `HIDDEN`.
    Linear: each mark looks its end up, none scans for it.
    """
    if "`" not in text and "<!--" not in text:
        return text, text
    closers: dict[int, list[int]] = {}
    for run in re.finditer("`+", text):
        closers.setdefault(run.end() - run.start(), []).append(run.start())
    shown, prose = [], []
    done, comments = 0, True
    mark = _MARK.search(text)
    while mark:
        start, end, code = mark.start(), mark.end(), mark[0][0] == "`"
        inner = -1
        if code:
            same = closers.get(end - start, [])
            at = bisect_right(same, start)
            inner = same[at] if at < len(same) else -1
        elif mark[0] == "<!--" and comments:
            inner = text.find("-->", start + 2)
            comments = inner >= 0
        if inner >= 0:
            end = inner + (end - start if code else len("-->"))
            hole = text[start:end]
            shown += [text[done:start], hole if code else _blank(hole, " ")]
            prose += [text[done:start], _blank(hole, HIDDEN if code else " ")]
            done = end
        mark = _MARK.search(text, end)
    return "".join(shown) + text[done:], "".join(prose) + text[done:]


def _blank(text: str, filler: str) -> str:
    return "\n".join(filler * len(line) for line in text.split("\n"))


def plain(shown: str, prose: str) -> str:
    """Return the text as a reader sees it: no marks of emphasis, code and links, single blanks."""
    keep = bytearray(b"\1" * len(shown))

    def drop(start: int, end: int) -> None:
        keep[start:end] = bytes(end - start)

    for link in _LINK.finditer(prose):
        drop(link.start(), link.start(1))
        drop(link.end(1), link.end())
    for sign in _SIGN.finditer(prose):
        if sign[0][0] == HIDDEN:
            ticks = _ticks(shown[sign.start() : sign.end()])
            drop(sign.start(), sign.start() + ticks)
            drop(sign.end() - ticks, sign.end())
        elif sign[0][0] == "\\":
            drop(sign.start(), sign.start() + 1)
        elif not _stays(sign):
            drop(*sign.span())
    return " ".join("".join(compress(shown, keep)).split())


def code_text(span: str) -> str:
    """Return what a code span holds, its ticks and outer blanks removed."""
    ticks = _ticks(span)
    return span[ticks : len(span) - ticks].strip()


def _ticks(span: str) -> int:
    """Return how many ticks open and close the span; 0 when it goes on in another line."""
    ticks = len(span) - len(span.lstrip("`"))
    return ticks if len(span) > 2 * ticks and span.endswith("`" * ticks) else 0


def _stays(sign: re.Match[str]) -> bool:
    """Tell `2 * 3` and `snake_case` from emphasis."""
    text = sign.string
    before, after = text[sign.start() - 1 : sign.start()] or " ", text[sign.end() : sign.end() + 1] or " "
    if sign[0][0] == "*":
        return before.isspace() and after.isspace()
    return before.isalnum() and after.isalnum()
