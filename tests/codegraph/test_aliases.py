"""Which symbols have another name in a tree: only what clauses of imports and exports say that parse."""

from __future__ import annotations

import pytest

from morph_tasks.codegraph.aliases import Behind, behind_alias
from morph_tasks.codegraph.clauses import Clause, clauses
from morph_tasks.codegraph.index import open_index
from morph_tasks.repo.git import open_repo
from tests.codegraph.handmade import HandMade
from tests.conftest import Project


@pytest.fixture
def shop(project: Project) -> Project:
    graph = HandMade()
    for name in ("shop/cart.py:Cart", "web/orders.ts:Orders", "shop/json.py:dumps", "src/lib/till.py:pay"):
        graph.symbol(name)
        project.write(name.partition(":")[0], "")
    graph.symbol("shop/cart.py:Cart.price")
    graph.write(project.root)
    project.write("shop/__init__.py", "")
    return project


def asked(project: Project, text: str) -> Behind:
    with open_index(project.root) as index:
        return behind_alias(open_repo(project.root), index, text)


def keys(project: Project, text: str) -> list[str]:
    found = asked(project, text)
    assert found.sure is (len(found.symbols) == 1)
    return [one.key for one in found.symbols]


@pytest.mark.parametrize(
    ("path", "text", "key"),
    [
        ("a.py", "from shop.cart import (\n    x,\n    Cart as It,\n)\n", "shop/cart.py:Cart"),
        ("shop/a.py", "from .cart import Cart as It\n", "shop/cart.py:Cart"),
        ("shop/deep/a.py", "from ..cart import Cart as It\n", "shop/cart.py:Cart"),
        ("shop/a.py", "from . import cart as It\n", "shop/cart.py"),
        ("a.py", "from shop import cart as It\n", "shop/cart.py"),
        ("a.py", "import shop.cart as It\n", "shop/cart.py"),
        ("tests/a.py", "from lib.till import pay as It\n", "src/lib/till.py:pay"),
        ("web/a.ts", "export { Orders as It } from './orders';\n", "web/orders.ts:Orders"),
        ("web/a.ts", "import { type Orders as It } from './orders.js';\n", "web/orders.ts:Orders"),
        ("web/a.tsx", "import { Orders } from './orders';\nexport { Orders as It };\n", "web/orders.ts:Orders"),
        ("web/deep/a.js", "import * as It from '../orders';\n", "web/orders.ts"),
    ],
)
def test_a_clause_names_a_symbol(shop: Project, path: str, text: str, key: str) -> None:
    shop.write(path, text)
    assert keys(shop, "It") == [key]


def test_modules_hand_a_name_on(shop: Project) -> None:
    shop.write("shop/__init__.py", "from .cart import *\n")
    shop.write("a.py", "from shop import Cart as It\n")
    shop.write("web/index.ts", "export * from './orders';\n")
    shop.write("web/more.ts", "import { Orders } from '.';\nexport default Orders;\n")
    shop.write("web/most.ts", "export { default as That } from './more';\n")
    assert (keys(shop, "It"), keys(shop, "That")) == (["shop/cart.py:Cart"], ["web/orders.ts:Orders"])


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("shop/a.py", "from json import dumps as It\n"),  # that of the language, not the file beside it
        ("shop/a.py", "from .cart import price as It\n"),  # a member is no name of the module
        ("a.py", "from elsewhere import Cart as It\n"),
        ("a.py", "from shop.cart import Cart as It\n)\n"),  # does not parse
        ("web/a.ts", "import { Orders as It } from 'orders';\n"),  # a package
        ("web/a.ts", "import { It as It } from './orders';\n"),
        ("a.txt", "from shop.cart import Cart as It\n"),
        (".morph/a.py", "from shop.cart import Cart as It\n"),
        ("a.py", "from a import It as It, B as B\nfrom a import B as It\n"),  # a circle
    ],
)
def test_what_is_not_proved_is_no_name(shop: Project, path: str, text: str) -> None:
    shop.write(path, text)
    assert asked(shop, "It") == Behind([], False)


def test_modules_that_hand_on_all_of_each_other_end(shop: Project) -> None:
    for number in range(12):
        shop.write(f"m{number}.py", "".join(f"from m{other} import *\n" for other in range(12)))
    shop.write("a.py", "from m0 import Cart as It\n")
    assert keys(shop, "It") == []
    shop.write("m7.py", "from m0 import *\nfrom shop.cart import Cart\n")
    assert keys(shop, "It") == ["shop/cart.py:Cart"]


def test_a_name_that_may_mean_something_else_as_well_is_not_sure(shop: Project) -> None:
    shop.write("a.py", "from shop.cart import Cart as It\n")
    shop.write("b.py", "import elsewhere as It\n")
    found = asked(shop, "It")
    assert ([one.key for one in found.symbols], found.sure) == (["shop/cart.py:Cart"], False)
    assert asked(shop, "a.It").sure and not asked(shop, "b.It").symbols


def test_no_more_than_some_files_are_read(shop: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def note(language: str, source: bytes) -> list[Clause]:
        read.append(language)
        return clauses(language, source)

    monkeypatch.setattr("morph_tasks.codegraph.aliases.clauses", note)
    for number in range(60):
        shop.write(f"m{number}.py", "from shop.cart import Cart as It\n")
    assert not asked(shop, "It").sure
    assert len(read) == 40
