from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from morph_tasks.verify.reach.statements import statements

CODE = '''\
"""Doc."""
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    import ast

RATE = {
    1: 2,
}


@mark
def one(
    x,
):
    """Doc."""
    global RATE
    y: int
    if x:
        return 1
    else:
        raise ValueError(
            x
        )


class Two:
    size = 1

    def three(self): ...

    def four(self):
        match self:
            case 1:
                pass
        try:
            self.size
        except OSError:
            return 1
'''


def test_which_lines_can_run_and_what_says_that_they_did() -> None:
    found = statements(CODE.encode()) or {}
    ranges = {line: one.ranges[0] for line, one in found.items()}
    silent = {1, 3, 4, 15, 16, 17, 29, 34}
    assert not silent & set(ranges)
    assert ranges[2] == (2, 2) and found[2].ranges[-1] == (1, CODE.count("\n") + 1)
    assert ranges[6] == ranges[7] == (6, 8)
    # The head of a definition runs at import: its body speaks for it.
    assert ranges[11] == ranges[12] == ranges[13] == ranges[14] == (18, 23)
    assert found[11].ranges == ((18, 23),)
    assert ranges[18] == ranges[20] == (18, 23)
    assert ranges[19] == (19, 19) and ranges[21] == ranges[22] == (21, 23)
    assert ranges[27] == (27, 27) and found[27].ranges[1] == (26, 38)
    assert ranges[31] == (32, 38) and ranges[32] == (32, 34)
    assert ranges[33] == (33, 34)
    assert ranges[37] == (37, 38) and ranges[38] == (38, 38)


def test_a_field_is_evaluated_where_its_class_is_made_and_a_local_one_never() -> None:
    source = b"class One:\n    size: int\n\n\nLEFT: int\n\n\ndef two():\n    x: int\n    return 1\n"
    assert set(statements(source) or ()) == {1, 2, 5, 8, 10}


def test_a_file_that_does_not_parse_has_none() -> None:
    assert statements(b"def (:\n") is None
    assert statements(b"\0") is None


@given(st.binary(max_size=200))
def test_no_source_breaks_it(source: bytes) -> None:
    statements(source)


@pytest.mark.parametrize(
    "compound", ["for a in b:\n", "while a:\n", "with a:\n", "async def f():\n  async for a in b:\n"]
)
def test_a_compound_statement_ran_when_its_body_did(compound: str) -> None:
    code = "def f():\n" + "".join(f"  {line}\n" for line in compound.splitlines()) + "        x = 1\n"
    found = statements(code.encode()) or {}
    assert found[2].ranges[0][1] == code.count("\n")
