from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.codegraph import index
from morph_tasks.errors import Refusal
from morph_tasks.model.load import Config
from morph_tasks.verify.validators import reuse, table
from morph_tasks.verify.validators.model import Checked
from tests.verify.validators.conftest import Tree

NONE = Config({}, "")
PLAN = ".morph/features/cart/2-plan/plan.md"
MONEY = """\
def format_price(cents, currency):
    sign = "-" if cents < 0 else ""
    whole, rest = divmod(abs(cents), 100)
    return sign + "{:,}.{:02d} {}".format(whole, rest, currency.upper())


class Basket:
    def total(self, prices):
        found = [prices.lookup(line.sku) for line in self.lines if line.count > 0]
        return sum(price.amount * line.count for price, line in zip(found, self.lines))


def main():
    return 0
"""
PAGE = "from shop.money import format_price\n\n\ndef show():\n    return format_price(1, 'eur')\n"
OTHER_PRICE = "def format_price(amount, unit):\n    return str(amount) + unit\n"
CAMEL_PRICE = OTHER_PRICE.replace("format_price", "formatPrice")
DELEGATES = "from shop import money\n\n\ndef format_price(a, b):\n    return money.format_price(a, b)\n"
COPY = """\
class Receipt:
    def sum_up(self, table):
        hits = [table.lookup(row.sku) for row in self.rows if row.count > 0]
        return sum(hit.amount * row.count for hit, row in zip(hits, self.rows))
"""


def write_graph(root: Path, **more: Any) -> None:
    """Write the graph that graphify makes of the shop, as far as it matters; `more` are keys of the document."""
    nodes, links = [], []
    for stem, labels in {"money": ["format_price()", "Basket", ".total()", "main()"], "page": ["show()"]}.items():
        at = {"source_file": f"shop/{stem}.py", "source_location": "L1", "file_type": "code"}
        nodes.append({"id": stem, "label": f"{stem}.py", **at})
        for label in labels:
            nodes.append({"id": label, "label": label, "_callable_class": label == "Basket", **at})
            holder = ("Basket", "method") if label[0] == "." else (stem, "contains")
            links.append({"source": holder[0], "target": label, "relation": holder[1], **at})
    site = {"source_file": "shop/page.py", "source_location": "L5"}
    links.append({"source": "show()", "target": "format_price()", "relation": "calls", **site})
    graph = {"directed": True, "multigraph": False, "graph": {}, "nodes": nodes, "links": links, **more}
    place = root / "graphify-out" / "graph.json"
    place.parent.mkdir(exist_ok=True)
    place.write_text(json.dumps(graph), encoding="utf-8")


def add_to_graph(root: Path, path: str, *labels: str) -> None:
    """Add symbols of a file to the graph."""
    place = root / "graphify-out" / "graph.json"
    graph = json.loads(place.read_text("utf-8"))
    at = {"source_file": path, "source_location": "L1", "file_type": "code", "_callable": True}
    graph["nodes"] += [{"id": f"{path} {label}", "label": label, **at} for label in labels]
    place.write_text(json.dumps(graph), encoding="utf-8")


@pytest.fixture(scope="session")
def _shop(tmp_path_factory: pytest.TempPathFactory, _begun: Path) -> Path:
    """A repository whose base has a price and a basket, with a graph of them; every test has a copy."""
    root = tmp_path_factory.mktemp("reuse") / "shop"
    shutil.copytree(_begun, root, symlinks=True)
    tree = Tree(root)
    author = ["-c", "user.name=Tess Ter", "-c", "user.email=tess@example.invalid"]
    tree.git("checkout", "-q", "main")
    tree.write("shop/money.py", MONEY)
    tree.write("shop/page.py", PAGE)
    tree.write(".gitignore", "graphify-out/\n")
    tree.write(".morph/features/cart/feature.json", json.dumps({"name": "cart"}))
    tree.git("add", "-A")
    tree.git(*author, "commit", "-q", "-m", "shop")
    tree.git("checkout", "-q", "-B", "morph/cart")
    write_graph(root)
    return root


@pytest.fixture
def shop(tmp_path: Path, _shop: Path) -> Tree:
    """A tree with a price, a basket and their graph; `morph/cart` is checked out."""
    shutil.copytree(_shop, tmp_path / "shop", symlinks=True)
    return Tree(tmp_path / "shop")


