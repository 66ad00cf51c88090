"""The running application as a verify sees it: from nothing to green, again in no time, red where it is broken."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT, Project

NPM = ROOT / "tests/runners-npm/node_modules"
CHROMIUM = os.environ.get("CHROMIUM") or "/usr/bin/chromium"
ASKS = 'import os, urllib.request\nprint(urllib.request.urlopen(os.environ["PLAYWRIGHT_BASE_URL"]).status)\n'


def _works(*argv: str) -> bool:
    try:
        return subprocess.run(argv, capture_output=True, timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _needs(found: bool, what: str) -> None:
    if not found and os.environ.get("CI") == "true":
        pytest.fail(f"{what} is missing: scripts/test installs it")
    if not found:
        pytest.skip(f"{what} is missing: scripts/test installs it")


@pytest.fixture
def stack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], tuple[Project, str]]]:
    """Copies of the example of three containers, each with a feature of its own; what they brought up goes."""
    plugins = Path(pwd.getpwuid(os.getuid()).pw_dir) / ".docker"
    if "DOCKER_CONFIG" not in os.environ and (plugins / "cli-plugins").is_dir():
        # Tests have a home of their own, and Compose may be installed for one person only.
        monkeypatch.setenv("DOCKER_CONFIG", str(plugins))
    _needs(_works("docker", "version") and _works("docker", "compose", "version"), "a Docker engine with Compose")
    _needs(shutil.which("node") is not None and NPM.is_dir(), "node with tests/runners-npm")
    _needs(Path(CHROMIUM).exists(), "Chromium")
    assert _works(str(ROOT / "examples/stack/base-image"))
    made: list[tuple[Project, str]] = []

    def copy() -> tuple[Project, str]:
        feature = f"shop-{uuid.uuid4().hex[:8]}"
        project = Project(tmp_path / feature)
        shutil.copytree(ROOT / "examples/stack", project.root, ignore=shutil.ignore_patterns("node_modules"))
        (project.root / "web/node_modules").symlink_to(NPM)
        project.write(".gitignore", "node_modules\n")
        project.git("init", "-q", "-b", "main")
        project.commit()
        made.append((project, feature))
        assert project.morph("create", feature, "--type", "feature", "--description", "Quotes").code == 0
        plan = (project.root / "steps/plan.md").read_text()
        project.write(f".morph/features/{feature}/2-plan/plan.md", plan)
        return project, feature

    yield copy
    for project, feature in made:
        down = project.morph("e2e", "down", feature, "--volumes")
        assert down.code == 0, down.out + down.err
        left = subprocess.run(
            ["docker", "ps", "-aq", "--filter", f"label=com.docker.compose.project=morph-{feature}"],
            capture_output=True, check=True,
        )  # fmt: skip
        assert left.stdout == b""
        images = [f"morph-{feature}-{name}" for name in ("api", "web", "store")]
        subprocess.run(["docker", "image", "rm", "-f", *images], capture_output=True)


def _e2e(document: Any) -> Any:
    return document["nodes"]["e2e"]


def test_from_nothing_to_green_again_in_no_time_and_red_where_it_is_broken(
    stack: Callable[[], tuple[Project, str]],
) -> None:
    project, feature = stack()
    project.write("asks.py", ASKS)
    tests = [{"id": "against-it", "command": "python asks.py", "e2e": True}]
    project.config(project={"stack": "node+docker", "frontendPath": "web", "build": [], "tests": tests})
    green = project.verify(feature)
    assert green["exit"] == 0, green["feedback"]
    assert (_e2e(green)["status"], _e2e(green)["count"], _e2e(green)["stack"]["reusedBecause"]) == ("pass", 3, None)
    assert green["nodes"]["tests"]["runs"][0]["status"] == "pass", "it runs behind the specs, with the same environment"
    assert {one["id"]: one["state"] for one in green["scenarios"]} == {"C1": "proven", "C2": "proven", "C3": "proven"}
    assert green["scenarios"][0]["nodes"] == ["e2e"]
    running = _containers(feature)
    again = project.verify(feature)
    assert (again["exit"], _e2e(again)["stack"]["reusedBecause"]) == (0, "source unchanged since build")
    assert _containers(feature) == running, "nothing was restarted"
    assert project.morph("e2e", "status", feature).code == 0

    (project.root / "api/cgi-bin/quote").unlink()
    assert project.morph("e2e", "status", feature).code == 1, "it is not built from this code any more"
    broken = project.verify(feature)
    assert (broken["exit"], _e2e(broken)["runs"][0]["reason"]) == (1, "tests-failed")
    assert {one["id"]: one["state"] for one in broken["scenarios"]} == {"C1": "failed", "C2": "failed", "C3": "proven"}
    assert _e2e(broken)["runs"][0]["artifacts"], "what the browser saw is kept"

    project.git("checkout", "-q", "--", "api")
    compose = project.root / "compose.yaml"
    compose.write_text(compose.read_text().replace("${PORT:-3000}:8080", "${PORT:-3000}:8081"))
    lost = project.verify(feature)
    assert (lost["exit"], _e2e(lost)["status"]) == (1, "fail")


def test_two_features_at_once_do_not_touch_each_other(stack: Callable[[], tuple[Project, str]]) -> None:
    (one, first), (other, second) = stack(), stack()
    left, right = one.morph("e2e", "up", first, "--json").json, other.morph("e2e", "up", second, "--json").json
    assert left["ok"] and right["ok"]
    assert left["baseUrl"] != right["baseUrl"] and left["project"] != right["project"]
    before = _containers(second)
    assert one.morph("e2e", "down", first, "--volumes").code == 0
    assert _containers(second) == before
    assert other.morph("e2e", "status", second).code == 0


def test_what_is_deleted_takes_its_application_along(stack: Callable[[], tuple[Project, str]]) -> None:
    project, feature = stack()
    assert project.morph("e2e", "up", feature).code == 0
    project.commit()
    gone = project.morph("delete", feature)
    assert gone.code == 0, gone.out + gone.err
    assert _containers(feature) == []
    volumes = subprocess.run(["docker", "volume", "ls", "-q"], capture_output=True, text=True, check=True).stdout
    assert f"morph-{feature}" not in volumes


def test_a_dependency_that_is_not_well_is_told_apart_from_the_application(
    stack: Callable[[], tuple[Project, str]],
) -> None:
    project, feature = stack()
    compose = project.root / "compose.yaml"
    assert "STORE_URL" in compose.read_text()
    compose.write_text(compose.read_text().replace("http://store:8080", "http://store:9"))
    up = project.morph("e2e", "up", feature, "--timeout", "15", "--json")
    assert (up.code, up.json["ok"]) == (1, False)
    assert "api" in up.json["message"], up.json


def _containers(feature: str) -> list[str]:
    said = subprocess.run(
        ["docker", "ps", "-q", "--no-trunc", "--filter", f"label=com.docker.compose.project=morph-{feature}"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return sorted(said.stdout.split())
