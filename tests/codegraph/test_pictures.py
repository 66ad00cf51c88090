"""Pictures of answers: what is drawn, where it stands, and what must not get into a page or a flowchart."""

import base64
import hashlib
import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morph_tasks.codegraph.condensing import condensed
from morph_tasks.codegraph.drawing import CARD, ROW, arranged
from morph_tasks.codegraph.mermaid import flowchart
from morph_tasks.codegraph.page import MARK, page, write_page
from morph_tasks.codegraph.picture import Arrow, Box, Picture
from morph_tasks.errors import Refusal

NASTY = 'a"]; click n0 "x"<script>alert(1)</script>&amp;%%{init}\n\x1b[31m`#quot;ü{}'


def picture(many: int = 3, *, name: str = "f{}()", path: str = "src/m{}.py") -> Picture:
    boxes = [Box(0, "Cart", "type", "src/cart.py", 1, 0, False, False)]
    boxes += [
        Box(
            at,
            name.replace("{}", str(at)),
            "function",
            path.replace("{}", str(at // 3)),
            at,
            1 + at % 2,
            at % 5 == 0,
            False,
        )
        for at in range(1, many + 1)
    ]
    arrows = [Arrow(box.id, 0, "calls", "direct", f"{box.path}:{box.line}") for box in boxes[1:]]
    return Picture(
        "What depends on Cart", ("said",), {0: "asked for", 1: "directly", 2: "far"}, tuple(boxes), tuple(arrows)
    )


class Seen(HTMLParser):
    """What a browser would load, run, or draw."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_a_page_loads_nothing_and_runs_its_own_script_alone() -> None:
    text = page(picture(40), ["in words"])
    seen = Seen(text)
    assert not [attrs for _, attrs in seen.tags if {"src", "href", "srcset", "action", "onclick"} & attrs.keys()]
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|@import|url\((?!#)", text)
    policy = next(attrs["content"] for tag, attrs in seen.tags if attrs.get("http-equiv"))
    scripts = re.findall(r"<script>(.*?)</script>", text, re.S)
    digest = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
    assert len(scripts) == 1
    assert policy == f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"


def test_every_box_and_arrow_is_on_the_page_once() -> None:
    drawn = picture(40)
    seen = Seen(page(drawn, []))
    rows = [attrs["id"] for _, attrs in seen.tags if str(attrs.get("class", "")).startswith("row")]
    assert sorted(rows) == sorted(f"n{box.id}" for box in drawn.boxes)
    ends = [(attrs["data-a"], attrs["data-b"]) for _, attrs in seen.tags if attrs.get("class") == "arrow"]
    assert sorted(ends) == sorted((f"n{one.source}", f"n{one.target}") for one in drawn.arrows)
    assert "calls at src/m0.py:1" in {attrs.get("data-said") for _, attrs in seen.tags}


@pytest.mark.parametrize("where", ["name", "path"])
def test_names_and_paths_are_text_on_a_page(where: str) -> None:
    plain, nasty = Seen(page(picture(3), [])), Seen(page(picture(3, **{where: NASTY}), [NASTY]))
    assert [tag for tag, _ in plain.tags] == [tag for tag, _ in nasty.tags]
    assert "\x1b" not in page(picture(3, **{where: NASTY}), [NASTY])


def test_the_same_answer_is_the_same_page() -> None:
    assert page(picture(30), ["x"]) == page(picture(30), ["x"])


def test_names_and_paths_are_text_in_a_flowchart() -> None:
    text = flowchart(picture(3, name=NASTY, path=NASTY))
    for line in text.splitlines():
        assert line.count('"') in (0, 2), line
        assert "\x1b" not in line and "`" not in line
        if '"' in line:
            inside = line[line.index('"') + 1 : line.rindex('"')]
            assert not re.search(r"[<>{}\[\];]", re.sub(r"#\d+;", "", inside)), line
    assert "ü" in text


def test_a_flowchart_has_a_group_for_each_file_and_an_arrow_for_each_edge() -> None:
    text = flowchart(picture(4))
    assert text.startswith("flowchart RL\n")
    assert (
        text.count("subgraph ") == text.count("\n  end\n") == 5
    )  # m0 and m1 at both distances, and the file of the seed
    assert len(re.findall(r'n\d+ -->\|"calls"\| n0', text)) == 4
    assert "class n0 asked" in text


def test_a_large_picture_is_drawn_by_files_and_then_by_folders() -> None:
    drawn = picture(400)
    files = condensed(drawn, 350)
    assert (files.level, sum(box.many for box in files.boxes)) == ("files", 401)
    assert sum(arrow.many for arrow in files.arrows) == 400
    folders = condensed(drawn, 20)
    assert folders.level == "folders"
    assert len(folders.boxes) <= 20
    text = flowchart(drawn)
    assert "%% drawn by " in text
    assert len(text) < 50_000  # what renderers take
    assert condensed(drawn, 500) is drawn


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 320), st.integers(1, 5))
def test_nothing_stands_on_anything_else_and_every_arrow_has_ends(many: int, depth: int) -> None:
    drawn = picture(many)
    boxes = tuple(box._replace(band=box.band and 1 + box.id % depth) for box in drawn.boxes)
    drawn = drawn._replace(boxes=boxes, bands=dict.fromkeys(range(depth + 1), "band"))
    found = arranged(drawn)
    cards = [(card.x, card.y, card.x + CARD, card.y + card.height) for card in found.cards]
    for at, (left, top, right, bottom) in enumerate(cards):
        assert left >= 0 and top >= 0 and right <= found.width and bottom <= found.height
        for other in cards[at + 1 :]:
            assert right <= other[0] or other[2] <= left or bottom <= other[1] or other[3] <= top
    assert found.rows.keys() == {box.id for box in boxes}
    places = sorted(found.rows.values())
    assert all(a[0] != b[0] or b[1] - a[1] >= ROW for a, b in pairwise(places))


def test_a_picture_of_three_hundred_fits_a_few_screens() -> None:
    found = arranged(picture(300))
    assert found.height < 2000
    assert found.width < 5000


class Drawn:
    """An answer to be drawn."""

    def as_json(self) -> dict[str, object]:
        return {}

    def lines(self) -> list[str]:
        return ["words"]

    def picture(self) -> Picture:
        return picture()


def test_a_page_replaces_nothing_but_a_page_of_its_own(tmp_path: Path) -> None:
    target = tmp_path / "out.html"
    write_page(target, Drawn())
    write_page(target, Drawn())
    assert MARK in target.read_text("utf-8")
    target.write_text("mine")
    with pytest.raises(Refusal) as caught:
        write_page(target, Drawn())
    assert caught.value.code == "not-a-graph-page"
    assert target.read_text() == "mine"
    write_page(target, Drawn(), force=True)
    assert MARK in target.read_text("utf-8")
    with pytest.raises(Refusal) as caught:
        write_page(tmp_path / "none/out.html", Drawn())
    assert caught.value.code == "write-failed"


def test_a_long_name_is_cut_in_the_middle_of_a_card() -> None:
    text = page(picture(1, name="AbstractRepositoryOfEverything{}.find_all_by_customer_name()"), [])
    assert "AbstractRepositor…y_customer_name()</text>" in text