def _check(tree: Any, feature: str | None = "cart") -> Checked:
    return table.run(tree.repo, NONE, "reuse", feature)


def _plan(tree: Any, *items: str, slice_: str = "F1") -> None:
    said = "".join(f"- reuse: {item}\n" for item in items)
    tree.write(PLAN, f"# Cart\n\n## Slices\n\n### {slice_} — The receipt\n- persona: x\n{said}")


def _found(tree: Any, feature: str | None = "cart") -> list[str]:
    """Return the repeats, without the line that says what to do about them."""
    found = _check(tree, feature)
    assert found.status == "pass", found
    return [line for line in found.warnings if " repeats " in line or " repeat what " in line]


def test_without_a_graph_it_does_not_run_and_says_so(shop: Any) -> None:
    (shop.root / "graphify-out/graph.json").unlink()
    shop.write("shop/receipt.py", COPY)
    found = _check(shop)
    assert (found.status, found.unavailable, found.warnings) == ("skip", True, ())
    assert "morph-spec graph build" in found.message


def test_without_a_graph_no_source_and_no_plan_is_read(shop: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (shop.root / "graphify-out/graph.json").unlink()
    calls: list[str] = []
    from morph_tasks.plan import service
    from morph_tasks.repo.git import Repo

    reuse.find_base(shop.repo)
    real = Repo.run
    monkeypatch.setattr(Repo, "run", lambda self, *args, **more: calls.append(args[0]) or real(self, *args, **more))
    monkeypatch.setattr(service, "read_plan", lambda *args: calls.append("plan"))
    assert _check(shop).status == "skip"
    table.facts(shop.repo, NONE, "reuse", "cart")
    assert calls == []


def test_a_graph_that_does_not_parse_is_no_answer(shop: Any) -> None:
    (shop.root / "graphify-out/graph.json").write_text("{")
    shop.write("shop/receipt.py", COPY)
    found = _check(shop)
    assert (found.status, found.unavailable) == ("skip", True)
    assert "graph" in found.message


def test_a_graph_that_is_being_written_is_asked_again(shop: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def changing(root: Path) -> Any:
        raise Refusal("graph-changing", "the graph changes while it is read")

    monkeypatch.setattr(index, "open_index", changing)
    shop.write("shop/receipt.py", COPY)
    assert _check(shop).warnings == ("was not checked: the graph changes while it is read",)


def test_no_base_is_no_answer(shop: Any) -> None:
    shop.git("checkout", "-q", "--orphan", "alone")
    shop.commit()
    found = _check(shop)
    assert (found.status, found.unavailable, found.warnings) == ("skip", True, ())


def test_nothing_added_is_a_plain_skip(shop: Any) -> None:
    found = _check(shop)
    assert (found.status, found.unavailable, found.warnings) == ("skip", False, ())


@pytest.mark.parametrize("name", ["format_price", "formatPrice", "FormatPrice", "_format_price"])
def test_a_name_that_is_there_is_found_in_any_style(shop: Any, name: str) -> None:
    shop.write("shop/receipt.py", f"def {name}(amount, unit):\n    return str(amount) + unit\n")
    assert _found(shop) == [
        f"shop/receipt.py:1: {name} repeats format_price (shop/money.py:1, used in 1 file): same name"
    ]


@pytest.mark.parametrize("stamp", ["before", "gone", None])
def test_what_the_base_got_after_the_graph_was_made_is_found_by_name_all_the_same(shop: Any, stamp: str | None) -> None:
    commit = {"before": shop.git("rev-parse", "HEAD").strip(), "gone": "f" * 40, None: None}[stamp]
    shop.git("checkout", "-q", "main")
    shop.write("shop/later.py", "def parse_voucher(text, strict):\n    return text.partition('-')\n")
    shop.write("shop/page.py", PAGE + "\n\ndef show_voucher(text):\n    return text\n")
    shop.commit()
    shop.git("checkout", "-q", "-B", "morph/cart")
    write_graph(shop.root, built_at_commit=commit)
    shop.write(
        "shop/new.py", "def parse_voucher(raw, tight):\n    return raw\n\n\ndef show_voucher(a):\n    return 1\n"
    )
    assert [line.split(" (")[0] for line in _found(shop)] == [
        "shop/new.py:1: parse_voucher repeats parse_voucher",
        "shop/new.py:5: show_voucher repeats show_voucher",
    ]


def test_the_same_body_under_another_name_is_found(shop: Any) -> None:
    shop.write("shop/receipt.py", COPY)
    assert _found(shop) == [
        "shop/receipt.py:2: Receipt.sum_up repeats Basket.total (shop/money.py:8, no use of it is known): same body"
    ]


def test_the_place_is_that_of_the_tree_and_not_of_the_graph(shop: Any) -> None:
    shop.write("shop/money.py", "# moved\n\n\n" + MONEY)
    shop.write("shop/receipt.py", COPY)
    assert "(shop/money.py:11," in _found(shop)[0]


def test_what_is_gone_from_the_tree_is_no_reason(shop: Any) -> None:
    (shop.root / "shop/money.py").unlink()
    shop.write(
        "shop/receipt.py", "def format_price(amount, unit):\n    return 1\n\n\ndef rest(a):\n    return a.rest\n"
    )
    found = _check(shop)
    assert (found.status, found.warnings) == ("pass", ())


def test_what_the_feature_itself_added_is_no_reason(shop: Any) -> None:
    text = "def parse_price(amount, unit):\n    return 1\n"
    shop.write("shop/one.py", text)
    shop.commit()
    add_to_graph(shop.root, "shop/one.py", "parse_price()")
    shop.write("shop/two.py", text)
    assert _found(shop) == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("tests/test_receipt.py", "def format_price(a, b):\n    return 1\n" + COPY),
        ("shop/receipt_pb2.py", "def format_price(a, b):\n    return 1\n"),
        ("shop/made.py", "# Code generated by x. DO NOT EDIT.\ndef format_price(a, b):\n    return 1\n"),
        ("examples/receipt.py", "def format_price(a, b):\n    return 1\n"),
        ("shop/receipt.ts", "export function formatPrice(a, b) {\n  return 1\n}\n"),
        ("shop/receipt.py", "def main():\n    return 1\n"),
        ("shop/receipt.py", DELEGATES),
        ("shop/receipt.py", "from shop import money\n\n\nclass Basket(money.Basket):\n    pass\n"),
        ("shop/receipt.py", "class Basket2:\n    def format_price(self, a, b):\n        return 1\n"),
        ("shop/receipt.py", "def basket():\n    return 1\n"),
        ("shop/receipt.py", "format_price = 1\n"),
        ("shop/receipt.py", "def format_price(a, b, c, d):\n    return 1\n"),
    ],
    ids=["test", "generated", "says so", "example", "other language", "main", "delegates", "extends", "member",
         "other kind", "value", "parameters"],
)  # fmt: skip
def test_what_is_no_repeat(shop: Any, path: str, text: str) -> None:
    shop.write(path, text)
    found = _check(shop)
    assert found.status in ("pass", "skip")
    assert found.warnings == ()


