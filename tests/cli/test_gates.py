from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.cli.main import main
from morph_tasks.gates import planning
from morph_tasks.proc import run


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a feature `shop` whose plan is checked; the current folder is its root."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Ana")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "ana@example.test")
    monkeypatch.setattr(planning, "plan_state", lambda *_: "fresh")
    monkeypatch.setattr(planning, "plan_hash", lambda *_: "abc")
    root = Path(os.path.realpath(tmp_path)) / "project"
    run(["git", "init", "-q", "-b", "main", str(root)])
    run(["git", "-C", str(root), "commit", "-q", "--allow-empty", "-m", "First"])
    (root / ".morph/features/shop").mkdir(parents=True)
    (root / ".morph/features/shop/feature.json").write_text('{"description": "Sell things"}')
    monkeypatch.chdir(root)
    return root


def answer(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, Any, str]:
    code = main([*argv, "--json"])
    said = capsys.readouterr()
    return code, json.loads(said.out), said.err


def test_a_gate_that_passes(capsys: pytest.CaptureFixture[str]) -> None:
    code, payload, _ = answer(capsys, "gate-check", "shop", "plan")
    assert (code, payload["ok"], payload["pause"], payload["reason"]) == (0, True, False, None)
    assert payload["source"] == "gate-check" and payload["trust"] == "auto" and payload["notEvaluated"] == []


def test_a_gate_that_pauses_exits_1(capsys: pytest.CaptureFixture[str]) -> None:
    code, payload, _ = answer(capsys, "gate-check", "shop", "review")
    assert (code, payload["ok"], payload["pause"]) == (1, False, True)
    assert payload["reasons"] and "reviewReports" in payload["notEvaluated"]
    assert main(["gate-check", "shop", "review"]) == 1
    assert "gate review of shop pauses" in capsys.readouterr().out


def test_unknown_signals_are_ignored_with_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    code, payload, err = answer(capsys, "gate-check", "shop", "plan", "--signals", '{"verificationStatus": "pass"}')
    assert code == 0 and payload["ignoredSignals"] == ["verificationStatus"] and "verificationStatus" in err


@pytest.mark.parametrize(
    "argv",
    [
        ["gate-check", "shop", "ship"],
        ["gate-check", "shop", "plan", "--signals", "{"],
        ["gate-check", "shop", "plan", "--signals", "[]"],
        ["gate-check", "shop", "plan", "--trust", "maybe"],
        ["gate-check", "nothing", "plan"],
        ["gate-check", "../shop", "plan"],
        ["gate-decision", "shop", "plan"],
        ["gate-decision", "shop", "plan", "--pause", "yes"],
        ["approve", "shop", "plan", "--approver", " "],
        ["approve", "shop", "plan", "--mode", "auto", "--approver", "Ana"],
        ["approve", "shop", "plan", "--mode", "manual"],
        ["approve", "shop", "plan", "--self-assessed"],
        ["unapprove", "shop"],
    ],
)
def test_usage(capsys: pytest.CaptureFixture[str], project: Path, argv: list[str]) -> None:
    code, payload, _ = answer(capsys, *argv)
    assert code == 2 and payload["ok"] is False and payload["code"]
    assert json.loads((project / ".morph/features/shop/feature.json").read_text()) == {"description": "Sell things"}


def test_a_decision_by_hand(capsys: pytest.CaptureFixture[str]) -> None:
    code, payload, _ = answer(capsys, "gate-decision", "shop", "plan", "--pause", "TRUE", "--reason", "ask legal")
    assert (code, payload["ok"], payload["pause"], payload["source"]) == (0, True, True, "manual")
    code, payload, _ = answer(capsys, "gate-check", "shop", "plan")
    assert (code, payload["reason"]) == (1, "ask legal")
    assert answer(capsys, "gate-decision", "shop", "plan", "--pause", "false")[0] == 0
    assert answer(capsys, "gate-check", "shop", "plan")[0] == 0


@pytest.mark.parametrize("mode", [[], ["--mode", "auto"]])
def test_an_automatic_approval(capsys: pytest.CaptureFixture[str], mode: list[str]) -> None:
    code, payload, _ = answer(capsys, "approve", "shop", "plan", *mode)
    assert (code, payload["approved"], payload["approvedBy"], payload["planHash"]) == (0, True, "auto", "abc")
    assert payload["phase"] == "implement" and payload["changed"] is True


def test_an_automatic_approval_that_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    answer(capsys, "approve", "shop", "plan")
    code, payload, _ = answer(capsys, "approve", "shop", "review", "--mode", "auto", "--force")
    assert (code, payload["code"]) == (1, "gate-paused") and payload["reasons"]


def test_a_signed_approval(capsys: pytest.CaptureFixture[str]) -> None:
    answer(capsys, "approve", "shop", "plan")
    code, payload, err = answer(capsys, "approve", "shop", "review", "--approver", " Ana Lima ")
    assert (code, payload["approver"], payload["approvedBy"]) == (0, "Ana Lima", "manual")
    assert payload["overrode"] and "signed over" in err


def test_an_approval_taken_back(capsys: pytest.CaptureFixture[str]) -> None:
    answer(capsys, "approve", "shop", "plan")
    code, payload, _ = answer(capsys, "unapprove", "shop", "plan")
    assert (code, payload["approved"], payload["changed"], payload["phase"]) == (0, False, True, "plan")
    assert main(["unapprove", "shop", "plan"]) == 0
    assert "so already" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [
        ["approve", "shop", "plan", "--approver", "Ana Lima", "--force"],
        ["unapprove", "shop", "plan"],
        ["gate-check", "shop", "plan", "--signals", '{"standardsViolations": []}'],
        ["gate-decision", "shop", "plan", "--pause", "false", "--reason", "it's fine"],
    ],
)
def test_elsewhere_the_very_command_is_named(
    capsys: pytest.CaptureFixture[str], project: Path, words: list[str]
) -> None:
    place = project.parent / "wt"
    run(["git", "-C", str(project), "worktree", "add", "-q", "-b", "morph/shop", str(place)])
    code, payload, _ = answer(capsys, *words)
    assert (code, payload["code"]) == (1, "owner-tree-elsewhere")
    import shlex

    folder, _, command = payload["fix"].partition(" && ")
    assert shlex.split(folder) == ["cd", str(place)]
    assert shlex.split(command) == ["morph-spec", *words, "--json"]
