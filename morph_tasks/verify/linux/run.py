"""Run the suite of a node in a container that holds a copy of the tree, and bring back what it reports."""

from __future__ import annotations

import os
import secrets
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.machine import signals, starting
from morph_tasks.machine.processes import Ended
from morph_tasks.machine.registry import LIVE
from morph_tasks.verify.linux import inside
from morph_tasks.verify.linux.active import ACTIVE
from morph_tasks.verify.linux.images import Image

if TYPE_CHECKING:
    from docker import APIClient

    from morph_tasks.repo.git import Repo
    from morph_tasks.verify.linux.listing import Entry
    from morph_tasks.verify.nodes import Node

_LOOK_S = 0.2
_LAST_OUTPUT_S = 5


@dataclass(frozen=True)
class EndedInside(Ended):
    """How a suite ended in its container: `unbuilt` is the prebuild of the node that failed, `warnings` what to add."""

    unbuilt: int | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Job:
    """What one container is for."""

    repo: Repo
    node: Node
    feature: str
    run_id: str
    timeout_s: float
    image: Image
    env: Mapping[str, str]
    back: tuple[str, ...]
    token: str


class _LeavingError(Exception):
    """This process was asked to leave while the tree was copied."""


def launch_in_container(
    repo: Repo,
    node: Node,
    log: Path,
    *,
    feature: str,
    run_id: str,
    timeout_ms: int,
    image: Image,
    env: Mapping[str, str] | None = None,
    back: Sequence[str] = (),
) -> EndedInside:
    """Run a node's prebuilds and command in a container of its own; the log holds all that they said.

    The tree is copied in; files that `junit`, `outputs` and the globs of `back` name are copied out. `env` is added to
    what the node declares. The container is removed whatever happens. Raises Refusal `command-not-started`,
    `docker-not-available`, `git-failed`.
    """
    from morph_tasks.verify.launch import redact

    token = secrets.token_hex(16)
    wanted = (*node.junit, *node.outputs, *back)
    job = Job(repo, node, feature, run_id, timeout_ms / 1000, image, env or {}, wanted, token)
    signals.watch_parent()
    signals.install(ACTIVE.leave)
    with starting.opened(log) as out:
        ended = _run(job, log, out)
    redact(log)
    return ended


def _run(job: Job, log: Path, out: int) -> EndedInside:
    from docker.errors import APIError, DockerException
    from requests import RequestException

    from morph_tasks.verify.linux.client import connect, reason
    from morph_tasks.verify.linux.labels import remove_token

    client = connect()
    with ACTIVE.waiting(job.token):
        try:
            return _followed(client, job, log, out)
        except _LeavingError:
            return EndedInside(None, timed_out=False, interrupted=True, duration_ms=0)
        except (APIError, DockerException, RequestException) as error:
            raise starting.not_started(f"the engine said: {reason(error)}", command=[job.node.command]) from None
        finally:
            try:
                remove_token(client, job.token)
            except (DockerException, RequestException):
                _note(out, "the container could not be removed; the next verify of this tree does it")
            client.close()


def _followed(client: APIClient, job: Job, log: Path, out: int) -> EndedInside:
    """Fill, start and wait for a container, then read what it left."""
    from morph_tasks.verify.linux.bringing import bring_back, bring_report, read_small
    from morph_tasks.verify.linux.listing import files_to_copy

    entries = list(files_to_copy(job.repo, job.back))
    container = _filled(client, job, entries)
    began = time.monotonic()
    pump = _Pump(client, container, out)
    client.start(container)
    timed_out, interrupted = _wait(pump, began + job.timeout_s * (1 + len(job.node.prebuild)))
    took = time.monotonic() - began
    state = _ended_state(client, container, pump)
    if interrupted:
        return EndedInside(state.code, timed_out=False, interrupted=True, duration_ms=round(took * 1000))
    from morph_tasks.verify.launch import report_of

    root = Path(os.path.realpath(job.repo.root))
    known = frozenset(entry.path for entry in entries)
    warnings = [*state.said, *bring_back(client, container, root, job.back, known)]
    bring_report(client, container, inside.REPORT, report_of(log), root)
    unbuilt = read_small(client, container, inside.UNBUILT) if job.node.prebuild else None
    return EndedInside(
        exit_code=state.code,
        timed_out=timed_out,
        interrupted=False,
        duration_ms=round(took * 1000),
        unbuilt=int(unbuilt) if unbuilt and unbuilt.strip().isdigit() else None,
        warnings=tuple(warnings),
    )


