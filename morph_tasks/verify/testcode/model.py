"""Tests as their source shows them, whatever the language."""

from __future__ import annotations

from dataclasses import dataclass

# How strict an assertion is. Only the order has a meaning.
EXACT = 50  # one value, and no other
CALLED_WITH = 45  # one value, of a part that is named
CLOSE = 40  # one value, give or take
UNKNOWN = 39  # a function that asserts by its name, and whose body is not known
SIZED = 35  # a length, a count, an error with its message
PARTIAL = 30  # contains, greater than, matches, is of a type, raises an error of a named type
UNEQUAL = 20  # truthy, not null, not that value, raises anything
RUNS = 10  # nothing was thrown
NOTHING = 0  # holds whatever the code does


@dataclass(frozen=True)
class Assertion:
    """One assertion: its line from 1, its text on one line, and how strict it is (higher is stricter).

    `form` is the way it asserts (`==`, `toEqual`). `tolerance` is what may differ, `None` when nothing says so.
    `guard` is what keeps a failure from being seen (`try/except`), or makes the assertion optional (`if`).
    `error` is the type that has to be raised. `subject` is what it is about, when the source tells.
    """

    line: int
    text: str
    strength: int
    form: str = ""
    tolerance: float | None = None
    guard: str | None = None
    error: str | None = None
    subject: str = ""


@dataclass(frozen=True)
class Setting:
    """Something that holds for every test of a file: `kind` is `timeout` (seconds) or `retries`."""

    kind: str
    name: str
    value: float
    line: int


@dataclass(frozen=True)
class SourceTest:
    """One test in a source file.

    `name` is what a runner shows: suites and title joined by ` > ` (`Class > method` for Python; `Test/sub case` for
    Go and `module::test` for Rust, as their runners do). `scenarios` holds the ids as written (`C3`, `cart:C3`) of
    marks and of the name. `skipped` says how it is left out, `timeout` is in seconds.

    `cases` are the texts of the rows of a test with parameters. `body` holds its statements without blanks, to tell
    a test that moved; `calls` the functions it calls by a plain name. `stops` is the line of a `return` that keeps
    the rest from running.
    """

    name: str
    line: int
    end_line: int
    scenarios: tuple[str, ...] = ()
    skipped: str | None = None
    assertions: tuple[Assertion, ...] = ()
    timeout: float | None = None
    retries: int | None = None
    only: bool = False
    skip_line: int | None = None
    cases: tuple[str, ...] = ()
    skipped_cases: tuple[str, ...] = ()
    body: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    stops: int | None = None


@dataclass(frozen=True)
class TestSource:
    """The tests of one file. `readable` is False when the source does not parse.

    `helpers` are its functions that assert and are no tests themselves.
    """

    __test__ = False

    path: str
    language: str
    tests: tuple[SourceTest, ...]
    readable: bool = True
    helpers: tuple[SourceTest, ...] = ()
    settings: tuple[Setting, ...] = ()
