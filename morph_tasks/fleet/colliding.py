"""The open plans against each other: which of them will fight over a file, or over what a file depends on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.codegraph.collisions import SAME, Collision, Files, collisions, pairs
from morph_tasks.errors import Refusal
from morph_tasks.fleet.openplans import OpenPlan, compared, not_compared, open_plans
from morph_tasks.repo.trees import primary_root

if TYPE_CHECKING:
    from morph_tasks.codegraph.reading import Graph
    from morph_tasks.repo.git import Repo


@dataclass(frozen=True)
class Comparison:
    """What was compared and what collides. `graph`: None where there was nothing to ask it.

    `problem`: why the other plans could not be listed; then nothing was compared.
    """

    plans: tuple[OpenPlan, ...]
    found: tuple[Collision, ...]
    graph: Graph | None
    problem: str = ""

    @property
    def dependents_known(self) -> bool:
        return not self.problem and (self.graph is None or self.graph.known)

    def counts(self) -> dict[str, Any]:
        """Return how many collisions there are of each kind; None for those that nobody could look for."""
        by_distance = [sum(1 for one in self.found if one.distance == distance) for distance in (0, 1, 2)]
        known = {"direct": by_distance[1], "transitive": by_distance[2]}
        same = None if self.problem else by_distance[0]
        return {"sameFile": same, "dependents": known if self.dependents_known else None}

    def as_json(self) -> dict[str, Any]:
        """Return the keys that `fleet --collisions` and `plan-check` have in common."""
        return {
            "collisions": [one.as_json() for one in self.found],
            **self.counts(),
            "graph": self.graph.as_json() if self.graph else None,
            "notCompared": not_compared(self.plans)
            + ([{"feature": None, "slice": None, "path": None, "reason": self.problem}] if self.problem else []),
        }


_CREATE = "morph-spec create <feature> --description … --type …"


def fleet_collisions(repo: Repo) -> Comparison:
    """Compare the plans of all features in work, two by two; raises Refusal `no-open-plans`, ProcError."""
    plans = open_plans(repo)
    if not compared(plans):
        why = "; ".join(f"{one.feature}: {one.problem}" for one in plans[:5])
        raise Refusal(
            "no-open-plans",
            f"there is no plan to compare{f' ({why})' if why else ': no feature is in work'}",
            fix=f"morph-spec plan-check {plans[0].feature}"
            if plans
            else "morph-spec create <feature> --description … --type …",
            notCompared=not_compared(plans),
        )
    return compare(repo, plans)


def compare(repo: Repo, plans: Sequence[OpenPlan], *, own: str = "") -> Comparison:
    """Compare plans, or with `own` that feature's plan with each of the others."""
    by_feature: dict[str, Files] = {name: files.files for name, files in compared(plans).items()}
    if len(by_feature) < 2:
        return Comparison(tuple(plans), (), None)
    whole = _with_folders(repo, by_feature)
    links, graph = _links(repo, {path for files in whole.values() for path in files})
    found = collisions(by_feature, links, own=own, whole=whole)
    return Comparison(tuple(plans), tuple(found), graph)


def _links(repo: Repo, files: set[str]) -> tuple[Any, Graph]:
    from morph_tasks.codegraph.reach import links
    from morph_tasks.codegraph.reading import graph_of

    with graph_of(repo) as (index, graph):
        if index is None:
            return [], graph
        found, unknown = links(index, files)
        return found, graph.without(unknown)


def _with_folders(repo: Repo, plans: Mapping[str, Files]) -> dict[str, Files]:
    """Return the plans with the files in those folders that they name; a folder is named without a slash."""
    root = primary_root(repo)
    folders = sorted({path for files in plans.values() for path in files if (root / path).is_dir()})
    if not folders:
        return dict(plans)
    inside = _listed(repo, root, folders)
    return {name: _opened(files, inside) for name, files in plans.items()}


def _listed(repo: Repo, root: Path, folders: Sequence[str]) -> dict[str, list[str]]:
    import os

    from morph_tasks.repo.git import open_repo

    said = open_repo(root).lightly().git("--literal-pathspecs", "ls-files", "-z", "--", *folders)
    paths = [os.fsdecode(path) for path in said.split(b"\0") if path]
    return {folder: [path for path in paths if path.startswith(f"{folder}/")] for folder in folders}


def _opened(files: Files, inside: Mapping[str, Sequence[str]]) -> Files:
    found = dict(files)
    for path, slices in files.items():
        for below in inside.get(path, ()):
            found[below] = tuple(dict.fromkeys((*found.get(below, ()), *slices)))
    return found


def as_json(found: Comparison) -> dict[str, Any]:
    """Return the document that `fleet --collisions --json` prints."""
    return {
        "ok": True,
        "plans": [one.as_json() for one in found.plans],
        "pairs": [list(pair) for pair in pairs(found.found)],
        **found.as_json(),
    }


def lines(found: Comparison) -> list[str]:
    """Return what `fleet --collisions` prints: the verdict, the collisions, the worst first, what is not known."""
    read = compared(found.plans)
    many = pairs(found.found)
    named = f"{len(read)} open plan{'' if len(read) == 1 else 's'}"
    said = [f"{named}, {len(many)} pair{'' if len(many) == 1 else 's'} collide{'s' if len(many) == 1 else ''}"]
    said += [f"  {line}" for one in found.found for line in told(one)]
    return said + unknowns(found)


def told(one: Collision) -> list[str]:
    """Return a collision in words, one symbol of its path a line."""
    first, second = (f"{side.feature} {','.join(side.slices)}" for side in (one.one, one.other))
    if one.kind == SAME:
        other = f" and {one.other.file}" if one.other.file != one.one.file else ""
        return [f"same-file   {first} × {second}: {one.one.file}{other}"]
    word = "direct    " if one.distance == 1 else "transitive"
    more = f" (and {one.more} more way{'' if one.more == 1 else 's'})" if one.more else ""
    head = f"{word}  {first} → {second}: {one.one.file} → {one.other.file}{more}"
    return [head, *(f"    {line}" for line in path_lines(one))]


def path_lines(one: Collision, before: str = "  ") -> list[str]:
    """Return the path of a collision: who uses what, and where, with `before` before the citation."""
    return [f"{step.symbol} {step.relation} {step.uses}{before}{step.at or 'no known line'}" for step in one.path[1:]]


def unknowns(found: Comparison) -> list[str]:
    """Return what a comparison could not look at."""
    said = []
    graph = found.graph
    if graph is not None and not graph.known:
        said.append(f"dependents not verified: {graph.reason}{f' ({graph.fix})' if graph.fix else ''}")
    elif graph is not None and graph.state != "fresh":
        said.append(f"the graph is {graph.state}: {graph.reason} (morph-spec graph refresh)")
    said += graph.warnings if graph is not None else ()
    if graph is not None and graph.missing:
        some = ", ".join(graph.missing[:5]) + (" …" if len(graph.missing) > 5 else "")
        said.append(f"not in the graph, so nothing is known of their dependents: {some}")
    whole: dict[str, list[str]] = {}
    for row in found.as_json()["notCompared"]:
        if row["path"] is None:
            whole.setdefault(row["reason"], []).append(row["feature"] or "other plans")
    said += [f"not compared  {', '.join(names)}: {reason}" for reason, names in whole.items()]
    parts = ((one.feature, left) for one in found.plans if one.files for left in one.files.left_out)
    return said + [f"not compared  {name} {left.slice_id} {left.path}: {left.reason}" for name, left in parts]
