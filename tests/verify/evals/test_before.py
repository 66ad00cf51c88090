from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.repo.git import open_repo
from morph_tasks.verify.evals.before import NotReady, again, before
from morph_tasks.verify.evals.refresh import aside

SETTINGS_KEY = "MODEL_KEY"


@pytest.mark.parametrize("value", ["", "   ", None])
def test_a_missing_key_stops_before_anything_is_paid(warm: Any, value: str | None) -> None:
    warm.summary.write_text('{"scenarios": 24}')
    environ = {} if value is None else {SETTINGS_KEY: value}
    found = before(warm.repo, "prompts", warm.ready().declared, refresh=False, environ=environ)
    assert isinstance(found, NotReady)
    assert found.code == "eval-key-missing" and SETTINGS_KEY in found.what and SETTINGS_KEY in found.fix
    assert warm.asked() == []


def test_every_missing_key_is_named_and_no_value_is(warm: Any) -> None:
    declared = type(warm.ready().declared)("evals/s.json", "evals/cache", ("ONE", "TWO", "THREE"))
    found = before(warm.repo, "p", declared, refresh=False, environ={"TWO": "hush"})
    assert isinstance(found, NotReady)
    assert "ONE, THREE" in found.what and "TWO" not in found.what and "hush" not in found.what


@pytest.mark.parametrize("made", ["absent", "empty", "gitkeep", "readme", "ignored", "link"])
def test_an_empty_cache_stops_before_anything_is_paid(suite: Any, made: str) -> None:
    if made != "absent":
        suite.cache.mkdir()
    names = {"gitkeep": ".gitkeep", "readme": "README.md", "ignored": "x.tmp"}
    if made in names:
        (suite.cache / names[made]).write_text("x")
    if made == "link":
        (suite.cache / "a.json").symlink_to("../prompts.txt")
    suite.summary.write_text("old")
    found = suite.before()
    assert isinstance(found, NotReady) and found.code == "eval-cache-missing"
    assert "--refresh-cache" in found.fix
    assert suite.summary.read_text() == "old" and suite.asked() == []


def test_a_cache_that_only_the_commit_has_is_to_be_restored(warm: Any) -> None:
    for path in warm.cache.iterdir():
        path.unlink()
    found = warm.before()
    assert isinstance(found, NotReady) and found.fix == "git restore -- evals/cache"


def test_both_missing_is_one_failure_that_says_both(suite: Any) -> None:
    found = suite.before(MODEL_KEY="")
    assert isinstance(found, NotReady) and found.code == "eval-key-missing"
    assert "evals/cache" in found.what and "--refresh-cache" in found.fix


def test_only_the_summary_is_removed(warm: Any) -> None:
    warm.summary.write_text("old")
    (warm.root / "evals/summary.json.bak").write_text("mine")
    warm.ready()
    assert not warm.summary.exists() and (warm.root / "evals/summary.json.bak").exists()


@pytest.mark.parametrize("kind", ["folder", "link", "link-out", "parent-link"])
def test_a_summary_that_is_no_plain_file_is_refused(warm: Any, tmp_path: Path, kind: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "summary.json").write_text("theirs")
    declared = warm.ready().declared
    if kind == "folder":
        warm.summary.mkdir()
        (warm.summary / "mine").write_text("x")
    elif kind == "link":
        warm.summary.symlink_to("prompts.txt")
    elif kind == "link-out":
        warm.summary.symlink_to(outside / "summary.json")
    else:
        (warm.root / "out").symlink_to(outside)
        declared = type(declared)("out/summary.json", "evals/cache")
    found = before(warm.repo, "prompts", declared, refresh=False, environ={"MODEL_KEY": "k"})
    assert isinstance(found, NotReady) and found.code == "eval-summary-unsafe"
    assert (outside / "summary.json").read_text() == "theirs" and (warm.root / "evals/prompts.txt").exists()
    assert kind != "folder" or (warm.summary / "mine").exists()


