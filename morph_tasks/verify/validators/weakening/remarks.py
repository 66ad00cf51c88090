"""What stands in comments: a test or an assertion that was taken out that way."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterator, Mapping

from morph_tasks.verify.testcode.model import SourceTest
from morph_tasks.verify.testcode.reader import language_of
from morph_tasks.verify.testcode.sitter import parse, squash, text, walk
from morph_tasks.verify.validators.weakening.model import Change
from morph_tasks.verify.validators.weakening.pairing import last_name

Comments = list[tuple[int, str]]


class Remarks:
    """The comments of the files as they are now, read when they are asked for; those of the base do not count."""

    def __init__(self, changes: Mapping[str, Change]) -> None:
        self._changes = changes
        self._read: dict[str, Comments] = {}

    def of_test(self, path: str, test: SourceTest) -> int | None:
        """Return the line of a comment that holds a test."""
        name = last_name(test.name)
        signs = [sign for sign in (squash(one.text) for one in test.assertions) if sign]
        for line, said in self._of(path):
            if name in said and ("(" in said or '"' in said or "'" in said or "def " in said):
                return line
        return next(filter(None, (self.of_text(path, sign) for sign in signs[:3])), None)

    def of_text(self, path: str, source: str) -> int | None:
        """Return the line of a comment that holds a piece of source."""
        sign = squash(source)
        return next((line for line, said in self._of(path) if len(sign) > 4 and sign in squash(said)), None)

    def _of(self, path: str) -> Comments:
        if path not in self._read:
            change = self._changes.get(path)
            now = list(_comments(path, change.after if change else None))
            before = {said for _, said in _comments(path, change.before if change else None)}
            self._read[path] = [(line, said) for line, said in now if said not in before]
        return self._read[path]


def _comments(path: str, source: bytes | None) -> Iterator[tuple[int, str]]:
    language = language_of(path)
    if source is None or language is None:
        return
    try:
        if language == "python":
            for token in tokenize.tokenize(io.BytesIO(source).readline):
                # A test between triple quotes is taken out as well.
                if token.type == tokenize.COMMENT or (token.type == tokenize.STRING and "\n" in token.string):
                    yield token.start[0], token.string.lstrip("#").strip()
            return
        grammar = "tsx" if path.endswith(".tsx") else language
        for node in walk(parse(grammar, source)):
            if "comment" in node.type:
                yield from _lines(node.start_point[0] + 1, text(node))
    except (SyntaxError, tokenize.TokenError, ValueError):
        return


def _lines(start: int, said: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(said.split("\n")):
        yield start + number, line.strip().lstrip("/*#").removesuffix("*/").strip()
