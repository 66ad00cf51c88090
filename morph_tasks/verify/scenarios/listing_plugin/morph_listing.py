"""pytest plugin of `morph-spec trace`: writes which tests a run would take, and runs none.

MORPH_LISTING names the file, which gets a line of JSON for each test and each file that could not be collected, and a
last one with the exit status. Imports nothing but pytest and the standard library. No report that the command asks
for is written: it would replace the one of the last run.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import Any

import pytest

PLACE = "MORPH_LISTING"
# What plugins write at the end of a session, by the option that holds the place.
_REPORTS = (
    "xmlpath", "htmlpath", "report_log", "nunit_xmlpath", "allure_report_dir", "csv", "excelreport", "md_report",
    "json_report_file", "pastebin", "resultlog", "benchmark_json", "durations",
)  # fmt: skip
_SWITCHES = ("json_report", "lf", "failedfirst", "stepwise", "cacheclear")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Keep pytest-cov from measuring: it would erase the data of the last run."""
    known = early_config.known_args_namespace
    if getattr(known, "cov_source", None):
        known.cov_source = []
        known.no_cov = True


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Turn off what writes, whatever else the command says, and take our file's name out of the environment."""
    config.option.collectonly = True
    config.option.maxfail = 0
    for name in _REPORTS:
        if getattr(config.option, name, None):
            setattr(config.option, name, None)
    for name in _SWITCHES:
        if getattr(config.option, name, None):
            setattr(config.option, name, False)
    place = os.environ.pop(PLACE, "")
    if place and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Listing(place, str(config.rootpath)), "morph-listing-file")


class _Listing:
    """Writes the lines."""

    def __init__(self, place: str, root: str) -> None:
        self._place, self._root = place, root

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            said = str(report.longrepr).strip().splitlines()
            path = os.path.join(self._root, report.nodeid.partition("::")[0])
            self._write({"failed": report.nodeid, "path": path, "said": said[-1][:300] if said else ""})

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            with suppress(Exception):
                self._write(_told(item))

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        self._write({"ended": int(exitstatus)})

    def _write(self, line: dict[str, Any]) -> None:
        with suppress(OSError), open(self._place, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def _told(item: pytest.Item) -> dict[str, Any]:
    _, _, name = item.nodeid.partition("::")
    spec = getattr(item, "callspec", None)
    ids = [one for mark in item.iter_markers("scenario") for one in mark.args if isinstance(one, str)]
    return {
        "name": name or item.nodeid,
        "case": f"[{spec.id}]" if spec is not None else "",
        "path": str(getattr(item, "path", None) or getattr(item, "fspath", "")),
        "line": item.location[1] + 1 if item.location[1] is not None else None,
        "scenarios": ids,
        "skipped": _skipped(item),
    }


def _skipped(item: pytest.Item) -> str | None:
    for mark in item.iter_markers("skip"):
        return str(mark.kwargs.get("reason") or (mark.args[0] if mark.args else "") or "skip")
    for mark in item.iter_markers("skipif"):
        if any(one is True for one in mark.args):
            return str(mark.kwargs.get("reason") or "skipif")
    holder = getattr(item, "obj", None), getattr(item, "cls", None)
    if any(getattr(one, "__unittest_skip__", False) is True for one in holder):
        return str(next((why for one in holder if (why := getattr(one, "__unittest_skip_why__", ""))), "") or "skip")
    return None
