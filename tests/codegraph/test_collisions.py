from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from morph_tasks.codegraph.collisions import DEPENDENT, SAME, Collision, Files, collisions, pairs
from morph_tasks.codegraph.reach import Link, Step


def link(changed: str, consumer: str, middle: str | None = None) -> Link:
    path = [Step("f()", changed, 1)]
    path += [Step("m()", middle, 2, "calls", "f()", middle, 3)] if middle else []
    path.append(Step("g()", consumer, 4, "calls", path[-1].symbol, consumer, 5))
    return Link(changed, consumer, 2 if middle else 1, tuple(path))


def brief(found: list[Collision]) -> list[tuple[str, int, str, str]]:
    return [
        (one.kind, one.distance, f"{one.one.feature} {one.one.file}", f"{one.other.feature} {one.other.file}")
        for one in found
    ]


CART: Files = {"cart.py": ("F2",), "money.py": ("F1", "F2")}


def test_the_worst_first_with_the_slices_of_both() -> None:
    plans = {"tea": {"page.py": ("F1",), "money.py": ("F3",), "far.py": ("F1",)}, "cart": CART}
    found = collisions(plans, [link("cart.py", "far.py", "mid.py"), link("cart.py", "page.py")])
    assert brief(found) == [
        (SAME, 0, "cart money.py", "tea money.py"),
        (DEPENDENT, 1, "cart cart.py", "tea page.py"),
        (DEPENDENT, 2, "cart cart.py", "tea far.py"),
    ]
    assert (found[0].one.slices, found[0].other.slices) == (("F1", "F2"), ("F3",))
    assert pairs(found) == [("cart", "tea")]
    assert found[1].as_json()["path"][1]["at"] == "page.py:5"


def test_a_plan_does_not_collide_with_itself() -> None:
    assert collisions({"cart": {"a.py": ("F1",), "b.py": ("F2",)}}, [link("a.py", "b.py")]) == []


def test_names_that_some_systems_keep_in_one_file() -> None:
    found = collisions({"a": {"Src/Größe.py": ("F1",)}, "b": {"src/gro\u0308ße.py": ("F1",)}}, [])
    assert [one.kind for one in found] == [SAME]
    assert (found[0].one.file, found[0].other.file) == ("Src/Größe.py", "src/gro\u0308ße.py")


def test_a_folder_is_all_that_lies_below() -> None:
    plans: dict[str, Files] = {"a": {"src": ("F1",)}, "b": {"src/x/y.py": ("F2",)}, "c": {"src2/x.py": ("F1",)}}
    assert brief(collisions(plans, [])) == [(SAME, 0, "a src", "b src/x/y.py")]
    whole = {**plans, "a": {**plans["a"], "src/m.py": ("F1",)}}
    found = collisions(plans, [link("src/m.py", "src2/x.py")], whole=whole)
    assert brief(found)[1:] == [(DEPENDENT, 1, "a src/m.py", "c src2/x.py")]


def test_what_both_change_is_told_once() -> None:
    plans: dict[str, Files] = {"a": {"x.py": ("F1",)}, "b": {"x.py": ("F1",), "y.py": ("F1",)}}
    assert brief(collisions(plans, [link("x.py", "y.py")])) == [(SAME, 0, "a x.py", "b x.py")]


def test_a_way_over_a_file_of_one_of_them_is_told_by_its_shorter_half() -> None:
    plans: dict[str, Files] = {"a": {"x.py": ("F1",), "m.py": ("F1",)}, "b": {"y.py": ("F1",)}}
    found = collisions(plans, [link("m.py", "y.py"), link("x.py", "y.py", "m.py")])
    assert brief(found) == [(DEPENDENT, 1, "a m.py", "b y.py")]
    third: dict[str, Files] = {"a": {"x.py": ("F1",)}, "b": {"y.py": ("F1",)}, "c": {"m.py": ("F1",)}}
    assert brief(collisions(third, [link("x.py", "y.py", "m.py")])) == [(DEPENDENT, 2, "a x.py", "b y.py")]


def test_only_what_one_feature_has_part_in() -> None:
    plans: dict[str, Files] = {name: {"x.py": ("F1",), f"{name}.py": ("F1",)} for name in "abc"}
    found = collisions(plans, [link("a.py", "b.py"), link("b.py", "c.py")], own="a")
    assert [(one.one.feature, one.other.feature) for one in found] == [("a", "b"), ("a", "c"), ("a", "b")]
    mine, other = found[2].sides("a")
    assert (mine.feature, other.feature) == ("a", "b") and found[2].sides("b")[0].file == "b.py"


_plans = st.dictionaries(
    st.sampled_from("abcd"),
    st.dictionaries(st.sampled_from(["x", "y", "z", "d/x", "d"]), st.just(("F1",)), max_size=4),
    max_size=4,
)


@given(plans=_plans)
def test_every_pair_that_shares_a_file_is_found_once(plans: dict[str, Files]) -> None:
    wanted = set()
    for one, other in combinations(sorted(plans), 2):
        for mine in plans[one]:
            for theirs in plans[other]:
                if mine == theirs or mine.startswith(f"{theirs}/") or theirs.startswith(f"{mine}/"):
                    wanted.add((one, mine, other, theirs))
    found = collisions(plans, [])
    assert len(found) == len(wanted)
    assert {(one.one.feature, one.one.file, one.other.feature, one.other.file) for one in found} == wanted
