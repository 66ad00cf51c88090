from __future__ import annotations

import json

from morph_tasks.features.aftermath import settle
from morph_tasks.features.store import read_feature
from morph_tasks.repo.git import Repo


def test_derived_things_follow(repo: Repo) -> None:
    folder = repo.root / ".morph/features/shop"
    (folder / "2-plan").mkdir(parents=True)
    (folder / "feature.json").write_text(json.dumps({"outputs": {"mine": ["x"]}}))
    (folder / "2-plan/plan.md").write_text("# Plan")
    files, step = settle(repo, "shop")
    assert files == [".morph/features/shop/handoff.md"] and step == "morph-spec plan-check shop"
    assert read_feature(repo.root, "shop")["outputs"] == {"mine": ["x"], "plan": ["2-plan/plan.md"]}


def test_what_cannot_be_written_does_not_undo_the_step(repo: Repo) -> None:
    folder = repo.root / ".morph/features/shop"
    (folder / "handoff.md").mkdir(parents=True)
    (folder / "feature.json").write_text("{}")
    assert settle(repo, "shop") == ([], "")