@pytest.mark.parametrize(("body", "found"), [("re.sub('x', '-', text).strip().lower()", True), ("len(text)", False)])
def test_a_name_of_one_word_has_to_share_more_than_the_name(shop: Any, body: str, found: bool) -> None:
    shop.git("checkout", "-q", "main")
    shop.write("shop/text.py", "import re\n\n\ndef slugify(text):\n    return re.sub('y', '-', text).lower()\n")
    shop.commit()
    shop.git("checkout", "-q", "-B", "morph/cart")
    add_to_graph(shop.root, "shop/text.py", "slugify()")
    shop.write("shop/receipt.py", f"import re\n\n\ndef slugify(text):\n    return {body}\n")
    assert len(_found(shop)) == found


def test_two_types_that_answer_one_call_do_so_by_agreement(shop: Any) -> None:
    shop.write("shop/receipt.py", COPY.replace("sum_up", "total"))
    assert _found(shop) == []


def test_what_the_feature_added_to_an_old_file_is_no_reason(shop: Any) -> None:
    text = "def parse_price(text):\n    return int(text)\n"
    shop.write("shop/money.py", f"{MONEY}\n\n{text}")
    shop.write("shop/receipt.py", text)
    add_to_graph(shop.root, "shop/money.py", "parse_price()")
    assert _found(shop) == []


def test_what_git_ignores_is_no_reason(shop: Any) -> None:
    text = "def parse_price(text):\n    return int(text)\n"
    (shop.root / ".git/info/exclude").write_text("shop/local.py\n")
    shop.write("shop/local.py", text)
    shop.write("shop/receipt.py", text)
    add_to_graph(shop.root, "shop/local.py", "parse_price()")
    assert _found(shop) == []


