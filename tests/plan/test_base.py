from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.plan.base import Base, base_in, base_now, base_of_tree, default_tips
from morph_tasks.plan.service import plan_check
from morph_tasks.repo.git import open_repo
from tests.conftest import Project

PLAN = ".morph/features/cart/2-plan/plan.md"
CHECKS = ".morph/features/cart/2-plan/checks.json"


@pytest.fixture
def planned(project: Project, good: str) -> Project:
    """A feature on its branch, one commit of main ahead of it."""
    project.git("switch", "-q", "-c", "morph/cart")
    project.write(".morph/features/cart/feature.json", '{"description": "d"}')
    project.write(PLAN, good)
    project.commit("plan")
    project.git("switch", "-q", "main")
    project.write("later.txt", "1")
    project.commit("later")
    project.git("switch", "-q", "morph/cart")
    return project


def base_on_disk(project: Project) -> Any:
    return json.loads((project.root / CHECKS).read_text())["plan"]["base"]


def test_it_is_what_the_tree_holds_of_the_default_branch(planned: Project) -> None:
    assert base_now(open_repo(planned.root)) == Base("main", (planned.git("rev-parse", "main~1"),))
    planned.git("merge", "-q", "main", "-m", "take it in")
    assert base_now(open_repo(planned.root)) == Base("main", (planned.git("rev-parse", "main"),))


def test_what_origin_has_counts_as_well(planned: Project, origin: Path) -> None:
    planned.git("push", "-q", "origin", "main")
    planned.git("branch", "-q", "-f", "main", "main~1")
    assert sorted(default_tips(open_repo(planned.root))[1]) == ["refs/heads/main", "refs/remotes/origin/main"]
    planned.git("merge", "-q", "origin/main", "-m", "take it in")
    found = base_now(open_repo(planned.root))
    assert found and found.commits == (planned.git("rev-parse", "origin/main"),), "the local one is older"


def test_what_cannot_be_told_is_none(tmp_path: Path, project: Project) -> None:
    assert base_of_tree(tmp_path / "nowhere") is None and base_of_tree(tmp_path) is None
    project.git("branch", "-m", "main", "a")
    project.git("branch", "b")
    assert base_now(open_repo(project.root)) is None
    with pytest.raises(Refusal, match="which branch is the default one"):
        default_tips(open_repo(project.root))


def test_no_commit_in_common(project: Project) -> None:
    project.git("switch", "-q", "--orphan", "morph/cart")
    project.git("commit", "-q", "--allow-empty", "-m", "other")
    assert base_now(open_repo(project.root)) is None


@pytest.mark.parametrize(
    "data",
    [None, 3, {}, {"branch": "main"}, {"branch": "main", "commits": []}, {"branch": "main", "commits": ["HEAD"]},
     {"branch": "main", "commits": ["--all"]}, {"branch": None, "commits": ["0" * 40]}, {"branch": "m", "commits": 1}],
)  # fmt: skip
def test_a_record_in_another_form_is_none(data: Any) -> None:
    assert base_in(data) is None


def test_a_record_goes_round() -> None:
    one = Base("main", ("0" * 40, "1" * 64))
    assert base_in(json.loads(json.dumps(one.as_json()))) == one


def test_it_is_recorded_with_the_plan_and_stays_with_it(planned: Project, good: str) -> None:
    plan_check(planned.root, "cart")
    before = planned.git("rev-parse", "main~1")
    assert base_on_disk(planned) == {"branch": "main", "commits": [before]}
    planned.git("add", "-A")
    planned.git("commit", "-q", "-m", "checked")
    planned.git("merge", "-q", "main", "-m", "take it in")
    plan_check(planned.root, "cart")
    assert base_on_disk(planned)["commits"] == [before], "to check again is not to look again"
    plan_check(planned.root, "cart", accept=True)
    assert base_on_disk(planned)["commits"] == [planned.git("rev-parse", "main")]


def test_a_plan_that_was_changed_is_a_new_one(planned: Project, good: str) -> None:
    plan_check(planned.root, "cart")
    planned.git("merge", "-q", "main", "-m", "take it in")
    planned.write(PLAN, good + "\n## Errata\nOne more.\n")
    plan_check(planned.root, "cart")
    assert base_on_disk(planned)["commits"] == [planned.git("rev-parse", "main~1")], "the errata are not the plan"
    planned.write(PLAN, good.replace("Totals drift", "Totals drift a lot"))
    plan_check(planned.root, "cart")
    assert base_on_disk(planned)["commits"] == [planned.git("rev-parse", "main")]


def test_other_keys_survive_and_an_older_record_stays_without_base(planned: Project) -> None:
    plan_check(planned.root, "cart")
    data = json.loads((planned.root / CHECKS).read_text())
    del data["plan"]["base"]
    data |= {"ours": [1]}
    data["plan"]["theirs"] = 2
    planned.write(CHECKS, json.dumps(data))
    plan_check(planned.root, "cart")
    after = json.loads((planned.root / CHECKS).read_text())
    assert (after["ours"], after["plan"]["theirs"]) == ([1], 2)
    assert "base" not in after["plan"], "nobody knows what it was written against"
    plan_check(planned.root, "cart", accept=True)
    assert base_on_disk(planned)["branch"] == "main"
