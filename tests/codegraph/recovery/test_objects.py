"""Objects that are written out in TypeScript: the graph has a node for each and none for its methods."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from morph_tasks.codegraph import layout
from morph_tasks.codegraph.recovery import service
from tests.codegraph.recovery.tree import Edges, edges, written

PRICES = "export const PRICES = {\n  net() { return 1; },\n  gross: () => 2,\n  deep: { tax() { return 3; } },\n};\n"


def found(root: Path, files: dict[str, str]) -> Edges:
    """Return the edges that are found beside a graph with a node for the object."""
    written(root, files)
    graph = json.loads(layout.graph_file(root).read_text())
    node = {"id": "PRICES", "label": "PRICES", "source_file": "prices.ts", "source_location": "L1", "file_type": "code"}
    graph["nodes"].append(node)
    layout.graph_file(root).write_text(json.dumps(graph))
    service.recover(root)
    return edges(root)


@pytest.mark.parametrize(
    ("body", "proved"),
    [
        ("import { PRICES } from './prices';\nexport function pay() { return PRICES.net(); }\n", True),
        ("import { PRICES as P } from './prices';\nexport function pay() { return P.gross(); }\n", True),
        ("import * as all from './prices';\nexport function pay() { return all.PRICES.deep.tax(); }\n", True),
        ("import { PRICES } from './prices';\nexport function pay() { const { net } = PRICES; return net(); }\n", True),
        ("import { PRICES } from './prices';\nexport function pay(PRICES: any) { return PRICES.net(); }\n", False),
        ("const PRICES = { net() {} };\nexport function pay() { return PRICES.net(); }\n", False),
        ("export function pay() { return PRICES.net(); }\n", False),
        ("import { net } from './prices';\nexport function pay() { return net(); }\n", False),
    ],
)
def test_who_uses_a_method_of_an_object_uses_the_object(tmp_path: Path, body: str, proved: bool) -> None:
    told = found(tmp_path, {"prices.ts": PRICES, "pay.ts": body})
    assert (told.get(("pay.ts:pay", "PRICES")) == "references") is proved


@pytest.mark.parametrize(
    ("end", "proved"), [(" as const", True), (" satisfies Prices", True), (" as unknown as Prices", False)]
)
def test_what_is_said_of_its_type_counts(tmp_path: Path, end: str, proved: bool) -> None:
    source = f"export const PRICES = {{ net() {{ return 1; }} }}{end};\nexport function pay() {{ PRICES.net(); }}\n"
    told = found(tmp_path, {"prices.ts": f"{source}export interface Prices {{ net(): number }}\n"})
    assert (("prices.ts:pay", "PRICES") in told) is proved
    assert (("prices.ts:pay", "prices.ts:Prices.net") in told) is not proved


def test_what_an_object_holds_is_used_where_it_was_before(tmp_path: Path) -> None:
    source = f"import {{ cost }} from './cost';\n{PRICES.replace('return 1', 'return cost()')}"
    told = found(tmp_path, {"prices.ts": source, "cost.ts": "export function cost() { return 1; }\n"})
    assert told["prices.ts", "cost.ts:cost"]
