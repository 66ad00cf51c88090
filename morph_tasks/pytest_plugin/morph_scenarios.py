"""pytest plugin: `@pytest.mark.scenario("C3")` says which scenario of a plan a test proves.

Each id becomes a JUnit property `scenario`. When MORPH_TEST_REPORT names a file, every test that ends adds a line of
JSON to it, and the session a last one. This file imports nothing but pytest and the standard library: it also runs
where only pytest (7 or newer) is installed, and nothing in it may change how a suite ends.
"""

from __future__ import annotations

import json
import os
import re
import warnings
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TextIO
from weakref import WeakKeyDictionary

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

MARK = "scenario"
PLACE = "MORPH_TEST_REPORT"
_ID = re.compile(r"(?:[A-Za-z0-9][\w.-]*:)?C[0-9]+")
# The better known of two phases wins: a body that failed stays failed, a teardown that passes proves nothing.
_RANK = ("failed", "passed", "skipped")
# Whether each attempt at a test passed.
_TRIES: WeakKeyDictionary[pytest.Item, list[bool]] = WeakKeyDictionary()


class ScenarioWarning(pytest.PytestWarning):
    """A scenario mark that names no scenario."""


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and take the report's name out of the environment: a pytest inside of a test is no part."""
    config.addinivalue_line("markers", f"{MARK}(id, ...): the scenarios of the plan that the test proves, such as C3")
    place = os.environ.get(PLACE, "")
    if place and not hasattr(config, "workerinput"):
        with suppress(OSError, ValueError):
            # Held open: a test may replace `open`, or go to another folder.
            file = open(place, "a", encoding="utf-8")  # noqa: SIM115
            config.pluginmanager.register(_Report(place, file, str(config.rootpath)), "morph-scenarios-report")
    os.environ.pop(PLACE, None)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out work trees that lie in this one: they hold other states of the same tests."""
    if collection_path in (config.rootpath, config.invocation_params.dir):
        return None
    with suppress(OSError), open(collection_path / ".git", "rb") as pointer:
        said = pointer.read(4096)
        return (said.startswith(b"gitdir:") and b"/worktrees/" in said) or None
    return None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Give each test its ids as properties; warn of marks without an id, or with what cannot be one."""
    said: set[tuple[Any, ...]] = set()
    # Each worker of xdist collects everything; one is enough to say it.
    speaks = getattr(config, "workerinput", {}).get("workerid", "gw0") == "gw0"
    for item in items:
        _give(item)
        for wrong in _wrong(item) if speaks else ():
            if (*item.location[:2], wrong) not in said:
                said.add((*item.location[:2], wrong))
                _warn(item, f'scenario({wrong}): write the ids of the plan as strings, such as scenario("C3")')


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
    """Add the ids of marks that were set while the test ran, and whether an attempt that nobody tells of failed."""
    tries = _TRIES.setdefault(item, [])
    if call.when == "call":
        tries.append(call.excinfo is None)
    elif call.when == "teardown":
        _give(item)
    made = yield
    if call.when == "teardown" and made.excinfo is None:
        made.get_result().morph_flaky = not all(tries[:-1])


def _give(item: pytest.Item) -> None:
    for mark in item.iter_markers(MARK):
        for one in mark.args:
            if isinstance(one, str) and _ID.fullmatch(one) and (MARK, one) not in item.user_properties:
                item.user_properties.append((MARK, one))


def _wrong(item: pytest.Item) -> list[str]:
    """Return what the scenario marks of a test hold that is no id, as it was written."""
    found: list[str] = []
    for mark in item.iter_markers(MARK):
        found += [repr(one) for one in mark.args if not isinstance(one, str) or not _ID.fullmatch(one)]
        found += [f"{name}={value!r}" for name, value in mark.kwargs.items()]
        found += [] if mark.args or mark.kwargs else [""]
    return found


def _warn(item: pytest.Item, text: str) -> None:
    try:
        item.warn(ScenarioWarning(text))
    except ScenarioWarning:
        # Where warnings are errors this would end the whole collection without saying why.
        with warnings.catch_warnings():
            warnings.simplefilter("always", ScenarioWarning)
            item.warn(ScenarioWarning(text))


class _Report:
    """Writes one line for each test that has ended, and a last one when the session has."""

    def __init__(self, place: str, file: TextIO, root: str) -> None:
        self._place, self._file, self._root = place, file, root
        # Open tests by id and worker: with `--dist each` several run the same one.
        self._open: dict[tuple[str, str], dict[str, Any]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        with suppress(Exception):
            self._take(report)

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        with suppress(Exception):
            for test in self._open.values():
                # A worker that died tells of a failure and never of an end.
                if test["outcome"] == "failed":
                    self._write(test)
            self._open.clear()
            self._write({"ended": int(exitstatus)})

    def pytest_unconfigure(self) -> None:
        with suppress(Exception):
            self._file.close()
        # For the next `pytest.main()` of this process.
        os.environ.setdefault(PLACE, self._place)

    def _take(self, report: pytest.TestReport) -> None:
        key = (report.nodeid, getattr(report, "worker_id", ""))
        test = self._open.setdefault(key, {"nodeid": report.nodeid, "outcome": None, "flaky": False})
        outcome, when = str(report.outcome), report.when
        if outcome not in _RANK:
            # `rerun`, `retried`: that attempt is void, and another one follows.
            test.update(outcome=None, flaky=True)
            return
        if outcome != "passed" or when == "call":
            before = test["outcome"]
            test["outcome"] = outcome if before is None else min(before, outcome, key=_RANK.index)
        test.update(self._place_of(report), scenarios=_ids(report))
        if when == "teardown":
            test["flaky"] |= getattr(report, "morph_flaky", False)
            del self._open[key]
            if test["outcome"] is not None:
                self._write(test)

    def _place_of(self, report: pytest.TestReport) -> dict[str, Any]:
        path, line, _ = report.location
        return {
            "file": path,
            "path": os.path.normpath(os.path.join(self._root, path)),
            "line": None if line is None else line + 1,
        }

    def _write(self, line: dict[str, Any]) -> None:
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()


def _ids(report: pytest.TestReport) -> list[str]:
    return [str(value) for name, value in report.user_properties if name == MARK]
