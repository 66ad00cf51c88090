from __future__ import annotations

import os
from typing import Any

import pytest

from morph_tasks.model.load import Config
from morph_tasks.verify.validators import code_budget
from morph_tasks.verify.validators.model import Checked

NONE = Config({}, "")


def _check(tree: Any) -> Checked:
    return code_budget.check(tree.repo, NONE)


def _code(lines: int) -> str:
    return "".join(f"x_{number} = {number}\n" for number in range(lines))


def test_plain_code_is_a_pass_without_a_word(tree: Any) -> None:
    tree.write("shop.py", _code(50))
    found = _check(tree)
    assert (found.status, found.reason, found.warnings) == ("pass", None, ())
    assert "50 lines of production" in found.message


def test_no_line_of_code_is_a_skip(tree: Any) -> None:
    tree.write("README.md", "# words\n")
    tree.write("a.d.ts", "declare const x: number\n")
    found = _check(tree)
    assert (found.status, found.message, found.warnings) == ("skip", "no line of code was added", ())


def test_no_base_is_a_skip_that_says_so(tree: Any) -> None:
    tree.git("checkout", "-q", "--orphan", "alone")
    tree.commit()
    found = _check(tree)
    assert found.status == "skip"
    assert "no commit shared" in found.message
    assert found.warnings


def test_a_file_that_only_moved_adds_nothing(tree: Any) -> None:
    os.rename(tree.root / "old.py", tree.root / "new.py")
    assert _check(tree).status == "skip"


def test_only_added_lines_count(tree: Any) -> None:
    tree.git("checkout", "-q", "main")
    tree.write("old.py", "# UC-1 is old\n" + _code(3))
    tree.commit()
    tree.git("checkout", "-q", "-B", "morph/cart")
    tree.write("old.py", "# UC-1 is old\n" + _code(3) + "y = 1\n")
    found = _check(tree)
    assert found.warnings == ()
    assert found.message.startswith("1 lines of production")


class TestProcessWords:
    def test_one_is_enough(self, tree: Any) -> None:
        tree.write("shop.py", "x = 1  # UC-03 wants this\n# a good reason\n")
        (warning,) = _check(tree).warnings
        assert "1 of 2 added comment lines" in warning
        assert "shop.py:1" in warning
        assert _check(tree).detail == ("shop.py:1: UC-03",)

    def test_four_places_are_named(self, tree: Any) -> None:
        tree.write("a.ts", "".join(f"// C{number}\nf();\n" for number in range(1, 8)))
        (warning,) = _check(tree).warnings
        assert "7 of 7" in warning and "a.ts:7" in warning and "a.ts:9" not in warning and "and 3 more" in warning

    def test_strings_cite_nothing(self, tree: Any) -> None:
        tree.write("a.ts", "const a = 'UC-1'; const b = `// UC-2`; const c = /\\/\\/ UC-3/;\n")
        tree.write("b.py", "x = '''\n# ADR-1\n'''\n")
        tree.write("c.cs", 'var s = @"// FR-1";\n')
        assert _check(tree).warnings == ()

    def test_tests_count_too(self, tree: Any) -> None:
        tree.write("tests/test_a.py", "# covers C1\n")
        assert "tests/test_a.py:1" in _check(tree).warnings[0]


class TestTestsAndProduction:
    @pytest.mark.parametrize(
        ("tests", "production", "warns"),
        [
            (41, 10, True),
            (40, 1, False),
            (90, 60, False),
            (91, 60, True),
            (41, 28, False),
            (42, 28, False),
            (43, 28, True),
        ],
    )
    def test_above_one_and_a_half_and_forty_lines(self, tree: Any, tests: int, production: int, warns: bool) -> None:
        tree.write("shop.py", _code(production))
        tree.write("tests/test_shop.py", _code(tests))
        assert bool(_check(tree).warnings) is warns

    def test_the_ratio_is_said(self, tree: Any) -> None:
        tree.write("shop.py", _code(30))
        tree.write("shop_test.py", _code(60))
        (warning,) = _check(tree).warnings
        assert "60 lines of tests" in warning and "30 of production" in warning and "2.0×" in warning

    def test_without_production_there_is_no_ratio(self, tree: Any) -> None:
        tree.write("tests/test_shop.py", _code(41))
        (warning,) = _check(tree).warnings
        assert "41 lines of tests" in warning and "0 of production" in warning and "×" not in warning

    def test_blank_lines_do_not_count(self, tree: Any) -> None:
        tree.write("tests/test_shop.py", "\n   \n" * 50 + _code(40))
        assert _check(tree).warnings == ()

    def test_test_modules_inside_of_rust_files(self, tree: Any) -> None:
        body = "".join(f"    fn t{number}() {{}}\n" for number in range(40))
        tree.write("src/lib.rs", f"pub fn a() {{}}\n#[cfg(test)]\nmod tests {{\n{body}}}\n")
        (warning,) = _check(tree).warnings
        assert "43 lines of tests" in warning and "1 of production" in warning


class TestDensity:
    def test_more_than_one_in_ten(self, tree: Any) -> None:
        tree.write("a.py", _code(40) + "# why\n" * 4)
        assert _check(tree).warnings == ()
        tree.write("a.py", _code(40) + "# why\n" * 5)
        (warning,) = _check(tree).warnings
        assert "5 comment lines" in warning and "40 of code" in warning and "a.py (5)" in warning

    def test_little_code_is_not_judged(self, tree: Any) -> None:
        tree.write("a.py", _code(39) + "# why\n" * 39)
        assert _check(tree).warnings == ()

    def test_docs_are_comments(self, tree: Any) -> None:
        tree.write("a.cs", "class A { }\n" * 40 + "/// <summary>x</summary>\n" * 5)
        assert "above 1 in 10" in _check(tree).warnings[0]
        tree.write("a.cs", "class A { }\n" * 40)
        tree.write("b.py", 'def f():\n    """One.\n\n    Two.\n    """\n' * 10 + _code(30))
        assert "above 1 in 10" in _check(tree).warnings[0]

    def test_the_files_with_most_come_first(self, tree: Any) -> None:
        for number in range(1, 7):
            tree.write(f"f{number}.py", _code(20) + "# why\n" * (number * 2))
        (warning,) = _check(tree).warnings
        assert warning.endswith("f6.py (12), f5.py (10), f4.py (8), f3.py (6)")


def test_what_cannot_be_read_is_left_out_and_named(tree: Any) -> None:
    tree.write("broken.py", "def f(:\n  '''\n")
    tree.write("fine.py", "x = 1\n")
    found = _check(tree)
    assert found.status == "pass"
    assert any("broken.py" in line for line in found.warnings)
    os.unlink(tree.root / "fine.py")
    assert _check(tree).status == "skip"


def test_links_and_generated_files_are_no_work(tree: Any) -> None:
    tree.write("real.go", "// Code generated by x. DO NOT EDIT.\n// C1\npackage x\n")
    os.symlink("real.go", tree.root / "link.go")
    assert _check(tree).status == "skip"


def test_a_name_that_would_break_the_line_is_shown_on_one(tree: Any) -> None:
    tree.write("a\nb.py", "# UC-1\n")
    found = _check(tree)
    assert found.detail == ("a\\nb.py:1: UC-1",)
    assert "\n" not in found.warnings[0]


def test_the_same_content_is_judged_the_same_before_and_after_the_commit(tree: Any) -> None:
    tree.write("a.py", _code(40) + "# UC-1\n" * 5)
    before = _check(tree), code_budget.facts(tree.repo, NONE)
    tree.commit()
    assert (_check(tree), code_budget.facts(tree.repo, NONE)) == before
