from __future__ import annotations

from typing import Any

import pytest

from morph_tasks.proc import ProcError
from morph_tasks.repo.git import open_repo
from morph_tasks.verify.scenarios.scan import scan


def _found(project: Any) -> dict[str, tuple[str, ...]]:
    return {f"{one.file}:{one.line} {one.name}": one.scenarios for one in scan(open_repo(project.root)).tests}


def test_tests_of_several_languages_with_ids_in_names_and_marks(project: Any) -> None:
    project.write(
        "tests/test_cart.py",
        "import pytest\n\n\n@pytest.mark.scenario('C1', 'C02')\nclass TestCart:\n"
        "    def test_sum(self):\n        pass\n\n\n"
        "def test_scenario_C3():\n    pass\n",
    )
    project.write("web/cart.test.ts", "describe('cart', () => {\n  test('[shop:C4] adds', () => {})\n})\n")
    project.write("go/cart_test.go", 'package cart\n\nimport "testing"\n\nfunc TestScenarioC5(t *testing.T) {}\n')
    project.write("src/lib.rs", "#[cfg(test)]\nmod tests {\n    #[test]\n    fn sums_scenario_c6() {}\n}\n")
    found = _found(project)
    assert found["tests/test_cart.py:6 TestCart > test_sum"] == ("C1", "C2")
    assert found["tests/test_cart.py:10 test_scenario_C3"] == ("C3",)
    assert found["web/cart.test.ts:2 cart > [shop:C4] adds"] == ("shop:C4",)
    assert found["go/cart_test.go:5 TestScenarioC5"] == ("C5",)
    assert [ids for name, ids in found.items() if "sums_scenario_c6" in name] == [("C6",)]


def test_what_git_ignores_and_what_is_no_test_does_not_count(project: Any) -> None:
    project.write(".gitignore", "build/\n")
    project.write("build/tests/test_old.py", "def test_scenario_C1(): pass\n")
    project.write("src/cart.py", "# see test [C1]\nNAME = 'scenario_C1'\n")
    project.write("docs/notes.md", "[C1] is what matters\n")
    project.write(".morph/features/cart/tests/test_x.py", "def test_scenario_C1(): pass\n")
    project.write("tests/test_prose.py", '"""About [C1]."""\n# [C2]\n\n\ndef test_plain():\n    x = "[C3]"\n')
    assert _found(project) == {}


def test_a_skipped_test_says_so(project: Any) -> None:
    project.write("a.test.js", "test.skip('[C1] later', () => {})\ntest('[C2] now', () => {})\n")
    found = scan(open_repo(project.root)).tests
    assert [(one.scenarios, bool(one.skipped)) for one in found] == [(("C1",), True), (("C2",), False)]


def test_names_of_files_that_git_would_quote(project: Any) -> None:
    project.write('tests/größe "x"/test_a\nb.py', "def test_scenario_C1(): pass\n")
    assert [one.file for one in scan(open_repo(project.root)).tests] == ['tests/größe "x"/test_a\nb.py']


def test_a_language_that_is_not_read_is_searched_line_by_line(project: Any) -> None:
    project.write("tests/CartTest.kt", "class CartTest {\n  // [C9] is elsewhere\n  @Test fun `adds [C1]`() {}\n}\n")
    project.write("src/Cart.kt", "val x = `[C1]`\n")
    found = scan(open_repo(project.root))
    assert [(one.file, one.line, one.scenarios, one.by_text) for one in found.tests] == [
        ("tests/CartTest.kt", 3, ("C1",), True)
    ]


def test_a_file_that_does_not_parse_is_a_problem_and_its_lines_are_shown(project: Any) -> None:
    project.write(
        "tests/test_new.py", "def test_x(:\n    pass\n\n@pytest.mark.scenario('C2')\ndef test_scenario_C1(): pass\n"
    )
    found = scan(open_repo(project.root))
    assert [(one.line, one.scenarios) for one in found.tests] == [(4, ("C2",)), (5, ("C1",))]
    assert len(found.problems) == 1 and found.problems[0].startswith(
        "not verified: tests/test_new.py could not be parsed"
    )


def test_two_thousand_tests(project: Any) -> None:
    for number in range(40):
        lines = [f"def test_{one}_scenario_C{one % 7 + 1}():\n    pass\n" for one in range(50)]
        project.write(f"tests/test_{number}.py", "\n".join(lines))
    assert len(scan(open_repo(project.root)).tests) == 2000


def test_a_search_that_fails_is_no_empty_answer(project: Any) -> None:
    repo = open_repo(project.root)
    (project.root / ".git/HEAD").write_bytes(b"nonsense")
    with pytest.raises(ProcError):
        scan(repo)
