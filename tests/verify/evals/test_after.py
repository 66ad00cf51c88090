from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.verify.evals.after import after, not_run, same_but_for_the_cache
from morph_tasks.verify.evals.before import NotReady
from morph_tasks.verify.evals.cache import digest

TOUCH_OLD = "import os, sys; p = os.environ['MORPH_EVAL_SUMMARY']; open(p, 'w').write('{\"scenarios\": 9}'); "


def test_a_warm_run_counts_its_scenarios_and_asks_nobody(warm: Any) -> None:
    said = warm.verify()
    assert (said["status"], said["reason"], said["count"]) == ("pass", None, 2)
    assert said["cache"] == {"state": "warm", "entries": 2, "added": 0, "changed": 0, "removed": 0, "dirty": []}
    assert said["warnings"] == [] and warm.asked() == []


def test_the_scenarios_of_the_plan_are_carried(warm: Any) -> None:
    tests = warm.verify()["tests"]
    assert [(one["name"], one["status"], one["scenarios"]) for one in tests] == [
        ("greeting (tiny-1)", "passed", ["C3"]),
        ("refusal (tiny-1)", "passed", ["C4"]),
    ]


def test_a_cold_cache_passes_and_names_what_to_commit(warm: Any) -> None:
    warm.prompts("greeting|C3|hello", "refusal|C4|never", "thanks|C5|thank you")
    said = warm.verify()
    assert said["status"] == "pass" and said["count"] == 3 and warm.asked() == ["thank you"]
    cache = said["cache"]
    assert (cache["state"], cache["entries"], cache["added"], cache["removed"]) == ("cold", 3, 1, 0)
    assert len(cache["dirty"]) == 1 and cache["dirty"][0].startswith("evals/cache/")
    assert cache["dirty"][0] in said["warnings"][0] and "commit evals/cache" in said["warnings"][0]
    warm.git("config", "status.showUntrackedFiles", "no")
    again = warm.verify()
    assert again["cache"]["state"] == "warm" and again["cache"]["dirty"] == cache["dirty"] and again["warnings"]
    warm.commit()
    assert warm.verify()["warnings"] == []


def test_an_answer_that_changed_under_us_is_a_cold_cache(warm: Any) -> None:
    ready = warm.ready()
    path = min(warm.cache.iterdir())
    path.write_text(path.read_text() + "\n")
    said = warm.run(ready)
    assert said["cache"]["state"] == "cold" and said["cache"]["changed"] == 1
    assert said["cache"]["dirty"] == [f"evals/cache/{path.name}"]


def test_a_provider_that_was_asked_without_a_trace_is_cold_too(warm: Any, writes: Any) -> None:
    for text in ('{"scenarios": 2, "calls": 3}', '{"scenarios": 2, "cache": "cold"}'):
        said = warm.verify(program=writes(text))
        assert said["cache"]["state"] == "cold" and "no answer was recorded" in said["warnings"][0]
    assert warm.verify(program=writes('{"scenarios": 2, "calls": 0}'))["cache"]["state"] == "warm"


def test_a_refresh_asks_for_every_answer_again(warm: Any) -> None:
    said = warm.verify(refresh=True)
    assert said["cache"]["state"] == "refreshed" and sorted(warm.asked()) == ["hello", "never"]
    assert said["cache"]["dirty"] == []  # the model said the same again


def test_answers_that_a_finished_refresh_no_longer_needs_are_gone(warm: Any) -> None:
    warm.prompts("greeting|C3|hello")
    said = warm.verify(refresh=True)
    assert (said["cache"]["entries"], said["cache"]["removed"]) == (1, 1) and "1 gone" in said["warnings"][0]
    assert len(list(warm.cache.iterdir())) == 1
    warm.git("restore", "--", "evals/cache")
    assert len(list(warm.cache.iterdir())) == 2


