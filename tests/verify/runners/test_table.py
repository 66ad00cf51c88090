"""The table of runners is complete, typed and documented."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from morph_tasks.verify import runners
from morph_tasks.verify.runners.describe import table
from morph_tasks.verify.runners.programs import MODULES, PROGRAMS
from morph_tasks.verify.runners.table import RUNNERS, full_name
from morph_tasks.verify.runners.text import Log

# Modules beside the runners that read no output of their own.
_HELPERS = {
    "owners",
    "results",
    "tap",
    "told",
    "describe",
    "detect",
    "infer",
    "jestjson",
    "joined",
    "judge",
    "model",
    "prefixes",
    "programs",
    "read",
    "sessions",
    "shell",
    "streams",
    "table",
    "text",
}
_DOCS = Path(__file__).parents[3] / "docs" / "runners.md"


def test_every_module_on_disk_is_registered() -> None:
    (folder,) = runners.__path__
    on_disk = {path.stem for path in Path(folder).glob("*.py")} - {"__init__"} - _HELPERS
    assert {name.replace("-", "_") for name in RUNNERS} == on_disk
    for name, runner in RUNNERS.items():
        assert runner is import_module(f"morph_tasks.verify.runners.{name.replace('-', '_')}")


@pytest.mark.parametrize("name", RUNNERS)
def test_a_runner_offers_what_the_protocol_says(name: str) -> None:
    runner = RUNNERS[name]
    assert isinstance(runner.ALIASES, tuple) and runner.SUMMARY and runner.ZERO
    assert all(isinstance(code, int) and reason for code, reason in runner.EXITS.items())
    assert runner.failures("") == [] and callable(runner.read)
    assert list(runner.results(Log(b""))) == []


def test_names_are_unique_and_what_commands_name_exists() -> None:
    words = [word for name, runner in RUNNERS.items() for word in (name, *runner.ALIASES)]
    assert len(words) == len(set(words))
    assert all(full_name(word) == name for name, runner in RUNNERS.items() for word in (name, *runner.ALIASES))
    assert full_name("no such runner") is None


def test_asking_what_there_is_loads_no_reader() -> None:
    said = (
        "import sys; from morph_tasks.verify.runners.table import RUNNERS; assert 'pytest' in RUNNERS;"
        "print([name for name in sys.modules if name.endswith(('runners.pytest', 'runners.dotnet'))])"
    )
    assert subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_commands_name_runners_that_exist() -> None:
    assert {*PROGRAMS.values(), *MODULES.values()} == RUNNERS.keys() - {"none", "node-test"}


def test_the_documentation_holds_the_table() -> None:
    text = _DOCS.read_text("utf-8")
    begin, end = "<!-- runners: begin -->\n", "<!-- runners: end -->"
    assert text[text.index(begin) + len(begin) : text.index(end)].strip() == table().strip(), (
        "put the output of describe.table() into docs/runners.md"
    )
