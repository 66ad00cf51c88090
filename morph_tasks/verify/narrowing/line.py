"""A command line as words with their places, so that selectors go in and everything else stays byte for byte."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Sequence
from dataclasses import dataclass

_BLANK = " \t"
_CHAINS = {";": "`;`", "&": "`&`", "|": "`|`", "\n": "several lines", "\r": "several lines"}
_OTHER = {
    "(": "a subshell", ")": "a subshell", "<": "a redirection", ">": "a redirection", "`": "a command substitution",
}  # fmt: skip
_SPREADS = {"*": "a glob", "?": "a glob", "[": "a glob", "~": "`~`", "{": "braces"}
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_FLOW = frozenset({
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "function", "select",
    "!", "time", "[[", "{", "}", "eval", "source", ".", "exec", "cd", "pushd", "set", "export", "alias",
})  # fmt: skip


@dataclass(frozen=True)
class Word:
    """One word: where it stands in the command, and its text without quotes.

    A word with `expands` holds a variable between double quotes: it is one word, and its text is not known.
    """

    start: int
    end: int
    text: str
    expands: bool = False


@dataclass(frozen=True)
class Line:
    """One simple command; `words` begins with its assignments."""

    command: str
    words: tuple[Word, ...]

    @property
    def first(self) -> int:
        """Return the place of the first word that is no assignment."""
        return next((at for at, word in enumerate(self.words) if not self._assigns(word)), len(self.words))

    def sets(self, name: str, before: int) -> bool:
        """Tell whether the words before a place set a variable, as an assignment or for `env`."""
        return any(word.text.startswith(f"{name}=") for word in self.words[:before])

    def _assigns(self, word: Word) -> bool:
        # A quoted name is no assignment, whatever it looks like.
        return bool(_ASSIGNMENT.match(self.command[word.start :]))

    def insert(self, after: int, added: Sequence[str], without: Collection[int] = ()) -> str:
        """Return the command with words behind the word `after`, and without some other words.

        A removed word takes the blanks before it along.
        """
        text, at = "", 0
        for place, word in enumerate(self.words):
            text += "" if place in without else self.command[at : word.end]
            at = word.end
            if place == after:
                text += "".join(f" {quoted(one)}" for one in added)
        return text + self.command[at:]


def quoted(word: str) -> str:
    """Return a word as a shell takes it literally."""
    return shlex.quote(word)


def parse(command: str) -> Line | str:
    """Return the command as one simple command whose words are known, or what makes it more than that."""
    words: list[Word] = []
    at, size = 0, len(command.rstrip(" \t\n"))
    while at < size:
        if command[at] in _BLANK:
            at += 1
        elif command.startswith("\\\n", at):
            at += 2
        elif command[at] == "#":
            return "the command holds a comment"
        else:
            word = _word(command, at, size)
            if isinstance(word, str):
                return word
            words.append(word)
            at = word.end
    line = Line(command, tuple(words))
    if line.first >= len(words):
        return "the command runs no program"
    name = words[line.first].text
    return f"the command uses the shell's `{name}`" if name in _FLOW else line


def _word(command: str, start: int, size: int) -> Word | str:
    text, at, expands = "", start, False
    while at < size and command[at] not in _BLANK:
        char = command[at]
        if char == "'":
            end = command.find("'", at + 1)
            if end < 0:
                return "the command has a quote without its end"
            text, at = text + command[at + 1 : end], end + 1
        elif char == '"':
            found = _double(command, at + 1)
            if isinstance(found, str):
                return found
            inner, at, opened = found
            text, expands = text + inner, expands or opened
        elif char == "\\":
            if at + 1 >= size:
                return "the command ends with a backslash"
            text += "" if command[at + 1] == "\n" else command[at + 1]
            at += 2
        else:
            problem = _plain_problem(command, at)
            if problem:
                return problem
            text, at = text + char, at + 1
    return Word(start, at, text, expands)


def _double(command: str, at: int) -> tuple[str, int, bool] | str:
    """Return the text between double quotes, where it ends, and whether it holds a variable."""
    text, expands = "", False
    while at < len(command) and command[at] != '"':
        char = command[at]
        if char == "`" or command.startswith("$(", at):
            return "the command holds a command substitution"
        if char == "$" and command.startswith(("$@", "${@", "$*", "${!"), at):
            return "the command holds a variable that may be several words"
        if char == "\\" and at + 1 < len(command) and command[at + 1] in '$`"\\\n':
            text += "" if command[at + 1] == "\n" else command[at + 1]
            at += 2
            continue
        expands = expands or (char == "$" and bool(re.match(r"\$[\w{]", command[at:])))
        text, at = text + char, at + 1
    return (text, at + 1, expands) if at < len(command) else "the command has a quote without its end"


def _plain_problem(command: str, at: int) -> str | None:
    char = command[at]
    if char in _CHAINS:
        twice = command[at : at + 2] if command[at : at + 2] in ("&&", "||") else ""
        return f"the command is more than one call ({f'`{twice}`' if twice else _CHAINS[char]})"
    if char in _OTHER:
        return f"the command holds {_OTHER[char]}"
    if char == "$":
        return "the command holds a variable without quotes"
    return f"the command holds {_SPREADS[char]} that a shell spreads" if char in _SPREADS else None
