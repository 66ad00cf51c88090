"""Fixtures that name situations: real git in a temporary folder, the installed command, real doit."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.gh import FakeGh, make_gh

BIN = Path(sys.executable).parent
ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep every test away from the home, the git configuration and the state of the person who runs it."""
    home = tmp_path_factory.mktemp("home")
    (home / ".gitconfig").write_text(
        "[user]\n\tname = Tess Ter\n\temail = tess@example.invalid\n[init]\n\tdefaultBranch = main\n"
        '[commit]\n\tgpgSign = false\n[protocol "file"]\n\tallow = always\n'
    )
    for name in [name for name in os.environ if name.startswith(("GIT_", "MORPH_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    monkeypatch.setenv("PATH", f"{BIN}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    monkeypatch.setenv("MORPH_HEAVY", "off")  # tests of slots turn them on


@dataclass(frozen=True)
class Said:
    """What a command left: its exit code and its two streams."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@cache
def _document_schema() -> Any:
    import jsonschema

    schema = json.loads((ROOT / "framework/schemas/verify.schema.json").read_text())
    return jsonschema.Draft202012Validator(schema)


def check_document(document: Any) -> None:
    """Hold what `verify --json` said against the published schema."""
    problems = [f"{'/'.join(map(str, found.absolute_path))}: {found.message[:200]}" for found in _reasons(document)]
    assert not problems, problems


def _reasons(document: Any) -> list[Any]:
    """Return what is wrong with a document, by the branch of the schema that it is meant to be."""
    found = list(_document_schema().iter_errors(document))
    branch = 0 if "nodes" in document else 1
    return [
        inner for error in found for inner in (error.context or [error]) if inner.schema_path[0] in (branch, "anyOf")
    ]


@dataclass(frozen=True)
class Project:
    """A git repository with the commands a user types."""

    root: Path

    def git(self, *args: str) -> str:
        done = subprocess.run(["git", *args], cwd=self.root, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def commit(self, message: str = "work") -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)

    def config(self, **config: Any) -> None:
        self.write(".morph/config/config.json", json.dumps(config))

    def morph(self, *args: str, cwd: Path | None = None, **env: str) -> Said:
        return _run([str(BIN / "morph-spec"), *args], cwd or self.root, env)

    def doit(self, *args: str, cwd: Path | None = None, **env: str) -> Said:
        return _run([str(BIN / "doit"), *args], cwd or self.root, env)

    def verify(self, feature: str = "cart", *args: str, cwd: Path | None = None) -> Any:
        """Verify with `--json` and return the document, held against its schema, with the exit code as `exit`."""
        said = self.morph("verify", feature, "--json", *args, cwd=cwd)
        check_document(said.json)
        return {**said.json, "exit": said.code}

    def feature(self, name: str = "cart") -> Any:
        return json.loads((self.root / f".morph/features/{name}/feature.json").read_text("utf-8"))


def _run(argv: list[str], cwd: Path, env: dict[str, str]) -> Said:
    done = subprocess.run(
        argv, cwd=cwd, capture_output=True, stdin=subprocess.DEVNULL, timeout=300, env={**os.environ, **env}
    )
    said = Said(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))
    assert "Traceback (most recent call last)" not in said.out + said.err, said.out + said.err
    return said


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A repository with one commit, on main."""
    made = Project(tmp_path / "shop")
    made.root.mkdir()
    made.git("init", "-q", "-b", "main")
    made.write("README.md", "# shop\n")
    made.write(".gitignore", "__pycache__/\n.pytest_cache/\n")
    made.commit("start")
    return made


@pytest.fixture
def prepared(project: Project, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Callable[[], None]], None]:
    """Change the project by a function of a given name once a session, and by a copy of what it made afterwards.

    Only for what leaves no absolute path behind.
    """

    def prepare(name: str, make: Callable[[], None]) -> None:
        master = tmp_path_factory.getbasetemp() / f"prepared {name}"
        if master.is_dir():
            shutil.rmtree(project.root)
            subprocess.run(["cp", "-a", str(master), str(project.root)], check=True)
        else:
            make()
            subprocess.run(["cp", "-a", str(project.root), str(master)], check=True)

    return prepare


@pytest.fixture
def gh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeGh:
    """A `gh` on the PATH that is signed in and knows no pull request yet."""
    made = make_gh(tmp_path / "gh")
    monkeypatch.setenv("PATH", f"{made.bin}{os.pathsep}{os.environ['PATH']}")
    return made


@pytest.fixture
def origin(project: Project, tmp_path: Path) -> Path:
    """A bare repository that the project has as origin, with main pushed."""
    path = tmp_path / "origin.git"
    project.git("init", "-q", "--bare", "-b", "main", str(path))
    project.git("remote", "add", "origin", str(path))
    project.git("push", "-q", "-u", "origin", "main")
    return path


@pytest.fixture
def python_project(project: Project) -> Project:
    """A Python project whose suite has one green and one red test."""
    project.write("cart/__init__.py", "")
    project.write("cart/total.py", "def total(prices):\n    return sum(prices) + 1\n")
    project.write(
        "tests/test_total.py",
        "from cart.total import total\n\n\ndef test_type():\n    assert isinstance(total([1]), int)\n\n\n"
        "def test_sum():\n    assert total([1, 2]) == 3\n",
    )
    project.write(
        "pyproject.toml", "[project]\nname = 'cart'\nversion = '1'\n[tool.pytest.ini_options]\npythonpath = '.'\n"
    )
    project.commit("a cart")
    return project


@pytest.fixture
def two_suites(project: Project) -> Project:
    """A feature on a project with a build and two test nodes with inputs of their own; everything green."""
    for name in ("a", "b"):
        project.write(f"{name}/data.txt", "1\n")
        project.write(f"{name}/check.sh", "echo run >> ../.git/runs-of-$1\ntest -s data.txt\n")
    project.config(
        project={
            "build": [{"id": "all", "command": "echo run >> .git/runs-of-build", "inputs": ["a/**", "b/**"]}],
            "tests": [
                {"id": name, "command": f"sh check.sh {name}", "cwd": name, "runner": "none", "inputs": [f"{name}/**"]}
                for name in ("a", "b")
            ],
        }
    )
    project.commit("two suites")
    assert project.morph("create", "cart", "--type", "feature", "--description", "Two suites").code == 0
    return project


def runs(project: Project, name: str) -> int:
    """Return how often a node of `two_suites` really ran."""
    path = project.root / ".git" / f"runs-of-{name}"
    return len(path.read_text().splitlines()) if path.exists() else 0
