from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from morph_tasks.plan.paths import normal_path, path_problem, same_file_key


@pytest.mark.parametrize(
    "path",
    [
        "a.py",
        "src/a b.py",
        "./a.py",
        "a//b.py",
        ".gitignore",
        ".github/x.yml",
        "app/[id]/(group)/$x.tsx",
        "ção/日本.md",
        "a..b/c",
        "...",
        ".morph/config/config.json",
        "a/.gitkeep",
        "ab:y",
    ],
)
def test_paths_in_the_tree(path: str) -> None:
    assert path_problem(path) is None


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/etc/passwd", "absolute"),
        ("//host/x", "absolute"),
        ("../x", "climbs"),
        ("a/../b", "climbs"),
        ("a/..", "climbs"),
        ("~/x", "home"),
        ("~ana/x", "home"),
        ("C:/x", "no path"),
        ("c:x", "no path"),
        ("https://x/y", "no path"),
        ("a\\b", "backslash"),
        ("..\\b", "backslash"),
        (".git/config", ".git"),
        ("sub/.GIT/hooks/x", ".git"),
        (".git", ".git"),
        ("src/", "folder"),
        (".", "folder"),
        ("./", "folder"),
        ("", "folder"),
        ("src/*.py", "pattern"),
        ("src/**/a.py", "pattern"),
        ("a?.py", "pattern"),
        ("a\0b", "control"),
        ("a\ufffdb", "control"),
        ("a\x1b[0mb", "control"),
        ("a\nb", "control"),
        ("a/" * 600 + "b", "longer"),
    ],
)
def test_paths_that_are_none(path: str, why: str) -> None:
    assert why in (path_problem(path) or "")


@given(st.lists(st.sampled_from(["a", "B", "é", ".", ""]), min_size=1, max_size=8))
def test_one_file_has_one_spelling(steps: list[str]) -> None:
    path = normal_path("/".join(steps))
    assert normal_path(path) == path
    assert normal_path(f"./{path}") == path
    assert same_file_key(path) == same_file_key(f".//{path}".upper())
