"""What the plan of a feature says about existing code: the items `reuse` of its slices."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from morph_tasks.codegraph.spans import language_of
from morph_tasks.errors import Refusal
from morph_tasks.plan.words import VERDICTS
from morph_tasks.verify.validators.repeats.names import plain
from morph_tasks.verify.validators.repeats.sources import Made

_SAYS = re.compile("|".join(word for every in VERDICTS.values() for word in every), re.I)
_NAME = r"[^\W\d]\w*"
_DOTTED = re.compile(rf"{_NAME}(?:(?:\.|::|#){_NAME})*")
_PATH = re.compile(r"(?:[\w.@-]+/)*[\w.@-]+\.[A-Za-z]\w{0,3}(?![\w/(.])|(?:[\w.@-]+/)+[\w.@-]*")
_PARTS = re.compile(r"[,;]|\s(?:and|e|&|\+)\s|[()\[\]*]+|(?<!:):(?!:)")
_COMPOUND = re.compile(r"[a-z0-9][A-Z]|[A-Za-z0-9]_[A-Za-z0-9]|\.|::|#|[A-Z][a-z]+[A-Z]")


@dataclass(frozen=True)
class Target:
    """A symbol that a verdict is about; the name and the owner as they compare, what the plan leaves out is empty.

    `said`: the symbol as the plan spells it.
    """

    name: str
    owner: str = ""
    path: str = ""
    said: str = field(default="", compare=False)

    def is_about(self, made: Made) -> bool:
        """Tell whether it is this definition; `owner.name` may also be a function of the module `owner`."""
        module = made.path.rpartition("/")[2].partition(".")[0]
        owners = ("", plain(made.about.owner), plain(module))
        return plain(made.name) == self.name and self.owner in owners and self._lies_in(made.path)

    def holds(self, made: Made) -> bool:
        """Tell whether it is the type that a definition is a member of."""
        owner = made.about.owner
        return bool(owner) and not self.owner and plain(owner) == self.name and self._lies_in(made.path)

    def _lies_in(self, path: str) -> bool:
        return not self.path or f"/{path}".endswith(f"/{self.path}")


@dataclass(frozen=True)
class Verdict:
    """One item of the plan. `why` tells whether it gives a reason."""

    verdict: str
    symbol: str
    why: bool
    slice: str

    @cached_property
    def targets(self) -> tuple[Target, ...]:
        return tuple(_targets(self.symbol))


@dataclass(frozen=True)
class Verdicts:
    """The verdicts of a plan; `unknown` says why they cannot be told. A feature without a plan has none."""

    items: tuple[Verdict, ...] = ()
    unknown: str | None = None

    @cached_property
    def names(self) -> frozenset[str]:
        """Return every name that the plan speaks of, as it compares."""
        return frozenset(target.name for one in self.items for target in one.targets)

    def created(self, new: Made) -> Verdict | None:
        """Return what decides that a definition, or its type, is made anew; the one with a reason of several."""
        found = [
            one
            for one in self.items
            if one.verdict == "CREATE" and any(target.is_about(new) or target.holds(new) for target in one.targets)
        ]
        return next((one for one in found if one.why), found[0] if found else None)

    def kept(self, every: Sequence[Made]) -> tuple[Verdict, Made] | None:
        """Return what decides that one of several definitions is to be reused or extended, and which."""
        for one in self.items:
            for old in every if one.verdict in ("REUSE", "EXTEND") else ():
                if any(target.is_about(old) for target in one.targets):
                    return one, old
        return None

    def as_json(self) -> list[list[object]] | str:
        """Return what decides, as JSON values."""
        return self.unknown or [[one.verdict, one.symbol, one.why] for one in self.items]


def read_verdicts(root: Path, feature: str | None) -> Verdicts:
    """Return the verdicts in the plan of a feature. Never raises for what is on disk."""
    if feature is None:
        return Verdicts()
    from morph_tasks.plan.service import read_plan

    try:
        text = read_plan(root, feature)
        if not _SAYS.search(text):  # the Markdown parser need not be loaded
            return Verdicts()
        from morph_tasks.plan.grammar import parse

        plan = parse(text)
    except Refusal as refusal:
        return Verdicts() if refusal.code in ("plan-missing", "feature-not-found") else Verdicts((), refusal.what)
    except OSError as error:
        return Verdicts((), f"the plan cannot be read: {error.strerror}")
    items = [(one, where.id) for where in plan.slices for one in where.reuse]
    return Verdicts(tuple(Verdict(one.verdict, one.symbol, bool(one.why), id) for one, id in items if one.verdict))


def _targets(symbol: str) -> Sequence[Target]:
    """Return the symbols that a text names: a list of names, or what looks like a name in a sentence."""
    text = symbol.replace("`", " ")
    path = next((one for one in _PATH.findall(text) if "/" in one or language_of(one)), "")
    found = []
    for part in _PARTS.split(text.replace(path, " ") if path else text):
        said = _DOTTED.findall(part)
        if len(said) > 1:
            said = [one for one in said if _COMPOUND.search(one)]
        for one in said:
            *before, name = re.split(r"\.|::|#", one)
            found.append(Target(plain(name), plain(before[-1]) if before else "", path.lstrip("./"), one))
    return found
