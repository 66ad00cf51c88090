"""Health over real sockets, friendly and otherwise."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from morph_tasks.stack import health
from tests.stack.hosts_tools import free_port


@pytest.fixture
def answering() -> Iterator[Callable[[bytes], str]]:
    """Answer every connection with these bytes; returns the URL."""
    listeners: list[socket.socket] = []

    def serve(listener: socket.socket, answer: bytes) -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                with client, suppress(OSError):
                    client.recv(65536)
                    client.sendall(answer)

    def start(answer: bytes) -> str:
        listener = socket.create_server(("127.0.0.1", 0))
        listeners.append(listener)
        threading.Thread(target=serve, args=(listener, answer), daemon=True).start()
        return f"http://127.0.0.1:{listener.getsockname()[1]}/"

    yield start
    for listener in listeners:
        listener.close()


def said(code: int, more: str = "") -> bytes:
    return f"HTTP/1.1 {code} x\r\n{more}Content-Length: 0\r\nConnection: close\r\n\r\n".encode()


@pytest.mark.parametrize(
    ("code", "ok"), [(200, True), (204, True), (401, True), (404, True), (499, True), (500, False), (503, False)]
)
def test_below_500_is_health(answering: Callable[[bytes], str], code: int, ok: bool) -> None:
    assert health.probe(answering(said(code))) == health.Health(ok, code, f"HTTP {code}")


def test_a_redirect_is_an_answer_and_not_followed(answering: Callable[[bytes], str]) -> None:
    nowhere = f"http://127.0.0.1:{free_port()}/"
    assert health.probe(answering(said(302, f"Location: {nowhere}\r\n"))).ok


def test_nobody_there_and_nonsense_are_not_health(answering: Callable[[bytes], str]) -> None:
    assert health.probe(f"http://127.0.0.1:{free_port()}/").said == "connection refused"
    assert not health.probe(answering(b"SSH-2.0-x\r\n")).ok
    assert not health.probe(answering(b"")).ok
    assert not health.probe("http://no-such-host.invalid/").ok
    assert not health.probe(answering(said(200)).replace("http:", "https:")).ok


def test_no_proxy_of_the_environment_is_asked(
    answering: Callable[[bytes], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port()}")
    assert health.probe(answering(said(200))).ok


def test_a_server_that_says_a_byte_at_a_time_does_not_hold_us() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        over = threading.Event()

        def drip() -> None:
            client, _ = listener.accept()
            with client, suppress(OSError):
                for sign in b"HTTP/1.1 200 OK\r\nX: " + b"y" * 10_000:
                    client.sendall(bytes([sign]))
                    if over.wait(0.02):
                        return

        thread = threading.Thread(target=drip, daemon=True)
        thread.start()
        found = health.probe(f"http://127.0.0.1:{listener.getsockname()[1]}/", timeout_s=0.3)
        # It would go on for minutes: that we are here at all is the proof.
        assert thread.is_alive()
        assert found == health.Health(False, None, "no answer within 0.3 s")
        over.set()
        thread.join()


def test_many_are_asked_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:

        def when_all_have_come() -> None:
            clients = [listener.accept()[0] for _ in range(16)]
            for client in clients:
                with client:
                    client.recv(65536)
                    client.sendall(said(200))

        threading.Thread(target=when_all_have_come, daemon=True).start()
        urls = {str(number): f"http://127.0.0.1:{listener.getsockname()[1]}/" for number in range(16)}
        found = health.probe_all(urls, timeout_s=20)
    assert all(one.ok for one in found.values())
    assert list(found) == list(urls)


@pytest.mark.parametrize(
    ("url", "port"),
    [
        ("http://localhost:5000/x", 5000),
        ("http://127.0.0.1/", 80),
        ("https://localhost/", 443),
        ("http://[::1]:7000/", 7000),
        ("http://example.invalid:5000/", None),
    ],
)
def test_the_port_of_this_machine(url: str, port: int | None) -> None:
    assert health.problem_of(url) is None
    assert health.local_port(url) == port


def test_who_holds_a_port_is_named() -> None:
    import os

    with socket.create_server(("127.0.0.1", 0)) as listener:
        (holder,) = health.holders_of(listener.getsockname()[1])
        assert holder.pid == os.getpid()
    assert health.holders_of(free_port()) == []
