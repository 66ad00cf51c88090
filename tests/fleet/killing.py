"""Kill a command at many moments, each time on a fresh copy of one repository, and look what is left each time."""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import subprocess
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from morph_tasks.repo.git import open_repo
from morph_tasks.repo.halfmade import half_made
from tests.faults import Ended, Moment, in_child
from tests.fleet.scene import DERIVED, Scene, copy

WORKERS = 2
ALIVE = "not killed"
_TIME = re.compile(rb"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?Z?|\d{8}T\d{12}Z|\b[0-9a-f]{7,64}\b")


@dataclass(frozen=True)
class Killing:
    """What to kill. `make` prepares a scene in a folder; the same command completes it."""

    make: Callable[[Path], Scene]
    argv: Sequence[str]
    cwd: str = "shop"
    made: Sequence[str] = ()  # what an earlier command made and this one takes away
    settled: Sequence[str] = ("already-finished", "nothing-to-undo", "not-a-worktree")
    program: Any = "morph-spec"


def every_write(changes: int, writes: int) -> list[Moment]:
    """Return each JSON file of state that is written, before and after."""
    return [Moment(kind, number) for number in range(1, writes + 1) for kind in ("before-write", "after-write")]  # type: ignore[arg-type]


def some_changes(count: int, seed: int) -> Callable[[int, int], list[Moment]]:
    """Return seeded random changes; every other kill takes the programs along that were running."""

    def moments(changes: int, writes: int) -> list[Moment]:
        chosen = random.Random(seed).sample(range(1, changes + 1), min(count, changes))
        return [Moment("change", number, group=bool(place % 2)) for place, number in enumerate(chosen)]

    return moments


def some_times(count: int, seed: int) -> Callable[[int, int], list[Moment]]:
    """Return seeded points of time, in thousandths of how long the command takes; its programs die with it."""

    def moments(changes: int, writes: int) -> list[Moment]:
        return [Moment("time", random.Random(seed + place).randint(20, 980), True) for place in range(count)]

    return moments


def kill_all(folder: Path, killing: Killing, moments: Callable[[int, int], list[Moment]]) -> list[str]:
    """Kill at all the moments, on two processors; return what was wrong, a text for each moment."""
    children = []
    for worker in range(WORKERS):
        said = folder / f"said-{worker}.json"
        pid = os.fork()
        if pid == 0:
            try:
                said.write_text(json.dumps(_worker(folder / f"stage-{worker}", killing, moments, worker)))
            except BaseException:
                said.write_text(json.dumps([traceback.format_exc()]))
            finally:
                os._exit(0)
        children.append((pid, said))
    found = []
    for pid, said in children:
        os.waitpid(pid, 0)
        found += json.loads(said.read_text())
    return found


def _worker(folder: Path, killing: Killing, moments: Callable[[int, int], list[Moment]], worker: int) -> list[str]:
    place, master = folder / "here", folder / "master"
    folder.mkdir()
    scene = killing.make(place)
    os.rename(place, master)
    scene = copy(master, place)
    before = {name: data for name, data in contents(scene).items() if not name.endswith(tuple(killing.made) or "\0")}
    begun = time.monotonic()
    whole = _run(scene, killing, None)
    lasts_s = time.monotonic() - begun
    if whole.code:
        return [f"the command fails by itself: {whole.code} {whole.out} {whole.err}"]
    expected = shape(scene)
    if not whole.changes or not whole.writes:
        return ["nothing was counted"]
    wrong, alive = [], 0
    chosen = moments(whole.changes, whole.writes)[worker::WORKERS]
    for moment in chosen:
        scene = copy(master, place)
        try:
            problems = _one(scene, killing, moment, before, expected, lasts_s)
        except Exception:
            problems = [traceback.format_exc()]
        alive += problems.count(ALIVE)
        found = [problem for problem in problems if problem != ALIVE]
        wrong += [f"{' '.join(killing.argv)}, killed at {moment}: {problem}" for problem in found]
        if len(wrong) > 20:
            break
    # How long a command takes varies with what else the machine does.
    most = 3 if chosen and chosen[0].kind == "time" else 1
    return wrong if alive * 4 <= len(chosen) * most else [*wrong, f"{alive} of {len(chosen)} runs were never killed"]


