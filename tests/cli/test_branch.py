from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Project
from tests.gh import FakeGh


@pytest.fixture
def shop(project: Project, origin: Path) -> Project:
    for name in ("squashed", "asked", "work"):
        project.git("switch", "-q", "-c", name, "main")
        project.write(name, "x\n")
        project.commit(name)
    project.git("switch", "-q", "main")
    project.git("merge", "-q", "--squash", "squashed")
    project.git("commit", "-q", "-m", "squash")
    return project


def test_prune_says_what_it_did_and_why(shop: Project, gh: FakeGh) -> None:
    gh.pull("asked", state="MERGED", headRefOid=shop.git("rev-parse", "asked"))
    tip = shop.git("rev-parse", "squashed")
    said = shop.morph("branch", "prune")
    assert said.code == 0, said.err
    assert "deleted      asked     merged-squash: pull request #1 was merged with its commit" in said.out
    assert "deleted      squashed  merged-squash: main has the very same files" in said.out
    assert "kept         work      unmerged: 1 commit is not in main" in said.out
    assert f"bring back: git branch squashed {tip}" in said.out
    assert said.out.strip().endswith("2 deleted, 1 kept")
    assert shop.git("for-each-ref", "--format=%(refname:short)", "refs/heads").split() == ["main", "work"]


def test_prune_as_json(shop: Project, gh: FakeGh) -> None:
    gh.reply("pr", "list", code=4, stderr="gh auth login")
    said = shop.morph("branch", "prune", "--dry-run", "--json")
    assert said.code == 0
    found = {one["branch"]: one for one in said.json["branches"]}
    assert said.json["dryRun"] and said.json["deleted"] == [] and said.json["default"] == "main"
    assert said.json["prs"] == {"verified": False, "reason": "gh is not signed in to GitHub"}
    assert (found["squashed"]["state"], found["squashed"]["kept"]) == ("merged-squash", None)
    assert (found["asked"]["state"], found["asked"]["kept"]) == ("unmerged", "unmerged")
    assert "not verified" in found["asked"]["evidence"]
    assert found["squashed"]["restore"] is None and found["squashed"]["remote"] is None
    assert shop.git("rev-parse", "squashed")


def test_prune_with_nothing_to_do(project: Project) -> None:
    said = project.morph("branch", "prune")
    assert said.code == 0 and "no branches" in said.out


def test_prune_at_origin(shop: Project, gh: FakeGh, origin: Path) -> None:
    shop.git("push", "-q", "origin", "main", "squashed")
    tip = shop.git("rev-parse", "squashed")
    hook = origin / "hooks/pre-receive"
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    said = shop.morph("branch", "prune", "--remote")
    assert said.code == 1 and "warning: origin keeps squashed" in said.err
    shop.git("branch", "squashed", tip)
    hook.unlink()
    said = shop.morph("branch", "prune", "--remote")
    assert said.code == 0 and "at origin" in said.out
    assert "squashed" not in shop.git("ls-remote", "--heads", "origin")


def test_prune_refuses_remote_without_origin(project: Project) -> None:
    said = project.morph("branch", "prune", "--remote", "--json")
    assert (said.code, said.json["code"]) == (1, "no-origin")
