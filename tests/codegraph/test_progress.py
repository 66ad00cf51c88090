"""Lines on a run that takes long, on stderr and never beside a document."""

from __future__ import annotations

import time

import pytest

from morph_tasks.cli import graph
from morph_tasks.codegraph import progress
from morph_tasks.codegraph.progress import Progress
from tests.codegraph.scene import until
from tests.conftest import Project


def test_it_tells_what_is_under_way_until_it_is_over() -> None:
    told: list[str] = []
    with Progress(told.append, 0.01) as going:
        going.at("graphify extracts")
        until(lambda: len(told) > 1)
        going.at("making the index")
        until(lambda: told[-1].startswith("making the index ("))
    assert told[0].startswith("graphify extracts (") and not going._thread.is_alive()


def test_nothing_is_told_before_something_is_under_way() -> None:
    told: list[str] = []
    with Progress(told.append, 0.01) as going:
        time.sleep(0.1)
        assert told == []
        going.at("graphify extracts")
        until(lambda: bool(told))


def test_nothing_is_told_of_a_short_run(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress(print) as going:
        going.at("graphify extracts")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("as_json", [False, True])
def test_a_document_has_no_lines_beside_it(
    graphed: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], as_json: bool
) -> None:
    monkeypatch.setattr(progress, "EVERY_S", 0.01)
    assert graph._run(graphed.root, "refresh", as_json) == 0
    assert ("graphify" in capsys.readouterr().err) is not as_json
