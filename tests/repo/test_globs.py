"""Repository-relative globs over bytes paths."""

from __future__ import annotations

import fnmatch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morph_tasks.errors import Refusal
from morph_tasks.repo.globs import compile_covering_globs, compile_globs, compile_reaching_globs

MATCHES = [
    # a folder means all that lies below it
    ("src", "src/a.py"), ("src", "src/deep/er/a.py"), ("src/", "src/a.py"), ("./src", "src/a.py"),
    ("./src/", "src/deep/a.py"), ("/src", "src/a.py"), ("src//deep", "src/deep/a"), ("a/./b", "a/b"),
    ("src", "src"), ("packages/*/src", "packages/one/src/a.py"), ("src/*/", "src/deep/a"),
    ("**/*.egg-info/", "x/foo.egg-info/PKG"), ("**/", "a/b"), ("", "a/b"), (".", "a"), ("./", "a"),
    # one name
    ("*.py", "a.py"), ("*.py", ".py"), ("src/*", "src/a"), ("*", ".env"), ("a*b*b", "aXbXb"), ("*a*ab", "aab"),
    ("x*/z", "x\ny/z"), ("file ?", "file 1"), ("?.txt", "\u00e9.txt"), ("*", "line\nfeed"), ("a*", "a"),
    # any number of folders
    ("**", "a/b/c"), ("**/*.py", "a.py"), ("**/*.py", "x/y/a.py"), ("src/**", "src/a/b"), ("a/**/d", "a/d"),
    ("a/**/d", "a/b/c/d"), ("a/**/d", "a/b/d/below"), ("a/**/b/**/c", "a/b/c"), ("**/b/c", "a/b/b/c"),
    ("**/b/d", "a/b/c/b/d"), ("a/**/y/**/*.py", "a/x/y/z/q.py"), ("**/**/a", "x/a"), ("**/x*/**/q", "a/xy/b/c/q"),
    ("**/node_modules/**", "web/node_modules/left/pad.js"),
    # one character of several
    ("a[bc]d", "abd"), ("a[!b]c", "axc"), ("a[^b]c", "axc"), ("a[0-9]", "a7"), ("a[]]b", "a]b"), ("a[!]]b", "axb"),
    ("[a-cx-z]", "y"), ("a[-b]", "a-"), ("a[\u00e0-\u00ff]", "a\u00e9"), ("[[]", "["), ("a[b", "a[b"), ("a]", "a]"),
    # alternatives
    ("*.{ts,tsx}", "a.ts"), ("*.{ts,tsx}", "a.tsx"), ("{src,lib}/**", "lib/a"), ("{a,{b,c}}", "c"), ("a{,b}", "a"),
    ("{ab,a}*b", "ab"), ("{a/b,c}/d", "a/b/d"), ("{a}", "{a}"), ("{a,b", "{a,b"), ("a}", "a}"), ("{}", "{}"),
    # plain characters
    (r"a\*c", "a*c"), (r"\{a,b\}", "{a,b}"), (r"\!a", "!a"), (r"a\?", "a?"), (r"\[a\]", "[a]"), ("a\\", "a\\"),
    ("a.b+(c)|d$^", "a.b+(c)|d$^"), ("#a", "#a"), ("~", "~"), (" a ", " a "),
]  # fmt: skip

MISSES = [
    ("src", "srcx/a"), ("src", "x/src/a"), ("src/", "src"), ("src/*", "src/deep/a"), ("*", "a/b"), ("*.py", "a/b.py"),
    ("*.py", "a.pyc"), ("a*b", "a/b"), ("a?b", "a/b"), ("a[!b]c", "a/c"), ("a[+-9]c", "a/c"), ("a[!b]c", "abc"),
    ("a/**/d", "a/xd"), ("a/**/d", "x/a/d"), ("src/**", "src"), ("packages/*/src", "packages/a/b/src/x"),
    (r"a\*c", "abc"), ("{a,b}", "c"), ("{a,b}", "{a,b}"), ("a[z-a]", "az"), ("src/*", "src"), ("?", ""),
    ("a.b", "axb"), ("SRC", "src/a"), ("**/*.py", "a.py/b"), ("../a", "a"), ("*/", "a"), ("a**b", "a/b"),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "path"), MATCHES)
def test_matches(pattern: str, path: str) -> None:
    assert compile_globs([pattern])(path.encode())


@pytest.mark.parametrize(("pattern", "path"), MISSES)
def test_does_not_match(pattern: str, path: str) -> None:
    assert not compile_globs([pattern])(path.encode())


@pytest.mark.parametrize(
    ("patterns", "path", "matches"),
    [
        ([], "a", False),
        (["src", "!src/generated"], "src/a", True),
        (["src", "!src/generated"], "src/generated/a", False),
        (["!src/generated", "src"], "src/generated/a", False),
        (["src", "!**/*.snap"], "src/a.snap", False),
        (["!docs"], "src/a", True),
        (["!docs"], "docs/a", False),
        (["a", "b"], "b/c", True),
        (["!*.{md,txt}"], "a.md", False),
        (["./src", "!./src/x"], "src/x", False),
    ],
)
def test_several_patterns(patterns: list[str], path: str, matches: bool) -> None:
    assert compile_globs(patterns)(path.encode()) is matches


