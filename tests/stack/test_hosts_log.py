"""Logs of host services: private, without secrets from the first byte on."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morph_tasks.stack import hosts, hosts_log
from morph_tasks.stack.hosts_filter import clean
from tests.conftest import Project
from tests.stack.hosts_tools import PROJECT, Stage, get, staged, wait_until

SECRET = "hunter2-hunter2"


@pytest.fixture
def stage(project: Project, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    yield from staged(project, monkeypatch)


def copied(pieces: list[bytes], secrets: list[tuple[bytes, bytes]]) -> bytes:
    """Return what the filter makes of pieces."""
    found, rest = b"", b""
    for piece in pieces:
        ready, rest = clean(rest + piece, secrets, last=False)
        found += ready
    return found + clean(rest, secrets, last=True)[0]


@settings(max_examples=200, deadline=None)
@given(
    text=st.text("abx", max_size=40).map(str.encode),
    secrets=st.lists(st.text("ab", min_size=2, max_size=6).map(str.encode), max_size=3),
    cuts=st.lists(st.integers(0, 40), max_size=6),
)
def test_no_secret_gets_through_however_it_is_cut(text: bytes, secrets: list[bytes], cuts: list[int]) -> None:
    pairs = sorted(((secret, b"[S]") for secret in secrets), key=lambda pair: -len(pair[0]))
    edges = [0, *sorted(cut for cut in cuts if cut < len(text)), len(text)]
    found = copied([text[begin:end] for begin, end in itertools.pairwise(edges)], pairs)
    assert not any(secret in found for secret in secrets)
    if not any(secret in text for secret in secrets):
        assert found == text


def test_a_secret_that_ends_with_its_own_beginning_is_not_cut() -> None:
    assert copied([b"xabcab", b"!"], [(b"abcab", b"[S]")]) == b"x[S]!"


def test_what_only_may_be_a_secret_is_not_kept_for_long(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with hosts_log.sink(log, dict(os.environ), {SECRET: "[S]"}) as (out, filter_pid):
        assert filter_pid is not None
        os.write(out, b"begin hunter2-")
        wait_until(lambda: log.read_bytes() == b"begin hunter2-", "it is written though no more came")
        os.write(out, SECRET.encode() + b"\n")
        wait_until(lambda: log.read_bytes() == b"begin hunter2-[S]\n", "the secret is not")
    wait_until(lambda: os.waitpid(filter_pid, os.WNOHANG)[0], "the filter ends with its last writer")


def test_without_secrets_nothing_is_in_between(tmp_path: Path) -> None:
    with hosts_log.sink(tmp_path / "log", {}, {}) as (out, filter_pid):
        assert filter_pid is None
        os.write(out, b"x\n")
    assert (tmp_path / "log").read_bytes() == b"x\n"


def test_secrets_are_told_by_their_names_or_by_their_file() -> None:
    env = {"API_TOKEN": SECRET, "MY_PASSWORD": "short", "USER": "somebody", "MAIL": "me@example.invalid"}
    assert hosts_log.secrets_of(env) == {SECRET: "[API_TOKEN]"}
    assert hosts_log.secrets_of(env, ["me@example.invalid"])["me@example.invalid"] == "[MAIL]"


def test_a_service_that_tells_its_secret_after_the_tool_is_gone_is_not_heard(stage: Stage) -> None:
    stage.env["APP_TOKEN"] = SECRET
    api = stage.server()
    tool = stage.child(f"print(up({api!r}).status)")
    assert tool.communicate(timeout=30)[0].strip() == "pass"
    get(stage.ports["api"], "/secret")
    wait_until(lambda: "the token is" in stage.log().read_text(), "it was said")
    assert stage.log().read_text() == "listening\nthe token is [APP_TOKEN]\n"
    assert SECRET not in stage.place.state.read_text()
    stage.down()
    wait_until(lambda: not stage.marked(), "the filter is gone too")


@pytest.mark.parametrize("where", ["build", "start"])
def test_output_and_log_of_a_failure_hold_no_secret(stage: Stage, where: str) -> None:
    stage.env["APP_TOKEN"] = SECRET
    service = {"name": "api", "start": "true", where: "echo $APP_TOKEN; exit 1"}
    result = stage.up(service)
    assert result.status == "fail"
    assert result.output == "[APP_TOKEN]"
    assert stage.log().read_text() == "[APP_TOKEN]\n"
    assert stage.log().stat().st_mode & 0o777 == 0o600


def test_the_secret_of_a_health_url_is_not_in_the_reason(stage: Stage) -> None:
    stage.env["APP_TOKEN"] = SECRET
    service = {"name": "api", "start": "exit 1", "health": "http://127.0.0.1:1/?key=${APP_TOKEN}"}
    result = stage.up(service)
    assert "[APP_TOKEN]" in result.reason
    assert SECRET not in result.reason


def test_a_new_start_begins_a_new_log_and_keeps_the_one_before(stage: Stage) -> None:
    stage.up({"name": "w", "start": "echo one; exit 1"})
    result = stage.up({"name": "w", "start": "echo two; exit 1"})
    assert result.output == "two"
    assert stage.log("w").read_text() == "two\n"
    assert stage.log("w").with_name(f"{stage.log('w').name}.1").read_text() == "one\n"


def test_a_log_that_is_a_link_is_not_written_through(stage: Stage, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    stage.place.folder.mkdir(parents=True, exist_ok=True)
    stage.log("w").symlink_to(victim)
    stage.up({"name": "w", "start": "echo hello; exit 1"})
    assert victim.read_text() == "mine"


def test_a_readable_log_becomes_private(stage: Stage) -> None:
    stage.up({"name": "w", "start": "exec sleep 300"})
    stage.log("w").chmod(0o644)
    stage.up({"name": "w", "start": "exec sleep 300"}, fresh=True)
    assert stage.log("w").stat().st_mode & 0o777 == 0o600


def test_the_end_of_a_log_of_any_size_and_kind(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"x" * 200_000 + b"\nprogress 1%\rprogress 100%\r\n\xff\xfe bytes\r\n\n")
    assert hosts_log.tail(log, {}).split("\n")[-2:] == ["progress 100%", "\ufffd\ufffd bytes"]
    assert len(hosts_log.tail(log, {})) < 5000
    log.write_bytes(b"")
    assert hosts_log.tail(log, {}) == ""
    assert hosts_log.tail(tmp_path / "none", {}) == ""


def test_a_service_is_not_ended_by_a_full_disk() -> None:
    # /dev/full refuses every byte; what the service writes is lost, and the service is not.
    program = Path(hosts_log.__file__).with_name("hosts_filter.py")
    with open("/dev/full", "wb") as full:
        done = subprocess.run([sys.executable, "-I", "-S", str(program)], input=b"x" * 300_000, stdout=full, timeout=30)
    assert done.returncode == 0


def test_stop_leaves_the_log_to_read(stage: Stage) -> None:
    stage.up(stage.server())
    stage.down()
    assert stage.log().read_text() == "listening\n"
    assert hosts.status_of(stage.repo, PROJECT) == ()
