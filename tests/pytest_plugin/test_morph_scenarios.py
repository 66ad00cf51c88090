"""The pytest plugin in real runs of pytest: the mark, the property, the report, and that it breaks nothing."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from morph_tasks import pytest_plugin
from morph_tasks.verify.junit import read_junit

FOLDER = Path(pytest_plugin.__path__[0])
REPOSITORY = FOLDER.parents[1]

SUITE = """\
import os
import pytest

pytestmark = pytest.mark.scenario("C9")


@pytest.mark.scenario("C1", "cart:C2")
def test_two_ids():
    assert "MORPH_TEST_REPORT" not in os.environ


@pytest.mark.parametrize(
    "x", [pytest.param(1, marks=pytest.mark.scenario("C5")), pytest.param(2, marks=[pytest.mark.scenario("C6")])]
)
def test_params(x):
    assert x == 1


@pytest.mark.scenario("C7")
class TestGroup:
    @pytest.mark.scenario("C8")
    @pytest.mark.scenario("C1")
    def test_method(self):
        pass


def test_during(request):
    request.node.add_marker(pytest.mark.scenario("C10"))
"""
ENDS = """\
import pytest

calls = []


@pytest.fixture
def broken():
    raise OSError


@pytest.fixture
def late():
    yield
    raise OSError


