"""The lines of imports that the graph knows without one."""

from pathlib import Path

import pytest

from morph_tasks.codegraph.import_lines import line_of_import
from morph_tasks.codegraph.index import Symbol
from tests.codegraph.handmade import HandMade
from tests.conftest import Project


def target(path: str) -> Symbol:
    return Symbol(1, path, path, path, "", path, 1, "file", False, False, "")


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ("// report\nconst lazy = () => import('./report.ts')\n", "web/report.ts", 2),
        ("const a = 1;\nconst b = require('../web/report');\n", "web/report.js", 2),
        ("import x from './reports'\nconst lazy = import(`./report`)\n", "web/report.ts", 2),
        ("const lazy = import('./ui')\n", "web/ui/index.tsx", 1),
        ("const report = 'report'\n", "web/report.ts", None),
        ("import('./a' + name)\n", "web/report.ts", None),
    ],
)
def test_the_line_that_imports_a_file(tmp_path: Path, text: str, path: str, line: int | None) -> None:
    (tmp_path / "main.ts").write_text(text)
    assert line_of_import(str(tmp_path), "main.ts", target(path)) == line


def test_nothing_is_read_outside_of_the_tree_and_what_is_absent_has_no_line(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tmp_path / "main.ts").write_text("import('./report')\n")
    for path in ("../main.ts", "main.ts", None, "a\0b"):
        assert line_of_import(str(tree), path, target("report.ts")) is None
    assert line_of_import(str(tmp_path), "main.ts", None) is None


def test_both_questions_tell_the_line(project: Project) -> None:
    project.write("main.ts", "\nconst lazy = () => import('./report')\n")
    project.write("report.ts", "export const a = 1\n")
    graph = HandMade()
    graph.use("main.ts", "report.ts", "dynamic_import")
    del graph.links[-1]["source_location"]
    graph.write(project.root)
    site = {"path": "main.ts", "line": 2}
    assert project.morph("graph", "affected", "report.ts", "--json").json["affected"][0]["site"] == site
    assert project.morph("graph", "explain", "report.ts", "--json").json["usedBy"][0]["site"] == site
    assert project.morph("graph", "explain", "main.ts", "--json").json["uses"][0]["site"] == site