def test_names_that_are_not_utf8() -> None:
    assert compile_globs(["?.txt"])(b"\xe9.txt")
    assert compile_globs(["caf\udce9/"])(b"caf\xe9/a")
    assert compile_globs(["*"])(b"\xff\xfe")


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 30 + "*b", "a" * 5000),
        ("**/a/" * 15 + "b", "a/" * 3000),
        ("**/*a*/" * 10 + "b", "aaaa/" * 2000),
        ("*?*?*?*?*?*?*?*?*?b", "a" * 5000),
        ("**/" * 50 + "b", "a/" * 3000),
        ("[a]*[a]*[a]*[a]*[a]*[a]*b", "a" * 5000),
        ("{a,aa}*" * 6 + "b", "a" * 3000),
    ],
)
def test_hostile_patterns_end(pattern: str, path: str) -> None:
    assert not compile_globs([pattern])(path.encode())
    compile_reaching_globs([pattern])(path.encode())
    compile_covering_globs([pattern])(path.encode())


@pytest.mark.parametrize("pattern", ["{a,b}" * 11, "{" + ",".join(map(str, range(1001))) + "}", "{a,b}" * 5000])
def test_too_many_alternatives_are_refused(pattern: str) -> None:
    with pytest.raises(Refusal) as refused:
        compile_globs([pattern])

    assert (refused.value.code, refused.value.exit_code) == ("bad-glob", 2)


def test_deeply_nested_braces_are_no_crash() -> None:
    try:
        assert compile_globs(["{a," * 2000 + "}" * 2000])(b"a")
    except Refusal as refused:
        assert refused.code == "bad-glob"
    assert not compile_globs(["{" * 5000])(b"a")


@pytest.mark.parametrize(
    ("pattern", "reaches", "covers"),
    [
        ("libs/foo/src/**", True, False),
        ("libs/foo", True, True),
        ("libs/foo/", True, True),
        ("libs", True, True),
        ("libs/", True, True),
        ("libs/**", True, True),
        ("libs/foo/**", True, True),
        ("libs/*", True, False),
        ("libs/f*/x/y", True, False),
        ("**", True, True),
        ("**/*.py", True, False),
        ("", True, True),
        ("lib?/foo/a/b", True, False),
        ("other", False, False),
        ("libs/fox/y", False, False),
        ("libs/foo.py", False, False),
    ],
)
def test_a_folder_taken_as_one_thing(pattern: str, reaches: bool, covers: bool) -> None:
    assert compile_reaching_globs([pattern])(b"libs/foo") is reaches
    assert compile_covering_globs([pattern])(b"libs/foo") is covers
    # What is taken away: a folder is out when all of it is, and no longer whole when some of it may be.
    assert compile_reaching_globs(["**", f"!{pattern}"])(b"libs/foo") is not covers
    assert compile_covering_globs(["**", f"!{pattern}"])(b"libs/foo") is not reaches


def _naive(pattern: list[str], path: list[str]) -> bool:
    """Match names one by one, the obvious and exponential way."""
    if not pattern:
        return not path
    if pattern[0] == "**":
        return any(_naive(pattern[1:], path[skipped:]) for skipped in range(len(path) + 1))
    return bool(path) and fnmatch.fnmatchcase(path[0], pattern[0]) and _naive(pattern[1:], path[1:])


_names = st.text("ab", min_size=1, max_size=4)
_globs = st.one_of(st.just("**"), st.text("ab*?", min_size=1, max_size=5).filter(lambda name: "**" not in name))


@given(st.lists(_globs, min_size=1, max_size=5), st.lists(_names, min_size=1, max_size=5))
@settings(max_examples=200, deadline=None)
def test_like_the_obvious_way(pattern: list[str], path: list[str]) -> None:
    # A wildcard at the end keeps the pattern from meaning a folder; a file needs a name of its own.
    if pattern[-1] != "**":
        pattern = [*pattern[:-1], pattern[-1] + "*"]
        pattern[-1] = pattern[-1].replace("**", "*")
    else:
        pattern = [*pattern, "*"]
    expected = _naive(pattern, path)
    if pattern[-2:] == ["**", "*"]:
        pattern = pattern[:-1]

    assert compile_globs(["/".join(pattern)])("/".join(path).encode()) is expected


@given(st.lists(_globs, min_size=1, max_size=4), st.lists(_names, min_size=1, max_size=3), st.lists(_names, max_size=3))
@settings(max_examples=100, deadline=None)
def test_folders_agree_with_what_they_hold(pattern: list[str], folder: list[str], below: list[str]) -> None:
    glob, path = ["/".join(pattern)], "/".join(folder).encode()
    inside = "/".join([*folder, *below, "b"]).encode()

    if compile_globs(glob)(inside):
        assert compile_reaching_globs(glob)(path)
    else:
        assert not compile_covering_globs(glob)(path)


@given(st.text(max_size=30), st.binary(max_size=30))
@settings(max_examples=100, deadline=None)
def test_any_text_is_a_pattern(pattern: str, path: bytes) -> None:
    for compiled in (compile_globs, compile_reaching_globs, compile_covering_globs):
        assert compiled([pattern])(path) in (True, False)
