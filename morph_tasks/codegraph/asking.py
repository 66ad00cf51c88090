"""One question about a symbol, from the tree it is asked in to the answer."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from morph_tasks.codegraph.affected import CONTAINS, reach
from morph_tasks.codegraph.answer import Answer, Asked
from morph_tasks.codegraph.ask import resolve
from morph_tasks.codegraph.dotnet_tests import left_out
from morph_tasks.codegraph.freshness import of_tree

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Any

    from morph_tasks.codegraph.affected import Reach
    from morph_tasks.codegraph.diff import Changed
    from morph_tasks.codegraph.index import Index, Symbol
    from morph_tasks.codegraph.mentions import Mentions
    from morph_tasks.codegraph.not_compared import NotCompared
    from morph_tasks.repo.git import Repo

# Comparing with the text costs a run of git and the reading of the files that are named; of a symbol that so many
# depend on nobody reads the lines beside them.
FEW = 100


class Tree(NamedTuple):
    """The places of one work tree. A `Repo` knows them as well, and its import costs as much as a question."""

    root: str
    git_dir: str
    common_dir: str

    @classmethod
    def of(cls, repo: Repo) -> Tree:
        """Return the places of a repository that is open."""
        return cls(os.fspath(repo.root), os.fspath(repo.git_dir), os.fspath(repo.common_dir))

    def repo(self) -> Repo:
        """Return the tree for what needs git."""
        from pathlib import Path

        from morph_tasks.repo.git import Repo

        return Repo(Path(self.root), Path(self.git_dir), Path(self.common_dir))


def about_symbol(tree: Tree, index: Index, text: str, asked: Asked) -> Answer:
    """Return what depends on the symbol that a text names; raises Refusal as `resolve` does."""
    return about(tree, index, [resolve(index, text)], asked)


def about_change(repo: Repo, index: Index, base: str | None, asked: Asked) -> Answer:
    """Return what depends on what a change touches; raises Refusal as `changed_symbols` does."""
    from morph_tasks.codegraph.diff import changed_symbols

    changed = changed_symbols(repo, index, base, prod=asked.prod)
    return about(Tree.of(repo), index, changed.symbols, asked, changed)


def about(tree: Tree, index: Index, seeds: Sequence[Symbol], asked: Asked, changed: Changed | None = None) -> Answer:
    """Return what depends on any of some symbols, and where the text names them as well."""
    alone = changed.alone if changed else frozenset[int]()
    found = reach(index, seeds, depth=asked.depth, prod=asked.prod, uses_only=asked.uses_only, alone=alone)
    if any(hit.line is None for hit in found.hits):
        from morph_tasks.codegraph.import_lines import with_lines

        found.hits = with_lines(tree.root, found.hits, found.targets.get)
    undecided = undecided_uses(index, seeds, found.members)
    mentioned = _mentions(tree, index, seeds, asked, found, alone)
    said = {one.file for one in seeds} | {hit.file for hit in found.hits} | {hit.symbol.file for hit in found.hits}
    named = [path for path in said if path]
    fresh = of_tree(*tree, stamp=lambda: index.built_at, named=named, full=changed is not None)
    untested = left_out(tree.root, tree.common_dir, seeds)
    return Answer(seeds, asked, found, fresh, mentioned, undecided, changed, untested)


def _mentions(
    tree: Tree, index: Index, seeds: Sequence[Symbol], asked: Asked, found: Reach, alone: Collection[int]
) -> Mentions | NotCompared | None:
    """Compare with the text; beside very many consumers only for the symbols without one, unless it is asked for."""
    used = {hit.through for hit in found.hits if hit.depth == 1}
    used |= {edge.target for hit in found.hits if hit.depth == 1 for edge in hit.more}
    all_of_them = asked.mentions or len(found.hits) <= FEW
    compared = seeds if all_of_them else [one for one in seeds if one.id not in used]
    skipped = 0 if len(compared) == len(seeds) else len(found.hits)
    if not seeds:
        return None
    if not compared:
        from morph_tasks.codegraph.not_compared import NotCompared

        return NotCompared(skipped)
    from morph_tasks.codegraph.mentions import mentions

    return mentions(
        tree.repo(),
        index,
        compared,
        alone=alone,
        used=used,
        also=found.stones,
        prod=asked.prod,
        every=asked.mentions,
        skipped=skipped,
    )


def undecided_uses(index: Index, seeds: Sequence[Symbol], members: Sequence[int]) -> list[dict[str, Any]]:
    """Return the references that may mean a seed and may mean another symbol of its name."""
    found = index.undecided([*(one.id for one in seeds), *members])
    if not found:
        return []
    from morph_tasks.codegraph.answer import edge_json
    from morph_tasks.codegraph.ask import symbol_json

    known = index.symbols({edge.source for edge, _ in found} | {one for _, options in found for one in options})
    return [
        {
            **symbol_json(known[edge.source]),
            **edge_json(edge),
            "options": [{"id": known[one].key, "path": known[one].file} for one in options if one in known],
        }
        for edge, options in found
        if edge.source in known and edge.relation not in CONTAINS
    ]
