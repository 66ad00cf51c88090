from __future__ import annotations

from typing import Any

import pytest

from morph_tasks.verify.nodes import Node
from morph_tasks.verify.scenarios.carriers import carriers
from morph_tasks.verify.scenarios.collect import Collection
from morph_tasks.verify.scenarios.listed import Listed
from morph_tasks.verify.scenarios.owed import Owed, OwedScenario, PlannedSlice
from morph_tasks.verify.scenarios.scan import Found
from morph_tasks.verify.scenarios.trace import Row, Trace, assemble

PY = Node("tests", "py", "pytest", ".", "pytest")
WEB = Node("tests", "web", "vitest run", "web", "vitest")
E2E = Node("tests", "e2e", "npx playwright test", "web", "playwright")


def _test(name: str = "test_a", file: str = "tests/test_a.py", line: int = 1, *ids: str, **more: Any) -> Found:
    return Found(file, name, line, more.pop("language", "python"), ids or ("C1",), **more)


def _trace(tmp_path: Any, tests: list[Found], said: list[Collection], *proofs: str, ours: Any = None) -> Trace:
    plan = Owed(
        tuple(OwedScenario(f"C{n}", f"title {n}", proof, n) for n, proof in enumerate(proofs or ("test",), 1)),
        (PlannedSlice("F1", "s", ("a.py",), ("C1",)), PlannedSlice("F2", "s", ("b.py",), ("C1", "C2"))),
    )
    found = carriers(tmp_path, tests, said)
    return assemble("cart", plan, found, said, ours or (lambda name, file: None), frozenset({"cart", "shop"}))


def _row(found: Trace, name: str = "C1") -> Row:
    assert found.rows is not None
    return next(row for row in found.rows if row.id == name)


def test_a_row_has_its_slices_its_tests_and_what_runs_them(tmp_path: Any) -> None:
    row = _row(_trace(tmp_path, [_test(line=7)], [Collection(PY)]))
    assert (row.state, row.gap, row.slices) == ("covered", None, ("F1", "F2"))
    assert [(one.place, one.node, one.found) for one in row.tests] == [("tests/test_a.py:7", "tests/py", "source")]


@pytest.mark.parametrize(
    ("tests", "proof", "gap"),
    [
        ([], "test", "no test carries it"),
        ([_test(skipped="later")], "test", "skipped in the source (later)"),
        ([_test(skipped="later"), _test("test_b")], "test", None),
        ([_test()], "e2e", "only tests/py carries it, and the plan asks for a test of the running application"),
        ([_test("x", "web/e2e/a.spec.ts", language="typescript")], "e2e", None),
        ([_test("x", "web/e2e/a.spec.ts", language="typescript")], "test", None),
        ([_test()], "eval", "the plan asks for an eval"),
        (
            [_test("x", "api/src/lib.rs", language="rust")],
            "test",
            "no node runs what carries it: no test node runs rust",
        ),
        ([_test("x", "api/a.test.ts", language="typescript")], "test", "outside the folder of every test node"),
        ([], "manual", None),
    ],
)
def test_what_is_missing(tmp_path: Any, tests: list[Found], proof: str, gap: str | None) -> None:
    found = _trace(tmp_path, tests, [Collection(PY), Collection(WEB), Collection(E2E)], proof)
    assert (gap in str(_row(found).gap)) if gap else _row(found).gap is None
    assert found.settled is (gap is None)


def test_an_eval_names_its_scenarios_when_it_runs(tmp_path: Any) -> None:
    prompts = Node("tests", "prompts", "python -m evals", ".", "evals")
    row = _row(_trace(tmp_path, [], [Collection(prompts)], "eval"))
    assert (row.state, row.gap) == ("unknown", None) and "tests/prompts" in str(row.note)


def test_the_word_of_a_runner_goes_before_the_source(tmp_path: Any) -> None:
    listed = (Listed("test_a", "tests/test_a.py", 1, ("C1", "C2"), cases=3),)
    tests = [_test(), _test("test_gone", "tests/test_gone.py")]
    found = _trace(tmp_path, tests, [Collection(PY, listed, complete=True)], "test", "test")
    assert [(one.name, one.found, one.cases) for one in _row(found, "C2").tests] == [("test_a", "collected", 3)]
    assert [one.test.name for one in found.unrun] == ["test_gone"]
    assert found.unrun[0].why == "tests/py does not collect it"


@pytest.mark.parametrize(
    ("open_", "runs"), [((), True), (("tests/test_a.py",), True), (("tests",), True), (("tests/test_b.py",), False)]
)
def test_half_an_answer_speaks_for_the_files_that_it_knows(tmp_path: Any, open_: tuple[str, ...], runs: bool) -> None:
    found = _trace(tmp_path, [_test()], [Collection(PY, (), complete=False, open=open_)])
    assert bool(_row(found).tests[0].nodes) is runs


def test_tests_that_only_a_runner_knows_are_there_too(tmp_path: Any) -> None:
    listed = (Listed("test_made", "tests/made.py", 3, ("C1",)), Listed("test_plain", "tests/made.py", 9, ()))
    row = _row(_trace(tmp_path, [], [Collection(PY, listed, complete=True)]))
    assert [(one.name, one.found, one.node) for one in row.tests] == [("test_made", "collected", "tests/py")]


