"""Find the types and functions that were there under the name of a new one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from morph_tasks.verify.validators.repeats.apart import apart
from morph_tasks.verify.validators.repeats.names import is_given, plain, spellings, words
from morph_tasks.verify.validators.repeats.sources import Made, family_of, is_production

if TYPE_CHECKING:
    from morph_tasks.codegraph.index import Index
    from morph_tasks.verify.validators.repeats.project import Project

COMMON = 2  # places with the same name: with more it is a custom of the project
_QUALIFIED = frozenset({"go", "rust"})  # say the package along with the name, so that `cart.New` is no `order.New`
_NO_BASES = frozenset({"extends", "implements", "object", "class", "where", "with", "typing", "abc", "models"})
_FEW, _ALIKE = 6, 0.15  # names in a type that tell what it is, and the share of them that two have at least
_LONG, _FEWEST, _SAME_WORD = 6, 3, 0.4  # of a function with a name of one word: its letters, what it has to share
_NAME = re.compile(r"[^\W\d]\w*")


def by_name(asked: list[Made], project: Project, index: Index, planned: frozenset[str]) -> dict[int, list[Made]]:
    """Return for each new type or function the ones of its name that were there, by the identity of the new one."""
    wanted = [one for one in asked if _kind(one) and (plain(one.name) in planned or _says_something(one))]
    if not wanted:
        return {}
    known: dict[str, set[str]] = {}
    for symbol in index.names(set[str]().union(*(spellings(one.name) for one in wanted))):
        if symbol.file and not symbol.test and not symbol.external and is_production(symbol.file):
            known.setdefault(plain(symbol.name), set()).add(symbol.file)
    _add_later(wanted, project, index, known)
    found: dict[int, list[Made]] = {}
    for one in wanted:
        name = plain(one.name)
        paths = sorted(known.get(name, set()) - {one.path})
        old = [other for path in paths for other in project.called(path, name) if _same_kind(one, other)]
        if len(old) > COMMON and name not in planned:
            continue
        fit = [other for other in old if not apart(one, other) and not _is_hidden(other)]
        if name not in planned and _is_one_word(one):
            fit = fit if len(old) == 1 and _shares_words(one, old[0]) else []
        if fit and not _builds_on(one):
            found[id(one)] = fit
    return found


def _add_later(wanted: list[Made], project: Project, index: Index, known: dict[str, set[str]]) -> None:
    """Add the files of the base that are younger than the graph and say a name; what they define is read from them."""
    graphed = {row[0] for row in index.rows("SELECT path FROM path")}
    for path in project.beyond(graphed, index.built_at):
        for one in wanted:
            if family_of(path) == one.family and project.says(path, spellings(one.name)):
                known.setdefault(plain(one.name), set()).add(path)


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
