from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from morph_tasks.verify.evidence import Store, read_view, write_view
from morph_tasks.verify.nodes import Node

NODE = Node("tests", "unit")


def _add(store: Store, status: str, key: str = "k") -> Path:
    name = store.new_name("tests/unit", key)
    store.add(name, {"status": status, "key": key, "node": "tests/unit"})
    return Path(f"{name}.json")


def test_the_newest_record_decides_and_failures_count_back_to_the_last_pass(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for status in ("fail", "pass", "fail", "flaky"):
        _add(store, status)
    assert (store.newest("tests/unit", "k") or {})["status"] == "flaky"
    assert store.failures("tests/unit", "k") == 2
    assert store.newest("tests/unit", "other") is None


@given(st.binary(max_size=60))
def test_what_does_not_parse_is_absent(tmp_path_factory, data: bytes) -> None:
    store = Store(tmp_path_factory.mktemp("store"))
    _add(store, "pass")
    torn = _add(store, "fail")
    torn.write_bytes(data)
    newest = store.newest("tests/unit", "k")
    assert newest is not None and newest["status"] == "pass"


def test_records_are_private(tmp_path: Path) -> None:
    path = _add(Store(tmp_path), "pass")
    assert path.stat().st_mode & 0o077 == 0
    assert path.with_suffix(".log").stat().st_mode & 0o077 == 0
    assert path.parent.stat().st_mode & 0o077 == 0


def test_old_keys_are_pruned(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for number in range(80):
        _add(store, "pass", f"k{number}")
    store.prune("tests/unit")
    assert len(list(store.node("tests/unit").iterdir())) == 64


def test_a_view_is_whole_or_absent(tmp_path: Path) -> None:
    assert read_view(tmp_path, "f", NODE) is None
    write_view(tmp_path, "f", NODE, {"status": "pass", "key": "k"})
    assert read_view(tmp_path, "f", NODE) == {"status": "pass", "key": "k"}
    (tmp_path / ".morph/evidence/f/tests/unit.json").write_text('{"status": "pa')
    assert read_view(tmp_path, "f", NODE) is None
