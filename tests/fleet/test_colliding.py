from __future__ import annotations

from pathlib import Path

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.fleet.colliding import as_json, fleet_collisions, lines
from morph_tasks.repo.git import open_repo
from tests.codegraph.handmade import plan_of, shop
from tests.conftest import Project
from tests.fleet.test_openplans import here, on_branch


@pytest.fixture
def planned(project: Project) -> Project:
    """Three open plans: two of them will write the same new file, and each needs what another changes."""
    project.write(".gitignore", "graphify-out/\n.morph/\n")
    for name in ("prices", "cart", "checkout", "alone"):
        project.write(f"src/{name}.py", "1\n")
    project.commit("a shop")
    here(project, "cart", plan_of("src/alone.py", "src/prices.py, src/money.py"))
    here(project, "tea", plan_of("src/cart.py, src/money.py"))
    here(project, "till", plan_of("src/checkout.py, page.html"))
    return project


def test_with_a_graph(planned: Project) -> None:
    shop().write(planned.root)
    planned.write("page.html", "<p>")
    found = fleet_collisions(open_repo(planned.root))
    assert lines(found) == [
        "3 open plans, 3 pairs collide",
        "  same-file   cart F2 × tea F1: src/money.py",
        "  direct      cart F2 → tea F1: src/prices.py → src/cart.py",
        "      Cart.total() calls price()  src/cart.py:9",
        "  direct      tea F1 → till F1: src/cart.py → src/checkout.py",
        "      pay() calls Cart.total()  src/checkout.py:5",
        "  transitive  cart F2 → till F1: src/prices.py → src/checkout.py",
        "      Cart.total() calls price()  src/cart.py:9",
        "      pay() calls Cart.total()  src/checkout.py:5",
        f"the graph is stale: {found.graph.reason if found.graph else ''} (morph-spec graph refresh)",
        "not in the graph, so nothing is known of their dependents: page.html",
    ]
    said = as_json(found)
    assert (said["sameFile"], said["dependents"]) == (1, {"direct": 2, "transitive": 1})
    assert said["graph"]["known"] and said["graph"]["filesNotInGraph"] == ["page.html"]
    assert said["pairs"] == [["cart", "tea"], ["cart", "till"], ["tea", "till"]]
    assert [one["features"][0]["slices"] for one in said["collisions"]] == [["F2"], ["F2"], ["F1"], ["F2"]]


def test_without_a_graph_files_are_compared_and_dependents_are_unknown(planned: Project) -> None:
    found = fleet_collisions(open_repo(planned.root))
    said = as_json(found)
    assert (said["sameFile"], said["dependents"]) == (1, None)
    assert (said["graph"]["known"], said["graph"]["state"], said["graph"]["filesNotInGraph"]) == (
        False, "no-graph", None,
    )  # fmt: skip
    assert lines(found)[-1].startswith("dependents not verified: there is no code graph of")
    assert lines(found)[-1].endswith("(morph-spec graph build)")


def test_a_graph_that_cannot_be_read_is_no_empty_answer(planned: Project) -> None:
    shop().write(planned.root).write_text("{")
    said = as_json(fleet_collisions(open_repo(planned.root)))
    assert (said["dependents"], said["graph"]["state"]) == (None, "corrupt-graph")


def test_the_graph_of_the_main_tree_serves_every_tree(planned: Project, tmp_path: Path) -> None:
    planned.git("worktree", "add", "-q", str(tmp_path / "other"), "-b", "morph-task/x")
    shop().write(tmp_path / "other")
    assert fleet_collisions(open_repo(tmp_path / "other")).counts()["dependents"], "its own is better than none"
    shop().write(planned.root)
    found = fleet_collisions(open_repo(tmp_path / "other"))
    assert found.graph and found.graph.root == planned.root
    assert as_json(found) == as_json(fleet_collisions(open_repo(planned.root)))


def test_a_folder_stands_for_the_files_in_it(planned: Project) -> None:
    shop().write(planned.root)
    here(planned, "cart", plan_of("src"))
    (planned.root / ".morph/features/till/2-plan/plan.md").unlink()
    here(planned, "tea", plan_of("page.html"))
    here(planned, "till", plan_of("src/checkout.py"))
    found = fleet_collisions(open_repo(planned.root)).found
    assert [(one.kind, one.one.file, one.other.file) for one in found] == [("same-file", "src", "src/checkout.py")]
    planned.write("lib/a.py", "1")
    planned.git("add", "lib")
    made = shop()
    made.use("src/checkout.py:pay", "lib/a.py:help", "calls", 6)
    made.write(planned.root)
    here(planned, "cart", plan_of("lib"))
    found = fleet_collisions(open_repo(planned.root)).found
    assert [(one.kind, one.one.file, one.other.file) for one in found] == [("dependent", "lib/a.py", "src/checkout.py")]


def test_plans_that_cannot_be_compared_are_told(planned: Project) -> None:
    here(planned, "beer", None)
    here(planned, "wine", plan_of("src/*.py, w.py"))
    said = lines(fleet_collisions(open_repo(planned.root)))
    assert "not compared  beer: there is no .morph/features/beer/2-plan/plan.md" in said
    assert "not compared  wine F1 src/*.py: is a pattern: name the files" in said


def test_nothing_to_read_is_refused_and_one_plan_is_not(project: Project) -> None:
    with pytest.raises(Refusal) as refused:
        fleet_collisions(open_repo(project.root))
    assert refused.value.code == "no-open-plans" and "no feature is in work" in refused.value.what
    here(project, "beer", None)
    with pytest.raises(Refusal) as refused:
        fleet_collisions(open_repo(project.root))
    assert refused.value.payload["notCompared"][0]["feature"] == "beer"
    on_branch(project, "tea", plan_of("a.py"))
    found = fleet_collisions(open_repo(project.root))
    assert lines(found)[0] == "1 open plan, 0 pairs collide" and found.graph is None
    assert as_json(found)["dependents"] == {"direct": 0, "transitive": 0}
