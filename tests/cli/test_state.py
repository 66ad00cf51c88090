from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.cli.main import main
from morph_tasks.features.store import LOCK_WAIT_S, lock_wait, state_lock
from morph_tasks.proc import run


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a chore `shop` committed on `main`; the current folder is its root."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Ana")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "ana@example.test")
    root = Path(os.path.realpath(tmp_path)) / "project"
    run(["git", "init", "-q", "-b", "main", str(root)])
    policy = {"approved": True, "approvedBy": "policy:chore"}
    data = {"description": "Tidy up", "workType": "chore", "approvalGates": {"plan": policy, "uiux": policy}}
    (root / ".morph/features/shop").mkdir(parents=True)
    (root / ".morph/features/shop/feature.json").write_text(json.dumps(data))
    run(["git", "-C", str(root), "add", "."])
    run(["git", "-C", str(root), "commit", "-q", "-m", "First"])
    monkeypatch.chdir(root)
    return root


def answer(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, Any, str]:
    code = main([*argv, "--json"])
    said = capsys.readouterr()
    return code, json.loads(said.out), said.err


def test_advance(capsys: pytest.CaptureFixture[str]) -> None:
    code, payload, _ = answer(capsys, "advance", "shop")
    assert (code, payload["code"]) == (1, "checks-missing")
    code, payload, err = answer(capsys, "advance", "shop", "--force")
    assert (code, payload["from"], payload["phase"]) == (0, "implement", "review")
    assert payload["skipped"] and "skipped" in err and payload["next"] == "morph-spec verify shop"
    code, payload, _ = answer(capsys, "advance", "shop", "--approver", "Ana")
    assert (code, payload["phase"], payload["approval"]["approver"]) == (0, "aguardando-merge", "Ana")


@pytest.mark.parametrize("argv", [["advance", "shop", "--approver", ""], ["advance"], ["retype", "shop", "epic"]])
def test_usage(capsys: pytest.CaptureFixture[str], argv: list[str]) -> None:
    assert answer(capsys, *argv)[:2][0] == 2


def test_retype(capsys: pytest.CaptureFixture[str]) -> None:
    code, payload, _ = answer(capsys, "retype", "shop", "feature")
    assert (code, payload["from"], payload["workType"], payload["phase"]) == (0, "chore", "feature", "plan")
    assert payload["undone"] == ["plan", "uiux"]


def test_archive(capsys: pytest.CaptureFixture[str], project: Path) -> None:
    code, payload, _ = answer(capsys, "archive", "shop")
    assert (code, payload["archived"], payload["deleted"]) == (0, ".morph/archive/shop", False)
    assert payload["commit"] and not (project / ".morph/features/shop").exists()
    code, payload, _ = answer(capsys, "gate-check", "shop", "plan")
    assert (code, payload["code"]) == (2, "feature-not-found") and "archived" in payload["message"]


def test_delete(capsys: pytest.CaptureFixture[str], project: Path) -> None:
    (project / ".morph/features/shop/notes.md").write_text("precious")
    code, payload, _ = answer(capsys, "delete", "shop")
    assert (code, payload["deleted"], payload["archived"]) == (0, True, None)
    assert (Path(payload["backup"]) / "shop/notes.md").read_text() == "precious"
    assert main(["delete", "shop"]) == 2


def test_handoff(capsys: pytest.CaptureFixture[str], project: Path) -> None:
    code, payload, _ = answer(capsys, "handoff", "shop")
    assert code == 0 and Path(payload["path"]) == project / ".morph/features/shop/handoff.md"
    assert main(["handoff", "shop"]) == 0
    assert "next: " in capsys.readouterr().out


@pytest.mark.parametrize("words", [["retype", "shop", "bug"], ["unapprove", "shop", "plan"], ["archive", "shop"]])
def test_a_command_waits_as_long_as_it_is_told(
    project: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    before = (project / ".morph/features/shop/feature.json").read_bytes()
    with state_lock(project):
        code, refusal, _ = answer(capsys, *words, "--wait", "0")
    assert (code, refusal["code"]) == (3, "busy")
    assert (project / ".morph/features/shop/feature.json").read_bytes() == before
    assert lock_wait.get() == LOCK_WAIT_S  # what runs next in this process waits as it always does
