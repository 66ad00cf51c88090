"""Host services as `e2e up` and the e2e node use them: real servers, real groups."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.machine import table
from morph_tasks.stack import health, hosts, hosts_start, hosts_stop
from tests.conftest import Project
from tests.stack.hosts_tools import PROJECT, Stage, free_port, get, staged, wait_until


@pytest.fixture
def stage(project: Project, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    yield from staged(project, monkeypatch)


def test_the_waits_are_those_of_the_contract() -> None:
    assert (hosts_start.POLL_S, hosts_start.SETTLED_S, health.PROBE_S, hosts_stop.GRACE_S) == (2.0, 2.0, 1.5, 5.0)


def test_a_service_is_up_recorded_and_reused(stage: Stage) -> None:
    first = stage.up(stage.server())
    assert (first.status, first.reason, first.warnings) == ("pass", "1 host service ready", ())
    assert not first.services[0].reused
    assert get(stage.ports["api"]).startswith("HTTP/1.1 200")
    record = stage.record()
    entry = table.read(record["pid"])
    assert entry is not None
    assert record["created"] == entry.start
    assert (record["stamp"], record["health"], record["log"]) == (
        "s1",
        f"http://127.0.0.1:{stage.ports['api']}/",
        str(stage.log()),
    )
    assert stage.state()["version"] == 1
    assert stage.place.state == stage.repo.common_dir / f"morph-spec/e2e-host-{PROJECT}.json"
    assert stage.log().stat().st_mode & 0o777 == 0o600
    assert stage.place.state.stat().st_mode & 0o777 == 0o600
    assert stage.log().read_text() == "listening\n"
    again = stage.up(stage.server())
    assert again.status == "pass"
    assert again.services[0].reused
    assert again.services[0].pid == first.services[0].pid
    assert len(stage.starts()) == 1


def test_no_services_is_a_skip_with_its_reason(stage: Stage) -> None:
    assert stage.up() == hosts.HostsResult("skip", "no e2e.hostServices configured")
    assert hosts.bring_up_hosts(stage.repo, hosts_config({}), PROJECT, {}, "s").status == "skip"
    assert not stage.place.state.exists()


def hosts_config(data: dict[str, Any]) -> Any:
    from morph_tasks.model.load import Config

    return Config(data, "")


def test_services_that_are_no_longer_configured_are_taken_down(stage: Stage) -> None:
    stage.up(stage.server())
    assert stage.up().status == "skip"
    assert not stage.marked()
    assert not stage.place.state.exists()


@pytest.mark.parametrize("what", ["code", "env", "stack env", "command", "order", "fresh", "fewer"])
def test_what_changed_starts_all_anew(stage: Stage, what: str) -> None:
    api, web = stage.server("api"), stage.server("web")
    stage.up(api, web)
    services, options = [api, web], {}
    if what == "code":
        options["stamp"] = "s2"
    elif what == "env":
        services = [api, {**web, "env": {"A": "b"}}]
    elif what == "stack env":
        stage.env["PORT"] = "3010"
    elif what == "command":
        services = [api, {**web, "build": "true"}]
    elif what == "order":
        services = [web, api]
    elif what == "fewer":
        services = [web]
    else:
        options["fresh"] = True  # type: ignore[assignment]
    result = stage.up(*services, **options)  # type: ignore[arg-type]
    assert result.status == "pass"
    assert [service.reused for service in result.services] == [False] * len(services)
    assert len(stage.starts("web")) == 2
    assert len(stage.starts("api")) == (1 if what == "fewer" else 2)
    assert len(stage.state()["services"]) == len(services)
    assert len({entry.group for entry in stage.marked()}) == len(services)


@pytest.mark.parametrize("how", ["died", "sick"])
def test_one_that_died_alone_is_restarted_alone(stage: Stage, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    api, web = stage.server("api"), stage.server("web")
    first = stage.up(api, web)
    if how == "died":
        os.kill(stage.starts("api")[0], 9)
        # Nobody reaps it: this process started it. A zombie is not running.
        wait_until(lambda: (entry := table.read(first.services[0].pid)) and entry.dead, "a zombie")
    else:
        (stage.root / "api.code").write_text("503")
        stage.project.write("serve.py", stage.root.joinpath("serve.py").read_text().replace('".code"', '".other"'))
    again = stage.up(api, web)
    assert again.status == "pass"
    assert [service.reused for service in again.services] == [False, True]
    assert again.services[1].pid == first.services[1].pid
    assert (len(stage.starts("api")), len(stage.starts("web"))) == (2, 1)


def test_one_answer_missed_is_no_reason_to_restart(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    stage.up(stage.server())
    answers = iter([health.Health(False, None, "no answer"), health.Health(True, 200, "HTTP 200")])
    monkeypatch.setattr(health, "probe", lambda *_, **__: next(answers))
    assert stage.up(stage.server()).services[0].reused


def test_a_service_without_health_is_ready_when_it_lives(stage: Stage) -> None:
    worker = {"name": "worker", "start": "exec sleep 300"}
    assert stage.up(worker).status == "pass"
    assert stage.up(worker).services[0].reused
    (status,) = hosts.status_of(stage.repo, PROJECT)
    assert (status.alive, status.healthy, status.as_json()["health"]) == (True, None, None)


def test_the_environment_is_process_then_stack_then_service(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "A": "process", "B": "process", "C": "process", "GIT_DIR": "/nowhere", "MORPH_VERIFYING": "/x",
        "MORPH_RUN_ID": "r", "MORPH_RUN_MARKS": "outer", "MORPH_RUN_OWNER": "{}", "MORPH_HEAVY_LEASE": "1",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    stage.env.update({"B": "stack", "C": "stack"})
    said = {"name": "worker", "start": "env > env.txt; exec sleep 300", "env": {"C": "${B}-service", "N": 1.0, "M": 7}}
    assert stage.up(said).status == "pass"
    found = dict(line.split("=", 1) for line in (stage.root / "env.txt").read_text().splitlines() if "=" in line)
    assert {name: found.get(name) for name in "ABCNM"} == {
        "A": "process", "B": "stack", "C": "stack-service", "N": "1", "M": "7",
    }  # fmt: skip
    assert found["MORPH_HOST_SERVICE"] == f"{PROJECT}/worker"
    assert not {"GIT_DIR", "MORPH_VERIFYING", "MORPH_RUN_OWNER", "MORPH_HEAVY_LEASE"} & set(found)
    # The run around it would end it with itself.
    assert "outer" not in found["MORPH_RUN_MARKS"]


def test_build_runs_before_start_in_its_folder(stage: Stage) -> None:
    stage.project.write("app/x", "")
    service = {"name": "w", "cwd": "app", "build": "echo built; pwd > out", "start": "test -s out && exec sleep 300"}
    assert stage.up(service).status == "pass"
    assert (stage.root / "app/out").read_text().strip() == str(stage.root / "app")
    assert stage.log("w").read_text() == "built\n"


FAILURES = [
    ({"build": "echo broken; exit 3", "start": "true"}, r"its build ended with exit code 3", "broken"),
    ({"build": "sleep 60", "start": "true", "timeoutMs": 300}, r"timeout: its build did not end within 0\.3 s", ""),
    ({"build": "trap '' TERM; echo on; kill -9 $$", "start": "true"}, r"its build was ended by SIGKILL", "on"),
    ({"start": "echo no; exit 4", "health": "http://127.0.0.1:1/"}, r"exited with code 4 before http", "no"),
    ({"start": "echo gone; exit 5"}, r"exited with code 5 right after its start", "gone"),
    ({"start": "kill -11 $$"}, r"was ended by SIGSEGV right after its start", ""),
    ({"start": "exit 0"}, r"exited with code 0 right after its start", ""),
    (
        {"start": "echo deaf; exec sleep 300", "health": "http://127.0.0.1:1/", "timeoutMs": 400},
        r"timeout: http://127\.0\.0\.1:1/ was not healthy within 0\.4 s \(connection refused\)",
        "deaf",
    ),
    ({"start": "/no/such/program"}, r"exited with code 127 right after its start", "not found"),
    ({"start": "exec sleep 300", "timeoutMs": 100}, r"timeout: build and start took longer than 0\.1 s", ""),
]


@pytest.mark.parametrize(("keys", "reason", "output"), FAILURES, ids=[found[1][:30] for found in FAILURES])
def test_a_failure_names_service_and_cause(stage: Stage, keys: dict[str, Any], reason: str, output: str) -> None:
    result = stage.up({"name": "api", **keys})
    assert result.status == "fail"
    assert re.match("host service `api`: " + reason, result.reason), result.reason
    assert output in result.output
    assert not stage.marked()
    assert not stage.place.state.exists()
    assert result.services == ()


def test_an_answer_of_500_is_not_health(stage: Stage) -> None:
    (stage.root / "api.code").write_text("500")
    result = stage.up(stage.server(timeoutMs=1500))
    assert result.status == "fail"
    assert "(HTTP 500)" in result.reason
    (stage.root / "api.code").write_text("404")
    assert stage.up(stage.server()).status == "pass"


def test_output_is_the_last_20_lines(stage: Stage) -> None:
    result = stage.up({"name": "api", "start": "seq 1 100; printf '\\033[31mred\\033[0m'; exit 1"})
    assert result.output.split("\n") == [*map(str, range(82, 101)), "red"]


def test_a_failure_ends_what_this_run_started_and_keeps_what_it_found(stage: Stage) -> None:
    one, two, three = stage.server("one"), stage.server("two"), stage.server("three")
    stage.up(one, two, three)
    before = {name: stage.record(name)["pid"] for name in ("one", "three")}
    stage.project.write("serve.py", "raise SystemExit('broken')\n")
    os.kill(stage.starts("two")[0], 9)
    result = stage.up(one, two, three)
    assert result.status == "fail"
    assert "`two`" in result.reason
    assert "broken" in result.output
    assert [service.name for service in result.services] == ["one"]
    # The one behind it was not reached: it keeps its record, and its process.
    assert {one["name"]: one["pid"] for one in stage.state()["services"]} == before
    assert get(stage.ports["one"])
    assert get(stage.ports["three"])
    assert not get(stage.ports["two"])


def test_a_failure_in_a_first_run_leaves_nothing(stage: Stage) -> None:
    result = stage.up(stage.server("one"), {"name": "two", "start": "exit 1"}, stage.server("three"))
    assert result.status == "fail"
    assert result.services == ()
    assert not stage.marked()
    assert not stage.place.state.exists()
    assert not stage.starts("three")


def test_the_time_of_the_whole_bounds_each(stage: Stage) -> None:
    sleeper = {"name": "a", "build": "sleep 60", "start": "true"}
    result = stage.up(sleeper, deadline_s=0.4)
    assert result.status == "fail"
    assert "timeout" in result.reason


def test_a_port_that_somebody_else_answers_on_is_no_health(stage: Stage) -> None:
    port = free_port()
    stage.ports["api"] = port
    words = f"os.chdir({str(stage.root)!r})\nsys.argv = ['x', '{port}', 'stranger']\n"
    stranger = stage.child(f"{words}exec(open({str(stage.root / 'serve.py')!r}).read())")
    try:
        wait_until(lambda: get(port), "the stranger answers")
        (stage.root / "silent.sh").write_text("exec sleep 300\n")
        result = stage.up(stage.server(start="sh silent.sh"))
        assert result.status == "fail"
        assert f"port {port} is held by pid {stranger.pid}" in result.reason
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.communicate()
    assert not stage.marked()


def test_two_services_may_share_a_health_url(stage: Stage) -> None:
    api = stage.server("api")
    worker = {"name": "worker", "start": "exec sleep 300", "health": api["health"]}
    result = stage.up(api, worker)
    assert result.status == "pass"
    assert any("`worker`" in warning and "proves nothing" in warning for warning in result.warnings)


def test_a_health_url_that_proves_nothing_does_not_hide_an_exit(stage: Stage) -> None:
    api = stage.server("api")
    result = stage.up(api, {"name": "worker", "start": "sleep 0.1; exit 3", "health": api["health"]})
    assert result.status == "fail"
    assert "`worker`: exited with code 3" in result.reason


def test_status_tells_each_service(stage: Stage) -> None:
    api, web = stage.server("api"), stage.server("web")
    stage.up(api, web)
    pid = stage.record("web")["pid"]
    os.kill(stage.starts("web")[0], 9)
    # Its shell ends a moment after it.
    wait_until(lambda: (entry := table.read(pid)) is None or entry.dead, "it is gone")
    found = {one.name: one for one in hosts.status_of(stage.repo, PROJECT, names=["api", "web", "more"])}
    assert (found["api"].alive, found["api"].healthy, found["api"].said) == (True, True, "HTTP 200")
    assert (found["web"].alive, found["web"].healthy) == (False, False)
    assert (found["more"].pid, found["more"].alive) == (None, False)
    assert found["api"].as_json()["pid"] == stage.record("api")["pid"]
    assert hosts.status_of(stage.repo, "morph-other") == ()


def test_down_takes_those_that_are_named(stage: Stage) -> None:
    stage.up(stage.server("api"), stage.server("web"))
    assert stage.down(["web"]).stopped == ("web",)
    assert not get(stage.ports["web"])
    assert get(stage.ports["api"])
    assert [one["name"] for one in stage.state()["services"]] == ["api"]
    assert stage.down().stopped == ("api",)
    assert not stage.place.state.exists()
    assert stage.down() == hosts.HostsStopped()


@pytest.mark.parametrize("name", ["", "a/b", "a b", "../x"])
def test_a_project_name_cannot_lead_elsewhere(stage: Stage, name: str) -> None:
    with pytest.raises(Refusal, match="cannot name a compose project"):
        hosts.stop_all(stage.repo, name)


def test_services_of_two_projects_do_not_meet(stage: Stage) -> None:
    other = {**stage.server("x"), "name": "b-c"}
    twin = {**stage.server("y"), "name": "c"}
    first = hosts.bring_up_hosts(stage.repo, stage.config(other), "morph-a", stage.env, "s")
    second = hosts.bring_up_hosts(stage.repo, stage.config(twin), "morph-a-b", stage.env, "s")
    assert (first.status, second.status) == ("pass", "pass")
    assert first.services[0].log != second.services[0].log
    assert hosts.stop_all(stage.repo, "morph-a").stopped == ("b-c",)
    assert get(stage.ports["y"])
    # Their marks begin alike only up to the whole name of the project.
    assert hosts.stop_all(stage.repo, "morph-a-").stopped == ()
    assert hosts.stop_all(stage.repo, "morph-a-b").stopped == ("c",)
