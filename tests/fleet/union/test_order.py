"""The order of merges: what others stand on first, then few conflicts, then small ones; never by chance."""

from __future__ import annotations

import random
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from morph_tasks.fleet.union.order import suggest

NAMES = ["auth", "cart", "docs", "pay", "tax"]
PAIRS = list(combinations(NAMES, 2))


@given(
    st.dictionaries(st.sampled_from(NAMES), st.integers(0, 30)),
    st.sets(st.sampled_from(PAIRS)),
    st.sets(st.sampled_from(PAIRS)),
    st.randoms(use_true_random=False),
)
def test_every_order_keeps_the_rules(
    sizes: dict[str, int], conflicts: set[tuple[str, str]], stacked: set[tuple[str, str]], chance: random.Random
) -> None:
    below = {name: frozenset(one for one, other in stacked if other == name) for name in NAMES}
    found = [one.feature for one in suggest(sizes, conflicts, below)]
    assert sorted(found) == sorted(sizes)
    for one, other in stacked:
        if one in sizes and other in sizes:
            assert found.index(one) < found.index(other)
    shuffled = list(sizes.items())
    chance.shuffle(shuffled)
    assert [one.feature for one in suggest(dict(shuffled), list(conflicts)[::-1], below)] == found


def test_few_conflicts_come_first_then_few_paths_then_the_name() -> None:
    sizes = {"big": 9, "small": 2, "also-small": 2, "rival-a": 1, "rival-b": 1, "both": 1}
    conflicts = [("both", "rival-a"), ("both", "rival-b")]
    found = suggest(sizes, conflicts, {})
    assert [one.feature for one in found] == ["also-small", "small", "big", "rival-a", "rival-b", "both"]
    assert found[-1].why == "conflicts with rival-a, rival-b, 1 path"
    assert found[0].why == "no conflict, 2 paths"


def test_what_a_branch_holds_comes_before_it_whatever_its_conflicts() -> None:
    found = suggest({"base": 9, "top": 1, "other": 1}, [("base", "other")], {"top": frozenset({"base", "elsewhere"})})
    assert [one.feature for one in found] == ["other", "base", "top"]
    assert found[-1].why == "no conflict, 1 path; after base: its branch holds that work"
