from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from morph_tasks.verify.evidence import Store
from morph_tasks.verify.nodes import Node
from morph_tasks.verify.reach.contexts import Named
from morph_tasks.verify.reach.digest import Digest, kept, make, read_digest, watched

TESTS = [Named("test_one", "tests/test_a.py")]
ONE = "tests/test_a.py::test_one"


def _make(root: Path, lines: dict[str, dict[str, int]], cwd: str = ".") -> Digest:
    return make(root, cwd, [lines], TESTS)


def _tree(root: Path) -> Path:
    for name in ("a.py", "sub/b.py", "tests/test_a.py", "site-packages/x.py"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("x = 1\n")
    return root


def test_only_production_files_of_the_tree_are_kept(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    root = _tree(tmp_path / "tree")
    (tmp_path / "outside.py").write_text("")
    said = [str(root / "a.py"), "b.py", "../outside.py", "gone.py", str(root / "tests/test_a.py")]
    said += [str(root / "site-packages/x.py"), str(tmp_path / "outside.py")]
    found = _make(root, {name: {ONE: 2} for name in said}, cwd="sub")
    assert sorted(found.files) == ["a.py", "sub/b.py"]
    (tmp_path / "link").symlink_to(root)
    assert sorted(_make(root, {str(tmp_path / "link/a.py"): {ONE: 2}}).files) == ["a.py"]


def test_tests_with_scenarios_are_kept_in_full_and_of_others_what_is_needed(tmp_path: Path) -> None:
    lines = {"": 0b1, ONE: 0b110, "t::big": 0b1111110, "t::small": 0b110, "t::other": 0b10000000}
    found = _make(_tree(tmp_path), {"a.py": lines}).files["a.py"]
    assert dict(found.contexts) == {ONE: 0b110, "t::big": 0b1111110, "t::other": 0b10000000}
    assert found.ran == 0b11111111


def test_what_was_kept_is_read_back_where_the_store_is_now(tmp_path: Path) -> None:
    root, store = _tree(tmp_path), Store(tmp_path / "shared")
    node = Node("tests", "unit", command="pytest", runner="pytest")
    log = Path(f"{store.new_name('tests/unit', 'k' * 8)}.log")
    with watched(root, node) as seen:
        _cover(root)
        told = kept(root, node, seen, {"status": "pass", "tests": [{"name": "test_one", "file": TESTS[0].file}]}, log)
    record = {"node": "tests/unit", "key": "k" * 8, **told}
    store.root.rename(tmp_path / "elsewhere")
    moved = Store(tmp_path)
    moved.root = tmp_path / "elsewhere"
    found = read_digest(moved, record)
    assert found is not None and found.named and dict(found.files["a.py"].contexts) == {ONE: 0b10}
    for name in ("../" + told["coverage"]["file"], "none.json", 3):
        assert read_digest(moved, {**record, "coverage": {"file": name}}) is None
    place = moved.node("tests/unit") / ("k" * 8) / told["coverage"]["file"]
    for broken in ("{", "[]", "{}", '{"version": 2}', json.dumps({**json.loads(place.read_text()), "contexts": []})):
        place.write_text(broken)
        assert read_digest(moved, record) is None


def _cover(root: Path) -> None:
    from coverage import CoverageData

    data = CoverageData(str(root / ".coverage"))
    data.set_context(f"{ONE}|run")
    data.add_lines({str(root / "a.py"): [1]})
    data.write()


def test_a_run_that_is_red_or_left_nothing_keeps_nothing(tmp_path: Path) -> None:
    root, node = _tree(tmp_path), Node("tests", "unit", command="pytest", runner="pytest")
    log = tmp_path / "x.log"
    with watched(root, node) as seen:
        assert kept(root, node, seen, {"status": "pass"}, log) == {}
        _cover(root)
        assert kept(root, node, seen, {"status": "fail"}, log) == {}
        (root / ".coverage.torn").write_bytes(b"SQLite format 3\0")
        said = kept(root, node, seen, {"status": "pass"}, log)
        assert said["coverage"]["file"] is None and "no data of coverage" in said["coverage"]["problem"]
    with watched(root, Node("build", "all", command="make")) as seen:
        assert seen is None and kept(root, node, seen, {"status": "pass"}, log) == {}


@given(st.dictionaries(st.sampled_from(["", ONE, "a::x", "b::y", "c::z"]), st.integers(0, 1 << 40), max_size=5))
def test_each_line_that_a_test_ran_has_a_test_that_is_kept(lines: dict[str, int]) -> None:
    from morph_tasks.verify.reach.digest import _chosen

    chosen = _chosen(lines, {ONE})
    union = 0
    for name, bits in chosen.items():
        assert lines[name] == bits
        union |= bits
    wanted = 0
    for name, bits in lines.items():
        wanted |= bits if name else 0
    assert union == wanted
