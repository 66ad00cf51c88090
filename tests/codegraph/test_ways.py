"""The ways out of a question that was refused: each runs as it is printed, where the question was asked."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import BIN, Project


@pytest.fixture
def shop(graphed: Project) -> Project:
    """A shop with two carts, and a file that the graph does not have."""
    graphed.write("shop/other.py", "class Cart:\n    pass\n")
    graphed.write("notes.txt", "a Basket\n")
    graphed.commit("other")
    assert graphed.morph("graph", "refresh").code == 0
    return graphed


def refused(shop: Project, *words: str, folder: Path) -> tuple[Any, str]:
    """Ask; return the refusal and what people read."""
    said = shop.morph("graph", *words, "--json", cwd=folder)
    assert said.code == 1, said
    people = shop.morph("graph", *words, cwd=folder).err
    assert people.splitlines()[-1] == f"fix: {said.json['fix']}".replace(" --json", "")
    return said.json, people


def pasted(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a line as a shell does, with the commands under test first on the PATH."""
    env = {"PATH": f"{BIN}:/usr/local/bin:/usr/bin:/bin", "HOME": str(folder)}
    return subprocess.run(["sh", "-c", line], cwd=folder, env=env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("command", "where"), [("affected", "below"), ("explain", "beside")])
def test_each_way_out_runs_from_where_the_question_was_asked(
    shop: Project, tmp_path: Path, command: str, where: str
) -> None:
    beside = tmp_path / "be side"
    beside.mkdir()
    folder = beside if where == "beside" else shop.root / "shop/tests"
    tree = ("-p", str(shop.root)) if where == "beside" else ()
    for text, code in (("Cart", "ambiguous"), ("Basket", "not-found"), ("shop/cart.py:2", "not-found")):
        refusal, _ = refused(shop, command, text, "--mermaid", *tree, folder=folder)
        assert refusal["code"] == code
        done = pasted(refusal["fix"], folder)
        assert done.returncode == 0, (refusal["fix"], done.stderr)
        assert ("notes.txt" in done.stdout) == (text == "Basket")
    done = pasted(" ".join(refused(shop, command, "Basket", *tree, folder=folder)[0]["grep"]), folder)
    assert "a Basket" in done.stdout
    (shop.root / "graphify-out/graph.json").unlink()
    refusal, people = refused(shop, command, "Cart", *tree, folder=folder)
    assert "to search the text: git " in people
    assert pasted(refusal["fix"], folder).returncode == 0
    assert (shop.root / "graphify-out/graph.json").exists()


def test_the_options_of_the_question_are_kept(shop: Project) -> None:
    said = shop.morph("graph", "affected", "--prod", "Cart", "--depth", "3", "--mermaid", "--json", "-p", ".")
    assert said.json["fix"] == "morph-spec graph affected shop/cart.py:Cart --prod --depth 3 --mermaid -p . --json"
    said = shop.morph("graph", "affected", "Cart", "--html", "my page.html")
    assert said.err.splitlines()[-1] == "fix: morph-spec graph affected shop/cart.py:Cart --html 'my page.html'"


def test_a_page_that_cannot_be_written_says_how_it_can(shop: Project) -> None:
    asked = ("affected", "pay", "--prod", "--html")
    refusal, _ = refused(shop, *asked, "my pages/a.html", folder=shop.root)
    assert refusal["code"] == "write-failed"
    assert pasted(refusal["fix"], shop.root).returncode == 0
    assert shop.morph("graph", *asked, "my pages/a.html").code == 0
    refusal, _ = refused(shop, *asked, "README.md", folder=shop.root)
    assert refusal["code"] == "not-a-graph-page"
    assert pasted(refusal["fix"], shop.root).returncode == 0
    assert "<!DOCTYPE html>" in (shop.root / "README.md").read_text()
    refusal, _ = refused(shop, "affected", "--diff", "--html", "notes.txt", folder=shop.root)
    assert refusal["fix"] == "morph-spec graph affected --diff --html notes.txt --json --force"


def test_a_commit_that_there_is_not_is_looked_for_in_the_tree_that_was_meant(shop: Project, tmp_path: Path) -> None:
    refusal, _ = refused(shop, "affected", "--diff", "nope", "-p", str(shop.root), folder=tmp_path)
    done = pasted(refusal["fix"], tmp_path)
    assert done.returncode == 0
    assert "other" in done.stdout


def test_a_question_without_a_name_is_usage(shop: Project) -> None:
    for command in ("affected", "explain"):
        for text in ("", "  "):
            said = shop.morph("graph", command, text, "--json")
            assert (said.code, said.json["code"]) == (2, "usage")


def test_raw_says_what_graphify_says_and_how_to_ask_the_index(shop: Project) -> None:
    refusal, people = refused(shop, "affected", "Cart.total", "--raw", "--depth", "1", folder=shop.root)
    assert "No unique node match" in people
    assert refusal["fix"] == "morph-spec graph affected Cart.total --depth 1 --json"
    assert pasted(refusal["fix"], shop.root).returncode == 0


def test_what_is_near_is_told_to_people_too(shop: Project) -> None:
    refusal, people = refused(shop, "affected", "Cart.totl", folder=shop.root)
    assert [one["query"] for one in refusal["near"]] == ["Cart.total", "test_total"][: len(refusal["near"])]
    assert "near to it:\n  Cart.total  method" in people


@pytest.mark.parametrize("words", [("affected", "pay"), ("affected", "--diff"), ("explain", "pay")])
def test_the_way_to_a_graph_that_is_fresh_again_means_the_tree_that_was_asked_about(
    shop: Project, tmp_path: Path, words: tuple[str, ...]
) -> None:
    shop.write("shop/till.py", "from shop.cart import Cart\n\n\ndef pay(cart: Cart) -> int:\n    return 1\n")
    for committed in (False, True):
        if committed:
            shop.commit("away")
        last = shop.morph("graph", *words, "-p", str(shop.root), cwd=tmp_path).out.splitlines()[-1]
        way = last.rpartition("; ")[2]
        assert way == f"morph-spec graph refresh -p {shop.root}"
        assert shop.morph("graph", *words).out.splitlines()[-1].endswith("; morph-spec graph refresh")
    assert pasted(way, tmp_path).returncode == 0
    assert shop.morph("graph", *words).out.splitlines()[-1] == "graph: fresh"
