"""`code-budget`: comments that cite the process, tests that outweigh the code, and comments that crowd it.

Each is a warning, never an error: a good reason belongs in the plan, where a reviewer reads it.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from morph_tasks.verify.validators.added import AddedFile, added_files
from morph_tasks.verify.validators.base import find_base
from morph_tasks.verify.validators.comments import Lines, UnreadableError, read_lines
from morph_tasks.verify.validators.languages import PATTERNS, Language, is_generated, is_test, language_of
from morph_tasks.verify.validators.model import Checked, printable, skipped
from morph_tasks.verify.validators.process_words import cited

if TYPE_CHECKING:
    from morph_tasks.model.load import Config
    from morph_tasks.repo.git import Repo

NAME = "code-budget"
RULES = 1  # raised when the same lines would be judged in another way
TESTS_PER_CODE = 1.5
TESTS_UNNOTICED = 40  # a test for a bug of two lines fits below
CODE_PER_COMMENT = 10
CODE_UNNOTICED = 40
_SHOWN = 4


def applies(repo: Repo, config: Config) -> str | None:
    """Return None: it applies to every tree."""
    return None


def facts(repo: Repo, config: Config) -> dict[str, Any]:
    """Return the base that lines are added to."""
    base = find_base(repo)
    return {"rules": RULES, "base": base.tree, "why": base.why}


def check(repo: Repo, config: Config) -> Checked:
    """Measure the added lines; the status is `pass` or `skip`."""
    base = find_base(repo)
    if base.tree is None:
        return skipped(str(base.why), silent=False)
    tally = Tally()
    for file in added_files(repo, base.tree, PATTERNS):
        language = language_of(file.path)
        text = _text(repo, file.path) if language else None
        if language and text is not None and not is_generated(text):
            tally.add(file, language, text)
    if not tally.lines:
        return skipped("no line of code was added", silent=not tally.unread)
    warnings = [line for line in (_process(tally), _tests(tally), _density(tally), _unread(tally)) if line]
    said = f"{tally.production} lines of production and {tally.tests} of tests added, {tally.comment_lines} comments"
    return Checked("pass", None, said, tuple(warnings), tuple(f"{place}: {words}" for place, words in tally.citing))


@dataclass
class Tally:
    """What the added lines come to; blank lines never count."""

    production: int = 0
    tests: int = 0
    code: int = 0
    comments: Counter[str] = field(default_factory=Counter)
    citing: list[tuple[str, str]] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)

    @property
    def lines(self) -> int:
        return self.production + self.tests

    @property
    def comment_lines(self) -> int:
        return self.comments.total()

    def add(self, file: AddedFile, language: Language, text: str) -> None:
        """Count the added lines of one file. A line with code and a comment counts as both."""
        shown = printable(file.path)
        try:
            lines = read_lines(text, language.name)
        except UnreadableError:
            self.unread.append(shown)
            return
        whole_file = is_test(file.path, language)
        for number, raw in file.lines:
            if raw.strip():
                self._add_line(number, shown, lines, whole_file)

    def _add_line(self, number: int, shown: str, lines: Lines, is_test_file: bool) -> None:
        if is_test_file or number in lines.tests:
            self.tests += 1
        else:
            self.production += 1
        self.code += number in lines.code
        comment = lines.comments.get(number)
        if comment is not None:
            self.comments[shown] += 1
            words = cited(comment)
            if words:
                self.citing.append((f"{shown}:{number}", ", ".join(dict.fromkeys(words))))


def _process(tally: Tally) -> str | None:
    if not tally.citing:
        return None
    places = ", ".join(place for place, _ in tally.citing[:_SHOWN])
    more = f" and {len(tally.citing) - _SHOWN} more" if len(tally.citing) > _SHOWN else ""
    return (
        f"{len(tally.citing)} of {tally.comment_lines} added comment lines cite the process "
        f"({places}{more}): say what the code does not, and leave the plan to the plan"
    )


def _tests(tally: Tally) -> str | None:
    if tally.tests <= TESTS_UNNOTICED or tally.tests <= TESTS_PER_CODE * tally.production:
        return None
    if not tally.production:
        return f"{tally.tests} lines of tests were added and 0 of production"
    ratio = tally.tests / tally.production
    return (
        f"{tally.tests} lines of tests were added for {tally.production} of production: "
        f"{ratio:.1f}×, above {TESTS_PER_CODE}×"
    )


def _density(tally: Tally) -> str | None:
    comments = tally.comment_lines
    if tally.code < CODE_UNNOTICED or comments * CODE_PER_COMMENT <= tally.code:
        return None
    most = ", ".join(f"{path} ({count})" for path, count in tally.comments.most_common(_SHOWN))
    return (
        f"{comments} comment lines were added for {tally.code} of code, above 1 in {CODE_PER_COMMENT}; most in {most}"
    )


def _unread(tally: Tally) -> str | None:
    if not tally.unread:
        return None
    return f"left out, since comments could not be told from code: {', '.join(tally.unread[:_SHOWN])}"


def _text(repo: Repo, path: str) -> str | None:
    """Return a source file; None when it is a link or gone."""
    place = repo.root / path
    try:
        if not stat.S_ISREG(os.lstat(place).st_mode):
            return None
        return place.read_bytes().decode("utf-8-sig", "replace")
    except OSError:
        return None
