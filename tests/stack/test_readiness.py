from __future__ import annotations

from collections.abc import Iterable

import pytest

from morph_tasks.stack.model import Container, Service
from morph_tasks.stack.readiness import Verdict, Watch


def _one(
    service: str, state: str, *, restarts: int | None = 0, code: int = 0, policy: str = "", **more: object
) -> Container:
    word, _, health = state.partition("/")
    fields = {"id": service, "started": None, **more}
    return Container(service, service, word, health, code, restarts, policy=policy, **fields)  # type: ignore[arg-type]


def _follow(services: Iterable[Service], samples: Iterable[tuple[float, list[Container]]]) -> list[Verdict]:
    watch = Watch(services)
    return [watch.look(sample, at) for at, sample in samples]


def test_a_one_shot_that_nobody_depends_on_is_completed() -> None:
    services = [Service("db"), Service("seed")]
    (found,) = _follow(services, [(0, [_one("db", "running/healthy"), _one("seed", "exited")])])
    assert found.outcome == "ready"
    assert {one.service: one.what for one in found.standings} == {"db": "healthy", "seed": "completed"}


@pytest.mark.parametrize("code", [1, 2, 126, 127, 137, 143, 255])
def test_a_one_shot_that_fails_is_a_failure_at_once(code: int) -> None:
    sample = [_one("db", "running/healthy"), _one("seed", "exited", code=code)]
    (found,) = _follow([Service("db"), Service("seed")], [(0, sample)])
    assert found.outcome == "failed"
    assert [(one.service, str(code) in one.what) for one in found.failed] == [("seed", True)]


def test_unhealthy_then_restarted_then_healthy_is_fine() -> None:
    samples = [
        (0.0, [_one("api", "running/starting", policy="unless-stopped")]),
        (3.0, [_one("api", "running/unhealthy", policy="unless-stopped")]),
        (5.0, [_one("api", "restarting", restarts=1, code=1, policy="unless-stopped")]),
        (12.0, [_one("api", "running/healthy", restarts=1, policy="unless-stopped")]),
    ]
    found = _follow([Service("api", policy="unless-stopped")], samples)
    assert [one.outcome for one in found] == ["waiting", "waiting", "waiting", "ready"]
    assert found[-1].warnings == ("api restarted 1 time",)


def test_restarts_count_without_the_engine_telling_them() -> None:
    samples = [
        (0.0, [_one("api", "running/starting", restarts=None)]),
        (5.0, [_one("api", "restarting", restarts=None)]),
        (12.0, [_one("api", "running/healthy", restarts=None)]),
    ]
    assert _follow([Service("api")], samples)[-1].warnings == ("api restarted 1 time",)


def test_a_crash_loop_is_a_failure_even_when_every_look_finds_it_running() -> None:
    samples = [
        (float(at), [_one("api", "running", restarts=at, policy="always", started=float(at))]) for at in range(8)
    ]
    found = _follow([Service("api", policy="always")], samples)
    assert found[0].outcome == "waiting" and found[-1].outcome == "failed"
    assert "loop" in found[-1].failed[0].what


@pytest.mark.parametrize("code", [0, 1])
def test_a_loop_of_ends_is_a_loop_whatever_the_code(code: int) -> None:
    samples = [(at * 0.5, [_one("api", "restarting", restarts=at, code=code, policy="always")]) for at in range(9)]
    assert _follow([Service("api", policy="always")], samples)[-1].outcome == "failed"


def test_who_crashes_until_its_database_is_there_is_waited_for() -> None:
    services = [Service("api", policy="always"), Service("db")]
    samples = [
        (float(at), [_one("api", "restarting", restarts=at, policy="always"), _one("db", "running/starting")])
        for at in range(10)
    ]
    samples.append((11.0, [_one("api", "running/healthy", restarts=10), _one("db", "running/healthy")]))
    found = _follow(services, samples)
    assert {one.outcome for one in found[:-1]} == {"waiting"}
    assert found[-1].outcome == "ready" and found[-1].warnings == ("api restarted 10 times",)


