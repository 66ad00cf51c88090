"""The main job on other people's packages: unpacked from a source distribution, with nothing declared."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.conftest import Project

SOURCES = Path(__file__).with_name("sources.txt")

pytestmark = pytest.mark.soak


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Download the distributions from the package registry, each checked against its hash, and unpack them."""
    folder = tmp_path_factory.mktemp("sources")
    words = ["download", "-q", "--no-deps", "--no-binary", "click,pluggy", "--require-hashes", "-r", str(SOURCES)]
    subprocess.run([sys.executable, "-m", "pip", *words, "-d", str(folder)], check=True)
    for path in folder.glob("*.tar.gz"):
        with tarfile.open(path) as archive:
            archive.extractall(folder, filter="data")
    return folder


def _project(sources: Path, name: str) -> Project:
    [root] = [path for path in sources.glob(f"{name}-*") if path.is_dir()]
    project = Project(root)
    project.git("init", "-q", "-b", "main")
    project.commit("as published")
    assert project.morph("create", "try", "--type", "chore", "--description", "Try the tool").code == 0
    return project


@pytest.mark.parametrize(
    ("name", "tests", "file", "old", "new"),
    [
        (
            "click",
            1000,
            "src/click/formatting.py",
            "return tuple(y for x, y in sorted(widths.items()))",
            "return (1, 1)",
        ),
        ("pluggy", 100, "src/pluggy/_manager.py", "return name in self._name2plugin", "return False"),
    ],
)
def test_a_published_package(
    sources: Path, monkeypatch: pytest.MonkeyPatch, name: str, tests: int, file: str, old: str, new: str
) -> None:
    monkeypatch.setenv("PYTHONPATH", "src")
    project = _project(sources, name)
    green = project.verify("try")
    [suite] = green["nodes"]["tests"]["runs"]
    assert (green["exit"], suite["status"], suite["count"] >= tests) == (0, "pass", True), green["feedback"]
    for _ in range(2):
        again = project.verify("try")
        assert (again["exit"], bool(again["nodes"]["tests"]["runs"][0]["reused"])) == (0, True)
    text = (project.root / file).read_text("utf-8")
    if old not in text:
        pytest.fail(f"{file} of {name} is not what this test breaks")
    (project.root / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    assert f"file {file} changed" in project.morph("explain", "try").out
    red = project.verify("try")
    assert red["exit"] == 1
    named = [line.split()[1] for line in red["feedback"] if line.startswith("[tests/pytest]   test")]
    assert named and all("::" in name or ".py:" in name for name in named), red["feedback"]
    told = project.morph("why-failed", "try").out
    assert "log:" in told and all(name in told for name in named)
    (project.root / file).write_text(text, encoding="utf-8")
    back = project.verify("try")
    assert (back["exit"], bool(back["nodes"]["tests"]["runs"][0]["reused"])) == (0, True)


def test_this_repository(tmp_path: Path) -> None:
    """The checks that this repository declares, on a clone of it; the suites are left to the run that runs this."""
    here = Path(__file__).parents[2]
    subprocess.run(["git", "clone", "-q", str(here), str(tmp_path / "clone")], check=True)
    project = Project(tmp_path / "clone")
    assert project.morph("create", "self", "--type", "chore", "--description", "Verify ourselves").code == 0
    # The rooms without processes of their own: they say that the declaration and the readers work.
    document = project.verify("self", "--skip-tests")
    assert (document["exit"], document["nodes"]["build"]["status"]) == (0, "pass"), document["feedback"]
    config = project.root / ".morph/config/config.json"
    config.write_text(
        config.read_text("utf-8").replace("--ignore=tests/e2e --ignore=tests/scripts", "tests/plan tests/gates")
    )
    document = project.verify("self", "--filter", "rooms")
    suite = next(run for run in document["nodes"]["tests"]["runs"] if run["id"] == "rooms")
    assert (document["exit"], suite["count"] > 500) == (0, True), document["feedback"]
    assert os.path.exists(suite["log"])
