"""JUnit XML of many tools, of broken runs, and of hostile ones."""

# ruff: noqa: E501 (outputs stand as the tools print them)

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from morph_tasks.verify.junit import JUnitReading, find_reports, read_junit


def read(tmp_path: Path, *texts: str) -> JUnitReading:
    paths = []
    for number, text in enumerate(texts):
        paths.append(tmp_path / f"report-{number}.xml")
        paths[-1].write_text(text, encoding="utf-8")
    return read_junit(paths)


PYTEST = """<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests"><testsuite name="pytest" errors="1" failures="1"
 skipped="2" tests="5" time="0.1" timestamp="2026-01-01T00:00:00"><testcase classname="tests.test_a.TestSum" name="test_adds" time="0.001" />
<testcase classname="tests.test_a" name="test_bad" time="0.002"><failure message="assert 1 == 2">def test_bad():\n&gt; assert 1 == 2</failure></testcase>
<testcase classname="tests.test_a" name="test_boom" time="0.000"><error message="failed on setup">boom</error></testcase>
<testcase classname="tests.test_a" name="test_later" time="0.000"><skipped type="pytest.skip" message="later">x</skipped></testcase>
<testcase classname="tests.test_a" name="test_known" time="0.000"><skipped type="pytest.xfail" message="bug" /></testcase></testsuite></testsuites>"""
JEST = """<testsuites name="jest tests" tests="2" failures="0" errors="0" time="1"><testsuite name="a" errors="0" failures="0" tests="1">
<testcase classname="a adds" name="a adds" file="a.test.js" time="0.1"/></testsuite><testsuite name="b" errors="1" failures="0" tests="1">
<testcase classname="Test suite failed to run" name="b.test.js" time="0"><error>Cannot find module</error></testcase></testsuite></testsuites>"""
SUREFIRE = """<testsuite xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" name="com.shop.SumTest" time="1,234.5" tests="3" errors="0" skipped="0" failures="1">
<properties><property name="a" value="b"/></properties><testcase name="adds" classname="com.shop.SumTest" time="1,234.5"/>
<testcase name="wobbles" classname="com.shop.SumTest"><flakyFailure message="once"><stackTrace>x</stackTrace></flakyFailure></testcase>
<testcase name="fails" classname="com.shop.SumTest"><failure message="no"/><rerunFailure message="again"/><system-out>hi</system-out></testcase></testsuite>"""
PHPUNIT = """<testsuites><testsuite name="all" tests="2" assertions="2" errors="0" failures="0" skipped="0"><testsuite name="ATest" file="/a/ATest.php"
 tests="2"><testcase name="testOne" class="ATest" file="/a/ATest.php" line="3"/><testcase name="testTwo" class="ATest" line="9"/></testsuite></testsuite></testsuites>"""
NODE = """<testsuites><testcase name="c" time="0.001387" classname="test"/><testsuite name="s" tests="1" failures="0" skipped="1"><testcase name="d"><skipped
 type="skipped" message="true"/></testcase></testsuite><!-- tests 2 --></testsuites>"""
GTEST = """<testsuites tests="2" failures="0" disabled="1" errors="0"><testsuite name="S" tests="2" disabled="1"><testcase name="a" status="run" result="completed"
 classname="S"/><testcase name="b" status="notrun" result="suppressed" classname="S"/></testsuite></testsuites>"""
CTEST = """<testsuite name="Linux" tests="2" failures="0" disabled="0" skipped="1"><testcase name="good" classname="good" status="run"/>
<testcase name="sk" classname="sk" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/></testcase></testsuite>"""


@pytest.mark.parametrize(
    ("text", "counts", "executed"),
    [
        (PYTEST, {"passed": 1, "failed": 1, "errors": 1, "skipped": 1, "xfailed": 1, "total": 5}, 4),
        (JEST, {"passed": 1, "errors": 1, "total": 2}, 2),
        (SUREFIRE, {"passed": 2, "failed": 1, "flaky": 1}, 3),
        (PHPUNIT, {"passed": 2, "total": 2}, 2),
        (NODE, {"passed": 1, "skipped": 1}, 1),
        (GTEST, {"passed": 1, "skipped": 1}, 1),
        (CTEST, {"passed": 1, "skipped": 1}, 1),
        ("<testsuites/>", {"total": 0}, 0),
    ],
)
def test_a_dialect_is_read(tmp_path: Path, text: str, counts: dict[str, int], executed: int) -> None:
    got = read(tmp_path, text)
    assert got.counts is not None and got.executed == executed
    assert {word: got.counts[word] for word in counts} == counts
    assert got.suite_errors == () and got.unreadable == ()


