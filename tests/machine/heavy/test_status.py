from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from morph_tasks.machine.heavy import records
from morph_tasks.machine.heavy.ledger import Ledger
from morph_tasks.machine.heavy.settings import Settings
from morph_tasks.machine.heavy.status import status

HeldBy = Callable[..., Path]
Sleeper = Callable[[], subprocess.Popen[bytes]]


def test_holders_waiters_and_memory_are_told(
    settings: Settings, held_by: HeldBy, sleeper: Sleeper, free_memory: Callable[..., None]
) -> None:
    free_memory(2.5, 16)
    first, second = sleeper(), sleeper()
    held_by(first.pid, label="verify", feature="cart", node="tests/unit", cwd="/src/shop")
    held_by(second.pid, "queue", label="heavy run", waitS=600)
    found = status(settings)
    document = json.loads(json.dumps(found.as_json()))
    (holder,), (waiter,) = document["holders"], document["waiting"]
    assert (holder["pid"], holder["label"], holder["feature"], holder["node"], holder["cwd"]) == (
        first.pid, "verify", "cart", "tests/unit", "/src/shop",
    )  # fmt: skip
    assert holder["ageSec"] >= 0 and holder["since"]
    assert (waiter["pid"], waiter["position"], waiter["stopped"]) == (second.pid, 1, False)
    assert (document["freeGb"], document["totalGb"], document["neededGb"]) == (2.5, 16, 0)
    assert (document["slots"], document["enabled"], document["cleanup"]) == (2, True, None)
    text = "\n".join(found.lines())
    assert "1 of 2 heavy slots are held" in text
    assert f"pid {first.pid} verify cart tests/unit" in text and f"waiting 1: pid {second.pid} heavy run" in text


def test_looking_changes_nothing(settings: Settings, ledger: Ledger, held_by: HeldBy, sleeper: Sleeper) -> None:
    process = sleeper()
    for folder in ("held", "queue", "cleaning"):
        held_by(process.pid, folder, waitS=600)
    process.kill()
    process.wait()
    before = {path: path.stat().st_mtime_ns for path in settings.folder.rglob("*")}
    found = status(settings)
    assert (found.holders, found.waiting, found.cleaners) == ((), (), ())
    assert found.as_json()["stale"][0]["reason"] == "its process is gone"
    assert {path: path.stat().st_mtime_ns for path in settings.folder.rglob("*")} == before


def test_nothing_was_ever_held(settings: Settings) -> None:
    found = status(settings)
    assert found.holders == () and found.as_json()["ok"]
    assert not settings.folder.exists()


def test_a_clean_up_is_told(settings: Settings, held_by: HeldBy) -> None:
    held_by(os.getpid(), "cleaning", label="dotnet build-server shutdown")
    found = status(settings)
    assert found.as_json()["cleanup"]["pid"] == os.getpid()
    assert any("being shut down" in line for line in found.lines())


def test_what_is_switched_off_is_told(settings: Settings) -> None:
    assert "switched off" in status(replace(settings, enabled=False)).lines()[0]


def test_words_of_others_cannot_move_the_cursor(settings: Settings, held_by: HeldBy) -> None:
    held_by(os.getpid(), label="a\x1b[2Jb\nc\x9bd\udcff")
    (holder,) = status(settings).holders
    assert holder.text("label") == "a?[2Jb?c?d?"
    path = holder.path
    path.write_text(json.dumps({**json.loads(path.read_text()), "label": "x\x1b[2J\ny"}))
    assert all("\x1b" not in line and "\n" not in line for line in status(settings).lines())


def test_durations_read_well() -> None:
    assert [records.ago(seconds) for seconds in (5, 119, 240, 7300)] == ["5 s", "119 s", "4 min", "2.0 h"]
