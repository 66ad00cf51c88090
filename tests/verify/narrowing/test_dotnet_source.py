# ruff: noqa: E501 (tables, one case a line)
from __future__ import annotations

import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from morph_tasks.verify.narrowing.dotnet_mask import masked
from morph_tasks.verify.narrowing.dotnet_source import reads_as_test, scan

# Text that looks like code; it must neither hide a type nor make one up unseen.
BAIT = st.lists(
    st.sampled_from([
        "class Hidden", "record", "// no", "/* no", "[Fact] public void A()", "}", "{", "plain text", "don't", "#if X", "=>",
        "abstract", "struct S", "x", " ", ";",
    ]),
    max_size=4,
).map(" ".join)  # fmt: skip
CALM = st.text("abz 0.,:+-'!?()", max_size=12)


def _noise(content: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return members and trivia that hold a text in every kind of comment and literal."""
    return st.one_of(
        content.map(lambda text: f"// {text}\n"),
        content.map(lambda text: f"/// <summary>{text}</summary>\n"),
        content.map(lambda text: f"/* {text.replace('*/', '')}\n {text.replace('*/', '')} */\n"),
        content.map(lambda text: "string a = \"" + text.replace("\\", "").replace('"', '\\"') + "\\\\\";\n"),
        content.map(lambda text: '@"' + text.replace('"', '""') + '\n""";\n').map(lambda text: f"string b = {text}"),
        content.map(lambda text: f'string c = """\n  {text} "" \\\n  """;\n'),
        content.map(lambda text: f'string c = """"x{text}"""{text} """";\n'),
        content.map(lambda text: _interpolated('$"', text, '"')),
        content.map(lambda text: _interpolated('$@"', text, '"')),
        content.map(lambda text: _interpolated('@$"', text, '"')),
        content.map(lambda text: _interpolated('$"""', text, '"""')),
        content.map(lambda text: f'string e = $$"""{{ {text.replace("{", "").replace("}", "")} {{{{x + 1}}}} }}""";\n'),
        content.map(lambda text: f"\n#region {text}\n#endregion\n"),
        content.map(lambda text: f"\n#pragma warning disable X1 // {text}\n"),
        st.sampled_from([
            "char q = '\"';\n", "char r = '\\'';\n", "char s = '{'; char t = '}';\n", "char u = '\\u0041', v = '\\\\';\n",
            "int n = 1_000; double m = 1.5e-3;\n", "var l = new int[] { 1, 2 };\n", "\n#nullable enable\n", "Env[] y = [Env.Test];\n",
        ]),
    )  # fmt: skip


def _interpolated(opened: str, text: str, closed: str) -> str:
    plain = text.replace("{", "{{").replace("}", "}}").replace('"', "").replace("\\", "")
    return f"string d = {opened}{plain}{{x}} {{y,3:0.0}}{{{{}}}}{plain}{closed};\n"


KINDS = st.sampled_from([
    "class {0} {{ {1} }}\n", "public sealed partial class {0} : Base {{\n{1}\n}}\n", "record {0}(int X) {{ {1} }}\n",
    "record class {0} {{ {1} }}\n", "readonly record struct {0}(int A) {{ {1} }}\n", "ref struct {0} {{ {1} }}\n",
    "interface {0}\n{{\n{1}\n}}\n", "class\n {0}<T> where T : class, new() {{ {1} }}\n", "[Obsolete] class {0}{{{1}}}\n",
])  # fmt: skip


@st.composite
def sources(draw: st.DrawFn, content: st.SearchStrategy[str]) -> tuple[str, list[str]]:
    """Return a file and the names of its types, nested ones too."""
    names: list[str] = []
    noise = _noise(content)

    def body(depth: int) -> str:
        parts = [draw(noise) for _ in range(draw(st.integers(0, 2)))]
        for _ in range(draw(st.integers(0, 2)) if depth else 0):
            name = f"T{len(names)}x"
            names.append(name)
            parts.append(draw(KINDS).format(name, body(depth - 1)))
            parts += [draw(noise) for _ in range(draw(st.integers(0, 1)))]
        return "".join(draw(st.permutations(parts)))

    return "using System;\n" + body(3), names


