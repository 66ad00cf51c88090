"""The example of three containers, brought up by Compose alone and used by a real browser: green, red where broken."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from morph_tasks.model.load import load_config
from morph_tasks.repo.git import open_repo
from morph_tasks.stack.smoke import Published, smoke
from morph_tasks.stack.specs import Specs, SpecsResult, find_specs, run_specs

ROOT = Path(__file__).parents[2]
NPM = ROOT / "tests/runners-npm/node_modules"
CHROMIUM = os.environ.get("CHROMIUM") or "/usr/bin/chromium"


def _needs(found: bool, what: str) -> None:
    if not found and os.environ.get("CI") == "true":
        pytest.fail(f"{what} is missing: scripts/test installs it")
    if not found:
        pytest.skip(f"{what} is missing: scripts/test installs it")


def _works(*argv: str) -> bool:
    try:
        return subprocess.run(argv, capture_output=True, timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


@dataclass
class Checkout:
    """A copy of the example with a project of Compose and a port of its own."""

    root: Path
    name: str
    port: int

    @property
    def env(self) -> dict[str, str]:
        return {"PORT": str(self.port), "PLAYWRIGHT_BASE_URL": f"http://127.0.0.1:{self.port}"}

    def change(self, path: str, old: str, new: str) -> None:
        text = (self.root / path).read_text()
        assert old in text
        (self.root / path).write_text(text.replace(old, new))

    def compose(self, *words: str) -> subprocess.CompletedProcess[str]:
        argv = ["docker", "compose", "-p", self.name, *words]
        return subprocess.run(
            argv, cwd=self.root, env={**os.environ, **self.env}, capture_output=True, text=True, timeout=300
        )

    def up(self) -> bool:
        return self.compose("up", "--detach", "--build", "--wait").returncode == 0

    def specs(self) -> SpecsResult:
        repo = open_repo(self.root)
        config = load_config(repo)
        found = find_specs(repo.root, config)
        assert isinstance(found, Specs)
        (self.root.parent / f"{self.name}-evidence").mkdir(exist_ok=True)
        log = self.root.parent / f"{self.name}-evidence" / "1.log"
        return run_specs(repo, config, found, self.env, log=log, ports=(self.port,))


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Checkout]]:
    """Copy the example; whatever its containers are at the end, they go."""
    plugins = Path(pwd.getpwuid(os.getuid()).pw_dir) / ".docker"
    if "DOCKER_CONFIG" not in os.environ and (plugins / "cli-plugins").is_dir():
        # Tests have a home of their own, and Compose may be installed for one person only.
        monkeypatch.setenv("DOCKER_CONFIG", str(plugins))
    _needs(_works("docker", "version") and _works("docker", "compose", "version"), "a Docker engine with Compose")
    _needs(shutil.which("node") is not None and NPM.is_dir(), "node with tests/runners-npm")
    _needs(Path(CHROMIUM).exists(), "Chromium")
    assert _works(str(ROOT / "examples/stack/base-image"))
    made: list[Checkout] = []

    def copy() -> Checkout:
        name = f"example-{uuid.uuid4().hex[:10]}"
        root = tmp_path / name
        shutil.copytree(ROOT / "examples/stack", root, ignore=shutil.ignore_patterns("node_modules"))
        # As a folder of a project would be: the files come from the locked packages of this repository.
        (root / "web/node_modules").symlink_to(NPM)
        (root / ".gitignore").write_text("node_modules\n")
        for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "An application"]):
            subprocess.run(["git", *words], cwd=root, check=True)
        made.append(Checkout(root, name, _free_port()))
        return made[-1]

    yield copy
    for one in made:
        down = one.compose("down", "--volumes", "--rmi", "local", "--remove-orphans", "--timeout", "1")
        assert down.returncode == 0, down.stderr


def test_two_checkouts_from_nothing_to_green_side_by_side(checkout: Callable[[], Checkout]) -> None:
    one, other = checkout(), checkout()
    other.change("web/site/index.html", "<h1>A shop</h1>", "<h1>Another shop</h1>")
    assert one.up()
    assert other.up()
    for each in (one, other):
        result = each.specs()
        assert (result.status, result.count, result.warnings, result.artifacts) == ("pass", 3, (), ())
        assert [test.scenarios for test in result.tests] == [("C1",), ("C2",), ("C3",)]
        assert [(test.file, test.status) for test in result.tests] == [("web/specs/shop.spec.js", "passed")] * 3
        found = smoke([Published("web", each.port, http=True)], deadline_s=10)
        assert (found.status, found.asked[0].status) == ("pass", 200)
    # the tree is as it was: reports, traces and the browser's own files went elsewhere
    assert subprocess.run(["git", "status", "--porcelain"], cwd=one.root, capture_output=True).stdout == b""


def test_an_endpoint_that_is_gone_is_red_and_what_the_browser_saw_is_kept(checkout: Callable[[], Checkout]) -> None:
    shop = checkout()
    (shop.root / "api/cgi-bin/quote").unlink()
    assert shop.up()
    result = shop.specs()
    assert (result.status, result.reason, result.count) == ("fail", "tests-failed", 3)
    assert {test.scenarios: test.status for test in result.tests} == {
        ("C1",): "failed",
        ("C2",): "failed",
        ("C3",): "passed",
    }
    kept = {path.suffix: path.read_bytes()[:4] for path in result.artifacts}
    assert kept[".png"] == b"\x89PNG"
    assert kept[".zip"] == b"PK\x03\x04"
    assert {path.stat().st_mode & 0o777 for path in result.artifacts} == {0o600}


def test_a_port_of_the_container_that_nobody_serves_is_red(checkout: Callable[[], Checkout]) -> None:
    shop = checkout()
    shop.change("compose.yaml", ':8080"\n    depends_on:\n      api', ':8081"\n    depends_on:\n      api')
    assert shop.up()
    found = smoke([Published("web", shop.port)], deadline_s=2)
    assert (found.status, found.reason) == ("fail", "smoke-failed")
    assert "listens on another port" in found.message


def test_a_dependency_that_cannot_be_reached_never_comes_up(checkout: Callable[[], Checkout]) -> None:
    shop = checkout()
    shop.change("compose.yaml", "http://store:8080", "http://store:8081")
    assert not shop.up()
    found = smoke([Published("web", shop.port, http=True)], deadline_s=1)
    assert (found.status, found.asked[0].said) == ("fail", "nothing listens there")
