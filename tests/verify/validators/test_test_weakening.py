from __future__ import annotations

import json
from typing import Any

import pytest

from morph_tasks.model.load import Config
from morph_tasks.verify.validators import table, test_weakening
from morph_tasks.verify.validators.model import Checked

NONE = Config({}, "")
TEST = "tests/test_cart.py"
PLAN = ".morph/features/cart/2-plan/plan.md"
TWO = "def test_total():\n    assert total(cart) == 5\n\ndef test_empty():\n    assert total([]) == 0\n"
ONE = "def test_total():\n    assert total(cart) == 5\n"


@pytest.fixture
def shop(tree: Any) -> Any:
    """A tree whose base has two tests, CI and a node; the plan is that of the feature `cart`."""
    tree.git("checkout", "-q", "main")
    tree.write(TEST, TWO)
    tree.write(".github/workflows/ci.yml", "on: push\njobs:\n  test:\n    steps:\n      - run: pytest -q\n")
    tree.write(".morph/config/config.json", json.dumps({"project": {"tests": [{"id": "unit", "command": "pytest"}]}}))
    tree.write(".morph/features/cart/feature.json", json.dumps({"name": "cart"}))
    tree.commit()
    tree.git("checkout", "-q", "-B", "morph/cart")
    return tree


def _check(tree: Any, feature: str | None = "cart") -> Checked:
    return table.run(tree.repo, NONE, "test-weakening", feature)


def _plan(tree: Any, text: str, title: str = "The empty cart") -> None:
    decision = f"### ADR-001 — {title}\n**Scope:** feature\n{text}\n"
    tree.write(PLAN, f"# Cart\n\n## Decisions\n\n{decision}\n### Conflicts with the record\nnone\n\n## Slices\n")


def test_a_tree_without_changes_is_a_silent_skip(shop: Any) -> None:
    found = _check(shop)
    assert (found.status, found.warnings) == ("skip", ())


def test_a_deleted_test_is_an_error_with_its_place(shop: Any) -> None:
    shop.write(TEST, ONE)
    found = _check(shop)
    assert (found.status, found.reason) == ("fail", "test-weakening")
    assert found.detail == (f"{TEST}:4 (in the base): test-deleted test_empty: a test with 1 assertion -> gone",)
    assert "the plan of cart" in found.message


@pytest.mark.parametrize("how", ["worktree", "staged", "committed"])
def test_content_counts_the_same_wherever_it_is(shop: Any, how: str) -> None:
    (shop.root / TEST).unlink()
    shop.write("tests/test_new.py", ONE)
    if how != "worktree":
        shop.git("add", "-A")
    if how == "committed":
        shop.commit()
    assert [line.split(": ")[1] for line in _check(shop).detail] == ["test-deleted test_empty"]


def test_a_moved_file_is_no_finding(shop: Any) -> None:
    (shop.root / TEST).rename(shop.root / "tests/test_moved.py")
    found = _check(shop)
    assert (found.status, found.warnings) == ("pass", ())


def test_a_file_that_git_forgot_but_that_is_there_is_not_gone(shop: Any) -> None:
    shop.git("rm", "-q", "--cached", TEST)
    assert _check(shop).status == "skip"


def test_a_deleted_file_is_one_finding(shop: Any) -> None:
    (shop.root / TEST).unlink()
    found = _check(shop)
    assert len(found.detail) == 1
    assert "the file, with 2 tests" in found.detail[0]
    assert "test_total, test_empty" in found.detail[0]


def test_line_ends_make_no_difference(shop: Any) -> None:
    shop.write(TEST, TWO.replace("\n", "\r\n"))
    assert _check(shop).status == "skip"


def test_ci_and_nodes_are_looked_at(shop: Any) -> None:
    shop.write(".github/workflows/ci.yml", "on: push\njobs:\n  test:\n    steps:\n      - run: pytest -q || true\n")
    shop.write(".morph/config/config.json", json.dumps({"project": {"tests": []}}))
    kinds = [line.split(": ")[1] for line in _check(shop).detail]
    assert kinds == ["ci-weakened", "suite-narrowed"]


def test_nothing_else_below_morph_counts(shop: Any) -> None:
    shop.write(".morph/x/test_a.py", ONE)
    assert _check(shop).status == "skip"


def test_a_language_that_is_not_covered_is_said(shop: Any) -> None:
    shop.write("app/src/test/kotlin/CartTest.kt", "class CartTest { @Test fun a() {} }\n")
    found = _check(shop)
    assert found.status == "skip"
    assert found.warnings == ("not verified: app/src/test/kotlin/CartTest.kt",)


def test_a_test_that_does_not_parse_is_said(shop: Any) -> None:
    shop.write(TEST, "def test_total(:\n")
    assert f"not verified: {TEST}" in _check(shop).warnings


