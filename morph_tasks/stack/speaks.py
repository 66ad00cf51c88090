"""Ask a TCP port whether it speaks HTTP, and tell apart the ways in which it does not."""

from __future__ import annotations

import http.client
import socket
import ssl
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Literal

Kind = Literal["http", "not-http", "refused", "dead", "closed", "silent"]

_TRIES_S = 3.0
# How long one that speaks first (MySQL, SMTP, SSH) is given, and a proxy to find nobody behind it.
_FIRST_S = 0.3
_MOST_REDIRECTS_SAID = 120
# These answer a browser in HTTP to say that they are none.
_ONLY_SAYS_SO = (b"trying to access MongoDB over HTTP",)
_POSTGRES = b"\x00\x00\x00\x08\x04\xd2\x16\x2f"  # an SSLRequest
_REDIS = b"PING\r\n"


@dataclass(frozen=True)
class Answer:
    """What a port did.

    `http`: it answered with `status` (TLS too). `not-http`: it speaks something else, which `said` names. `refused`:
    nothing listens. `dead`: what listens passes to nobody (a container whose process listens elsewhere). `closed`: it
    hung up on the request without a word. `silent`: it took the request and said nothing.
    """

    kind: Kind
    status: int | None = None
    said: str = ""
    tls: bool = False


def ask(host: str, port: int, *, timeout_s: float = _TRIES_S) -> Answer:
    """Return what a port says to a request for `/`."""
    first = _greeting(host, port, timeout_s)
    if first is not None:
        return first
    answer = _request(host, port, timeout_s, tls=False)
    if answer.kind == "http" and answer.status == 400 and b"HTTPS" in answer.said.encode("utf-8", "replace").upper():
        # "The plain HTTP request was sent to HTTPS port"
        secure = _request(host, port, timeout_s, tls=True)
        return secure if secure.kind == "http" else answer
    if answer.kind in ("closed", "not-http", "silent"):
        secure = _request(host, port, timeout_s, tls=True)
        if secure.kind == "http":
            return secure
        return _named(host, port, answer)
    return answer


def _connected(host: str, port: int, timeout_s: float) -> socket.socket:
    return socket.create_connection((host, port), timeout=timeout_s)


def _greeting(host: str, port: int, timeout_s: float) -> Answer | None:
    """Return what a port does before it is asked anything; None when it waits, as HTTP does."""
    try:
        with closing(_connected(host, port, timeout_s)) as link:
            link.settimeout(_FIRST_S)
            try:
                said = link.recv(64)
            except TimeoutError:
                return None
            return Answer("not-http", said=f"it spoke first: {_shown(said)}") if said else Answer("dead")
    except ConnectionRefusedError:
        return Answer("refused")
    except ConnectionError:
        return Answer("dead")
    except OSError as error:
        return Answer("refused", said=str(error.strerror or error))


def _request(host: str, port: int, timeout_s: float, *, tls: bool) -> Answer:
    link: http.client.HTTPConnection
    if tls:
        # Whose certificate it is does not matter for whether it answers.
        context = ssl._create_unverified_context()  # noqa: S323
        link = http.client.HTTPSConnection(host, port, timeout=timeout_s, context=context)
    else:
        link = http.client.HTTPConnection(host, port, timeout=timeout_s)
    with closing(link):
        try:
            link.request("GET", "/", headers={"User-Agent": "morph-spec", "Accept": "*/*", "Connection": "close"})
            got = link.getresponse()
            body = got.read(2048) if got.status in (200, 400) else b""
        except http.client.BadStatusLine as error:
            # RemoteDisconnected is one, too.
            word = str(error).strip("'\"")
            closed = isinstance(error, http.client.RemoteDisconnected)
            return Answer("closed") if closed else Answer("not-http", said=_shown(word.encode("latin-1", "replace")))
        except TimeoutError:
            return Answer("silent")
        except (http.client.HTTPException, ssl.SSLError, ValueError) as error:
            return Answer("not-http", said=str(error)[:80])
        except ConnectionRefusedError:
            return Answer("refused")
        except OSError:
            return Answer("closed")
    if any(words in body for words in _ONLY_SAYS_SO):
        return Answer("not-http", said="MongoDB")
    return Answer("http", got.status, said=body.decode("utf-8", "replace")[:_MOST_REDIRECTS_SAID], tls=tls)


def _named(host: str, port: int, answer: Answer) -> Answer:
    """Return the answer with the name of a server that is known by what it says to its own kind of request."""
    if _says(host, port, _POSTGRES) in (b"S", b"N"):
        return Answer("not-http", said="PostgreSQL")
    if _says(host, port, _REDIS).startswith((b"+PONG", b"-NOAUTH", b"-DENIED", b"-LOADING")):
        return Answer("not-http", said="Redis")
    return answer


def _says(host: str, port: int, request: bytes) -> bytes:
    with suppress(OSError), closing(_connected(host, port, 1.0)) as link:
        link.settimeout(1.0)
        link.sendall(request)
        return link.recv(16)
    return b""


def _shown(said: bytes) -> str:
    """Return the printable beginning of what a server said."""
    text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in said[:40])
    return repr(text)
