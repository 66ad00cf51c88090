"""Digests of single files and the cache that spares reading them."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.repo import hashing
from morph_tasks.repo.hashing import StatCache, blob_id, digest_path


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Record which files are really read."""
    seen: list[bytes] = []
    real = hashing._sha256_of

    def recorded(path: bytes) -> str:
        seen.append(path)
        return real(path)

    monkeypatch.setattr(hashing, "_sha256_of", recorded)
    return seen


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file that was touched long enough ago to be trusted."""
    made = tmp_path / "lock file\nodd"
    made.write_bytes(b"1\n")
    _trusted(made)
    return made


def _trusted(path: Path) -> None:
    while hashing.time.time_ns() <= path.stat().st_ctime_ns + 51_000_000:
        hashing.time.sleep(0.005)


def test_a_digest_is_that_of_the_content(file: Path) -> None:
    assert digest_path(str(file)) == hashlib.sha256(b"1\n").hexdigest()
    link = file.parent / "link"
    link.symlink_to(file.name)
    assert digest_path(str(link)) == digest_path(str(file))


def test_an_untouched_file_is_read_once(file: Path, tmp_path: Path, reads: list[bytes]) -> None:
    for _ in range(3):
        cache = StatCache(str(tmp_path / "cache"))
        assert digest_path(str(file), cache) == hashlib.sha256(b"1\n").hexdigest()
        cache.save()
    assert len(reads) == 1

    about = file.stat()
    file.write_bytes(b"2\n")
    os.utime(file, ns=(about.st_atime_ns, about.st_mtime_ns))
    assert digest_path(str(file), StatCache(str(tmp_path / "cache"))) == hashlib.sha256(b"2\n").hexdigest()


def test_a_file_touched_just_now_is_read_again(tmp_path: Path, reads: list[bytes]) -> None:
    fresh = tmp_path / "fresh"
    cache = StatCache(str(tmp_path / "cache"))
    fresh.write_bytes(b"1")
    os.utime(fresh, (4e9, 4e9))
    digest_path(str(fresh), cache)
    digest_path(str(fresh), cache)

    assert len(reads) == 2


def test_another_ground_forgets(file: Path, tmp_path: Path, reads: list[bytes]) -> None:
    for about in (b"a", b"b", b"b"):
        cache = StatCache(str(tmp_path / "cache"), about)
        digest_path(str(file), cache)
        cache.save()

    assert len(reads) == 2


@pytest.mark.parametrize("data", [b"", b"garbage", b"\0" * 100, b"a" * 64 + b"\n" + b"x y"])
def test_a_garbled_cache_is_empty(file: Path, tmp_path: Path, data: bytes) -> None:
    (tmp_path / "cache").write_bytes(data)

    assert digest_path(str(file), StatCache(str(tmp_path / "cache"))) == hashlib.sha256(b"1\n").hexdigest()


def test_what_is_not_asked_for_stays_up_to_a_bound(
    file: Path, tmp_path: Path, reads: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hashing, "_MOST_UNUSED", 5)
    others = [tmp_path / f"other{number}" for number in range(10)]
    for other in others:
        other.write_bytes(b"1")
    _trusted(others[-1])
    cache = StatCache(str(tmp_path / "cache"))
    for each in (file, *others):
        digest_path(str(each), cache)
    cache.save()
    first = StatCache(str(tmp_path / "cache"))
    digest_path(str(file), first)
    first.save()
    reads.clear()

    second = StatCache(str(tmp_path / "cache"))
    for each in (file, *others):
        digest_path(str(each), second)

    assert len(reads) == 5


def test_what_cannot_be_digested(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        digest_path(str(tmp_path / "absent"))
    (tmp_path / "dangling").symlink_to("absent")
    with pytest.raises(FileNotFoundError):
        digest_path(str(tmp_path / "dangling"))
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    for name in ("", "pipe", "loop"):
        with pytest.raises(Refusal) as refused:
            digest_path(str(tmp_path / name))
        assert refused.value.code == "unreadable-file"


@pytest.mark.parametrize("data", [b"", b"1\n", bytes(range(256)) * 9])
def test_blob_ids_are_git_s(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "f").write_bytes(data)
    said = subprocess.run(
        ["git", "hash-object", "--no-filters", "f"], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout.strip()

    assert blob_id(data, 40) == said == hashing.file_blob_id(os.fsencode(tmp_path / "f"), len(data), 40)
    assert len(blob_id(data, 64)) == 64
