"""`kill -9` at every write of state and at many other moments: no byte is lost, and a second run completes the work."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fleet.killing import Killing, every_write, kill_all, some_changes, some_times
from tests.fleet.kills_of import BY_DOIT, KILLINGS

EACH = pytest.mark.parametrize("killing", [pytest.param(one, id=name) for name, one in KILLINGS.items()])


@EACH
def test_killed_before_and_after_every_write_of_state(tmp_path: Path, killing: Killing) -> None:
    wrong = kill_all(tmp_path, killing, every_write)
    assert not wrong, "\n".join(wrong)


@EACH
def test_killed_at_random_changes(tmp_path: Path, killing: Killing) -> None:
    wrong = kill_all(tmp_path, killing, some_changes(8, seed=20261130))
    assert not wrong, "\n".join(wrong)


def test_killed_in_doit(tmp_path: Path) -> None:
    wrong = kill_all(tmp_path, BY_DOIT, some_changes(4, seed=6))
    assert not wrong, "\n".join(wrong)


@pytest.mark.soak
@EACH
@pytest.mark.parametrize("seed", [1, 2])
def test_killed_at_many_random_changes(tmp_path: Path, killing: Killing, seed: int) -> None:
    wrong = kill_all(tmp_path, killing, some_changes(50, seed=seed))
    assert not wrong, "\n".join(wrong)


@pytest.mark.soak
@EACH
def test_killed_at_many_random_times(tmp_path: Path, killing: Killing) -> None:
    wrong = kill_all(tmp_path, killing, some_times(40, seed=3))
    assert not wrong, "\n".join(wrong)
