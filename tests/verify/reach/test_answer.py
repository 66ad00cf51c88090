"""The changes of a feature and what reaches them, by real suites, real coverage data and a real graph."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from tests.conftest import Project
from tests.verify.reach.conftest import COVERED, PLAIN, TESTS, TOTAL, begin_shop, suite

Prepare = Callable[[str, Callable[[], None]], None]


def _graph(project: Project) -> None:
    subprocess.run(["graphify", "extract", ".", "--code-only"], cwd=project.root, check=True, capture_output=True)


def _short(document: Any) -> list[tuple[Any, ...]]:
    return [(one["file"], one["lines"], one["symbol"], one["why"]) for one in document["unexplained"]]


def _of(document: Any, symbol: str) -> Any:
    (one,) = (one for one in document["unexplained"] if one["symbol"] == symbol)
    return one


@pytest.fixture
def verified(project: Project, prepared: Prepare) -> Project:
    """A shop that was verified with coverage contexts."""

    def make() -> None:
        begin_shop(project)
        suite(project, COVERED)
        assert project.verify()["exit"] == 0

    prepared("verified shop", make)
    return project


@pytest.fixture
def plain(project: Project, prepared: Prepare) -> Project:
    """A shop that was verified without coverage, and has a graph."""

    def make() -> None:
        begin_shop(project)
        _graph(project)
        assert project.verify()["exit"] == 0

    prepared("plain shop", make)
    return project


BY_COVERAGE = [
    ("shop/tax.py", [9, 10], "exempt", "reached-only-by-tests-without-scenario"),
    ("shop/total.py", [10, 10], "total", "not-executed"),
    ("shop/total.py", [14, 16], "unused", "not-executed"),
]


def test_coverage_tells_each_line_and_reuse_keeps_it(verified: Project) -> None:
    (verified.root / ".coverage").unlink()
    for _ in range(3):
        found = verified.verify()
        assert _short(found) == BY_COVERAGE
        assert found["explained"] == {"C1": 5, "C2": 0} and found["unexplainedReason"] is None
        assert _of(found, "exempt")["tests"] == ["tests/test_shop.py::test_plain"]
        assert found["nodes"]["tests"]["runs"][0]["reused"]
    text = verified.morph("verify", "cart").out.splitlines()
    assert text[:2] == [
        "unexplained: 3 changes that no test of a scenario reaches",
        "  shop/tax.py:9-10  exempt  only tests that carry no scenario reach it (tests/test_shop.py::test_plain)",
    ]
    assert text[-1].startswith("GREEN")
    # The digest is evidence: without it nothing is known, and that is another answer.
    (digest,) = verified.root.glob(".git/morph-spec/evidence/tests/unit/*/*.coverage.json")
    digest.unlink()
    lost = verified.verify()
    assert lost["unexplained"] is None and "graph build" in lost["unexplainedReason"]


def test_trace_lists_the_changes_under_their_scenario(verified: Project) -> None:
    said = verified.morph("trace", "cart", "--json", "--no-collect").json
    assert _short(said) == BY_COVERAGE
    assert {(one["file"], *one["lines"], one["symbol"], one["by"]) for one in said["hunks"]} == {
        ("shop/tax.py", 1, 2, "rate", "coverage"), ("shop/tax.py", 5, 6, "taxed", "coverage"),
        ("shop/total.py", 1, 3, None, "coverage"), ("shop/total.py", 6, 9, "total", "coverage"),
        ("shop/total.py", 11, 11, "total", "coverage"),
    }  # fmt: skip
    assert said["hunks"][0]["scenarios"] == {"C1": ["test_sum"]}
    page = verified.root / "page.html"
    text = verified.morph("trace", "cart", "--no-collect", "--html", str(page)).out
    page.rename(page.with_suffix(".txt"))
    assert "       reaches shop/tax.py:1-2  rate  (by coverage: test_sum)" in text.splitlines()
    assert (
        "shop/total.py:14-16  unused" in text and "shop/total.py:14-16  unused" in page.with_suffix(".txt").read_text()
    )
    # What was proved speaks of other code from here on.
    verified.write("shop/tax.py", "def taxed(price):\n    return price\n")
    later = verified.morph("trace", "cart", "--json", "--no-collect").json
    assert later["unexplained"] is later["hunks"] is later["explained"] is None
    assert "tests/unit is not measured for this code" in later["unexplainedReason"]


def test_the_review_gate_says_it_first_and_does_not_pause_for_it(verified: Project) -> None:
    said = verified.morph("gate-check", "cart", "review", "--trust", "auto")
    assert said.out.splitlines()[0] == "unexplained: 3 changes that no test of a scenario reaches"
    assert not any("explain" in line for line in said.out.splitlines() if line.startswith("  - "))
    assert _short(verified.morph("gate-check", "cart", "review", "--json").json) == BY_COVERAGE
    assert "unexplained" not in verified.morph("gate-check", "cart", "plan", "--json").json


def test_a_partial_run_and_a_feature_without_a_plan_answer_nothing(verified: Project) -> None:
    found = verified.verify("cart", "--skip-tests")
    assert found["unexplained"] is None and "skip-tests" in found["unexplainedReason"]
    assert verified.morph("create", "other", "--type", "feature", "--description", "Else").code == 0
    other = verified.verify("other")
    assert other["unexplained"] is other["explained"] is other["unexplainedData"] is None
    assert "unexplained" not in verified.morph("verify", "other").out


def test_data_that_earlier_runs_were_added_to_does_not_count(begun: Project) -> None:
    suite(begun, f"{COVERED} --cov-append")
    assert _short(begun.verify()) == BY_COVERAGE
    begun.write("tests/test_shop.py", TESTS.replace("total([1, 2]) == 3", "True"))
    found = begun.verify()
    assert found["unexplained"] is None
    record = json.loads((begun.root / ".morph/evidence/cart/tests/unit.json").read_text())
    assert "added to" in record["coverage"]["problem"]


def test_neither_coverage_nor_graph_is_unknown_and_not_nothing(begun: Project) -> None:
    found = begun.verify()
    assert found["unexplained"] is None and found["explained"] is None
    assert "neither coverage contexts nor a code graph" in found["unexplainedReason"]
    assert begun.morph("verify", "cart").out.startswith("unexplained changes: not verified: neither")
    for name in ("total.py", "tax.py"):
        (begun.root / "shop" / name).unlink()
    begun.write("tests/test_shop.py", "def test_none():\n    pass\n")
    nothing = begun.verify()
    assert (nothing["unexplained"], nothing["unexplainedReason"]) == ([], None)


def test_the_graph_answers_where_nothing_was_covered(plain: Project) -> None:
    found = plain.verify()
    assert _short(found) == [
        ("shop/tax.py", [9, 10], "exempt", "reached-only-by-tests-without-scenario"),
        ("shop/total.py", [14, 16], "unused", "no-test-reaches"),
    ]
    assert _of(found, "exempt")["tests"] == ["tests/test_shop.py:12 test_plain"]
    hunks = plain.morph("trace", "cart", "--json", "--no-collect").json["hunks"]
    # Reached over two calls: test_sum → total → taxed → rate.
    assert ("shop/tax.py", "rate", "graph", {"C1": ["test_sum"]}) in [
        (one["file"], one["symbol"], one["by"], one["scenarios"]) for one in hunks
    ]


def test_another_graph_is_another_answer_and_the_same_graph_is_none(plain: Project) -> None:
    runs = [plain.verify() for _ in range(2)]
    witness = next((plain.root / ".git/morph-spec/witness").iterdir())
    kept = witness.stat().st_mtime_ns
    assert plain.verify()["unexplained"] == runs[-1]["unexplained"]
    assert witness.stat().st_mtime_ns == kept
    path = plain.root / "graphify-out/graph.json"
    graph = json.loads(path.read_text())
    graph["links"] = [one for one in graph["links"] if one["relation"] != "calls"]
    path.write_text(json.dumps(graph))
    assert {one["symbol"] for one in plain.verify()["unexplained"]} == {"rate", "taxed", "unused"}
    # Without its calls no more is known of the test than what its file imports.
    said = plain.morph("trace", "cart", "--json", "--no-collect").json["hunks"]
    assert {(one["symbol"], one["by"], one["via"]) for one in said if one["symbol"]} == {
        ("total", "graph", "file"), ("exempt", "graph", "file"),
    }  # fmt: skip
    text = plain.morph("trace", "cart", "--no-collect").out
    assert "shop/total.py:6-11  total  (by graph, its file: test_sum)" in text


def test_a_graph_that_is_older_than_the_code_says_so(plain: Project) -> None:
    plain.write("shop/total.py", TOTAL.replace("def unused(", "def fresh("))
    found = plain.verify()
    one = _of(found, "fresh")
    assert (one["why"], one["known"], one["fix"]) == ("graph-stale", False, "morph-spec graph refresh")
    text = plain.morph("verify", "cart").out
    assert "of which it is not known" in text and text.count("run `morph-spec graph refresh`") == 1
    (plain.root / "graphify-out/graph.json").write_text("{")
    broken = plain.verify()
    assert broken["unexplained"] is None and "graph" in broken["unexplainedReason"]


def test_tests_of_which_nothing_is_known_are_not_no_test(begun: Project) -> None:
    begun.write("net/Shop/Cart.cs", "namespace Shop;\n\npublic class Cart\n{\n    public int Add(int n) => n + 1;\n}\n")
    begun.write("net/Shop.Tests/CartTests.cs", "namespace Shop.Tests;\n\npublic class CartTests\n{\n}\n")
    begun.write("lib/vendor/other/a_test.go", "package other\n")
    begun.write(".graphifyignore", "**/*.Tests/**\nvendor/\n")
    begun.write("web/sum.ts", "export function sum(a: number) {\n  return a + 1;\n}\n")
    begun.write("web/sum.test.ts", "import { sum } from './sum';\nit('sums', () => {\n  sum(1);\n});\n")
    begun.write("lib/alone.go", "package lib\n\nfunc Alone() int {\n\treturn 1\n}\n")
    _graph(begun)
    found = begun.verify()
    assert {(one["file"], one["why"], one["known"], *one["tests"]) for one in found["unexplained"]} == {
        ("net/Shop/Cart.cs", "tests-not-in-graph", False, "net/Shop.Tests/CartTests.cs"),
        ("web/sum.ts", "tests-not-run", False, "web/sum.test.ts"),
        ("lib/alone.go", "no-test-reaches", True),
        ("shop/tax.py", "reached-only-by-tests-without-scenario", True, "tests/test_shop.py:12 test_plain"),
        ("shop/total.py", "no-test-reaches", True),
    }
    assert found["unnamedNodes"] == []
    # A suite that names nothing says so once, and only of what it may run.
    silent = [{"id": name, "command": "true", "cwd": name, "runner": "none"} for name in ("web", "lib")]
    tests = [{"id": "unit", "command": PLAIN}, *silent]
    begun.config(project={"build": [], "tests": tests})
    found = begun.verify()
    (one,) = (one for one in found["unexplained"] if one["why"] == "tests-not-named")
    assert one["file"] == "web/sum.ts"
    assert [one["node"] for one in found["unnamedNodes"]] == ["tests/web"]
    text = begun.morph("verify", "cart").out
    assert text.count("tests/web does not name its tests, so nobody knows") == 1
    assert "tests/web, tests/lib do not name their tests" in text
    assert text.index("tests/web does not name") < text.index("  web/sum.ts:1-3  sum  tests reach it that")
    # A test with a scenario that the graph does not have may be the one.
    begun.write("net/said.xml", '<testsuite><testcase classname="Shop.CartTests" name="[cart:C2] adds"/></testsuite>')
    begun.write("net/.gitignore", "out.xml\n")
    dotnet = {"id": "net", "command": "cp said.xml out.xml", "cwd": "net", "runner": "dotnet", "junit": "net/out.xml"}
    begun.config(project={"build": [], "tests": [{"id": "unit", "command": PLAIN}, dotnet]})
    found = begun.verify()
    known = {one["file"]: (one["why"], one["tests"]) for one in found["unexplained"]}
    assert known["net/Shop/Cart.cs"] == ("tests-not-in-graph", ["Shop.CartTests > [cart:C2] adds"])
    assert known["lib/alone.go"] == ("no-test-reaches", [])


def test_both_together_coverage_has_the_last_word(verified: Project) -> None:
    _graph(verified)
    found = verified.verify()
    assert ("shop/total.py", [10, 10], "total", "not-executed") in _short(found)
    assert ("shop/total.py", [14, 16], "unused", "not-executed") in _short(found)


def test_a_suite_without_coverage_is_asked_by_the_graph(begun: Project) -> None:
    suite(begun, f"{COVERED} -k plain", f"{PLAIN} -k sum")
    _graph(begun)
    found = begun.verify()
    assert ("shop/total.py", [14, 16], "unused", "not-executed") in _short(found)
    hunks = begun.morph("trace", "cart", "--json", "--no-collect").json["hunks"]
    assert {(one["symbol"], one["by"]) for one in hunks if one["symbol"]} == {
        ("rate", "graph"), ("taxed", "graph"), ("total", "graph"),
    }  # fmt: skip


def test_lines_that_went_files_that_moved_and_data(plain: Project) -> None:
    plain.write("config/app.yaml", "a: 1\n")
    plain.write("shop/old.py", "def old():\n    return 1\n\n\ndef kept():\n    return 2\n")
    plain.commit("the first part")
    plain.git("branch", "-f", "main", "HEAD")
    plain.write("shop/total.py", TOTAL.replace("    if added > 100:\n        added = added * 0.9\n", ""))
    plain.git("mv", "shop/tax.py", "shop/taxes.py")
    plain.write("shop/total.py", (plain.root / "shop/total.py").read_text().replace("shop.tax", "shop.taxes"))
    plain.write("tests/test_shop.py", TESTS.replace("shop.tax ", "shop.taxes "))
    plain.write("config/app.yaml", "a: 2\n")
    plain.write("README.md", "# shop, again\n")
    (plain.root / "shop/old.py").unlink()
    _graph(plain)
    found = plain.verify()
    assert _short(found) == [("shop/old.py", None, None, "file-gone")]
    assert found["unexplainedData"] == [{"file": "config/app.yaml", "lines": [[1, 1]]}]
    hunks = plain.morph("trace", "cart", "--json", "--no-collect").json["hunks"]
    assert {(one["file"], *one["lines"], one["removed"], one["symbol"]) for one in hunks} == {
        ("shop/total.py", 1, 1, 0, None), ("shop/total.py", 8, 8, 2, "total"),
    }  # fmt: skip


def test_what_did_not_pass_and_what_a_red_suite_passed_explain_nothing(begun: Project) -> None:
    marked = TESTS.replace("def test_plain", '@pytest.mark.scenario("C2")\ndef test_plain')
    begun.write("tests/test_shop.py", marked.replace("exempt(1) == 1", "exempt(1) == 2"))
    _graph(begun)
    found = begun.verify()
    assert found["status"] == "fail" and found["scenarios"][0]["state"] == "proven"
    for symbol, test in (("total", "tests/test_shop.py:7 test_sum"), ("exempt", "tests/test_shop.py:12 test_plain")):
        one = _of(found, symbol)
        assert (one["why"], one["tests"]) == ("reached-only-by-tests-that-did-not-pass", [test])
    assert found["explained"] == {"C1": 0, "C2": 0}


SUITE = '''\
import unittest

import pytest

from shop.tax import exempt
from shop.total import total


class TestTotals(unittest.TestCase):
    def test_scenario_C1_sum(self):
        assert total([1, 2]) == 3

    def test_much(self):
        """[C2] much"""
        assert total([100, 100]) == 180


class TestPlain:
    @pytest.mark.parametrize("n", [1])
    def test_exempt(self, n):
        assert exempt(n)
'''


@pytest.mark.parametrize(
    ("command", "counts", "left"),
    [
        (
            "coverage run -m pytest -q",
            {"C1": 5, "C2": 0},
            [("exempt", "reached-only-by-tests-without-scenario"), ("total", "reached-only-by-tests-without-scenario"),
             ("unused", "not-executed")],
        ),
        (
            "coverage run -m unittest -v tests/test_shop.py",
            {"C1": 5, "C2": 6},
            [("exempt", "not-executed"), ("unused", "not-executed")],
        ),
    ],
)  # fmt: skip
def test_contexts_by_coverage_itself(begun: Project, command: str, counts: Any, left: Any) -> None:
    settings = "[run]\ndynamic_context = test_function\nsource = shop\nbranch = true\ndata_file = out/cov\n"
    begun.write(".coveragerc", settings)
    begun.write("out/.gitignore", "*\n")
    begun.write("tests/test_shop.py", SUITE)
    suite(begun, command)
    found = begun.verify()
    assert found["explained"] == counts
    assert [(one["symbol"], one["why"]) for one in found["unexplained"]] == left


def test_lines_of_another_content_say_nothing(begun: Project) -> None:
    tests = [{"id": "unit", "command": COVERED, "inputs": ["tests/**"]}]
    begun.config(project={"build": [], "tests": tests})
    assert begun.verify()["explained"] == {"C1": 5, "C2": 0}
    begun.write("shop/tax.py", "# said\n" + (begun.root / "shop/tax.py").read_text())
    found = begun.verify()
    assert found["nodes"]["tests"]["runs"][0]["reused"]
    assert {(one["file"], one["why"]) for one in found["unexplained"]} == {
        ("shop/tax.py", "graph-missing"), ("shop/total.py", "not-executed"),
    }  # fmt: skip
    assert not any(one["known"] for one in found["unexplained"] if one["file"] == "shop/tax.py")
