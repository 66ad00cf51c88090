"""Joins the changes of a feature with the tests of its scenarios: what reaches each, and what nothing explains."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from morph_tasks.errors import Refusal
from morph_tasks.verify.probe import ask
from morph_tasks.verify.reach.changes import Change, Hunk, changes
from morph_tasks.verify.reach.contexts import Contexts, Named
from morph_tasks.verify.reach.data import Bits, ranged
from morph_tasks.verify.reach.digest import Digest, content_of, read_digest
from morph_tasks.verify.reach.kinds import kind_of
from morph_tasks.verify.reach.model import Answer, RanTest, Reached, Unexplained
from morph_tasks.verify.reach.pieces import Piece, Source, read_source
from morph_tasks.verify.reach.suites import Suites, family_of

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo
    from morph_tasks.verify.judge import Outcome
    from morph_tasks.verify.reach.graph import Graph
    from morph_tasks.verify.run import Run
    from morph_tasks.verify.scenarios.proof import Matrix

_HEAD = 4096
_MOST_NAMED = 3
_PARTIAL = "only a whole verify can tell: this one left nodes out ({})"
_NEITHER = "neither coverage contexts nor a code graph say what a test reaches; run `morph-spec graph build`"


@dataclass(frozen=True)
class _Verdict:
    """What a piece came to: `by` with the tests of scenarios that reach it, or `why` none does."""

    by: str = ""
    tests: tuple[RanTest, ...] = ()
    why: str = ""
    others: tuple[str, ...] = ()
    by_file: bool = False


def explain_changes(run: Run, found: Matrix, outcomes: Sequence[Outcome]) -> Answer:
    """Return what is known of the changes of a feature by a finished run, or by the evidence that stands."""
    if not found.known:
        return Answer(reason="the plan cannot be read, so nobody knows its scenarios")
    if not found.scenarios:
        return Answer.without_scenarios()
    partial = run.request.not_persisted()
    if partial not in (None, "skip-build", "no-persist"):
        return Answer(reason=_PARTIAL.format(partial))
    for one in outcomes:
        if one.node.family in ("tests", "e2e") and one.reason in ("inputs-changed", "no-evidence"):
            return Answer.unmeasured(one.node.ref, run.feature)
    try:
        changed = _changed(run.repo)
    except Refusal as refusal:
        return Answer(reason=refusal.what)
    return changed if isinstance(changed, Answer) else _joined(run, found, outcomes, changed)


def _changed(repo: Repo) -> list[Change] | Answer:
    from morph_tasks.verify.validators.base import find_base

    base = find_base(repo)
    if base.tree is None:
        return Answer(reason=f"what the work changed is not known: {base.why}")
    return changes(repo, base.tree)


def _joined(run: Run, found: Matrix, outcomes: Sequence[Outcome], changed: Iterable[Change]) -> Answer:
    sources, data, gone = _sorted_out(run, changed)
    tests = _tests(found, outcomes)
    digests = {one.node.ref: digest for one in outcomes if (digest := _digest_of(run, one)) is not None}
    asked = any(source.pieces for source in sources)
    with ExitStack() as stack:
        graph, problem = _graph(run, tests, stack) if asked else (None, None)
        if asked and graph is None and not digests:
            return Answer(reason=problem or _NEITHER)
        suites = Suites(run.repo, graph.index if graph else None, outcomes)
        judge = _Judge(run, tests, digests, graph, suites)
        reached: list[Reached] = []
        unexplained = [Unexplained(path, None, None, "file-gone") for path in gone]
        for source in sources:
            for one in _merged(source, judge.judged(source)):
                if isinstance(one, Reached):
                    reached.append(one)
                else:
                    unexplained.append(one)
    counts = {one.id: sum(one.id in piece.scenarios for piece in reached) for one in found.scenarios}
    unexplained.sort(key=lambda one: (not one.known, one.file, one.lines or (0, 0)))
    return Answer(tuple(reached), tuple(unexplained), tuple(data), counts, unnamed=dict(sorted(suites.unnamed.items())))


def _sorted_out(
    run: Run, changed: Iterable[Change]
) -> tuple[list[Source], list[tuple[str, tuple[tuple[int, int], ...]]], list[str]]:
    """Return the changed sources, the changed data with its lines, and the sources that are gone."""
    sources, data, gone = [], [], []
    for change in sorted(changed, key=lambda one: one.path):
        path = run.repo.root / change.path
        try:
            content = b"" if change.gone or path.is_symlink() else path.read_bytes()
        except OSError:
            content = b""
        kind = kind_of(change.path, content[:_HEAD].decode("utf-8", "replace"))
        if kind == "none" or path.is_symlink():
            continue
        if change.gone:
            gone += [change.path] if kind == "code" else []
        elif kind == "data":
            data.append((change.path, tuple(_span(one) for one in change.hunks)))
        else:
            sources.append(read_source(change.path, content, change.hunks))
    return sources, data, gone


def _span(hunk: Hunk) -> tuple[int, int]:
    first = max(1, hunk.first)
    return first, first + max(hunk.count, 1) - 1


def _tests(found: Matrix, outcomes: Iterable[Outcome]) -> list[RanTest]:
    """Return the tests that carry scenarios of the plan, each once, but for those that were skipped."""
    by_node = {one.node.ref: one for one in outcomes}
    carried: dict[tuple[str, str, str | None], RanTest] = {}
    for state in found.scenarios:
        for one in state.tests:
            key = (one.node, one.name, one.file)
            outcome = by_node[one.node]
            accepted = outcome.node.flaky_reason is not None
            passed = outcome.status == "pass" or (outcome.status == "flaky" and accepted)
            passed = passed and (one.status == "passed" or (one.status == "flaky" and accepted))
            before = carried.get(key)
            ids = (*before.scenarios, state.id) if before else (state.id,)
            if one.status != "skipped":
                carried[key] = RanTest(one.name, one.file, one.line, one.node, ids, passed)
    return list(carried.values())


def _digest_of(run: Run, outcome: Outcome) -> Digest | None:
    return read_digest(run.store, outcome.record) if outcome.record and outcome.status in ("pass", "flaky") else None


def _graph(run: Run, tests: Sequence[RanTest], stack: ExitStack) -> tuple[Graph | None, str | None]:
    """Return the graph, walked from the tests; None, with a reason when it is there and cannot be read."""
    from morph_tasks.codegraph import index as indexes
    from morph_tasks.codegraph.layout import graph_file, recovered_file
    from morph_tasks.verify.reach.graph import Graph

    for path in (graph_file(run.repo.root), recovered_file(run.repo.root)):
        ask("file", str(path))
    try:
        index = stack.enter_context(indexes.open_index(run.repo.root))
        return Graph(run.repo.root, index, tests), None
    except Refusal as refusal:
        said = f"{refusal.what}; run `{refusal.fix}`" if refusal.fix else refusal.what
        return None, None if refusal.code == "no-graph" else said


class _Judge:
    """Says of each piece what reaches it: coverage where a run measured its file, the graph for the other tests."""

    def __init__(
        self, run: Run, tests: Sequence[RanTest], digests: Mapping[str, Digest], graph: Graph | None, suites: Suites
    ) -> None:
        self._run, self._digests, self._graph, self._suites = run, digests, graph, suites
        self._by_node = {
            ref: {(one.name, one.file): one for one in tests if one.node == ref and one.passed} for ref in digests
        }
        self._contexts = {ref: Contexts(Named(*key) for key in known) for ref, known in self._by_node.items()}

    def judged(self, source: Source) -> Iterator[tuple[Piece, _Verdict]]:
        """Yield each piece of a source with what it came to."""
        content = content_of(self._run.repo.root / source.path)
        measured = {
            ref: digest.files[source.path]
            for ref, digest in self._digests.items()
            if source.path in digest.files and digest.files[source.path].content == content
        }
        for piece in source.pieces:
            verdict = None
            if measured and piece.ranges:
                verdict = self._by_coverage(piece, {ref: (one.ran, one.contexts) for ref, one in measured.items()})
            yield piece, verdict or self._by_graph(source, piece)

    def _by_coverage(self, piece: Piece, ran: Mapping[str, tuple[Bits, Mapping[str, Bits]]]) -> _Verdict | None:
        """Return what the runs say that measured the file; None when they know that it ran, and not by which test."""
        tests, others = dict[RanTest, None](), dict[str, None]()
        for first, last in piece.ranges:
            wanted = ranged(first, last)
            for ref, (_, contexts) in ran.items():
                for name in [name for name, bits in contexts.items() if bits & wanted]:
                    known = self._contexts[ref].tests(name)
                    tests |= dict.fromkeys(self._by_node[ref][one.name, one.file] for one in known)
                    others |= {} if known else {name: None}
            if tests:
                return _Verdict("coverage", tuple(tests))
        if others:
            # A test of a suite without contexts may carry a scenario all the same.
            more = self._other_suites(piece, ran)
            return more or _Verdict(why="reached-only-by-tests-without-scenario", others=tuple(sorted(others)))
        whole = ranged(*piece.ranges[-1])
        if any(bits & whole and not self._digests[ref].named for ref, (bits, _) in ran.items()):
            return None
        return self._other_suites(piece, ran) or _Verdict(why="not-executed")

    def _other_suites(self, piece: Piece, measured: Iterable[str]) -> _Verdict | None:
        """Return the tests of the suites that coverage says nothing of, by the graph."""
        tests = self._graph.reaching(piece) if self._graph else []
        return self._reached(piece, [one for one in tests if one.node not in measured])

    def _reached(self, piece: Piece, tests: Iterable[RanTest]) -> _Verdict | None:
        """Return the tests that passed, and whether it is their files alone that reach a piece."""
        passed = tuple(one for one in tests if one.passed)
        if not passed or self._graph is None:
            return None
        return _Verdict("graph", passed, by_file=set(passed) <= set(self._graph.by_file(piece)))

    def _by_graph(self, source: Source, piece: Piece) -> _Verdict:
        graph = self._graph
        if graph is None:
            return _Verdict(why="graph-missing")
        tests = graph.reaching(piece)
        found = self._reached(piece, tests)
        if found:
            return found
        if not source.parsed:
            return _Verdict(why="language-not-parsed")
        if graph.stale(piece.file):
            return _Verdict(why="graph-stale")
        if piece.symbol is not None and not graph.symbols(piece):
            return _Verdict(why="not-in-graph")
        if tests:
            names = tuple(f"{one.place} {one.name}".strip() for one in tests)
            return _Verdict(why="reached-only-by-tests-that-did-not-pass", others=names)
        return self._by_others(graph, piece)

    def _by_others(self, graph: Graph, piece: Piece) -> _Verdict:
        """Return what tests without a scenario say of a piece, and tests of which the graph says nothing."""
        testers = graph.testers(piece)
        others = tuple(one.said for one in testers)
        ran = self._suites.ran(one.file for one in testers)
        if others and ran == "unnamed":
            return _Verdict(why="tests-not-named", others=others)
        unknown = [f"{one.place} {one.name}".strip() for one in graph.lost if self._may_reach(one, piece)]
        unknown = unknown or ([] if others else list(self._suites.left_out(piece.file)))
        if unknown:
            return _Verdict(why="tests-not-in-graph", others=tuple(unknown))
        if others:
            why = "tests-not-run" if ran == "nowhere" else "reached-only-by-tests-without-scenario"
            return _Verdict(why=why, others=others)
        return _Verdict(why="no-test-reaches")

    def _may_reach(self, test: RanTest, piece: Piece) -> bool:
        family = family_of(test.file) if test.file else self._suites.family(test.node)
        return family is None or family == family_of(piece.file)


def _merged(source: Source, judged: Iterable[tuple[Piece, _Verdict]]) -> Iterator[Reached | Unexplained]:
    """Yield one answer for neighbours of one symbol that came to the same."""

    def alike(one: tuple[int, tuple[Piece, _Verdict]]) -> object:
        place, (piece, verdict) = one
        # Lines that went stand for themselves.
        return (piece.symbol, verdict, place if piece.removed else None)

    for _, group in groupby(enumerate(judged), key=alike):
        parts = [part for _, part in group]
        yield from _split(source, [piece for piece, _ in parts], parts[0][1])


def _split(source: Source, pieces: Sequence[Piece], verdict: _Verdict) -> Iterator[Reached | Unexplained]:
    """Yield the runs of pieces between which nothing lies that was not changed and can run."""
    first = pieces[0]
    runs: list[list[Piece]] = [[first]]
    for piece in pieces[1:]:
        if source.gap(runs[-1][-1].last, piece.first):
            runs.append([piece])
        else:
            runs[-1].append(piece)
    for part in runs:
        head = (source.path, (part[0].first, part[-1].last), part[0].name)
        removed = part[0].removed
        if verdict.by:
            yield Reached(*head, verdict.by, verdict.tests, removed, verdict.by_file)
        else:
            yield Unexplained(*head, verdict.why, verdict.others[:_MOST_NAMED], removed)