def test_who_goes_on_crashing_once_the_others_are_ready_loops() -> None:
    services = [Service("api", policy="always"), Service("db"), Service("web")]
    samples = [
        (
            float(at),
            [
                _one("api", "restarting", restarts=at, policy="always"),
                _one("db", "running/healthy"),
                _one("web", "created"),  # held back by Compose until the api is healthy
            ],
        )
        for at in range(10)
    ]
    found = _follow(services, samples)
    assert found[-1].outcome == "failed" and found[-1].failed[0].service == "api"


def test_running_without_a_health_check_has_to_last() -> None:
    samples = [(at, [_one("web", "running")]) for at in (0.0, 1.0, 2.5)]
    assert [one.outcome for one in _follow([Service("web")], samples)] == ["waiting", "waiting", "ready"]


def test_the_engines_own_clock_counts_for_what_runs_long_since() -> None:
    watch = Watch([Service("web")])
    assert watch.look([_one("web", "running", started=1000.0)], 0.0, 1001.0).outcome == "waiting"
    assert Watch([Service("web")]).look([_one("web", "running", started=1000.0)], 0.0, 1060.0).outcome == "ready"


def test_a_restart_begins_the_wait_anew_and_makes_it_longer() -> None:
    samples = [
        (0.0, [_one("web", "running", started=0.0)]),
        (1.9, [_one("web", "running", restarts=1, started=1.8)]),
        (4.5, [_one("web", "running", restarts=1, started=1.8)]),
        (13.0, [_one("web", "running", restarts=1, started=1.8)]),
    ]
    assert [one.outcome for one in _follow([Service("web")], samples)] == ["waiting"] * 3 + ["ready"]


def test_an_end_that_a_policy_may_undo_is_not_final_at_first() -> None:
    ended = [_one("web", "exited", code=1, policy="on-failure")]
    samples = [(0.0, ended), (0.5, ended), (2.0, ended)]
    assert [one.outcome for one in _follow([Service("web")], samples)] == ["waiting", "waiting", "failed"]


def test_a_server_that_ends_with_0_is_no_one_shot() -> None:
    (found,) = _follow([Service("web", published=True)], [(0, [_one("web", "exited")])])
    assert found.outcome == "failed" and "publishes" in found.failed[0].what


@pytest.mark.parametrize(
    "sample",
    [
        [],
        [_one("web", "created")],
        [_one("web", "paused")],
        [_one("web", "removing")],
        [_one("web", "running/starting")],
        [_one("web", "running/unhealthy")],
        [_one("other", "running/healthy")],
        [_one("web", "running/healthy", oneoff=True)],
    ],
)
def test_what_is_not_there_yet_is_waited_for(sample: list[Container]) -> None:
    found = _follow([Service("web")], [(0, sample), (100, sample)])
    assert [one.outcome for one in found] == ["waiting", "waiting"]
    assert found[-1].waiting[0].what


def test_every_replica_counts_and_none_is_asked_of_scale_zero() -> None:
    services = [Service("web", replicas=2), Service("off", replicas=0)]
    one, two = _one("web", "running/healthy", id="1"), _one("web", "running/unhealthy", id="2")
    healthy = _one("web", "running/healthy", id="2")
    found = _follow(services, [(0, [one]), (1, [one, two]), (2, [one, healthy])])
    assert [verdict.outcome for verdict in found] == ["waiting", "waiting", "ready"]


def test_one_bad_sample_of_a_healthy_service_is_not_final() -> None:
    samples = [(0.0, [_one("db", "running/unhealthy")]), (9.0, [_one("db", "running/healthy")])]
    assert [one.outcome for one in _follow([Service("db")], samples)] == ["waiting", "ready"]


def test_dead_is_final() -> None:
    (found,) = _follow([Service("db")], [(0, [_one("db", "dead")])])
    assert found.outcome == "failed"
