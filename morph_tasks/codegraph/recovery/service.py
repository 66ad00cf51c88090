"""Find the consumers that the graph lost, and write them beside it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from morph_tasks.codegraph import layout
from morph_tasks.codegraph.recovered import encode
from morph_tasks.codegraph.recovery import languages, nodes, sources
from morph_tasks.codegraph.recovery.judge import Judged
from morph_tasks.codegraph.recovery.record import Edges


@dataclass(frozen=True, slots=True)
class Recovered:
    """How many files were read, how many edges were found beside graphify's, which files could not be read, sorted."""

    files: int
    edges: int
    failed: tuple[str, ...]


def recover(root: Path) -> Recovered:
    """Read the files that a graph was made from, and write the uses that it lacks; raises OSError and Refusal."""
    with _without_collector():
        return _recover(root)


@contextmanager
def _without_collector() -> Iterator[None]:
    """Keep the garbage collector out: millions of small tuples live until the end, and it would look at each again."""
    import gc

    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _recover(root: Path) -> Recovered:
    known = nodes.read(layout.graph_file(root))
    watched = {path: {link.line for link in links} for path, links in known.inferred.items()}
    facts, failed = sources.read(root, known.files, watched)
    found: dict[tuple[str, str], tuple[str, str, int]] = {}
    judged, built = Judged(), set[tuple[str, str]]()
    for program, extra in languages.programs(root, facts):
        edges = Edges(program, known, found, built)
        judged.all_of(edges)
        for one in program.files.values():
            try:
                edges.uses(one)
            except RecursionError:
                failed.append(one.path)
        if extra is not None:
            extra(edges)
    judged.rest(known.inferred.values())
    write(root, found, judged, built)
    return Recovered(len(facts), len(found), tuple(sorted({*failed})))


def write(
    root: Path,
    found: dict[tuple[str, str], tuple[str, str, int]],
    judged: Judged,
    built: set[tuple[str, str]],
) -> None:
    """Write the edges that were found and what was judged, whole or not at all."""
    from morph_tasks.repo.files import write_atomic

    edges = [(source, target, *how) for (source, target), how in sorted(found.items())]
    body = encode(edges, sorted(judged.refuted), sorted(judged.guessed), sorted(built))
    write_atomic(layout.recovered_file(root), body)
