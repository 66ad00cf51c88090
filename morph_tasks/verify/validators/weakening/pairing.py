"""Which test of the base a test of now is: by name, then by what it does. What is left of the base is gone."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field

from morph_tasks.verify.testcode.model import Assertion, SourceTest
from morph_tasks.verify.testcode.sitter import squash, words

_ALIKE = 0.6
_RELATED = 0.3  # for two tests of the same name in different places
_LITERAL = re.compile(r"\"[^\"]*\"|'[^']*'|\b\d+(?:\.\d+)?\b")


@dataclass(frozen=True)
class Placed:
    """A test and its file."""

    file: str
    test: SourceTest

    @property
    def last(self) -> str:
        """Return the test's own name, without its suites."""
        return last_name(self.test.name)


@dataclass
class Pairs:
    """The tests of the base with what they are now, those that are gone, and those that are new."""

    kept: list[tuple[Placed, Placed]] = field(default_factory=list)
    gone: list[Placed] = field(default_factory=list)
    new: list[Placed] = field(default_factory=list)


def last_name(name: str) -> str:
    """Return a test's own name, without its suites."""
    return re.split(r" > |::|/", name)[-1]


def pair(base: Sequence[Placed], now: Sequence[Placed]) -> Pairs:
    """Pair the tests of two trees. A test that became part of another one is neither kept nor gone."""
    pairs = Pairs()
    olds, news = list(base), list(now)
    for key in _KEYS:
        olds, news = _by(key, olds, news, pairs)
    olds, news = _alike(olds, news, pairs)
    changed = [
        after for before, after in pairs.kept if before.test.body != after.test.body or _more_rows(before, after)
    ]
    hosts = [*news, *changed]
    pairs.gone = [old for old in olds if not any(_absorbed(old.test, host.test) for host in _near(old, hosts))]
    pairs.new = news
    return pairs


def _same_place(one: Placed) -> Hashable:
    return one.file, one.test.name


def _same_body_and_name(one: Placed) -> Hashable:
    return (one.last, one.test.body) if one.test.body else None


def _same_file_and_body(one: Placed) -> Hashable:
    return (one.file, one.test.body) if one.test.body else None


def _same_body(one: Placed) -> Hashable:
    return one.test.body or None


# From the surest to the least sure.
_KEYS: tuple[Callable[[Placed], Hashable], ...] = (_same_place, _same_body_and_name, _same_file_and_body, _same_body)


def _by(
    key: Callable[[Placed], Hashable], olds: list[Placed], news: list[Placed], pairs: Pairs
) -> tuple[list[Placed], list[Placed]]:
    waiting: dict[Hashable, list[int]] = defaultdict(list)
    for at, new in enumerate(news):
        waiting[key(new)].append(at)
    taken, left = set(), []
    for old in olds:
        name = key(old)
        places = waiting.get(name) if name is not None else None
        if places:
            at = places.pop(0)
            taken.add(at)
            pairs.kept.append((old, news[at]))
        else:
            left.append(old)
    return left, [new for at, new in enumerate(news) if at not in taken]


def _alike(olds: list[Placed], news: list[Placed], pairs: Pairs) -> tuple[list[Placed], list[Placed]]:
    """Pair what shares most of its statements, or its name and some of them."""
    index: dict[str, set[int]] = defaultdict(set)
    for at, new in enumerate(news):
        for statement in new.test.body:
            index[statement].add(at)
        index[f"name:{new.last}"].add(at)
    scores = []
    for number, old in enumerate(olds):
        near = set().union(*(index.get(part, set()) for part in (*old.test.body, f"name:{old.last}")))
        for at in near:
            score = _likeness(old.test, news[at].test)
            same = old.last == news[at].last
            near_by = old.file == news[at].file or old.test.name == news[at].test.name
            if score >= _ALIKE or (same and (score >= _RELATED or near_by)):
                scores.append((score + same + (old.file == news[at].file) / 10, number, at))
    taken_old: set[int] = set()
    taken_new: set[int] = set()
    for _, number, at in sorted(scores, key=lambda one: (-one[0], one[1], one[2])):
        if number not in taken_old and at not in taken_new:
            taken_old.add(number)
            taken_new.add(at)
            pairs.kept.append((olds[number], news[at]))
    return (
        [old for number, old in enumerate(olds) if number not in taken_old],
        [new for at, new in enumerate(news) if at not in taken_new],
    )


def _likeness(old: SourceTest, new: SourceTest) -> float:
    """Return how much of two bodies is the same, from 0 to 1."""
    mine, theirs = set(old.body), set(new.body)
    if not mine or not theirs:
        return 0.0
    return 2 * len(mine & theirs) / (len(mine) + len(theirs))


def _more_rows(before: Placed, after: Placed) -> bool:
    return len(after.test.cases) > len(before.test.cases)


def _near(old: Placed, hosts: Sequence[Placed]) -> list[Placed]:
    return [host for host in hosts if old.test.assertions and host.test.assertions]


def _absorbed(old: SourceTest, host: SourceTest) -> bool:
    """Tell whether all that a test asserts is asserted by another one, as it stands or by a row of parameters."""
    if host.skipped and not old.skipped:
        return False
    theirs = {squash(one.text) for one in host.assertions}
    left = [one for one in old.assertions if squash(one.text) not in theirs]
    if not left:
        return True
    if len(host.cases) < 2:
        return False
    said = " ".join(host.cases)
    return all(_by_rows(one, host, said) for one in left)


def _by_rows(one: Assertion, host: SourceTest, rows: str) -> bool:
    """Tell whether an assertion is one row of an assertion with parameters: its literals stand in the rows."""
    literals = {squash(literal).strip('"') for literal in _LITERAL.findall(one.text)}
    names = words(_LITERAL.sub("", one.text))
    for theirs in host.assertions:
        if theirs.strength < one.strength or theirs.form != one.form:
            continue
        kept = names & words(theirs.text)
        missing = {literal for literal in literals if literal not in rows and literal not in theirs.text}
        if not missing and (len(kept) * 2 >= len(names) or bool(literals)):
            return True
    return False
