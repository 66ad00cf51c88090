"""Which pairs have to be merged to know, and what is told of those that conflict."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from morph_tasks.errors import Refusal
from morph_tasks.fleet.union import conflicts
from morph_tasks.fleet.union.candidates import Candidate, Default, default_branch
from morph_tasks.fleet.union.conflicts import against_default, between
from morph_tasks.fleet.union.scratch import Scratch, scratch
from morph_tasks.repo.git import open_repo

PATHS = ["a", "a/b", "a/b/c", "d", "d/e", "f", "g/h"]
LINES = "".join(f"line {number}\n" for number in range(12))
# Alike enough for git to take one for another that moved, and one that is like none.
TEXTS = [LINES, LINES.replace("line 3", "three"), LINES.replace("line 9", "nine"), LINES + "more\n", "short\n"]

Files = dict[str, str]


def _fits(files: Files) -> bool:
    return not any(other.startswith(f"{path}/") for path in files for other in files)


TREES = st.dictionaries(st.sampled_from(PATHS), st.sampled_from(TEXTS), max_size=4).filter(_fits)


@pytest.fixture
def room(shop: Any) -> Iterator[Scratch]:
    repo = open_repo(shop.root)
    found = default_branch(repo)
    with scratch(repo, found.name, found.commit) as made:
        yield made


_numbers = count()


def _commits(room: Scratch, base: Files, *sides: Files) -> list[str]:
    """Make a commit and others on top of it; return their ids."""
    stream = b""
    name = f"refs/heads/x{next(_numbers)}"
    for at, files in enumerate((base, *sides), 1):
        stream += b"commit %s-%d\nmark :%d\ncommitter T <t@x> %d +0000\ndata 0\n" % (name.encode(), at, at, at)
        stream += (b"from :1\n" if at > 1 else b"") + b"deleteall\n"
        for path, text in files.items():
            stream += b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(text), text.encode())
    root = room.tree.root
    subprocess.run(["git", "-C", str(root), "fast-import", "--quiet"], input=stream, check=True)
    return [room.tree.text("rev-parse", f"{name}-{at}") for at in range(1, len(sides) + 2)]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TREES, TREES, TREES, TREES)
def test_pairs_that_do_not_meet_merge_cleanly(
    room: Scratch, base: Files, moved: Files, one: Files, other: Files
) -> None:
    _, default, *tips = _commits(room, base, moved, one, other)
    found = [Candidate(name, tip, 1) for name, tip in zip("ab", tips, strict=True)]
    brought, _ = against_default(room, Default("main", default, 1), found)
    if len(brought) == 2 and not brought["a"].meets(brought["b"]):
        assert conflicts.merge(room, brought["a"].commit, brought["b"].commit).clean


@pytest.mark.parametrize(
    ("one", "other", "meet"),
    [
        ({"new": "x"}, {"other": "x"}, False),
        ({"new": "x"}, {"new": "x"}, False),
        ({"new": "x"}, {"new": "y"}, True),
        ({"f": "file"}, {"f/g": "below"}, True),
        ({"f/g/h": "below"}, {"f": "file"}, True),
        ({"README.md": None, "moved": "# shop\n"}, {"README.md": "# shop\nmore\n"}, True),
        ({"README.md": None}, {"README.md": None}, True),
        ({"README.md": None}, {"other": "x"}, False),
    ],
)
def test_paths_meet(room: Scratch, one: dict[str, Any], other: dict[str, Any], meet: bool) -> None:
    base = {"README.md": "# shop\n"}
    sides = [{path: text for path, text in {**base, **side}.items() if text is not None} for side in (one, other)]
    start, *tips = _commits(room, base, *sides)
    found = [Candidate(name, tip, 1) for name, tip in zip("ab", tips, strict=True)]
    brought, _ = against_default(room, Default("main", start, 1), found)
    assert brought["a"].meets(brought["b"]) is meet
    assert brought["b"].meets(brought["a"]) is meet


def test_only_pairs_that_meet_are_merged(room: Scratch, monkeypatch: pytest.MonkeyPatch) -> None:
    sides = [{"README.md": "# shop\n", f"src/{number}": "x\n"} for number in range(10)]
    sides += [{"README.md": "# other\n"}, {"README.md": "# third\n"}]
    start, *tips = _commits(room, {"README.md": "# shop\n"}, *sides)
    found = [Candidate(f"f{at:02}", tip, 1) for at, tip in enumerate(tips)]
    brought, _ = against_default(room, Default("main", start, 1), found)
    merged: list[None] = []
    pairs = list(between(room, found, brought, lambda: merged.append(None)))
    assert [(one.features, one.paths) for one in pairs] == [(("f10", "f11"), ("README.md",))]
    assert len(merged) == 1


def test_odd_names_and_a_file_in_the_way_are_named_as_they_are(room: Scratch) -> None:
    shown = ['sp ace/quo"te', "naïve\nline", "a~b"]
    base = dict.fromkeys(shown, "one\n")
    sides = [dict.fromkeys(shown, "two\n") | {"way": "file"}, dict.fromkeys(shown, "three\n") | {"way/in": "x"}]
    start, *tips = _commits_quoted(room, base, *sides)
    found = [Candidate(name, tip, 1) for name, tip in zip("ab", tips, strict=True)]
    brought, _ = against_default(room, Default("main", start, 1), found)
    (pair,) = between(room, found, brought)
    assert sorted(pair.paths) == sorted([*shown, "way"])


def _commits_quoted(room: Scratch, *trees: Files) -> list[str]:
    def quoted(path: str) -> str:
        return '"' + path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'

    base, *sides = [{quoted(path): text for path, text in files.items()} for files in trees]
    return _commits(room, base, *sides)


@pytest.mark.parametrize("where", [".gitattributes", "docs/.gitattributes"])
def test_files_that_the_project_lets_git_join_do_not_conflict(shop: Any, where: str) -> None:
    shop.write(shop.root, {where: "*.md merge=union\n", "docs/log.md": "start\n"})
    shop.git("add", "-A")
    shop.git("commit", "-q", "-m", "a log")
    shop.green("one", {"docs/log.md": "start\none\n"})
    shop.green("two", {"docs/log.md": "start\ntwo\n"})
    made = shop.union()
    assert made["ok"] and made["union"]["merged"] == ["one", "two"]


def test_attributes_that_a_feature_brings_count_for_those_after_it(shop: Any) -> None:
    shop.write(shop.root, {"log.md": "start\n"})
    shop.git("add", "-A")
    shop.git("commit", "-q", "-m", "a log")
    shop.green("attributes", {".gitattributes": "*.md merge=union\n"})
    shop.green("one", {"log.md": "start\none\n", "padding": "so that it comes later\n"})
    shop.green("two", {"log.md": "start\ntwo\n", "padding2": "and this\n"})
    made = shop.union()
    assert [one["features"] for one in made["conflicts"]] == [["one", "two"]]
    assert made["union"]["merged"] == ["attributes", "one", "two"]


def test_a_git_that_cannot_merge_beside_a_tree_is_named(
    shop: Any, refused: Callable[..., Refusal], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shop.green("one", {"one": "1\n"})
    real = subprocess.run(["which", "git"], capture_output=True, text=True, check=True).stdout.strip()
    old = tmp_path / "bin" / "git"
    old.parent.mkdir()
    old.write_text(
        '#!/bin/sh\nfor word in "$@"; do\n[ "$word" = merge-tree ] && { echo "usage: git merge-tree" >&2; exit 129; }\n'
        f'done\nexec "{real}" "$@"\n'
    )
    old.chmod(0o755)
    monkeypatch.setenv("PATH", f"{old.parent}:{__import__('os').environ['PATH']}")
    assert refused(lambda: shop.union()).code == "git-too-old"
