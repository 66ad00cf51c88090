"""What two versions of one test assert: what is gone, and what lets more through."""

from __future__ import annotations

import builtins
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from morph_tasks.verify.testcode.model import NOTHING, PARTIAL, RUNS, UNKNOWN, Assertion
from morph_tasks.verify.testcode.sitter import squash, words

# Words that say how something is asserted, not what.
_HOW = frozenset({
    "assert", "expect", "self", "Assert", "t", "to", "be", "not", "is", "in", "and", "or", "should", "Should",
    "require",
    "assertThat", "await", "toBe", "toEqual", "toStrictEqual", "toBeTruthy", "toBeDefined", "None", "null", "nil",
    "undefined", "if", "it", "Is", "that", "eq", "lambda", "pytest", "approx", "raises", "match", "resolves", "rejects",
    "have", "deep", "equal", "this", "new", "err", "assert_eq", "expect_that",
})  # fmt: skip
_CAUGHT = re.compile(r"caught|thrown|threw|raised|exception", re.I)
_DEFAULT_TOLERANCE = 1e-6
_MOST = 400  # pairs that are worth a look


@dataclass(frozen=True)
class Loss:
    """One assertion that is gone (`now` None) or looser: `why` says what changed when the text does not."""

    kind: str
    old: Assertion
    now: Assertion | None
    why: str = ""
    sure: bool = True


def losses(
    olds: Sequence[Assertion],
    news: Sequence[Assertion],
    moved: Sequence[Assertion] = (),
    said: frozenset[str] = frozenset(),
    hidden: Sequence[Assertion] = (),
) -> Iterator[Loss]:
    """Yield what is lost from `olds` to `news`.

    `moved` are the assertions of helpers that the test calls now and did not before: their names differ, so their form
    counts. `said` holds the words of the whole new test: a name that is nowhere any more was renamed.
    `hidden` are the assertions of helpers that the test does not call any more.
    """
    pairs, left, free = _exact(olds, news)
    yield from (loss for old, new in pairs if (loss := _looser(old, new)))
    pairs, left, free = _similar(left, free, said)
    yield from (loss for old, new in pairs if (loss := _looser(old, new)))
    helpers = [*moved, *(free if hidden else ())]
    left += _exact(hidden, news)[1]
    for old in left:
        if old.strength == NOTHING:
            continue
        taken = next((one for one in helpers if one.strength >= old.strength and _alike_form(old, one)), None)
        if taken is not None:
            helpers.remove(taken)
        elif not any(_covers(one, old) for one in news):
            unknown = next((one for one in free if one.strength == UNKNOWN), None)
            if unknown is not None:
                yield Loss(
                    "assertion-removed",
                    old,
                    None,
                    f"`{unknown.form}` was added, and what it asserts is not known",
                    False,
                )
            else:
                yield Loss("assertion-removed", old, None)


def _alike_form(old: Assertion, new: Assertion) -> bool:
    return old.form == new.form or bool(_about(old) & _about(new)) or new.strength > old.strength


Matched = tuple[list[tuple[Assertion, Assertion]], list[Assertion], list[Assertion]]


def _exact(olds: Sequence[Assertion], news: Sequence[Assertion]) -> Matched:
    waiting: dict[str, list[Assertion]] = {}
    for new in news:
        waiting.setdefault(squash(new.text), []).append(new)
    pairs, left = [], []
    for old in olds:
        same = waiting.get(squash(old.text))
        if same:
            same.sort(key=lambda one: one.guard != old.guard)
            pairs.append((old, same.pop(0)))
        else:
            left.append(old)
    free = [new for new in news if any(new is one for rest in waiting.values() for one in rest)]
    return pairs, left, free


def _similar(olds: list[Assertion], news: list[Assertion], said: frozenset[str]) -> Matched:
    scores: list[tuple[float, int, int]] = []
    for number, old in enumerate(olds):
        for at, new in enumerate(news):
            if len(scores) > _MOST * 10:
                break
            score = _score(old, new, said)
            if score > 0:
                scores.append((score, number, at))
    taken_old: dict[int, int] = {}
    taken_new: set[int] = set()
    for _, number, at in sorted(scores, key=lambda one: (-one[0], abs(one[1] - one[2]), one[1])):
        if number not in taken_old and at not in taken_new:
            taken_old[number] = at
            taken_new.add(at)
    pairs = [(olds[number], news[at]) for number, at in sorted(taken_old.items())]
    return (
        pairs,
        [old for number, old in enumerate(olds) if number not in taken_old],
        [new for at, new in enumerate(news) if at not in taken_new],
    )


def _score(old: Assertion, new: Assertion, said: frozenset[str]) -> float:
    """Return how much two assertions are about the same thing; 0: not at all."""
    if old.subject and squash(old.subject) == squash(new.subject):
        return 3.0 + (old.form == new.form)
    mine, theirs = _about(old), _about(new)
    shared = mine & theirs
    if shared:
        # A literal such as 1 says little about what is meant.
        named = sum(1.0 if not word[0].isdigit() else 0.4 for word in shared)
        return named / max(min(len(mine), len(theirs)), 1) + (old.form == new.form) * 0.5
    if not mine and not theirs and old.form == new.form:
        return 0.5
    if old.error is not None and new.error is not None:
        return 0.5
    names = {word for word in mine if not word[0].isdigit()}
    if names and not names & said and old.form == new.form and old.strength <= new.strength:
        return 0.2  # every name in it is gone from the test: they were renamed
    return 0.0


def _about(one: Assertion) -> frozenset[str]:
    return words(one.text) - _HOW - {one.form, f"assert_{one.form}"}


def _looser(old: Assertion, new: Assertion) -> Loss | None:
    if UNKNOWN in (old.strength, new.strength) and old.strength != new.strength and not new.guard:
        if new.strength == UNKNOWN and old.strength > PARTIAL:
            why = f"what `{new.form}` asserts is not known"
            return Loss("assertion-loosened", old, new, why, False)
        return Loss("assertion-loosened", old, new) if new.strength < PARTIAL else None
    if new.strength < old.strength:
        return Loss("assertion-loosened", old, new)
    if new.guard and not old.guard:
        how = (
            "decides whether it runs" if new.guard.startswith(("if", "match")) else "keeps its failure from being seen"
        )
        return Loss("assertion-loosened", old, new, f"`{new.guard}` {how}")
    if new.strength == old.strength:
        before = _DEFAULT_TOLERANCE if old.tolerance is None else old.tolerance
        if new.tolerance is not None and new.tolerance > before * 1.0001:
            return Loss("assertion-loosened", old, new)
        if old.error and new.error and _wider(old.error, new.error):
            return Loss("assertion-loosened", old, new)
    return None


def _wider(old: str, new: str) -> bool:
    """Tell whether a type of error lets more through: one more type, or a built-in one above."""
    before, after = (set(re.findall(r"[\w.]+", one)) for one in (old, new))
    if before < after:
        return True
    mine, theirs = (getattr(builtins, one, None) for one in (old, new))
    return isinstance(mine, type) and isinstance(theirs, type) and mine is not theirs and issubclass(mine, theirs)


def _covers(new: Assertion, old: Assertion) -> bool:
    """Tell whether an assertion says all that another one said, and at least as strictly."""
    if new.guard and not old.guard:
        return False
    if new.error is not None and _CAUGHT.search(old.text):
        return True  # a flag set by a handler became an assertion of its own
    if new.strength < old.strength:
        return False
    mine = _about(old)
    if not mine:
        return old.strength <= RUNS
    mine_counted, theirs = Counter(mine), words(new.text)
    return all(word in theirs for word in mine_counted)
