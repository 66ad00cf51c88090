"""The rows of the code graph: what it answers, against a table made by hand, and what an answer costs."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tarfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import truth
from repos import commit_all
from rows import Bench, Measured, ratio, within
from timing import Cost, NotAvailable, Pairs, Shell, alone, compare
from truth import Question, Score, Truth

DJANGO = "Django==5.2"
SYMBOL = "QuerySet"  # far-reaching, and asked of both programs by the same word
_BUILT = "built"


def answers(bench: Bench) -> Measured:
    """Precision and recall of all direct consumers, beside graphify's own answer and a search for the word."""
    ours, raw, words = Score(), Score(), Score()
    count = 0
    for folder in truth.FIXTURES:
        asked = _Asked(truth.load(folder), _fixture(bench, folder))
        count += len(asked.table.questions)
        ours += truth.score(asked.table, asked.ours)
        raw += truth.score(asked.table, asked.raw)
        words += truth.score(asked.table, asked.words)
    for fault in ours.faults:
        print(f"  {fault}", file=sys.stderr)
    floor = f"graphify's own {_shown(raw)}; `git grep -w` {_shown(words)}"
    held = ours.recall >= 0.98 and ours.precision >= 0.95 and not ours.silent
    target = "recall ≥ 0.98, precision ≥ 0.95, none silent"
    return Measured(f"`morph-spec graph affected`, {count} questions", floor, _shown(ours), target, held)


def cold(bench: Bench) -> Measured:
    """The first question after a graph changed: the index is made on the way."""
    shell = _django(bench)
    index = shell.cwd / "graphify-out/morph-index.sqlite"

    def subject() -> Cost:
        index.unlink(missing_ok=True)
        return shell.cost("morph-spec", "graph", "affected", SYMBOL)

    pairs = compare(subject, lambda: shell.cost("graphify", "affected", SYMBOL), bench.size.pairs)
    return ratio(f"`morph-spec graph affected {SYMBOL}`, no index, Django", "`graphify affected`", pairs, 0.7)


def warm(bench: Bench) -> Measured:
    """Any further question."""
    return ratio(f"`morph-spec graph affected {SYMBOL}`, Django", "`graphify affected`", _warm(bench), 0.04)


def memory(bench: Bench) -> Measured:
    """The peak memory of a further question, the programs it starts included."""
    shell = _django(bench)
    peak = alone(lambda: shell.cost("morph-spec", "graph", "affected", SYMBOL), 3).peak
    what = f"peak memory of `morph-spec graph affected {SYMBOL}`, Django"
    return Measured(what, "", f"{peak:.0f} MiB", "≤ 40 MiB", peak <= 40)


def status(bench: Bench) -> Measured:
    """Asking how the graph stands, against asking git for the commit and starting Python."""
    shell = _django(bench)
    pairs = compare(
        lambda: shell.cost("morph-spec", "graph", "status"),
        lambda: shell.cost("git", "rev-parse", "HEAD") + shell.cost(sys.executable, "-c", "pass"),
        bench.size.pairs,
    )
    return within("`morph-spec graph status`, Django", "`git rev-parse HEAD` + `python -c pass`", pairs, 2, 0.03)


ROWS: dict[str, Callable[[Bench], Measured]] = {
    "graph-answers": answers,
    "graph-cold": cold,
    "graph-warm": warm,
    "graph-memory": memory,
    "graph-status": status,
}


def _warm(bench: Bench) -> Pairs:
    shell = _django(bench)
    shell.cost("morph-spec", "graph", "affected", SYMBOL)
    return compare(
        lambda: shell.cost("morph-spec", "graph", "affected", SYMBOL),
        lambda: shell.cost("graphify", "affected", SYMBOL),
        bench.size.pairs,
    )


def _shown(score: Score) -> str:
    silent = f", {score.silent} silent" if score.silent else ""
    return f"recall {score.recall:.3f}, precision {score.precision:.3f}{silent}"


# --- the questions


def _fixture(bench: Bench, folder: Path) -> Shell:
    """Return a copy of a fixture whose graph was built by the command."""
    root = bench.workshop.folder / folder.name
    shell = Shell(root, bench.workshop.env)
    if not root.exists():
        shutil.copytree(folder, root, ignore=shutil.ignore_patterns(truth.TABLE))
        commit_all(shell, "all")
        shell.output("morph-spec", "graph", "build")
    return shell


