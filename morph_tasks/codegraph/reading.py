"""The graph that a comparison of plans asks: that of the main tree, else of this one, if there is one."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.repo.trees import primary_root, same_place

if TYPE_CHECKING:
    from morph_tasks.codegraph.index import Index
    from morph_tasks.repo.git import Repo


@dataclass(frozen=True)
class Graph:
    """Which graph was asked. Without one, `code` and `reason` say why; `missing`: files in the tree, not in the graph.

    `state`: fresh, stale, unknown, or what hinders, such as no-graph, with the reason in words.
    """

    known: bool
    state: str
    reason: str = ""
    root: Path | None = None
    built_at: str | None = None
    missing: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    fix: str = ""

    def as_json(self) -> dict[str, Any]:
        return {
            "known": self.known,
            "state": self.state,
            "reason": self.reason or None,
            "tree": str(self.root) if self.root else None,
            "builtAt": self.built_at,
            "filesNotInGraph": list(self.missing) if self.known else None,
        }

    def without(self, unknown: Collection[str]) -> Graph:
        """Return the same with the files that are there and of which the graph knows nothing."""
        root = self.root
        return replace(self, missing=tuple(path for path in unknown if root and (root / path).is_file()))


@contextmanager
def graph_of(repo: Repo) -> Iterator[tuple[Index | None, Graph]]:
    """Open the graph of a repository; None with the reason when there is none that can be read."""
    from morph_tasks.codegraph.index import open_index

    main = primary_root(repo)
    roots = [main] if same_place(main, repo.root) else [main, repo.root]
    refused: list[Refusal] = []
    with ExitStack() as held:
        for root in roots:
            try:
                index = held.enter_context(open_index(root))
            except Refusal as refusal:
                refused.append(refusal)
                continue
            yield index, _described(repo, root, index)
            return
        yield None, Graph(False, refused[0].code, refused[0].what, fix=refused[0].fix)


def _described(repo: Repo, root: Path, index: Index) -> Graph:
    from morph_tasks.codegraph.freshness import freshness
    from morph_tasks.repo.git import open_repo

    warnings = tuple(index.warnings)
    try:
        said = freshness(repo if same_place(root, repo.root) else open_repo(root).lightly())
    except Refusal as refusal:
        return Graph(True, "unknown", refusal.what, root, index.built_at, warnings=warnings)
    reason = "" if said.state == "fresh" else said.detail
    return Graph(True, said.state, reason, root, said.built_at or index.built_at, warnings=warnings)
