from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from morph_tasks.errors import Refusal
from morph_tasks.fleet import backups
from morph_tasks.fleet.backups import back_up_files, folder, manifests, sweep
from morph_tasks.fleet.stamps import new_stamp
from tests.fleet.linked import ODD, Linked, contents, make_linked, manifest

STAMP = "20261130T083013694123Z"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def back_up(linked: Linked, *names: str, stamp: str = STAMP, **about: object) -> Path | None:
    place = folder(linked.repo, "cart", stamp, suffix="feature")
    return back_up_files(linked.repo, linked.tree, list(names), folder=place, about=about)


def test_a_backup_is_private_and_told(linked: Linked) -> None:
    linked.write("local/a.db", "a", mode=0o644)
    linked.write("local/run.sh", "b", mode=0o755)
    linked.write("local/.env.e2e", "KEY=1", mode=0o755)
    (linked.tree / "local/empty").mkdir()
    linked.link("local/ln", "a.db")
    os.utime(linked.tree / "local/a.db", ns=(1, 1))
    saved = back_up(linked, "local", kind="feature")
    assert saved == linked.store / f"finish-backup/cart-{STAMP}-feature"
    told = manifest(saved)
    assert {(one["path"], one["mode"], one["size"]) for one in told["files"]} == {
        ("local/a.db", 0o644, 1),
        ("local/run.sh", 0o755, 1),
        ("local/.env.e2e", 0o755, 5),
    }
    assert told["secrets"] == ["local/.env.e2e"] and told["folders"] == ["local/empty"]
    assert told["links"] == [{"path": "local/ln", "target": "a.db"}] and told["kind"] == "feature"
    assert not os.path.lexists(saved / "local/ln") and (saved / "local/empty").is_dir()
    assert [mode(saved / "local" / name) for name in ("a.db", "run.sh", ".env.e2e")] == [0o600, 0o700, 0o600]
    assert {mode(one) for one in (saved, saved / "local", saved.parent)} == {0o700}
    assert mode(backups.manifest_of(saved)) == 0o600
    assert (saved / "local/a.db").stat().st_mtime_ns == 1


def test_nothing_to_copy_leaves_nothing(linked: Linked) -> None:
    (linked.tree / "local").mkdir()
    assert back_up(linked, "local", "gone") is None
    assert os.listdir(linked.store / "finish-backup") == []


def test_the_manifest_is_there_before_the_name_is(linked: Linked, monkeypatch: pytest.MonkeyPatch) -> None:
    linked.write("local/a.db")
    seen = []
    real = os.rename

    def watch(old: os.PathLike[str], new: os.PathLike[str]) -> None:
        seen.append((Path(old).name, Path(new).name, backups.manifest_of(Path(new)).exists(), os.path.lexists(new)))
        real(old, new)

    monkeypatch.setattr(os, "rename", watch)
    saved = back_up(linked, "local")
    assert saved is not None
    assert seen == [(f".partial-{saved.name}", saved.name, True, False)]


