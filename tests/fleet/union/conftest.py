"""A shop whose suite runs small checks, and features on it, each in a work tree of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.fleet.union import service
from morph_tasks.machine import signals
from morph_tasks.repo.git import open_repo
from morph_tasks.verify.request import Request
from morph_tasks.verify.run import Run, new_run_id
from morph_tasks.verify.stamp import fingerprint, node_ids
from tests.conftest import Project

# Every check in `checks/` is a shell script; each run is noted outside of all trees.
SUITE = (
    'set -e\necho run >> "$MORPH_RUNS"\nfor one in checks/*.sh; do sh "$one" || { echo "$one fails"; exit 1; }; done\n'
)

# `lib/total` is moved by one and newly needed by the other: both are green alone.
MOVES: dict[str, str | bytes | None] = {
    "lib/total": None, "lib/sum": "total\n", "checks/total.sh": "test -e lib/sum\n",
}  # fmt: skip
NEEDS: dict[str, str | bytes | None] = {"checks/report.sh": "test -e lib/total\n"}


class Shop:
    """The repository, and what happens to it."""

    def __init__(self, project: Project, runs: Path) -> None:
        self.project = project
        self.root = project.root
        self.runs = runs

    def git(self, *args: str, tree: Path | None = None) -> str:
        return Project(tree or self.root).git(*args)

    def tree(self, name: str) -> Path:
        return self.root.parent / f"{name}-tree"

    def write(self, tree: Path, files: dict[str, str | bytes | None]) -> None:
        for path, text in files.items():
            place = tree / path
            if text is None:
                place.unlink()
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(text if isinstance(text, bytes) else text.encode())

    def begin(self, name: str, files: dict[str, str | bytes | None], *, base: str = "main", **record: Any) -> Path:
        """Make the branch and the tree of a feature, with committed changes and no stamp."""
        tree = self.tree(name)
        self.git("worktree", "add", "-q", "-b", f"morph/{name}", str(tree), base)
        data = {"name": name, "feature": name, "status": "in_progress", "workType": "feature", **record}
        self.write(tree, {**files, f".morph/features/{name}/feature.json": json.dumps(data)})
        Project(tree).commit(name)
        return tree

    def stamp(self, name: str, status: str = "pass", *, tree: Path | None = None, **more: Any) -> None:
        """Stamp a feature in its tree as a verify would, without the wait for one."""
        place = tree or self.tree(name)
        run = Run(open_repo(place), name, Request(), new_run_id(), quiet=True)
        said = {"status": status, "scope": "feature", "ts": "2026-11-30T08:00:00.000Z", "sha": run.observer.tree().head}
        said |= {"fingerprint": fingerprint(run), "nodeIds": node_ids(run), **more}
        path = place / f".morph/features/{name}/feature.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "verification": said}))

    def green(self, name: str, files: dict[str, str | bytes | None], *, base: str = "main", **record: Any) -> Path:
        tree = self.begin(name, files, base=base, **record)
        self.stamp(name)
        return tree

    def union(self, *, verify: bool = False, tree: Path | None = None) -> Any:
        """Return the document of a union made in this process."""
        self.said: list[str] = []
        made = service.union(open_repo(tree or self.root), verify=verify, say=self.said.append)
        return json.loads(json.dumps(made.as_json()))

    def suites(self) -> int:
        """Return how often the suite ran."""
        return len(self.runs.read_text().splitlines()) if self.runs.exists() else 0


@pytest.fixture
def shop(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """The shop on main, with one check that holds."""
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    # The handlers of the command would stay in the process of the tests.
    monkeypatch.setattr(signals, "install", lambda cleanup=None: None)
    runs = tmp_path / "runs"
    monkeypatch.setenv("MORPH_RUNS", str(runs))
    made = Shop(project, runs)
    project.config(project={"build": [], "tests": [{"id": "unit", "runner": "none", "command": "sh suite.sh"}]})
    made.write(project.root, {"suite.sh": SUITE, "checks/total.sh": "test -e lib/total\n", "lib/total": "total\n"})
    project.commit("a shop")
    return made


@pytest.fixture
def refused() -> Callable[..., Refusal]:
    def call(what: Callable[[], Any]) -> Refusal:
        with pytest.raises(Refusal) as caught:
            what()
        return caught.value

    return call