@pytest.mark.parametrize("refresh", [False, True])
def test_a_cache_that_is_a_link_is_refused(warm: Any, tmp_path: Path, refresh: bool) -> None:
    real = tmp_path / "real"
    os.rename(warm.cache, real)
    warm.cache.symlink_to(real)
    found = warm.before(refresh=refresh)
    assert isinstance(found, NotReady) and found.code == "eval-cache-unsafe"
    assert len(list(real.iterdir())) == 2


def test_the_command_is_told_where_its_files_are(warm: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MORPH_EVAL_REFRESH", "1")
    assert dict(warm.ready().env) == {
        "MORPH_EVAL_SUMMARY": str(warm.summary),
        "MORPH_EVAL_CACHE": str(warm.cache),
        "MORPH_EVAL_REFRESH": "",
    }
    assert warm.ready(refresh=True).env["MORPH_EVAL_REFRESH"] == "1"


def test_a_refresh_takes_committed_answers_away_and_keeps_the_others(warm: Any) -> None:
    first, second = sorted(warm.cache.iterdir())
    first.write_text("edited, no commit has this")
    (warm.cache / "new.json").write_text("untracked")
    ready = warm.ready(refresh=True)
    assert ready.aside == (f"evals/cache/{second.name}",)
    assert sorted(warm.cache.iterdir()) == sorted([first, warm.cache / "new.json"])
    assert first.name in ready.warnings[0] and "new.json" in ready.warnings[0]


@pytest.mark.parametrize("bit", ["--assume-unchanged", "--skip-worktree"])
def test_a_change_that_the_index_hides_is_no_committed_answer(warm: Any, bit: str) -> None:
    path = min(warm.cache.iterdir())
    warm.git("update-index", bit, f"evals/cache/{path.name}")
    path.write_text("hidden edit")
    assert f"evals/cache/{path.name}" not in warm.ready(refresh=True).aside
    assert path.read_text() == "hidden edit"


def test_a_refresh_that_was_cut_off_comes_back_with_the_next_verify(warm: Any) -> None:
    kept = {path.name: path.read_bytes() for path in warm.cache.iterdir()}
    warm.ready(refresh=True)
    assert not list(warm.cache.iterdir())
    ready = warm.ready()
    assert {path.name: path.read_bytes() for path in warm.cache.iterdir()} == kept
    assert "cut off" in ready.warnings[0] and warm.git("status", "--porcelain") == ""
    assert not aside(warm.repo, "prompts").exists()


def test_what_was_written_anew_is_not_overwritten_by_what_comes_back(warm: Any) -> None:
    path = min(warm.cache.iterdir())
    warm.ready(refresh=True)
    path.write_text("a new answer")
    warm.ready()
    assert path.read_text() == "a new answer" and len(list(warm.cache.iterdir())) == 2


def test_what_cannot_come_back_yet_is_not_lost(warm: Any) -> None:
    kept = {path.name: path.read_bytes() for path in warm.cache.iterdir()}
    warm.ready(refresh=True)
    warm.cache.rmdir()
    warm.cache.write_text("in the way")
    assert isinstance(warm.before(), NotReady)
    warm.cache.unlink()
    warm.ready()
    assert {path.name: path.read_bytes() for path in warm.cache.iterdir()} == kept


def test_before_the_first_commit_nothing_is_taken_away(tmp_path: Path) -> None:
    from morph_tasks.proc import run
    from morph_tasks.verify.evals.declared import Evals

    run(["git", "init", "-q", str(tmp_path / "p")])
    repo = open_repo(tmp_path / "p")
    (repo.root / "cache").mkdir()
    (repo.root / "cache/a.json").write_text("{}")
    found = before(repo, "p", Evals("s.json", "cache"), refresh=True, environ={})
    assert not isinstance(found, NotReady) and found.aside == () and (repo.root / "cache/a.json").exists()


def test_one_more_attempt_does_not_refresh_again(warm: Any) -> None:
    ready = warm.ready(refresh=True)
    first = warm.run(ready)
    assert first["cache"]["state"] == "refreshed" and len(warm.asked()) == 2
    more = again(warm.repo, ready)
    assert not isinstance(more, NotReady) and not warm.summary.exists()
    second = warm.run(more)
    assert second["status"] == "pass" and second["cache"]["state"] == "refreshed" and len(warm.asked()) == 2
