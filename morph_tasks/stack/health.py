"""Ask a URL whether its service answers, and who holds a port."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

PROBE_S = 1.5
UNWELL = 500
_AT_ONCE = 16
_LOOPBACK = ("localhost", "127.", "::1", "0.0.0.0", "[::")  # noqa: S104


@dataclass(frozen=True)
class Health:
    """One answer: `code` is its HTTP status, `said` what to tell people about it."""

    ok: bool
    code: int | None
    said: str


def probe(url: str, *, timeout_s: float = PROBE_S) -> Health:
    """Ask once; an HTTP status below 500 is health. Takes no longer than `timeout_s`, whatever the other side does."""
    return probe_all({"": url}, timeout_s=timeout_s)[""]


def probe_all(urls: Mapping[str, str], *, timeout_s: float = PROBE_S) -> dict[str, Health]:
    """Ask several URLs at once, each once."""
    found: dict[str, Health] = {}

    def ask(name: str, url: str) -> None:
        found[name] = _ask(url, timeout_s)

    names = list(urls)
    for first in range(0, len(names), _AT_ONCE):
        # In threads: neither the lookup of a name nor a server that sends a byte a second knows an overall timeout.
        threads = [
            threading.Thread(target=ask, args=(name, urls[name]), daemon=True)
            for name in names[first : first + _AT_ONCE]
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout_s)
    late = Health(False, None, f"no answer within {timeout_s:g} s")
    return {name: found.get(name, late) for name in names}


def problem_of(url: str) -> str | None:
    """Return what keeps a text from being the URL of a health check, or None."""
    from urllib3.exceptions import LocationParseError
    from urllib3.util import parse_url

    try:
        parsed = parse_url(url)
        _ = parsed.port
    except (LocationParseError, ValueError, UnicodeError):
        return "it is not a URL"
    if any(sign.isspace() or not sign.isprintable() for sign in url):
        return "it has blanks in it"
    # `localhost:5000` reads as a scheme and a path.
    if parsed.scheme not in ("http", "https") or "://" not in url:
        return "it does not begin with http:// or https://"
    return None if parsed.host else "it names no host"


def local_port(url: str) -> int | None:
    """Return the port of this machine that a URL names, or None when it names another machine."""
    from urllib3.util import parse_url

    parsed = parse_url(url)
    if not (parsed.host or "").lower().startswith(_LOOPBACK):
        return None
    return parsed.port or (443 if parsed.scheme == "https" else 80)


@dataclass(frozen=True)
class Holder:
    """A process that listens on a port."""

    pid: int
    name: str


def holders_of(port: int) -> list[Holder]:
    """Return the processes that listen on a TCP port, as far as this user may see them."""
    psutil = _psutil()
    pids: set[int] = set()
    with suppress(psutil.Error, OSError):
        for found in psutil.net_connections(kind="tcp"):
            if found.status == psutil.CONN_LISTEN and found.laddr.port == port and found.pid:
                pids.add(found.pid)
    named = []
    for pid in sorted(pids):
        with suppress(psutil.Error, OSError):
            named.append(Holder(pid, psutil.Process(pid).name()))
    return named


def _ask(url: str, timeout_s: float) -> Health:
    import urllib3

    # No redirects: where a sign-in lives is not asked, the redirect itself is an answer. No proxy of the environment
    # (a pool manager uses none): the service is on this machine. No certificate check: those of development are signed
    # by nobody, and nothing secret is sent.
    pool = urllib3.PoolManager(num_pools=1, cert_reqs="CERT_NONE", retries=False)
    try:
        if url.startswith("https"):
            urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
        answer = pool.request(
            "GET",
            url,
            timeout=urllib3.Timeout(total=timeout_s),
            redirect=False,
            preload_content=False,
            headers={"User-Agent": "morph-spec", "Connection": "close"},
        )
        code = int(answer.status)
        answer.close()
        return Health(code < UNWELL, code, f"HTTP {code}")
    except urllib3.exceptions.HTTPError as error:
        return Health(False, None, _why(error))
    except (OSError, ValueError) as error:
        return Health(False, None, str(error) or type(error).__name__)
    finally:
        pool.clear()


def _why(error: Exception) -> str:
    import urllib3.exceptions as known

    if isinstance(error, known.NameResolutionError):
        return "its host name is not known"
    if isinstance(error, known.NewConnectionError):
        return "connection refused" if "refused" in str(error) else "no connection"
    if isinstance(error, known.TimeoutError):
        return "no answer in time"
    if isinstance(error, known.SSLError):
        return "it does not speak TLS"
    return "the connection broke" if isinstance(error, known.ProtocolError) else type(error).__name__


def _psutil() -> Any:
    import psutil  # type: ignore[import-untyped, unused-ignore]

    return psutil
