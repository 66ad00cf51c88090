"""Who is guilty: with a true answer for every set of features, the smallest red set is found, in few questions."""

from __future__ import annotations

from math import ceil, log2

from hypothesis import given
from hypothesis import strategies as st

from morph_tasks.fleet.union.guilty import UndecidedError, blame

NAMES = [f"f{number:02}" for number in range(12)]
SETS = st.sets(st.frozensets(st.sampled_from(NAMES), min_size=1, max_size=4), min_size=1, max_size=3)


class Asked:
    """Answers for sets, and counts what it was asked, each set once."""

    def __init__(self, causes: set[frozenset[str]]) -> None:
        self.causes = causes
        self.questions: set[frozenset[str]] = set()

    def __call__(self, features: frozenset[str]) -> bool:
        self.questions.add(features)
        return any(cause <= features for cause in self.causes)


@given(SETS, st.permutations(NAMES))
def test_a_cause_is_named_and_nothing_beside_it(causes: set[frozenset[str]], order: list[str]) -> None:
    red = Asked(causes)
    found = blame(order, red)
    smallest = {one for one in causes if not any(other < one for other in causes)}
    assert found.decided
    assert frozenset(found.guilty) in smallest
    assert list(found.guilty) == [name for name in order if name in found.guilty]


@given(st.frozensets(st.sampled_from(NAMES), min_size=1, max_size=3), st.permutations(NAMES))
def test_it_takes_few_questions(cause: frozenset[str], order: list[str]) -> None:
    red = Asked({cause})
    blame(order, red)
    assert len(red.questions) <= 1 + len(cause) * (ceil(log2(len(order))) + 2)


@given(st.frozensets(st.frozensets(st.sampled_from(NAMES[:5]))), st.permutations(NAMES[:5]))
def test_whatever_the_answers_a_named_set_is_red_and_none_of_its_members_can_go(
    reds: frozenset[frozenset[str]], order: list[str]
) -> None:
    def red(features: frozenset[str]) -> bool:
        return features in reds or features == frozenset(order)

    found = blame(order, red)
    named = frozenset(found.guilty)
    if found.decided and named:
        assert red(named)
        assert not any(red(named - {name}) for name in named)


def test_a_red_default_branch_is_nobodys_fault() -> None:
    found = blame(["a", "b"], lambda _: True)
    assert (found.guilty, found.decided) == ((), True)


def test_doubt_is_passed_on() -> None:
    def red(features: frozenset[str]) -> bool:
        if len(features) == 1:
            raise UndecidedError("unit is flaky")
        return len(features) > 1

    found = blame(["a", "b", "c"], red)
    assert (found.guilty, found.decided, found.why) == ((), False, "unit is flaky")
