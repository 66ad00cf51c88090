from __future__ import annotations

from pathlib import Path
from typing import Any

from morph_tasks.verify.facts import key_of, packages_file
from morph_tasks.verify.why import changes, why_stale

BASE: dict[str, Any] = {
    "command": "pytest", "inputs": {"globs": None, "digest": "1"}, "tools": {"python": "a"}, "env": {"MODE": None},
    "packages": {"python": "p1"}, "locks": {}, "ignored": {}, "needs": {"build/x": "o"},
}  # fmt: skip


def _changes(tmp_path: Path, paths: list[tuple[str, str]] | None = None, **new: Any) -> list[str]:
    return changes(BASE, {**BASE, **new}, paths, tmp_path)


def test_each_cause_is_named(tmp_path: Path) -> None:
    assert _changes(tmp_path, command="tox") == ["option command changed from 'pytest' to 'tox'"]
    assert _changes(tmp_path, tools={"python": "b"}) == ["tool python changed"]
    assert _changes(tmp_path, env={"MODE": "x"}) == ["variable MODE set"]
    assert _changes(tmp_path, locks={"uv.lock": "1"}) == ["lock file uv.lock added"]
    assert _changes(tmp_path, needs={"build/x": "p"}) == ["output of build/x changed"]
    files = {"globs": None, "digest": "2"}
    assert _changes(tmp_path, [("a.py", "changed")], inputs=files) == ["file a.py changed"]
    assert "cannot be told" in _changes(tmp_path, None, inputs=files)[0]


def test_a_package_is_named_by_name_and_version(tmp_path: Path) -> None:
    for digest, text in (
        ("p1", "six-1.0.dist-info\nattrs-1.dist-info"),
        ("p2", "six-2.0.dist-info\nattrs-1.dist-info"),
    ):
        path = packages_file(tmp_path, digest)
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert _changes(tmp_path, packages={"python": "p2"}) == ["package six-1.0 removed", "package six-2.0 added"]
    assert _changes(tmp_path, packages={"python": "gone"}) == ["packages of python changed"]


def test_only_a_green_of_this_key_is_proof() -> None:
    assert why_stale(None, "k", None) == "never measured"
    assert why_stale({"key": "j"}, "k", "pass") == "measured on other inputs"
    assert why_stale({"key": "k", "reason": "timeout"}, "k", "fail") == "last time it was fail (timeout)"
    assert why_stale({"key": "k"}, "k", "flaky") == "last time it was flaky"
    assert why_stale({"key": "k"}, "k", "pass") is None


def test_a_key_does_not_depend_on_order() -> None:
    assert key_of(BASE) == key_of(dict(reversed(BASE.items())))