def test_what_moved_and_was_written_anew_is_not_new(shop: Any) -> None:
    shop.write("shop/money.py", "class Basket" + MONEY.partition("class Basket")[2])
    shop.write("shop/price.py", OTHER_PRICE)
    assert _check(shop).message == "no symbol was added"


@pytest.mark.parametrize("mark", ["override", "typing.override", "overload", "abc.abstractmethod"])
def test_what_somebody_else_asks_for_is_not_asked(shop: Any, mark: str) -> None:
    shop.write("shop/receipt.py", COPY.replace("    def", f"    @{mark}\n    def"))
    assert _found(shop) == []


def test_a_variable_is_no_override(shop: Any) -> None:
    shop.write("shop/receipt.py", "def format_price(amount, unit):\n    override = str(amount)\n    return override\n")
    assert len(_found(shop)) == 1


def test_of_a_type_that_is_repeated_its_members_are_not_told_apart(shop: Any) -> None:
    shop.write("shop/receipt.py", COPY.replace("Receipt", "Basket"))
    assert [line.split(" ")[1] for line in _found(shop)] == ["Basket"]


def test_what_moved_or_was_renamed_is_not_new(shop: Any) -> None:
    head, _, rest = MONEY.partition("class Basket")
    shop.write("shop/money.py", head.replace("format_price", "price_text"))
    shop.write("shop/basket.py", f"class Basket{rest}")
    found = _check(shop)
    assert (found.status, found.message) == ("skip", "no symbol was added")


def test_an_edited_body_is_not_new(shop: Any) -> None:
    shop.write("shop/money.py", MONEY.replace("return 0", "return 1"))
    assert _check(shop).status == "skip"


def test_a_custom_of_the_project_is_no_repeat(shop: Any) -> None:
    shop.git("checkout", "-q", "main")
    for number in range(3):
        shop.write(f"shop/part_{number}.py", "def register_hooks(app):\n    return app\n")
        add_to_graph(shop.root, f"shop/part_{number}.py", "register_hooks()")
    shop.commit()
    shop.git("checkout", "-q", "-B", "morph/cart")
    shop.write("shop/new.py", "def register_hooks(app):\n    return app\n")
    assert _found(shop) == []


def test_content_counts_the_same_wherever_it_is(shop: Any) -> None:
    shop.write("shop/receipt.py", COPY)
    loose = _check(shop)
    shop.commit()
    assert _check(shop) == loose


def test_many_of_one_file_are_two_lines(shop: Any) -> None:
    shop.git("checkout", "-q", "main")
    names = [f"part_of_{letter * 3}" for letter in "abcdefgh"]
    text = "".join(f"def {name}(a):\n    return a\n\n\n" for name in names)
    shop.write("shop/money.py", text)
    shop.commit()
    shop.git("checkout", "-q", "-B", "morph/cart")
    add_to_graph(shop.root, "shop/money.py", *(f"{name}()" for name in names))
    shop.write("shop/receipt.py", text)
    first, second = _found(shop)
    assert first.startswith("shop/receipt.py:1: part_of_aaa repeats part_of_aaa (shop/money.py:1")
    assert second.startswith("shop/receipt.py: 7 more repeat what shop/money.py has: part_of_bbb, ")
    assert second.endswith(" and 3 more")


def test_a_file_that_does_not_parse_is_said(shop: Any) -> None:
    shop.write("shop/receipt.py", "def broken(:\n")
    assert _check(shop).warnings == ("not verified: shop/receipt.py",)


# The plan


@pytest.mark.parametrize(
    "item",
    [
        "REUSE format_price",
        "EXTEND `formatPrice`",
        "REUSAR money.format_price",
        "ESTENDER `shop/money.py:format_price`",
        "REUSE the function `format_price()` of shop/money.py",
        "REUSE Basket, format_price — why: it is there",
    ],
)
def test_a_copy_of_what_the_plan_reuses_is_an_error(shop: Any, item: str) -> None:
    shop.write("shop/receipt.py", CAMEL_PRICE)
    _plan(shop, item)
    found = _check(shop)
    assert (found.status, found.reason) == ("fail", "reuse-ignored"), found
    assert found.detail[0].startswith("shop/receipt.py:1: formatPrice repeats format_price (shop/money.py:1")
    verdict = "EXTEND" if item.startswith("E") else "REUSE"
    assert f"; F1 says {verdict} " in found.detail[0]
    assert "the plan of cart" in found.message


