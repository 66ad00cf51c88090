"""Fixtures of the code graph."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.codegraph.scene import fill
from tests.conftest import Project

Prepared = Callable[[str, Callable[[], None]], None]


@pytest.fixture
def code(project: Project) -> Project:
    """A project with a little Python in it, and no graph."""
    fill(project)
    return project


@pytest.fixture
def graphed(project: Project, prepared: Prepared) -> Project:
    """The same with a graph that is fresh, its ignore rules committed."""

    def make() -> None:
        fill(project)
        assert project.morph("graph", "build").code == 0
        project.commit("rules")
        assert project.morph("graph", "refresh").code == 0

    prepared("graphed", make)
    return project


@pytest.fixture
def pretence(tmp_path: Path) -> Path:
    """The folder of a program that calls itself graphify."""
    return tmp_path / "pretence"
