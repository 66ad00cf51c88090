"""`plan-check` in the company of other plans, through the installed command."""

from __future__ import annotations

import json
from typing import Any

import pytest

from morph_tasks.fleet import openplans
from morph_tasks.fleet.outlook import plan_check
from morph_tasks.proc import ProcError
from morph_tasks.repo.git import open_repo
from tests.codegraph.handmade import plan_of, shop
from tests.codegraph.test_landed import merge
from tests.conftest import Project
from tests.fleet.test_openplans import here, on_branch

CHECKS = ".morph/features/cart/2-plan/checks.json"
AROUND = {"collisions", "sameFile", "dependents", "graph", "notCompared", "staleByMerge"}


@pytest.fixture
def planned(project: Project) -> Project:
    """A tree on the branch of `cart`, whose plan is committed and checked, with the graph of a shop beside it."""
    project.write(".gitignore", "graphify-out/\n")
    for name in ("prices", "cart", "checkout", "alone"):
        project.write(f"src/{name}.py", "1\n")
    project.commit("a shop")
    project.git("switch", "-q", "-c", "morph/cart")
    here(project, "cart", plan_of("src/cart.py"), workType="feature")
    shop().write(project.root)
    assert project.morph("plan-check", "cart").code == 0
    project.commit("plan")
    return project


def warnings(said: Any, code: str) -> list[str]:
    return [one["message"] for one in said["warnings"] if one["code"] == code]


def test_other_plans_are_warnings_at_the_word_that_names_the_file(planned: Project) -> None:
    on_branch(planned, "tea", plan_of("src/prices.py"))
    planned.git("switch", "-q", "morph/cart")
    on_branch(planned, "till", plan_of("x.py", "src/cart.py, src/checkout.py"))
    planned.git("switch", "-q", "morph/cart")
    before = (planned.root / CHECKS).read_bytes()
    said = planned.morph("plan-check", "cart", "--json")
    assert (said.code, said.err, said.json["ok"]) == (0, "", True)
    assert warnings(said.json, "collides-with") == [
        "till F2: its plan changes `src/cart.py` as well",
        "tea F1: its plan changes `src/prices.py`, on which `src/cart.py` depends: "
        "Cart.total() calls price() at src/cart.py:9",
    ]
    line = next(
        number
        for number, text in enumerate((planned.root / CHECKS).with_name("plan.md").read_text().splitlines(), 1)
        if "files:" in text
    )
    assert [(one["line"], one["column"]) for one in said.json["warnings"]] == [(line, 10)] * 2
    assert [(one["kind"], one["distance"]) for one in said.json["collisions"]] == [("same-file", 0), ("dependent", 1)]
    assert set(said.json) == AROUND | {"ok", "errors", "warnings", "waves", "hash"}
    assert (planned.root / CHECKS).read_bytes() == before, "what others plan is not part of this plan"
    text = planned.morph("plan-check", "cart").out
    assert f"plan.md:{line}:10: warning collides-with: till F2: " in text


def test_many_of_a_kind_are_one_line(planned: Project) -> None:
    made = shop()
    for number in range(4):
        made.use(f"src/user{number}.py:f", "src/cart.py:Cart.total")
        made.use(f"src/far{number}.py:g", "src/checkout.py:pay")
    made.write(planned.root)
    near, far = (", ".join(f"src/{name}{number}.py" for number in range(4)) for name in ("user", "far"))
    on_branch(planned, "tea", plan_of(near, far))
    planned.git("switch", "-q", "morph/cart")
    said = planned.morph("plan-check", "cart", "--json").json
    direct, distant = warnings(said, "collides-with")
    assert direct.startswith("tea F1: `src/user0.py` of its plan depends on `src/cart.py`: f() calls Cart.total() at ")
    assert direct.endswith(", and 3 more such") and distant.endswith(", and 3 more such")
    assert distant.startswith("tea F2: over a third file, ")
    assert len(said["collisions"]) == 8 and said["dependents"] == {"direct": 4, "transitive": 4}


def test_plans_that_cannot_be_read_hinder_nothing(planned: Project) -> None:
    planned.write(".morph/features/broken/feature.json", "{")
    here(planned, "tea", None)
    said = planned.morph("plan-check", "cart", "--json")
    assert said.code == 0 and said.json["collisions"] == []
    assert [row["feature"] for row in said.json["notCompared"]] == ["broken", "tea"]
    assert "not compared  tea: there is no " in planned.morph("plan-check", "cart").out


def test_a_list_that_fails_is_said_and_hinders_nothing(planned: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any, **__: Any) -> Any:
        raise ProcError("command-failed", "`git for-each-ref` ended with 128")

    monkeypatch.setattr(openplans, "everywhere", fails)
    found = plan_check(open_repo(planned.root), "cart")
    assert found.report.ok and found.comparison.counts() == {"sameFile": None, "dependents": None}
    assert "ended with 128" in found.as_json()["notCompared"][0]["reason"]


