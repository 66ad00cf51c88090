"""The smoke test of an application without browser specs: every HTTP service answers below 500."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from morph_tasks.stack.speaks import Answer, ask

if TYPE_CHECKING:
    from morph_tasks.stack.model import Container

_PAUSE_S = 0.25
_ATTEMPT_S = 3.0
# How often a port that hangs up or says nothing is asked before it is called no HTTP.
_DOUBTS = 2
_RED = 500
_EVERYWHERE = frozenset({"", "0.0.0.0", "::", "[::]", "*"})  # noqa: S104  (names to compare with)
_HTTP_NAMES = ("PORT", "API_PORT", "PLAYWRIGHT_BASE_URL")


@dataclass(frozen=True)
class Published:
    """A TCP port of a service as the machine sees it. `http`: it is known to be one, so that nothing else will do."""

    service: str
    port: int
    host: str = "127.0.0.1"
    http: bool = False


@dataclass(frozen=True)
class Asked:
    """What one port came to: `ok`, `failed`, or `not-http`, which counts as neither."""

    service: str
    port: int
    state: Literal["ok", "failed", "not-http"]
    status: int | None
    said: str

    def as_json(self) -> dict[str, Any]:
        return {"service": self.service, "port": self.port, "state": self.state, "http": self.status, "said": self.said}


@dataclass(frozen=True)
class SmokeResult:
    """What the smoke came to; `asked` is one entry for each port, in the order given."""

    status: Literal["pass", "fail"]
    reason: str | None
    message: str
    asked: tuple[Asked, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def http(self) -> tuple[Asked, ...]:
        """The ports that speak HTTP, or had to."""
        return tuple(one for one in self.asked if one.state != "not-http")


def known_http(env: Mapping[str, str]) -> frozenset[int]:
    """Return the ports that the environment of a stack gives to its page and its API."""
    from urllib.parse import urlsplit

    found = [int(env[name]) for name in _HTTP_NAMES[:2] if env.get(name, "").isdigit()]
    try:
        base = urlsplit(env.get("PLAYWRIGHT_BASE_URL", "")).port
    except ValueError:
        base = None
    return frozenset([*found, *([base] if base else [])])


def published(containers: Sequence[Container], env: Mapping[str, str]) -> list[Published]:
    """Return the TCP ports that containers publish on this machine, each once; UDP is nothing that can be asked."""
    must = known_http(env)
    found: dict[int, Published] = {}
    for one in containers:
        for port in one.ports:
            if port.protocol == "tcp" and port.published:
                host = port.host if port.host not in _EVERYWHERE else "127.0.0.1"
                found.setdefault(port.published, Published(one.service, port.published, host, port.published in must))
    return list(found.values())


def smoke(services: Sequence[Published], *, deadline_s: float) -> SmokeResult:
    """Ask every port until it answers below 500 or the time is over, all at once; never raises."""
    if not services:
        return SmokeResult("pass", None, "no service publishes a TCP port: that the stack is up is all that is proved")
    until = time.monotonic() + deadline_s
    found: dict[int, Asked] = {}

    def settle(place: int, one: Published) -> None:
        found[place] = _settled(one, until)

    # In threads that nobody has to wait for: a server that sends a byte a second knows no overall timeout.
    threads = [threading.Thread(target=settle, args=item, daemon=True) for item in enumerate(services)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(until + _ATTEMPT_S - time.monotonic(), 0))
    return _concluded(tuple(found.get(place) or _late(one) for place, one in enumerate(services)))


def _late(one: Published) -> Asked:
    return _asked(one, Answer("silent"))


def _settled(one: Published, until: float) -> Asked:
    """Ask one port until its answer is final."""
    asked = 0
    while True:
        left = until - time.monotonic()
        answer = ask(one.host, one.port, timeout_s=min(_ATTEMPT_S, max(left, 0.5)))
        asked += 1
        if _final(answer, one, asked) or time.monotonic() + _PAUSE_S >= until:
            return _asked(one, answer)
        time.sleep(_PAUSE_S)


def _final(answer: Answer, one: Published, asked: int) -> bool:
    if answer.kind == "http":
        return answer.status is not None and answer.status < _RED
    if one.http or answer.kind in ("refused", "dead"):
        return False
    return answer.kind == "not-http" or asked >= _DOUBTS


def _asked(one: Published, answer: Answer) -> Asked:
    if answer.kind == "http":
        green = answer.status is not None and answer.status < _RED
        said = f"answered {answer.status}{' (TLS)' if answer.tls else ''}"
        return Asked(one.service, one.port, "ok" if green else "failed", answer.status, said)
    said = {
        "refused": "nothing listens there",
        "dead": "connections are taken and dropped: nothing listens behind it, or it listens on another port",
        "closed": "it hung up on an HTTP request without a word",
        "silent": "it took an HTTP request and said nothing",
        "not-http": f"it speaks no HTTP ({answer.said})" if answer.said else "it speaks no HTTP",
    }[answer.kind]
    failed = one.http or answer.kind in ("refused", "dead")
    return Asked(one.service, one.port, "failed" if failed else "not-http", None, said)


def _concluded(asked: tuple[Asked, ...]) -> SmokeResult:
    failed = [one for one in asked if one.state == "failed"]
    green = [one for one in asked if one.state == "ok"]
    others = [one for one in asked if one.state == "not-http"]
    warnings = tuple(f"{_name(one)} was not counted as HTTP: {one.said}" for one in others)
    if failed:
        said = "; ".join(f"{_name(one)}: {one.said}" for one in failed)
        return SmokeResult("fail", "smoke-failed", said, asked, warnings)
    if not green:
        said = "no published port speaks HTTP: that the stack is up is all that is proved"
        return SmokeResult("pass", None, said, asked, (*warnings, said))
    many = len(green)
    said = (
        f"{many} HTTP service{'s' * (many != 1)} answered: {', '.join(f'{_name(one)} {one.status}' for one in green)}"
    )
    return SmokeResult("pass", None, said, asked, warnings)


def _name(one: Asked) -> str:
    return f"{one.service} (port {one.port})"
