from __future__ import annotations

from typing import Any

import pytest

from morph_tasks.plan.files import LeftOut, planned_files
from morph_tasks.plan.hashing import plan_hash

TEXT = """\
# Cart

## Slices

### F1 — Rules
- files: src/cart.py, ./src//money.py, src/cart.py

### F2 — Page
- files: `a page.html`, src/, src/*.py, ../out.py, src/money.py
"""


def test_the_files_by_slice_of_a_plan_that_is_not_finished() -> None:
    found = planned_files(TEXT)
    assert found.slices == {"F1": ("src/cart.py", "src/money.py"), "F2": ("a page.html", "src/money.py")}
    assert found.files == {
        "src/cart.py": ("F1",), "src/money.py": ("F1", "F2"), "a page.html": ("F2",),
    }  # fmt: skip


def test_what_names_no_file_is_left_out_and_said() -> None:
    left = planned_files(TEXT).left_out
    assert [(one.slice_id, one.path) for one in left] == [("F2", "src/"), ("F2", "src/*.py"), ("F2", "../out.py")]
    assert left[1] == LeftOut("F2", "src/*.py", "is a pattern: name the files")


def test_two_slices_of_one_id_are_read_as_one() -> None:
    assert planned_files(TEXT.replace("F2", "F1")).slices["F1"] == ("src/cart.py", "src/money.py", "a page.html")


def test_a_checked_plan_is_not_parsed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    from morph_tasks.plan import grammar

    def parsed(_: str) -> Any:
        raise AssertionError("the parser was asked")

    monkeypatch.setattr(grammar, "parse", parsed)
    checks = {"version": 1, "plan": {"hash": plan_hash(TEXT)}, "slices": [{"id": "F1", "files": ["x.py"]}]}
    assert planned_files(TEXT, checks).slices == {"F1": ("x.py",)}


@pytest.mark.parametrize(
    "slices", [None, [], [{"id": "F1"}], [{"id": 3, "files": ["x"]}], [{"id": "F1", "files": ["/etc/passwd"]}], ["F1"]]
)
def test_checks_of_another_plan_or_another_form_do_not_count(slices: Any) -> None:
    other = {"version": 1, "plan": {"hash": "0" * 64}, "slices": [{"id": "F9", "files": ["x.py"]}]}
    assert "F9" not in planned_files(TEXT, other).slices
    own = {"version": 1, "plan": {"hash": plan_hash(TEXT)}, "slices": slices}
    assert (planned_files(TEXT, own).slices == {}) is (slices == [])
