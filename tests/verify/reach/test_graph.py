"""What tests reach by a real graph of a small project: calls, fixtures, types, and tests that are no symbols."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from morph_tasks.codegraph.index import open_index
from morph_tasks.codegraph.recovery.service import recover
from morph_tasks.codegraph.spans import definitions
from morph_tasks.verify.reach.changes import Hunk
from morph_tasks.verify.reach.dispatch import Dispatch
from morph_tasks.verify.reach.graph import DEPTH, Graph
from morph_tasks.verify.reach.model import RanTest
from morph_tasks.verify.reach.pieces import Piece, read_source

CHAIN = (
    "\n\n".join(f"def step{n}():\n    return step{n + 1}()" for n in range(1, 10))
    + "\n\n\ndef step10():\n    return 1\n"
)
FILES = {
    "svc/go.mod": "module example.com/svc\n\ngo 1.21\n",
    "svc/keep.go": (
        "package svc\n\ntype Store interface {\n\tTake(n int) int\n}\n\ntype Memory struct{ n int }\n\n"
        "func (m *Memory) Take(n int) int {\n\treturn less(m.n, n)\n}\n\n"
        "func less(a int, b int) int {\n\treturn a - b\n}\n\n"
        "func Reserve(s Store) int {\n\treturn s.Take(1)\n}\n"
    ),
    "svc/keep_test.go": (
        'package svc\n\nimport "testing"\n\nfunc TestReserve(t *testing.T) {\n'
        "\tif Reserve(&Memory{n: 2}) != 1 {\n\t\tt.Fail()\n\t}\n}\n"
    ),
    "shop/discount.py": (
        "class Discount:\n    def apply(self, cents: int) -> int:\n        return cents\n\n\n"
        "class Percent(Discount):\n    def apply(self, cents: int) -> int:\n        return self._less(cents)\n\n"
        "    def _less(self, cents: int) -> int:\n        return cents - 1\n\n\n"
        "def total(discount: Discount) -> int:\n    return discount.apply(2)\n\n\n"
        "def listed() -> int:\n    return 1\n"
    ),
    "tests/test_discount.py": (
        "from shop.discount import Percent, listed, total\n\n\n"
        "def test_total():\n    assert total(Percent()) == 1\n\n\n"
        "CASES = [listed]\n\n\ndef test_plain():\n    assert CASES\n"
    ),
    "svc/total.go": (
        "package svc\n\ntype Cart struct{ n int }\n\nfunc (c Cart) Sum() int {\n\treturn add(c.n, 1)\n}\n\n"
        "func add(a int, b int) int {\n\treturn a + b\n}\n\nfunc Total(n int) int {\n\treturn add(n, 2)\n}\n"
    ),
    "svc/total_test.go": (
        'package svc\n\nimport "testing"\n\nfunc TestTotal(t *testing.T) {\n'
        '\tt.Run("[C1] adds", func(t *testing.T) {\n\t\tif Total(1) != 3 {\n\t\t\tt.Fail()\n\t\t}\n\t})\n}\n'
    ),
    "net/Shop/Cart.cs": (
        "namespace Shop;\n\npublic class Cart\n{\n    public int Total(int n)\n    {\n        return Add(n);\n    }\n\n"
        "    private int Add(int n)\n    {\n        return n + 1;\n    }\n}\n"
    ),
    "net/Shop.Tests/CartTests.cs": (
        "using Shop;\nusing Xunit;\n\nnamespace Shop.Tests;\n\npublic class CartTests\n{\n"
        '    [Fact(DisplayName = "[C1] adds")]\n    public void Adds()\n    {\n'
        "        Cart cart = new Cart();\n        Assert.Equal(2, cart.Total(1));\n    }\n}\n"
    ),
    "shop/__init__.py": "",
    "shop/cart.py": (
        "RATE = 1\n\n\nclass Cart:\n    size = 0\n\n    def __init__(self):\n        self.items = made()\n\n"
        "    def clear(self):\n        self.items = []\n\n\ndef made():\n    return []\n"
    ),
    "shop/alone.py": "ALONE = 1\n",
    "shop/chain.py": CHAIN,
    "tests/conftest.py": (
        "import pytest\n\nfrom shop.cart import Cart\n\n\n@pytest.fixture\ndef filled(cart):\n    return cart\n\n\n"
        "@pytest.fixture\ndef cart():\n    return Cart()\n"
    ),
    "tests/test_cart.py": (
        "from shop.chain import step1\n\n\nclass TestCart:\n"
        "    def test_filled(self, filled):\n        assert filled\n\n\n"
        "def test_chain():\n    assert step1()\n"
    ),
    "web/sum.ts": (
        "export function sum(a: number): number {\n  return add(a, 1);\n}\n"
        "function add(a: number, b: number) {\n  return a + b;\n}\n"
    ),
    "web/sum.test.ts": (
        "import { expect, it } from 'vitest';\nimport { sum } from './sum';\n"
        "it('sums [C1]', () => {\n  expect(sum(1)).toBe(2);\n});\n"
    ),
}
FILLED = RanTest("TestCart > test_filled", "tests/test_cart.py", 5, "tests/unit", ("C1",), True)
CHAINED = RanTest("test_chain[1]", "tests/test_cart.py", 9, "tests/unit", ("C2",), True)
IN_WEB = RanTest("sums [C1]", "web/sum.test.ts", 3, "tests/web", ("C1",), True)


IN_GO = RanTest("TestTotal/[C1]_adds", "svc/total_test.go", 5, "tests/go", ("C1",), True)
RESERVED = RanTest("TestReserve", "svc/keep_test.go", 5, "tests/go", ("C1",), True)
TOTAL = RanTest("test_total", "tests/test_discount.py", 4, "tests/unit", ("C1",), True)
IN_NET = RanTest("Shop.Tests.CartTests.Adds(n: 1)", None, None, "tests/net", ("C1",), True)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("graph")
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    subprocess.run(["git", "init", "-q", "."], cwd=root, check=True)
    subprocess.run(["graphify", "extract", ".", "--code-only"], cwd=root, check=True, capture_output=True)
    assert not recover(root).failed
    return root


@pytest.fixture
def graph(tree: Path) -> Iterator[Graph]:
    with open_index(tree) as index:
        yield Graph(tree, index, [FILLED, CHAINED, IN_WEB, IN_GO, IN_NET, RESERVED, TOTAL])


def _piece(tree: Path, path: str, line: int) -> Piece:
    (piece,) = read_source(path, (tree / path).read_bytes(), [Hunk(line, 1, 0)]).pieces
    return piece


def _line(path: str, text: str) -> int:
    return next(number for number, line in enumerate(FILES[path].split("\n"), 1) if text in line)


@pytest.mark.parametrize(
    ("path", "text", "wanted"),
    [
        # Over the fixtures of a fixture, the type they make, and what its constructor calls.
        ("shop/cart.py", "return []", [FILLED]),
        ("shop/cart.py", "self.items = made()", [FILLED]),
        ("shop/cart.py", "size = 0", [FILLED]),
        ("shop/cart.py", "self.items = []", []),
        ("shop/chain.py", "return step3()", [CHAINED]),
        ("shop/chain.py", f"return step{DEPTH + 1}()", [CHAINED]),
        ("shop/chain.py", f"return step{DEPTH + 2}()", []),
        # A test that is no symbol reaches what its file imports.
        ("web/sum.ts", "return add(a, 1)", [IN_WEB]),
        ("web/sum.ts", "return a + b", [IN_WEB]),
        ("svc/total.go", "return a + b", [IN_GO]),
        ("svc/total.go", "return add(c.n, 1)", []),
        ("net/Shop/Cart.cs", "return Add(n)", [IN_NET]),
        ("net/Shop/Cart.cs", "return n + 1", [IN_NET]),
        # Over an interface, and over a method that a subclass overrides.
        ("svc/keep.go", "return less(m.n, n)", [RESERVED]),
        ("svc/keep.go", "return a - b", [RESERVED]),
        ("shop/discount.py", "return self._less(cents)", [TOTAL]),
        ("shop/discount.py", "return cents - 1", [TOTAL]),
    ],
)
def test_what_reaches_a_line(tree: Path, graph: Graph, path: str, text: str, wanted: list[RanTest]) -> None:
    assert graph.reaching(_piece(tree, path, _line(path, text))) == wanted


def test_what_only_the_file_of_a_test_reaches_is_told_apart(tree: Path, graph: Graph) -> None:
    for path, text, wanted in (
        ("web/sum.ts", "return add(a, 1)", [IN_WEB]),
        ("shop/discount.py", "return 1", [TOTAL]),
        ("shop/discount.py", "return cents - 1", []),
        ("svc/keep.go", "return a - b", []),
    ):
        assert graph.by_file(_piece(tree, path, _line(path, text))) == wanted, text
    # A file says nothing of a symbol that a test without a scenario in it reaches by itself.
    plain = RanTest("test_plain", "tests/test_discount.py", 11, "tests/unit", ("C1",), True)
    with open_index(tree) as index:
        other = Graph(tree, index, [plain])
        assert other.reaching(_piece(tree, "shop/discount.py", _line("shop/discount.py", "return cents - 1"))) == []
        assert other.by_file(_piece(tree, "shop/discount.py", _line("shop/discount.py", "return 1"))) == [plain]


def test_a_symbol_is_followed_back_over_an_interface_and_to_the_file_of_a_callback(tree: Path) -> None:
    with open_index(tree) as index:
        nobody = Graph(tree, index, [])

        def said(path: str, text: str) -> list[str]:
            return [one.said for one in nobody.testers(_piece(tree, path, _line(path, text)))]

        assert said("svc/keep.go", "return a - b") == ["svc/keep_test.go:5 TestReserve"]
        assert said("shop/discount.py", "return cents - 1") == ["tests/test_discount.py:4 test_total"]
        assert said("web/sum.ts", "return add(a, 1)") == ["web/sum.test.ts"]


def test_an_override_in_test_code_is_not_run_by_production_code(tmp_path: Path) -> None:
    _linked(tmp_path, "src/base.py:Base:run", "tests/a.py:A:run", "tests/b.py:Own:run", "src/sub.py:Sub:run")
    with open_index(tmp_path) as index:
        named = {one.file: one.id for one in index.names(["run"])}
        pairs = Dispatch(index)
        base, a, own, sub = (named[path] for path in ("src/base.py", "tests/a.py", "tests/b.py", "src/sub.py"))
        for _ in range(2):
            assert pairs.down([base]) == [(base, sub)] and pairs.up([sub]) == [(sub, base)]
            assert pairs.down([a]) == [(a, own)] and pairs.up([a]) == []


def _linked(tree: Path, *members: str) -> None:
    """Write a graph of types that derive from the first one, and the third one from the second."""
    nodes, links = [], []
    bases = {1: 0, 2: 1, 3: 0}
    for number, (path, owner, name) in enumerate(one.split(":") for one in members):
        common = {"source_file": path, "source_location": "L1", "file_type": "code"}
        nodes += [{"id": f"t{number}", "label": owner, **common}, {"id": f"m{number}", "label": f".{name}()", **common}]
        links.append({"source": f"t{number}", "target": f"m{number}", "relation": "method", **common})
        if number in bases:
            links.append({"source": f"t{number}", "target": f"t{bases[number]}", "relation": "inherits", **common})
    (tree / "graphify-out").mkdir()
    document = {"directed": True, "multigraph": False, "graph": {}, "nodes": nodes, "links": links, "hyperedges": []}
    (tree / "graphify-out/graph.json").write_text(json.dumps(document))


def test_what_lies_in_no_definition_runs_when_its_file_is_loaded(tree: Path, graph: Graph) -> None:
    assert FILLED in graph.reaching(_piece(tree, "shop/cart.py", 1))
    assert graph.reaching(_piece(tree, "shop/alone.py", 1)) == []
    assert graph.testers(_piece(tree, "shop/alone.py", 1)) == []


def test_the_tests_that_do_reach_something_are_named(tree: Path) -> None:
    with open_index(tree) as index:
        nobody = Graph(tree, index, [])
        (line,) = (one.start + 1 for one in definitions("a.py", CHAIN.encode()) or () if one.name == "step2")
        assert nobody.testers(_piece(tree, "shop/chain.py", line)) == [
            ("tests/test_cart.py:9 test_chain", "tests/test_cart.py")
        ]
        assert nobody.reaching(_piece(tree, "shop/chain.py", line)) == []


def test_a_test_that_the_graph_does_not_have_is_told(tree: Path, graph: Graph) -> None:
    assert not graph.lost
    elsewhere = RanTest("Shop.Tests.OtherTests.Adds", None, None, "tests/net", ("C1",), True)
    with open_index(tree) as index:
        other = Graph(tree, index, [FILLED, elsewhere])
        assert other.lost == [elsewhere]
        assert other.reaching(_piece(tree, "net/Shop/Cart.cs", _line("net/Shop/Cart.cs", "return n + 1"))) == []


def test_a_file_that_changed_since_is_known_to_have(tree: Path, graph: Graph) -> None:
    assert not graph.stale("shop/cart.py")
    changed = tree / "shop/alone.py"
    before = changed.read_text()
    changed.write_text("ALONE = 2\n")
    assert graph.stale("shop/alone.py") and graph.stale("shop/unheard.py")
    changed.write_text(before)