def _filled(client: APIClient, job: Job, entries: Sequence[Entry]) -> str:
    """Create the container and copy the tree and our folder into it; raises _LeavingError."""
    from docker.types import LogConfig

    from morph_tasks.verify.linux.copying import tar_of, tar_of_files
    from morph_tasks.verify.linux.labels import labels_of

    node = job.node
    labels = labels_of(job.repo, run_id=job.run_id, feature=job.feature, node=node.ref, token=job.token)
    with ACTIVE.starting() as may:
        if not may or LIVE.closed:
            raise _LeavingError
        made = client.create_container(
            # By its content, which is what the key of the node names.
            job.image.id,
            command=[inside.script(node)],
            entrypoint=["/bin/sh", "-c"],
            working_dir=os.path.normpath(f"{inside.WORK}/{node.cwd}"),
            environment=inside.environment(node, job.feature, job.env, _image_env(client, job.image)),
            user="0:0",
            labels=labels,
            # The log is ours; the engine's own would be a second copy on its disk.
            host_config=client.create_host_config(init=True, log_config=LogConfig(type="none")),
        )
    container = str(made["Id"])
    root = Path(os.path.realpath(job.repo.root))
    for stream in (tar_of(root, entries, inside.WORK[1:]), tar_of_files(inside.kit(node))):
        _send(client, container, stream)
    return container


def _send(client: APIClient, container: str, stream: Iterator[bytes]) -> None:
    """Unpack an archive in a container; raises _LeavingError.

    In a thread of its own: a signal that stopped the main one in the middle of sending would keep the connection open,
    and as long as it is, the engine lets nobody remove the container.
    """
    failed: list[BaseException] = []

    def send() -> None:
        try:
            client.put_archive(container, "/", _watched(stream))
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=send, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(_LOOK_S)
    if failed:
        raise failed[0]


def _image_env(client: APIClient, image: Image) -> list[str]:
    """Return the variables that an image sets, as `NAME=value`."""
    said: dict[str, Any] = client.inspect_image(image.id)  # type: ignore[no-untyped-call]
    return (said.get("Config") or {}).get("Env") or []


def _watched(stream: Iterator[bytes]) -> Iterator[bytes]:
    """Stop sending when this process is asked to leave."""
    for piece in stream:
        if LIVE.closed or ACTIVE.closed:
            raise _LeavingError
        yield piece


class _Pump:
    """Carries what a container says to the log, as it comes."""

    def __init__(self, client: APIClient, container: str, out: int) -> None:
        self.client, self.container = client, container
        self.failed: str | None = None
        self._out = out
        # Attached before the start, so that not a byte is missed.
        self._pieces = client.attach(container, stdout=True, stderr=True, stream=True, logs=False)
        self.thread = threading.Thread(target=self._carry, daemon=True)
        self.thread.start()

    def _carry(self) -> None:
        try:
            for piece in self._pieces:
                _write(self._out, piece)
        except Exception as error:
            self.failed = " ".join(str(error).split()) or type(error).__name__


def _wait(pump: _Pump, deadline: float) -> tuple[bool, bool]:
    """Wait for the end of the output, the end of the time or our own; returns whether it was one of the latter two."""
    while pump.thread.is_alive():
        if LIVE.closed or ACTIVE.closed:
            return False, True
        left = deadline - time.monotonic()
        if left <= 0:
            return True, False
        pump.thread.join(min(_LOOK_S, left))
    return False, False


@dataclass(frozen=True)
class _State:
    code: int | None
    said: tuple[str, ...] = ()


def _ended_state(client: APIClient, container: str, pump: _Pump) -> _State:
    """Return the exit code of a container that has ended; one that runs is ended first."""
    from docker.errors import APIError
    from requests import RequestException

    try:
        state = client.inspect_container(container)["State"]
        if state.get("Running"):
            if pump.thread.is_alive() or pump.failed:
                client.kill(container)
            client.wait(container, timeout=_LAST_OUTPUT_S)
            state = client.inspect_container(container)["State"]
    except (APIError, RequestException) as error:
        return _State(None, (f"how the container ended is not known: {' '.join(str(error).split())}",))
    pump.thread.join(_LAST_OUTPUT_S)
    said = []
    if state.get("OOMKilled"):
        said.append("the container ran out of memory")
    if pump.failed:
        said.append(f"its output broke off: {pump.failed}")
    return _State(int(state["ExitCode"]), tuple(said))


def _note(out: int, line: str) -> None:
    _write(out, f"[morph-spec] {line}\n".encode())


def _write(handle: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(handle, rest) :]
