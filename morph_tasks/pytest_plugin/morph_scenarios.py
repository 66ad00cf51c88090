"""pytest plugin: `@pytest.mark.scenario("C3")` says which scenario of a plan a test proves.

Each id becomes a JUnit property `scenario`. When MORPH_TEST_REPORT names a file, every test that ends adds a line of
JSON to it. This file imports nothing of the package: it also runs where only pytest is installed.
"""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from typing import Any

import pytest

MARK = "scenario"
_ID = re.compile(r"(?:[A-Za-z0-9][\w.-]*:)?C[0-9]+")
_RANK = ("failed", "passed", "skipped")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and take the report's name out of the environment: a pytest inside of a test is no part."""
    config.addinivalue_line("markers", f"{MARK}(id, ...): the scenario of the plan that the test proves, such as C3")
    place = os.environ.pop("MORPH_TEST_REPORT", "")
    worker = hasattr(config, "workerinput")
    if place and not worker:
        config.pluginmanager.register(_Report(place, config), "morph-scenarios-report")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give each test its ids as properties; raises UsageError for a mark without an id, or with none of a plan."""
    for item in items:
        for one in _ids(item):
            item.user_properties.append((MARK, one))


def _ids(item: pytest.Item) -> list[str]:
    found: list[str] = []
    for mark in item.iter_markers(MARK):
        wrong = [one for one in mark.args if not isinstance(one, str) or not _ID.fullmatch(one)]
        if wrong or not mark.args or mark.kwargs:
            path, line = item.location[0], item.location[1]
            said = repr(wrong[0]) if wrong else "no id"
            place = f"{path}:{line + 1}" if line is not None else path
            raise pytest.UsageError(f'{place}: scenario({said}): write the ids of the plan, such as scenario("C3")')
        found += mark.args
    return list(dict.fromkeys(found))


class _Report:
    """Writes one line for each test that has ended, and a last one when the session has."""

    def __init__(self, place: str, config: pytest.Config) -> None:
        self._place = place
        self._root = str(getattr(config, "rootpath", ""))
        self._open: dict[str, dict[str, Any]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        test = self._open.setdefault(report.nodeid, {"outcome": None, "flaky": False})
        outcome = str(report.outcome)
        if outcome == "rerun":
            test["flaky"] = True
            return
        if report.when == "call" or outcome != "passed":
            test["outcome"] = _worse(test["outcome"], outcome)
        if report.when == "teardown":
            self._close(report, self._open.pop(report.nodeid))

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        self._write({"ended": int(exitstatus)})

    def _close(self, report: pytest.TestReport, test: dict[str, Any]) -> None:
        path, line, _ = report.location
        place = os.path.join(self._root, path)
        self._write({
            "nodeid": report.nodeid,
            "outcome": test["outcome"] or "passed",
            "flaky": test["flaky"],
            "file": path,
            "path": os.path.realpath(place) if os.path.exists(place) else None,
            "line": None if line is None else line + 1,
            "scenarios": [value for name, value in report.user_properties if name == MARK],
        })  # fmt: skip

    def _write(self, line: dict[str, Any]) -> None:
        # A report that cannot be written must not change how a suite ends.
        with suppress(OSError, ValueError), open(self._place, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def _worse(one: str | None, other: str) -> str:
    return other if one is None else min(one, other, key=_RANK.index)
