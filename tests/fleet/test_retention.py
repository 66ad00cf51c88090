from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from morph_tasks.errors import Refusal
from morph_tasks.fleet import backups, retention
from morph_tasks.fleet.retention import Rules, forecast, prune, resolve
from tests.fleet.linked import Linked, snapshot


def stamp(days: float, *, step: int = 0) -> str:
    at = datetime.now(UTC) - timedelta(days=days) + timedelta(microseconds=step)
    return at.strftime("%Y%m%dT%H%M%S%f") + "Z"


def make(
    linked: Linked,
    days: float,
    *,
    name: str = "cart",
    namespace: str = "",
    suffixes: tuple[str, ...] = ("worktree-ignored",),
    secret: bool = False,
    legacy: bool = False,
    step: int = 0,
) -> list[Path]:
    """Make a backup of so many days ago, of one folder or more."""
    made = []
    mark = stamp(days, step=step)
    for suffix in suffixes:
        place = backups.folder(linked.repo, name, mark, namespace, suffix)
        place.mkdir(parents=True)
        (place / "a.db").write_text("x")
        names = ["a.db"]
        if secret:
            (place / "in").mkdir()
            (place / "in/.env.e2e").write_text("KEY=1")
            names.append("in/.env.e2e")
        told = {"version": 1, "files": [{"path": one} for one in names], "secrets": names[1:]}
        if not legacy:
            backups.manifest_of(place).write_text(json.dumps(told))
        made.append(place)
    return made


def told(path: Path) -> Any:
    return json.loads(backups.manifest_of(path).read_text())


def test_the_newest_stay_whatever_their_age(linked: Linked) -> None:
    made = [make(linked, 400 + count)[0] for count in range(23)]
    found = prune(linked.repo)
    assert found == {"removed": 3, "removedSample": [one.name for one in made[20:]]}
    assert [one.exists() for one in made] == [True] * 20 + [False] * 3
    assert [backups.manifest_of(one).exists() for one in made] == [True] * 20 + [False] * 3
    assert prune(linked.repo) is None


def test_the_folders_of_one_finish_are_one_backup(linked: Linked) -> None:
    made = [make(linked, 10 + count, suffixes=("feature", "", "worktree-ignored")) for count in range(21)]
    found = prune(linked.repo)
    assert found == {"removed": 1, "removedSample": [sorted(one.name for one in made[-1])[0]]}
    assert all(one.exists() for group in made[:20] for one in group)
    assert not any(one.exists() for one in made[-1])


def test_each_namespace_has_a_budget_of_its_own(linked: Linked) -> None:
    root = make(linked, 100)[0]
    tasks = [make(linked, count, namespace="task", name=f"agent-{count}")[0] for count in range(1, 23)]
    assert prune(linked.repo) == {"removed": 2, "removedSample": [tasks[20].name, tasks[21].name]}
    assert root.exists()


def test_credentials_go_after_a_week(linked: Linked) -> None:
    old, young = make(linked, 7.5, secret=True)[0], make(linked, 6.5, secret=True)[0]
    assert prune(linked.repo) == {"secretsStripped": 1}
    assert not (old / "in/.env.e2e").exists() and (young / "in/.env.e2e").exists() and (old / "a.db").exists()
    assert told(old)["secrets"] == ["in/.env.e2e"] and told(old)["secretsStrippedAt"].endswith("Z")
    assert "secretsStrippedAt" not in told(young)
    before = told(old)
    assert prune(linked.repo) is None and told(old) == before


def test_credentials_that_a_killed_run_removed_are_noted_by_the_next(linked: Linked) -> None:
    (old,) = make(linked, 8, secret=True)
    (old / "in/.env.e2e").unlink()
    prune(linked.repo)
    assert told(old)["secretsStrippedAt"]


def test_what_has_no_manifest_is_never_touched(linked: Linked) -> None:
    legacy = [make(linked, 500 + count, legacy=True, secret=True)[0] for count in range(30)]
    other = linked.store / "finish-backup/cart-2025-01-02T03-04-05-678Z"
    other.mkdir()
    before = snapshot(linked.store / "finish-backup")
    made = [make(linked, 600 + count)[0] for count in range(20)]
    found = prune(linked.repo)
    assert found and found["legacyPending"] == 31 and "31 backups have no manifest" in found["legacyHint"]
    assert all(one.exists() for one in (*made, *legacy))
    after = snapshot(linked.store / "finish-backup")
    assert {name: after[name] for name in before} == before