@settings(max_examples=250, deadline=None)
@given(sources(BAIT))
def test_every_type_is_named_or_the_file_is_not_used(made: tuple[str, list[str]]) -> None:
    text, names = made
    found = scan(text.encode())
    assert found.problem or set(names) <= set(found.types)


@settings(max_examples=250, deadline=None)
@given(sources(CALM))
def test_calm_files_are_read_exactly(made: tuple[str, list[str]]) -> None:
    text, names = made
    found = scan(text.encode())
    assert found.problem is None, (found.problem, text)
    assert sorted(found.types) == sorted(names)
    assert not found.tests


@settings(max_examples=150, deadline=None)
@given(
    sources(CALM.map(lambda text: f"{text}\n[Fact] public void A() {{ }}").map(lambda text: text.replace("\n", " ")))
)
def test_attributes_in_comments_and_literals_are_none(made: tuple[str, list[str]]) -> None:
    text, _ = made
    found = scan(text.encode())
    assert not found.tests, text


@settings(max_examples=150, deadline=None)
@given(sources(CALM), st.sampled_from(["[Fact]", "[Xunit.Theory]", '[Trait("a", "]"), Test]', "[TestCase(1)]\n"]))
def test_an_attribute_between_noise_is_seen(made: tuple[str, list[str]], attribute: str) -> None:
    text, _ = made
    method = f"{attribute} public void A() {{ }}\n"
    found = scan(f"{text}\nclass Last {{ {method} }}".encode())
    assert found.tests and found.problem is None


SOUP = st.lists(
    st.sampled_from([
        "class A ", "record B ", "struct C ", "interface D ", "{", "}", '"', "'", "$", "@", '"""', "//", "/*", "*/", "\n", "\\",
        "#if X\n", "#endif\n", "[Fact]", "(", ")", ";", "x", "abstract ", "where T : class ", "=", ",", " ", "{{", "}}", "$$",
    ]),
    max_size=25,
).map("".join)  # fmt: skip


def _declared(text: str) -> list[str] | None:
    """Return the types that a real grammar sees; None when it sees errors."""
    import tree_sitter_c_sharp
    from tree_sitter import Language, Node, Parser

    def walk(node: Node) -> list[str]:
        here = []
        if node.type in ("class_declaration", "record_declaration", "struct_declaration", "interface_declaration"):
            name = node.child_by_field_name("name")
            here = [name.text.decode().removeprefix("@")] if name and name.text else []
        return [*here, *(one for child in node.children for one in walk(child))]

    tree = Parser(Language(tree_sitter_c_sharp.language())).parse(text.encode())
    return None if tree.root_node.has_error else walk(tree.root_node)


@settings(max_examples=400, deadline=None)
@given(SOUP)
def test_every_keyword_before_a_name_is_a_selector_or_the_file_is_not_used(text: str) -> None:
    found = scan(text.encode())
    names = re.findall(r"\b(?:class|record|struct|interface)\s+([A-Za-z]\w*)", text)
    assert found.problem or set(names) <= set(found.types)


@settings(max_examples=150, deadline=None)
@given(sources(BAIT))
def test_the_grammar_agrees_on_generated_files(made: tuple[str, list[str]]) -> None:
    text, _ = made
    names = _declared(text)
    assume(names is not None)
    found = scan(text.encode())
    assert found.problem or set(names or []) <= set(found.types)


@settings(max_examples=200, deadline=None)
@given(st.one_of(SOUP, st.text(max_size=60)))
def test_any_text_is_answered(text: str) -> None:
    scan(text.encode("utf-8", "surrogatepass"))


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes_are_answered(data: bytes) -> None:
    scan(data)


@settings(max_examples=150, deadline=None)
@given(sources(CALM))
def test_masking_keeps_every_place(made: tuple[str, list[str]]) -> None:
    text, _ = made
    code = masked(text)
    assert len(code) == len(text)
    assert [at for at, char in enumerate(code) if char == "\n"] == [at for at, char in enumerate(text) if char == "\n"]