def test_no_base_is_a_skip_that_says_so(shop: Any) -> None:
    shop.git("checkout", "-q", "--orphan", "alone")
    shop.commit()
    found = _check(shop)
    assert found.status == "skip"
    assert found.warnings


@pytest.mark.parametrize(
    "text",
    [
        "The empty cart is refused before totals now, so `test_empty` has nothing to ask.",
        f"The empty cart is refused before totals now, see {TEST}:4 of the base.",
        f"What {TEST} said about carts is proved by the contract suite from now on.",
    ],
    ids=["test", "line", "file"],
)
def test_a_decision_with_a_reason_accepts(shop: Any, text: str) -> None:
    shop.write(TEST, ONE)
    _plan(shop, text)
    found = _check(shop)
    assert found.status == "pass"
    assert len(found.warnings) == 1
    assert found.warnings[0].startswith(f"accepted by ADR-001: {TEST}:4")


@pytest.mark.parametrize(
    "text",
    [
        "The cart is refused before totals now, so there is nothing left to ask.",
        "`test_empty`",
        f"`test_empty` in {TEST}: gone.",
        "The test test_total is slow and the suite has to be quick for everyone.",
        f"The empty cart is refused before totals now, see {TEST}:40 of the base.",
        f"In {TEST}::test_total nothing is to be asked about the currency any more.",
        f"What other/{TEST} said about carts is proved by the contract suite from now on.",
        "What test_empty_cart said about carts is proved by the contract suite from now on.",
    ],
    ids=[
        "unrelated",
        "no reason",
        "names only",
        "other test",
        "other line",
        "other test of the file",
        "other file",
        "longer",
    ],
)
def test_a_decision_that_is_not_about_it_accepts_nothing(shop: Any, text: str) -> None:
    shop.write(TEST, ONE)
    _plan(shop, text)
    assert _check(shop).status == "fail"


def test_a_decision_about_one_test_does_not_accept_another(shop: Any) -> None:
    shop.write(TEST, "def test_total():\n    assert total(cart)\n")
    _plan(shop, f"The empty cart is refused before totals now, so `test_empty` of {TEST} has nothing to ask.")
    found = _check(shop)
    assert [line.split(": ")[1] for line in found.detail] == ["assertion-loosened test_total"]
    assert len(found.warnings) == 1


def test_the_plan_of_another_feature_accepts_nothing(shop: Any) -> None:
    shop.write(TEST, ONE)
    _plan(shop, "The empty cart is refused before totals now, so `test_empty` has nothing to ask.")
    assert _check(shop, "other").status == "fail"
    assert _check(shop, None).status == "fail"


def test_the_plan_and_the_configuration_are_facts(shop: Any) -> None:
    def facts() -> dict[str, Any]:
        return table.facts(shop.repo, NONE, "test-weakening", "cart")

    first = facts()
    assert set(first) == {"rules", "base", "why", "plan", "config"}
    _plan(shop, "x")
    second = facts()
    assert second["plan"] != first["plan"]
    shop.write(".morph/config/config.json", "{}")
    assert facts()["config"] != second["config"]


def test_other_validators_are_not_given_the_feature(shop: Any) -> None:
    assert "plan" not in table.facts(shop.repo, NONE, "code-budget", "cart")
    assert table.run(shop.repo, NONE, "secrets", "cart").status == "skip"


def test_few_git_processes_whatever_the_number_of_files(shop: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(60):
        shop.write(f"tests/test_{number}.py", ONE)
    shop.commit()
    (shop.root / TEST).unlink()
    calls: list[str] = []
    from morph_tasks.repo.git import Repo

    real = Repo.run
    monkeypatch.setattr(Repo, "run", lambda self, *args, **more: calls.append(args[0]) or real(self, *args, **more))
    base = test_weakening.find_base(shop.repo)
    calls.clear()
    assert base.tree
    _check(shop)
    assert len(calls) <= 4


@pytest.mark.parametrize("mark", ["--assume-unchanged", "--skip-worktree"])
@pytest.mark.parametrize("after", [ONE, None])
def test_a_file_that_git_was_told_not_to_look_at_is_looked_at(shop: Any, mark: str, after: str | None) -> None:
    shop.git("update-index", mark, TEST)
    assert _check(shop).status == "skip"
    if after is None:
        (shop.root / TEST).unlink()
    else:
        shop.write(TEST, after)
    assert "test_empty" in "".join(_check(shop).detail)


def test_what_a_sparse_checkout_leaves_out_is_not_gone(shop: Any) -> None:
    shop.git("sparse-checkout", "set", "--no-cone", "/old.py", "/.github/", "/.morph/")
    assert not (shop.root / TEST).exists()
    assert _check(shop).status == "skip"
