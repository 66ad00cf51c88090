"""How rows get into the index: many with one statement, none lost and none out of order."""

from __future__ import annotations

from pathlib import Path

import pytest

from morph_tasks.codegraph.index import open_index
from tests.codegraph.rawgraphs import Raw


@pytest.mark.parametrize("links", [0, 1, 39, 40, 41, 80, 95])
def test_every_row_is_there_in_its_order(links: int, tmp_path: Path) -> None:
    """Around the number of rows that one statement inserts."""
    made = Raw()
    for number in range(links + 1):
        made.node(f"n{number}", f"f{number}()", "a.py", number + 1)
    for number in range(links):
        made.link(f"n{number + 1}", "calls", "n0", "a.py", number + 1)
    made.write(tmp_path)
    with open_index(tmp_path) as index:
        (first,) = index.find("n0")
        assert [edge.line for edge in index.into([first.id])] == list(range(1, links + 1))
        assert [one.key for one in index.in_file("a.py")] == [f"n{number}" for number in range(links + 1)]
