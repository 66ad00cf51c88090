"""`fleet --union` as it is typed: real suites, the exit codes, and a repository that is the same afterwards."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests import faults
from tests.conftest import BIN
from tests.fleet.union.conftest import MOVES, NEEDS


def _union(shop: Any, *args: str, **env: str) -> Any:
    return shop.project.morph("fleet", "--union", *args, **env)


def _snapshot(shop: Any) -> dict[str, Any]:
    """Return all that is the user's: every file of every tree and of git's folder, and what git says of them."""
    shop.git("status", "--porcelain")  # so that the index is as fresh before as after
    files = {}
    for top in sorted(path for path in shop.root.parent.iterdir() if path.is_dir()):
        for path in sorted(top.rglob("*")):
            name = str(path.relative_to(shop.root.parent))
            if "/.git/morph-spec/" in name or "/morph-spec/" in name.partition("/.git/worktrees/")[2]:
                continue  # evidence and fingerprints, ours
            if path.is_file() and not path.is_symlink():
                files[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    said = [shop.git(*words) for words in (["for-each-ref"], ["worktree", "list", "--porcelain"], ["stash", "list"])]
    return {"files": files, "said": said, "ports": (shop.root / ".git/morph-spec/ports.json").exists()}


def _left(shop: Any) -> list[str]:
    return [str(path) for path in Path.home().glob(".cache/morph-spec/union/*/run-*")]


def _is_gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@pytest.fixture
def pytest_shop(shop: Any) -> Any:
    """The shop with a suite that is really pytest, and its tests."""
    shop.project.config(
        project={"build": [], "tests": [{"id": "unit", "command": f"{sys.executable} -m pytest -q tests"}]}
    )
    cart = "def total(prices):\n    return sum(prices)\n"
    test = "from cart import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
    shop.write(shop.root, {"cart.py": cart, "tests/test_cart.py": test, "CHANGES": "start\n"})
    shop.write(shop.root, {"pyproject.toml": "[tool.pytest.ini_options]\npythonpath = '.'\n"})
    shop.project.commit("pytest")
    renamed = {
        "cart.py": cart.replace("total", "sum_up"),
        "tests/test_cart.py": test.replace("import total", "import sum_up").replace("assert total", "assert sum_up"),
    }
    report = "from cart import total\n\n\ndef test_report():\n    assert f'{total([1])} cents' == '1 cents'\n"
    features = {
        "rename": renamed, "report": {"tests/test_report.py": report},
        "notes": {"CHANGES": "start\nnotes\n"}, "more-notes": {"CHANGES": "start\nmore\n"},
    }  # fmt: skip
    for name, files in features.items():
        tree = shop.begin(name, files)
        assert shop.project.verify(name, cwd=tree)["status"] == "pass"
    return shop


def test_the_story_of_four_features(pytest_shop: Any) -> None:
    before = _snapshot(pytest_shop)
    said = _union(pytest_shop)
    assert said.code == 1 and "conflict  more-notes × notes: CHANGES" in said.out
    said = _union(pytest_shop, "--verify", "--json")
    made = said.json
    assert said.code == 1 and not made["ok"]
    assert [one["feature"] for one in made["order"]] == ["report", "rename", "more-notes", "notes"]
    assert made["union"]["merged"] == ["report", "rename", "more-notes"]
    assert sorted(made["verify"]["guilty"]) == ["rename", "report"]
    (red,) = made["verify"]["red"]
    assert red["node"] == "tests/unit" and any("cannot import name 'total'" in line for line in red["tail"])
    said = _union(pytest_shop, "--verify")
    assert said.code == 1 and "guilty: report, rename" in said.out and "measuring main" in said.err
    assert _snapshot(pytest_shop) == before and _left(pytest_shop) == []
    # Repaired on the branch, proved again, and green together; the conflict is one of the other two only.
    for name in ("rename", "more-notes"):
        pytest_shop.git("worktree", "remove", "--force", str(pytest_shop.tree(name)))
        pytest_shop.git("branch", "-D", f"morph/{name}")
    said = _union(pytest_shop, "--verify", "--json")
    assert said.code == 0 and said.json["ok"] and said.json["verify"]["status"] == "pass"
    again = _union(pytest_shop, "--verify", "--json").json
    assert (again["verify"]["measured"], again["union"]) == (0, said.json["union"])


def test_verify_needs_union_and_so_the_command_is_typed_right(shop: Any) -> None:
    said = shop.project.morph("fleet", "--verify")
    assert said.code == 2


def test_twelve_features_cost_few_processes(shop: Any, tmp_path: Path) -> None:
    for at in range(12):
        shop.green(f"f{at:02}", {f"src/{at}/file": "x\n", "checks/same.sh": "true\n"})
    log, real = tmp_path / "log", subprocess.run(["which", "git"], capture_output=True, text=True).stdout.strip()
    wrapper = tmp_path / "bin" / "git"
    wrapper.parent.mkdir()
    wrapper.write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$*" | tr "\\n" " " >> "{log}"\necho >> "{log}"\nexec "{real}" "$@"\n'
    )
    wrapper.chmod(0o755)
    said = _union(shop, "--json", PATH=f"{wrapper.parent}:{os.environ['PATH']}")
    assert said.code == 0 and len(said.json["union"]["merged"]) == 12
    asked = log.read_text().splitlines()
    # Each with the default branch and each into the union: none of the 66 pairs.
    assert sum(" merge-tree " in line for line in asked) == 23
    assert sum(" status " in line for line in asked) == 12
    assert len(asked) <= 12 * 6 + 30


def test_a_run_that_is_killed_anywhere_leaves_the_repository_as_it_was(shop: Any, tmp_path: Path) -> None:
    shop.green("moves", MOVES)
    shop.green("needs", NEEDS)
    before = _snapshot(shop)
    words = ["fleet", "--union", "--verify", "--json"]
    code, changes, said = faults.changes_of(words, shop.root, counter=tmp_path / "counter")
    assert code == 1 and '"guilty"' in said and _snapshot(shop) == before
    killed = 0
    # What was measured before is reused later: the last moments may not come.
    for number in range(3, changes, max(1, changes // 9)):
        killed += faults.killed_at(number, words, shop.root, group=number % 2 == 0)
        assert _snapshot(shop) == before, number
    assert killed >= 5
    done = _union(shop, "--verify", "--json")
    assert sorted(done.json["verify"]["guilty"]) == ["moves", "needs"]
    assert _snapshot(shop) == before and _left(shop) == []


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_suite_and_removes_the_scratch_tree(
    shop: Any, tmp_path: Path, number: int, code: int
) -> None:
    started = tmp_path / "started"
    shop.green("slow", {"checks/slow.sh": f'echo $$ > "{started}"\nsleep 300\n'})
    before = _snapshot(shop)
    argv = [str(BIN / "morph-spec"), "fleet", "--union", "--verify"]
    running = subprocess.Popen(argv, cwd=shop.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while not started.exists() or not started.read_text().strip():
        assert running.poll() is None
        time.sleep(0.02)
    running.send_signal(number)
    out, err = running.communicate(timeout=60)
    assert running.returncode == code and b"Traceback" not in out + err
    assert _is_gone(int(started.read_text()))
    assert _snapshot(shop) == before and _left(shop) == []


def test_strays_of_a_killed_run_are_ended_by_the_next_one(shop: Any, tmp_path: Path) -> None:
    started = tmp_path / "started"
    shop.green("slow", {"checks/slow.sh": f'test -e "{started}" && exit 0\necho $$ > "{started}"\nsleep 300\n'})
    argv = [str(BIN / "morph-spec"), "fleet", "--union", "--verify"]
    running = subprocess.Popen(argv, cwd=shop.root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not started.exists() or not started.read_text().strip():
        assert running.poll() is None
        time.sleep(0.02)
    running.kill()
    running.wait()
    assert len(_left(shop)) == 1
    assert _union(shop, "--verify").code == 0
    assert _is_gone(int(started.read_text()))
    assert _left(shop) == []


def test_two_at_once_measure_once(shop: Any) -> None:
    for name in ("one", "two"):
        shop.green(name, {f"checks/{name}.sh": "true\n"})
    argv = [str(BIN / "morph-spec"), "fleet", "--union", "--verify", "--json"]
    both = [subprocess.Popen(argv, cwd=shop.root, stdout=subprocess.PIPE) for _ in range(2)]
    made = [json.loads(one.communicate(timeout=120)[0]) for one in both]
    assert [one["verify"]["status"] for one in made] == ["pass", "pass"] and shop.suites() == 1
    assert _left(shop) == []


def test_without_a_slot_nothing_is_decided(shop: Any, tmp_path: Path) -> None:
    config = json.loads((shop.root / ".morph/config/config.json").read_text())
    shop.project.config(**config, heavy={"slots": 1, "waitTimeoutSec": 1})
    shop.project.commit("one slot")
    shop.green("one", {"checks/one.sh": "true\n"})
    ready = tmp_path / "ready"
    argv = [str(BIN / "morph-spec"), "heavy", "run", "--", "sh", "-c", f"touch {ready}; sleep 300"]
    holder = subprocess.Popen(argv, cwd=shop.root, env={**os.environ, "MORPH_HEAVY": "on"})
    try:
        while not ready.exists():
            assert holder.poll() is None
            time.sleep(0.02)
        said = _union(shop, "--verify", "--json", MORPH_HEAVY="on")
    finally:
        holder.terminate()
        holder.wait()
    assert said.code == 3 and said.json["code"] == "busy" and _left(shop) == []


def test_odd_names_of_files_come_through(shop: Any) -> None:
    odd = {'sp ace/quo"te.txt': "x", "new\nline": "x", "naïve": "x", "\udcff": "x"}
    shop.green("one", {**odd})
    shop.green("two", dict.fromkeys(odd, "y"))
    said = _union(shop, "--json")
    assert said.code == 1
    assert sorted(said.json["conflicts"][0]["paths"]) == sorted(odd)
    assert _union(shop).code == 1
