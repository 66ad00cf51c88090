"""Several commands at the same time, a full disk, a great many work trees: nothing is lost, nothing is done twice."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.fleet import claims
from morph_tasks.repo.git import open_repo
from morph_tasks.stack.ports import block_of, blocks
from tests.faults import Ended, in_child
from tests.fleet.killing import broken, contents, lost, shape, unlike
from tests.fleet.kills_of import FINISH, clean, finished
from tests.fleet.scene import BIN, Scene, differences, empty_shop, snapshot, with_tree, write


def at_once(scene: Scene, *commands: tuple[str, ...]) -> list[Ended]:
    """Start commands together and wait for all."""
    started = [
        subprocess.Popen(
            [str(BIN / "morph-spec"), *argv, "--wait", "60"], cwd=scene.shop, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **scene.env},
        )
        for argv in commands
    ]  # fmt: skip
    ended = []
    for process in started:
        out, err = process.communicate(timeout=120)
        assert "Traceback" not in err and "internal-error" not in err, err
        ended.append(Ended(process.returncode, out, err))
    return ended


def untouched(scene: Scene, before: dict[str, bytes]) -> None:
    assert lost(scene, before) == [] and broken(scene) == []


# Two commands on one feature


def test_two_finishes(tmp_path: Path) -> None:
    scene = with_tree(tmp_path / "here")
    before = contents(scene)
    ended = at_once(scene, FINISH, FINISH)
    assert sorted(one.code for one in ended) == [0, 1], ended
    refused = next(one for one in ended if one.code)
    assert "already-finished" in refused.err
    untouched(scene, before)
    assert scene.text("rev-list", "--count", "--merges", "main") == "1" and not scene.tree.exists()


def test_a_finish_and_a_removal(tmp_path: Path) -> None:
    scene = clean(tmp_path / "here")
    before = contents(scene)
    finish, remove = at_once(scene, FINISH, ("worktree", "remove", "cart"))
    untouched(scene, before)
    assert not scene.tree.exists()
    if finish.code:  # the removal came first: the work is on its branch
        assert remove.code == 0 and "branch-not-checked-out" in finish.err, (finish, remove)
        assert scene.text("rev-parse", "morph/cart")
    else:
        assert remove.code in (1, 2), remove
        assert scene.text("rev-list", "--count", "--merges", "main") == "1"


def test_a_finish_and_an_undo(tmp_path: Path) -> None:
    scene = finished(tmp_path / "here")
    before = contents(scene)
    finish, undo = at_once(scene, FINISH, ("undo", "cart"))
    untouched(scene, {name: data for name, data in before.items() if not name.endswith("archive/cart/feature.json")})
    assert undo.code == 0, undo
    if finish.code:  # it came first
        assert "already-finished" in finish.err and scene.tree.is_dir()
    else:
        assert not scene.tree.exists() and (scene.shop / ".morph/archive/cart").is_dir()


def test_two_undos(tmp_path: Path) -> None:
    scene = finished(tmp_path / "here")
    ended = at_once(scene, ("undo", "cart"), ("undo", "cart"))
    assert sorted(one.code for one in ended) == [0, 1], ended
    assert "nothing-to-undo" in next(one for one in ended if one.code).err
    assert scene.tree.is_dir() and broken(scene) == []


def test_a_second_finish_does_not_wait_for_ever(tmp_path: Path) -> None:
    from morph_tasks.fleet.lock import fleet_lock

    scene = with_tree(tmp_path / "here")
    before = snapshot(scene)
    with fleet_lock(open_repo(scene.shop)):
        for argv in (FINISH, ("undo", "cart"), ("worktree", "remove", "cart")):
            done = scene.morph(*argv, "--wait", "0.1", "--json", ok=3)
            assert json.loads(done.stdout)["code"] == "busy"
    assert differences(before, snapshot(scene)) == []


# Many processes


def together(count: int, work: Callable[[int], None]) -> list[int]:
    """Run `work` in so many processes that begin at the same moment; return their exit codes."""
    ready, go = os.pipe()
    children = []
    for number in range(count):
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                os.close(go)
                os.read(ready, 1)
                work(number)
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        children.append(pid)
    os.close(ready)
    os.close(go)
    return [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children]


def test_32_processes_allocate_ports(tmp_path: Path) -> None:
    scene = empty_shop(tmp_path / "here")
    repo = open_repo(scene.shop)

    def allocate(number: int) -> None:
        key = f"feature-{number % 24}"  # some ask for the same one
        block = block_of(repo, key, free=lambda port: True)
        (tmp_path / f"said-{number}").write_text(f"{key} {block.base}")

    assert together(32, allocate) == [0] * 32
    said = {(tmp_path / f"said-{number}").read_text() for number in range(32)}
    known = {f"{key} {block.base}" for key, block in blocks(repo).items()}
    assert said == known and len({line.split()[1] for line in said}) == 24


def test_32_processes_claim_features(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = empty_shop(tmp_path / "here")
    repo = open_repo(scene.shop)

    def claim(number: int) -> None:
        os.environ["MORPH_SESSION_ID"] = f"session-{number}"
        claims.acquire(repo, f"feature-{number}")
        if number % 4 == 0:
            claims.release(repo, f"feature-{number}")

    assert together(32, claim) == [0] * 32
    assert {one.feature for one in claims.live(repo)} == {f"feature-{number}" for number in range(32) if number % 4}


# A great many work trees


def test_two_hundred_work_trees(tmp_path: Path) -> None:
    count = 200
    scene = with_tree(tmp_path / "here")
    record = json.loads((scene.tree / ".morph/features/cart/feature.json").read_text())
    for number in range(count):
        slug = f"f{number:03}"
        tree = scene.shop / "worktrees" / slug
        scene.git("worktree", "add", "-q", "-b", f"morph/{slug}", str(tree), "main")
        write(tree / ".morph/features" / slug / "feature.json", json.dumps({**record, "feature": slug, "name": slug}))
    rows = scene.json("fleet")["features"]
    assert {row["feature"] for row in rows} == {"cart", *(f"f{number:03}" for number in range(count))}
    assert len(scene.json("list")["features"]) == count + 1
    before = snapshot(scene)
    assert scene.json(*FINISH)["worktreeRemoved"] is True
    assert len(scene.text("worktree", "list").splitlines()) == count + 1
    scene.morph("undo", "cart")
    assert differences(before, snapshot(scene)) == []


# No room


def limited(number: int) -> Callable[[], None]:
    """Return what keeps a process from writing files longer than so many bytes."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (number, resource.RLIM_INFINITY))


