"""Definitions of a file: what is found, where it begins and ends, and what is not parsed."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morph_tasks.codegraph.spans import LANGUAGES, LARGEST, Definition, around, definitions, matching, read_definitions

PYTHON = """\
import os


@cached
@dataclass
class Cart(Base):
    size = 1

    @staticmethod
    def of(lines, *, tax=0):
        def inner():
            return lines
        return inner

    async def total(self, *prices, **more):
        return 1

    class Line:
        def price(this, at): ...


if os.name:
    def price(a, b, /, c): return a
else:
    try:
        def other(): ...
    except OSError:
        def third(): ...
"""
TYPESCRIPT = """\
@Component()
export abstract class Cart<T> extends Base {
  go = (a: number) => a;
  constructor(private a: string, public b?: number) { super(); }
  abstract sum(a: number): void;
  static async of({ a, b }: X, [c]: Y, ...rest: any[]) {
    function inner() {}
  }
}
export interface Priced { price(at: number): void }
export type Money = number;
export enum Kind { A }
export const fn = (a, b = 1) => a, other = function (q) {}, n = 3;
export default function (x) {}
namespace Deep { export class Inner { run() {} } }
const table = {
  one() {},
  two: (x) => x,
};
module.exports.made = function (a) {};
Cart.prototype.late = function (z) {};
"""
CSHARP = """\
using X;
namespace A.B;
[Serializable]
public partial class Cart<T> : IBase where T : class
{
    public Cart(int a, string b = "x") { }
    int IBase.Do<T>(params int[] xs) => 1;
    class Inner { void M(ref int a) { void Local() {} } }
}
record Point(int X, int Y);
interface IMail { void Send(string to); }
enum Kind { A }
"""
GO = """\
package a
type (
  X struct { a int }
  Y interface { Do(a int, b, c string) error }
)
type Z = X
func (x *X) Do(a int, b, c string) error {
  return nil
}
func (g *G[T]) Foo(xs ...int) {}
func Top[T any](a T, _ int) {}
"""
RUST = """\
mod m {
#[derive(Debug)]
#[serde]
pub struct C<T> { a: T }
impl<T> fmt::Show for C<T> { fn go(&self, mut x: u8) {} }
pub trait T { fn need(&self); }
}
pub fn top(a: u8, (x, y): (u8, u8)) {}
"""
JAVA = """\
package a;
public class A<T> extends B {
  A(int x) {}
  @Override
  public void m(final int a, String... b) { class L { void q(){} } }
  enum E { X; void e() {} }
}
record R(int a) {}
"""
RUBY = """\
module M
  class A < B
    def self.k(a, b = 1, *c, d:, **f, &g)
    end
    class << self
      def s; end
    end
  end
  class X::Y; def z(q) ; end; end
end
def top(a) = a
Point = Struct.new(:x) do
  def dist; end
