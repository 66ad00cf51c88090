from __future__ import annotations

from pathlib import Path

import pytest

from tests.fleet.linked import Linked, make_linked


@pytest.fixture
def linked(tmp_path: Path) -> Linked:
    """A main tree and a linked one, on the branch `morph-task/cart`, both clean."""
    return make_linked(tmp_path)
