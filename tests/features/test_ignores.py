from __future__ import annotations

from pathlib import Path

from morph_tasks.features.ignores import DERIVED, add_lines, ignore_derived


def test_lines_are_added_once(tmp_path: Path) -> None:
    assert ignore_derived(tmp_path) == list(DERIVED)
    assert ignore_derived(tmp_path) == []
    assert (tmp_path / ".morph/.gitignore").read_text() == "state.json\nevidence/\nlogs/\nworktree.env\n"


def test_what_stands_there_stays(tmp_path: Path) -> None:
    path = tmp_path / ".gitignore"
    path.write_bytes(b"# mine\r\n/bin/\r\nnode_modules")
    assert add_lines(path, ("bin/", "obj/")) == ["obj/"]
    assert path.read_bytes() == b"# mine\r\n/bin/\r\nnode_modules\r\nobj/\r\n"


def test_bytes_that_are_no_text_survive(tmp_path: Path) -> None:
    path = tmp_path / ".gitignore"
    path.write_bytes(b"caf\xe9\n")
    add_lines(path, ("obj/",))
    assert path.read_bytes() == b"caf\xe9\nobj/\n"
