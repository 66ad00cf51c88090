"""Whether a graph is that of HEAD and of the rules, and the reason when it is not."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from morph_tasks.codegraph import freshness as module
from morph_tasks.codegraph import record
from morph_tasks.codegraph.freshness import _stamp_in, freshness
from morph_tasks.codegraph.ignore_rules import NAME
from morph_tasks.codegraph.layout import graph_file
from morph_tasks.repo.git import open_repo
from tests.conftest import Project


def judged(project: Project) -> tuple[str, str | None]:
    found = freshness(open_repo(project.root))
    return found.state, found.reason


def test_no_graph_is_a_state(code: Project) -> None:
    assert judged(code) == ("no-graph", "absent")


def test_a_graph_is_fresh_until_head_moves(graphed: Project) -> None:
    assert judged(graphed) == ("fresh", None)
    graphed.write("shop/more.py", "def more(): return 2\n")
    assert judged(graphed) == ("fresh", None)  # what is not committed is nobody's HEAD
    graphed.commit()
    assert judged(graphed) == ("stale", "old-stamp")


def test_a_commit_of_the_features_folder_alone_or_of_nothing_moves_no_code(
    graphed: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    graphed.write(".morph/features/cart/feature.json", "{}")
    graphed.commit("begin")
    graphed.git("commit", "-q", "--allow-empty", "-m", "nothing")
    found = freshness(open_repo(graphed.root))
    assert found.state == "fresh" and found.detail.startswith("nothing but .morph/ changed since ")

    def asked(*_: object) -> None:
        raise AssertionError("git was asked again")

    monkeypatch.setattr("morph_tasks.codegraph.same_code._ask", asked)
    assert judged(graphed) == ("fresh", None)
    monkeypatch.undo()
    graphed.write("README", "words\n")
    graphed.commit()
    assert judged(graphed) == ("stale", "old-stamp")


def test_a_run_that_left_the_stamp_counts_for_the_commit_it_ran_at(graphed: Project) -> None:
    graphed.write("notes.txt", "no code\n")
    graphed.commit()
    before = graph_file(graphed.root).read_bytes()
    assert graphed.morph("graph", "refresh").code == 0
    assert graph_file(graphed.root).read_bytes() == before  # graphify did not write the commit anew
    assert json.loads(before)["built_at_commit"] != graphed.git("rev-parse", "HEAD")
    assert judged(graphed) == ("fresh", None)


@pytest.mark.parametrize("text", ["# a word\n{}", "\ufeff{}", "{}\n\n"])
def test_words_and_line_ends_change_no_rule(graphed: Project, text: str) -> None:
    old = (graphed.root / NAME).read_text("utf-8")
    (graphed.root / NAME).write_bytes(text.format(old).replace("\n", "\r\n").encode())
    assert judged(graphed) == ("fresh", None)


def test_another_rule_makes_it_old_and_going_back_does_not(graphed: Project) -> None:
    old = (graphed.root / NAME).read_text("utf-8")
    graphed.write(NAME, old + "/gone/\n")
    assert judged(graphed) == ("stale", "ignore-changed")
    graphed.write(NAME, old)
    os.utime(graphed.root / NAME, (1, 1))
    assert judged(graphed) == ("fresh", None)


def test_a_graph_that_was_made_by_hand_has_unknown_rules(graphed: Project) -> None:
    about = graph_file(graphed.root).stat()
    os.utime(graph_file(graphed.root), ns=(about.st_atime_ns, about.st_mtime_ns + 1))
    assert judged(graphed) == ("stale", "old-stamp")  # the last refresh wrote no stamp, so only the record knew
    graphed.git("reset", "-q", "--hard", "HEAD~1")
    shutil.copy(graph_file(graphed.root), graphed.root / NAME)
    assert judged(graphed) == ("stale", "rules-unknown")


@pytest.mark.parametrize("record", [b"", b"{", b"[]", b'{"version": 9}', b'{"version": 1, "current": 7}', b"\xff\xfe"])
def test_a_broken_record_is_no_record(graphed: Project, record: bytes) -> None:
    (graphed.root / ".git/morph-spec/graph-refresh-state.json").write_bytes(record)
    state, reason = judged(graphed)
    assert state == "stale" and reason in ("old-stamp", "rules-unknown")
    assert graphed.morph("graph", "refresh").code == 0
    assert judged(graphed) == ("fresh", None)


@given(
    st.binary(max_size=60)
    | st.recursive(st.none() | st.text() | st.integers(), st.lists).map(json.dumps).map(str.encode)
)
def test_no_record_is_a_fault(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    git_dir = tmp_path_factory.getbasetemp() / "record-of-anything"
    (git_dir / "morph-spec").mkdir(parents=True, exist_ok=True)
    (git_dir / "morph-spec/graph-refresh-state.json").write_bytes(data)
    assert set(record.read(str(git_dir))) == {"current", "last"}


HEX = st.text("0123456789abcdef", min_size=40, max_size=40)
LABELS = st.text(max_size=12) | st.just('"built_at_commit":"x"')


@given(HEX, LABELS, st.sampled_from([None, 2]), st.booleans())
def test_the_stamp_is_the_key_and_never_a_label(commit: str, label: str, indent: int | None, stamped: bool) -> None:
    graph = {"nodes": [{"label": label}], **({"built_at_commit": commit} if stamped else {})}
    assert _stamp_in(json.dumps(graph, indent=indent).encode()) == (commit if stamped else None)


def test_a_stamp_that_is_not_at_the_end_is_found(tmp_path: Path) -> None:
    graph = {"built_at_commit": "a" * 40, "nodes": [{"label": "x" * 9000}]}
    graph_file(tmp_path).parent.mkdir()
    graph_file(tmp_path).write_text(json.dumps(graph))
    assert module.stamp_of(str(tmp_path)) == "a" * 40


def test_a_repository_without_a_commit(tmp_path: Path) -> None:
    made = Project(tmp_path / "new")
    made.root.mkdir()
    made.git("init", "-q", "-b", "main")
    made.write("a.py", "def f(): return 1\n")
    assert made.morph("graph", "build").code == 0
    assert judged(made) == ("fresh", None)
    made.commit()
    assert judged(made) == ("stale", "old-stamp")