def _one(
    scene: Scene,
    killing: Killing,
    moment: Moment,
    before: dict[str, bytes],
    expected: dict[str, Any],
    lasts_s: float,
) -> list[str]:
    after_s = lasts_s * moment.number / 1000 if moment.kind == "time" else None
    ended = _run(scene, killing, moment, after_s=after_s)
    if ended.code == 0:  # it was quicker this time
        return [*unlike(expected, shape(scene)), ALIVE]
    if ended.code != -9:
        return [f"it was not killed: {ended.code} {ended.err[-300:]}"]
    problems = [f"lost after the kill: {name!a}" for name in lost(scene, before)] + broken(scene, killed=True)
    if problems:
        return problems
    again = _run(scene, killing, None)
    if again.code and not _is_settled(again, killing):
        return [f"the second run fails: {again.code} {again.out[-600:]} {again.err[-600:]}"]
    problems = [f"lost after the second run: {name!a}" for name in lost(scene, before)] + broken(scene)
    return problems + unlike(expected, shape(scene)) + rubbish(scene)


def _run(scene: Scene, killing: Killing, moment: Moment | None, *, after_s: float | None = None) -> Ended:
    cwd = scene.base / killing.cwd
    return in_child(killing.argv, cwd, moment=moment, after_s=after_s, env=scene.env, program=killing.program)


def _is_settled(ended: Ended, killing: Killing) -> bool:
    return any(code in ended.out + ended.err for code in killing.settled)


# What may be lost: nothing.


def contents(scene: Scene) -> dict[str, bytes]:
    """Return the content of every file in every tree, caches and what is derived left out."""
    found = {}
    for tree in trees(scene):
        for parent, folders, names in os.walk(tree):
            folders[:] = [
                name for name in folders if name not in (".git", "worktrees") and not os.path.islink(f"{parent}/{name}")
            ]
            for name in names:
                path = Path(parent, name)
                inside = os.path.relpath(path, tree)
                if not path.is_symlink() and not DERIVED.search(inside) and inside != ".morph/worktree.env":
                    found[f"{tree}: {inside}"] = path.read_bytes()
    return found


def trees(scene: Scene) -> list[Path]:
    """Return the work trees; git itself lists none where a kill left it in the middle of making one."""
    repo = open_repo(scene.shop)
    return [tree.path for tree in repo.worktrees()]


def lost(scene: Scene, before: dict[str, bytes]) -> list[str]:
    """Return what is neither on disk, in a tree or a backup, nor in a commit that a reference holds."""
    there = set()
    for top in (scene.shop, scene.store / "finish-backup", *_elsewhere(scene)):
        for parent, folders, names in os.walk(top):
            folders[:] = [
                name
                for name in folders
                if name != ".git" and not name.startswith(".partial-") and not os.path.islink(f"{parent}/{name}")
            ]
            for name in names:
                path = Path(parent, name)
                if not path.is_symlink() and path.is_file():
                    there.add(hashlib.sha256(path.read_bytes()).digest())
    missing = {name: data for name, data in before.items() if hashlib.sha256(data).digest() not in there}
    if not missing:
        return []
    tips = scene.text("for-each-ref", "--format=%(objectname)").splitlines()
    listed = scene.text("rev-list", "--objects", *tips).splitlines()
    known = {line.partition(" ")[0] for line in listed}
    return [name for name, data in missing.items() if _blob(data) not in known]


def _elsewhere(scene: Scene) -> list[Path]:
    return [tree for tree in trees(scene) if tree.is_dir() and scene.shop not in tree.parents and tree != scene.shop]


