from __future__ import annotations

import io
import json
import os
import tarfile
from pathlib import Path
from typing import Any

import pytest
from docker.errors import APIError, NotFound

from morph_tasks.verify.linux import bringing
from morph_tasks.verify.linux.bringing import bring_back, bring_report, host_path, read_small


class _Container:
    """An engine with one container: what its `diff` lists, and an archive for each path."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files = dict(files)
        self.archives: dict[str, bytes] = {}
        self.also: list[dict[str, Any]] = []
        self.asked: list[str] = []

    def diff(self, _: str) -> list[dict[str, Any]]:
        return [{"Path": f"/work/{path}", "Kind": 1} for path in self.files] + self.also

    def get_archive(self, _: str, path: str, chunk_size: int = 0) -> Any:
        self.asked.append(path)
        data = self.archives.get(path) or self._packed(path.removeprefix("/work/"))
        return (data[at : at + 1000] for at in range(0, len(data), 1000)), {}

    def _packed(self, path: str) -> bytes:
        above = path.rpartition("/")[0]
        found = {one: data for one, data in self.files.items() if one == path or one.startswith(f"{path}/")}
        if not found:
            raise NotFound("not there")
        return archive({one.removeprefix(f"{above}/" if above else ""): data for one, data in found.items()})


def archive(files: dict[str, bytes], **links: str) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.GNU_FORMAT) as out:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            out.addfile(member, io.BytesIO(data))
        for name, target in links.items():
            member = tarfile.TarInfo(name)
            member.type, member.linkname = tarfile.SYMTYPE, target
            out.addfile(member)
    return made.getvalue()


def _bring(engine: _Container, root: Path, *globs: str, known: frozenset[bytes] = frozenset()) -> list[str]:
    return bring_back(engine, "c", root, globs, known)  # type: ignore[arg-type]


def _all(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_what_the_globs_name_comes_and_nothing_else(tmp_path: Path) -> None:
    engine = _Container({"out/a.xml": b"1", "out/a.txt": b"2", "src/x.py": b"3", "j.xml": b"4", "sub/out/b.xml": b"5"})
    assert _bring(engine, tmp_path, "out/*.xml", "j.xml") == []
    assert _all(tmp_path) == {"out/a.xml": b"1", "j.xml": b"4"}


def test_without_globs_nothing_is_asked(tmp_path: Path) -> None:
    engine = _Container({"a": b""})
    assert _bring(engine, tmp_path) == []
    assert engine.asked == []


def test_what_was_deleted_or_copied_in_is_not_brought(tmp_path: Path) -> None:
    engine = _Container({"a.xml": b"from the copy", "b.xml": b"new"})
    engine.also = [{"Path": "/work/gone.xml", "Kind": 2}, {"Path": "/elsewhere/c.xml", "Kind": 1}]
    (tmp_path / "a.xml").write_bytes(b"tracked")
    assert _bring(engine, tmp_path, "**/*.xml", known=frozenset({b"a.xml"})) == []
    assert _all(tmp_path) == {"a.xml": b"tracked", "b.xml": b"new"}


def test_many_files_of_a_folder_come_at_once(tmp_path: Path) -> None:
    wanted = {f"out/{number}.xml": str(number).encode() for number in range(50)}
    engine = _Container({**wanted, "out/big.bin": b"x" * 5000, "outside.xml": b""})
    assert _bring(engine, tmp_path, "out/*.xml") == []
    assert _all(tmp_path) == wanted
    assert engine.asked == ["/work/out"]


def test_a_few_files_of_a_full_folder_come_one_by_one(tmp_path: Path) -> None:
    engine = _Container({f"d/{number}.txt": b"" for number in range(200)} | {f"d/{c}.xml": b"x" for c in "abcd"})
    assert _bring(engine, tmp_path, "d/*.xml") == []
    assert sorted(engine.asked) == [f"/work/d/{c}.xml" for c in "abcd"]


def test_a_replaced_report_is_replaced_here(tmp_path: Path) -> None:
    (tmp_path / "j.xml").write_bytes(b"old")
    assert _bring(_Container({"j.xml": b"new"}), tmp_path, "j.xml") == []
    assert _all(tmp_path) == {"j.xml": b"new"}


@pytest.mark.parametrize("path", ["../evil.xml", "a/../../evil.xml", ".git/hooks/x.xml", "sub/.GIT/x.xml", "a//x.xml"])
def test_no_path_leads_out_or_into_git(tmp_path: Path, path: str) -> None:
    root = tmp_path / "root"
    root.mkdir()
    engine = _Container({path: b"evil"})
    engine.archives[f"/work/{path}"] = archive({path.rpartition("/")[2]: b"evil"})
    said = _bring(engine, root, "**/*.xml", "**/.git/**", "**")
    assert _all(tmp_path) == {}
    assert said == [] or "was not brought back" in said[0]


def test_names_in_an_archive_are_not_believed(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    engine = _Container({"j.xml": b""})
    for name in ("../j.xml", "/j.xml", "other.xml", "j.xml/../../x"):
        engine.archives["/work/j.xml"] = archive({name: b"evil"})
        _bring(engine, root, "j.xml")
        assert _all(tmp_path) == {}


def test_links_and_folders_in_an_archive_are_no_reports(tmp_path: Path) -> None:
    engine = _Container({"j.xml": b""})
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as out:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE):
            member = tarfile.TarInfo("j.xml")
            member.type, member.linkname = kind, "/etc/passwd"
            out.addfile(member)
    engine.archives["/work/j.xml"] = made.getvalue()
    assert _bring(engine, tmp_path, "j.xml") == []
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_through_a_link_of_the_tree(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (outside / "kept.xml").write_bytes(b"kept")
    (root / "out").symlink_to(outside)
    (root / "j.xml").symlink_to(outside / "kept.xml")
    said = _bring(_Container({"out/a.xml": b"evil", "j.xml": b"report"}), root, "out/*.xml", "j.xml")
    assert _all(outside) == {"kept.xml": b"kept"}
    assert len(said) == 1
    assert said[0].startswith("out/a.xml was not brought back")
    assert not (root / "j.xml").is_symlink()
    assert (root / "j.xml").read_bytes() == b"report"


def test_a_file_in_the_way_of_a_folder_is_said_and_the_others_come(tmp_path: Path) -> None:
    (tmp_path / "out").write_bytes(b"a file")
    said = _bring(_Container({"out/a.xml": b"1", "j.xml": b"2"}), tmp_path, "out/a.xml", "j.xml")
    assert _all(tmp_path) == {"out": b"a file", "j.xml": b"2"}
    assert len(said) == 1


def test_too_much_is_said_and_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bringing, "_MOST_BYTES", 1 << 20)
    monkeypatch.setattr(bringing, "_MOST_FILES", 3)
    said = _bring(_Container({"a.xml": b"x" * (1 << 20), "b.xml": b"y", "c": b"", "d": b""}), tmp_path, "**")
    assert set(_all(tmp_path)) == {"a.xml", "c"}
    assert "4 files match" in said[0]
    assert said[1].startswith("b.xml was not brought back: more than 1 MiB")


def test_an_engine_that_says_no(tmp_path: Path) -> None:
    class Gone(_Container):
        def get_archive(self, _: str, path: str, chunk_size: int = 0) -> Any:
            raise APIError("500", explanation="out of\nspace")

    assert _bring(Gone({"j.xml": b""}), tmp_path, "j.xml") == ["j.xml was not brought back: out of space"]


def test_the_paths_of_a_report_are_said_from_the_root_of_the_host(tmp_path: Path) -> None:
    lines = [json.dumps({"nodeid": "a", "path": "/work/tests/a.py"}), json.dumps({"ended": 0}), '{"cut', '["list"]']
    lines.insert(1, json.dumps({"nodeid": "b", "path": "/usr/lib/b.py"}))
    engine = _Container({})
    engine.archives["/x/tests"] = archive({"tests": "\n".join(lines).encode()})
    bring_report(engine, "c", "/x/tests", tmp_path / "report", Path("/home/me/shop"))  # type: ignore[arg-type]
    found = (tmp_path / "report").read_text().splitlines()
    assert json.loads(found[0])["path"] == "/home/me/shop/tests/a.py"
    assert json.loads(found[1])["path"] == "/usr/lib/b.py"
    assert found[2:] == ['{"ended": 0}', '{"cut', '["list"]']
    assert oct(os.stat(tmp_path / "report").st_mode & 0o777) == "0o600"
    bring_report(engine, "c", "/x/none", tmp_path / "none", Path("/"))  # type: ignore[arg-type]
    assert not (tmp_path / "none").exists()


def test_a_small_file_is_read_and_a_link_is_not() -> None:
    engine = _Container({})
    engine.archives["/o/n"] = archive({"n": b"3\n"})
    engine.archives["/o/l"] = archive({}, l="/etc/passwd")
    assert read_small(engine, "c", "/o/n") == b"3\n"  # type: ignore[arg-type]
    assert read_small(engine, "c", "/o/l") is None  # type: ignore[arg-type]
    assert read_small(engine, "c", "/o/gone") is None  # type: ignore[arg-type]


def test_a_path_of_the_container_on_the_host() -> None:
    assert host_path("/work/a/b.py", Path("/r")) == "/r/a/b.py"
    assert host_path("/workshop/b.py", Path("/r")) == "/workshop/b.py"