def test_a_title_that_is_filled_in_at_run_time(tmp_path: Any) -> None:
    tests = [
        _test("cart > n %i of ${name} (a+b) [C1]", "web/a.test.ts", 3, language="typescript"),
        _test("cart > other [C1]", "web/a.test.ts", 9, language="typescript"),
    ]
    listed = (
        Listed("cart > n 1 of x (a+b) [C1]", "web/a.test.ts", 5, ("C1",)),
        Listed("cart > n 2 of y (a+b) [C1]", "web/a.test.ts", 5, ("C1",)),
    )
    found = _trace(tmp_path, tests, [Collection(WEB, listed, complete=True)])
    assert [(one.name, one.nodes) for one in _row(found).tests] == [
        ("cart > n %i of ${name} (a+b) [C1]", ("tests/web",)),
        ("cart > other [C1]", ()),
    ]


def test_several_tests_on_one_line_keep_their_ids(tmp_path: Any) -> None:
    tests = [_test("a [C1]", "web/a.test.ts", 1, "C1", language="typescript")]
    tests += [_test("b [C2]", "web/a.test.ts", 1, "C2", skipped="test.skip", language="typescript")]
    listed = (Listed("a [C1]", "web/a.test.ts", 1, ("C1",)),)
    found = _trace(tmp_path, tests, [Collection(WEB, listed, complete=True)], "test", "test")
    assert [one.name for one in _row(found, "C1").tests] == ["a [C1]"]
    # Vitest lists no test that is skipped: that is no reason to call it not run.
    assert [(one.name, one.unrun) for one in _row(found, "C2").tests] == [("b [C2]", None)]


def test_go_and_rust_are_matched_by_package_and_module(tmp_path: Any) -> None:
    go, rust = Node("tests", "go", "go test ./...", "api", "go"), Node("tests", "rs", "cargo test", "crate", "cargo")
    tests = [
        _test("TestA/adds_[C1]", "api/cart/a_test.go", 1, language="go"),
        _test("TestA/adds_[C1]", "api/shop/a_test.go", 1, language="go"),
        _test("tests::sums", "crate/src/deep/x.rs", 1, language="rust"),
        _test("tests::lost", "crate/src/deep/y.rs", 1, language="rust"),
    ]
    said = [
        Collection(go, (Listed("TestA", package="api/cart"),), complete=True),
        Collection(rust, (Listed("deep::x::tests::sums"),), complete=True),
    ]
    found = _trace(tmp_path, tests, said)
    assert [(one.file, one.node) for one in _row(found).tests] == [
        ("api/cart/a_test.go", "tests/go"),
        ("api/shop/a_test.go", None),
        ("crate/src/deep/x.rs", "tests/rs"),
        ("crate/src/deep/y.rs", None),
    ]


def test_files_that_jest_lists(tmp_path: Any) -> None:
    jest = Node("tests", "jest", "jest", ".", "jest")
    tests = [_test("a", f"{name}.test.js", language="javascript") for name in ("in", "out")]
    found = _trace(tmp_path, tests, [Collection(jest, files=frozenset({"in.test.js"}), complete=True)])
    assert [(one.file, one.node) for one in _row(found).tests] == [("in.test.js", "tests/jest"), ("out.test.js", None)]


def test_whose_id_it_is(tmp_path: Any) -> None:
    tests = [
        _test("own", "a.py", 1, "cart:C1"),
        _test("other", "b.py", 2, "shop:C1"),
        _test("nobody", "c.py", 3, "gone:C1"),
        _test("doubtful", "d.py", 4, "C1"),
        _test("foreign", "e.py", 5, "C8"),
        _test("typo", "f.py", 6, "C9"),
    ]

    def ours(name: str, file: str | None) -> str | None:
        return f"shop has it too, and so on ({name})" if name in ("C1", "C8") else None

    found = _trace(tmp_path, tests, [Collection(PY)], ours=ours)
    assert [one.name for one in _row(found).tests] == ["own"]
    assert [(one.id, one.test.name) for one in found.others] == [("shop:C1", "other"), ("C8", "foreign")]
    assert [(one.id, one.test.place, one.why) for one in found.unknown] == [
        ("gone:C1", "c.py:3", "there is no feature gone"),
        ("C9", "f.py:6", "the plan of cart does not have it"),
    ]
    assert [(one.test.name, one.fix) for one in found.ambiguous] == [("doubtful", "write cart:C1 if it is meant")]


def test_only_ambiguous_ids_are_a_gap(tmp_path: Any) -> None:
    found = _trace(tmp_path, [_test()], [Collection(PY)], ours=lambda name, file: "shop has it too, and …")
    assert _row(found).gap == "no test carries it, only ambiguous ids"


def test_a_plan_that_cannot_be_read_is_not_known(tmp_path: Any) -> None:
    found = assemble("cart", Owed(problem="the plan has 2 errors"), [], [], lambda name, file: None, frozenset())
    assert found.rows is None and not found.settled
    assert found.problems == ("scenarios are not verified: the plan has 2 errors; run `morph-spec plan-check cart`",)
    assert found.as_json()["scenarios"] is None


def test_without_nodes_nothing_runs(tmp_path: Any) -> None:
    none = Node("tests", "none", skip="the project declares that it has no tests")
    found = _trace(tmp_path, [_test()], [Collection(none)])
    assert found.unrun[0].why == "no test node is declared or inferred"
