"""What is read from Playwright's JSON: every outcome, scenarios, what cannot be read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from morph_tasks.stack.specs_report import Report, read_report


def result(status: str, message: str = "", **more: Any) -> dict[str, Any]:
    error = {"error": {"message": message}} if message else {}
    return {"status": status, "annotations": [], "attachments": [], **error, **more}


def spec(title: str, *tests: dict[str, Any], line: int = 3, file: str = "a.spec.ts") -> dict[str, Any]:
    return {"title": title, "file": file, "line": line, "tests": list(tests)}


def case(
    status: str, *results: dict[str, Any], expected: str = "passed", project: str = "", notes: Any = ()
) -> dict[str, Any]:
    return {
        "status": status,
        "expectedStatus": expected,
        "projectName": project,
        "annotations": list(notes),
        "results": list(results),
    }


PASSED = case("expected", result("passed"))


def document(*specs: dict[str, Any], root: Path | str = "/", errors: Any = (), config: Any = None) -> dict[str, Any]:
    inner = {"title": "cart", "file": "a.spec.ts", "line": 1, "specs": list(specs), "suites": []}
    outer = {"title": "a.spec.ts", "file": "a.spec.ts", "line": 0, "specs": [], "suites": [inner]}
    return {"config": {"rootDir": str(root), **(config or {})}, "suites": [outer], "errors": list(errors), "stats": {}}


def read(tmp_path: Path, *documents: Any) -> Report:
    paths = []
    for number, said in enumerate(documents):
        paths.append(tmp_path / f"{number}.json")
        paths[-1].write_text(json.dumps(said))
    found = read_report(paths, tmp_path)
    assert found is not None
    return found


def test_every_outcome_counts_as_what_it_is(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        document(
            spec("passes", PASSED, line=1),
            spec("fails", case("unexpected", result("failed", "Error: no\nmore")), line=2),
            spec("times out", case("unexpected", result("timedOut", "Test timeout")), line=3),
            spec("passes at last", case("flaky", result("failed", "x"), result("passed")), line=4),
            spec("is skipped", case("skipped", result("skipped"), expected="skipped"), line=5),
            spec("never began", case("skipped"), line=6),
            spec("never began, and would have been skipped", case("skipped", expected="skipped"), line=7),
            spec("broke off", case("skipped", result("interrupted", "closed")), line=8),
            spec("fails as it should", case("expected", result("failed", "x"), expected="failed"), line=9),
        ),
    )
    assert found.counts == {"passed": 2, "failed": 2, "flaky": 1, "skipped": 1, "did_not_run": 2, "interrupted": 1}
    assert found.executed == 5
    assert {test.name: test.status for test in found.tests} == {
        "cart > passes": "passed",
        "cart > fails": "failed",
        "cart > times out": "failed",
        "cart > passes at last": "flaky",
        "cart > is skipped": "skipped",
        "cart > never began": "skipped",
        "cart > never began, and would have been skipped": "skipped",
        "cart > broke off": "skipped",
        # no proof that the feature works
        "cart > fails as it should": "skipped",
    }
    assert [str(one) for one in found.failed] == [
        "a.spec.ts:2 cart > fails: Error: no",
        "a.spec.ts:3 cart > times out: Test timeout",
    ]


def test_scenarios_come_from_titles_and_annotations_and_not_from_tags(tmp_path: Path) -> None:
    notes = [
        {"type": "scenario", "description": "C2, cart:C03"},
        {"type": "scenario", "description": "[C4]"},
        {"type": "issue", "description": "C9"},
    ]
    while_it_ran = result("passed", annotations=[{"type": "scenario", "description": "C5"}])
    tagged = {**spec("[C1] adds", case("expected", while_it_ran, notes=notes), line=7), "tags": ["C8"]}
    found = read(tmp_path, document(tagged))
    (test,) = found.tests
    assert test.scenarios == ("C1", "C2", "cart:C3", "C4", "C5")
    assert (test.file, test.line) == ("a.spec.ts", 7)


@pytest.mark.parametrize("said", ["", None, "soon", "c1", "C"])
def test_an_annotation_without_an_id_is_a_warning_with_its_place(tmp_path: Path, said: Any) -> None:
    found = read(
        tmp_path,
        document(spec("adds", case("expected", result("passed"), notes=[{"type": "scenario", "description": said}]))),
    )
    assert found.tests[0].scenarios == ()
    assert "a.spec.ts:3 cart > adds: the annotation scenario names no scenario" in found.warnings[0]


@pytest.mark.parametrize(
    ("first", "second", "worst"),
    [
        (PASSED, case("unexpected", result("failed", "x")), "failed"),
        (PASSED, case("flaky", result("failed"), result("passed")), "flaky"),
        (case("skipped", result("skipped"), expected="skipped"), PASSED, "passed"),
    ],
)
def test_of_several_browsers_the_worst_one_counts(tmp_path: Path, first: Any, second: Any, worst: str) -> None:
    both = spec("[C1] adds", {**first, "projectName": "chromium"}, {**second, "projectName": "firefox"})
    found = read(tmp_path, document(both))
    assert [test.status for test in found.tests] == [worst]
    if worst == "failed":
        assert found.failed[0].name == "[firefox] cart > [C1] adds"


def test_files_are_relative_to_the_tree(tmp_path: Path) -> None:
    found = read(tmp_path, document(spec("adds", PASSED, file="specs/a.spec.ts"), root=tmp_path / "web"))
    assert found.tests[0].file == "web/specs/a.spec.ts"


def test_reports_of_several_calls_are_added(tmp_path: Path) -> None:
    found = read(
        tmp_path, document(spec("a", PASSED)), document(spec("b", PASSED), errors=[{"message": "Error: boom\nat x"}])
    )
    assert found.counts["passed"] == 2
    assert found.errors == ("Error: boom",)


def test_no_tests_is_told_from_other_errors(tmp_path: Path) -> None:
    said = {"config": {}, "suites": [], "errors": [{"message": "Error: No tests found"}], "stats": {}}
    found = read(tmp_path, said)
    assert found.none_found
    assert found.errors == ()


def test_attachments_of_failures_alone(tmp_path: Path) -> None:
    attached = [
        {"name": "trace", "contentType": "application/zip", "path": "/out/t.zip"},
        {"name": "note", "body": "eA=="},
    ]
    found = read(
        tmp_path,
        document(
            spec("red", case("unexpected", result("failed", "x", attachments=attached)), line=1),
            spec(
                "flaky", case("flaky", result("failed", attachments=[{"path": "/out/f.png"}]), result("passed")), line=2
            ),
            spec("green", case("expected", result("passed", attachments=[{"path": "/out/g.png"}])), line=3),
            spec("relative", case("unexpected", result("failed", attachments=[{"path": "out/r.png"}])), line=4),
        ),
    )
    assert [str(one.path) for one in found.attached] == ["/out/t.zip", "/out/f.png"]


def test_colours_are_no_part_of_a_message(tmp_path: Path) -> None:
    found = read(tmp_path, document(spec("red", case("unexpected", result("failed", "\x1b[31mError: no\x1b[39m")))))
    assert found.failed[0].message == "Error: no"


def test_the_configured_addresses_and_a_server_of_its_own(tmp_path: Path) -> None:
    config = {
        "webServer": {"command": "npm start"},
        "filteredProjects": [{"use": {"baseURL": "http://localhost:3000"}}, {}],
    }
    found = read(tmp_path, document(spec("a", PASSED), config=config))
    assert found.own_server == "npm start"
    assert found.base_urls == ("http://localhost:3000",)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "{}", '{"suites": []}', '{"suites": 1, "errors": []}', "\x00" * 9, "[" * 100_000]
)
def test_what_is_no_report_is_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "report.json"
    path.write_text(text)
    assert read_report([path], tmp_path) is None


@pytest.mark.parametrize("suites", [[1], [{"specs": [1]}], [{"specs": [{"tests": [1]}]}], [{"suites": 3}]])
def test_json_of_another_shape_is_none(tmp_path: Path, suites: Any) -> None:
    path = tmp_path / "report.json"
    path.write_text(json.dumps({"suites": suites, "errors": []}))
    assert read_report([path], tmp_path) is None


def test_one_torn_report_of_two_makes_the_sum_unknown(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(document(spec("a", PASSED))))
    (tmp_path / "b.json").write_text("")
    assert read_report([tmp_path / "a.json", tmp_path / "b.json"], tmp_path) is None
    assert read_report([], tmp_path) is None


def test_a_link_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(document(spec("a", PASSED))))
    (tmp_path / "b.json").symlink_to("a.json")
    assert read_report([tmp_path / "b.json"], tmp_path) is None


_WHOLE = json.dumps(document(spec("[C1] é", PASSED), spec("b", case("unexpected", result("failed", "x")), line=9)))


@given(st.integers(min_value=0, max_value=len(_WHOLE) - 1))
def test_a_report_that_is_cut_off_anywhere_is_none(tmp_path_factory: pytest.TempPathFactory, at: int) -> None:
    path = tmp_path_factory.getbasetemp() / "torn.json"
    path.write_text(_WHOLE[:at])
    assert read_report([path], path.parent) is None