def test_the_own_stamp_is_protected_and_the_future_takes_no_place(linked: Linked) -> None:
    linked.write(".morph/config/config.json", '{"finishBackup": {"retention": {"maxCount": 1}}}', main=True)
    future = make(linked, -3, secret=True)[0]
    newest, own, old = (make(linked, days)[0] for days in (1, 2, 3))
    mark = own.name.split("-")[1]
    assert prune(linked.repo, protect=mark) == {"removed": 1, "removedSample": [old.name]}
    assert future.exists() and (future / "in/.env.e2e").exists() and newest.exists() and own.exists()
    assert prune(linked.repo) == {"removed": 1, "removedSample": [own.name]}


def test_age_counts_when_it_is_asked_for(linked: Linked) -> None:
    linked.write(".morph/config/config.json", '{"finishBackup": {"retention": {"maxAgeDays": 30}}}', main=True)
    young, old = make(linked, 29)[0], make(linked, 31)[0]
    assert prune(linked.repo) == {"removed": 1, "removedSample": [old.name]}
    assert young.exists()


ODD: list[tuple[str, str]] = [
    ('{"finishBackup": {"enabled": false}}', "enabled"),
    ('{"finishBackup": {"retention": {"enabled": false}}}', "enabled"),
    ('{"finishBackup": {"retention": "false"}}', "neither an object nor false"),
    ('{"finishBackup": {"retention": null}}', "neither an object nor false"),
    ('{"finishBackup": {"retention": true}}', "neither an object nor false"),
    ('{"finishBackup": {"retention": 0}}', "neither an object nor false"),
    ('{"finishBackup": {"retention": {"maxCount": 0}}}', "maxCount"),
    ('{"finishBackup": {"retention": {"maxCount": true}}}', "maxCount"),
    ('{"finishBackup": {"retention": {"maxCount": "20"}}}', "maxCount"),
    ('{"finishBackup": {"retention": {"maxCount": 20.5}}}', "maxCount"),
    ('{"finishBackup": {"retention": {"maxCount": null}}}', "maxCount"),
    ('{"finishBackup": {"retention": {"secretMaxAgeDays": null}}}', "secretMaxAgeDays"),
    ('{"finishBackup": {"retention": {"maxAgeDays": -1}}}', "maxAgeDays"),
    ('{"finishBackup": []}', "not an object"),
    ('{"finishBackup": null}', "not an object"),
    ('{"finishBackup": false}', "not an object"),
    ("[]", "not an object"),
    ("{", "cannot be read"),
    ("", "cannot be read"),
    ('{"finishBackup": {}, "finishBackup": {}}', "twice"),
]


@pytest.mark.parametrize(("text", "why"), ODD)
def test_a_setting_that_cannot_be_read_skips_the_pruning(linked: Linked, text: str, why: str) -> None:
    for count in range(22):
        make(linked, 50 + count, secret=True)
    linked.write(".morph/config/config.json", text, main=True)
    before = snapshot(linked.store / "finish-backup")
    for found in (prune(linked.repo), forecast(linked.repo)):
        assert found and set(found) == {"skipped"} and why in found["skipped"]
    assert snapshot(linked.store / "finish-backup") == before


def test_it_can_be_turned_off(linked: Linked) -> None:
    linked.write(".morph/config/config.json", '{"finishBackup": {"retention": false}}', main=True)
    for count in range(22):
        make(linked, 50 + count, secret=True)
    before = snapshot(linked.store / "finish-backup")
    assert prune(linked.repo) is None and forecast(linked.repo) is None
    assert snapshot(linked.store / "finish-backup") == before


@pytest.mark.parametrize("block", [{}, {"finishBackup": {}}, {"finishBackup": {"retention": {}}}, {"other": 1}])
def test_only_the_absence_means_the_default(block: dict[str, Any]) -> None:
    assert resolve(block) == Rules(20, None, 7)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["maxCount", "maxAgeDays", "secretMaxAgeDays", "retention", "x"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)


@given(JSON)
def test_whatever_stands_there_is_rules_or_off_or_a_reason(value: Any) -> None:
    try:
        rules = resolve({"finishBackup": value})
    except ValueError as error:
        assert "finishBackup" in str(error)
        return
    assert isinstance(value, dict) and set(value) <= {"retention"}
    if rules is None:
        assert value["retention"] is False
        return
    said = value.get("retention", {})
    for key, found in (("maxCount", rules.max_count), ("maxAgeDays", rules.max_age)):
        assert found == said.get(key, 20 if key == "maxCount" else None)


def outside(tmp_path: Path) -> Path:
    place = tmp_path / "outside"
    place.mkdir()
    (place / ".env").write_text("KEY=1")
    (place / "a").write_text("keep")
    return place


