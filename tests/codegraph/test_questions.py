"""The questions through the command, on graphs that graphify made: answers, states, pictures, and the quick way."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import BIN, Project

pytestmark = pytest.mark.usefixtures("graphed")


@pytest.fixture
def shop(graphed: Project) -> Project:
    return graphed


def asked(project: Project, *words: str) -> Any:
    said = project.morph("graph", *words, "--json")
    assert said.code == 0, said.err
    assert not said.err
    return said.json


def names(answer: Any) -> dict[str, int]:
    return {one["name"]: one["depth"] for one in answer["affected"]}


def test_affected_tells_consumers_with_their_sites_and_tests(shop: Project) -> None:
    answer = asked(shop, "affected", "Cart")
    assert answer["symbol"]["path"] == "shop/cart.py"
    found = {one["name"]: one for one in answer["affected"]}
    assert found["pay()"]["site"] == {"path": "shop/till.py", "line": 4} or found["pay()"]["site"]["line"] == 5
    assert found["pay()"]["test"] is False
    assert found["test_total()"]["test"] is True
    assert answer["freshness"]["state"] == "fresh"
    assert answer["counts"]["affected"] == len(answer["affected"])
    assert answer["mentions"] == []
    lines = shop.morph("graph", "affected", "Cart").out.splitlines()
    assert any(line.split()[0] == "pay()" and "shop/till.py:" in line for line in lines if line.strip())
    assert lines[-1] == "graph: fresh"


def test_prod_leaves_the_tests_out(shop: Project) -> None:
    answer = asked(shop, "affected", "Cart", "--prod")
    assert answer["affected"]
    assert not [one for one in answer["affected"] if one["test"]]
    assert answer["leftOut"]["tests"] > 0


@pytest.mark.parametrize(
    "words", [(), ("--json",), ("--prod", "--mentions"), ("--uses-only", "--depth", "1"), ("--json", "--depth", "3")]
)
def test_the_quick_way_answers_like_the_command(shop: Project, words: tuple[str, ...]) -> None:
    quick = shop.morph("graph", "affected", "Cart.total", *words)
    whole = shop.morph("graph", "affected", "Cart.total", *words, "-p", ".")
    assert quick == whole
    assert quick.code == 0


def test_the_quick_way_needs_no_commands_and_starts_no_program_beside_many_consumers(shop: Project) -> None:
    for _ in range(2):  # the index is there, and files that it was made from a moment ago were looked at again
        asked(shop, "affected", "Cart")
    code = (
        "import sys, os; from morph_tasks.entry import _quick\n"
        "def no(*words, **more): raise AssertionError(words)\n"
        "os.posix_spawn = os.posix_spawnp = os.fork = os.execv = no\n"
        "import morph_tasks.codegraph.asking as asking; asking.FEW = 0\n"
        "assert _quick(['graph', 'affected', 'Cart']) == 0\n"
        "heavy = {'click', 'pydantic', 'subprocess', 'sh', 'msgspec', 'dataclasses', 'networkx', 'logging'}\n"
        "heavy |= {'morph_tasks.codegraph.mentions', 'pathlib'}\n"
        "print(sorted(heavy & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=shop.root, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_question_in_a_linked_tree_and_in_a_folder_of_it(shop: Project, tmp_path: Path) -> None:
    shop.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side tree"))
    side = Project(tmp_path / "side tree")
    assert shop.morph("graph", "affected", "Cart", cwd=side.root).code == 1
    assert side.morph("graph", "build").code == 0
    assert names(asked(side, "affected", "Cart")).keys() >= {"pay()"}
    assert shop.morph("graph", "affected", "Cart", "-p", str(side.root / "shop")).code == 0
    assert shop.morph("graph", "affected", "Cart", cwd=shop.root / "shop").code == 0


def test_no_graph_no_symbol_and_several_are_states(shop: Project) -> None:
    shop.write("shop/other.py", "class Cart:\n    pass\n")
    shop.commit()
    assert shop.morph("graph", "refresh").code == 0
    for text, state in (("Nothing", "not-found"), ("Cart", "ambiguous")):
        for command in ("affected", "explain"):
            said = shop.morph("graph", command, text, "--json")
            assert (said.code, said.json["state"], said.json["code"]) == (1, state, state)
            assert said.json["grep"] == ["git", "grep", "-n", "-w", "-e", text, "--", ":/"]
            assert said.json["ok"] is False
    said = shop.morph("graph", "affected", "Cart")
    assert "shop/other.py:Cart" in said.err
    assert "git grep -n -w -e Cart" in said.err
    options = shop.morph("graph", "affected", "Cart", "--json").json["options"]
    assert {one["path"] for one in options} == {"shop/cart.py", "shop/other.py"}
    for one in options:
        assert asked(shop, "affected", one["query"])["symbol"]["id"] == one["id"]
    (shop.root / "graphify-out/graph.json").unlink()
    said = shop.morph("graph", "affected", "a b", "--json")
    assert (said.code, said.json["state"]) == (1, "no-graph")
    assert said.json["fix"] == "morph-spec graph build"
    assert said.json["grep"][-3:] == ["a b", "--", ":/"]
    assert "git grep -n -w -F -e 'a b' -- :/" in shop.morph("graph", "affected", "a b").err


def test_a_graph_that_is_cut_off_leaves_the_search_of_the_text(shop: Project) -> None:
    graph = shop.root / "graphify-out/graph.json"
    graph.write_bytes(graph.read_bytes()[:-40])
    said = shop.morph("graph", "affected", "Cart", "--json")
    assert (said.code, said.json["code"], said.json["fix"]) == (1, "corrupt-graph", "morph-spec graph build")
    assert said.json["grep"] == ["git", "grep", "-n", "-w", "-e", "Cart", "--", ":/"]
    assert "git grep -n -w -e Cart -- :/" in shop.morph("graph", "explain", "Cart").err


def test_an_empty_answer_says_what_was_looked_at_and_what_the_text_says(shop: Project) -> None:
    shop.write("notes.txt", "call pay twice\n")
    answer = asked(shop, "affected", "pay")
    assert answer["affected"] == []
    place = {"path": "notes.txt", "line": 1, "text": "call pay twice"}
    assert answer["mentions"] == [{**place, "words": ["pay"], "code": False, "test": False, "inGraph": False}]
    assert answer["mentionsTotal"] == 1
    said = shop.morph("graph", "affected", "pay").out
    assert "the graph has nothing that depends on it; looked at the symbol" in said
    assert "notes.txt:1: call pay twice" in said


def test_a_graph_of_an_older_commit_says_that_lines_may_have_moved(shop: Project) -> None:
    shop.write("shop/till.py", "\n\n" + (shop.root / "shop/till.py").read_text())
    shop.commit()
    assert asked(shop, "affected", "Cart")["freshness"]["state"] == "stale"
    assert "lines may have moved" in shop.morph("graph", "affected", "Cart").out.splitlines()[-1]
    assert "lines may have moved" in shop.morph("graph", "explain", "Cart").out.splitlines()[-1]


def test_the_change_of_the_tree_and_of_a_range(shop: Project) -> None:
    shop.write("shop/cart.py", "class Cart:\n    def total(self) -> int:\n        return 2\n")
    answer = asked(shop, "affected", "--diff")
    assert [one["name"] for one in answer["symbols"]] == ["Cart.total()"]
    assert "pay()" in names(answer)
    assert (answer["base"], answer["unmatched"]) == ("HEAD", [])
    shop.commit("two")
    assert asked(shop, "affected", "--diff")["symbols"] == []
    assert [one["name"] for one in asked(shop, "affected", "--diff", "HEAD~1..HEAD")["symbols"]] == ["Cart.total()"]
    assert "pay()" in names(asked(shop, "affected", "--diff", "HEAD~1", "--prod"))
    said = shop.morph("graph", "affected", "--diff", "nope", "--json")
    assert (said.code, said.json["code"]) == (1, "unknown-commit")


def test_nothing_changed_is_said(shop: Project) -> None:
    answer = asked(shop, "affected", "--diff")
    assert (answer["symbols"], answer["files"], answer["affected"]) == ([], [], [])
    assert "0 files changed" in shop.morph("graph", "affected", "--diff").out


def test_what_the_change_has_and_the_graph_has_not_is_named(shop: Project) -> None:
    shop.write("guide.md", "# guide\n")
    shop.write("shop/new.py", "def neu(): ...\n")
    found = {(one["path"], one["reason"]) for one in asked(shop, "affected", "--diff")["unmatched"]}
    assert found == {("guide.md", "not-in-graph"), ("shop/new.py", "new")}
    assert "guide.md: not in the graph" in shop.morph("graph", "affected", "--diff").out


def test_explain_tells_both_sides(shop: Project) -> None:
    answer = asked(shop, "explain", "pay")
    assert {one["name"] for one in answer["uses"]} >= {"Cart"}
    answer = asked(shop, "explain", "Cart")
    assert [one["name"] for one in answer["members"]] == ["Cart.total()"]
    assert {one["name"] for one in answer["usedBy"] if one["test"]} >= {"test_total()"}
    assert all(one["site"]["path"] and one["via"] for one in answer["usedBy"])


@pytest.mark.parametrize("words", [("affected", "Cart"), ("affected", "--diff"), ("explain", "Cart")])
def test_pictures_of_each_kind_of_answer(shop: Project, words: tuple[str, ...]) -> None:
    shop.write("shop/cart.py", "class Cart:\n    def total(self) -> int:\n        return 2\n")
    said = shop.morph("graph", *words, "--mermaid")
    assert said.out.startswith("flowchart ")
    assert "pay()" in said.out
    answer = asked(shop, *words, "--mermaid", "--html", "out page.html")
    assert answer["mermaid"] == said.out
    assert answer["html"] == "out page.html"
    page = (shop.root / "out page.html").read_text("utf-8")
    assert "pay()" in page
    assert str(shop.root) not in page
    assert shop.morph("graph", *words, "--html", "out page.html").out.endswith("wrote out page.html\n")


def test_a_page_is_not_written_over_somebody_elses_file(shop: Project) -> None:
    said = shop.morph("graph", "explain", "Cart", "--html", "README.md", "--json")
    assert (said.code, said.json["code"]) == (1, "not-a-graph-page")
    assert (shop.root / "README.md").read_text() == "# shop\n"


@pytest.mark.parametrize(
    "words",
    [
        ("affected",), ("affected", "Cart", "--diff"), ("affected", "Cart", "--depth", "0"), ("explain",),
        ("affected", "Cart", "--force"), ("affected", "--raw", "--diff"), ("affected", "Cart", "--raw", "--prod"),
        ("affected", "--no", "Cart"), ("affected", "--diff", ""), ("affected", "--diff="), ("affected", "--diff", " "),
    ],
)  # fmt: skip
def test_what_excludes_each_other_is_usage(shop: Project, words: tuple[str, ...]) -> None:
    said = shop.morph("graph", *words, "--json")
    assert (said.code, said.json["code"]) == (2, "usage")


def test_raw_is_what_graphify_says(shop: Project) -> None:
    done = subprocess.run(
        [str(BIN / "graphify"), "affected", "Cart"], cwd=shop.root, capture_output=True, text=True, check=True
    )
    theirs = sorted(line for line in done.stdout.splitlines() if line.startswith("- "))
    assert sorted(shop.morph("graph", "affected", "Cart", "--raw").out.splitlines()) == theirs
    assert len(theirs) == len(asked(shop, "affected", "Cart", "--raw")["affected"]) > 0
    said = shop.morph("graph", "affected", "Nothing", "--raw", "--json")
    assert (said.code, said.json["code"]) == (1, "not-found")


def test_the_tree_can_hold_blanks_and_quotes(project: Project, tmp_path: Path) -> None:
    odd = Project(tmp_path / "a 'b\" ü%41?#")
    odd.root.mkdir()
    odd.git("init", "-q")
    odd.write(
        "so me/ca'rt.py",
        "class Cart:\n    def total(self):\n        return 1\n\n\ndef pay():\n    return Cart().total()\n",
    )
    odd.commit()
    assert odd.morph("graph", "build").code == 0
    assert "pay()" in names(asked(odd, "affected", "so me/ca'rt.py:Cart"))
    json.dumps(asked(odd, "explain", "Cart"))
