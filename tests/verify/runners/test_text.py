"""Logs of any size and spelling, as lines."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morph_tasks.verify.runners import text as module
from morph_tasks.verify.runners.text import Log, strip_codes

FOOT = re.compile(rb"passed in ")


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("\x1b[32m\x1b[1m3 passed\x1b[0m\x1b[32m in 0.01s\x1b[0m", "3 passed in 0.01s"),
        ("\x1b]0;a title\x07ok", "ok"),
        ("\x1b]8;;file:///a\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b[2K\x1b[1A\x1b[38;5;245mok\x1b(B\x1b[m  ", "ok"),
        ("[32mok[39m", "ok"),
        ("␛[32mok␛[0m", "ok"),
        ("^[[31mred^[[0m", "red"),
        ("[ 50%] a[0] b[m] [12]", "[ 50%] a[0] b[m] [12]"),
    ],
)
def test_codes_go_and_text_stays(raw: str, clean: str) -> None:
    assert strip_codes(raw) == clean


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_lines_are_whole_whatever_ends_them(ends: str) -> None:
    log = Log(ends.join(["noise", "5 passed in 0.01s", "noise"]).encode())
    (line,) = log.scan(FOOT)
    assert line.text == "5 passed in 0.01s"
    assert [near.text for near in log.before(line, 1)] == ["noise"]


def test_utf_16_is_read(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_bytes("ok\r\n5 passed in 0.01s\r\n".encode("utf-16"))
    assert [line.text for line in Log(path).scan(FOOT)] == ["5 passed in 0.01s"]


def test_a_line_longer_than_a_piece_is_survived(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHUNK", 1 << 12)
    monkeypatch.setattr(module, "LONGEST", 1 << 8)
    path = tmp_path / "out.txt"
    path.write_bytes(b"x" * (3 << 12) + b"9 passed in 0.01s\n" + b"\n5 passed in 0.02s\n")
    assert [line.text for line in Log(path).scan(FOOT)] == ["5 passed in 0.02s"]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from([b"noise", b"5 passed in 0.01s", b"x" * 300, b"", b"\xff\xfe passed in "]), max_size=60),
    st.integers(16, 700),
)
def test_pieces_do_not_change_what_is_found(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], piece: int
) -> None:
    data = b"\n".join(lines)
    path = tmp_path_factory.mktemp("log") / "out"
    path.write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "CHUNK", 1 << 22)
        whole = [(line.at, line.text) for line in Log(data).scan(FOOT)]
        patch.setattr(module, "CHUNK", max(piece, 310))
        assert [(line.at, line.text) for line in Log(path).scan(FOOT)] == whole


def test_only_the_newest_hits_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT", 3)
    log = Log(b"".join(b"%d passed in 0.01s\n" % number for number in range(9)))
    assert [line.text[0] for line in log.scan(FOOT)] == ["6", "7", "8"]


def test_remarks_of_a_long_log_are_looked_for_at_its_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SHORT", 1 << 10)
    noise = b"noise\n" * 400
    log = Log(b"1 passed in 0s\n" + noise + b"2 passed in 0s\n" + noise + b"3 passed in 0s\n")
    assert [line.text[0] for line in log.notes(FOOT)] == ["1", "3"]


def test_a_count_sees_the_first_line_too() -> None:
    assert Log(b"--- PASS: a\n--- PASS: b\n").count(b"\n--- PASS", b"none") == [2, 0]


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["a", " ", "\n", "\r\n", "\r", "\x1b[1m", "\x9b2K", "[31m", "^[[0m", "␛[0m", "é", "\x07", "[C1]"]
        )
    )
)
def test_each_line_is_the_clean_one_whatever_is_in_the_log(parts: list[str]) -> None:
    log = Log("".join(parts).encode())
    assert list(log.each()) == [line.text for line in log.lines()]


def test_a_log_holds_a_literal_across_none_of_its_pieces(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"x\n" * 100 + b"[C3]\n")
    log = Log(tmp_path / "log")
    assert log.holds(b"nothing", b"[C") and not log.holds(b"[c", b"enario")
    log.close()