def test_a_link_in_a_backup(linked: Linked, tmp_path: Path) -> None:
    other = outside(tmp_path)
    for count in range(20):
        make(linked, count + 1)
    (old,) = make(linked, 30, secret=True)
    (old / "ln").symlink_to(other)
    (old / ".env.link").symlink_to(other / ".env")
    found = prune(linked.repo)
    assert found and found["declined"] == 1 and "link" in found["declinedSample"][0]["reason"]
    assert found["secretsStripped"] == 2 and "removed" not in found
    assert (old / "ln").is_symlink() and (old / "a.db").exists() and not (old / "in/.env.e2e").exists()
    assert sorted(os.listdir(other)) == [".env", "a"] and told(old)["secretsStrippedAt"]


def test_links_in_place_of_folders_are_not_entered(linked: Linked, tmp_path: Path) -> None:
    other = outside(tmp_path)
    top = linked.store / "finish-backup"
    for count in range(25):
        (place,) = make(linked, 50 + count, namespace="task")
    (top / "task").rename(tmp_path / "task")
    (top / "task").symlink_to(tmp_path / "task")
    (top / f"cart-{stamp(900)}").symlink_to(other)
    before = snapshot(tmp_path / "task"), snapshot(other)
    assert prune(linked.repo) is None
    assert (snapshot(tmp_path / "task"), snapshot(other)) == before and place


def test_other_folders_are_never_visited(linked: Linked) -> None:
    for count in range(21):
        make(linked, 50 + count)
    top = linked.store / "finish-backup"
    for name in ("mine", "empty", "other/cart-20200101T000000000000Z", ".hidden"):
        (top / name).mkdir(parents=True)
    (top / "mine/.env").write_text("KEY=1")
    (top / "other/.env").write_text("KEY=1")
    found = prune(linked.repo)
    assert found and found["removed"] == 1
    assert (top / "mine/.env").exists() and (top / "empty").exists() and (top / "other/.env").exists()
    assert (top / "other/cart-20200101T000000000000Z").exists() and (top / ".hidden").exists()


@pytest.mark.parametrize("text", ["{", "[]", ""])
def test_a_manifest_that_cannot_be_read(linked: Linked, text: str) -> None:
    for count in range(20):
        make(linked, 50 + count)
    (old,) = make(linked, 90, secret=True)
    backups.manifest_of(old).write_text(text)
    found = prune(linked.repo)
    assert found and found["declined"] == 1 and (old / "in/.env.e2e").exists()


def test_a_pruning_that_fails_is_told_and_raises_nothing(linked: Linked, monkeypatch: pytest.MonkeyPatch) -> None:
    for count in range(21):
        make(linked, 50 + count)

    def fail(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(retention, "delete", fail)
    found = prune(linked.repo)
    assert found and found["declined"] == 1 and found["declinedSample"][0]["reason"] == "Permission denied"

    def burst(*_: object) -> None:
        raise Refusal("busy", "in use")

    monkeypatch.setattr(retention, "_prune_one", burst)
    assert prune(linked.repo) == {"skipped": "the pruning failed: in use"}


def test_a_killed_pruning_is_cleaned_up(linked: Linked, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[Callable[..., None]] = [os.unlink]
    made = [make(linked, 50 + count)[0] for count in range(21)]

    def stop(path: Path, **_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "unlink", stop)
    with pytest.raises(KeyboardInterrupt):
        prune(linked.repo)
    monkeypatch.setattr(os, "unlink", steps[0])
    assert not made[-1].exists()
    assert prune(linked.repo) is None
    left = set(os.listdir(linked.store / "finish-backup"))
    assert left == {name for one in made[:20] for name in (one.name, f"{one.name}.manifest.json")}


def test_the_forecast_deletes_nothing(linked: Linked) -> None:
    for count in range(22):
        make(linked, 50 + count, secret=count == 3)
    make(linked, 900, legacy=True)
    before = snapshot(linked.store / "finish-backup")
    expected = {"outsideRetention": 2, "overdueSecrets": 1, "legacyPending": 1}
    assert forecast(linked.repo) == expected
    assert forecast(linked.repo, coming="") == {**expected, "outsideRetention": 3}
    assert forecast(linked.repo, coming="task") == expected
    assert snapshot(linked.store / "finish-backup") == before
    assert prune(linked.repo) and forecast(linked.repo) == {"legacyPending": 1}


def test_no_backups_at_all(linked: Linked) -> None:
    assert prune(linked.repo) is None and forecast(linked.repo) is None
