"""What becomes of the processes of host services: groups, escapees, recycled numbers, killed tools."""

from __future__ import annotations

import os
import random
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from morph_tasks.machine import identity, table
from morph_tasks.stack import hosts, hosts_stop
from tests.conftest import Project
from tests.stack.hosts_tools import PROJECT, PYTHON, Stage, get, staged, wait_until


@pytest.fixture
def stage(project: Project, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    yield from staged(project, monkeypatch)


@pytest.fixture
def bystander() -> Iterator[subprocess.Popen[bytes]]:
    """Run a process that has nothing to do with any service, in a group of its own."""
    with subprocess.Popen(["sleep", "300"], start_new_session=True) as process:
        yield process
        process.kill()


def gone(pid: int) -> bool:
    entry = table.read(pid)
    return entry is None or entry.dead


def test_the_grandchild_that_holds_the_port_goes_with_the_shell(stage: Stage) -> None:
    stage.up(stage.server(start="sh -c '{} ; true' ; true"))
    (server,) = stage.starts()
    assert server != stage.record()["pid"]
    assert stage.down() == hosts.HostsStopped(stopped=("api",))
    assert gone(server)
    assert not get(stage.ports["api"])
    assert stage.up(stage.server()).status == "pass"


def test_a_grandchild_whose_shell_died_goes_before_a_restart(stage: Stage) -> None:
    service = stage.server(start="{} & echo $! > server; wait")
    stage.up(service)
    leader, server = stage.record()["pid"], stage.starts()[0]
    os.kill(leader, signal.SIGKILL)
    wait_until(lambda: gone(leader), "the shell is dead")
    assert get(stage.ports["api"])
    # Healthy by its port, and yet not running: what is recorded is dead.
    result = stage.up(service)
    assert result.status == "pass"
    assert not result.services[0].reused
    assert result.warnings == ()
    assert gone(server)
    assert len(stage.starts()) == 2


def test_what_left_group_and_session_is_ended_too(stage: Stage) -> None:
    service = stage.server(start="setsid sh -c 'echo $$ > escaped; exec sleep 300' & {}")
    stage.up(service)
    escaped = int(wait_until(lambda: _text(stage, "escaped"), "it escaped"))
    entry = table.read(escaped)
    assert entry is not None
    assert entry.session != stage.record()["pid"]
    assert stage.down().stopped == ("api",)
    assert gone(escaped)
    assert not stage.marked()


def _text(stage: Stage, name: str) -> str:
    path = stage.root / name
    return path.read_text().strip() if path.exists() else ""


def test_what_ignores_term_gets_kill(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    stage.up(stage.server(more="stubborn"))
    place, state = stage.place, hosts.hosts_state.load(stage.place)
    ending = hosts_stop.end_services(place, state.services.values(), grace_s=0.3)
    assert ending == hosts_stop.Ending(ended=("api",))
    assert not get(stage.ports["api"])


@pytest.mark.parametrize("secret", [False, True])
def test_what_obeys_term_may_clean_up(stage: Stage, secret: bool) -> None:
    if secret:  # then a filter stands between it and its log
        stage.env["APP_TOKEN"] = "hunter2-hunter2"
    script = "import signal,sys,time\n" + (
        "def bye(*_):\n    print('bye', flush=True)\n    sys.exit(0)\n"
        "signal.signal(signal.SIGTERM, bye)\nprint('ready', flush=True)\ntime.sleep(300)\n"
    )
    stage.project.write("worker.py", script)
    stage.up({"name": "worker", "start": f"exec {PYTHON} worker.py"})
    wait_until(lambda: "ready" in stage.log("worker").read_text(), "its handler is installed")
    stage.down()
    assert not stage.marked()
    assert stage.log("worker").read_text() == "ready\nbye\n"


def test_a_recycled_number_is_left_alone(stage: Stage, bystander: Any) -> None:
    stage.up(stage.server())
    (server,) = stage.starts()
    stage.edit(pid=bystander.pid)
    found = stage.down()
    assert bystander.poll() is None
    assert any(
        f"pid {bystander.pid} of the host service `api` belongs to another process" in one for one in found.warnings
    )
    # Its real process is still known by its mark.
    assert found.stopped == ("api",)
    assert gone(server)
    assert not stage.place.state.exists()


def test_a_recycled_number_of_a_service_that_is_gone_is_dropped(stage: Stage, bystander: Any) -> None:
    stage.up(stage.server())
    (server,) = stage.starts()
    os.kill(server, signal.SIGKILL)
    wait_until(lambda: gone(server), "it is gone")
    stage.edit(pid=bystander.pid)
    found = stage.down()
    assert (found.stopped, found.dropped, found.left) == ((), ("api",), ())
    assert len(found.warnings) == 1
    assert bystander.poll() is None
    assert not stage.place.state.exists()


def test_a_recycled_number_is_not_reused(stage: Stage, bystander: Any) -> None:
    stage.up(stage.server())
    entry = table.read(bystander.pid)
    assert entry is not None
    # Alive, healthy URL, wrong creation time.
    stage.edit(pid=bystander.pid, created=entry.start - 1)
    result = stage.up(stage.server())
    assert result.status == "pass"
    assert not result.services[0].reused
    assert bystander.poll() is None
    (status,) = hosts.status_of(stage.repo, PROJECT)
    assert status.alive


def test_a_record_from_before_the_last_boot_names_nobody(stage: Stage, bystander: Any) -> None:
    stage.up(stage.server())
    stage.down()
    entry = table.read(bystander.pid)
    assert entry is not None
    stage.up(stage.server())
    stage.edit(pid=bystander.pid, created=entry.start, boot=f"0000/{identity.boot().partition('/')[2]}")
    assert stage.down().stopped == ("api",)
    assert bystander.poll() is None


@pytest.mark.parametrize("changes", [{"host": "elsewhere.example"}, {"created": None}])
def test_what_cannot_be_judged_from_here_stays(stage: Stage, bystander: Any, changes: dict[str, Any]) -> None:
    stage.up(stage.server())
    server = stage.record()["pid"]
    entry = table.read(bystander.pid)
    assert entry is not None
    stage.edit(**{"pid": bystander.pid, "created": entry.start, **changes})
    (status,) = hosts.status_of(stage.repo, PROJECT)
    assert status.alive is None
    found = stage.down()
    assert (found.stopped, found.left) == ((), ("api",))
    assert "cannot be judged from here" in found.warnings[0]
    assert bystander.poll() is None
    assert stage.record()["pid"] == bystander.pid
    result = stage.up(stage.server(), stamp="s2")
    assert result.status == "fail"
    assert "could not be stopped: api" in result.reason
    stage.edit(pid=server)
    os.kill(stage.starts()[0], signal.SIGKILL)


def test_a_zombie_is_not_running_and_is_not_waited_for(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    stage.up({"name": "w", "start": "exec sleep 300"})
    pid = stage.record("w")["pid"]
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: (entry := table.read(pid)) and entry.dead, "a zombie")
    assert hosts.status_of(stage.repo, PROJECT)[0].alive is False
    signalled: list[Any] = []
    monkeypatch.setattr(hosts_stop.groups, "stop", lambda *args: signalled.append(args))
    assert stage.down() == hosts.HostsStopped(dropped=("w",))
    assert not signalled
    assert table.read(pid) is None


def test_a_zombie_leader_still_names_its_group(stage: Stage) -> None:
    stage.up({"name": "w", "start": "sleep 301 & echo $! > child; exec sleep 300"})
    child = int(wait_until(lambda: _text(stage, "child"), "the child runs"))
    pid = stage.record("w")["pid"]
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: (entry := table.read(pid)) and entry.dead, "a zombie")
    assert stage.down().stopped == ("w",)
    assert gone(child)


def test_services_outlive_the_tool_and_are_found_again(stage: Stage) -> None:
    api = stage.server()
    tool = stage.child(f"print(up({api!r}).status)")
    assert tool.communicate(timeout=30)[0].strip() == "pass"
    assert get(stage.ports["api"])
    assert stage.up(api).services[0].reused
    entry = table.read(stage.record()["pid"])
    assert entry is not None
    assert entry.session == entry.group == entry.pid


def test_a_hangup_of_the_terminal_does_not_reach_them(stage: Stage) -> None:
    api = stage.server()
    tool = stage.child(f"print(up({api!r}).status, flush=True); import time; time.sleep(300)")
    assert tool.stdout is not None
    assert tool.stdout.readline().strip() == "pass"
    os.killpg(tool.pid, signal.SIGHUP)
    tool.wait(timeout=30)
    tool.stdout.close()
    assert stage.up(api).services[0].reused


CRASHES = {
    "between start and record": """
real = hosts_start.starting.spawn
def spawn(*args):
    real(*args)
    os.kill(os.getpid(), signal.SIGKILL)
hosts_start.starting.spawn = spawn
""",
    "before the start": """
def spawn(*args):
    os.kill(os.getpid(), signal.SIGKILL)
hosts_start.starting.spawn = spawn
""",
    "while waiting for health": """
def ready(*args):
    os.kill(os.getpid(), signal.SIGKILL)
hosts_start._await_ready = ready
""",
}


@pytest.mark.parametrize("moment", list(CRASHES))
@pytest.mark.parametrize("then", ["up", "down", "lost state"])
def test_a_killed_tool_leaves_nothing_that_nobody_knows(stage: Stage, moment: str, then: str) -> None:
    api = stage.server()
    tool = stage.child(CRASHES[moment] + f"up({api!r})")
    assert tool.wait(timeout=30) == -signal.SIGKILL
    tool.communicate()
    if moment != "before the start":
        wait_until(lambda: get(stage.ports["api"]), "what it started serves")
    if then == "lost state":
        stage.place.state.unlink()
    if then == "up":
        result = stage.up(api)
        assert result.status == "pass"
        assert result.warnings == ()
        assert len({entry.group for entry in stage.marked()}) == 1
    else:
        stage.down()
        assert not stage.marked()
        assert not get(stage.ports["api"])
        assert not stage.place.state.exists()


def test_a_killed_tool_leaves_no_build(stage: Stage) -> None:
    service = {"name": "w", "build": "echo $$ > building; sleep 300", "start": "exec sleep 300"}
    tool = stage.child(f"up({service!r})")
    building = int(wait_until(lambda: _text(stage, "building"), "the build runs"))
    tool.kill()
    tool.communicate()
    assert not gone(building)
    assert stage.up(stage.server(), stamp="s2").status == "pass"
    assert gone(building)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_tool_takes_along_what_was_not_ready(stage: Stage, number: int) -> None:
    api = stage.server()
    deaf = {**stage.server("deaf"), "health": "http://127.0.0.1:1/", "timeoutMs": 60_000}
    tool = stage.child(f"signals.install()\nup({api!r}, {deaf!r})")
    wait_until(lambda: get(stage.ports["deaf"]), "the second one runs")
    os.kill(tool.pid, number)
    said = tool.communicate(timeout=30)[0]
    assert tool.returncode == 128 + number, said
    assert "Traceback" not in said
    assert not get(stage.ports["deaf"])
    assert stage.up(api, {**deaf, "health": f"http://127.0.0.1:{stage.ports['deaf']}/"}).status == "pass"
    stage.down()
    assert not stage.marked()


def test_two_at_once_start_one(stage: Stage) -> None:
    api, web = stage.server("api"), stage.server("web", build="sleep 0.2")
    tools = [
        stage.child(f"r = up({api!r}, {web!r}); print(r.status, [s.reused for s in r.services])") for _ in range(3)
    ]
    said = sorted(tool.communicate(timeout=60)[0].strip() for tool in tools)
    assert said == ["pass [False, False]", "pass [True, True]", "pass [True, True]"]
    assert (len(stage.starts("api")), len(stage.starts("web"))) == (1, 1)


def test_down_does_not_wait_for_ever_for_an_up(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    service = {"name": "w", "build": "echo x > building; sleep 300", "start": "exec sleep 300"}
    stage.up(stage.server())
    tool = stage.child(f"up({stage.server()!r}, {service!r})")
    wait_until(lambda: _text(stage, "building"), "the build runs")
    monkeypatch.setattr(hosts, "_STOP_WAIT_S", 0.2)
    found = stage.down()
    assert "is in use by another process" in found.warnings[0]
    assert found.stopped == ()
    tool.kill()
    tool.communicate()
    assert stage.down().left == ()
    assert not stage.marked()


def test_a_lost_or_broken_state_loses_no_process(stage: Stage) -> None:
    stage.up(stage.server())
    for text in ("{ half", "[]", '{"version": 9, "services": []}'):
        stage.place.state.write_text(text)
        result = stage.up(stage.server())
        assert result.status == "pass"
        assert not result.services[0].reused
        assert "looked for by their marks" in result.warnings[0]
        assert len({entry.group for entry in stage.marked()}) == 1
    stage.place.state.write_text("nonsense")
    assert stage.down().stopped == ("api",)
    assert not stage.place.state.exists()


def test_a_service_that_calls_the_tool_is_not_ended_with_it_by_itself(stage: Stage) -> None:
    # Whoever stops from within a service must not stop itself.
    stage.up(stage.server())
    env = {**os.environ, table.RUN_ID: "e2e", table.RUN_MARKS: stage.place.token("api")}
    tool = stage.child(f"print(hosts.stop_all(repo, {PROJECT!r}).stopped)", env=env)
    assert tool.communicate(timeout=30)[0].strip() == "('api',)"
    assert tool.returncode == 0


def test_down_alone_ends_the_build_of_a_killed_tool(stage: Stage) -> None:
    service = {"name": "w", "build": "echo $$ > building; sleep 300", "start": "exec sleep 300"}
    tool = stage.child(f"up({service!r})")
    building = int(wait_until(lambda: _text(stage, "building"), "the build runs"))
    tool.kill()
    tool.communicate()
    stage.down()
    assert gone(building)


@pytest.mark.parametrize("seed", range(6))
def test_killed_at_any_moment_it_leaves_what_down_finds(stage: Stage, seed: int) -> None:
    chance = random.Random(seed)
    stage.env["APP_TOKEN"] = "hunter2-hunter2"
    api = stage.server("api", build="echo built; sleep 0.05", start="{} & sleep 300 & wait")
    web = stage.server("web", start="setsid {} & exec sleep 300")
    tool = stage.child(f"print('begin', flush=True)\nup({api!r}, {web!r})")
    assert tool.stdout is not None
    assert tool.stdout.readline() == "begin\n"
    with suppress(subprocess.TimeoutExpired):
        tool.wait(timeout=chance.uniform(0, 0.6))
    tool.kill()
    tool.communicate()
    found = stage.down()
    assert found.left == ()
    # A filter that nobody wrote to any more ends by itself.
    wait_until(lambda: not stage.marked(), "nothing is left")
    assert not stage.place.state.exists()
    assert stage.up(api, web).status == "pass"
