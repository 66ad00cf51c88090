from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

import pytest

from morph_tasks.machine import identity, registry
from morph_tasks.machine.groups import Group
from morph_tasks.machine.registry import Registry


@pytest.fixture
def group() -> Group:
    return Group(identity.me(), "token")


def test_a_signal_during_a_start_waits_until_the_child_is_known(group: Group) -> None:
    book, seen = Registry(), []
    with book.starting("t0k3n"):
        assert book.postpone(lambda: seen.append(book.groups()))
        assert not book.postpone(lambda: None), "who asks twice does not wait"
        assert seen == []
        assert [known.token for known in book.groups()] == ["t0k3n"], "whoever cannot wait finds it all the same"
        book.add(group)
    assert seen == [[group]]
    assert not book.postpone(lambda: None)


def test_a_start_that_fails_does_not_lose_the_signal() -> None:
    book, seen = Registry(), []
    with pytest.raises(OSError), book.starting("t0k3n"):
        book.postpone(lambda: seen.append("left"))
        raise OSError
    assert seen == ["left"]


def test_closing_waits_for_a_start_in_another_thread(group: Group, wait_until: Callable[..., Any]) -> None:
    book, inside, go = Registry(), threading.Event(), threading.Event()

    def start() -> None:
        with book.starting("t0k3n"):
            inside.set()
            go.wait(10)
            book.add(group)

    thread = threading.Thread(target=start)
    thread.start()
    inside.wait(10)
    threading.Timer(0.05, go.set).start()
    assert book.close() == [group]
    assert group.interrupted
    assert book.closed
    thread.join()


def test_closing_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_DOOR_WAIT_S", 0.05)
    book, inside, go = Registry(), threading.Event(), threading.Event()

    def start() -> None:
        with book.starting("t0k3n"):
            inside.set()
            go.wait(10)

    thread = threading.Thread(target=start)
    thread.start()
    inside.wait(10)
    assert [unknown.token for unknown in book.close()] == ["t0k3n"]
    go.set()
    thread.join()


def test_a_forked_child_starts_with_an_empty_one(group: Group) -> None:
    registry.LIVE.add(group)
    reader, writer = os.pipe()
    try:
        pid = os.fork()
        if pid == 0:
            os.write(writer, str(len(registry.LIVE.groups())).encode())
            os._exit(0)
        os.waitpid(pid, 0)
        assert os.read(reader, 10) == b"0"
        assert registry.LIVE.groups() == [group]
    finally:
        registry.LIVE.remove(group)
        registry.LIVE.remove(group)
        os.close(reader)
        os.close(writer)