class _Asked:
    """One fixture and its questions; graphify is asked by the id that the question was found to mean."""

    def __init__(self, table: Truth, shell: Shell) -> None:
        self.table, self.shell = table, shell
        self.ids: dict[str, str] = {}
        graph = json.loads((shell.cwd / "graphify-out/graph.json").read_text(encoding="utf-8"))
        owners = {one["target"]: one["source"] for one in graph["links"] if one["relation"] == "method"}
        self.names = {one["id"]: _name(one) for one in graph["nodes"]}
        for member, owner in owners.items():
            path, _, name = self.names[member].partition(":")
            self.names[member] = f"{path}:{self.names[owner].partition(':')[2]}.{name}"

    def ours(self, question: Question) -> Iterable[str]:
        why: NotAvailable | None = None
        for name in self.table.names(question.symbol):
            try:
                told = self._told(name, question)
            except NotAvailable as refused:
                why = refused
            else:
                self.ids[question.symbol] = told["symbol"]["id"]
                return {truth.said(one) for one in told["affected"]}
        raise why or NotAvailable("nothing was asked")

    def raw(self, question: Question) -> Iterable[str]:
        told = self._told(self.ids[question.symbol], question, "--raw")
        return {self.names[one["id"]] for one in told["affected"]}

    def words(self, question: Question) -> Iterable[str]:
        """Search for the word: the smallest definition around each line that has it, the symbol itself left out."""
        _, _, name = question.symbol.partition(":")
        word = name.rpartition(".")[2]
        found = set()
        for line in self.shell.output("git", "grep", "-n", "-w", "-F", "-e", word).splitlines():
            place, number, _ = line.split(":", 2)
            found.add(_around(self.shell.cwd, place, int(number)))
        return found - {question.symbol}

    def _told(self, name: str, question: Question, *more: str) -> dict[str, Any]:
        options = ["--depth", "1", "--json", *more, *(["--uses-only"] if question.uses_only and not more else [])]
        told: dict[str, Any] = json.loads(self.shell.output("morph-spec", "graph", "affected", name, *options))
        if more and question.uses_only:
            derived = ("inherits", "implements", "extends")
            told["affected"] = [one for one in told["affected"] if one["relation"] not in derived]
        return told


def _name(node: dict[str, Any]) -> str:
    path, label = node.get("source_file") or "", node.get("label") or ""
    if node.get("source_location") == "L1" and path.endswith(label):
        return path
    return f"{path}:{label.lstrip('.').removesuffix('()')}"


def _around(root: Path, path: str, line: int) -> str:
    from morph_tasks.codegraph.spans import definitions

    around = [one for one in definitions(path, (root / path).read_bytes()) or () if one.start <= line <= one.end]
    if not around:
        return path
    last = max(around, key=lambda one: one.start)
    return f"{path}:{last.owner + '.' if last.owner else ''}{last.name}"


# --- Django


def _django(bench: Bench) -> Shell:
    """Return the source distribution of Django with its graph; it is kept, since extracting takes minutes."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    root = Path(base) / "morph-spec-bench" / DJANGO.replace("==", "-")
    shell = Shell(root, bench.workshop.env)
    if not (root / ".git" / _BUILT).exists():
        shutil.rmtree(root, ignore_errors=True)
        _unpack(bench, root)
        commit_all(shell, DJANGO)
        print("extracting the graph of Django, once ...", file=sys.stderr, flush=True)
        shell.output("morph-spec", "graph", "build")
        (root / ".git" / _BUILT).touch()
    return shell


def _unpack(bench: Bench, root: Path) -> None:
    beside = bench.workshop.folder / "download"
    beside.mkdir(exist_ok=True)
    pip = (
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--no-binary",
        ":all:",
        "--dest",
        str(beside),
    )
    # Not this run's environment: where packages come from is said in the caller's.
    Shell(beside, os.environ).output(*pip, DJANGO)
    archive = next(beside.glob("*.tar.gz"), None)
    if archive is None:
        raise NotAvailable(f"pip did not bring the source distribution of {DJANGO}")
    root.mkdir(parents=True)
    with tarfile.open(archive) as packed:
        for member in packed.getmembers():
            member.name = member.name.partition("/")[2]
            if member.name:
                packed.extract(member, root, filter="data")
