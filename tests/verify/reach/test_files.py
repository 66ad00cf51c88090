from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from morph_tasks.verify.nodes import Node
from morph_tasks.verify.reach.files import Watch, data_file


def _node(command: str = "pytest", **fields: object) -> Node:
    return Node("tests", "unit", command=command, **fields)  # type: ignore[arg-type]


def _data(path: Path, mark: str = "") -> None:
    with sqlite3.connect(path) as made:
        made.execute("create table if not exists t (a)")
        made.execute("insert into t values (?)", [mark])


@pytest.mark.parametrize(
    ("command", "files", "wanted"),
    [
        ("pytest", {}, ".coverage"),
        ("pytest", {".coveragerc": "[run]\nbranch = true\n"}, ".coverage"),
        ("pytest", {".coveragerc": "[run]\ndata_file = out/cov\n"}, "out/cov"),
        ("pytest", {"setup.cfg": "[coverage:run]\ndata_file = a\n"}, "a"),
        ("pytest", {"setup.cfg": "[run]\ndata_file = a\n"}, ".coverage"),
        ("pytest", {"tox.ini": "[coverage:run]\ndata_file = b\n"}, "b"),
        ("pytest", {"pyproject.toml": "[tool.coverage.run]\ndata_file = 'c'\n"}, "c"),
        ("pytest", {"pyproject.toml": "data_file = [\n", "setup.cfg": "data_file\n[["}, ".coverage"),
        ("pytest --cov-config=x.ini", {"x.ini": "[run]\ndata_file = d\n"}, "d"),
        ("coverage run --rcfile x.ini -m pytest", {"x.ini": "[run]\ndata_file = d\n"}, "d"),
        ("coverage run --data-file=e -m pytest", {".coveragerc": "[run]\ndata_file = d\n"}, "e"),
        ("cd api && pytest --cov", {"api/.coveragerc": "[run]\ndata_file = d\n"}, "api/d"),
        ("cd api && pytest --cov", {}, "api/.coverage"),
        ("pytest 'unclosed --data-file=x", {}, ".coverage"),
    ],
)
def test_where_data_is_written(tmp_path: Path, command: str, files: dict[str, str], wanted: str) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert data_file(tmp_path, _node(command)) == tmp_path / wanted


def test_the_environment_and_the_folder_of_a_node_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert data_file(tmp_path, _node(cwd="api")) == tmp_path / "api/.coverage"
    assert data_file(tmp_path, _node(set_env=(("COVERAGE_FILE", "own"),))) == tmp_path / "own"
    monkeypatch.setenv("COVERAGE_FILE", str(tmp_path / "there"))
    assert data_file(tmp_path, _node(cwd="api")) == tmp_path / "there"


def test_only_a_file_that_a_run_made_counts(tmp_path: Path) -> None:
    place = tmp_path / ".coverage"
    with Watch(place) as seen:
        assert seen.written() == ([], None)
        _data(place)
        assert seen.written() == ([place], None)
    with Watch(place) as seen:
        assert seen.written() == ([], None)
        place.unlink()
        _data(place)
        assert seen.written() == ([place], None)
    with Watch(place) as seen:
        _data(place, "more")
        assert seen.written() == ([], ".coverage was added to: it holds the lines of earlier runs as well")


def test_the_files_of_parallel_runs_count_and_reports_do_not(tmp_path: Path) -> None:
    with Watch(tmp_path / ".coverage") as seen:
        _data(tmp_path / ".coverage.host.1.x")
        _data(tmp_path / ".coverage.host.2.x")
        (tmp_path / ".coverage.xml").write_text("<coverage/>")
        (tmp_path / ".coveragerc").write_text("[run]\n")
        assert [path.name for path in seen.written()[0]] == [".coverage.host.1.x", ".coverage.host.2.x"]


def test_a_folder_that_is_not_there_has_none(tmp_path: Path) -> None:
    with Watch(tmp_path / "no" / ".coverage") as seen:
        assert seen.written() == ([], None)