@pytest.mark.parametrize("step", ["fsync", "rename", "open", "write_json"])
def test_a_failure_leaves_nothing_half(linked: Linked, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    linked.write("local/a.db", "precious")

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", "somewhere")

    with monkeypatch.context() as patched:
        if step == "write_json":
            patched.setattr(backups, "write_json", fail)
        elif step == "open":
            patched.setattr(backups, "_copy", fail)
        else:
            patched.setattr(os, step, fail)
        with pytest.raises(Refusal) as caught:
            back_up(linked, "local")
    assert caught.value.code == "backup-failed" and "No space left" in caught.value.what
    assert caught.value.payload["backup"].endswith(f"cart-{STAMP}-feature")
    assert os.listdir(linked.store / "finish-backup") == []
    assert (linked.tree / "local/a.db").read_text() == "precious"


def test_a_copy_that_is_not_what_was_read_fails(linked: Linked, monkeypatch: pytest.MonkeyPatch) -> None:
    linked.write("local/a.db", "precious")
    real = backups._copy

    def spoil(source: Path, target: Path, path: str) -> backups.File:
        copied = real(source, target, path)
        target.write_text("rotten!!")
        return copied

    monkeypatch.setattr(backups, "_copy", spoil)
    with pytest.raises(Refusal) as caught:
        back_up(linked, "local")
    assert caught.value.code == "backup-failed" and "not what was read" in caught.value.what
    assert manifests(linked.repo) == []


def test_the_same_stamp_again(linked: Linked) -> None:
    linked.write("local/a.db", "1")
    first = back_up(linked, "local")
    assert back_up(linked, "local") == first
    linked.write("local/a.db", "2")
    second = back_up(linked, "local")
    assert second is not None and first is not None and second != first
    assert contents(first) == {b"1"} and contents(second) == {b"2"}
    assert {one.stamp for one in manifests(linked.repo)} == {STAMP}


def test_what_a_killed_run_left_is_swept(linked: Linked) -> None:
    linked.write("local/a.db")
    top = linked.store / "finish-backup"
    (top / f".partial-cart-{STAMP}").mkdir(parents=True)
    (top / f".partial-cart-{STAMP}/half").write_text("x")
    (top / f".trash-cart-{STAMP}").mkdir()
    orphan = backups.manifest_of(top / f"cart-{STAMP}")
    orphan.write_text("{}")
    (top / f".{orphan.name}.x1y2.tmp").write_text("{")
    (top / "notes.txt").write_text("mine")
    (top / "README.manifest.json").write_text("mine")
    sweep(top)
    assert sorted(os.listdir(top)) == ["README.manifest.json", "notes.txt"]
    assert back_up(linked, "local") is not None


def test_odd_names_and_contents(linked: Linked) -> None:
    for name in ODD:
        linked.write(f"local/{name}", os.fsencode(name))
    saved = back_up(linked, "local")
    assert saved is not None
    assert contents(saved) == {os.fsencode(name) for name in ODD}
    assert {one["path"] for one in manifest(saved)["files"]} == {f"local/{name}" for name in ODD}


def test_a_folder_that_is_deep(deep_place: Path) -> None:
    linked = make_linked(deep_place)
    deep = "local/" + "d/" * 1050
    backups.make_private(linked.tree / deep)
    linked.write(f"{deep}a")
    saved = back_up(linked, "local")
    assert saved is not None and (saved / deep / "a").exists()


@given(st.text(st.characters(codec=None), max_size=300))
def test_every_name_can_be_that_of_a_backup(name: str) -> None:
    plain = backups.plain_name(name)
    assert plain and not plain.startswith((".", "-")) and "/" not in plain and "\0" not in plain and ".." not in plain
    whole = f".partial-{plain}-{STAMP}-worktree-ignored-12.manifest.json"
    assert len(os.fsencode(whole)) <= 255
    parts = backups._NAME.fullmatch(f"{plain}-{STAMP}-worktree-ignored")
    assert parts and (parts["name"], parts["stamp"], parts["suffix"]) == (plain, STAMP, "worktree-ignored")


def test_only_folders_that_are_named_like_backups_are(linked: Linked, tmp_path: Path) -> None:
    top = linked.store / "finish-backup"
    for name in (f"cart-{STAMP}", "cart-2026-01-02T03-04-05-678Z", "task", "mine", f".x-{STAMP}"):
        (top / name).mkdir(parents=True)
    (top / f"link-{STAMP}").symlink_to(tmp_path)
    (top / f"file-{STAMP}").write_text("x")
    found = manifests(linked.repo)
    assert [(one.name, one.manifest) for one in found] == [("cart", None), ("cart", None)]
    assert [one.at is None for one in found] == [True, False]
    (top / "task").rmdir()
    (top / "task").symlink_to(tmp_path)
    (tmp_path / f"x-{STAMP}").mkdir()
    assert manifests(linked.repo, "task") == []


def test_stamps_are_read_back(linked: Linked) -> None:
    linked.write("local/a.db")
    stamp = new_stamp()
    back_up(linked, "local", stamp=stamp)
    assert [(one.stamp, one.suffix, one.at is not None) for one in manifests(linked.repo)] == [(stamp, "feature", True)]
