"""Which runner wrote an output."""

from __future__ import annotations

import pytest

from morph_tasks.verify.runners import detect as module
from morph_tasks.verify.runners.detect import detect
from morph_tasks.verify.runners.model import Output
from morph_tasks.verify.runners.text import Log

PYTEST = b"============================= test session starts ====\n==== 5 passed in 0.10s ====\n"
CARGO = (
    b"\nrunning 1 test\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n"
)


def _of(*streams: bytes) -> str | None:
    return detect(Output(tuple(Log(stream) for stream in streams)))


def test_the_last_summary_decides_between_two_tools() -> None:
    assert _of(PYTEST + CARGO) == "cargo"
    assert _of(CARGO + PYTEST) == "pytest"
    assert _of(CARGO, PYTEST) == "pytest"


def test_nothing_is_made_up() -> None:
    assert _of(b"") is None
    assert _of(b"all good\n5 files checked\n") is None


@pytest.mark.parametrize("at", ["head", "middle", "tail"])
def test_long_logs_are_looked_at_from_their_ends(at: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_HEAD", 1 << 8)
    monkeypatch.setattr(module, "_TAIL", 1 << 9)
    noise = b"x" * 63 + b"\n"
    footer = b"\n\n  2 passing (1s)\n  1 failing\n\n"
    long = {"head": footer + noise * 999, "middle": noise * 500 + footer + noise * 500, "tail": noise * 999 + footer}
    assert _of(long[at]) == "mocha"
    assert _of(noise * 999 + PYTEST) == "pytest"
    assert _of(noise * 999) is None