# Each is a whole file but for a test class in front of it.
READ = [
    'string a = $"{x:yyyy-MM-dd} {{literal}} {(x > 1 ? 2 : 3)}";',
    'string a = $"{{{x}}}";',
    'string a = $@"c:\\{x}\\""quoted"" {y}";',
    'string a = @"c:\\";',
    'string a = $$"""{"k": {{value}}, "o": {"p": 1} }""";',
    'string a = """\n  a "quoted" word\n  """;',
    'string a = """"\n  three """ quotes\n  """";',
    'byte[] a = "text"u8.ToArray();',
    "char a = '\\x1F';",
    "void A<T>() where T : struct { }",
    "void A<T>()\n    where T : class\n{ }",
    "T A<T>() where T : class => null;",
    "var record = 1; Use(record);",
    "object a = typeof(int[]);",
    "#region a 'quote and \" another\n#endregion",
    "#if X\nint a = 1;\n#else\nint a = 2;\n#endif",
    "enum E { A, B } delegate void D();",
    "static abstract int Zero { get; }",
    "\r\n// carriage\r\n",
]


@pytest.mark.parametrize("code", READ)
def test_code_that_is_read(code: str) -> None:
    found = scan(f"class FooTests {{ [Fact] public void A() {{ }}\n{code}\n}}".encode())
    assert (found.problem, found.types, found.tests) == (None, ("FooTests",), True)


LOST = [
    ('string a = $"{d["k"]}";', "cut in two"),
    ('string a = $"{(b ? "x" : "y")}";', "cut in two"),
    ('string a = $"{s.Split(\'"\')}";', "cut in two"),
    ('string a = $@"{d["k"]}";', "cut in two"),
    ('string a = $"}";', "cut in two"),
    ('string a = $"""{F("""x""")}""";', ""),
    ('string a = $$"x";', "unknown kind"),
    ('string a = """x"""";', "too many quotes"),
    ("string a = 'long';", "without its end"),
    ("/* a", "without its end"),
    ("}", "braces"),
    ("#if X\nvoid B() {\n#else\nvoid C() {\n#endif\n}", "braces"),
    ("// every class you know", "word `class`"),
    ("/// <see cref='X'/> is a struct that", "word `struct`"),
    ("class\n#if X\nB\n#endif\n{ }", "word `class`"),
    ("class // B\nC { }", "word `class`"),
    ("class B\u200c { }", "plain letters"),
    ("class Ünit { }", "plain letters"),
    ("class \\u0041 { }", "word `class`"),
    ("void B<T, U>() where T : class where U : new() { }", "word `class`"),
    ("foreach (var record in all) { }", "word `record`"),
    ("X b = record with { A = 1 };", "word `record`"),
    ("protected abstract partial class B { }", "abstract type `B`"),
    ("public abstract\n#if X\npartial\n#endif\nclass B { }", "abstract type `B`"),
    ("\x02", "control characters"),
]


@pytest.mark.parametrize(("code", "reason"), LOST)
def test_code_that_makes_the_file_unusable(code: str, reason: str) -> None:
    found = scan(f"class FooTests {{ [Fact] public void A() {{ }}\n{code}\n}}".encode())
    assert found.problem and reason in found.problem, found


def test_files_in_other_encodings() -> None:
    text = "class FooTests { [Fact] void A() { } }"
    assert scan(text.encode("utf-16")).types == ("FooTests",)
    assert scan(text.encode("utf-8-sig")).types == ("FooTests",)
    assert "UTF-8" in str(scan(b"class A { } // \xe9t\xe9").problem)


@pytest.mark.parametrize(
    ("text", "stem", "expected"),
    [
        ("[<Fact>]\nlet a () = ()", "A", True),
        ("    <Fact>\n    Public Sub A()", "A", True),
        ("[SkippableTheory]", "A", True),
        ("[Trait(1), Fact]", "A", True),
        ("using Xunit;", "A", True),
        ("using NUnit.Framework;", "A", True),
        ("", "CartTests", True),
        ("", "cart_test", True),
        ("", "Contest", False),
        ("List<Test> all; Use(a, Test);", "Lab", False),
        ("class A { }", "A", False),
    ],
)
def test_signs_of_a_test(text: str, stem: str, expected: bool) -> None:
    assert reads_as_test(text, stem) is expected
