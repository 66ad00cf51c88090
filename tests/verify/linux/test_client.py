from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

import docker
import pytest
from docker.errors import APIError, ImageNotFound

from morph_tasks.errors import Refusal
from morph_tasks.verify.linux.client import connect, ensure_images


def _refused() -> Refusal:
    with pytest.raises(Refusal) as caught:
        connect()
    assert (caught.value.code, caught.value.exit_code) == ("docker-not-available", 2)
    return caught.value


def test_no_socket(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    refusal = _refused()
    assert "is not there" in refusal.what
    assert "install" in refusal.fix


def test_a_socket_that_a_dead_daemon_left(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    place = tmp_path / "d.sock"
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(place))
    monkeypatch.setenv("DOCKER_HOST", f"unix://{place}")
    assert "daemon is down" in _refused().what


def test_a_socket_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: object, **__: object) -> Any:
        error = docker.errors.DockerException("Error while fetching server API version")
        raise error from ConnectionError("Connection aborted.", PermissionError(13, "Permission denied"))

    monkeypatch.setattr(docker, "APIClient", forbidden)
    refusal = _refused()
    assert "may not use" in refusal.what
    assert "usermod" in refusal.fix


def test_a_port_where_nobody_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    monkeypatch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{port}")
    assert "nothing answers at" in _refused().what


@pytest.mark.parametrize("host", ["bogus://x", "ssh://nobody@127.0.0.1:1", "tcp://[::"])
def test_an_address_that_cannot_be_one(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    monkeypatch.setenv("DOCKER_HOST", host)
    _refused()


def test_a_context_that_is_not_there_or_is_damaged(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import hashlib

    monkeypatch.delenv("DOCKER_HOST", raising=False)
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    (tmp_path / "config.json").write_text('{"currentContext": "away"}')
    assert "context" in _refused().what
    folder = tmp_path / "contexts/meta" / hashlib.sha256(b"away").hexdigest()
    folder.mkdir(parents=True)
    (folder / "meta.json").write_text("{not json")
    assert "orrupt" in _refused().what
    monkeypatch.setenv("DOCKER_CONTEXT", "elsewhere")
    assert "elsewhere" in _refused().what


def test_the_context_in_use_names_the_socket(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import hashlib
    import json

    monkeypatch.delenv("DOCKER_HOST", raising=False)
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    (tmp_path / "config.json").write_text('{"currentContext": "mine"}')
    folder = tmp_path / "contexts/meta" / hashlib.sha256(b"mine").hexdigest()
    folder.mkdir(parents=True)
    meta = {"Name": "mine", "Metadata": {}, "Endpoints": {"docker": {"Host": f"unix://{tmp_path}/mine.sock"}}}
    (folder / "meta.json").write_text(json.dumps(meta))
    asked: list[Any] = []

    def client(**place: Any) -> Any:
        asked.append(place)
        raise docker.errors.DockerException("enough")

    monkeypatch.setattr(docker, "APIClient", client)
    _refused()
    assert asked[0]["base_url"] == f"unix://{tmp_path}/mine.sock"


def test_an_engine_for_windows_containers(monkeypatch: pytest.MonkeyPatch) -> None:
    class Windows:
        def __init__(self, **_: Any) -> None: ...

        def version(self) -> dict[str, str]:
            return {"Os": "windows"}

    monkeypatch.setattr(docker, "APIClient", Windows)
    assert "windows containers" in _refused().what


class _Engine:
    """An engine that has the images it is given, and can pull others."""

    def __init__(self, here: dict[str, Any], pulls: dict[str, list[dict[str, Any]]]) -> None:
        self.here, self.pulls = here, pulls
        self.asked: list[tuple[str, str]] = []

    def inspect_image(self, name: str) -> Any:
        if name not in self.here:
            raise ImageNotFound("no such image")
        return self.here[name]

    def pull(self, repository: str, tag: str, **_: Any) -> Any:
        self.asked.append((repository, tag))
        name = f"{repository}:{tag}"
        if name not in self.pulls:
            raise APIError("500", explanation="dial tcp: lookup registry: no such host")
        yield from self.pulls[name]
        if not any("error" in line for line in self.pulls[name]):
            self.here[name] = self.here[repository] = {"Id": "sha256:new", "Os": "linux"}


def test_an_image_that_is_here_is_not_pulled() -> None:
    engine = _Engine({"a:1": {"Id": "sha256:1", "Os": "linux", "Architecture": "arm64"}}, {})
    said: list[str] = []
    found = ensure_images(engine, ["a:1", "a:1"], said.append)  # type: ignore[arg-type]
    assert (found["a:1"].id, found["a:1"].arch, said, engine.asked) == ("sha256:1", "arm64", [], [])


@pytest.mark.parametrize(
    ("name", "asked"),
    [("a:1", ("a", "1")), ("a", ("a", "latest")), ("127.0.0.1:5000/a/b", ("127.0.0.1:5000/a/b", "latest"))],
)
def test_a_missing_image_is_pulled_and_said(name: str, asked: tuple[str, str]) -> None:
    progress = {"id": "x", "status": "Downloading", "progressDetail": {"current": 1, "total": 2}}
    engine = _Engine({}, {":".join(asked): [progress, {"status": "Done"}]})
    said: list[str] = []
    assert ensure_images(engine, [name], said.append)[name].id == "sha256:new"  # type: ignore[arg-type]
    assert engine.asked == [asked]
    assert said[0] == f"pulling {name}"


def test_an_image_that_cannot_be_had_says_why() -> None:
    engine = _Engine({"w": {"Id": "sha256:1", "Os": "windows"}}, {"b:1": [{"error": "manifest unknown"}]})
    for name, why in (("gone:1", "no such host"), ("b:1", "manifest unknown"), ("w", "an image for windows")):
        with pytest.raises(Refusal) as caught:
            ensure_images(engine, [name], lambda _: None)  # type: ignore[arg-type]
        assert (caught.value.code, caught.value.exit_code) == ("linux-image-missing", 2)
        assert why in caught.value.what
        assert caught.value.payload["image"] == name


def test_nothing_is_loaded_before_it_is_needed() -> None:
    import subprocess
    import sys

    code = "import sys, morph_tasks.verify.linux.client, morph_tasks.verify.linux.run; print('docker' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ})
    assert done.stdout.strip() == "False"
