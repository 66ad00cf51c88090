from __future__ import annotations

import json
from pathlib import Path

import pytest

from morph_tasks.framework_files import framework_path
from morph_tasks.plan.guide import EXAMPLE
from morph_tasks.plan.service import plan_check
from morph_tasks.proc import run
from morph_tasks.repo.git import Repo, open_repo
from morph_tasks.verify.scenarios.belonging import belonging
from morph_tasks.verify.scenarios.owed import Owed, OwedScenario, PlannedSlice, owed


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    run(["git", "init", "-q", "-b", "main", str(tmp_path / "project")])
    found = open_repo(tmp_path / "project")
    _put(found, ".morph/features/cart/feature.json", '{"feature": "cart"}')
    return found


def _put(repo: Repo, name: str, text: str) -> Path:
    path = repo.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def _commit(repo: Repo) -> None:
    run(["git", "-C", str(repo.root), "add", "-A"])
    run(["git", "-C", str(repo.root), "commit", "-q", "-m", "work"])


def test_without_a_plan_nothing_is_owed(repo: Repo) -> None:
    assert owed(repo.root, "cart") == Owed(planned=False)


def test_the_file_of_the_plan_and_the_plan_itself_say_the_same(repo: Repo) -> None:
    plan = _put(repo, ".morph/features/cart/2-plan/plan.md", EXAMPLE)
    from_plan = owed(repo.root, "cart")
    assert from_plan.scenarios and from_plan.slices and from_plan.problem is None
    assert not (plan.parent / "checks.json").exists(), "a reader writes nothing"
    assert plan_check(repo.root, "cart").ok
    assert owed(repo.root, "cart") == from_plan


def test_a_file_of_another_plan_does_not_speak(repo: Repo) -> None:
    plan = _put(repo, ".morph/features/cart/2-plan/plan.md", EXAMPLE)
    plan_check(repo.root, "cart")
    first = owed(repo.root, "cart").scenarios[0]
    plan.write_text(EXAMPLE.replace(first.title, "Another title"))
    assert owed(repo.root, "cart").scenarios[0].title == "Another title"


def test_a_file_that_was_cut_by_hand_is_made_again(repo: Repo) -> None:
    _put(repo, ".morph/features/cart/2-plan/plan.md", EXAMPLE)
    plan_check(repo.root, "cart")
    whole = owed(repo.root, "cart")
    checks = repo.root / ".morph/features/cart/2-plan/checks.json"
    data = json.loads(checks.read_text())
    for broken in (
        {**data, "scenarios": [{"id": "C1"}]},
        {**data, "slices": None},
        {"plan": data["plan"], "version": 1},
    ):
        checks.write_text(json.dumps(broken))
        assert owed(repo.root, "cart") == whole


@pytest.mark.parametrize("text", ["# Nothing of the form\n", "\0", "## Scenarios\n### C1 x\n- proof: magic\n"])
def test_a_plan_with_errors_is_a_problem_never_an_empty_list(repo: Repo, text: str) -> None:
    _put(repo, ".morph/features/cart/2-plan/plan.md", text)
    found = owed(repo.root, "cart")
    assert found.problem and not found.scenarios


def _plan(*files: str) -> Owed:
    return Owed((OwedScenario("C1", "t", "test", 1),), (PlannedSlice("F1", "s", files, ("C1",)),))


def test_an_id_that_nobody_else_has_is_ours(repo: Repo) -> None:
    judge = belonging(repo, "cart", _plan())
    assert judge("C1", "tests/test_any.py") is None
    assert judge("C1", None) is None


@pytest.mark.parametrize("place", [".morph/features/shop", ".morph/archive/shop"])
def test_an_id_of_two_features_is_decided_by_the_file(repo: Repo, place: str) -> None:
    _put(repo, f"{place}/2-plan/checks.json", '{"scenarios": [{"id": "C1"}]}')
    _put(repo, "tests/test_shop.py", "")
    _put(repo, "tests/test_cart.py", "")
    _put(repo, "tests/test_old.py", "")
    _commit(repo)
    run(["git", "-C", str(repo.root), "switch", "-q", "-c", "morph/cart"])
    _put(repo, "tests/test_old.py", "# changed by us\n")
    _put(repo, "tests/test_new.py", "")
    _put(repo, "e2e/deep/test_there.py", "")
    judge = belonging(repo, "cart", _plan("tests/test_cart.py", "e2e"))
    assert judge("C1", "tests/test_cart.py") is None, "the plan names it"
    assert judge("C1", "e2e/deep/test_there.py") is None, "the plan names its folder"
    assert judge("C1", "tests/test_old.py") is None, "the feature changed it"
    assert judge("C1", "tests/test_new.py") is None, "the feature added it"
    assert "shop has it too" in str(judge("C1", "tests/test_shop.py"))
    assert judge("C1", None), "a test without a file could be anybody's"
    assert judge("C2", "tests/test_shop.py") is None, "nobody has C2"


def test_a_plan_that_nobody_checked_yet_owns_its_ids_too(repo: Repo) -> None:
    plan = _put(
        repo, ".morph/features/shop/2-plan/plan.md", "# Shop\n\n## Scenarios\n\n### C1 — A sum\n- proof: test\n"
    )
    assert "shop has it too" in str(belonging(repo, "cart", _plan())("C1", "tests/test_shop.py"))
    _put(repo, ".morph/features/shop/2-plan/checks.json", '{"scenarios": [{"id": "C1"}]}')
    plan.write_text(plan.read_text() + "\n### C2 — Added later\n- proof: test\n")
    judge = belonging(repo, "cart", _plan())
    assert judge("C1", "tests/test_shop.py") and judge("C2", "tests/test_shop.py")
    assert judge("C3", "tests/test_shop.py") is None


def test_an_empty_plan_of_somebody_else_owns_nothing(repo: Repo) -> None:
    _put(repo, ".morph/features/shop/2-plan/plan.md", framework_path("templates/plan.en.md").read_text())
    assert belonging(repo, "cart", _plan())("C1", "tests/test_shop.py") is None


def test_a_broken_plan_of_somebody_else_does_not_stop_us(repo: Repo) -> None:
    for number, text in enumerate(["{", "[]", '{"scenarios": 3}', '{"scenarios": [1]}', "null"]):
        _put(repo, f".morph/features/other{number}/2-plan/checks.json", text)
    assert belonging(repo, "cart", _plan())("C1", "a.py") is None


@pytest.mark.parametrize("language", ["en", "pt"])
def test_a_plan_that_nobody_filled_in_owes_nothing(repo: Repo, language: str) -> None:
    from morph_tasks.framework_files import framework_path

    text = framework_path(f"templates/plan.{language}.md").read_text("utf-8")
    _put(repo, ".morph/features/cart/2-plan/plan.md", text.replace("{{name}}", "X").replace("{{description}}", "Y"))
    assert owed(repo.root, "cart") == Owed(planned=False)
    _put(repo, ".morph/features/cart/2-plan/plan.md", f"{text}\n### C1 — begun\n")
    assert owed(repo.root, "cart").problem
