from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from morph_tasks.fleet.deletion import delete
from tests.fleet.linked import Linked, make_linked


@pytest.fixture
def linked(tmp_path: Path) -> Linked:
    """A main tree and a linked one, on the branch `morph-task/cart`, both clean."""
    return make_linked(tmp_path)


@pytest.fixture
def deep_place() -> Iterator[Path]:
    """A folder for trees deeper than pytest itself could remove, which nothing but its end depends on."""
    place = Path(tempfile.mkdtemp(prefix="deep-"))
    try:
        yield place
    finally:
        delete(place)