end
"""
EXPECTED = {
    "a.py": (PYTHON, """
        type . Cart 4 19
        method Cart of 9 13 lines tax
        method Cart total 15 16 prices more
        type Cart Line 18 19
        method Line price 19 19 at
        function . price 23 23 a b c
        function . other 26 26
        function . third 28 28"""),
    "a.ts": (TYPESCRIPT, """
        type . Cart 1 9
        method Cart go 3 3 a
        method Cart constructor 4 4 a b
        method Cart sum 5 5 a
        method Cart of 6 8 {a,b} [c] rest
        type . Priced 10 10
        method Priced price 10 10 at
        type . Money 11 11
        type . Kind 12 12
        function . fn 13 13 a b
        function . other 13 13 q
        function . default 14 14 x
        type . Inner 15 15
        method Inner run 15 15
        method table one 17 17
        method table two 18 18 x
        function . made 20 20 a
        method Cart late 21 21 z"""),
    "a.cs": (CSHARP, """
        type . Cart 3 9
        method Cart Cart 6 6 a b
        method Cart Do 7 7 xs
        type Cart Inner 8 8
        method Inner M 8 8 a
        type . Point 10 10
        type . IMail 11 11
        method IMail Send 11 11 to
        type . Kind 12 12"""),
    "a.go": (GO, """
        type . X 3 3
        type . Y 4 4
        method Y Do 4 4 a b c
        type . Z 6 6
        method X Do 7 9 a b c
        method G Foo 10 10 xs
        function . Top 11 11 a _"""),
    "a.rs": (RUST, """
        type . C 2 4
        method C go 5 5 x
        type . T 6 6
        method T need 6 6
        function . top 8 8 a (x,y)"""),
    "A.java": (JAVA, """
        type . A 2 7
        method A A 3 3 x
        method A m 4 5 a b
        type A E 6 6
        method E e 6 6
        type . R 8 8"""),
    "a.rb": (RUBY, """
        type . M 1 10
        type M A 2 8
        method A k 3 4 a b c d f g
        method A s 6 6
        type M Y 9 9
        method Y z 9 9 q
        function . top 11 11 a
        type . Point 12 14
        method Point dist 13 13"""),
}  # fmt: skip


def said(one: Definition) -> str:
    parameters = [name.replace(" ", "") for name in one.parameters]
    return " ".join([one.kind, one.owner or ".", one.name, str(one.start), str(one.end), *parameters])


@pytest.mark.parametrize("path", EXPECTED)
def test_definitions_of_each_language_with_owner_lines_and_parameters(path: str) -> None:
    source, expected = EXPECTED[path]
    found = definitions(path, source.encode())
    assert found is not None
    assert [said(one) for one in found] == [line.strip() for line in expected.strip().splitlines()]


@pytest.mark.parametrize("path", EXPECTED)
def test_line_ends_and_a_byte_order_mark_move_nothing(path: str) -> None:
    source = EXPECTED[path][0]
    assert definitions(path, b"\xef\xbb\xbf" + source.replace("\n", "\r\n").encode()) == definitions(
        path, source.encode()
    )


def test_javascript_is_read_like_typescript_without_types() -> None:
    found = definitions("src/a.jsx", b"const View = ({ a }) => <p/>;\nclass Cart { total() {} }\n")
    assert found is not None
    assert [said(one) for one in found] == [
        "function . View 1 1 {a}", "type . Cart 2 2", "method Cart total 2 2",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("a.php", b"<?php function a() {}"),
        ("Makefile", b"all:"),
        (".py", b"def a(): ..."),
        ("a.py", b"def a(:\n"),
        ("a.py", b"\0"),
        ("a.ts", b"class {{{{ ((( function"),
        ("a.py", b"#" * (LARGEST + 1)),
    ],
)
def test_what_is_not_parsed_is_none_and_not_empty(path: str, source: bytes) -> None:
    assert definitions(path, source) is None


def test_a_file_without_definitions_has_an_empty_list() -> None:
    assert definitions("a.py", b"x = 1\n") == []
    assert definitions("a.go", b"package a\n") == []


def test_the_innermost_definition_around_a_line() -> None:
    found = definitions("a.py", PYTHON.encode()) or []
    names = {line: one.name if (one := around(found, line)) else None for line in (1, 4, 7, 8, 9, 12, 18, 19, 23)}
    assert names == {
        1: None, 4: "Cart", 7: "Cart", 8: "Cart", 9: "of", 12: "of", 18: "Line", 19: "price", 23: "price",
    }  # fmt: skip


def test_the_innermost_of_two_on_one_line_is_the_smaller() -> None:
    found = [Definition("A", "", "type", 1, 9), Definition("m", "A", "method", 4, 4)]
    assert around(found, 4) == found[1]
    assert around(reversed(found), 4) == found[1]


def test_the_definition_of_a_symbol_is_the_nearest_of_its_name_and_owner() -> None:
    one, two = Definition("add", "Cart", "method", 1, 4), Definition("add", "Cart", "method", 10, 14)
    other = Definition("add", "", "function", 20, 21)
    found = [one, two, other]
    assert [matching(found, "add", "Cart", line) for line in (2, 6, 8, 12, 99)] == [one, one, two, two, two]
    assert matching(found, "add", "", 20) == other
    assert matching(found, "add", "Cart", None) is None
    assert matching([one], "add", "Cart", None) == one
    assert matching(found, "sub", "", 2) is None


def test_a_file_of_the_tree_is_read_and_nothing_outside_of_it(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    for folder in (tree, tmp_path):
        (folder / "a.py").write_text("def f(): ...\n")
    (tree / "out.py").symlink_to(tmp_path / "a.py")
    (tree / "folder.py").mkdir()
    assert [one.name for one in read_definitions(tree, "a.py") or ()] == ["f"]
    for path in ("../a.py", str(tmp_path / "a.py"), "out.py", "none.py", "folder.py", "a\0.py"):
        assert read_definitions(tree, path) is None


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(LANGUAGES)), st.data())
def test_no_source_raises_and_every_line_is_in_the_file(suffix: str, data: st.DataObject) -> None:
    whole = next((text for path, (text, _) in EXPECTED.items() if path.endswith(suffix)), TYPESCRIPT)
    cut = data.draw(st.integers(0, len(whole)))
    source = whole[:cut].encode() + data.draw(st.binary(max_size=12)) + whole[cut:].encode()
    found = definitions(f"x{suffix}", source)
    last = len(source.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")) + source.count(b"\f")
    for one in found or []:
        assert one.name and 1 <= one.start <= one.end <= last


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=6))
def test_functions_inside_functions_belong_to_the_outer_one(names: list[tuple[str, bool]]) -> None:
    lines = []
    for name, nested in names:
        lines.append(f"def {name}(x):")
        lines.append("    def inner(y): ..." if nested else "    return x")
    found = definitions("a.py", "\n".join(lines).encode())
    assert found is not None
    assert [(one.name, one.start, one.end) for one in found] == [
        (name, 2 * at + 1, 2 * at + 2) for at, (name, _) in enumerate(names)
    ]
