"""What is said of the changes of a feature: which scenario's tests reach them, and what nothing explains."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

# Why nothing explains a change. Of the second half nobody knows whether a test reaches it.
WHY = {
    "no-test-reaches": "no test reaches it",
    "reached-only-by-tests-without-scenario": "only tests that carry no scenario reach it",
    "reached-only-by-tests-that-did-not-pass": "only tests that did not pass, or of a red suite, reach it",
    "not-executed": "no run that measured coverage ran it",
}
UNKNOWN = {
    "graph-missing": "coverage does not tell which test ran it, and there is no code graph",
    "graph-stale": "the code graph is older than this file",
    "not-in-graph": "the code graph does not have it",
    "language-not-parsed": "its symbols are not known",
    "tests-not-named": "tests reach it that their run does not name",
    "tests-not-in-graph": "the code graph does not have the tests that could reach it",
    "tests-not-run": "tests reach it that no test node runs",
    "file-gone": "the file is gone: no test can reach it",
}
FIX = {"graph-missing": "morph-spec graph build", "graph-stale": "morph-spec graph refresh"}


@dataclass(frozen=True)
class RanTest:
    """A test that carries scenarios of the plan, as this proof has it."""

    name: str
    file: str | None
    line: int | None
    node: str
    scenarios: tuple[str, ...]
    passed: bool

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}" if self.file and self.line else self.file or ""


@dataclass(frozen=True)
class Reached:
    """A changed piece that tests of scenarios reach. `by` is coverage or graph.

    `by_file`: no more is known than that the files of these tests reach it.
    """

    file: str
    lines: tuple[int, int]
    symbol: str | None
    by: str
    tests: tuple[RanTest, ...]
    removed: int = 0
    by_file: bool = False

    @property
    def scenarios(self) -> tuple[str, ...]:
        return tuple(sorted({name for test in self.tests for name in test.scenarios}, key=_number))

    def as_json(self) -> dict[str, Any]:
        names = {one: [test.name for test in self.tests if one in test.scenarios] for one in self.scenarios}
        head = {"file": self.file, "lines": list(self.lines), "removed": self.removed, "symbol": self.symbol}
        return {**head, "by": self.by, "via": "file" if self.by_file else None, "scenarios": names}


@dataclass(frozen=True)
class Unexplained:
    """A changed piece that no test of a scenario reaches, as far as can be told; `why` is a code of the tables above.

    `tests`: the tests that do reach it, a few of them.
    """

    file: str
    lines: tuple[int, int] | None
    symbol: str | None
    why: str
    tests: tuple[str, ...] = ()
    removed: int = 0

    @property
    def known(self) -> bool:
        return self.why in WHY

    @property
    def said(self) -> str:
        return WHY.get(self.why) or UNKNOWN[self.why]

    def as_json(self) -> dict[str, Any]:
        lines = list(self.lines) if self.lines else None
        head = {"file": self.file, "lines": lines, "removed": self.removed, "symbol": self.symbol}
        return {**head, "why": self.why, "known": self.known, "tests": list(self.tests), "fix": FIX.get(self.why)}


@dataclass(frozen=True)
class Answer:
    """What is known of the changes. `reason` says why nothing is: then the lists are empty and mean nothing.

    `counts`: of each scenario of the plan, how many changed pieces its tests reach. `data`: changed files without
    symbols, with the lines that changed. `unnamed`: nodes that do not name the tests that reach a change, each with
    what would make them. `owed` False: the feature has no plan, so nothing is asked.
    """

    reached: tuple[Reached, ...] = ()
    unexplained: tuple[Unexplained, ...] = ()
    data: tuple[tuple[str, tuple[tuple[int, int], ...]], ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    reason: str | None = None
    owed: bool = True
    unnamed: Mapping[str, str] = field(default_factory=dict)

    @property
    def known(self) -> bool:
        return self.reason is None

    @classmethod
    def without_scenarios(cls) -> Answer:
        return cls(reason="the feature has no scenarios yet", owed=False)

    @classmethod
    def unmeasured(cls, node: str, feature: str) -> Answer:
        return cls(reason=f"{node} is not measured for this code; run `morph-spec verify {feature}`")

    def as_json(self) -> dict[str, Any]:
        """Return the keys that `verify --json` and `trace --json` share."""
        said = self.known
        data = [{"file": path, "lines": [list(one) for one in lines]} for path, lines in self.data]
        return {
            "unexplained": [one.as_json() for one in self.unexplained] if said else None,
            "unexplainedReason": self.reason,
            "unexplainedData": data if said else None,
            "explained": dict(self.counts) if said else None,
            "unnamedNodes": [{"node": node, "fix": fix} for node, fix in self.unnamed.items()] if said else None,
        }

    def hunks(self) -> list[dict[str, Any]] | None:
        """Return the changed pieces that scenarios explain; None when that is not known."""
        return [one.as_json() for one in self.reached] if self.known else None


def _number(scenario: str) -> tuple[int, str]:
    digits = scenario.lstrip("C")
    return (int(digits) if digits.isdigit() else 0, scenario)
