"""Who uses what, in two small projects of four languages, against tables that were made by hand."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from morph_tasks import proc
from morph_tasks.codegraph import ask, index, layout
from morph_tasks.codegraph.affected import affected
from morph_tasks.codegraph.index import Index, Symbol
from morph_tasks.codegraph.recovered import decode, edges_of
from morph_tasks.errors import Refusal
from tests.conftest import BIN, ROOT


def _module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bench_truth", ROOT / "scripts/benchmark/truth.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


truth: Any = _module()


@pytest.fixture(scope="module", params=[folder.name for folder in truth.FIXTURES])
def asked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, Path]]:
    """A table, and the project it is of with a graph that the installed command built."""
    source = ROOT / "tests/codegraph" / request.param
    root = tmp_path_factory.mktemp("truth") / "project"
    shutil.copytree(source, root, ignore=shutil.ignore_patterns(truth.TABLE))
    home = tmp_path_factory.mktemp("home")
    env = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "MORPH_"))}
    env |= {"HOME": str(home), "XDG_STATE_HOME": str(home / "state"), "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    for role in ("AUTHOR", "COMMITTER"):
        env |= {f"GIT_{role}_NAME": "Tess Ter", f"GIT_{role}_EMAIL": "tess@example.invalid"}
    for argv in (
        ["git", "init", "-q", "-b", "main"],
        ["git", "add", "-A"],
        ["git", "commit", "-qm", "all"],
        ["morph-spec", "graph", "build"],
    ):
        done = proc.run(argv, cwd=root, env=env)
        assert done.code == 0, done.stderr or done.stdout
    yield truth.load(source), root


def _symbol(found: Index, table: Any, name: str) -> Symbol:
    for one in table.names(name):
        try:
            return ask.resolve(found, one)
        except Refusal as refused:
            last = refused
    raise last


def _name(symbol: Symbol) -> str:
    if symbol.kind == "file":
        return symbol.file or symbol.label
    return f"{symbol.file}:{symbol.owner + '.' if symbol.owner else ''}{symbol.name}"


def test_consumers_are_those_that_a_reader_finds(asked: tuple[Any, Path]) -> None:
    """At least 98% of the consumers, at most 5% wrong, and no answer that is empty where there are consumers."""
    table, root = asked
    with index.open_index(root) as found:

        def answer(question: Any) -> list[str]:
            seed = _symbol(found, table, question.symbol)
            hits = affected(found, [seed], depth=1, uses_only=question.uses_only)
            return [_name(hit.symbol) for hit in hits]

        score = truth.score(table, answer)
    assert score.recall >= 0.98, score.faults
    assert score.precision >= 0.95, score.faults
    assert score.silent == 0, score.faults


def test_without_what_was_recovered_consumers_are_lost(asked: tuple[Any, Path], tmp_path: Path) -> None:
    """The table is hard enough to notice: the graph alone answers many questions with nothing."""
    table, root = asked
    bare = tmp_path / "bare"
    (bare / layout.FOLDER).mkdir(parents=True)
    shutil.copy(layout.graph_file(root), layout.graph_file(bare))
    with index.open_index(bare) as found:
        score = truth.score(
            table,
            lambda one: [_name(hit.symbol) for hit in affected(found, [_symbol(found, table, one.symbol)], depth=1)],
        )
    assert score.recall < 0.9
    assert score.silent > 5


def test_every_symbol_of_the_table_is_in_the_files(asked: tuple[Any, Path]) -> None:
    """A table that names what is not there would measure nothing."""
    table, root = asked
    with index.open_index(root) as found:
        for question in table.questions:
            for name in question.consumers | question.either | question.never:
                assert _symbol(found, table, name), name


def test_namesakes_are_never_consumers(asked: tuple[Any, Path]) -> None:
    table, root = asked
    with index.open_index(root) as found:
        for question in table.questions:
            hits = affected(found, [_symbol(found, table, question.symbol)], depth=1)
            assert not question.never & {_name(hit.symbol) for hit in hits}, question.symbol


def test_the_recovered_edges_lead_to_their_site(asked: tuple[Any, Path]) -> None:
    """Each edge has the file and the line where its source uses its target."""
    _, root = asked
    told = decode(layout.recovered_file(root).read_bytes())
    graph = json.loads(layout.graph_file(root).read_text())
    places = {node["id"]: node.get("source_file") for node in graph["nodes"]}
    assert told is not None
    for source, target, _, file, line in edges_of(told):
        assert source in places and target in places and file is not None and line is not None
        assert 1 <= line <= len((root / file).read_text().splitlines())
