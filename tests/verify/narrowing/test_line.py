"""Command lines: read as a shell reads them, changed nowhere but where selectors go."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morph_tasks.verify.narrowing import cargo, go, jest, vitest
from morph_tasks.verify.narrowing import pytest as pytest_narrower
from morph_tasks.verify.narrowing.line import Line, parse
from morph_tasks.verify.narrowing.model import Narrowed

ANY = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=40)
WORDS = (
    *("npx", "vitest", "run", "jest", "pytest", "python", "-m", "-q", "-k", "-x", "--", "--run", "--coverage", "tests"),
    *("'a b'", '"$X"', "$Y", "&&", ";", "|", ">", "<", "(", ")", "`", "\\", "#", "*", "~", "A=1", "-n", "4", "-p", "x"),
    *("--silent", "cargo", "test", "go", "./...", "--workspace", "--test-threads=2", "{a,b}", "'", '"', "\n", "env"),
    *("timeout", "5", "--foo", "bar", "@x", "[y]", "-rA", "-nauto", "uv", "coverage", "!", "if", "cd"),
)
PIECES = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
BEGINNINGS = (
    *("npx vitest run", "vitest --run", "pnpm exec vitest run", "npx jest", "CI=1 jest --ci", "pytest", "go test"),
    *("uv run pytest", "python -m pytest", "coverage run -m pytest", "go test ./...", "cargo test", "cargo +nightly t"),
    *("env A='b c' timeout 9 cargo test --workspace", "gotestsum --", "cargo nextest run", "pytest -q tests -x"),
)
COMMANDS = st.tuples(st.sampled_from(BEGINNINGS), st.lists(st.sampled_from(WORDS), max_size=4)).map(
    lambda found: " ".join((found[0], *found[1]))
)
NARROWERS = (vitest, jest, pytest_narrower, go, cargo)


@settings(max_examples=150, deadline=None)
@given(st.one_of(ANY, PIECES))
def test_what_is_one_call_has_the_words_that_a_shell_sees(command: str) -> None:
    line = parse(command)
    if isinstance(line, str):
        return
    if any(word.expands for word in line.words):
        return
    assert [word.text for word in line.words] == shlex.split(command), command
    assert line.insert(len(line.words) - 1, ()) == command


@settings(max_examples=60, deadline=None)
@given(PIECES)
def test_a_real_shell_agrees(command: str) -> None:
    line = parse(command)
    if isinstance(line, str) or line.first or any(word.expands for word in line.words):
        return
    script = f"set -f; printf '%s\\0' {command}"
    done = subprocess.run(["/bin/sh", "-c", script], capture_output=True, timeout=10, check=False)
    assert done.stdout.decode().split("\0")[:-1] == [word.text for word in line.words], command


@settings(max_examples=150, deadline=None)
@given(ANY, st.integers(0, 3))
def test_an_inserted_word_arrives_as_it_is(word: str, place: int) -> None:
    line = parse("env A=1 pytest  -q   'a b'")
    assert isinstance(line, Line)
    changed = line.insert(place, [word])
    texts = shlex.split("env A=1 pytest  -q   'a b'")
    assert shlex.split(changed) == [*texts[: place + 1], word, *texts[place + 1 :]]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tree")
    for name, text in {
        "a.test.ts": "it('x', () => {});\n", "tests/test_a.py": "def test_a(): ...", "go.mod": "module m\n",
        "p/p_test.go": "package p\n",
        "q/q_test.go": "package q\n", "Cargo.toml": "[package]\nname = 'c'\n", "tests/flow.rs": "",
    }.items():  # fmt: skip
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    return root


FILES = {
    vitest: ["a.test.ts"], jest: ["a.test.ts"], pytest_narrower: ["tests/test_a.py"], go: ["p/p_test.go"],
    cargo: ["tests/flow.rs"],
}  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.one_of(COMMANDS, COMMANDS, PIECES), st.sampled_from(NARROWERS))
def test_a_narrower_adds_selectors_and_nothing_else(tree: Path, command: str, module: object) -> None:
    found = module.narrow(tree, ".", command, FILES[module])  # type: ignore[attr-defined, index]
    if isinstance(found, str):
        assert found and not found.endswith("."), found
        return
    before, after = parse(command), parse(found.command)
    assert isinstance(before, Line)
    assert isinstance(after, Line)
    old, new = [word.text for word in before.words], [word.text for word in after.words]
    for word in (*found.selectors, *(["--runTestsByPath"] if module is jest else [])):
        new.remove(word)
    gone = list(old)
    for word in new:
        assert word in gone, (command, found.command)
        gone.remove(word)
    # What went are paths and packages that the selectors replace, and the word for all crates.
    assert all(word in ("tests", "./...", "--workspace") for word in gone), (command, found.command)


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("a && b", "`&&`"), ("a; b", "`;`"), ("a | b", "`|`"), ("a\nb", "several lines"), ("(a)", "a subshell"),
        ("a > log", "a redirection"),
        ("a `b`", "substitution"), ('a "$(b)"', "substitution"), ("a $X", "without quotes"),
        ('a "$@"', "several words"), ("a *.py", "a glob"), ("a ~/x", "`~`"), ("a # x", "comment"), ("a 'x", "quote"),
        ("", "no program"), ("A=1", "no program"), ("if a", "`if`"), ("cd x", "`cd`"), ("a \\", "backslash"),
    ],
)  # fmt: skip
def test_more_than_one_plain_call_says_what_it_is(command: str, why: str) -> None:
    assert why in str(parse(command))


@pytest.mark.parametrize("command", ["0\x0c", "a \x0b", "a\u2003b\u00a0", "a  \t\n", " a\\ b"])
def test_only_blanks_of_the_shell_part_words(command: str) -> None:
    line = parse(command)
    assert isinstance(line, Line)
    assert [word.text for word in line.words] == shlex.split(command)


def test_quoted_signs_are_text() -> None:
    line = parse("FOO='a;b' prog 'x && y' \"a|b\" c\\;d \"$HOME/x\" e#f")
    assert isinstance(line, Line)
    assert [word.text for word in line.words[1:]] == ["prog", "x && y", "a|b", "c;d", "$HOME/x", "e#f"]
    assert line.sets("FOO", 2)
    assert not line.sets("FO", 2)
    assert [word.expands for word in line.words] == [False, False, False, False, False, True, False]


def test_narrowed_is_what_the_property_looked_at(tree: Path) -> None:
    commands = ("npx vitest run", "jest", "pytest -q tests", "go test ./...", "cargo test")
    for module, command in zip(NARROWERS, commands, strict=True):
        assert isinstance(module.narrow(tree, ".", command, FILES[module]), Narrowed), command
