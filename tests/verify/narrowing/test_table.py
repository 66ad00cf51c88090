"""The table and the folder agree."""

from __future__ import annotations

from pathlib import Path

from morph_tasks.verify import narrowing
from morph_tasks.verify.narrowing.table import NARROWERS, narrower
from morph_tasks.verify.runners.table import RUNNERS


def test_every_narrower_is_a_module_of_a_known_runner() -> None:
    for runner in NARROWERS:
        module = narrower(runner)
        assert not isinstance(module, str)
        assert callable(module.narrow)
        assert callable(module.is_zero)
        assert runner in RUNNERS


def test_every_module_that_narrows_is_in_the_table() -> None:
    folder = Path(narrowing.__file__ or "").parent
    narrows = {path.stem for path in folder.glob("*.py") if "\ndef narrow(" in path.read_text("utf-8")}
    assert narrows == set(NARROWERS.values())


def test_every_other_runner_has_its_reason() -> None:
    for runner in set(RUNNERS) - set(NARROWERS):
        assert isinstance(narrower(runner), str)
