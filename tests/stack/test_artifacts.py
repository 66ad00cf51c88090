"""What failed specs left is copied beside the evidence: private, bounded, and never through a link."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from morph_tasks.stack import artifacts
from morph_tasks.stack.artifacts import Wanted, keep, whatever_is_in


@pytest.fixture
def out(tmp_path: Path) -> Path:
    folder = tmp_path / "out"
    (folder / "cart-adds").mkdir(parents=True)
    return folder


def put(path: Path, text: str = "x") -> Path:
    path.write_text(text)
    return path


def test_files_are_copied_private_and_named_after_the_record(out: Path, tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    beside = tmp_path / "store/20260101T000000.000000Z-7"
    wanted = [
        Wanted(put(out / "cart-adds/trace.zip", "zip"), "cart > adds ü"),
        Wanted(put(out / "cart-adds/a b.PNG"), ""),
    ]
    found = keep(wanted, [out], beside)
    assert [path.name.removeprefix(beside.name) for path in found.paths] == [
        ".artifact-01-cart-adds-trace.zip",
        ".artifact-02-a-b.PNG",
    ]
    assert found.paths[0].read_text() == "zip"
    assert {stat.S_IMODE(path.stat().st_mode) for path in found.paths} == {0o600}
    assert sorted(os.listdir(tmp_path / "store")) == [path.name for path in found.paths]


def test_one_file_is_kept_once(out: Path, tmp_path: Path) -> None:
    one = Wanted(put(out / "t.zip"))
    assert len(keep([one, one], [out], tmp_path / "1").paths) == 1


@pytest.mark.parametrize("link", ["file", "folder", "dangling", "self"])
def test_links_are_not_followed(out: Path, tmp_path: Path, link: str) -> None:
    (tmp_path / "private").mkdir()
    secret = put(tmp_path / "private/secret.png", "secret")
    at = out / "shot.png"
    if link == "folder":
        (out / "inner").symlink_to(secret.parent)
        at = out / "inner/secret.png"
    else:
        at.symlink_to({"file": secret, "dangling": tmp_path / "none", "self": at}[link])
    found = keep([Wanted(at)], [out], tmp_path / "1")
    assert found.paths == ()
    assert "link" in found.warnings[0]


@pytest.mark.parametrize("path", ["/etc/hostname", "OUT/../outside.png", "OUT"])
def test_what_lies_outside_is_not_read(out: Path, tmp_path: Path, path: str) -> None:
    put(tmp_path / "outside.png")
    found = keep([Wanted(Path(path.replace("OUT", str(out))))], [out], tmp_path / "1")
    assert found.paths == ()
    assert len(found.warnings) == 1


def test_a_folder_that_is_reached_through_a_link_above_it_is_the_same_folder(out: Path, tmp_path: Path) -> None:
    put(out / "t.zip")
    (tmp_path / "short").symlink_to(tmp_path)
    assert len(keep([Wanted(tmp_path / "short/out/t.zip")], [out], tmp_path / "1").paths) == 1


def test_what_is_no_plain_file_is_not_read(out: Path, tmp_path: Path) -> None:
    os.mkfifo(out / "pipe.webm")
    found = keep(
        [Wanted(out / "pipe.webm"), Wanted(out / "cart-adds"), Wanted(out / "gone.png")], [out], tmp_path / "1"
    )
    assert found.paths == ()
    assert "pipe.webm: it is no plain file" in found.warnings[0]
    assert "gone.png: no such file" in found.warnings[0]


def test_sizes_and_numbers_are_bounded(out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(artifacts, "LARGEST_FILE", 100)
    monkeypatch.setattr(artifacts, "LARGEST_SUM", 150)
    monkeypatch.setattr(artifacts, "MOST_FILES", 3)
    sizes = {"large": 101, "a": 90, "b": 90, "c": 30, "d": 30, "e": 1}
    wanted = [Wanted(put(out / name, "x" * size)) for name, size in sizes.items()]
    found = keep(wanted, [out], tmp_path / "1")
    assert [path.name[-1] for path in found.paths] == ["a", "c", "d"]
    for name in ("large", "b", "e"):
        assert f"{name}: " in found.warnings[0]


def test_what_cannot_be_written_is_named_and_nothing_is_half_there(out: Path, tmp_path: Path) -> None:
    found = keep([Wanted(put(out / "t.zip"))], [out], tmp_path / "missing/1")
    assert found.paths == ()
    assert "could not be written" in found.warnings[0]


def test_what_a_run_left_without_a_report(out: Path) -> None:
    put(out / "cart-adds/video.webm")
    put(out / ".last-run.json")
    (out / "linked").symlink_to("/etc")
    assert whatever_is_in(out) == [Wanted(out / "cart-adds/video.webm", "cart-adds")]
