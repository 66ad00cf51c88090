"""What a plan reuses and the project does not have."""

from __future__ import annotations

from typing import Any

import pytest

from tests.verify.validators.test_reuse import COPY, NONE, PLAN, _shop, shop, table

__all__ = ["_shop", "shop"]  # fixtures

ORDR = "the plan reuses formt_price (F1), which the project does not have; format_price() is near (shop/money.py:1)"


def plan(tree: Any, *items: str) -> None:
    said = "".join(f"- reuse: {item}\n" for item in items)
    tree.write(PLAN, f"# Cart\n\nRATE_OF_NOTHING\n\n## Slices\n\n### F1 — The receipt\n- persona: x\n{said}")


def warnings(tree: Any) -> list[str]:
    found = table.run(tree.repo, NONE, "reuse", "cart")
    return [line for line in found.warnings if "does not have" in line]


@pytest.mark.parametrize("added", [False, True])
def test_a_name_that_nothing_has_is_a_warning_with_the_nearest(shop: Any, added: bool) -> None:
    if added:
        shop.write("shop/receipt.py", COPY)
    plan(shop, "REUSE `formt_price` — why: shown the same", "EXTEND NoSuchThing")
    assert warnings(shop) == [ORDR, "the plan extends NoSuchThing (F1), which the project does not have"]
    assert table.run(shop.repo, NONE, "reuse", "cart").status == ("pass" if added else "skip")


@pytest.mark.parametrize(
    "item",
    [
        "REUSE format_price",
        "REUSE formatPrice",
        "REUSE money.format_price",
        "EXTEND Basket.total, shop/money.py:main",
        "REUSE the price of a cart",
        "REUSE nothing",
        "REUSE money",
        "REUSE static_files",
        "CREATE NoSuchThing — why: there is none",
    ],
)
def test_what_is_there_or_is_no_name_is_none(shop: Any, item: str) -> None:
    shop.write("web/static_files/a.css", "a {}\n")
    plan(shop, item)
    assert warnings(shop) == []


def test_a_constant_that_only_the_text_has_is_there_and_prose_is_no_text(shop: Any) -> None:
    plan(shop, "REUSE MAX_LINES, RATE_OF_NOTHING")
    shop.write("docs/later.md", "MAX_LINES\n")
    assert [line.split(" (")[0] for line in warnings(shop)] == [
        "the plan reuses MAX_LINES",
        "the plan reuses RATE_OF_NOTHING",
    ]
    shop.write("shop/limits.py", "MAX_LINES = 3\n")
    assert [line.split(" (")[0] for line in warnings(shop)] == ["the plan reuses RATE_OF_NOTHING"]


def test_a_part_of_a_longer_word_is_not_the_name(shop: Any) -> None:
    plan(shop, "REUSE MAX_LINES")
    shop.write("shop/limits.py", "OLD_MAX_LINES_LEFT = 3\n")
    assert [line.split(" (")[0] for line in warnings(shop)] == ["the plan reuses MAX_LINES"]


def test_an_owner_that_is_not_there_counts_as_well(shop: Any) -> None:
    plan(shop, "REUSE Baskit.total")
    [line] = warnings(shop)
    assert line.startswith("the plan reuses Baskit.total (F1)") and "Basket is near (shop/money.py:1)" in line


def test_what_another_slice_creates_will_be_there(shop: Any) -> None:
    plan(shop, "CREATE NoSuchThing — why: there is none", "EXTEND NoSuchThing.total")
    assert warnings(shop) == []


def test_without_a_graph_nothing_is_told(shop: Any) -> None:
    plan(shop, "REUSE NoSuchThing")
    (shop.root / "graphify-out/graph.json").unlink()
    assert warnings(shop) == []
