from __future__ import annotations

from pathlib import Path

import pytest

from morph_tasks.plan.outline import outline
from morph_tasks.plan.record import RECORD, AdrIndex, conflicts, read_index

INDEX = AdrIndex(("a--b--ADR-007", "cart--ADR-003", "shop--ADR-003"))


def rows(text: str) -> list[tuple[str, str | None, str]]:
    return [(row.adr, row.change, row.problem) for row in conflicts(outline(text.split("\n")))]


def table(*lines: str, head: str = "| ADR | Change | Scope |") -> str:
    return "\n".join([head, "|---|---|---|", *lines])


@pytest.mark.parametrize(
    ("text", "full"),
    [
        ("ADR-007", "a--b--ADR-007"),
        ("ADR-7", "a--b--ADR-007"),
        ("a--b--ADR-007", "a--b--ADR-007"),
        ("shop--ADR-003", "shop--ADR-003"),
        ("ADR-003", None),
        ("other--ADR-003", None),
        ("b--ADR-007", None),
        ("ADR-008", None),
        ("adr-007", None),
        ("7", None),
        ("ADR-" + "9" * 5000, None),
    ],
)
def test_an_id_means_one_decision_of_the_record(text: str, full: str | None) -> None:
    found, why = INDEX.resolve(text)
    assert found == full
    assert bool(why) is (full is None)


def test_an_ambiguous_id_names_the_choice() -> None:
    assert "`cart--ADR-003` or `shop--ADR-003`" in INDEX.resolve("ADR-003")[1]


def test_the_index_is_the_names_of_the_files(tmp_path: Path) -> None:
    assert read_index(tmp_path) == AdrIndex()
    folder = tmp_path / RECORD
    folder.mkdir(parents=True)
    for name in ("shop--ADR-001.md", "a--b--ADR-002.md", "README.md", "ADR-003.md", "x--ADR-004.txt", "x--ADR-5a.md"):
        (folder / name).write_text("x")
    assert read_index(tmp_path).ids == ("a--b--ADR-002", "shop--ADR-001")


def test_a_record_that_is_no_folder_is_empty(tmp_path: Path) -> None:
    (tmp_path / ".morph/specs").mkdir(parents=True)
    (tmp_path / RECORD).write_text("x")
    assert read_index(tmp_path) == AdrIndex()


def test_rows_of_both_languages_in_any_order_of_columns() -> None:
    assert rows(table("| ADR-007 | total | |", "| `ADR-1` | Partial | admin |")) == [
        ("ADR-007", "total", ""),
        ("ADR-1", "partial", ""),
    ]
    text = "| Mudança | Escopo | ADR |\n|--|--|--|\n| PARCIAL | só admin | [ADR-7](x.md) |"
    assert rows(text) == [("ADR-7", "partial", "")]
    assert rows("| adr | mudanca |\n|--|--|\n| ADR-7 | total |") == [("ADR-7", "total", "")]


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("| ADR-007 | gone | |", "`total` or `partial`"),
        ("| ADR-007 | | |", "`total` or `partial`"),
        ("| ADR-007 |", "`total` or `partial`"),
        ("| ADR-007 | partial | |", "scope that remains"),
        ("| ADR-007 | partial | — |", "scope that remains"),
        ("| | total | |", "names no decision"),
    ],
)
def test_rows_that_cannot_be_applied(row: str, why: str) -> None:
    ((_, _, problem),) = rows(table(row))
    assert why in problem


def test_a_dash_is_no_scope() -> None:
    (row,) = conflicts(outline(table("| ADR-1 | total | — |").split("\n")))
    assert row.scope == ""


def test_a_row_of_nothing_is_no_row() -> None:
    assert rows(table("| none | | |", "| | | |", "| — | | |")) == []


@pytest.mark.parametrize(
    "text", [table("| ADR-1 | total | |", head="| ID | Change | Scope |"), "| ADR | Change |\n|---|\n| ADR-1 | total |"]
)
def test_a_table_that_is_none_is_said(text: str) -> None:
    ((_, _, problem),) = rows(text)
    assert problem


@pytest.mark.parametrize(
    "text", ["> " + table("| ADR-1 | x |").replace("\n", "\n> "), "none", "ADR-001 stays as it is"]
)
def test_text_is_no_row(text: str) -> None:
    assert rows(text) == []
