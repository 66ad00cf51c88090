"""The Docker engine over its own socket: a few questions, asked without the client library, whose import costs more.

Where the engine is not behind a socket of this machine (another host, TLS, ssh), `docker` itself is asked.
"""

from __future__ import annotations

# `socket` and `urllib` cost more to import than the engine takes to answer.
import _socket
import errno
import json
import os

from morph_tasks.errors import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_ANSWER_S = 20.0
_CHUNK = 1 << 16
DEFAULT_SOCKET = "/var/run/docker.sock"
PROJECT_LABEL = "com.docker.compose.project"


class EngineError(Exception):
    """The engine refused a question: its status and its words."""

    def __init__(self, code: int, said: str) -> None:
        super().__init__(said)
        self.code = code


def socket_path() -> str | None:
    """Return the socket that the `docker` command would use; None when it would use something else."""
    host = os.environ.get("DOCKER_HOST") or _context_host()
    if not host:
        return DEFAULT_SOCKET
    return host.removeprefix("unix://") if host.startswith("unix://") else None


def get(path: str, *, timeout_s: float = _ANSWER_S) -> Any:
    """Ask the engine at its socket; raises EngineError, or Refusal `docker-not-available` naming the cause."""
    where = socket_path()
    if where is None:
        raise ValueError("the engine is not behind a socket")
    try:
        head, body = _exchange(where, path, timeout_s)
    except OSError as error:
        raise unavailable(*_cause(error, where)) from None
    status = int(head.split(b" ", 2)[1]) if head.startswith(b"HTTP/") else 0
    try:
        found = json.loads(body) if body else None
    except ValueError:
        found = None
    if status != 200:
        said = found.get("message") if isinstance(found, dict) else body.decode("utf-8", "replace")
        raise EngineError(status, str(said or f"status {status}")[:500])
    return found


def containers(project: str | None = None) -> list[dict[str, Any]]:
    """List containers of a project, or all, those that ended included, in the engine's own form."""
    found: list[dict[str, Any]] = get(f"/containers/json?all=1{_by_project(project)}") or []
    return found


def inspect(container: str) -> dict[str, Any] | None:
    """Return all the engine knows of a container; None when it is gone."""
    return _unless_gone(f"/containers/{_quoted(container)}/json")


def image_id(name: str) -> str | None:
    """Return the digest of an image; None when it is not here."""
    found = _unless_gone(f"/images/{_quoted(name)}/json")
    return str(found["Id"]) if found else None


def volumes(project: str) -> list[dict[str, Any]]:
    """List the volumes of a project."""
    found = get(f"/volumes?{_by_project(project)[1:]}") or {}
    return list(found.get("Volumes") or [])


def networks(project: str) -> list[dict[str, Any]]:
    """List the networks of a project."""
    found: list[dict[str, Any]] = get(f"/networks?{_by_project(project)[1:]}") or []
    return found


def ping(timeout_s: float = 5.0) -> None:
    """Raise Refusal `docker-not-available` unless the engine answers."""
    try:
        get("/version", timeout_s=timeout_s)
    except EngineError as error:
        raise unavailable(str(error), "check that `docker version` works") from None


def unavailable(why: str, fix: str) -> Refusal:
    """Return the refusal of an engine that cannot be used; `cause` is the part that a skip names."""
    return Refusal("docker-not-available", f"docker is not available: {why}", fix=fix, cause=why)


def _unless_gone(path: str) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = get(path)
    except EngineError as error:
        if error.code == 404:
            return None
        raise
    return found


def _by_project(project: str | None) -> str:
    if project is None:
        return ""
    return "&filters=" + _quoted(json.dumps({"label": [f"{PROJECT_LABEL}={project}"]}))


def _quoted(text: str) -> str:
    """Return a text as a part of an address; what the names of images hold is left as it is."""

    def coded(sign: str) -> str:
        if sign.isascii() and (sign.isalnum() or sign in "-._~/:@"):
            return sign
        return "".join(f"%{byte:02X}" for byte in sign.encode())

    return "".join(map(coded, text))


def _exchange(where: str, path: str, timeout_s: float) -> tuple[bytes, bytes]:
    # HTTP/1.0: the engine answers in one piece and closes, so nothing has to be put together.
    request = f"GET {path} HTTP/1.0\r\nHost: docker\r\nAccept: application/json\r\n\r\n"
    link = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        link.settimeout(timeout_s)
        link.connect(where)
        rest = request.encode("ascii")
        while rest:
            rest = rest[link.send(rest) :]
        pieces = []
        while piece := link.recv(_CHUNK):
            pieces.append(piece)
    finally:
        link.close()
    head, _, body = b"".join(pieces).partition(b"\r\n\r\n")
    return head, body


def _cause(error: OSError, where: str) -> tuple[str, str]:
    if isinstance(error, TimeoutError):
        return f"{where} does not answer", "restart the Docker daemon"
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return f"{where} is not there", "install the Docker engine and start it"
    if error.errno in (errno.EACCES, errno.EPERM):
        return f"this user may not use {where}", 'sudo usermod -aG docker "$USER", then log in again'
    if error.errno == errno.ECONNREFUSED:
        return f"nothing answers at {where}: the daemon is down", "start the Docker daemon"
    return f"{where}: {error.strerror or error}", "check that `docker version` works"


def _context_host() -> str | None:
    """Return the address of the context in use; None for the default one."""
    folder = os.environ.get("DOCKER_CONFIG") or os.path.join(os.path.expanduser("~"), ".docker")
    name = os.environ.get("DOCKER_CONTEXT") or _json_file(os.path.join(folder, "config.json")).get("currentContext")
    if not isinstance(name, str) or name in ("", "default"):
        return None
    import hashlib

    place = hashlib.sha256(name.encode()).hexdigest()
    about = _json_file(os.path.join(folder, "contexts", "meta", place, "meta.json"))
    try:
        return str(about["Endpoints"]["docker"]["Host"])
    except (KeyError, TypeError):
        # `docker` has to say itself what is wrong with a context it does not know.
        return f"context:{name}"


def _json_file(path: str) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
