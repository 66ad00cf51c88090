from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morph_tasks.verify.linux import copying
from morph_tasks.verify.linux.copying import tar_of, tar_of_files
from morph_tasks.verify.linux.listing import LINK, Entry


def _read(pieces: object) -> dict[str, tarfile.TarInfo]:
    data = io.BytesIO(b"".join(pieces))  # type: ignore[arg-type]
    with tarfile.open(fileobj=data, encoding="utf-8", errors="surrogateescape") as archive:
        found = {}
        for member in archive:
            file = archive.extractfile(member) if member.isreg() else None
            member.pax_headers = {"content": file.read() if file else b""}
            found[member.name] = member
        return found


def _content(member: tarfile.TarInfo) -> bytes:
    return member.pax_headers["content"]  # type: ignore[return-value]


def _entries(*paths: str) -> list[Entry]:
    return [Entry(os.fsencode(path), 0) for path in paths]


def test_content_modes_links_and_times(tmp_path: Path) -> None:
    (tmp_path / "deep/er").mkdir(parents=True)
    (tmp_path / "deep").chmod(0o700)
    (tmp_path / "deep/er/run.sh").write_bytes(b"#!/bin/sh\n")
    (tmp_path / "deep/er/run.sh").chmod(0o750)
    os.utime(tmp_path / "deep/er/run.sh", (1_000_000_000, 1_000_000_000))
    (tmp_path / "out").symlink_to("/etc/passwd")
    (tmp_path / "dangling").symlink_to("no\nwhere")
    found = _read(tar_of(tmp_path, _entries("dangling", "deep/er/run.sh", "out"), "work"))
    assert list(found) == ["work", "work/dangling", "work/deep", "work/deep/er", "work/deep/er/run.sh", "work/out"]
    script = found["work/deep/er/run.sh"]
    assert (_content(script), script.mode, script.mtime) == (b"#!/bin/sh\n", 0o750, 1_000_000_000)
    assert (script.uid, script.gid) == (0, 0)
    assert found["work/deep"].mode == 0o755
    assert (found["work/out"].issym(), found["work/out"].linkname) == (True, "/etc/passwd")
    assert found["work/dangling"].linkname == "no\nwhere"


def test_git_s_mode_and_link_where_the_disk_keeps_none(tmp_path: Path) -> None:
    (tmp_path / "run").write_bytes(b"x")
    (tmp_path / "run").chmod(0o644)
    (tmp_path / "link").write_bytes(b"../there")
    found = _read(tar_of(tmp_path, [Entry(b"link", LINK), Entry(b"run", 0o100755)], "w"))
    assert found["w/run"].mode == 0o755
    assert (found["w/link"].issym(), found["w/link"].linkname) == (True, "../there")


def test_nothing_is_read_through_a_link_that_took_the_place_of_a_folder(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("s")
    root = tmp_path / "root"
    root.mkdir()
    (root / "folder").symlink_to(outside)
    assert list(_read(tar_of(root, _entries("folder/secret"), "w"))) == ["w"]


def test_what_is_gone_or_no_file_is_left_out(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "now-a-folder").mkdir()
    (tmp_path / "a").write_text("a")
    found = _read(tar_of(tmp_path, _entries("a", "gone", "gone-folder/x", "now-a-folder", "pipe"), "w"))
    assert list(found) == ["w", "w/a"]


@pytest.mark.parametrize("change", [-1000, 1000])
def test_a_file_that_changes_its_size_meanwhile_breaks_nothing(
    tmp_path: Path, change: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_bytes(b"a" * 3000)
    (tmp_path / "b").write_bytes(b"b")
    real = copying._content

    def racing(handle: int, size: int):  # type: ignore[no-untyped-def]
        if size == 3000:
            os.truncate(tmp_path / "a", 3000 + change)
        return real(handle, size)

    monkeypatch.setattr(copying, "_content", racing)
    found = _read(tar_of(tmp_path, _entries("a", "b"), "w"))
    assert found["w/a"].size == 3000
    assert _content(found["w/b"]) == b"b"


def test_a_large_tree_is_never_in_memory_as_a_whole(tmp_path: Path) -> None:
    for name in "abc":
        with open(tmp_path / name, "wb") as file:
            file.truncate(64 << 20)
    sizes = [len(piece) for piece in tar_of(tmp_path, _entries("a", "b", "c"), "w")]
    assert sum(sizes) > 192 << 20
    assert max(sizes) < 2 << 20


_NAMES = st.text(
    st.characters(blacklist_characters="\0/", blacklist_categories=["Cs"]) | st.sampled_from("\n\t \udc80\udcff"),
    min_size=1,
    max_size=60,
).filter(lambda name: name not in (".", "..") and len(name.encode("utf-8", "surrogateescape")) < 200)


@settings(max_examples=60, deadline=None)
@given(st.lists(_NAMES, min_size=1, max_size=4), st.binary(max_size=2000))
def test_any_name_and_content_survives(tmp_path_factory: pytest.TempPathFactory, parts: list[str], data: bytes) -> None:
    root = tmp_path_factory.mktemp("t")
    path = "/".join(parts)
    place = os.path.join(os.fsencode(root), path.encode("utf-8", "surrogateescape"))
    os.makedirs(os.path.dirname(place), exist_ok=True)
    with open(place, "wb") as file:
        file.write(data)
    found = _read(tar_of(root, [Entry(path.encode("utf-8", "surrogateescape"), 0)], "work"))
    assert _content(found[f"work/{path}"]) == data


def test_small_files_with_their_folders() -> None:
    found = _read(tar_of_files([("a/b/c.py", b"1"), ("a/d", b"")]))
    assert list(found) == ["a", "a/b", "a/b/c.py", "a/d"]
    assert _content(found["a/b/c.py"]) == b"1"
