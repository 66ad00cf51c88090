from __future__ import annotations

import json
from typing import Any

import pytest

PLAN = """\
# Cart

## Problem
It drifts.

## Scenarios

### C1 — The sum is right
Given two lines, then the sum is right.
- proof: test

### C2 — The page shows it
Given a cart, then the page shows the sum.
- proof: e2e

### C3 — It looks good
Given the page, then it looks good.
- proof: manual

## Decisions

### Conflicts with the record
none

## Slices

### F1 — Rules
- persona: python-senior
- files: cart.py, tests/test_cart.py
- covers: C1, C2, C3
- reuse: CREATE Cart — why: nothing holds lines yet
"""


@pytest.fixture
def cart(project: Any) -> Any:
    project.config(project={"tests": [{"id": "unit", "command": "pytest -q tests"}]})
    project.write(
        "tests/test_cart.py", "import pytest\n\n\n@pytest.mark.scenario('C1')\ndef test_sum():\n    assert 0\n"
    )
    project.commit()
    assert project.morph("create", "cart", "--type", "feature", "--description", "A cart").code == 0
    project.write(".morph/features/cart/2-plan/plan.md", PLAN)
    assert project.morph("plan-check", "cart").code == 0
    project.commit()
    return project


def _rows(document: Any) -> dict[str, Any]:
    return {row["id"]: row for row in document["scenarios"]}


def test_the_matrix_as_json(cart: Any) -> None:
    before = cart.git("status", "--porcelain", "--ignored", "-uall")
    said = cart.morph("trace", "cart", "--json")
    assert said.code == 0
    assert {"ok", "feature", "scenarios", "unknown", "ambiguous", "unrun", "problems"} <= set(said.json)
    rows = _rows(said.json)
    assert rows["C1"]["tests"] == [
        {"name": "test_sum", "file": "tests/test_cart.py", "line": 5, "node": "tests/unit", "nodes": ["tests/unit"],
         "found": "collected", "skipped": None, "cases": 1}
    ]  # fmt: skip
    assert [(one["state"], one["slices"], one["proof"]) for one in rows.values()] == [
        ("covered", ["F1"], "test"), ("gap", ["F1"], "e2e"), ("manual", ["F1"], "manual"),
    ]  # fmt: skip
    assert said.json["commit"] == cart.git("rev-parse", "HEAD") and said.json["dirty"] is False
    assert said.json["nodes"][0]["collected"] is True and said.json["problems"] == []
    assert cart.git("status", "--porcelain", "--ignored", "-uall") == before, "a reader leaves nothing"


def test_the_table_shows_gaps_first(cart: Any) -> None:
    said = cart.morph("trace", "cart")
    words = [line.split()[:2] for line in said.out.splitlines() if line[:1] == "C"]
    assert words == [["C2", "GAP"], ["C1", "covered"], ["C3", "manual"]]
    assert "cart: 1 of 2 scenarios covered, 1 to be checked by a person; 1 test carries them" in said.out


def test_check_is_for_ci(cart: Any) -> None:
    assert cart.morph("trace", "cart", "--check").code == 1
    cart.write(".morph/features/cart/2-plan/plan.md", PLAN.replace("proof: e2e", "proof: test"))
    assert cart.morph("trace", "cart", "--check").code == 1
    cart.write("tests/test_page.py", "def test_page_scenario_C2():\n    pass\n")
    assert cart.morph("trace", "cart", "--check").code == 0
    cart.write("tests/test_page.py", "import pytest\n\n\n@pytest.mark.skip\ndef test_page_scenario_C2():\n    pass\n")
    assert cart.morph("trace", "cart", "--check").code == 1
    cart.write(".morph/features/cart/2-plan/plan.md", "# nothing\n")
    said = cart.morph("trace", "cart", "--check", "--json")
    assert said.code == 1 and said.json["scenarios"] is None
    assert said.json["problems"][0].startswith("scenarios are not verified: the plan has")


def test_without_collecting_nothing_of_the_project_is_imported(cart: Any) -> None:
    cart.write("conftest.py", "open('imported', 'w').close()\n")
    said = cart.morph("trace", "cart", "--no-collect", "--json")
    assert not (cart.root / "imported").exists()
    assert _rows(said.json)["C1"]["tests"][0]["found"] == "source"
    assert said.json["nodes"][0] | {"collected": False, "why": "not asked (--no-collect)"} == said.json["nodes"][0]
    assert cart.morph("trace", "cart", "--json").code == 0 and (cart.root / "imported").exists()


def test_a_collection_that_fails_leaves_the_source_and_says_so(cart: Any) -> None:
    cart.write("conftest.py", "import not_there\n")
    said = cart.morph("trace", "cart", "--json")
    assert said.code == 0 and _rows(said.json)["C1"]["tests"][0]["found"] == "source"
    assert _rows(said.json)["C1"]["state"] == "covered"
    (problem,) = said.json["problems"]
    assert problem.startswith("not verified: tests/unit did not list its tests") and "not_there" in problem
    assert str(cart.root) not in said.out


