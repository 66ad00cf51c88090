"""Weakened tests: compares the tests of the changed files with those of the base."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from morph_tasks.verify.testcode.model import Assertion, Setting, SourceTest, TestSource
from morph_tasks.verify.testcode.reader import language_of, read_tests
from morph_tasks.verify.testcode.sitter import squash, words
from morph_tasks.verify.validators.weakening.asserting import losses
from morph_tasks.verify.validators.weakening.model import Change, Finding
from morph_tasks.verify.validators.weakening.pairing import Placed, last_name, pair
from morph_tasks.verify.validators.weakening.remarks import Remarks

_JS_TIMEOUT = 5.0  # of jest and vitest, in seconds, when nothing says otherwise
_SHOWN = 160


@dataclass
class Sources:
    """The test files of both sides, and those that could not be read."""

    before: dict[str, TestSource] = field(default_factory=dict)
    after: dict[str, TestSource] = field(default_factory=dict)
    unread: list[str] = field(default_factory=list)
    changes: dict[str, Change] = field(default_factory=dict)


def read_sources(changes: Sequence[Change]) -> Sources:
    """Read the test files among the changes."""
    found = Sources()
    for change in changes:
        if language_of(change.path) is None:
            continue
        sides = [read_tests(change.path, data) if data is not None else None for data in (change.before, change.after)]
        if any(side is not None and not side.readable for side in sides):
            found.unread.append(change.path)
            continue
        for side, kept in zip(sides, (found.before, found.after), strict=True):
            if side is not None:
                kept[change.path] = side
        if any(sides):
            found.changes[change.path] = change
    return found


def weakened_tests(sources: Sources) -> Iterator[Finding]:
    """Yield what the tests prove less than they did."""
    base = [Placed(path, test) for path, source in sources.before.items() for test in source.tests]
    now = [Placed(path, test) for path, source in sources.after.items() for test in source.tests]
    pairs = pair(base, now)
    remarks = Remarks(sources.changes)
    yield from _gone(pairs.gone, sources, remarks)
    compared = _Compared(sources, remarks)
    for old, new in pairs.kept:
        yield from compared.pair(old, new)
    yield from compared.helpers()
    base_only = {(old.file, old.test.name) for old in base if old.test.only}
    for new in pairs.new:
        if new.test.only and (new.file, new.test.name) not in base_only:
            yield _finding("only-added", new, new.test.line, "all tests ran", "`only` on this one")
    yield from _settings(sources)


def _finding(kind: str, placed: Placed, line: int, before: str, after: str, *, sure: bool = True) -> Finding:
    return Finding(kind, placed.file, line, before, after, placed.test.name, sure=sure)


def _gone(gone: Sequence[Placed], sources: Sources, remarks: Remarks) -> Iterator[Finding]:
    files: dict[str, list[Placed]] = {}
    for one in gone:
        files.setdefault(one.file, []).append(one)
    for path, tests in files.items():
        # The rows of a table and subtests go with their test.
        names = {one.test.name for one in tests}
        tops = [one for one in tests if "/" not in one.test.name or one.test.name.rpartition("/")[0] not in names]
        helpers = {helper.name for helper in sources.after[path].helpers} if path in sources.after else set()
        if sources.changes[path].after is None and len(tops) == len(sources.before[path].tests) and len(tops) > 1:
            said = f"the file, with {len(tops)} tests"
            more = tuple(one.test.name for one in tops[1:])
            yield Finding("test-deleted", path, tops[0].test.line, said, "gone", tops[0].test.name, True, more)
            continue
        for one in tops:
            yield _one_gone(one, remarks, helpers)


def _one_gone(one: Placed, remarks: Remarks, helpers: set[str]) -> Finding:
    test, count = one.test, len(one.test.assertions)
    said = f"a test with {count} assertion{'' if count == 1 else 's'}"
    line = remarks.of_test(one.file, test)
    if line:
        return Finding("test-commented-out", one.file, line, said, "in a comment", test.name)
    renamed = next((name for name in helpers if name.strip("_x") == last_name(test.name).strip("_x")), None)
    after = f"`{renamed}`, which no runner collects" if renamed else "gone"
    return Finding("test-deleted", one.file, test.line, said, after, test.name, True)


class _Compared:
    """Compares tests that are in both trees."""

    def __init__(self, sources: Sources, remarks: Remarks) -> None:
        self._sources = sources
        self._remarks = remarks
        self._olds = _by_name(sources.before)
        self._news = _by_name(sources.after)

    def pair(self, old: Placed, new: Placed) -> Iterator[Finding]:
        """Yield what one test proves less."""
        before, after = old.test, new.test
        if after.skipped and not before.skipped:
            line = after.skip_line or after.line
            yield _finding("test-skipped", new, line, "it ran", _short(after.skipped))
        elif _is_collected(old.file) and not _is_collected(new.file):
            said = f"`{new.file}`, a name that runners do not collect"
            yield _finding("test-skipped", new, after.line, f"it ran in {old.file}", said)
        for case in after.skipped_cases:
            if case not in before.skipped_cases:
                yield _finding("test-skipped", new, after.line, "the case ran", _short(case))
        if after.only and not before.only:
            yield _finding("only-added", new, after.line, "all tests ran", "`only` on this one")
        yield from _fewer_rows(before, new)
        yield from _patience(before, new, self._sources.after[new.file].language)
        yield from self._assertions(old, new)

    def helpers(self) -> Iterator[Finding]:
        """Yield what functions assert less that tests call."""
        said = {
            squash(one.text)
            for source in self._sources.after.values()
            for test in (*source.tests, *source.helpers)
            for one in test.assertions
        }
        for path, source in self._sources.before.items():
            after = self._sources.after.get(path)
            now = {helper.name: helper for helper in after.helpers} if after else {}
            for helper in source.helpers:
                if helper.name in now:
                    olds = [
                        one
                        for one in helper.assertions
                        if squash(one.text) not in said
                        or any(same.text == one.text for same in now[helper.name].assertions)
                    ]
                    yield from self._lost(Placed(path, helper), Placed(path, now[helper.name]), olds)

    def _assertions(self, old: Placed, new: Placed) -> Iterator[Finding]:
        olds = list(old.test.assertions)
        hidden: list[Assertion] = []
        for name in old.test.calls:
            # A call that counts as an assertion itself stands for its helper.
            if name not in new.test.calls and not any(one.form == name for one in old.test.assertions):
                inner = self._expanded(self._olds, name, frozenset())
                hidden += [replace(one, line=old.test.line) for one in inner]
        yield from self._lost(old, new, olds, hidden)

    def _lost(
        self, old: Placed, new: Placed, olds: Sequence[Assertion], hidden: Sequence[Assertion] = ()
    ) -> Iterator[Finding]:
        test = new.test
        moved = [
            one
            for name in test.calls
            if name not in old.test.calls
            for one in self._expanded(self._news, name, frozenset())
        ]
        said = frozenset().union(*map(words, test.body)) if test.body else frozenset()
        by_row = len(test.cases) > len(old.test.cases)
        for loss in losses(olds, test.assertions, moved, said, hidden):
            if by_row and loss.now is not None and (loss.now.guard or "").startswith("if"):
                continue  # several tests became rows of one, and a row decides
            before = _short(loss.old.text)
            if loss.now is not None:
                after = f"{_short(loss.now.text)}{f' ({loss.why})' if loss.why else ''}"
                yield _finding(loss.kind, new, loss.now.line, before, after, sure=loss.sure)
                continue
            after, line, gone = loss.why or "gone", loss.old.line, True
            remark = self._remarks.of_text(new.file, loss.old.text)
            if remark:
                after, line, gone = "in a comment", remark, False
            elif test.stops:
                after, line, gone = f"never reached: the test returns in line {test.stops}", test.stops, False
            yield Finding(
                loss.kind, old.file if gone else new.file, line, before, after, test.name, gone, (), loss.sure
            )

    def _expanded(self, helpers: dict[str, SourceTest], name: str, seen: frozenset[str]) -> list[Assertion]:
        """Return what a helper asserts, also through others."""
        helper = helpers.get(name)
        if helper is None or name in seen:
            return []
        inner = [one for call in helper.calls for one in self._expanded(helpers, call, seen | {name})]
        return [*helper.assertions, *inner]


def _is_collected(path: str) -> bool:
    """Tell whether runners look for tests in a file of this name unless they are told otherwise."""
    name = path.rsplit("/", 1)[-1]
    if name.endswith(".py"):
        return bool(re.fullmatch(r"test_.*\.py|.*_test\.py|tests?\.py", name))
    if re.search(r"\.[cm]?[jt]sx?$", name):
        return bool(re.search(r"\.(?:test|spec|cy|e2e)\.\w+$", name)) or "__tests__" in path.split("/")
    return name.endswith(("_spec.rb", "_test.rb")) if name.endswith(".rb") else True


def _by_name(sources: dict[str, TestSource]) -> dict[str, SourceTest]:
    return {helper.name: helper for source in sources.values() for helper in source.helpers}


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _fewer_rows(before: SourceTest, new: Placed) -> Iterator[Finding]:
    after = new.test
    if len(after.cases) >= len(before.cases):
        return
    if not after.cases:
        if len(before.cases) > 1:
            yield _finding(
                "case-deleted",
                new,
                after.line,
                f"{len(before.cases)} rows",
                "rows that the source does not show",
                sure=False,
            )
        return
    now = {squash(case) for case in after.cases}
    missing = [case for case in before.cases if squash(case) not in now][: len(before.cases) - len(after.cases)]
    said = f"{len(before.cases)} rows"
    for case in missing:
        yield _finding("case-deleted", new, after.line, said, f"{len(after.cases)} rows, without {_short(case)}")


def _patience(before: SourceTest, new: Placed, language: str) -> Iterator[Finding]:
    after = new.test
    retries = before.retries or 0, after.retries or 0
    if retries[1] > retries[0]:
        yield _finding("retries-raised", new, after.line, _retries(retries[0]), _retries(retries[1]))
    scripted = language in ("javascript", "typescript")
    was, now = before.timeout, after.timeout
    if now is not None and (was is not None or scripted):
        usual = was if was is not None else _JS_TIMEOUT
        if now > usual or (scripted and now == 0 < usual):
            yield _finding("timeout-raised", new, after.line, _seconds(was), _seconds(now))
    elif was is not None and now is None and not scripted:
        yield _finding("timeout-raised", new, after.line, _seconds(was), "no limit")


def _retries(count: int | float) -> str:
    return "no retries" if not count else f"retries {count:g}"


def _seconds(value: float | None) -> str:
    return "the default" if value is None else "no limit" if value == 0 else f"{value:g} s"


def _settings(sources: Sources) -> Iterator[Finding]:
    """Yield what a whole file raised."""
    for path, after in sources.after.items():
        if path not in sources.before:
            continue
        before = _latest(sources.before[path].settings)
        for key, one in _latest(after.settings).items():
            was = before.get(key)
            if one.kind == "retries" and one.value > (was.value if was else 0):
                said = _retries(was.value if was else 0)
                yield Finding("retries-raised", path, one.line, said, f"{one.name}: {_retries(one.value)}")
            elif one.kind == "timeout" and _longer(was, one, after.language):
                said = _seconds(was.value if was else None)
                yield Finding("timeout-raised", path, one.line, said, f"{one.name}: {_seconds(one.value)}")


def _longer(was: Setting | None, now: Setting, language: str) -> bool:
    if was is None:
        return language != "python" and now.value > _JS_TIMEOUT
    return now.value > was.value


def _latest(settings: Sequence[Setting]) -> dict[tuple[str, str], Setting]:
    return {(one.kind, one.name): one for one in settings}