def test_stale_until_the_merge_is_taken_in_and_accepted(planned: Project) -> None:
    tip = merge(planned, "morph/tea", {"src/prices.py": "2\n"})
    said = planned.morph("plan-check", "cart", "--json").json
    assert said["staleByMerge"]["state"] == "stale-by-merge"
    [landed] = said["staleByMerge"]["landed"]
    assert (landed["commit"], landed["feature"], landed["held"]) == (tip, "tea", False)
    assert landed["touched"][0]["path"][-1]["at"] == "src/cart.py:9"
    first, settle = warnings(said, "stale-by-merge")
    assert first == (
        f"the merge {tip[:10]} of morph/tea came in after this plan: `src/prices.py`, which is needed by `src/cart.py` "
        "of F1 (Cart.total() calls price() at src/cart.py:9)"
    )
    assert settle == (
        "to settle it: git merge main, look whether the plan still holds, then morph-spec plan-check cart --accept"
    )
    refused = planned.morph("plan-check", "cart", "--accept", "--json")
    assert (refused.code, refused.json["code"]) == (1, "merge-not-taken")
    assert refused.json["staleByMerge"]["landed"][0]["commit"] == tip

    planned.git("merge", "-q", "main", "-m", "take it in")
    said = planned.morph("plan-check", "cart", "--json").json
    assert said["staleByMerge"]["state"] == "stale-by-merge", "taken in, and not looked at"
    assert warnings(said, "stale-by-merge")[1].startswith("to settle it: look whether")
    said = planned.morph("plan-check", "cart", "--accept", "--json")
    assert (said.code, said.json["staleByMerge"]["state"], said.json["warnings"]) == (0, "current", [])
    assert planned.morph("plan-check", "cart", "--json").json["staleByMerge"]["state"] == "current"


def test_a_new_approval_settles_it_as_well(planned: Project) -> None:
    assert planned.morph("approve", "cart", "plan", "--approver", "Ana").code == 0
    gate = planned.feature()["approvalGates"]["plan"]
    assert gate["planBase"] == {"branch": "main", "commits": [planned.git("rev-parse", "main")]}
    planned.commit("approved")
    merge(planned, "morph/tea", {"src/cart.py": "2\n"})
    planned.git("merge", "-q", "main", "-m", "take it in")
    said = planned.morph("gate-check", "cart", "plan", "--json")
    assert said.code == 1 and said.json["signals"]["planStaleByMerge"] is True
    assert said.json["reasons"][0].startswith("the plan is stale by a merge (")
    assert planned.morph("unapprove", "cart", "plan").code == 0
    assert planned.morph("approve", "cart", "plan").code == 1, "nothing is waved through"
    assert planned.morph("approve", "cart", "plan", "--approver", "Ana").code == 0
    assert planned.morph("plan-check", "cart", "--json").json["staleByMerge"]["state"] == "current"
    assert planned.morph("gate-check", "cart", "plan").code == 0


def test_an_approved_plan_can_be_accepted_and_not_changed(planned: Project) -> None:
    assert planned.morph("approve", "cart", "plan", "--approver", "Ana").code == 0
    planned.commit("approved")
    merge(planned, "morph/tea", {"src/cart.py": "2\n"})
    planned.git("merge", "-q", "main", "-m", "take it in")
    here_ = planned.root / ".morph/features/cart/2-plan/plan.md"
    good = here_.read_text()
    here_.write_text(good.replace("amiss", "wrong"))
    refused = planned.morph("plan-check", "cart", "--accept", "--json")
    assert (refused.code, refused.json["code"]) == (1, "frozen")
    here_.write_text(good)
    assert planned.morph("plan-check", "cart", "--accept").code == 0
    assert planned.morph("plan-check", "cart", "--json").json["staleByMerge"]["state"] == "current"


def test_a_record_of_an_older_version_is_not_verified(planned: Project) -> None:
    data = json.loads((planned.root / CHECKS).read_text())
    del data["plan"]["base"]
    planned.write(CHECKS, json.dumps(data))
    planned.commit("older")
    merge(planned, "morph/tea", {"src/cart.py": "2\n"})
    said = planned.morph("plan-check", "cart")
    assert said.code == 0 and "warning" not in said.out
    assert said.out.splitlines()[-1] == (
        "stale by a merge or not is not verified: it is not known against which commit the plan was written"
    )
    gate = planned.morph("gate-check", "cart", "plan")
    assert gate.code == 0 and "not verified whether the plan is stale by a merge" in gate.err


def test_the_task_says_the_same(planned: Project) -> None:
    planned.write("dodo.py", "from morph_tasks.tasks import *\n")
    planned.commit("tasks")
    merge(planned, "morph/tea", {"src/cart.py": "2\n"})
    said = planned.doit("plan-check:cart")
    assert said.code == 0 and "warning stale-by-merge: the merge " in said.out


def test_a_chart_accepts_nothing(planned: Project) -> None:
    assert planned.morph("plan-check", "cart", "--mermaid", "--accept").code == 2


def test_a_plan_with_errors_is_compared_all_the_same(planned: Project) -> None:
    on_branch(planned, "tea", plan_of("src/cart.py"))
    planned.git("switch", "-q", "morph/cart")
    here(planned, "cart", plan_of("src/cart.py, src/"))
    said = planned.morph("plan-check", "cart", "--json")
    assert said.code == 1 and [one["code"] for one in said.json["errors"]] == ["bad-path"]
    assert len(warnings(said.json, "collides-with")) == 1
