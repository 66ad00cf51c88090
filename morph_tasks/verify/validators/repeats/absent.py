"""What the plan says to reuse or to extend, and neither the graph nor the text of the tree has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from morph_tasks.verify.validators.model import printable
from morph_tasks.verify.validators.repeats.names import plain, spellings

if TYPE_CHECKING:
    from morph_tasks.codegraph.index import Index
    from morph_tasks.repo.git import Repo
    from morph_tasks.verify.validators.repeats.verdicts import Target, Verdict, Verdicts

_SAYS = {"REUSE": "reuses", "EXTEND": "extends"}
_NOTHING = frozenset({"none", "nothing", "nada", "nenhum", "nenhuma", "null"})
_MOST = 40  # names that are looked for; each that the graph has not costs a process or two
_PROSE = ("*.md", "*.mdx", "*.rst", "*.txt")


def absent(repo: Repo, index: Index, plan: Verdicts) -> list[str]:
    """Return a line for each symbol that the plan reuses or extends and the project has not; raises Refusal.

    What the plan itself creates will be there.
    """
    to_come = {target.name for one in plan.items if one.verdict == "CREATE" for target in one.targets}
    has: dict[str, bool] = {}
    lines = []
    for said, target in _wanted(plan):
        names = [name for name in (target.name, target.owner) if _is_asked(name) and name not in to_come]
        for name in names:
            if name not in has and len(has) < _MOST:
                has[name] = _has(repo, index, _words(target, name))
        missing = next((name for name in names if not has.get(name, True)), None)
        if missing is not None:
            of = printable(target.said)
            line = f"the plan {_SAYS[said.verdict]} {of} ({said.slice}), which the project does not have"
            lines.append(line + _near(index, _words(target, missing)))
    return list(dict.fromkeys(lines))


def _wanted(plan: Verdicts) -> Iterator[tuple[Verdict, Target]]:
    for one in plan.items:
        if one.verdict in _SAYS:
            for target in one.targets:
                yield one, target


def _is_asked(name: str) -> bool:
    return len(name) > 2 and name not in _NOTHING


def _words(target: Target, name: str) -> str:
    """Return a part of the target as the plan spells it."""
    steps = target.said.replace("::", ".").replace("#", ".").split(".")
    return next((step for step in reversed(steps) if plain(step) == name), name)


def _has(repo: Repo, index: Index, word: str) -> bool:
    """Tell whether the graph has a name, in whatever style, or the text of the tree, or a path in it."""
    names = sorted({word.lower(), *spellings(word)})
    if index.where("n.name IN ({})", names):
        return True
    light = repo.lightly()
    patterns = [part for name in names for part in ("-e", name)]
    outside = [f":(top,exclude){folder}" for folder in (".morph", "graphify-out")]
    prose = [f":(top,exclude,glob)**/{kind}" for kind in _PROSE]
    options = ("-q", "-i", "-w", "-I", "-F", "--untracked")
    if light.run("grep", *options, *patterns, "--", ":/", *outside, *prose, ok=(0, 1)).code == 0:
        return True
    paths = [f":(top,icase,glob)**/{name}{rest}" for name in names for rest in (".*", "/**")]
    listed = light.git("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *paths, *outside, *prose)
    return bool(listed)


def _near(index: Index, word: str) -> str:
    """Return words on the symbol that is spelled nearly so; none when there is none."""
    from morph_tasks.codegraph.ask import place, shown
    from morph_tasks.codegraph.ask_near import similar

    found = next((one for one in similar(index, word, word) if not one.test and not one.external), None)
    return f"; {printable(shown(found))} is near ({printable(place(found.file, found.line))})" if found else ""
