"""Whatever happens to the index, a question is answered, or refused with the way out."""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from morph_tasks.codegraph import index_write, layout
from morph_tasks.codegraph.index import build, open_index
from morph_tasks.errors import Refusal
from tests.codegraph.rawgraphs import Raw, answers

EXPECTED = {f"f{n} calls f{n + 1} (direct)" for n in range(299)}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = Raw()
    for number in range(300):
        made.node(f"node-{number}", f"f{number}()", f"m{number % 7}.py", number + 1)
    for number in range(299):
        made.link(f"node-{number}", "calls", f"node-{number + 1}", "m.py", number + 1)
    made.write(tmp_path)
    return tmp_path


def left(root: Path) -> list[str]:
    return sorted(path.name for path in (root / "graphify-out").iterdir())


WHOLE = ["graph.json", "morph-index.sqlite"]


def _sql(text: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        connection = sqlite3.connect(path)
        connection.executescript(text)
        connection.close()

    return change


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"SQLite format 3\0"),
        lambda path: path.write_bytes(b"not a database at all" * 500),
        lambda path: path.write_bytes(path.read_bytes()[:4096]),
        lambda path: path.write_bytes(path.read_bytes()[:-8192]),
        lambda path: path.write_bytes(path.read_bytes()[: len(path.read_bytes()) // 2]),
        lambda path: path.write_bytes(path.read_bytes()[:8192] + bytes(len(path.read_bytes()) - 8192)),
        _sql("PRAGMA user_version = 999999; DELETE FROM edge"),
        _sql("PRAGMA application_id = 1; DELETE FROM edge"),
        _sql("DROP TABLE meta"),
        _sql("DELETE FROM meta"),
        _sql("UPDATE meta SET value = NULL"),
        _sql("DROP TABLE edge"),
        _sql("DROP TABLE node"),
        lambda path: (path.unlink(), path.symlink_to("/nonexistent/elsewhere")),
    ],
)  # fmt: skip
def test_a_damaged_index_is_made_anew(root: Path, damage: Callable[[Path], object]) -> None:
    build(root)
    damage(layout.index_file(root))
    assert answers(root) == EXPECTED
    assert answers(root) == EXPECTED
    assert left(root) == WHOLE


