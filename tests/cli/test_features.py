from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.cli.main import main
from morph_tasks.cli.quick import quick
from morph_tasks.proc import run


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one commit on `main`; the current folder is its root."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Ana")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "ana@example.test")
    root = Path(os.path.realpath(tmp_path)) / "project"
    run(["git", "init", "-q", "-b", "main", str(root)])
    run(["git", "-C", str(root), "commit", "-q", "--allow-empty", "-m", "First"])
    monkeypatch.chdir(root)
    return root


CREATE = ["create", "shop", "--description", "Sell things", "--type", "feature"]


def answer(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, Any, str]:
    """Exit code, the one JSON document on stdout, and stderr."""
    code = main([*argv, "--json"])
    said = capsys.readouterr()
    return code, json.loads(said.out), said.err


@pytest.mark.usefixtures("project")
def test_create_says_what_it_made(capsys: pytest.CaptureFixture[str]) -> None:
    code, payload, err = answer(capsys, *CREATE, "--name", "The Shop")
    assert code == 0 and payload["ok"] is True
    assert (payload["feature"], payload["name"], payload["workType"]) == ("shop", "The Shop", "feature")
    assert payload["branch"] == {"name": "morph/shop", "checkedOut": True, "movedFrom": "main"}
    assert "main" in err and "morph/shop" in err


@pytest.mark.usefixtures("project")
def test_create_without_checkout_warns_of_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    _, payload, err = answer(capsys, *CREATE, "--no-checkout")
    assert payload["branch"] == {"name": "morph/shop", "checkedOut": False, "stayedOn": "main"}
    assert err == "" and payload["warnings"] == []


@pytest.mark.usefixtures("project")
def test_the_warning_of_a_move_goes_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(CREATE) == 0
    said = capsys.readouterr()
    assert "warning" in said.err and "warning" not in said.out and "\x1b" not in said.err
    assert "feature shop created on branch morph/shop" in said.out


@pytest.mark.usefixtures("project")
def test_an_undecided_request_names_the_candidates(capsys: pytest.CaptureFixture[str]) -> None:
    code, payload, _ = answer(capsys, "create", "shop", "--request", "fix a typo")
    assert code == 2 and payload["ok"] is False
    assert (payload["code"], payload["confidence"]) == ("type-undecided", "tie")
    assert payload["candidates"] == ["bug", "chore"]


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    "argv", [["create"], ["create", "shop", "--type", "epic"], ["create", "a", "b"], ["list", "x"]]
)
def test_usage(capsys: pytest.CaptureFixture[str], argv: list[str]) -> None:
    code, payload, _ = answer(capsys, *argv)
    assert (code, payload["code"]) == (2, "usage")


def test_list_shows_where_features_stand(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([*CREATE, "--no-checkout"])
    main(["create", "typo", "--request", "Rename things", "--no-checkout"])
    broken = project / ".morph/features/broken"
    broken.mkdir()
    (broken / "feature.json").write_text("{")
    capsys.readouterr()
    code, payload, _ = answer(capsys, "list")
    rows = {row["feature"]: row for row in payload["features"]}
    assert code == 0 and list(rows) == ["broken", "shop", "typo"]
    assert rows["broken"]["flags"] == ["unreadable"] and "feature.json" in rows["broken"]["problem"]
    assert rows["shop"]["phase"] == "plan" and rows["shop"]["verification"] is None
    assert rows["typo"]["phase"] == "implement" and rows["typo"]["workType"] == "chore"
    assert rows["typo"]["gates"]["plan"] == {"approved": True, "approvedBy": "policy:chore"}
    main(["list"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3 and lines[0].startswith("⚠") and not lines[1].startswith("⚠")
    assert "Sell things" in lines[1] and "Rename things" in lines[2]


def test_list_includes_the_archive_when_asked(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = project / ".morph/archive/old"
    folder.mkdir(parents=True)
    (folder / "feature.json").write_text('{"description": "Done"}')
    assert answer(capsys, "list")[1]["features"] == []
    (row,) = answer(capsys, "list", "--all")[1]["features"]
    assert (row["feature"], row["status"], row["phase"]) == ("old", "archived", "archived")


def test_list_writes_nothing(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([*CREATE, "--no-checkout"])
    (project / ".morph/state.json").unlink()
    main(["list"])
    assert not (project / ".morph/state.json").exists()


def test_the_quick_way_says_the_same(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([*CREATE, "--no-checkout"])
    for argv in (["list"], ["list", "--json"], ["list", "--all", "--json"]):
        capsys.readouterr()
        main(argv)
        slow = capsys.readouterr().out
        assert quick(argv) == 0
        assert capsys.readouterr().out == slow


@pytest.mark.parametrize("argv", [[], ["create"], ["list", "--help"], ["list", "x"], ["--version"]])
def test_the_quick_way_leaves_the_rest_alone(argv: list[str]) -> None:
    assert quick(argv) is None


def test_the_quick_way_leaves_refusals_to_the_full_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert quick(["list"]) is None


def test_listing_imports_nothing_heavy(project: Path) -> None:
    main([*CREATE, "--no-checkout"])
    code = (
        "import sys; from morph_tasks.features.listing import listing; listing(archived=True, as_json=True)\n"
        "print(sorted(set(sys.modules) & {'click', 'pydantic', 'sh', 'filelock', 'rich', 'subprocess', 'psutil'}))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"
