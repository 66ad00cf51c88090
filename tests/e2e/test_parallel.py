"""The story of three features at once is run as it is told: real containers, a real browser, a fake only for GitHub."""

from __future__ import annotations

import os
import pwd
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.test_application import CHROMIUM, NPM, _needs, _works
from tests.e2e.test_readme import ROOT, Session, play, session
from tests.gh import make_gh

__all__ = ["session"]
PAGE = ROOT / "docs/parallel.md"
FEATURES = ("title", "limit", "colours")


def _told(here: Path, first: list[str]) -> Callable[[str], str]:
    """Return what shows a home instead of a temporary folder, and the ports of the page instead of this run's."""

    def told(said: str) -> str:
        said = said.replace(str(here), "/home/ana")
        for port in re.findall(r"\b2\d{3}0\b", said):
            first.extend([] if port in first else [port])
        for number, port in enumerate(first):
            said = re.sub(rf"\b{port[:-1]}(?=\d\b)", f"23{number:02}", said)
        return said

    return told


def _left() -> str:
    filters = [f"label=com.docker.compose.project=morph-{feature}" for feature in FEATURES]
    said = [subprocess.run(["docker", "ps", "-aq", "--filter", one], capture_output=True, text=True) for one in filters]
    return "".join(one.stdout for one in said)


def test_three_features_at_once_end_in_three_ways(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugins = Path(pwd.getpwuid(os.getuid()).pw_dir) / ".docker"
    if "DOCKER_CONFIG" not in os.environ and (plugins / "cli-plugins").is_dir():
        # Tests have a home of their own, and Compose may be installed for one person only.
        monkeypatch.setenv("DOCKER_CONFIG", str(plugins))
    _needs(_works("docker", "version") and _works("docker", "compose", "version"), "a Docker engine with Compose")
    _needs(shutil.which("node") is not None and NPM.is_dir(), "node with tests/runners-npm")
    _needs(Path(CHROMIUM).exists(), "Chromium")
    assert _works(str(ROOT / "examples/stack/base-image"))
    assert not _left(), "somebody else's containers have the names of the story"
    npm = tmp_path / "tools/npm"
    npm.parent.mkdir()
    npm.write_text(f'#!/bin/sh\ncp -R "{NPM}" web/node_modules\n')
    npm.chmod(0o755)
    gh = make_gh(tmp_path / "gh")
    origin = tmp_path / "origin.git"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(origin)], check=True)
    session.env |= {"MORPH_SPEC": str(ROOT), "ORIGIN": str(origin), "MORPH_HEAVY": "off", "COLUMNS": "120"}
    session.env |= {name: os.environ[name] for name in ("DOCKER_CONFIG",) if name in os.environ}
    session.env |= {"PATH": f"{gh.bin}:{npm.parent}:{session.env['PATH']}"}
    try:
        play(session, "parallel", PAGE, _told(session.cwd, []))
        assert not _left(), "a feature that has ended leaves no container"
    finally:
        for feature in FEATURES:
            session.type(f"morph-spec e2e down {feature} --volumes")
    assert [row["headRefName"] for row in gh.pulls()] == ["morph/limit"]
