from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import pytest

from morph_tasks.fleet import deletion
from morph_tasks.fleet.deletion import delete, mounts_below
from morph_tasks.fleet.walking import make_private
from morph_tasks.proc import run
from tests.conftest import ROOT


def test_links_are_unlinked_and_never_followed(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "x").write_text("keep")
    folder = tmp_path / "folder"
    (folder / "in").mkdir(parents=True)
    (folder / "ln").symlink_to(shared)
    (folder / "in/ln").symlink_to(shared / "x")
    (folder / "gone").symlink_to("nowhere")
    os.link(shared / "x", folder / "hard")
    delete(folder)
    assert not folder.exists() and (shared / "x").read_text() == "keep"


def test_a_link_in_place_of_the_folder(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    (tmp_path / "ln").symlink_to(shared)
    delete(tmp_path / "ln")
    assert shared.is_dir() and not os.path.lexists(tmp_path / "ln")
    delete(tmp_path / "ln")


def test_read_only_folders() -> None:
    with tempfile.TemporaryDirectory() as base:  # where another user may go, too
        folder = Path(base) / "folder"
        (folder / "in").mkdir(parents=True)
        (folder / "in/a").write_text("x")
        (folder / "in/a").chmod(0o400)
        (folder / "in").chmod(0o500)
        folder.chmod(0o100)
        code = "import os, pathlib, sys; from morph_tasks.fleet.deletion import delete\n"
        if os.geteuid() == 0:  # whom no mode stops
            run(["chown", "-R", "65534", base])
            code += "os.setuid(65534)\n"
        run([sys.executable, "-c", f"{code}delete(pathlib.Path(sys.argv[1]))", str(folder)], cwd=ROOT)
        assert not folder.exists()


def test_as_deep_as_paths_can_be_and_deeper(deep_place: Path) -> None:
    folder = deep_place / "folder"
    make_private(folder / Path(*["d"] * 1100))
    (folder / Path(*["d"] * 1100) / "a").write_text("x")
    # Deeper than any path can say.
    for _ in range(2):
        os.rename(folder, deep_place / "aside")
        make_private(folder / Path(*["e"] * 1000))
        top = os.open(folder / Path(*["e"] * 1000), os.O_RDONLY)
        os.rename(deep_place / "aside", "f", dst_dir_fd=top)
        os.close(top)
    delete(folder)
    assert not folder.exists()


def test_what_cannot_be_deleted_is_told_and_the_rest_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "folder"
    (folder / "in").mkdir(parents=True)
    for name in ("a", "in/b", "in/c"):
        (folder / name).write_text("x")
    real = os.unlink

    def refuse(path: str, *, dir_fd: int | None = None) -> None:
        if path == "b":
            raise PermissionError(13, "Permission denied", path)
        real(path, dir_fd=dir_fd)

    monkeypatch.setattr(os, "unlink", refuse)
    with pytest.raises(PermissionError):
        delete(folder)
    assert [str(path.relative_to(folder)) for path in sorted(folder.rglob("*"))] == ["in", "in/b"]


def mount(kind: list[str], place: Path) -> None:
    try:
        run(["mount", *kind, str(place)])
    except Exception:
        pytest.skip("nothing can be mounted here")


@pytest.mark.parametrize("bind", [True, False])
def test_another_file_system_is_not_entered(tmp_path: Path, bind: bool) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    place = tmp_path / "folder/new\nline/in"
    place.mkdir(parents=True)
    mount(["--bind", str(shared)] if bind else ["-t", "tmpfs", "none"], place)
    try:
        (place / "x").write_text("keep")
        assert mounts_below(tmp_path / "folder") == [place]
        assert mounts_below(place) == [place] and mounts_below(shared) == []
        if not bind:
            with pytest.raises(OSError):
                delete(tmp_path / "folder")
            assert (place / "x").read_text() == "keep"
    finally:
        run(["umount", str(place)])


def test_a_kernel_without_a_list_of_mounts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deletion, "MOUNTS", str(tmp_path / "none"))
    assert mounts_below(Path("/proc")) == [Path("/proc")] and mounts_below(tmp_path) == []
