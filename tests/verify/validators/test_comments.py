from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morph_tasks.verify.validators.comments import UnreadableError, read_lines

# Every comment in these says `real`, nothing else does; what must not be taken for one says `not`.
CASES = {
    "typescript": [
        'const u = "http://not"; // real',
        "const t = `// not\n// not ${ {a: 1}.a } // not`; // real",
        "const t = `${`// not`} /* not */`; // real",
        'const r = /[/"]\\/* not/g; // real',
        "const b = c ? /\\/\\/not/ : 1; // real",
        "if (x) /\\/\\/ not/.test(y); // real",
        "x = a / b / c; // real",
        "const x = arr[0] / 2 // real",
        "const s = 'it\\'s // not'; // real",
        'const s = "a\\\n// not"; // real',
        "foo({/* real */ a: 1})",
        "/** real\n * real\n\n * real\n */\nfn();",
        "const el = <p>it's http://not.x</p>;\nconst z = 'a'; // real",
        "const el = <p>see http://not.x</p>;\nconst z = 'a'; // real",
        "const el = <p>{/* real */}</p>;",
        "const a = 1; // real\r\nconst b = '// not';\r\n",
    ],
    "javascript": ["#!/usr/bin/env node\n// real", "module.exports = '/* not */' // real"],
    "csharp": [
        'var v = @"c:\\"; // real',
        'var v = @"a ""// not"" b"; // real',
        'var v = """\n// not "x"\n"""; // real',
        'var v = $"{d["k"]} // not"; // real',
        'var v = $@"{x}\n// not"; // real',
        "var c = '\"'; // real",
        "/// <summary>real</summary>\nvoid F() {}",
        "#region // not\n// real",
        "/* real\n   real */ var x = 1;",
    ],
    "go": ["s := `// not\n// not` // real", "r := '\"' // real", "/* real */ x := 1"],
    "rust": [
        "fn f<'a>(x: &'a str) {} // real",
        'let s = r#"// not " "#; // real',
        'let b = b"// not"; // real',
        "/* real /* real */ real */ let x = 1;",
        "/// real\nfn f() {}",
        "//! real\nuse x;",
    ],
    "python": [
        "x = '# not' # real",
        '"""real\nreal"""\nx = 1',
        'def f():\n    """real"""\n    g("""\n# not\n""")\n',
        "class A:\n    x = 1\n    'real'\n",
        "#!/usr/bin/env not\n# real",
        'f"{x!r} # not" # real',
        "x = (\n    'not'\n)  # real\n",
        "x = [\n    # real\n    'not',\n]\n",
        "# real",
    ],
}


@pytest.mark.parametrize(("language", "text"), [(name, text) for name, texts in CASES.items() for text in texts])
def test_comments_are_told_from_strings(language: str, text: str) -> None:
    lines = read_lines(text, language)
    real = [number for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1) if "real" in line]
    assert [number for number, said in lines.comments.items() if "real" in said] == real
    assert not any("not" in said for said in lines.comments.values())


def test_a_line_can_hold_code_and_a_comment() -> None:
    lines = read_lines("x = 1  # why\n# whole\n\ny = 2\n", "python")
    assert set(lines.comments) == {1, 2}
    assert lines.code == {1, 4}


def test_blank_lines_in_a_comment_are_nothing() -> None:
    lines = read_lines("/*\n one\n\n two\n*/\n", "go")
    assert set(lines.comments) == {1, 2, 4, 5}
    assert lines.code == frozenset()


@pytest.mark.parametrize("text", ["def f(:\n  '''", "x = (\n", "  a\n b\n"])
def test_python_that_cannot_be_read_says_so(text: str) -> None:
    with pytest.raises(UnreadableError):
        read_lines(text, "python")


def test_a_file_of_megabytes_is_data() -> None:
    with pytest.raises(UnreadableError):
        read_lines("x" * 2_000_001, "go")


class TestRustTests:
    def test_a_module(self) -> None:
        text = 'fn a() {}\n#[cfg(test)]\nmod tests {\n    let s = "}"; // }\n    fn t() { }\n}\nfn b() {}\n'
        assert read_lines(text, "rust").tests == {2, 3, 4, 5, 6}

    def test_an_item_that_ends_in_a_semicolon(self) -> None:
        assert read_lines("#[cfg(test)]\nmod tests;\nfn b() {}\n", "rust").tests == {1, 2}

    @pytest.mark.parametrize(
        "attribute", ["#[cfg(all(test, unix))]", "# [ cfg ( test ) ]", '#[cfg(any(test, feature = "x"))]']
    )
    def test_other_spellings(self, attribute: str) -> None:
        assert read_lines(f"{attribute}\nmod t {{\n}}\n", "rust").tests == {1, 2, 3}

    @pytest.mark.parametrize(
        "text", ["#[cfg(not(test))]\nfn f() {}\n", "// #[cfg(test)]\nfn f() {}\n", "#[cfg(attest)]\nmod x;\n"]
    )
    def test_what_is_no_test(self, text: str) -> None:
        assert read_lines(text, "rust").tests == frozenset()

    def test_a_module_that_never_ends(self) -> None:
        assert read_lines("#[cfg(test)]\nmod t {\n fn x() {\n", "rust").tests >= {1, 2, 3}


_TEXT = st.lists(
    st.sampled_from(
        ["/", "*", "//", "/*", "*/", "'", '"', "`", "${", "{", "}", "\n", "\r\n", "\\", "#", "a", " ", "r#", '"""', "@"]
    )
).map("".join)


@settings(max_examples=150, deadline=None)
@given(_TEXT, st.sampled_from(sorted(CASES)))
def test_any_text_can_be_sorted(text: str, language: str) -> None:
    try:
        lines = read_lines(text, language)
    except UnreadableError:
        return
    many = text.replace("\r\n", "\n").count("\n") + 1
    assert all(1 <= number <= many for number in {*lines.comments, *lines.code, *lines.tests})
    blank = [number for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1) if not line.strip()]
    assert not {*lines.comments, *lines.code} & set(blank)