def test_a_body_of_what_the_plan_reuses_is_an_error_even_beside_it(shop: Any) -> None:
    shop.write("shop/money.py", MONEY + "\n\n" + COPY)
    assert _found(shop) == []  # beside it, everybody sees it
    _plan(shop, "REUSE Basket.total")
    assert _check(shop).reason == "reuse-ignored"


@pytest.mark.parametrize(
    "symbol", ["Checkout.format_price", "other/money.py:format_price", "main", "the price of a cart"]
)
def test_a_verdict_on_something_else_is_no_error(shop: Any, symbol: str) -> None:
    shop.write("shop/receipt.py", OTHER_PRICE)
    _plan(shop, f"REUSE {symbol}")
    assert len(_found(shop)) == 1


def test_use_of_what_the_plan_reuses_is_fine(shop: Any) -> None:
    shop.write(
        "shop/receipt.py", "from shop.money import format_price\n\n\ndef say():\n    return format_price(1, 'x')\n"
    )
    _plan(shop, "REUSE format_price")
    assert _found(shop) == []


@pytest.mark.parametrize(
    "symbol", ["formatPrice", "`format_price`", "receipt.formatPrice", "shop/receipt.py:formatPrice"]
)
def test_a_reason_to_create_silences(shop: Any, symbol: str) -> None:
    shop.write("shop/receipt.py", CAMEL_PRICE)
    _plan(shop, f"CREATE {symbol} — why: receipts say the unit as it is")
    found = _check(shop)
    assert (found.status, found.warnings) == ("pass", ())
    assert "1 by a decision of the plan" in found.message


def test_a_reason_to_create_a_type_covers_what_is_in_it(shop: Any) -> None:
    shop.write("shop/receipt.py", COPY)
    _plan(shop, "CREATE Receipt — why: it outlives the basket")
    assert _check(shop).warnings == ()


def test_to_create_without_a_reason_is_asked_for_one(shop: Any) -> None:
    shop.write("shop/receipt.py", CAMEL_PRICE)
    _plan(shop, "CREATE formatPrice")
    assert _found(shop)[0].endswith("same name; F1 says CREATE without `— why: …`")


def test_a_reason_to_create_wins_over_the_reuse_of_another_slice(shop: Any) -> None:
    shop.write("shop/receipt.py", CAMEL_PRICE)
    _plan(shop, "REUSE format_price", "CREATE formatPrice — why: receipts say the unit as it is")
    assert _check(shop).warnings == ()


def test_without_a_verdict_it_asks_for_one(shop: Any) -> None:
    shop.write("shop/receipt.py", COPY)
    assert _check(shop).warnings[-1].startswith("use what is there, or give a verdict in a slice of the plan of cart:")
    assert "the plan: `- reuse: CREATE" in _check(shop, None).warnings[-1]


def test_a_plan_that_cannot_be_read_silences_nothing_and_is_said(shop: Any) -> None:
    shop.write("shop/receipt.py", COPY)
    shop.write(PLAN, b"\xff\xfe CREATE Receipt - why: x")
    found = _check(shop)
    assert found.status == "pass"
    assert any(line.startswith("no verdict of the plan counts: ") for line in found.warnings)


def test_the_plan_of_another_feature_decides_nothing(shop: Any) -> None:
    shop.write("shop/receipt.py", COPY)
    _plan(shop, "CREATE Receipt — why: it outlives the basket")
    assert len(_found(shop, "other")) == len(_found(shop, None)) == 1


