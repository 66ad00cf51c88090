"""A repository with one feature, `shop`, in its root. The plan room is a switch here: it has tests of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.gates import planning
from morph_tasks.gates.signals import verification_stale
from morph_tasks.proc import run
from morph_tasks.repo.git import Repo, open_repo

PASS = {"status": "pass", "scope": "feature", "nodes": {"e2e": "pass"}, "ts": "2026-01-01T00:00:00Z"}


@pytest.fixture(autouse=True)
def own_git_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Ana")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "ana@example.test")


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    run(["git", "init", "-q", "-b", "main", str(tmp_path / "project")])
    found = open_repo(tmp_path / "project")
    (found.root / ".morph/features/shop/2-plan").mkdir(parents=True)
    put(found, {"description": "Sell things"})
    return found


def put(repo: Repo, data: dict[str, Any], slug: str = "shop") -> None:
    path = repo.root / ".morph/features" / slug / "feature.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"feature": slug, **data}))


def read(repo: Repo, slug: str = "shop") -> Any:
    return json.loads((repo.root / ".morph/features" / slug / "feature.json").read_text())


@pytest.fixture
def write() -> Callable[[Repo, dict[str, Any]], None]:
    return put


@pytest.fixture
def saved() -> Callable[[Repo], Any]:
    return read


@pytest.fixture
def passed() -> dict[str, Any]:
    """A green stamp in which the application was looked at."""
    return dict(PASS)


class World:
    """What the rooms around answer."""

    plan_state = "fresh"
    plan_hash = "abc123"
    stale: Any = None


@pytest.fixture(autouse=True)
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    told = World()

    def staleness(_: Any) -> tuple[bool | None, str | None]:
        return (False, None) if told.stale is None else (True, told.stale)

    monkeypatch.setattr(planning, "plan_state", lambda *_: told.plan_state)
    monkeypatch.setattr(planning, "plan_hash", lambda *_: told.plan_hash)
    monkeypatch.setattr(verification_stale, "_ask", staleness)
    return told


@pytest.fixture
def complete(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if every signal of the contract were evaluated."""
    from morph_tasks.gates.signals import table

    monkeypatch.setattr(table, "LATER", {})
