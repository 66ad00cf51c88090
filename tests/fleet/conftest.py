from __future__ import annotations

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
def too_deep(tmp_path: Path) -> Iterator[None]:
    """Folders deeper than pytest itself could remove: all of the test's folder goes at its end."""
    yield
    for path in tmp_path.iterdir():
        delete(path)
