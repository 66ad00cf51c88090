"""What answers HTTP, what does not, and what is broken: real sockets on this machine."""

from __future__ import annotations

import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from morph_tasks.stack import smoke as module
from morph_tasks.stack import speaks
from morph_tasks.stack.smoke import Published, known_http, published, smoke

Talk = Callable[[socket.socket], None]
Serve = Callable[..., int]


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PAUSE_S", 0.02)
    monkeypatch.setattr(module, "_ATTEMPT_S", 0.3)
    monkeypatch.setattr(speaks, "_FIRST_S", 0.1)


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Serve a conversation on a port of its own, one thread a connection."""
    with ExitStack() as ends:

        def start(talk: Talk, context: ssl.SSLContext | None = None) -> int:
            server = socket.create_server(("127.0.0.1", 0))
            ends.callback(server.close)

            def one(link: socket.socket) -> None:
                with suppress(OSError), link:
                    link.settimeout(5)
                    talk(context.wrap_socket(link, server_side=True) if context else link)

            def accept() -> None:
                with suppress(OSError):
                    while True:
                        threading.Thread(target=one, args=(server.accept()[0],), daemon=True).start()

            threading.Thread(target=accept, daemon=True).start()
            return int(server.getsockname()[1])

        yield start


def http(status: str, body: str = "") -> Talk:
    def talk(link: socket.socket) -> None:
        if link.recv(4096).startswith(b"GET / HTTP/1.1\r\n"):
            link.sendall(f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())

    return talk


def says_first(said: bytes) -> Talk:
    def talk(link: socket.socket) -> None:
        link.sendall(said)
        link.recv(4096)

    return talk


def answers(said: bytes) -> Talk:
    def talk(link: socket.socket) -> None:
        if link.recv(4096):
            link.sendall(said)

    return talk


def postgres(link: socket.socket) -> None:
    if link.recv(4096) == b"\x00\x00\x00\x08\x04\xd2\x16\x2f":
        link.sendall(b"N")


def redis(link: socket.socket) -> None:
    said = link.recv(4096)
    link.sendall(b"+PONG\r\n" if said == b"PING\r\n" else b"-ERR wrong number of arguments\r\n")


def silent(link: socket.socket) -> None:
    while link.recv(4096):
        pass


def hangs_up(link: socket.socket) -> None:
    link.recv(4096)


def dropped(link: socket.socket) -> None:
    pass


@pytest.mark.parametrize(
    "status", ["200 OK", "204 No Content", "302 Found", "401 Unauthorized", "404 Not Found", "499 Odd"]
)
def test_below_500_is_green(serve: Serve, status: str) -> None:
    found = smoke([Published("web", serve(http(status)))], deadline_s=2)
    assert (found.status, found.reason, found.warnings) == ("pass", None, ())
    assert found.asked[0].status == int(status[:3])


@pytest.mark.parametrize("status", ["500 Oops", "502 Bad Gateway", "503 Service Unavailable"])
def test_from_500_on_is_red(serve: Serve, status: str) -> None:
    found = smoke([Published("web", serve(http(status))), Published("api", serve(http("200 OK")))], deadline_s=0.3)
    assert (found.status, found.reason) == ("fail", "smoke-failed")
    assert [one.state for one in found.asked] == ["failed", "ok"]
    assert f"answered {status[:3]}" in found.message


def test_a_service_that_comes_up_late_is_green(serve: Serve) -> None:
    asked: list[int] = []

    def talk(link: socket.socket) -> None:
        if link.recv(4096):
            asked.append(1)
            link.sendall(b"HTTP/1.1 %d X\r\nContent-Length: 0\r\n\r\n" % (503 if len(asked) < 3 else 200))

    assert smoke([Published("web", serve(talk))], deadline_s=20).status == "pass"
    assert len(asked) == 3


@pytest.mark.parametrize(
    ("talk", "said"),
    [
        (postgres, "PostgreSQL"),
        (redis, "Redis"),
        (says_first(b"J\x00\x00\x008.0.36"), "it spoke first"),
        (says_first(b"SSH-2.0-OpenSSH"), "SSH-2.0"),
        (answers(b"ERROR\r\n"), "ERROR"),
        (answers(b"AMQP\x00\x00\x09\x01"), "AMQP"),
        (
            http("200 OK", "It looks like you are trying to access MongoDB over HTTP on the native driver port."),
            "MongoDB",
        ),
        (silent, "said nothing"),
        (hangs_up, "hung up"),
    ],
)
def test_what_speaks_no_http_is_not_counted_and_named(serve: Serve, talk: Talk, said: str) -> None:
    port = serve(talk)
    found = smoke([Published("db", port), Published("web", serve(http("200 OK")))], deadline_s=20)
    assert found.status == "pass"
    assert [one.service for one in found.http] == ["web"]
    assert f"db (port {port}) was not counted as HTTP" in found.warnings[0]
    assert said in found.warnings[0]
    # the address of the application must be HTTP
    must = smoke([Published("web", port, http=True)], deadline_s=0.3)
    assert (must.status, must.asked[0].state) == ("fail", "failed")


def test_a_port_that_nobody_listens_on_is_red() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    found = smoke([Published("web", port)], deadline_s=0.1)
    assert (found.status, found.message) == ("fail", f"web (port {port}): nothing listens there")


def test_a_port_behind_which_nobody_listens_is_red(serve: Serve) -> None:
    # What Docker's proxy does when the process in the container listens elsewhere.
    found = smoke([Published("web", serve(dropped))], deadline_s=0.1)
    assert found.status == "fail"
    assert "listens on another port" in found.message


def test_a_server_that_never_ends_its_answer_does_not_hold_the_smoke(serve: Serve) -> None:
    def drips(link: socket.socket) -> None:
        while not threading.Event().wait(0.05):
            link.sendall(b"H")

    found = smoke([Published("web", serve(drips), http=True)], deadline_s=0.2)
    assert found.status == "fail"


def test_tls(serve: Serve, tmp_path: Path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    words = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "1",
    ]
    words += ["-subj", "/CN=localhost", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(words, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    found = smoke([Published("web", serve(http("200 OK"), context))], deadline_s=5)
    assert (found.status, found.asked[0].said) == ("pass", "answered 200 (TLS)")


def test_without_http_the_smoke_says_how_little_it_proves(serve: Serve) -> None:
    found = smoke([Published("db", serve(postgres))], deadline_s=5)
    assert found.status == "pass"
    assert "no published port speaks HTTP" in found.message
    assert found.http == ()
    assert "all that is proved" in smoke([], deadline_s=1).message


@pytest.mark.parametrize(
    ("env", "ports"),
    [
        ({"PORT": "4010", "API_PORT": "4011", "POSTGRES_PORT": "4012"}, {4010, 4011}),
        ({"PLAYWRIGHT_BASE_URL": "http://localhost:4010/app"}, {4010}),
        ({"PLAYWRIGHT_BASE_URL": "http://localhost:x", "PORT": "web"}, set()),
        ({}, set()),
    ],
)
def test_the_ports_that_have_to_speak_http(env: dict[str, str], ports: set[int]) -> None:
    assert known_http(env) == ports


def test_published_ports_of_containers_are_asked_once_and_on_this_machine() -> None:
    from morph_tasks.stack.model import Container, Port

    web = Container("web", "x-web-1", "running", ports=(Port(4010, 80, host="0.0.0.0"), Port(4010, 80, host="::")))
    db = Container("db", "x-db-1", "running", ports=(Port(4012, 5432, host="127.0.0.2"), Port(4013, 53, "udp")))
    assert published([web, db], {"PORT": "4010"}) == [
        Published("web", 4010, "127.0.0.1", http=True),
        Published("db", 4012, "127.0.0.2", http=False),
    ]
