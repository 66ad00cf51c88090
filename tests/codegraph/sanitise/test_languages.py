"""The same name in two languages: a reference stays in its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from morph_tasks.codegraph.index import open_index
from tests.codegraph.rawgraphs import Raw, answers, every


@pytest.fixture
def two() -> Raw:
    """`Cart` in Python and in TypeScript, and a page in TypeScript."""
    made = Raw()
    for path in ("py/cart.py", "ts/cart.ts", "ts/page.ts"):
        made.file(path)
    made.type("py", "Cart", "py/cart.py")
    made.type("ts", "Cart", "ts/cart.ts")
    made.node("page", "page()", "ts/page.ts", 3)
    made.link("file:ts/page.ts", "imports_from", "file:ts/cart.ts", "ts/page.ts", 1)
    return made


def used(root: Path) -> set[tuple[str | None, str]]:
    """Return what the page uses: files, and how that is known."""
    with open_index(root) as index:
        known = every(index)
        return {(known[e.target].file, e.via) for e in index.out_of([f.id for f in index.find("page")])}


def test_a_stub_lands_in_the_language_of_the_file(two: Raw, tmp_path: Path) -> None:
    two.link("page", "calls", two.stub("stub", "Cart"), "ts/page.ts")
    two.write(tmp_path)
    assert used(tmp_path) == {("ts/cart.ts", "language-disambiguated")}


def test_a_link_that_landed_in_another_language_is_brought_back(two: Raw, tmp_path: Path) -> None:
    two.link("page", "references", "py", "ts/page.ts")
    two.write(tmp_path)
    assert used(tmp_path) == {("ts/cart.ts", "language-disambiguated")}
    with open_index(tmp_path) as index:
        python = next(found for found in index.find("Cart") if found.file == "py/cart.py")
        assert index.into([python.id]) == []


def test_a_link_to_another_language_that_has_no_counterpart_is_left_out(two: Raw, tmp_path: Path) -> None:
    two.nodes = [node for node in two.nodes if node["id"] != "ts"]
    two.link("page", "calls", "py", "ts/page.ts")
    two.write(tmp_path)
    assert used(tmp_path) == set()
    with open_index(tmp_path) as index:
        assert index.counts()["links"] == 2  # of graphify's own, all are still counted


def test_a_stub_without_a_definition_in_its_language_is_external(two: Raw, tmp_path: Path) -> None:
    two.nodes = [node for node in two.nodes if node["id"] != "ts"]
    two.link("page", "calls", two.stub("stub", "Cart"), "ts/page.ts")
    two.write(tmp_path)
    assert used(tmp_path) == {(None, "direct")}
    with open_index(tmp_path) as index:
        assert [found.file for found in index.find("Cart")] == ["py/cart.py"]


@pytest.mark.parametrize(
    ("path", "other"), [("a.tsx", "b.js"), ("a.kt", "b.java"), ("a.swift", "b.m"), ("a.razor", "b.cs")]
)
def test_languages_that_name_each_other_are_one(path: str, other: str, tmp_path: Path) -> None:
    made = Raw()
    made.type("one", "One", path)
    made.type("two", "Two", other)
    made.link("one", "references", "two", path)
    made.write(tmp_path)
    assert answers(tmp_path) == {"One references Two (direct)"}


def test_files_that_are_no_code_and_whole_files_are_let_be(tmp_path: Path) -> None:
    made = Raw()
    made.file("page.html")
    made.file("native.rs")
    made.file("app.py")
    made.type("app", "App", "app.py")
    made.link("file:page.html", "references", "app", "page.html")
    made.link("file:app.py", "imports_from", "file:native.rs", "app.py")
    made.write(tmp_path)
    found = {"page.html references App (direct)", "app.py imports_from native.rs (direct)"}
    assert answers(tmp_path) == found
