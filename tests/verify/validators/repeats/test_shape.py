from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from morph_tasks.verify.validators.repeats.shape import near, ratio, shape_of

PYTHON = '''\
def total(self, prices):
    """What the basket costs: "all" of it."""
    # only what is there
    found = [prices.lookup(line.sku) for line in self.lines if line.count > 0]
    return sum(price.amount * line.count for price, line in zip(found, self.lines))
'''
SOURCES = {
    "typescript": 'function add(a: Cart, n: number) {\n'
    '  const hit = a.lines.find((l) => l.sku === "x" && l.count > n);\n'
    "  if (!hit) throw new Error(`no ${n}`);\n  return a.prices.lookup(hit.sku) * n;\n}\n",
    "go": 'func Add(a *Cart, n int) (int, error) {\n\thit, ok := a.Find("x", n)\n\tif !ok || hit.Count < n {\n'
    "\t\treturn 0, errors.New(`none`)\n\t}\n\treturn a.Lookup(hit.Sku) * n, nil\n}\n",
    "csharp": 'int Add(Cart a, int n) {\n  var hit = a.Find($"x{n}", n);\n  if (hit == null || hit.Count < n) '
    "throw new Exception('c'.ToString());\n  return a.Lookup(hit.Sku) * n;\n}\n",
    "rust": 'fn add(a: &Cart, n: i32) -> Option<i32> {\n  let hit = a.find("x", n)?;\n'
    "  if hit.count < n { return None; }\n  Some(a.lookup(&hit.sku) * n + b'c' as i32)\n}\n",
}  # fmt: skip


def test_names_literals_comments_and_what_describes_it_do_not_count() -> None:
    other = (
        PYTHON.replace("total", "sum_up").replace("prices", "table").replace("found", "hits").replace("line", "row")
        .replace("# only what is there\n", "").replace('    """What the basket costs: "all" of it."""\n', "")
        .replace("> 0", "> 1")
    )  # fmt: skip
    one, two = shape_of("python", PYTHON, "total"), shape_of("python", other, "sum_up")
    assert one.renamed == two.renamed
    assert near(one, two)


def test_another_order_of_names_is_another_shape() -> None:
    other = PYTHON.replace("price.amount * line.count", "price.amount * price.count")
    assert shape_of("python", PYTHON, "total").renamed != shape_of("python", other, "total").renamed


@pytest.mark.parametrize("language", sorted(SOURCES))
def test_each_language_is_cut_into_tokens(language: str) -> None:
    source = SOURCES[language]
    one = shape_of(language, source, "add")
    two = shape_of(language, f"// a {{ remark\n{source.replace('hit', 'row')}", "add")
    assert one.renamed == two.renamed and one.size > 20
    assert near(one, two)
    assert not any(token in "".join(one.kept) for token in ('"', "`", "remark"))


def test_code_that_calls_other_things_is_not_near() -> None:
    other = PYTHON.replace("lookup", "find").replace("zip", "pairs").replace("sum(", "most(").replace("lines", "rows")
    assert not near(shape_of("python", PYTHON, "total"), shape_of("python", other, "total"))


def test_a_few_words_are_alike_by_chance() -> None:
    small = "def total(self):\n    return self.prices.lookup(self.sku)\n"
    assert not near(shape_of("python", small, "total"), shape_of("python", small, "total"))


@given(st.text(max_size=300), st.sampled_from(["python", "ruby", "javascript", "tsx", "go", "rust", "csharp", "java"]))
def test_any_text_has_a_shape_and_is_as_near_as_can_be_to_itself(source: str, language: str) -> None:
    one = shape_of(language, source, "x")
    assert len(one.renamed) == len(one.kept) >= one.size
    assert not one.kept or ratio(one, one) == 1.0