def test_pages_of_noise_give_the_right_answer_or_are_replaced(root: Path) -> None:
    build(root)
    path = layout.index_file(root)
    good = path.read_bytes()
    noise = random.Random(7)
    for page in range(1, len(good) // 8192):
        path.write_bytes(good[: page * 8192] + noise.randbytes(8192) + good[(page + 1) * 8192 :])
        assert answers(root) == EXPECTED, page


@pytest.mark.parametrize(
    "text",
    [
        b"", b"{", b"[]", b"null", b"3", b'"text"', b"{}", b'{"nodes": 3, "links": []}', b'{"nodes": []}' b"x",
        b'{"nodes": [], "links": {}}', b"\xff\xfe\x00", b"[" * 100_000, b'{"nodes": [' + b'{"id": "a"},' * 10,
    ],
)  # fmt: skip
def test_a_broken_graph_is_refused(tmp_path: Path, text: bytes) -> None:
    graph = layout.graph_file(tmp_path)
    graph.parent.mkdir()
    graph.write_bytes(text)
    for ask in (open_index, build):
        with pytest.raises(Refusal) as refused:
            ask(tmp_path)
        assert (refused.value.code, refused.value.fix) == ("corrupt-graph", "morph-spec graph build")
        assert str(graph) in refused.value.what
    assert left(tmp_path) == ["graph.json"]


def test_a_graph_cut_off_anywhere_is_refused(root: Path) -> None:
    whole = layout.graph_file(root).read_bytes()
    for size in range(0, len(whole), len(whole) // 40):
        layout.graph_file(root).write_bytes(whole[:size])
        with pytest.raises(Refusal) as refused:
            open_index(root)
        assert refused.value.code == "corrupt-graph"


def test_a_folder_in_the_place_of_the_graph_is_refused(tmp_path: Path) -> None:
    layout.graph_file(tmp_path).mkdir(parents=True)
    with pytest.raises(Refusal) as refused:
        open_index(tmp_path)
    assert refused.value.code == "unreadable-file" and refused.value.fix.startswith("mv ")


def test_where_the_index_cannot_be_put_it_is_made_for_the_question(root: Path) -> None:
    layout.index_file(root).mkdir()
    with open_index(root) as index:
        assert len(index.find("f7")) == 1
        assert len(index.warnings) == 1 and "cannot be kept" in index.warnings[0]
    assert left(root) == WHOLE
    with pytest.raises(Refusal) as refused:
        build(root)
    assert refused.value.code == "index-not-written"


ASK = "import sys; from pathlib import Path; from morph_tasks.codegraph.index import open_index\n"


def test_a_folder_without_the_right_to_write(root: Path) -> None:
    # Root may write everywhere, unless it gave that up.
    bound = ["setpriv", "--bounding-set=-dac_override", "--inh-caps=-dac_override"] if os.geteuid() == 0 else []
    if bound and not shutil.which("setpriv"):
        pytest.skip("setpriv is not here")
    code = ASK + "with open_index(Path(sys.argv[1])) as index: print(len(index.find('f7')), len(index.warnings))"
    (root / "graphify-out").chmod(0o555)
    try:
        argv = [*bound, sys.executable, "-c", code, str(root)]
        done = subprocess.run(argv, capture_output=True, text=True, check=True)
    finally:
        (root / "graphify-out").chmod(0o755)
    assert done.stdout.split() == ["1", "1"], done.stderr
    assert left(root) == ["graph.json"]


def test_no_room_for_the_index(root: Path) -> None:
    """A limit on the size of files does what a full disk does: the write of a page fails."""
    code = ASK + (
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
        "with open_index(Path(sys.argv[1])) as index: print(len(index.find('f7')), len(index.warnings))"
    )
    done = subprocess.run([sys.executable, "-c", code, root], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "1"], done.stderr
    assert left(root) == ["graph.json"]
    assert resource.RLIMIT_FSIZE


def test_two_at_once_leave_one_whole_index(root: Path) -> None:
    code = ASK + "with open_index(Path(sys.argv[1])) as index: print(len(index.into([s.id for s in index.find('f7')])))"
    asked = [subprocess.Popen([sys.executable, "-c", code, root], stdout=subprocess.PIPE) for _ in range(4)]
    assert [process.communicate(timeout=60)[0].strip() for process in asked] == [b"1"] * 4
    assert left(root) == WHOLE
    assert answers(root) == EXPECTED


def test_a_build_that_is_killed_leaves_no_index_that_could_be_taken_for_whole(root: Path) -> None:
    code = ASK + (
        "import os, signal; from morph_tasks.codegraph import index_write\n"
        "real = index_write._nodes\n"
        "def stop(table): os.kill(os.getpid(), signal.SIGKILL)\n"
        "index_write._nodes = stop\n"
        "open_index(Path(sys.argv[1]))"
    )
    done = subprocess.run([sys.executable, "-c", code, root], check=False)
    assert done.returncode == -signal.SIGKILL
    (temporary,) = [name for name in left(root) if name.startswith(index_write.TEMPORARY)]
    assert answers(root) == EXPECTED
    an_hour_ago = time.time() - 2 * 3600
    os.utime(root / "graphify-out" / temporary, (an_hour_ago, an_hour_ago))
    build(root)
    assert left(root) == WHOLE


def test_a_graph_that_changes_while_it_is_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from morph_tasks.codegraph import index_key

    ticks = iter(range(100))
    monkeypatch.setattr(index_key, "look", lambda path: f"{next(ticks)}-0-0-0-0")
    with pytest.raises(Refusal) as refused:
        open_index(root)
    assert (refused.value.code, refused.value.exit_code) == ("graph-changing", 3)


def test_an_index_that_is_replaced_while_it_is_open_keeps_answering(root: Path) -> None:
    with open_index(root) as index:
        build(root)
        assert len(index.find("f7")) == 1
