"""The Docker engine: whether it answers, and whether an image is here or can be had."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.verify.linux.images import Image

if TYPE_CHECKING:
    from docker import APIClient

# Seconds for one answer of the engine; streams have none. Unpacking a large tree counts as one answer.
_ANSWER_S = 300
_SHOWN_EVERY_S = 5.0
_CONTENT_LETTERS = 300

Say = Callable[[str], None]


def connect() -> APIClient:
    """Return a client of the engine that the `docker` command would use; raises Refusal `docker-not-available` (2)."""
    try:
        import docker
        from docker.errors import DockerException
    except ImportError as error:
        raise _unavailable(f"the Python package docker cannot be loaded: {error}", "reinstall morph-spec") from None
    try:
        place = _place()
        client = docker.APIClient(**place, version="auto", timeout=_ANSWER_S)
        system = str(client.version().get("Os") or "linux")
    except (DockerException, OSError, ValueError) as error:
        raise _unavailable(*_cause(error)) from None
    except Exception as error:  # a context file that makes no sense raises whatever it likes
        raise _unavailable(str(error) or type(error).__name__, "check `docker context inspect`") from None
    if system != "linux":
        raise _unavailable(f"the engine runs {system} containers", "switch it to Linux containers")
    return client


def ensure_images(client: APIClient, names: Iterable[str], say: Say) -> dict[str, Image]:
    """Return the images by name, pulled where they are missing; raises Refusal `linux-image-missing` (exit 2)."""
    return {name: _ensured(client, name, say) for name in dict.fromkeys(names)}


def _place() -> dict[str, Any]:
    """Return where the engine is: DOCKER_HOST, else the context that is in use, as for the `docker` command."""
    from docker.context import ContextAPI
    from docker.utils import kwargs_from_env

    if os.environ.get("DOCKER_HOST"):
        return dict(kwargs_from_env())
    name = os.environ.get("DOCKER_CONTEXT") or None
    context = ContextAPI.get_context(name)
    if context is None:
        raise ValueError(f"there is no docker context {name}" if name else "the docker context in use is not there")
    found: dict[str, Any] = {"base_url": context.Host} if context.Host else {}
    if found and context.TLSConfig is not None:
        found["tls"] = context.TLSConfig
    return found


def _unavailable(why: str, fix: str) -> Refusal:
    what = f"--linux needs a Docker engine, and there is none to use: {why}"
    return Refusal("docker-not-available", what, fix=fix, exit_code=2)


def _cause(error: BaseException) -> tuple[str, str]:
    """Return what is wrong in words and what to do, from the error of the system at the bottom of it."""
    found = _system_error(error)
    where = os.environ.get("DOCKER_HOST") or "the engine's socket"
    code = found.errno if found else None
    if code == errno.ENOENT:
        return f"{where} is not there", "install the Docker engine and start it"
    if code in (errno.EACCES, errno.EPERM):
        return f"this user may not use {where}", 'sudo usermod -aG docker "$USER", then log in again'
    if code == errno.ECONNREFUSED:
        return f"nothing answers at {where}: the daemon is down", "start the Docker daemon"
    return " ".join(str(error).split())[:_CONTENT_LETTERS] or type(error).__name__, "check that `docker version` works"


def _system_error(error: BaseException) -> OSError | None:
    """Find the OSError with a number inside of an error: libraries keep it as a cause or among the arguments."""
    todo: list[object] = [error]
    seen: set[int] = set()
    while todo:
        one = todo.pop()
        if id(one) in seen or not isinstance(one, BaseException):
            continue
        seen.add(id(one))
        # Other errors than those of the system may carry a text in the place of the number.
        if isinstance(one, OSError) and isinstance(one.errno, int):
            return one
        todo += [one.__context__, one.__cause__, getattr(one, "reason", None), *one.args]
    return None


def _ensured(client: APIClient, name: str, say: Say) -> Image:
    found = _inspect(client, name)
    if found is None:
        say(f"pulling {name}")
        _pull(client, name, say)
        found = _inspect(client, name)
    if found is None:
        raise _missing(name, "it was pulled and is still not here")
    return found


def _inspect(client: APIClient, name: str) -> Image | None:
    from docker.errors import APIError, DockerException, ImageNotFound
    from requests import RequestException

    try:
        said: dict[str, Any] = client.inspect_image(name)  # type: ignore[no-untyped-call]
    except ImageNotFound:
        return None
    except (APIError, DockerException, RequestException) as error:
        raise _missing(name, reason(error)) from None
    if (said.get("Os") or "linux") != "linux":
        raise _missing(name, f"it is an image for {said['Os']}")
    return Image(name, str(said["Id"]), str(said.get("Architecture") or ""))


def _pull(client: APIClient, name: str, say: Say) -> None:
    from docker.errors import DockerException
    from docker.utils import parse_repository_tag
    from requests import RequestException

    repository, tag = parse_repository_tag(name)
    try:
        # Without a tag the engine would pull all there are.
        lines = client.pull(repository, tag=tag or "latest", stream=True, decode=True)
        for line in _shown(lines, name, say):
            if line.get("error"):
                raise _missing(name, " ".join(str(line["error"]).split()))
    except (DockerException, RequestException) as error:
        raise _missing(name, reason(error)) from None


def _shown(lines: Iterator[dict[str, Any]], name: str, say: Say) -> Iterator[dict[str, Any]]:
    """Tell now and then how far a pull is, and hand on what the engine says."""
    layers: dict[str, tuple[int, int]] = {}
    last = time.monotonic()
    for line in lines:
        done = line.get("progressDetail") or {}
        if line.get("id") and line.get("status") == "Downloading":
            layers[line["id"]] = (int(done.get("current") or 0), int(done.get("total") or 0))
        if layers and time.monotonic() - last >= _SHOWN_EVERY_S:
            last = time.monotonic()
            got, all_of_it = (sum(part[place] for part in layers.values()) // 1_000_000 for place in (0, 1))
            say(f"pulling {name}: {got} of {all_of_it} MB in {len(layers)} layers")
        yield line


def reason(error: BaseException) -> str:
    """Return what the engine said, or else what went wrong, on one line."""
    said = getattr(error, "explanation", None) or str(error) or type(error).__name__
    return " ".join(str(said).split())[:_CONTENT_LETTERS]


def _missing(name: str, why: str) -> Refusal:
    return Refusal(
        "linux-image-missing",
        f"the image {name} is not here and cannot be had: {why}",
        fix=f"docker pull {name}, or name another one: --linux-image IMAGE",
        exit_code=2,
        image=name,
    )