def test_a_case_says_where_and_why(tmp_path: Path) -> None:
    bad = next(test for test in read(tmp_path, PYTEST).tests if test.status == "failed")
    assert (bad.id, bad.message, bad.time) == ("tests.test_a::test_bad", "assert 1 == 2", 0.002)
    one, two = read(tmp_path, PHPUNIT).tests
    assert (one.file, one.line, two.file, two.line) == ("/a/ATest.php", 3, "/a/ATest.php", 9)
    slow, wobbly, _ = read(tmp_path, SUREFIRE).tests
    assert (slow.time, wobbly.flaky, wobbly.status) == (1234.5, True, "passed")


@pytest.mark.parametrize("cut", [1, 60, 400, -13, -1])
def test_a_report_that_is_not_whole_has_no_counts(tmp_path: Path, cut: int) -> None:
    got = read(tmp_path, PHPUNIT, PYTEST[:cut])
    assert got.counts is None and got.executed is None and len(got.unreadable) == 1


@pytest.mark.parametrize("text", ["", "not xml", "<html><body/></html>", "<testsuites>\x01</testsuites>"])
def test_what_is_no_report_is_said(tmp_path: Path, text: str) -> None:
    got = read(tmp_path, text)
    assert got.counts is None and got.unreadable


def test_entities_are_refused(tmp_path: Path) -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><testsuites><testsuite name="&b;"/></testsuites>'
    outside = f'<!DOCTYPE x [<!ENTITY a SYSTEM "{Path(__file__).as_uri()}">]><testsuites><testsuite name="x">&a;</testsuite></testsuites>'
    for text in (bomb, outside):
        got = read(tmp_path, text)
        assert got.counts is None and "entities" in got.unreadable[0] and got.tests == ()


@pytest.mark.parametrize(
    "text",
    [
        '<testsuite name="s" tests="1"><error message="beforeAll failed"/><testcase name="a"/></testsuite>',
        '<testsuite name="s" tests="5"><testcase name="a"/></testsuite>',
        '<testsuites><testsuite name="s" tests="0" errors="1"></testsuite></testsuites>',
    ],
)
def test_what_only_a_suite_says_is_kept(tmp_path: Path, text: str) -> None:
    got = read(tmp_path, text)
    assert len(got.suite_errors) == 1 and got.suite_errors[0].startswith("s")


def test_reports_of_an_earlier_run_are_left_out(tmp_path: Path) -> None:
    old, new = tmp_path / "old.xml", tmp_path / "new.xml"
    old.write_text(PYTEST)
    new.write_text(PHPUNIT)
    started = time.time_ns()
    os.utime(old, ns=(started - 60 * 10**9, started - 60 * 10**9))
    os.utime(new, ns=(started + 1, started + 1))
    got = read_junit([old, new], since_ns=started)
    assert (got.files, got.stale, got.executed) == ((new,), (old,), 2)
    assert read_junit([old], since_ns=started).counts is None


def test_a_clock_of_whole_seconds_is_no_earlier_run(tmp_path: Path) -> None:
    report = tmp_path / "a.xml"
    report.write_text(PHPUNIT)
    os.utime(report, ns=(1_700_000_000 * 10**9, 1_700_000_000 * 10**9))
    assert read_junit([report], since_ns=1_700_000_001 * 10**9).executed == 2
    assert read_junit([report], since_ns=1_700_000_003 * 10**9).counts is None


def test_one_file_named_twice_counts_once(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    report = tmp_path / "a" / "report.xml"
    report.write_text(PHPUNIT)
    (tmp_path / "b.xml").symlink_to(report)
    paths = find_reports(["**/*.xml", "a/*.xml"], tmp_path)
    assert read_junit(paths).executed == 2


def test_a_large_report_is_read(tmp_path: Path) -> None:
    case = '<testcase classname="pkg.T" name="test_{}" time="0.001"/>'
    body = "".join(case.format(number) for number in range(20_000))
    assert (
        read(tmp_path, f'<testsuites><testsuite name="s" tests="20000">{body}</testsuite></testsuites>').executed
        == 20_000
    )
