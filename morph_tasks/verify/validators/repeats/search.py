"""Find what a feature adds and the project has already: under the same name, or with the same body."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from morph_tasks.verify.validators.repeats.added import Added, is_asked
from morph_tasks.verify.validators.repeats.names import is_given, plain, spellings, words
from morph_tasks.verify.validators.repeats.shape import FEWEST, SHARED, SMALLEST, near, ratio
from morph_tasks.verify.validators.repeats.sources import Made, is_production

if TYPE_CHECKING:
    from morph_tasks.codegraph.index import Index, Symbol
    from morph_tasks.verify.validators.repeats.project import Project

COMMON = 2  # places with the same name: with more it is a custom of the project
_QUALIFIED = frozenset({"go", "rust"})  # say the package along with the name, so that `cart.New` is no `order.New`
_NO_BASES = frozenset({"extends", "implements", "object", "class", "where", "with", "typing", "abc", "models"})
_FEW, _ALIKE = 6, 0.15  # names in a type that tell what it is, and the share of them that two have at least
_LONG, _FEWEST, _SAME_WORD = 6, 3, 0.4  # of a function with a name of one word: its letters, what it has to share
_NAME = re.compile(r"[^\W\d]\w*")
_VERSION = re.compile(r"(?i)/v\d+(?=[/.])")
# Code that runs in different places is not shared, though it often bears the same names.
_SIDES = (frozenset({"server", "backend", "api"}), frozenset({"client", "frontend", "web", "ui", "app", "mobile"}))
_VARIANT = re.compile(
    r"(?i)(?<![a-z])(?:linux|windows|win32|win|darwin|macos|unix|posix|bsd|android|ios|native|web|browser|node|server|client|"
    r"amd64|arm64|x86|wasm|sync|async|legacy|v\d+(?:_\d+|(?:alpha|beta)\d+)?)(?![a-z])"
)


@dataclass(frozen=True)
class Repeat:
    """A new definition and those that were there, the nearest first.

    `uses` counts the files of production code that use the first; None when the graph does not know it.
    """

    new: Made
    every: tuple[Made, ...]
    name: bool
    body: bool
    uses: int | None = None

    @property
    def old(self) -> Made:
        return self.every[0]


def repeats(found: Added, project: Project, index: Index, planned: Collection[str] = ()) -> list[Repeat]:
    """Return what the feature repeats, each new definition once, by place.

    `planned`: names, as they compare, of which the plan speaks: they count however plain they are.
    """
    asked = [one for one in found.made if is_asked(one)]
    named = _by_name(asked, project, index, frozenset(planned))
    shaped = _by_shape(asked, project, frozenset(planned))
    made = (_joined(one, named.get(id(one), []), shaped.get(id(one), [])) for one in asked)
    return [_with_uses(one, index) for one in made if one is not None]


def _joined(new: Made, named: list[Made], shaped: list[Made]) -> Repeat | None:
    called = [one for one in shaped if plain(one.name) == plain(new.name)]
    every = list({(one.path, one.about.start): one for one in (*called, *shaped, *named)}.values())
    return Repeat(new, tuple(every), bool(called or every[0] in named), bool(shaped)) if every else None


# By name


def _by_name(asked: list[Made], project: Project, index: Index, planned: frozenset[str]) -> dict[int, list[Made]]:
    """Return for each new type or function the ones of its name that were there, by the identity of the new one."""
    wanted = [one for one in asked if _kind(one) and (plain(one.name) in planned or _says_something(one))]
    if not wanted:
        return {}
    known: dict[str, set[str]] = {}
    for symbol in index.names(set[str]().union(*(spellings(one.name) for one in wanted))):
        if symbol.file and not symbol.test and not symbol.external and is_production(symbol.file):
            known.setdefault(plain(symbol.name), set()).add(symbol.file)
    found: dict[int, list[Made]] = {}
    for one in wanted:
        name = plain(one.name)
        paths = sorted(known.get(name, set()) - {one.path})
        old = [other for path in paths for other in project.called(path, name) if _same_kind(one, other)]
        if len(old) > COMMON and name not in planned:
            continue
        fit = [other for other in old if not _apart(one, other) and not _is_hidden(other)]
        if name not in planned and _is_one_word(one):
            fit = fit if len(old) == 1 and _shares_words(one, old[0]) else []
        if fit and not _builds_on(one):
            found[id(one)] = fit
    return found


def _kind(one: Made) -> str | None:
    """Return what a name stands for by itself: a type or a function; None for a member of something."""
    if one.kind == "method" and one.family in ("csharp", "java") and re.search(r"\bstatic\b", one.head):
        return "function"
    if one.about.owner or (one.kind == "type" and (one.family == "ruby" or "partial " in one.head)):
        return None
    return one.kind if one.kind in ("type", "function") else None


def _same_kind(one: Made, other: Made) -> bool:
    if one.family != other.family or _kind(one) != _kind(other) or _is_interface(one) != _is_interface(other):
        return False
    if one.kind == "type" and _is_another(one, other):
        return False
    return abs(len(one.about.parameters) - len(other.about.parameters)) <= 1


def _is_another(one: Made, other: Made) -> bool:
    """Tell whether two types have no more than a name in common: a table and a form that shows it."""
    mine, its = _bases(one), _bases(other)
    if one.family != "go" and mine and its and not mine & its:
        return True
    return min(len(one.names), len(other.names)) >= _FEW and _overlap(one, other) < _ALIKE


def _is_interface(one: Made) -> bool:
    """Tell whether a type only says what others do: they often bear its name."""
    return one.kind == "type" and bool(re.search(r"\b(?:interface|trait|Protocol)\b", one.head + one.text[:200]))


def _is_hidden(other: Made) -> bool:
    """Tell whether a type is private to its file or package: one of its name elsewhere is another one."""
    if other.kind != "type":
        return False
    if other.family == "javascript":
        return not re.search(r"\bexport\b|\bdeclare\b", other.head)
    return other.family == "go" and not other.name[0].isupper()


def _bases(one: Made) -> frozenset[str]:
    """Return the names behind the name of a type: what it is made from."""
    head = one.head.partition(one.name)[2]
    return frozenset(re.findall(r"[^\W\d]\w*", re.sub(r"<[^<>]*>|\[[^][]*\]", " ", head))) - _NO_BASES


def _says_something(one: Made) -> bool:
    """Tell whether a name is chosen for what it names: of two words, or that of a type."""
    if is_given(one.name) or (one.family == "go" and one.name.lower().startswith("new")):
        return False
    if len(words(one.name)) > 1:
        return True
    return one.family not in _QUALIFIED and (one.kind == "type" or len(one.name) >= _LONG)


def _is_one_word(one: Made) -> bool:
    return one.kind != "type" and len(words(one.name)) == 1


def _shares_words(one: Made, other: Made) -> bool:
    return len(one.names & other.names) >= _FEWEST and _overlap(one, other) >= _SAME_WORD


def _overlap(one: Made, other: Made) -> float:
    """Return the share of the names in the smaller of two definitions that are in both."""
    return len(one.names & other.names) / max(min(len(one.names), len(other.names)), 1)


def _builds_on(one: Made) -> bool:
    """Tell whether a definition uses one of its own name: it extends or calls what was there."""
    named = rf"(?<![\w$]){re.escape(one.name)}(?![\w$])"
    if one.kind == "type":
        return len(re.findall(named, one.head)) > 1 or bool(re.search(rf"(?:\.|::){named}", one.text))
    own = plain(one.name)
    others = [name for name in _NAME.findall(one.text) if name != one.name and plain(name).startswith(own)]
    return bool(others) or len(re.findall(named, one.text)) > 1


def _apart(one: Made, other: Made) -> bool:
    """Tell whether two places hold variants of one thing: for another system, side or version, or a build."""
    mine, its = one.path, other.path
    if mine == its:
        return False
    if one.family == "go" and mine.rpartition("/")[0] == its.rpartition("/")[0]:
        return True
    if mine.rpartition(".")[0] == its.rpartition(".")[0] or _VERSION.sub("", mine) == _VERSION.sub("", its):
        return True
    return _VARIANT.sub("*", mine) == _VARIANT.sub("*", its) or _on_other_sides(mine, its)


def _on_other_sides(mine: str, its: str) -> bool:
    for here, there in (_SIDES, _SIDES[::-1]):
        if not here.isdisjoint(mine.split("/")[:-1]) and not there.isdisjoint(its.split("/")[:-1]):
            return here.isdisjoint(its.split("/")[:-1]) and there.isdisjoint(mine.split("/")[:-1])
    return False


# By body


def _by_shape(asked: list[Made], project: Project, planned: frozenset[str]) -> dict[int, list[Made]]:
    """Return for each new function the ones that were there with its body, by the identity of the new one."""
    wanted = [one for one in asked if _has_body(one) and (planned or not is_given(one.name))]
    found: dict[int, list[Made]] = {}
    for family in {one.family for one in wanted}:
        ours = [one for one in wanted if one.family == family]
        files = project.holding(family, frozenset[str]().union(*(one.shape.calls for one in ours)))
        for one in ours:
            fit = [
                (ratio(one.shape, other.shape), other)
                for path in files.with_most(one.shape.calls, SHARED)
                for other in project.made(path)
                if _as_long(one, other) and near(one.shape, other.shape) and _comparable(one, other, project, planned)
            ]
            if fit:
                best = sorted(fit, key=lambda pair: (-pair[0], pair[1].path, pair[1].about.start))
                found[id(one)] = [other for _, other in best]
    return found


def _has_body(one: Made) -> bool:
    """Tell whether a function is one that somebody wrote for what it does."""
    if one.kind == "type" or one.name == one.about.owner:
        return False
    return one.shape.size >= SMALLEST and len(one.shape.calls) >= FEWEST


def _as_long(one: Made, other: Made) -> bool:
    """Tell whether two functions may have one body by their lines; a line more or less is a matter of style."""
    if other.kind == "type":
        return False
    mine, its = (made.about.end - made.about.start + 1 for made in (one, other))
    return 0.5 <= (mine + 2) / (its + 2) <= 2


def _comparable(one: Made, other: Made, project: Project, planned: frozenset[str]) -> bool:
    """Tell whether one of two functions could be called instead of the other, and does not stand next to it."""
    if other.name == other.about.owner or _apart(one, other):
        return False
    if plain(other.name) not in planned and (one.path == other.path or is_given(one.name)):
        return False
    if not (one.kind == other.kind == "method"):
        return True
    if plain(one.about.owner) == plain(other.about.owner):
        return False  # then the type is what is repeated
    # Two types that answer the same calls do so by agreement.
    return not any(made.about.owner == other.about.owner for made in project.now(other.path, one.name))


def _with_uses(one: Repeat, index: Index) -> Repeat:
    from morph_tasks.codegraph.affected import affected

    symbol = next(iter(_symbols(index.in_file(one.old.path), one.old)), None)
    if symbol is None:
        return one
    sites = {hit.file for hit in affected(index, [symbol], depth=1, prod=True)}
    return replace(one, uses=len(sites - {None}))


def _symbols(symbols: Iterable[Symbol], made: Made) -> Iterator[Symbol]:
    """Yield what may be a definition in the graph, by its owner, then by the nearest line."""
    fit = [one for one in symbols if one.name == made.name and one.kind not in ("file", "namespace", "package")]
    owned = [one for one in fit if one.owner == made.about.owner]
    yield from sorted(owned or fit, key=lambda one: abs((one.line or 0) - made.line))
