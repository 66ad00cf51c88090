"""Just enough of a shell's grammar to see which programs a command line runs, and whose exit code it returns."""

from __future__ import annotations

import re
from dataclasses import dataclass

_SUBSTITUTION = re.compile(r"\$\((?:[^()]|\([^()]*\))*\)|`[^`]*`")
_TOKEN = re.compile(
    r"""(?P<space>[ \t\r]+|\\\n)|(?P<comment>\#[^\n]*)
    |(?P<redirect>\d*(?:>>|>\||>&|<&|<<<|<<-?|&>>?|[<>])[ \t]*(?:[^\s'"\\|&;()<>]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")*)
    |(?P<op>\|\||&&|\|&|;;|[|&;()\n])
    |(?P<word>(?:[^\s'"\\|&;()<>]|\\[^\n]|'[^']*'|"(?:[^"\\]|\\.)*")+)
    |(?P<other>.)""",
    re.X | re.S,
)
_QUOTED = re.compile(r"'([^']*)'|\"((?:[^\"\\]|\\.)*)\"|\\(.)", re.S)
_WORDS_OF_FLOW = frozenset({"for", "while", "until", "if", "case", "function", "select"})
_OPENERS = frozenset({"do", "then", "else", "elif", "{", "!", "time", "while", "until", "if"})


@dataclass(frozen=True)
class Step:
    """One program call, and the operator that stands before it (`""` for the first)."""

    words: tuple[str, ...]
    before: str


def steps(command: str) -> tuple[Step, ...]:
    """Return the program calls of a command line in order; what cannot be parsed is left out."""
    text = command
    for _ in range(4):
        text = _SUBSTITUTION.sub("$_", text)
    found: list[Step] = []
    words: list[str] = []
    before = operator = ""
    fresh = True
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup
        if kind == "comment" and not fresh:
            words[-1] += token[0]
        elif kind == "word":
            words = [*words[:-1], words[-1] + _bare(token[0])] if not fresh else [*words, _bare(token[0])]
        elif kind == "op":
            found, words, before, operator = _close(found, words, before, operator, token[0])
        fresh = kind != "word"
    if words:
        found.append(Step(tuple(_opened(words)), before))
    return tuple(step for step in found if step.words)


def _close(
    found: list[Step], words: list[str], before: str, operator: str, op: str
) -> tuple[list[Step], list[str], str, str]:
    if words:
        return [*found, Step(tuple(_opened(words)), before)], [], op, op
    return found, [], before if op in "()\n" else op, operator


def _opened(words: list[str]) -> list[str]:
    while words and words[0] in _OPENERS:
        words = words[1:]
    return words


def _bare(word: str) -> str:
    return _QUOTED.sub(lambda hit: next(group for group in hit.groups() if group is not None), word)


def loops(command: str) -> bool:
    """Tell whether a command may run one of its programs several times."""
    text = _SUBSTITUTION.sub("$_", command)
    first = {step.words[0] for step in steps(text)} | {
        token[0] for token in re.finditer(r"(?:^|[;\n])\s*(?:for|while|until)\b", text)
    }
    return bool({"xargs", "parallel", "find", "watch"} & first) or any(
        word.strip(";\n \t") in _WORDS_OF_FLOW for word in first
    )