def refusal_of(ended: Ended) -> dict[str, Any]:
    assert ended.code in (1, 3) and "Traceback" not in ended.err, ended
    document: dict[str, Any] = json.loads(ended.out)
    assert document["code"] != "internal-error" and document["fix"], document
    return document


def test_no_room_for_the_copy_of_the_feature(tmp_path: Path) -> None:
    scene = with_tree(tmp_path / "here")
    write(scene.tree / ".morph/features/cart/big.secret", os.urandom(300_000))
    before, kept = snapshot(scene), contents(scene)
    ended = in_child((*FINISH, "--json"), scene.shop, env=scene.env, prepare=limited(200_000))
    assert refusal_of(ended)["code"] == "backup-failed"
    assert differences(before, snapshot(scene)) == []
    assert not list((scene.store / "finish-backup").glob("*"))
    assert in_child(FINISH, scene.shop, env=scene.env).code == 0
    untouched(scene, kept)


def test_no_room_for_the_copies_of_ignored_files(tmp_path: Path) -> None:
    expected = _whole(tmp_path / "here")
    scene = _with_big_file(tmp_path / "here")
    kept = contents(scene)
    ended = in_child((*FINISH, "--json"), scene.shop, env=scene.env, prepare=limited(200_000))
    assert refusal_of(ended)["code"] == "backup-failed"
    untouched(scene, kept)
    assert (scene.tree / "local/big.db").exists()
    again = json.loads(in_child((*FINISH, "--json"), scene.shop, env=scene.env).out)
    assert again["resumed"] is True and again["worktreeRemoved"] is True
    untouched(scene, kept)
    assert unlike(expected, shape(scene)) == []


def _with_big_file(base: Path) -> Scene:
    shutil.rmtree(base, ignore_errors=True)
    scene = with_tree(base)
    write(scene.tree / "local/big.db", b"big" * 100_000)
    return scene


def _whole(base: Path) -> dict[str, Any]:
    scene = _with_big_file(base)
    assert in_child(FINISH, scene.shop, env=scene.env).code == 0
    return shape(scene)


def test_no_room_while_an_undo_brings_files_back(tmp_path: Path) -> None:
    scene = _with_big_file(tmp_path / "here")
    before = snapshot(scene)
    assert in_child(FINISH, scene.shop, env=scene.env).code == 0
    ended = in_child(("undo", "cart", "--json"), scene.shop, env=scene.env, prepare=limited(200_000))
    assert refusal_of(ended)["code"] == "write-failed"
    document = json.loads(in_child(("undo", "cart", "--json"), scene.shop, env=scene.env).out)
    assert document["resumed"] is True and differences(before, snapshot(scene)) == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 8 MB."""
    place = tmp_path / "small"
    place.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(place)], capture_output=True)
    if done.returncode:
        pytest.skip("only root can make a small file system")
    yield place
    for _ in range(50):
        if subprocess.run(["umount", str(place)], capture_output=True).returncode == 0:
            return
        time.sleep(0.1)
    subprocess.run(["umount", "-l", str(place)], capture_output=True)


@pytest.mark.parametrize("command", ["finish", "undo"])
def test_the_disk_is_full(small_disk: Path, tmp_path: Path, command: str) -> None:
    master, filler = tmp_path / "master", small_disk / "filler"
    place = small_disk / "here"
    scene = finished(place) if command == "undo" else with_tree(place)
    shutil.move(place, master)
    argv = ("undo", "cart") if command == "undo" else FINISH
    ends = set()
    expected: dict[str, Any] = {}
    for spare in (None, 4, 40, 90, 180):
        shutil.rmtree(place, ignore_errors=True)
        filler.unlink(missing_ok=True)
        subprocess.run(["cp", "-a", str(master), str(place)], check=True)
        kept = {name: data for name, data in contents(scene).items() if not name.endswith("archive/cart/feature.json")}
        if spare is not None:
            room = os.statvfs(small_disk)
            filler.write_bytes(b"x" * max(0, room.f_bavail * room.f_frsize - spare * 1024))
            ended = in_child((*argv, "--json"), scene.shop, env=scene.env)
            assert ended.code == 0 or refusal_of(ended), ended
            ends.add(ended.code)
            filler.unlink()
            untouched(scene, kept)
        again = in_child(argv, scene.shop, env=scene.env)
        assert again.code == 0 or any(code in again.err for code in ("already-finished", "nothing-to-undo")), (
            spare,
            again,
        )
        untouched(scene, kept)
        expected = expected or shape(scene)
        assert unlike(expected, shape(scene)) == [], spare
    assert 1 in ends, "the disk was never full"
