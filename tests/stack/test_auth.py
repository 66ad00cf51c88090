"""Credentials from a file, and the seed of a fresh stack."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.machine import table
from morph_tasks.model.load import Config
from morph_tasks.repo.git import Repo, open_repo
from morph_tasks.stack import auth
from morph_tasks.stack.env import stack_env
from tests.conftest import Project
from tests.stack.hosts_tools import Stage, wait_until

ENV = {"COMPOSE_PROJECT_NAME": "morph-cart", "PORT": "3010"}


def config(auth_block: Any = None, **e2e: Any) -> Config:
    return Config({"e2e": {**({"auth": auth_block} if auth_block is not None else {}), **e2e}}, "")


@pytest.fixture
def repo(project: Project) -> Repo:
    return open_repo(project.root)


def seed(repo: Repo, needed: bool = False, *, block: dict[str, Any] | None = None, **options: Any) -> auth.SeedResult:
    block = block or {"mode": "seed", "seedCommand": "echo seeded >> seeds"}
    return auth.seed(repo, config(block), ENV, needed=needed, **options)


def seeds(repo: Repo) -> int:
    path = repo.root / "seeds"
    return len(path.read_text().splitlines()) if path.exists() else 0


def test_the_file_gives_values_and_keeps_out_of_the_ports(repo: Repo) -> None:
    (repo.root / ".env.e2e").write_bytes(
        b'\xef\xbb\xbf# credentials\r\nexport E2E_USER=\'me # you\'\r\nE2E_PASSWORD="a\\"b\\nc" # said\r\n'
        b"PORT=9999\r\nAPI_PORT=9998\r\nPG_PORT=5\r\nCOMPOSE_PROJECT_NAME=other\r\nMORPH_PORT_BASE=1\r\n"
        b"KEY='-----BEGIN\r\nEND'\r\nDOLLAR=pa$$w${X}rd\r\nthis is nothing\r\nEMPTY=\r\n"
    )
    block = {"envFile": ".env.e2e"}
    plain = stack_env(repo, config(portEnvNames={"postgres": "PG_PORT"}), "cart")
    found = stack_env(repo, config(block, portEnvNames={"postgres": "PG_PORT"}), "cart")
    further = {name: value for name, value in found.values.items() if name not in plain.values}
    assert further == {
        "E2E_USER": "me # you",
        "E2E_PASSWORD": 'a"b\nc',
        "KEY": "-----BEGIN\nEND",
        "DOLLAR": "pa$$w${X}rd",
        "EMPTY": "",
    }
    assert {name: found.values[name] for name in plain.values} == plain.values
    decided = ("PORT", "API_PORT", "PG_PORT", "COMPOSE_PROJECT_NAME", "MORPH_PORT_BASE")
    taken = "is not taken from there: the ports of this work tree decide it"
    assert found.warnings[:-1] == tuple(f".env.e2e: {name} {taken}" for name in decided)
    assert "line 12 is not NAME=value" in found.warnings[-1]
    assert "me # you" not in repr(found) and 'a"b' not in repr(found)


def test_without_a_file_there_are_no_credentials(repo: Repo) -> None:
    plain = stack_env(repo, config(), "cart")
    assert stack_env(repo, config({"mode": "none"}), "cart") == plain
    missing = stack_env(repo, config({"envFile": ".env.e2e"}), "cart")
    assert missing.values == plain.values
    assert ".env.e2e cannot be read" in missing.warnings[0]
    (repo.root / "folder").mkdir()
    assert "folder cannot be read" in stack_env(repo, config({"envFile": "folder"}), "cart").warnings[0]


@pytest.mark.parametrize("key", ["envFile", "storageStatePath"])
@pytest.mark.parametrize("path", ["/etc/passwd", "../elsewhere", "a/../../b"])
def test_a_file_outside_of_the_tree_is_refused(project: Project, key: str, path: str) -> None:
    assert project.morph("create", "cart", "--type", "chore", "--description", "x").code == 0
    project.config(e2e={"auth": {key: path}})
    said = project.morph("verify", "cart", "--json")
    assert (said.json["ok"], said.json["code"]) == (False, "invalid-config")
    assert key in said.json["message"]


@pytest.mark.parametrize("block", [{"mode": "Seed"}, {"seedCommand": " "}, {"envFile": 3}, [], "seed"])
def test_a_block_that_makes_no_sense_is_refused(repo: Repo, block: Any) -> None:
    with pytest.raises(Refusal, match=r"e2e\.auth") as caught:
        auth.seed(repo, config(block), ENV, needed=True)
    assert caught.value.code == "invalid-config"


def test_a_stack_is_seeded_once(repo: Repo) -> None:
    first = seed(repo, stack="volumes-1")
    assert (first.status, first.reason, first.ran) == ("pass", "seeded: this stack was never seeded", True)
    again = seed(repo, stack="volumes-1")
    assert (again.status, again.ran) == ("pass", False)
    assert seeds(repo) == 1
    assert seed(repo, stack="volumes-2").ran
    assert seed(repo, True, stack="volumes-2").ran
    assert seed(repo, stack="volumes-2", block={"mode": "seed", "seedCommand": "echo more >> seeds"}).ran
    auth.forget_seed(repo, "morph-cart")
    assert seed(repo, stack="volumes-2", block={"mode": "seed", "seedCommand": "echo more >> seeds"}).ran
    auth.forget_seed(repo, "morph-cart")
    auth.forget_seed(repo, "morph-cart")


def test_the_seed_of_another_project_is_its_own(repo: Repo) -> None:
    assert seed(repo, stack="v").ran
    assert seed(repo, stack="v", project="morph-other").ran


def test_the_seed_has_the_environment_of_the_stack(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORT", "1")
    monkeypatch.setenv("MORPH_VERIFYING", "/x")
    block = {"mode": "seed", "seedCommand": "echo $PORT ${MORPH_VERIFYING-none} > said; pwd >> said"}
    assert seed(repo, True, block=block).status == "pass"
    assert (repo.root / "said").read_text() == f"3010 none\n{repo.root}\n"


def test_a_command_without_a_mode_is_inert_and_says_so(repo: Repo) -> None:
    found = seed(repo, True, block={"seedCommand": "echo seeded >> seeds"})
    assert (found.status, found.ran) == ("skip", False)
    assert "e2e.auth.seedCommand is not run: e2e.auth.mode is not set" in found.warnings[0]
    assert seeds(repo) == 0


@pytest.mark.parametrize("mode", ["bypass", "none"])
def test_modes_that_need_no_seed(repo: Repo, mode: str) -> None:
    assert seed(repo, True, block={"mode": mode}) == auth.SeedResult("skip", f"e2e.auth.mode is {mode}")
    found = seed(repo, True, block={"mode": mode, "seedCommand": "echo seeded >> seeds"})
    assert f"e2e.auth.mode is `{mode}`" in found.warnings[0]
    assert seeds(repo) == 0
    assert auth.seed(repo, config(), ENV, needed=True).reason == "no e2e.auth configured"
    assert auth.seed(repo, config({}), ENV, needed=True).status == "skip"


@pytest.mark.parametrize("block", [{"mode": "seed"}, {"mode": "storageState"}])
def test_a_mode_without_what_it_needs_fails(repo: Repo, block: dict[str, Any]) -> None:
    assert seed(repo, True, block=block).status == "fail"


def test_a_failure_shows_the_end_of_its_log_and_is_not_remembered(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADMIN_PASSWORD", "hunter2-hunter2")
    seed(repo, stack="v")
    block = {"mode": "seed", "seedCommand": "seq 1 50; echo $ADMIN_PASSWORD; exit 3"}
    found = seed(repo, stack="v", block=block)
    assert (found.status, found.ran) == ("fail", True)
    assert found.reason == "auth seed: the seed command ended with exit code 3"
    assert found.output.split("\n") == [*map(str, range(32, 51)), "[ADMIN_PASSWORD]"]
    log = repo.store / "e2e-seed-morph-cart.log"
    assert "hunter2" not in log.read_text()
    assert log.stat().st_mode & 0o777 == 0o600
    # What was seeded before is not known any more: the failed one may have done half of it.
    assert seed(repo, stack="v").ran


def test_a_seed_that_does_not_end_is_a_timeout(repo: Repo) -> None:
    found = seed(repo, True, block={"mode": "seed", "seedCommand": "echo begun; sleep 300"}, timeout_s=0.3)
    assert found.reason == "auth seed: timeout: the seed command did not end within 0.3 s"
    assert found.output == "begun"


STATE = {"mode": "storageState", "storageStatePath": "auth/state.json"}
MAKES = {**STATE, "seedCommand": "echo seeded >> seeds; mkdir -p auth; echo '{}' > auth/state.json"}


def test_a_storage_state_is_made_when_it_is_missing_or_older_than_the_volumes(repo: Repo) -> None:
    path = repo.root / "auth/state.json"
    assert seed(repo, block=MAKES, stack="v", volumes_since=1000.0).reason == "seeded: auth/state.json is not there"
    assert not seed(repo, block=MAKES, stack="v", volumes_since=1000.0).ran
    os.utime(path, (900, 900))
    older = seed(repo, block=MAKES, stack="v", volumes_since=1000.0)
    assert older.reason == "seeded: auth/state.json is older than the volumes of the stack"
    assert older.warnings == ()
    path.unlink()
    assert seed(repo, block=MAKES, stack="v").ran
    assert seeds(repo) == 3


def test_a_seed_that_makes_no_storage_state_fails(repo: Repo) -> None:
    found = seed(repo, True, block={**STATE, "seedCommand": "echo nothing"})
    assert (found.status, found.output) == ("fail", "nothing")
    assert "auth/state.json is not there" in found.reason
    assert seed(repo, block={**STATE, "seedCommand": "echo nothing"}).status == "fail"


def test_a_seed_that_does_not_renew_an_old_state_warns(repo: Repo) -> None:
    path = repo.root / "auth/state.json"
    path.parent.mkdir()
    path.write_text("{}")
    os.utime(path, (900, 900))
    found = seed(repo, block={**STATE, "seedCommand": "true"}, volumes_since=1000.0)
    assert found.status == "pass"
    assert "did not renew auth/state.json" in found.warnings[0]


def test_a_storage_state_that_nothing_makes_has_to_be_there(repo: Repo) -> None:
    assert seed(repo, block=STATE).status == "fail"
    path = repo.root / "auth/state.json"
    path.parent.mkdir()
    path.write_text("{}")
    assert seed(repo, block=STATE) == auth.SeedResult("pass", "seeded before, for this very stack")
    old = seed(repo, True, block=STATE)
    assert old.status == "pass"
    assert "may be of an earlier stack" in old.warnings[0]


def test_a_seed_without_a_project_is_refused(repo: Repo) -> None:
    with pytest.raises(Refusal, match="cannot name a compose project"):
        auth.seed(repo, config({"mode": "seed", "seedCommand": "true"}), {}, needed=True)


def test_the_seed_of_a_killed_tool_is_ended_and_run_again(project: Project) -> None:
    stage = Stage(project)
    marker = project.root / "running"
    block = {"mode": "seed", "seedCommand": f"echo $$ > {marker}; sleep 300"}
    tool = stage.child(
        f"from morph_tasks.stack import auth\n"
        f"auth.seed(repo, Config({{'e2e': {{'auth': {block!r}}}}}, ''), {ENV!r}, needed=True, stack='v')"
    )
    pid = int(wait_until(lambda: _text(marker), "the seed runs"))
    tool.send_signal(signal.SIGKILL)
    tool.communicate()
    assert seed(stage.repo, stack="v").ran
    entry = table.read(pid)
    assert entry is None or entry.dead
    assert seeds(stage.repo) == 1


def _text(path: Path) -> str:
    return path.read_text().strip() if path.exists() else ""


def test_seeds_at_once_run_one(project: Project) -> None:
    stage = Stage(project)
    block = {"mode": "seed", "seedCommand": "echo seeded >> seeds; sleep 0.2"}
    body = (
        f"from morph_tasks.stack import auth\n"
        f"print(auth.seed(repo, Config({{'e2e': {{'auth': {block!r}}}}}, ''), {ENV!r}, needed=False, stack='v').ran)"
    )
    tools = [stage.child(body) for _ in range(3)]
    said = sorted(tool.communicate(timeout=60)[0].strip() for tool in tools)
    assert said == ["False", "False", "True"]
    assert seeds(stage.repo) == 1