def test_a_refresh_that_was_killed_gives_the_answers_back(warm: Any) -> None:
    warm.prompts("greeting|C3|hello", "refusal|C4|never", "boom|C5|crash")
    (warm.root / "evals/prompts.txt").write_text("boom|C5|crash\ngreeting|C3|hello\n")
    said = warm.verify(refresh=True)
    assert (said["status"], said["reason"], said["count"]) == ("fail", "signal", None)
    assert len(list(warm.cache.iterdir())) == 2 and "put back" in said["warnings"][0]
    assert warm.git("status", "--porcelain", "evals/cache") == ""


def test_a_refresh_that_broke_off_by_itself_gives_the_answers_back(warm: Any) -> None:
    said = warm.verify(refresh=True, program="raise SystemExit('the provider said 429')")
    assert (said["status"], said["reason"]) == ("fail", "exit-code") and "429" in said["detail"][-1]
    assert len(list(warm.cache.iterdir())) == 2


def test_a_run_that_was_cut_off_is_not_finished_whatever_it_exits_with(warm: Any) -> None:
    ready = warm.ready(refresh=True)
    warm.summary.write_text('{"scenarios": 2}')
    after(warm.repo, ready, 0, warm.root / "none", cut_off=True)
    assert len(list(warm.cache.iterdir())) == 2


def test_failed_scenarios_are_listed(warm: Any) -> None:
    path = min(warm.cache.iterdir())
    path.write_text(path.read_text().replace('"answer": "', '"answer": "not '))
    said = warm.verify()
    assert (said["status"], said["reason"], said["count"]) == ("fail", "tests-failed", 2)
    assert len(said["detail"]) == 1 and said["detail"][0].endswith("(tiny-1)")
    assert sorted(one["status"] for one in said["tests"]) == ["failed", "passed"]


@pytest.mark.parametrize(
    "text",
    [
        "", "{", '{"scenarios": 24', '{"scenarios": NaN}', '{"scenarios": Infinity}', '{"scenarios": -1}',
        '{"scenarios": true}', '{"scenarios": "24"}', '{"scenarios": 1e400}', '{"scenarios": 2.5}', "[24]", "null",
        '{"scenarios": 99999999999999999999}', '{"scenarios": %s}' % ("9" * 5000), '{"scenarios": null}', "{}",
        '{"scenarios": [{"id": "a"}]}', '{"scenarios": 2, "scenarios": 9}', '{"scenarios": 2, "passed": 30}',
        '{"scenarios": 2, "failed": NaN}', '{"scenarios": 2, "failed": -1}', "[" * 100_000,
    ],
)  # fmt: skip
def test_a_summary_that_cannot_be_read_is_unknown_and_not_zero(warm: Any, writes: Any, text: str) -> None:
    said = warm.verify(program=writes(text))
    assert said["count"] is None and said["counts"] is None and said["tests"] == []
    assert said["status"] == "pass" and "unknown, not zero" in said["warnings"][-1]
    red = warm.verify(program=f"{writes(text)}; raise SystemExit(1)")
    assert (red["status"], red["reason"], red["count"]) == ("fail", "exit-code", None)


def test_no_summary_is_unknown(warm: Any) -> None:
    said = warm.verify(program="")
    assert (said["status"], said["count"]) == ("pass", None) and "wrote none" in said["warnings"][0]


def test_a_summary_of_an_earlier_run_is_never_read(warm: Any) -> None:
    warm.summary.write_text('{"scenarios": 24}')
    assert warm.verify(program="")["count"] is None
    old = f"{TOUCH_OLD} os.utime(p, (1, 1))"
    said = warm.verify(program=old)
    assert said["count"] is None and "older than this run" in said["warnings"][0]


@pytest.mark.parametrize("kind", ["link", "folder", "fifo", "parent"])
def test_a_summary_that_is_no_file_is_not_read(warm: Any, tmp_path: Path, kind: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "summary.json").write_text('{"scenarios": 24}')
    ready = warm.ready()
    if kind == "link":
        warm.summary.symlink_to(elsewhere / "summary.json")
    elif kind == "folder":
        warm.summary.mkdir()
    elif kind == "fifo":
        os.mkfifo(warm.summary)
    else:
        os.rename(warm.root / "evals", tmp_path / "moved")
        (warm.root / "evals").symlink_to(elsewhere)
    said = after(warm.repo, ready, 0, tmp_path / "none")
    assert said["count"] is None and said["status"] == "pass"


