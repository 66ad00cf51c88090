"""The validator `reuse` with the graph of graphify, through the installed command."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from morph_tasks.verify import witness
from tests.conftest import Project

PRICE = "def format_price(cents: int) -> str:\n    return str(cents)\n"
CART = f"class Cart:\n    def total(self) -> int:\n        return 1\n\n\n{PRICE}"
TILL = (
    "from shop.cart import Cart, format_price\n\n\ndef pay(cart: Cart) -> str:\n    return format_price(cart.total())\n"
)
COPY = "def formatPrice(amount: int) -> str:\n    return f'{amount / 100:.2f}'\n"
PLAN = ".morph/features/receipt/2-plan/plan.md"


@pytest.fixture
def shop(project: Project) -> Project:
    """A project with a little Python in it, no graph, and a feature that writes a price anew."""
    project.write("shop/cart.py", CART)
    project.write("shop/till.py", TILL)
    project.config(project={"build": [], "tests": [{"id": "unit", "command": "true", "runner": "none"}]})
    project.commit("code")
    assert project.morph("create", "receipt", "--type", "feature", "--description", "A receipt").code == 0
    project.write("shop/receipt.py", COPY)
    return project


def _plan(project: Project, verdict: str) -> None:
    project.write(PLAN, f"# Receipt\n\n## Slices\n\n### F1 — Price\n- persona: x\n- reuse: {verdict}\n")


def _about(document: Any) -> tuple[Any, list[str]]:
    """Return what a verify says of the node, and the lines about it."""
    node = next(one for one in document["nodes"]["validators"]["runs"] if one["id"] == "reuse")
    return node, [line for line in document["feedback"] if line.startswith("[validators/reuse]")]


def _settle(project: Project) -> Any:
    """Verify until nothing is left to do: a file that was written just now is looked at once more."""
    for _ in range(20):
        document = project.verify("receipt")
        if witness.settled("receipt"):
            return document
        time.sleep(0.05)
    raise AssertionError("no verify was a no-op")


def test_no_graph_is_said_although_the_others_are_green_and_a_no_op_stays_one(
    shop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shop.root)
    first = shop.verify("receipt")
    node, lines = _about(first)
    assert (node["status"], node["warnings"]) == ("skip", [])
    assert lines == ["[validators/reuse] did not run: there is no code graph: `morph-spec graph build` makes one"]
    assert first["nodes"]["validators"]["status"] == "pass"
    skipped = {one["validator"]: one for one in first["nodes"]["validators"]["skipped"]}
    assert skipped["reuse"] == {"validator": "reuse", "reason": node["reason"], "unavailable": True}
    assert not any(one["unavailable"] for name, one in skipped.items() if name != "reuse")
    assert lines[0] in shop.morph("verify", "receipt").out
    _settle(shop)
    again = shop.verify("receipt")
    assert _about(again)[1] == lines and _about(again)[0]["reused"]
    assert shop.morph("graph", "build").code == 0
    assert witness.settled("receipt") is None  # a graph is news
    assert _about(shop.verify("receipt"))[0]["status"] == "pass"


def test_the_graph_the_plan_and_what_becomes_of_them(shop: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shop.root)
    assert shop.morph("graph", "build").code == 0
    document = _settle(shop)
    node, lines = _about(document)
    repeat = "shop/receipt.py:1: formatPrice repeats format_price (shop/cart.py:6, used in 1 file): same name"
    assert node["status"] == "pass" and node["warnings"][0] == repeat
    assert lines[0] == f"[validators/reuse] warning: {repeat}"
    assert document["nodes"]["validators"]["skipped"] == [
        {"validator": "test-weakening", "reason": "no test and no setting changed", "unavailable": False}
    ]

    _plan(shop, "REUSE format_price")
    assert witness.settled("receipt") is None
    document = shop.verify("receipt")
    node, lines = _about(document)
    assert (document["exit"], node["reason"]) == (1, "reuse-ignored")
    assert f"[validators/reuse]   {repeat}; F1 says REUSE format_price" in lines

    _plan(shop, "CREATE formatPrice — why: receipts say cents")
    document = shop.verify("receipt")
    assert (document["exit"], _about(document)[1]) == (0, [])

    (shop.root / "graphify-out/graph.json").write_text("{")
    node, lines = _about(shop.verify("receipt"))
    assert node["status"] == "skip"
    assert len(lines) == 1 and lines[0].startswith("[validators/reuse] did not run: ")


def test_another_edit_of_the_plan_measures_nothing_anew(shop: Project) -> None:
    assert shop.morph("graph", "build").code == 0
    _plan(shop, "CREATE formatPrice — why: receipts say cents")
    assert _about(shop.verify("receipt"))[0]["reused"] is None
    _plan(shop, "CREATE formatPrice — why: they are read by machines")
    assert _about(shop.verify("receipt"))[0]["reused"]


def test_a_node_of_its_own(shop: Project) -> None:
    shop.write("dodo.py", "from morph_tasks.tasks import *  # noqa: F403\n")
    said = shop.doit("validators:receipt:reuse")
    assert said.code == 0
    assert "validators/reuse           skip" in said.out and "[validators/reuse] did not run: " in said.out
    known = json.loads((shop.root / ".morph/evidence/receipt/validators/reuse.json").read_text())
    assert known["unavailable"] is True
