"""Hold answers about consumers against a table that was made by hand."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = (ROOT / "tests/codegraph/polyglot", ROOT / "tests/codegraph/polyglot-other")
TABLE = "truth.json"


@dataclass(frozen=True)
class Question:
    """Who uses a symbol directly; symbols are `path`, `path:name` or `path:Owner.name`.

    `either` may be answered or not, `never` are namesakes that must not be answered.
    """

    symbol: str
    uses_only: bool
    consumers: frozenset[str]
    either: frozenset[str]
    never: frozenset[str]


@dataclass(frozen=True)
class Truth:
    """A table; `parts` leads from each part of a symbol that has several to the first."""

    questions: tuple[Question, ...]
    parts: dict[str, str]

    def names(self, symbol: str) -> list[str]:
        """Return what else a symbol is called, itself first."""
        first = self.parts.get(symbol)
        return [symbol, *(one for one, other in self.parts.items() if first and other == first and one != symbol)]


@dataclass
class Score:
    """How many consumers were found, how many answers were wrong, how many consumers were missed."""

    right: int = 0
    wrong: int = 0
    missed: int = 0
    silent: int = 0  # questions with consumers that got an empty answer
    faults: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        return self.right / max(self.right + self.wrong, 1)

    @property
    def recall(self) -> float:
        return self.right / max(self.right + self.missed, 1)

    def __add__(self, other: Score) -> Score:
        both = (self.faults + other.faults,)
        return Score(
            self.right + other.right,
            self.wrong + other.wrong,
            self.missed + other.missed,
            self.silent + other.silent,
            *both,
        )


def load(folder: Path) -> Truth:
    """Read the table of a fixture."""
    told = json.loads((folder / TABLE).read_text(encoding="utf-8"))
    questions = tuple(
        Question(
            one["symbol"],
            one["usesOnly"],
            frozenset(one["consumers"]),
            frozenset(one.get("either", ())),
            frozenset(one.get("never", ())),
        )
        for one in told["questions"]
    )
    return Truth(questions, {part: parts[0] for parts in told["oneSymbol"] for part in parts})


def score(truth: Truth, ask: Callable[[Question], Iterable[str]]) -> Score:
    """Ask every question and count."""
    total = Score()
    for question in truth.questions:
        total += judge(truth, question, ask(question))
    return total


def judge(truth: Truth, question: Question, answered: Iterable[str]) -> Score:
    """Count one answer; what holds a consumer is true as well, but neither counted for nor against."""
    given = {truth.parts.get(one, one) for one in answered}
    wanted = {truth.parts.get(one, one) for one in question.consumers}
    allowed = wanted | question.either
    wrong = {one for one in given - allowed if one in question.never or not _holds(one, allowed)}
    missed = wanted - given
    faults = [f"{question.symbol}: {one} is not one" for one in sorted(wrong)]
    faults += [f"{question.symbol}: {one} is missing" for one in sorted(missed)]
    return Score(len(wanted & given), len(wrong), len(missed), int(bool(wanted) and not given), faults)


def _holds(one: str, symbols: Iterable[str]) -> bool:
    return any(other.startswith((f"{one}:", f"{one}.")) and ":" in other for other in symbols)


def said(symbol: dict[str, str]) -> str:
    """Return a symbol of `graph affected --json` as the table calls it."""
    if symbol["kind"] == "file":
        return symbol["path"]
    return f"{symbol['path']}:{symbol['name'].removesuffix('()')}"
