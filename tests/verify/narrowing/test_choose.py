"""Which nodes a slice needs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.verify.narrowing.choose import select
from morph_tasks.verify.narrowing.model import Selection
from morph_tasks.verify.narrowing.slices import SliceFiles
from morph_tasks.verify.nodes import Node

Choose = Callable[..., dict[str, Selection]]
WEB = Node("tests", "web", "npx vitest run", "web", "vitest", needs=("build/web",))
API = Node("tests", "api", "pytest -q", "api", "pytest", needs=("build/api",))
BUILDS = (
    Node("build", "base", "make base", "libs", needs=()),
    Node("build", "web", "make web", "web/app", needs=("build/base",)),
    Node("build", "api", "make api", "api/app"),
)
NODES = (*BUILDS, API, WEB, Node("validators", "secrets"), Node("e2e", "e2e"))


@pytest.fixture
def choose(tmp_path: Path) -> Choose:
    """Choose from nodes for a slice whose files are made on disk."""

    def ask(files: Any, nodes: tuple[Node, ...] = NODES, *, deleted: Any = (), folders: Any = (), **more: Any) -> Any:
        for path in files:
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text("it('x', () => {});\n" if not path.endswith(".py") else "def test_x(): ...\n")
        for path in folders:
            (tmp_path / path).mkdir(parents=True, exist_ok=True)
        unknown = more.pop("unknown", None)
        found = SliceFiles("F1", tuple(sorted(files)), folders=tuple(folders), deleted=tuple(deleted), unknown=unknown)
        return select(tmp_path, nodes, found, **more)

    return ask


def modes(found: dict[str, Selection]) -> dict[str, str]:
    return {ref: selection.mode for ref, selection in found.items()}


def test_the_node_that_owns_a_test_is_narrowed_and_the_other_left_out(choose: Choose) -> None:
    found = choose(["web/src/a.test.ts"])
    assert modes(found) == {
        "tests/api": "out-of-scope", "tests/web": "narrowed",
        "build/base": "whole", "build/web": "whole", "build/api": "out-of-scope",
    }  # fmt: skip
    web = found["tests/web"]
    assert web.command == "npx vitest run src/a.test.ts"
    assert (web.declared_command, web.files, web.selectors) == (WEB.command, ("web/src/a.test.ts",), ("src/a.test.ts",))
    assert (web.zero_guard, found["tests/api"].reason) == ("count", "no file of the slice is its own")


def test_a_build_whose_folder_owns_a_file_runs_though_no_suite_needs_it(choose: Choose) -> None:
    nodes = (*BUILDS[:1], Node("tests", "web", "npx vitest run", "web", "vitest"))
    found = choose(["libs/x.c", "web/a.test.ts"], nodes)
    assert found["build/base"].mode == "whole"


def test_code_without_a_test_runs_the_node_whole(choose: Choose) -> None:
    found = choose(["api/app/x.py"])
    assert (found["tests/api"].mode, found["tests/web"].mode) == ("whole", "out-of-scope")
    assert found["tests/api"].command == API.command
    assert "no test file" in found["tests/api"].reason


def test_a_node_of_the_root_owns_everything(choose: Choose) -> None:
    root = Node("tests", "all", "pytest", ".", "pytest")
    found = choose(["anything/x.py"], (root, WEB))
    assert modes(found) == {"tests/all": "whole", "tests/web": "out-of-scope"}


def test_inputs_make_a_file_the_nodes_own(choose: Choose) -> None:
    node = Node("tests", "web", "npx vitest run", "web", "vitest", inputs=("web/**", "shared/**/*.ts"))
    assert choose(["shared/x/a.ts"], (node,))["tests/web"].mode == "whole"
    assert choose(["shared/x/a.test.ts"], (node,))["tests/web"].reason.endswith("outside of the node's folder")


def test_words_of_the_command_make_a_folder_the_nodes_own(choose: Choose) -> None:
    node = Node("tests", "api", "pytest ../checks/unit", "api", "pytest")
    found = choose(["checks/unit/test_a.py"], (node, WEB))
    assert found["tests/api"].command == "pytest ../checks/unit/test_a.py"
    assert found["tests/web"].mode == "out-of-scope"


def test_a_file_that_nothing_owns_makes_the_others_run_whole(choose: Choose) -> None:
    found = choose(["shared/x.ts", "web/a.test.ts"])
    assert (found["tests/web"].mode, found["tests/api"].mode) == ("narrowed", "whole")
    assert found["tests/api"].reason == "undecidable: shared/x.ts belongs to no node"
    assert choose(["docs/x.md", "README.rst", "web/a.test.ts"])["tests/api"].mode == "out-of-scope"
    assert choose(["requirements.txt", "web/a.test.ts"])["tests/api"].mode == "whole"


def test_documents_alone_leave_everything_out(choose: Choose) -> None:
    assert set(modes(choose(["README.md"])).values()) == {"out-of-scope"}


def test_a_folder_makes_every_node_that_it_overlaps_run_whole(choose: Choose) -> None:
    found = choose([], folders=["web/src"])
    assert (found["tests/web"].mode, found["tests/api"].mode) == ("whole", "out-of-scope")
    assert found["tests/web"].reason.startswith("web/src is a folder")
    around = Node("tests", "deep", "pytest", "web/src/py", "pytest")
    assert choose([], (around, API), folders=["web"])["tests/deep"].mode == "whole"


def test_what_was_deleted_runs_its_node_whole(choose: Choose) -> None:
    found = choose(["web/a.test.ts"], deleted=["web/old.test.ts"])
    assert (found["tests/web"].mode, found["tests/api"].mode) == ("whole", "out-of-scope")
    assert "web/old.test.ts was deleted" in found["tests/web"].reason


def test_a_manifest_above_decides_for_the_suites_below(choose: Choose) -> None:
    found = choose(["package.json", "web/a.test.ts"])
    assert (found["tests/web"].mode, found["tests/api"].mode) == ("whole", "whole")
    assert found["tests/web"].reason == "package.json decides how the suites below it run"


def test_a_slice_of_nothing_leaves_everything_out(choose: Choose) -> None:
    found = choose([])
    assert set(modes(found).values()) == {"out-of-scope"}
    assert {selection.reason for selection in found.values()} == {"the slice has no file on disk yet"}


def test_full_takes_every_node_as_declared(choose: Choose) -> None:
    e2e = Node("tests", "ui", "npx playwright test", "web", "playwright")
    found = choose(["web/a.test.ts"], (*NODES, e2e), full=True)
    assert found.pop("tests/ui").mode == "out-of-scope"
    assert set(modes(found).values()) == {"full"}
    assert all(selection.command == selection.declared_command for selection in found.values())


@pytest.mark.parametrize(
    ("node", "why"),
    [
        (Node("tests", "x", "npx vitest run", "web", "vitest", e2e=True), "running application"),
        (Node("tests", "x", "npx playwright test", "web", "playwright"), "browser tests"),
        (Node("tests", "x", "python evals.py", "web", "evals"), "evals"),
    ],
)
def test_what_is_for_the_whole_feature_is_left_out(choose: Choose, node: Node, why: str) -> None:
    found = choose(["web/a.test.ts"], (node,))["tests/x"]
    assert found.mode == "out-of-scope"
    assert why in found.reason
    assert "whole verify only" in found.reason


def test_a_browser_suite_of_the_root_owns_no_stray_file(choose: Choose) -> None:
    browser = Node("tests", "ui", "npx playwright test", ".", "playwright")
    found = choose(["shared/x.ts"], (browser, API))
    assert found["tests/api"].mode == "whole"


def test_a_filter_forces_the_nodes_and_narrowing_goes_on(choose: Choose) -> None:
    found = choose(["web/a.test.ts"], chosen=lambda node: node.id == "api")
    assert (found["tests/web"].mode, found["tests/web"].reason) == ("out-of-scope", "not chosen by --filter")
    assert found["tests/api"].mode == "whole"
    found = choose(["web/a.test.ts"], chosen=lambda node: node.id == "web")
    assert found["tests/web"].mode == "narrowed"
    assert (
        choose(["web/a.test.ts"], chosen=lambda node: node.id == "web", full=True)["tests/api"].mode == "out-of-scope"
    )


def test_a_broken_declaration_and_an_unknown_history_are_not_waved_through(choose: Choose) -> None:
    broken = Node("tests", "odd", "x", "../out", invalid="cwd leads outside", reason="invalid-test-node")
    assert choose(["web/a.test.ts"], (broken, WEB))["tests/odd"].mode == "whole"
    found = choose(["web/a.test.ts"], unknown="no default branch is known")
    assert (found["tests/web"].mode, found["tests/api"].mode) == ("whole", "whole")
    assert "no default branch" in found["tests/api"].reason


def test_links_lead_to_the_node_that_really_holds_the_file(choose: Choose, tmp_path: Path) -> None:
    (tmp_path / "packages/web/src").mkdir(parents=True)
    (tmp_path / "web").symlink_to("packages/web")
    (tmp_path / "packages/web/src/a.test.ts").write_text("it('x', () => {});\n")
    by_link = SliceFiles("F1", ("web/src/a.test.ts",))
    real = Node("tests", "real", "npx vitest run", "packages/web", "vitest")
    for node in (real, WEB):
        for files in (by_link, SliceFiles("F1", ("packages/web/src/a.test.ts",))):
            assert select(tmp_path, (node,), files)[node.ref].command == "npx vitest run src/a.test.ts"


def test_a_runner_without_a_narrower_runs_whole(choose: Choose) -> None:
    for runner, why in (("none", "not known"), ("mocha", "commands of mocha are not narrowed")):
        found = choose(["web/a.test.ts"], (Node("tests", "x", "npx mocha", "web", runner),))["tests/x"]
        assert found.mode == "whole"
        assert why in found.reason