def test_ids_that_count_for_nothing(cart: Any) -> None:
    cart.write("tests/test_more.py", "def test_scenario_C9():\n    pass\n\n\ndef test_scenario_C1():\n    pass\n")
    cart.write("other/test_far.py", "def test_scenario_C1():\n    pass\n")
    found = cart.morph("trace", "cart", "--json").json
    assert [(one["id"], one["file"], one["line"]) for one in found["unknown"]] == [("C9", "tests/test_more.py", 1)]
    assert [(one["file"], one["why"]) for one in found["unrun"]] == [
        ("other/test_far.py", "tests/unit does not collect it")
    ]


def test_a_bare_id_that_an_archived_feature_has_too(cart: Any) -> None:
    cart.git("checkout", "-q", "main")
    cart.git("merge", "-q", "morph/cart")
    cart.write("tests/test_old.py", "def test_scenario_C1():\n    pass\n")
    cart.write(".morph/archive/shop/2-plan/checks.json", json.dumps({"scenarios": [{"id": "C1"}, {"id": "C7"}]}))
    cart.write(
        "tests/test_shop.py",
        'import pytest\n\n\n@pytest.mark.scenario("shop:C1", "C7", "gone:C1")\ndef test_x():\n    pass\n',
    )
    cart.commit()
    cart.git("checkout", "-q", "morph/cart")
    cart.git("merge", "-q", "main")
    found = cart.morph("trace", "cart", "--json").json
    assert [one["file"] for one in _rows(found)["C1"]["tests"]] == ["tests/test_cart.py"], "the plan names this file"
    assert [(one["file"], one["fix"]) for one in found["ambiguous"]] == [
        ("tests/test_old.py", "write cart:C1 if it is meant")
    ]
    assert [one["id"] for one in found["others"]] == ["shop:C1", "C7"]
    assert [(one["id"], one["why"]) for one in found["unknown"]] == [("gone:C1", "there is no feature gone")]


def test_names_that_are_more_than_names(cart: Any) -> None:
    name = "a<b>\\n\\x1b[31m\\u202e數"
    cart.write(
        "tests/test_odd.py",
        f'import pytest\n\n\n@pytest.mark.parametrize("x", [1, 2], ids=["{name} [C1]", "é"])\n'
        "def test_odd(x):\n    pass\n",
    )
    said = cart.morph("trace", "cart", "--html", "page.html")
    assert said.code == 0 and "\x1b" not in said.out and "test_odd (2 cases)" in said.out
    assert "<b>\n" not in (cart.root / "page.html").read_text("utf-8")
    assert cart.morph("trace", "cart", PYTHONIOENCODING="ascii").code == 0


def test_the_page(cart: Any, tmp_path: Any) -> None:
    target = tmp_path / "out.html"
    said = cart.morph("trace", "cart", "--html", str(target), "--json")
    text = target.read_text("utf-8")
    assert said.json["html"] == str(target) and str(cart.root) not in text and str(tmp_path) not in text
    assert "Trace of cart" in text and said.json["commit"][:12] in text and said.json["planHash"][:12] in text
    assert cart.morph("trace", "cart", "--html", str(target)).code == 0, "its own page is replaced"
    target.write_text("mine")
    refused = cart.morph("trace", "cart", "--html", str(target), "--json")
    assert (refused.code, refused.json["code"], target.read_text()) == (1, "not-a-trace-page", "mine")
    assert cart.morph("trace", "cart", "--html", str(target), "--force").code == 0
    assert cart.morph("trace", "cart", "--force").code == 2


def test_a_feature_that_is_not_there(cart: Any) -> None:
    said = cart.morph("trace", "nothing", "--json")
    assert (said.code, said.json["code"]) == (2, "feature-not-found")


def test_a_feature_without_a_plan_owes_nothing(cart: Any) -> None:
    (cart.root / ".morph/features/cart/2-plan/plan.md").unlink()
    said = cart.morph("trace", "cart", "--check", "--json")
    assert said.code == 0 and said.json["scenarios"] == []
    assert said.json["problems"] == ["cart has no plan yet: nothing is owed"]
    assert [one["why"] for one in said.json["unknown"]] == ["cart has no plan yet"]


def test_two_thousand_tests(cart: Any) -> None:
    for number in range(20):
        lines = [f"def test_{one}_scenario_C1():\n    pass\n" for one in range(100)]
        cart.write(f"tests/test_{number}.py", "\n".join(lines))
    said = cart.morph("trace", "cart", "--html", "page.html", "--json")
    tests = _rows(said.json)["C1"]["tests"]
    assert len(tests) == 2001 and {test["found"] for test in tests} == {"collected"}


def test_help_says_what_it_runs(cart: Any) -> None:
    said = cart.morph("trace", "--help")
    assert said.code == 0 and "--no-collect" in said.out and "imports" in said.out