# Other languages: what is there, what is added, and whether it repeats


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        (("a/money.ts", "export function formatPrice(a: number) { return a }\n"),
         ("b/x.ts", "export const formatPrice = (a: number) => a + 1\n"), True),
        (("a/money.ts", "export interface PriceList { a: number }\n"),
         ("b/x.ts", "export class PriceList { b = 1 }\n"), False),
        (("a/money.ts", "interface PriceList { a: number }\n"),
         ("b/x.ts", "interface PriceList { b: string }\n"), False),
        (("server/money.ts", "export class PriceList { a = 1 }\n"),
         ("client/money.ts", "export class PriceList { b = 1 }\n"), False),
        (("a/money.go", 'package a\n\nfunc FormatPrice(a int) string { return "" }\n'),
         ("b/x.go", 'package b\n\nfunc formatPrice(c int) string { return "x" }\n'), True),
        (("a/money_linux.go", 'package a\n\nfunc FormatPrice(a int) string { return "" }\n'),
         ("a/money_windows.go", 'package a\n\nfunc FormatPrice(a int) string { return "x" }\n'), False),
        (("a/money.go", "package a\n\ntype Client struct { A int }\n"),
         ("b/x.go", "package b\n\ntype Client struct { B int }\n"), False),
        (("A/Money.cs", 'class PriceText { static string FormatPrice(int a) { return ""; } }\n'),
         ("B/X.cs", 'class Other { static string FormatPrice(int a) { return "x"; } }\n'), True),
        (("A/Money.cs", "public partial class PriceText { int a; }\n"),
         ("B/X.cs", "public partial class PriceText { int b; }\n"), False),
        (("A/Money.cs", 'class PriceText { string FormatPrice(int a) { return ""; } }\n'),
         ("B/X.cs", 'class Other { string FormatPrice(int a) { return "x"; } }\n'), False),
        (("a/money.rs", "pub fn format_price(a: i32) -> i32 { a }\n"),
         ("b/x.rs", "pub fn format_price(c: i32) -> i32 { c + 1 }\n"), True),
        (("a/money.rs", "pub fn format_price(a: i32) -> i32 { a }\n"),
         ("b/x.rs", "#[cfg(test)]\nmod tests {\n    fn format_price(c: i32) -> i32 { c + 1 }\n}\n"), False),
        (("api/v1/Money.java", "class PriceText { int a; }\n"),
         ("api/v2/Money.java", "class PriceText { int b; }\n"), False),
        (("a/money.rb", "module Shop\n  class Cart\n  end\nend\n"),
         ("b/x.rb", "module Shop\n  class Cart\n  end\nend\n"), False),
    ],
)  # fmt: skip
def test_each_language_has_its_customs(shop: Any, old: tuple[str, str], new: tuple[str, str], found: bool) -> None:
    shop.git("checkout", "-q", "main")
    shop.write(*old)
    shop.commit()
    shop.git("checkout", "-q", "-B", "morph/cart")
    names = "FormatPrice()", "format_price()", "formatPrice()", "PriceList", "PriceText", "Client", "Cart"
    add_to_graph(shop.root, old[0], *names)
    shop.write(*new)
    assert [old[0] in line for line in _check(shop).warnings[:1]] == [True] * found


# What decides


def _facts(tree: Any) -> dict[str, Any]:
    return table.facts(tree.repo, NONE, "reuse", "cart")


def test_the_graph_and_the_verdicts_decide_and_nothing_else_of_the_plan(shop: Any) -> None:
    first = _facts(shop)
    assert set(first) == {"rules", "base", "why", "graph", "recovered", "plan"}
    _plan(shop, "CREATE Receipt — why: one reason")
    second = _facts(shop)
    assert second["plan"] != first["plan"]
    _plan(shop, "CREATE Receipt — why: another reason")
    assert _facts(shop) == second
    write_graph(shop.root, built_at_commit="1")
    assert _facts(shop)["graph"] != second["graph"]


def test_a_graph_that_cannot_be_read_is_not_the_same_as_none(shop: Any) -> None:
    (shop.root / "graphify-out/graph.json").unlink()
    none = _facts(shop)
    assert none["graph"] is None
    (shop.root / "graphify-out/graph.json").mkdir()
    assert _facts(shop) != none


def test_a_new_graph_is_noticed_by_what_was_asked(shop: Any) -> None:
    from morph_tasks.verify import probe

    _facts(shop)
    place = str(shop.root / "graphify-out/graph.json")
    answer = probe.answers()["file", place]
    assert answer == probe.UNSETTLED or probe.same("file", place, answer)
    write_graph(shop.root, built_at_commit="1")
    assert not probe.same("file", place, answer)
    assert ("file", str(shop.root / "graphify-out/morph-recovered.json")) in probe.answers()


def test_few_git_processes_whatever_the_number_of_files(shop: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(40):
        shop.write(f"shop/part_{number}.py", COPY.replace("Receipt", f"Receipt{number}"))
    calls: list[str] = []
    from morph_tasks.repo.git import Repo

    reuse.find_base(shop.repo)
    real: Callable[..., Any] = Repo.run
    monkeypatch.setattr(Repo, "run", lambda self, *args, **more: calls.append(args[0]) or real(self, *args, **more))
    _check(shop)
    assert len(calls) <= 5
