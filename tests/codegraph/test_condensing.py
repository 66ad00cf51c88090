"""Pictures with too many symbols: what stands for them, and what is left out at last."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from morph_tasks.codegraph.condensing import squeezed
from morph_tasks.codegraph.mermaid import flowchart
from morph_tasks.codegraph.picture import Arrow, Box, Picture, middle


def wide(many: int, *, depth: int = 3, folders: int = 300, path: str = "src/a{}/b{}/m{}.py") -> Picture:
    """A picture of many symbols in many folders, each of them at several distances, each using many."""
    boxes = [Box(0, "Cart", "type", "src/cart.py", 1, 0, False, False)]
    for at in range(1, many + 1):
        where = path.format(at % 7, at % folders, at)
        boxes.append(Box(at, f"f{at}()", "function", where, at, 1 + at % depth, at % 5 == 0, False))
    arrows = [Arrow(at, back, "calls", "direct", "x:1") for at in range(1, many + 1) for back in {0, at // 2, at // 3}]
    return Picture("What depends on Cart", ("said",), {}, tuple(boxes), tuple(arrows))


def test_a_folder_stands_for_itself_at_all_distances_once_there_are_too_many() -> None:
    found = squeezed(wide(900, folders=20), 150, 400)
    assert found.level == "folders"
    names = [(box.path, box.test, box.band > 0) for box in found.boxes]
    assert len(set(names)) == len(names) <= 150
    assert not [one for one in found.arrows if one.source == one.target]
    assert sum(box.many for box in found.boxes) == 901


def test_the_largest_folders_stay_and_the_others_go_together() -> None:
    drawn = wide(3000)
    many = tuple(Box(5000 + at, f"g{at}()", "function", f"big/b/x{at}.py", at, 1, False, False) for at in range(50))
    found = squeezed(drawn._replace(boxes=(*drawn.boxes, *many)), 60, 400)
    sizes = {(box.path, box.test): box.many for box in found.boxes if box.band}
    assert sizes["big/b", False] == 50
    assert {("src/…", False), ("src/…", True)} < sizes.keys()
    assert sum(box.many for box in found.boxes) == 3051


def test_at_last_what_stands_for_the_fewest_is_left_out_and_that_is_said() -> None:
    found = squeezed(wide(500, path="p{2}/x.py"), 30, 20)
    assert (len(found.boxes), len(found.arrows) <= 20) == (30, True)
    assert found.boxes[0].name == "src"
    assert re.fullmatch(r"left out: \d+ boxes and \d+ arrows, .*", found.said[-1])
    ids = {box.id for box in found.boxes}
    assert all({one.source, one.target} <= ids for one in found.arrows)


def test_what_fits_is_drawn_as_it_is() -> None:
    small = wide(40)
    assert squeezed(small, 150, 400) is small


@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 2500), st.integers(1, 400), st.sampled_from(["src/a{}/b{}/m{}.py", "{2}.py", "ü'\"{2}" * 30 + "/x"])
)
def test_a_flowchart_is_never_more_than_what_a_pull_request_draws(many: int, folders: int, path: str) -> None:
    text = flowchart(wide(many, folders=folders, path=path))
    assert len(text) <= 50_000
    assert text.count(" -->|") <= 500


def test_what_cannot_be_drawn_stands_in_the_flowchart_as_remarks() -> None:
    drawn = wide(3)._replace(remarks=("not matched with the graph: 1", "", "  a.md: not in the graph"))
    text = flowchart(drawn)
    assert "  %% not matched with the graph: 1\n  %% a.md: not in the graph\n" in text
    many = flowchart(drawn._replace(remarks=tuple(f"line {number}" for number in range(500))))
    assert "%% … and 440 more lines" in many


def test_a_long_name_keeps_both_ends() -> None:
    assert middle("short", 5) == "short"
    assert middle("AbstractBaseRepository.find_all_by_name", 20) == "AbstractB…ll_by_name"
    assert all(len(middle("x" * size, 9)) <= 9 for size in range(30))