def _blob(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def broken(scene: Scene, *, killed: bool = False) -> list[str]:
    """Return what git finds broken; right after a kill a tree that git was about to make may be half there."""
    if killed and half_made(open_repo(scene.shop)):
        return []
    done = subprocess.run(
        ["git", "fsck", "--no-dangling", "--no-progress", "--connectivity-only"],
        cwd=scene.shop, capture_output=True, text=True, env={**os.environ, **scene.env},
    )  # fmt: skip
    return [f"git fsck: {done.returncode} {done.stdout} {done.stderr}"] if done.returncode else []


def rubbish(scene: Scene) -> list[str]:
    """Return what no run may leave behind once the work is complete."""
    found = [
        path for path in (scene.shop / ".git").rglob("*.lock") if path.name in ("index.lock", "HEAD.lock", "main.lock")
    ]
    found += list((scene.shop / ".git").rglob("morph-index-*"))
    found += list(scene.store.rglob(".partial-*"))
    found += list((scene.shop / "worktrees").glob(".morph-removing-*"))
    return [f"left behind: {path}" for path in found]


# The end: the same as without a kill.


def shape(scene: Scene) -> dict[str, Any]:
    """Return how a scene looks, times and commit ids made equal."""
    found: dict[str, Any] = {}
    refs = scene.text(
        "for-each-ref", "--format=%(refname)", "refs/heads", "refs/remotes", "refs/morph-spec"
    ).splitlines()
    for ref in refs:
        log = scene.text("log", "--first-parent", "--format=%P|%s", ref).splitlines()
        found[f"log of {ref}"] = [[len(parents.split()), said] for parents, said in (one.split("|", 1) for one in log)]
        found[f"tree of {ref}"] = _tree_of(scene, ref)
    for tree in trees(scene):
        head = scene.text("rev-parse", "--symbolic-full-name", "HEAD", cwd=tree)
        found[f"tree {tree}"] = {"on": head, **_files(tree)}
        status = scene.git("status", "--porcelain", "-z", "-uall", "--no-renames", cwd=tree).split(b"\0")
        found[f"status {tree}"] = sorted(line.decode("utf-8", "replace") for line in status)
    found["worktrees folder"] = (
        sorted(os.listdir(scene.shop / "worktrees")) if (scene.shop / "worktrees").is_dir() else []
    )
    found["ports"] = (
        json.loads((scene.store / "ports.json").read_text()) if (scene.store / "ports.json").exists() else None
    )
    backups = scene.store / "finish-backup"
    found["backups"] = {_plain(name): digest for name, digest in _files(backups).items()} if backups.is_dir() else {}
    journals = sorted((scene.store / "finish").rglob("*.json"))
    found["journals"] = [json.loads(path.read_text())["state"] for path in journals]
    return found


def _files(top: Path) -> dict[str, str]:
    found = {}
    for parent, folders, names in os.walk(top):
        links = [name for name in folders if os.path.islink(f"{parent}/{name}")]
        folders[:] = [name for name in folders if name not in (".git", "worktrees") and name not in links]
        for name in (*names, *links):
            path = Path(parent, name)
            inside = os.path.relpath(path, top)
            if DERIVED.search(inside) or inside.endswith(".manifest.json"):
                continue
            data = os.fsencode(os.readlink(path)) if path.is_symlink() else path.read_bytes()
            if ".morph" in inside and not path.is_symlink():
                data = _TIME.sub(b"*", data)
            found[f"{inside!a}"] = f"{path.lstat().st_mode:o} {hashlib.sha256(data).hexdigest()[:16]}"
    return found


def _tree_of(scene: Scene, ref: str) -> dict[str, str]:
    found = {}
    for line in scene.git("ls-tree", "-r", "-z", ref).split(b"\0"):
        about, _, path = line.partition(b"\t")
        if not path:
            continue
        mode, _, oid = about.decode().split()
        if path.endswith(b"feature.json"):
            data = scene.git("cat-file", "blob", oid)
            oid = hashlib.sha256(_TIME.sub(b"*", data)).hexdigest()
        found[f"{path!a}"] = f"{mode} {oid[:16]}"
    return found


def _plain(name: str) -> str:
    return re.sub(r"\d{8}T\d{12}Z", "STAMP", name)


def unlike(expected: dict[str, Any], found: dict[str, Any]) -> list[str]:
    from tests.fleet.scene import differences

    return [f"not as without a kill: {line}" for line in differences(expected, found)]
