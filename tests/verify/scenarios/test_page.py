from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morph_tasks.errors import Refusal
from morph_tasks.verify.scenarios.carriers import Carrier
from morph_tasks.verify.scenarios.page import MARK, check_target, page, write_page
from morph_tasks.verify.scenarios.trace import Row, Stray, Trace
from morph_tasks.verify.scenarios.wording import lines

NASTY = [
    "<script>alert(1)</script>", "\" onload='x' &amp; </td>", "two\nlines\r\n\ttabs",
    "größe 数 👩‍👩‍👧", "\x1b[31mred\x00\x7f",
    "\u202egnp.exe \u2028 \u200b", "\udce4 not UTF-8", "]]> <!-- --> </style>",
]  # fmt: skip
_VOID = {"meta", "br", "col"}


class Outline(HTMLParser):
    """Checks that tags are balanced, and gathers them with their text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text.append(data)


def _carrier(name: str = "test_a", **more: Any) -> Carrier:
    values = {"file": f"tests/{name}.py", "line": 3, "nodes": ("tests/py",), "found": "source", **more}
    return Carrier(name, values.pop("file"), values.pop("line"), ("C1",), **values)


def _trace(*tests: Carrier, **more: Any) -> Trace:
    gap = None if tests else "no test carries it"
    row = Row("C1", "The sum", "test", 5, ("F1",), tests, "gap" if gap else "covered", gap)
    return Trace("cart", (row,), **{"commit": "a" * 40, "dirty": False, "plan_hash": "b" * 64, **more})


def _outline(text: str) -> Outline:
    found = Outline()
    found.feed(text)
    found.close()
    assert found.open == []
    return found


@pytest.mark.parametrize("name", NASTY)
def test_whatever_a_test_is_called_it_is_text(name: str) -> None:
    stray = Stray("C9", _carrier(name, skipped=name), name, name)
    test = _carrier(name, skipped=name, nodes=(name,), cases=2)
    text = page(
        _trace(test, _carrier(name, nodes=(), unrun=name), unknown=(stray,), ambiguous=(stray,), problems=(name,))
    )
    text.encode("utf-8")
    tags = {tag for tag, _ in _outline(text).seen}
    assert not tags & {"script", "img", "link", "iframe", "object", "form", "base"}
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u200b\u2028\u202e]", text)
    for line in lines(_trace(test, unknown=(stray,))):
        assert not re.search(r"[\x00-\x1f\x7f\u202e\u2028]", line)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=40), st.text(max_size=40))
def test_any_text_is_kept_apart_from_markup(name: str, why: str) -> None:
    found = _outline(page(_trace(_carrier(name), unknown=(Stray("C9", _carrier(name), why),))))
    plain = _outline(page(_trace(_carrier("x"), unknown=(Stray("C9", _carrier("x"), "y"),))))
    assert [tag for tag, _ in found.seen] == [tag for tag, _ in plain.seen]


def test_it_needs_nothing_else_and_names_what_it_is_made_from() -> None:
    found = _outline(text := page(_trace(_carrier(), dirty=True)))
    assert not any(
        {"src", "href"} & set(attrs) and not str(attrs.get("href", "")).startswith("#") for _, attrs in found.seen
    )
    assert "url(" not in text and "@import" not in text and "http" not in text.replace("http-equiv", "")
    said = " ".join(found.text)
    assert "Trace of cart" in said and "a" * 12 in said and "b" * 12 in said and "not committed" in said
    assert "prefers-color-scheme" in text and page(_trace(_carrier(), dirty=True)) == text


def test_the_table_can_be_read_without_eyes() -> None:
    tests = [_carrier(f"test_{number}") for number in range(300)]
    seen = _outline(page(_trace(*tests))).seen
    heads = [attrs for tag, attrs in seen if tag == "th"]
    assert all(attrs.get("scope") for attrs in heads)
    assert [attrs["colspan"] for attrs in heads if attrs["scope"] == "rowgroup"] == ["4"]
    assert sum(tag == "tr" for tag, _ in seen) == 302
    assert ("html", {"lang": "en"}) in seen and any(tag == "caption" for tag, _ in seen)


def test_what_is_missing_stands_first_and_leads_to_its_row() -> None:
    found = _outline(page(_trace()))
    assert ("a", {"href": "#C1"}) in found.seen
    assert any(attrs.get("id") == "C1" for _, attrs in found.seen)
    assert "no test carries it" in " ".join(found.text)


def test_it_replaces_only_its_own_pages(tmp_path: Path) -> None:
    target = tmp_path / "trace.html"
    write_page(target, _trace())
    write_page(target, _trace(_carrier()))
    assert MARK in target.read_text() and "test_a" in target.read_text()
    target.write_text("<html>mine</html>")
    with pytest.raises(Refusal) as refused:
        write_page(target, _trace())
    assert refused.value.code == "not-a-trace-page" and target.read_text() == "<html>mine</html>"
    write_page(target, _trace(), force=True)
    assert MARK in target.read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["trace.html"]


def test_places_that_hold_no_file(tmp_path: Path) -> None:
    (tmp_path / "dead").symlink_to(tmp_path / "nowhere")
    for place in (tmp_path, tmp_path / "missing" / "t.html", tmp_path / "dead"):
        with pytest.raises(Refusal):
            check_target(place, force=True)
