from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morph_tasks.stack.sample import from_inspect, moment, parse_ps

DB = '{"Name":"p-db-1","Service":"db","State":"running","Health":"healthy","ExitCode":0,"Publishers":[]}'
WEB = '{"Name":"p-web-1","Service":"web","State":"running","ExitCode":0}'


def _standing(text: str) -> dict[str, str]:
    return {one.service: f"{one.state}/{one.health or '-'}" for one in parse_ps(text)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"[{DB},{WEB}]\n", {"db": "running/healthy", "web": "running/-"}),
        (f"{DB}\n{WEB}\n", {"db": "running/healthy", "web": "running/-"}),
        (f"{DB}\r\n{WEB}", {"db": "running/healthy", "web": "running/-"}),
        ("", {}),
        ("[]\n", {}),
        ("null\n", {}),
        (f'time="2026-01-02T03:04:05Z" level=warning msg="The \\"X\\" is not set."\n{DB}\n', {"db": "running/healthy"}),
        (f"WARN[0000] [x] is obsolete\n[{DB}]\nbye", {"db": "running/healthy"}),
        (f"[warn] not json\n{DB}", {"db": "running/healthy"}),
        (json.dumps(json.loads(f"[{DB},{WEB}]"), indent=2), {"db": "running/healthy", "web": "running/-"}),
        ('{"Service":"x","Status":"Up 3 minutes (unhealthy)"}', {"x": "running/unhealthy"}),
        ('{"Service":"x","Status":"Up 1 second (health: starting)"}', {"x": "running/starting"}),
        ('{"Service":"x","State":"exited","Health":null,"Status":"Exited (0) 2 s ago"}', {"x": "exited/-"}),
    ],
)
def test_both_shapes_of_ps_and_what_surrounds_them(text: str, expected: dict[str, str]) -> None:
    assert _standing(text) == expected


def test_ports_and_one_offs_of_ps() -> None:
    one = {
        "Name": "p-web-run-1",
        "Service": "web",
        "State": "running",
        "Labels": "com.docker.compose.oneoff=True,com.docker.compose.container-number=3",
        "Publishers": [
            {"URL": "0.0.0.0", "TargetPort": 80, "PublishedPort": 2080, "Protocol": "tcp"},
            {"URL": "::", "TargetPort": 80, "PublishedPort": 2080, "Protocol": "tcp"},
            {"URL": "", "TargetPort": 81, "PublishedPort": 0, "Protocol": "tcp"},
        ],
    }
    (found,) = parse_ps(json.dumps(one))
    assert (found.oneoff, found.number, [port.published for port in found.ports]) == (True, 3, [2080])


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from([DB, WEB, f"[{DB}]", "", "warn: {x", "[1, 2]", '{"a": 1}', "[", "}", '"s"'])))
def test_no_output_breaks_the_parser(parts: list[str]) -> None:
    found = parse_ps("\n".join(parts))
    assert {one.service for one in found} <= {"db", "web"}


def test_what_the_engine_says() -> None:
    found = from_inspect(
        {
            "Id": "abc",
            "Name": "/p-db-1",
            "Image": "sha256:1",
            "RestartCount": 2,
            "State": {"Status": "running", "ExitCode": 0, "StartedAt": "2026-11-30T07:21:53.036965813Z"},
            "Config": {"Labels": {"com.docker.compose.service": "db", "com.docker.compose.container-number": "1"}},
            "HostConfig": {"RestartPolicy": {"Name": "on-failure"}, "PortBindings": {"1/tcp": [{"HostPort": "9"}]}},
            "Mounts": [{"Type": "bind", "Source": "/src"}, {"Type": "volume", "Source": "/var"}],
            "NetworkSettings": {"Ports": {"5432/tcp": [{"HostIp": "0.0.0.0", "HostPort": "20002"}], "1/tcp": None}},
        }
    )
    assert (found.service, found.name, found.health, found.restarts) == ("db", "p-db-1", "", 2)
    assert (found.binds, found.policy) == (("/src",), "on-failure")
    assert [(port.published, port.target) for port in found.ports] == [(20002, 5432)]
    assert from_inspect({}).state == ""


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("1970-01-01T00:00:10Z", 10.0),
        ("1970-01-01T00:00:10.5Z", 10.5),
        ("1970-01-01T00:00:10.036965813Z", 10.036965813),
        ("1970-01-01T01:00:10.5+01:00", 10.5),
        ("1970-01-01T01:00:10+01:00", 10.0),
        ("0001-01-01T00:00:00Z", None),
        ("", None),
        ("soon", None),
    ],
)
def test_moments_of_the_engine(said: str, seconds: float | None) -> None:
    found = moment(said)
    assert found == pytest.approx(seconds) if seconds is not None else found is None


def test_the_room_holds_no_second_reader_of_ps() -> None:
    folder = Path(__file__).parents[2] / "morph_tasks" / "stack"
    asking = [path.name for path in folder.glob("*.py") if '"ps"' in path.read_text("utf-8")]
    assert asking == ["remote.py"]
