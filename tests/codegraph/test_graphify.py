"""Where graphify is, which version, and whether that is one we know."""

from __future__ import annotations

import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from morph_tasks.codegraph import graphify
from tests.codegraph.scene import GRAPHIFY
from tests.conftest import ROOT


def test_the_range_is_that_of_the_extra_and_of_the_developers() -> None:
    said = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    wanted = f"{graphify.PACKAGE}{graphify.PINNED}"
    assert said["project"]["optional-dependencies"]["graph"] == [wanted]
    assert wanted in said["dependency-groups"]["dev"]
    assert wanted in graphify.INSTALL


def test_the_installed_version_is_read_without_running_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("morph_tasks.proc.run_bounded", lambda *_, **__: pytest.fail("it was run"))
    assert graphify.find() == str(GRAPHIFY)
    assert graphify.ask_version(str(GRAPHIFY)) == version("graphifyy")


def test_a_script_with_a_long_interpreter_path_is_read_as_well(tmp_path: Path) -> None:
    python = tmp_path / "with space" / "bin" / "python3"
    python.parent.mkdir(parents=True)
    python.touch()
    (tmp_path / "with space/lib/python3.12/site-packages/graphifyy-0.9.77.dist-info").mkdir(parents=True)
    script = tmp_path / "graphify"
    script.write_text(f"#!/bin/sh\n'''exec' \"{python}\" \"$0\" \"$@\"\n' '''\n")
    assert graphify.version_of(str(script)) == "0.9.77"


@pytest.mark.parametrize(
    "text", ["", "#!/usr/bin/env python3\n", "\x7fELF", "#!/nowhere/python\n", "#!/bin/sh\nexit 0\n"]
)
def test_a_program_that_tells_nothing_has_no_version(tmp_path: Path, text: str) -> None:
    script = tmp_path / "graphify"
    script.write_text(text)
    assert graphify.version_of(str(script)) is None


KNOWN = {
    "0.9.50": True,
    "0.9.96": True,
    "0.9.100rc1": True,
    **dict.fromkeys(["0.9.49", "0.9", "0.10", "0.10.0", "1.0"], False),
    **dict.fromkeys(["", "soon", None], None),
}


@pytest.mark.parametrize(("version", "known"), KNOWN.items())
def test_the_range(version: str | None, known: bool | None) -> None:
    assert graphify.matches(version) is known


@given(st.text())
def test_no_version_is_a_fault(text: str) -> None:
    assert graphify.matches(text) in (True, False, None)


def test_what_would_move_the_output_is_not_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHIFY_OUT", "/elsewhere")
    monkeypatch.setenv("GIT_DIR", "/elsewhere")
    env = graphify.environment()
    assert "GRAPHIFY_OUT" not in env and "GIT_DIR" not in env
    assert env["GRAPHIFY_NO_AUTO_REFRESH"] == "1" and env["PATH"]


def test_one_that_is_installed_beside_us_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert str(GRAPHIFY.parent) in graphify.unavailable().fix
    monkeypatch.setattr("sys.executable", "/nowhere/bin/python")
    assert graphify.unavailable().fix == graphify.INSTALL
