from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.stack import busy
from morph_tasks.stack.compose import compose_file, services_of, words_of
from morph_tasks.stack.env import StackEnv
from morph_tasks.stack.ports import Block
from morph_tasks.stack.preflight import findings

ENV = StackEnv({"COMPOSE_PROJECT_NAME": "morph-cart", "PORT": "21000"}, block=Block(21000, "cart"))


@pytest.fixture(autouse=True)
def _no_engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")


def _found(resolved: dict[str, Any], root: Path) -> list[tuple[str, str, bool]]:
    return [(one.code, one.message, one.blocks) for one in findings(resolved, ENV, root, frozenset())]


def test_fixed_names_are_found_and_those_of_the_project_are_not(tmp_path: Path) -> None:
    resolved = {
        "services": {"db": {"container_name": "zed-db"}, "web": {"container_name": "morph-cart-web"}},
        "networks": {"default": {"name": "zed-net"}, "own": {"name": "morph-cart_own"}, "ext": {"external": True}},
        "volumes": {"data": {"name": "zed-data"}, "own": {"name": "morph-cart_own"}, "none": None},
    }
    assert _found(resolved, tmp_path) == [
        ("fixed-container-name", "service db: fixed container_name zed-db", True),
        ("fixed-network-name", "network default: fixed name zed-net shared", True),
        ("external-network", "network ext: external, so shared by all stacks that use ext", False),
        ("fixed-volume-name", "volume data: fixed name zed-data shared", True),
    ]


@pytest.mark.parametrize(
    ("port", "fixed"),
    [
        ({"target": 80, "published": "21000"}, []),
        ({"target": 80, "published": "21009"}, []),
        ({"target": 80, "published": "21010"}, [21010]),
        ({"target": 80, "published": "3000"}, [3000]),
        ({"target": 80, "published": 3000}, [3000]),
        ({"target": 80}, []),
        ({"target": 80, "published": ""}, []),
        ({"target": 80, "published": "0"}, []),
        ({"target": 80, "published": "21008-21011"}, [21010, 21011]),
        ({"target": 53, "published": "2053", "protocol": "udp"}, [2053]),
    ],
)
def test_ports_outside_the_block_are_fixed(port: dict[str, Any], fixed: list[int], tmp_path: Path) -> None:
    resolved = {"services": {"web": {"ports": [port]}}}
    found = [message for code, message, _ in _found(resolved, tmp_path) if code == "fixed-port"]
    assert found == [f"service web: fixed published port {number}" for number in fixed]


def test_the_network_of_the_host_is_found(tmp_path: Path) -> None:
    assert _found({"services": {"web": {"network_mode": "host"}}}, tmp_path)[0][0] == "host-network"


def test_bind_sources_that_are_not_there(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    os.symlink("nowhere", tmp_path / "link")
    mounts = [
        {"type": "bind", "source": str(tmp_path / "there"), "target": "/a"},
        {"type": "bind", "source": str(tmp_path / "link"), "target": "/l"},
        {"type": "bind", "source": str(tmp_path / "gone"), "target": "/b"},
        {"type": "volume", "source": "data", "target": "/c"},
        {"type": "tmpfs", "target": "/d"},
    ]
    resolved = {"services": {"web": {"volumes": mounts}}, "secrets": {"key": {"file": str(tmp_path / "key")}}}
    assert [message for _, message, _ in _found(resolved, tmp_path)] == [
        "service web: the bind source ./gone is not there",
        "secret key: the file ./key is not there",
    ]


def test_who_holds_a_port_is_named(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen(1)
        number = taken.getsockname()[1]
        resolved = {"services": {"web": {"ports": [{"target": 80, "published": str(number)}]}}}
        said = [message for code, message, _ in _found(resolved, tmp_path) if code == "port-in-use"]
        assert len(said) == 1 and f"port {number} is in use by" in said[0] and f"(pid {os.getpid()})" in said[0]
    assert not [code for code, _, _ in _found(resolved, tmp_path) if code == "port-in-use"]


def test_a_port_on_one_address_leaves_another_free() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen(1)
        number = taken.getsockname()[1]
        assert not busy.can_bind("127.0.0.1", number)
        assert busy.can_bind("127.0.0.2", number)
        assert not busy.can_bind("", number)
        assert busy.can_bind("127.0.0.1", number, "udp")


def test_services_as_a_bring_up_needs_them() -> None:
    resolved = {
        "services": {
            "a": {"build": {"context": "."}, "ports": [{"target": 1}], "deploy": {"replicas": 3}},
            "b": {"restart": "unless-stopped", "scale": 0, "ports": [{"target": 1, "published": "5"}]},
            "c": {"deploy": {"restart_policy": {"condition": "any"}}},
            "d": {"provider": {"type": "x"}},
        }
    }
    found = {one.name: one for one in services_of(resolved)}
    assert list(found) == ["a", "b", "c"]
    assert (found["a"].replicas, found["a"].build, found["a"].published) == (3, True, False)
    assert (found["b"].replicas, found["b"].policy, found["b"].published) == (0, "unless-stopped", True)
    assert found["c"].policy == "always"


def test_the_file_of_the_folder_above_is_not_this_trees(tmp_path: Path) -> None:
    (tmp_path / "compose.yaml").write_text("services: {}\n")
    inner = tmp_path / "worktrees" / "cart"
    inner.mkdir(parents=True)
    assert compose_file(inner, {}) is None
    assert compose_file(tmp_path, {}) == "compose.yaml"
    (inner / ".env").write_text("COMPOSE_FILE=docker/dev.yml\n")
    assert compose_file(inner, {}) == "docker/dev.yml"
    assert compose_file(inner, {"COMPOSE_FILE": "other.yml"}) == "other.yml"


def test_warnings_in_the_words_of_compose() -> None:
    said = 'time="2026-01-02T03:04:05Z" level=warning msg="The \\"X\\" variable is not set."\nplain\n'
    assert words_of(said * 2) == ['The "X" variable is not set.']