@pytest.mark.parametrize("text", ['{"scenarios": 0}', '{"scenarios": 0, "passed": 0, "failed": 0}'])
def test_a_run_of_nothing_is_red(warm: Any, writes: Any, text: str) -> None:
    said = warm.verify(program=writes(text))
    assert (said["status"], said["reason"], said["count"]) == ("fail", "eval-empty-run", 0)


def test_a_run_that_skipped_all_of_it_is_red(warm: Any, writes: Any) -> None:
    said = warm.verify(program=writes('{"scenarios": 4, "skipped": 4}'))
    assert (said["status"], said["reason"]) == ("fail", "eval-empty-run")


@pytest.mark.parametrize(
    ("summary", "code", "reason"),
    [
        ({"scenarios": 4, "passed": 3, "failed": 1}, 0, "inconsistent-exit"),
        ({"scenarios": 4, "results": [{"id": "a", "status": "failed"}]}, 0, "inconsistent-exit"),
        ({"scenarios": 4, "passed": 3, "failed": 1}, 1, "tests-failed"),
        ({"scenarios": 4, "passed": 4}, 1, "inconsistent-exit"),
        ({"scenarios": 4}, 2, "exit-code"),
        ({"scenarios": 4}, 127, "command-not-found"),
        ({"scenarios": 4}, 137, "signal"),
        ({"scenarios": 4}, -15, "signal"),
        ({"scenarios": 4}, None, "not-ended"),
    ],
)
def test_the_worse_of_exit_code_and_summary_wins(
    warm: Any, summary: dict[str, Any], code: int | None, reason: str
) -> None:
    ready = warm.ready()
    warm.summary.write_text(json.dumps(summary))
    said = after(warm.repo, ready, code, warm.root / "none")
    assert (said["status"], said["reason"], said["count"]) == ("fail", reason, 4)


def test_minimal_is_enough(warm: Any, writes: Any) -> None:
    said = warm.verify(program=writes('{"scenarios": 24}'))
    assert (said["status"], said["count"], said["named"], said["tests"]) == ("pass", 24, False, [])


def test_a_flaky_scenario_is_no_plain_pass(warm: Any, writes: Any) -> None:
    said = warm.verify(program=writes('{"scenarios": 1, "results": [{"id": "a", "status": "flaky"}]}'))
    assert (said["status"], said["reason"]) == ("flaky", "flaky-in-runner")


def test_a_command_that_was_not_started_is_red_and_says_the_way_out() -> None:
    said = not_run(NotReady("eval-key-missing", "KEY is not set", "export KEY=…"))
    assert said["status"] == "fail" and said["reason"] == "eval-key-missing" and said["count"] is None
    assert "export KEY" in said["message"]


def test_recorded_answers_have_one_digest_committed_or_not(warm: Any) -> None:
    first = digest(warm.repo, "evals/cache")
    (warm.cache / "x.json").write_text("{}")
    second = digest(warm.repo, "evals/cache")
    warm.commit()
    assert first != second == digest(warm.repo, "evals/cache")
    (warm.cache / "lock.tmp").write_text("git ignores this")
    (warm.cache / ".gitkeep").write_text("")
    assert digest(warm.repo, "evals/cache") == second
    (warm.cache / "x.json").rename(warm.cache / "y.json")
    assert digest(warm.repo, "evals/cache") != second


def test_manifests_are_compared_without_the_cache() -> None:
    assert same_but_for_the_cache({"inputs": 1, "cache": "a"}, {"inputs": 1, "cache": "b"})
    assert not same_but_for_the_cache({"inputs": 1, "cache": "a"}, {"inputs": 2, "cache": "a"})