def test_pass(): pass
def test_fail(): assert 0
def test_setup(broken): pass
def test_teardown(late): pass
@pytest.mark.skip
def test_skip(): pass
def test_skip_inside(): pytest.skip("later")
@pytest.mark.xfail
def test_xfail(): assert 0
@pytest.mark.xfail
def test_xpass(): pass
@pytest.mark.xfail(strict=True)
def test_xpass_strict(): pass
"""


@dataclass(frozen=True)
class Ran:
    """How a run of pytest ended, what it printed, and the lines of the report (None: no file)."""

    code: int
    out: str
    lines: list[dict[str, Any]] | None

    @property
    def outcomes(self) -> dict[str, str]:
        return {one["nodeid"].partition("::")[2]: one["outcome"] for one in self.lines or () if "nodeid" in one}

    @property
    def scenarios(self) -> dict[str, set[str]]:
        return {one["nodeid"].partition("::")[2]: set(one["scenarios"]) for one in self.lines or () if "nodeid" in one}


Run = Callable[..., Ran]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Write files, run pytest on them as a node of a project would, and return what it left."""

    def go(
        files: dict[str, str],
        *args: str,
        python_path: str = str(FOLDER),
        report: str | None = "report.jsonl",
        before: str = "",
        **more: str,
    ) -> Ran:
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text, "utf-8")
        env = {**os.environ, "PYTHONPATH": python_path, **more}
        if report:
            env["MORPH_TEST_REPORT"] = str(tmp_path / report)
        # The interpreter of the tests has the package installed; without its site it is a project's that has not.
        code = f"import sys; {before}\n{_HIDE}import pytest; sys.exit(pytest.main(sys.argv[1:]))"
        done = subprocess.run(
            [sys.executable, "-c", code, "-p", "no:cacheprovider", *args],
            cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        place = tmp_path / (report or "report.jsonl")
        lines = [json.loads(line) for line in place.read_text().splitlines()] if place.is_file() else None
        return Ran(done.returncode, done.stdout + done.stderr, lines)

    return go


# Takes what the tests' own environment has installed, other than pytest, out of sight of the entry points.
_HIDE = """
import importlib.metadata as metadata
_all = metadata.distributions
metadata.distributions = lambda **kw: [d for d in _all(**kw) if d.metadata["Name"] not in ("morph-spec", "hypothesis")]
"""


def test_the_module_needs_nothing_of_the_package() -> None:
    code = "import sys; import morph_scenarios; sys.exit(any(name.startswith('morph_tasks') for name in sys.modules))"
    env = {**os.environ, "PYTHONPATH": str(FOLDER)}
    assert subprocess.run([sys.executable, "-c", code], env=env).returncode == 0


def test_marks_of_function_class_module_and_parameter_are_reported(run: Run, tmp_path: Path) -> None:
    ran = run({"test_a.py": SUITE}, "--strict-markers", "-q")
    assert ran.scenarios == {
        "test_two_ids": {"C1", "cart:C2", "C9"},
        "test_params[1]": {"C5", "C9"},
        "test_params[2]": {"C6", "C9"},
        "TestGroup::test_method": {"C1", "C7", "C8", "C9"},
        "test_during": {"C9", "C10"},
    }
    assert ran.lines is not None and ran.lines[-1] == {"ended": 1}
    first = ran.lines[0]
    assert (first["file"], first["path"], first["line"]) == ("test_a.py", str(tmp_path / "test_a.py"), 7)
    assert "arning" not in ran.out


def test_each_id_is_a_junit_property_of_its_test(run: Run, tmp_path: Path) -> None:
    run({"test_a.py": SUITE}, "--junitxml=junit.xml", report=None)
    reading = read_junit([tmp_path / "junit.xml"])
    assert {one.name: set(one.scenarios) for one in reading.tests} == {
        "test_two_ids": {"C1", "cart:C2", "C9"},
        "test_params[1]": {"C5", "C9"},
        "test_params[2]": {"C6", "C9"},
        "test_method": {"C1", "C7", "C8", "C9"},
        "test_during": {"C9", "C10"},
    }


def test_an_outcome_is_that_of_all_phases(run: Run) -> None:
    assert run({"test_a.py": ENDS}).outcomes == {
        "test_pass": "passed",
        "test_fail": "failed",
        "test_setup": "failed",
        "test_teardown": "failed",
        "test_skip": "skipped",
        "test_skip_inside": "skipped",
        "test_xfail": "skipped",
        "test_xpass": "passed",
        "test_xpass_strict": "failed",
    }


# What the plugins that try again do, each in its own way: a void attempt that is told, and one that is not.
_TOLD = """
import pytest
from _pytest.runner import runtestprotocol
@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    for last in (False, True):
        for report in runtestprotocol(item, nextitem=nextitem, log=False):
            if report.failed and not last:
                report.outcome = "WORD"
                item.ihook.pytest_runtest_logreport(report=report)
                item._initrequest()
                break
            item.ihook.pytest_runtest_logreport(report=report)
        else:
            return True
    return True
"""
_UNTOLD = """
import pytest
from _pytest import runner
_real = runner.call_and_report
def again(item, when, log=True, **kw):
    if when == "call":
        _real(item, when, log=False, **kw)
    return _real(item, when, log=log, **kw)
runner.call_and_report = again
"""
_WOBBLY = "calls = []\ndef test_wobbly():\n    calls.append(1)\n    assert len(calls) > 1\n\ndef test_firm(): pass\n"


@pytest.mark.parametrize("conftest", [_TOLD.replace("WORD", "rerun"), _TOLD.replace("WORD", "retried"), _UNTOLD])
def test_a_test_that_passes_on_another_try_is_flaky(run: Run, conftest: str) -> None:
    ran = run({"test_a.py": _WOBBLY, "conftest.py": conftest})
    assert [(one["outcome"], one["flaky"]) for one in ran.lines or () if "nodeid" in one] == [
        ("passed", True),
        ("passed", False),
    ], ran.out


def test_it_loads_once_by_folder_by_installation_and_by_name(run: Run, tmp_path: Path) -> None:
    installed = tmp_path / "site"
    (installed / "morph_spec-0.dist-info").mkdir(parents=True)
    (installed / "morph_spec-0.dist-info" / "METADATA").write_text("Name: morph-spec-installed\nVersion: 0\n")
    entry = "[pytest11]\nmorph_scenarios = morph_tasks.pytest_plugin.morph_scenarios\n"
    (installed / "morph_spec-0.dist-info" / "entry_points.txt").write_text(entry)
    both = os.pathsep.join([str(installed), str(REPOSITORY), str(FOLDER)])
    for path, named in (
        (str(FOLDER), ""),
        (both, ""),
        (both, "morph_scenarios"),
        (str(FOLDER), "morph_scenarios"),
    ):
        ran = run({"t/test_a.py": SUITE}, "t", "--junitxml=t/junit.xml", python_path=path, PYTEST_PLUGINS=named)
        assert [one["nodeid"] for one in ran.lines or () if "nodeid" in one].count("t/test_a.py::test_two_ids") == 1
        text = (tmp_path / "t" / "junit.xml").read_text()
        assert text.count('value="C8"') == 1, ran.out
        (tmp_path / "report.jsonl").unlink()


def test_a_command_that_sets_its_own_path_runs_without_it(run: Run) -> None:
    ran = run({"test_a.py": "def test_one(): pass\n"}, "-q", python_path="src")
    assert (ran.code, ran.lines) == (0, None), ran.out


@pytest.mark.parametrize("args", [["-p", "no:morph_scenarios"], []])
def test_blocked_or_without_a_folder_it_is_harmless(run: Run, args: list[str]) -> None:
    files = {"test_a.py": "def test_one(): pass\n"}
    assert run(files, *args, report="gone/report.jsonl").code == 0
    assert run(files, *args, report=".").code == 0


def test_a_full_disk_does_not_change_the_run(run: Run) -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full")
    ran = run({"test_a.py": SUITE.replace("x == 1", "x")}, "-q", report=None, MORPH_TEST_REPORT="/dev/full")
    assert ran.code == 0, ran.out


WRONG = {
    'scenario("banana")': "scenario('banana')",
    'scenario("C1", 3)': "scenario(3)",
    "scenario()": "scenario()",
    "scenario": "scenario()",
    'scenario(id="C1")': "scenario(id='C1')",
    'scenario("C1, C2")': "scenario('C1, C2')",
    'scenario("c3")': "scenario('c3')",
}


@pytest.mark.parametrize("args", [[], ["-W", "error"], ["--collect-only"]])
def test_a_mark_without_an_id_is_a_warning_with_its_place(run: Run, args: list[str]) -> None:
    tests = "".join(f"@pytest.mark.{mark}\ndef test_{number}(): pass\n" for number, mark in enumerate(WRONG))
    ran = run({"test_a.py": f"import pytest\n{tests}"}, *args)
    assert ran.code == 0, ran.out
    for number, said in enumerate(WRONG.values()):
        assert f"test_a.py:{2 * number + 2}: ScenarioWarning: {said}: write the ids of the plan" in ran.out
    assert ran.out.count("ScenarioWarning") == len(WRONG)


def test_one_bad_mark_of_many_parameters_is_said_once(run: Run) -> None:
    text = (
        "import pytest\n@pytest.mark.scenario('c1')\n@pytest.mark.parametrize('x', [1, 2, 3])\ndef test_one(x): pass\n"
    )
    assert run({"test_a.py": text}).out.count("ScenarioWarning") == 1


def test_a_pytest_inside_of_a_test_is_no_part(run: Run) -> None:
    inner = (
        "import subprocess, sys, pytest\n\ndef test_outer(tmp_path):\n"
        "    (tmp_path / 'test_inner.py').write_text('def test_inner(): pass')\n"
        "    assert subprocess.run([sys.executable, '-m', 'pytest', str(tmp_path)]).returncode == 0\n"
        "    assert pytest.main([str(tmp_path / 'test_inner.py'), '-q']) == 0\n"
    )
    assert run({"test_a.py": inner}, "-p", "no:cacheprovider").outcomes == {"test_outer": "passed"}


def test_chained_runs_and_runs_of_one_process_are_all_there(run: Run) -> None:
    files = {"test_a.py": "def test_a(): pass\n", "test_b.py": "def test_b(): pass\n"}
    run(files, "test_a.py")
    ran = run(files, "test_a.py", before="import pytest; pytest.main(['test_b.py'])")
    assert [one.get("nodeid", "ended") for one in ran.lines or ()] == [
        "test_a.py::test_a", "ended", "test_b.py::test_b", "ended", "test_a.py::test_a", "ended",
    ]  # fmt: skip


def test_a_worker_writes_nothing(run: Run) -> None:
    conftest = (
        "import pytest\n@pytest.hookimpl(tryfirst=True)\ndef pytest_configure(config):\n    config.workerinput = {}\n"
    )
    ran = run({"test_a.py": SUITE, "w.py": conftest}, "-p", "w", python_path=f"{FOLDER}{os.pathsep}.")
    assert ran.lines is None and "2 passed" not in ran.out and "passed" in ran.out


@pytest.mark.skipif(importlib.util.find_spec("xdist") is None, reason="pytest-xdist is not installed")
def test_workers_report_through_their_controller(run: Run) -> None:
    crash = "import os, pytest\n\n@pytest.mark.scenario('C3')\ndef test_crash(): os._exit(3)\n"
    ran = run({"test_a.py": SUITE, "test_b.py": ENDS, "test_c.py": crash}, "-n2", "-W", "error")
    assert ran.outcomes["test_crash"] == "failed" and ran.scenarios["test_two_ids"] == {"C1", "cart:C2", "C9"}
    assert sum("ended" in one for one in ran.lines or ()) == 1
    assert len(ran.outcomes) == 5 + 9 + 1
    bad = "import pytest\n\n@pytest.mark.scenario('banana')\ndef test_one(): pass\n"
    ran = run({"test_a.py": bad}, "-n2", "-W", "error", "test_a.py")
    assert ran.code == 0 and ran.out.count("test_a.py:3: ScenarioWarning") == 1, ran.out
