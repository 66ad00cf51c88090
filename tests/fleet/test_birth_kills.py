"""`kill -9` at every change that the birth of a work tree makes: nothing is lost, and a second run completes it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from morph_tasks.fleet.handover import LEAVING
from morph_tasks.repo.git import open_repo
from morph_tasks.stack.ports import blocks
from tests.conftest import Project
from tests.faults import Moment, in_child
from tests.fleet.birthplace import files_of, lay_feature, repo_of, status

CREATE = ["create", "cart", "--worktree", "--type", "feature", "--description", "A cart", "--json"]
SETUP = ["worktree", "setup", "cart", "--json"]
PROVISION = ["worktree", "provision", "cart", "--json"]


@pytest.fixture
def scene(project: Project) -> Project:
    """A project with all that a work tree is given."""
    project.write(".gitignore", "node_modules/\n.env*\n*.local\n__pycache__/\n")
    project.write(".worktreeinclude", "*.local\n")
    project.write("src/app.py", "print('hello')\n" * 50)
    project.commit()
    project.write("node_modules/lib/index.js", "shared\n")
    project.write(".env", "A=1\n")
    project.write("src/deep.local", "mine\n")
    return project


def state_of(root: Path) -> dict[str, object]:
    """Main tree, work tree and registry, without what differs from run to run."""
    files = {
        name: data
        for name, data in files_of(root).items()
        if not name.startswith(".git/") and not name.endswith(("handoff.md", "state.json", "feature.json"))
    }
    repo = open_repo(root)
    ports = {key: block.base for key, block in blocks(repo).items()}
    left = sorted(
        path.name for path in (root / ".git/morph-spec").rglob("*") if "setup" in str(path) or "fleet" in path.name
    )
    trees = repo.text("worktree", "list", "--porcelain").replace(str(root), "")
    told = {"files": files, "refs": repo.text("for-each-ref"), "trees": trees, "ports": ports, "left": left}
    tree = root / "worktrees/cart"
    return told | {"main": status(root), "tree": status(tree) if tree.exists() else None}


def all_versions(root: Path, name: str) -> set[bytes]:
    """The contents that a file of the feature has anywhere."""
    places = [root / ".morph/features", root / "worktrees/cart/.morph/features"]
    paths = [place / folder / name for place in places for folder in ("cart", LEAVING + "cart")]
    return {path.read_bytes() for path in paths if path.is_file()}


@pytest.mark.parametrize(
    ("argv", "step"),
    [
        pytest.param(SETUP, 3, id="setup"),
        pytest.param(CREATE, 6, id="create"),
        pytest.param(PROVISION, 6, id="provision"),
        pytest.param(SETUP, 1, id="setup-all", marks=pytest.mark.soak),
        pytest.param(CREATE, 1, id="create-all", marks=pytest.mark.soak),
        pytest.param(PROVISION, 1, id="provision-all", marks=pytest.mark.soak),
    ],
)
def test_a_birth_that_is_killed_loses_nothing_and_is_completed(
    scene: Project, tmp_path: Path, argv: list[str], step: int
) -> None:
    if argv == SETUP:
        lay_feature(scene)
        scene.write(".morph/features/cart/notes.md", "only here\n")
    precious = files_of(scene.root / ".morph/features/cart") if argv == SETUP else {}
    master = tmp_path / "master"
    shutil.copytree(scene.root, master, symlinks=True)
    whole = in_child(argv, scene.root)
    assert whole.code == 0, whole.err
    wanted = state_of(scene.root)
    number, resumed, code = 1, 0, -9
    while code == -9:
        shutil.rmtree(scene.root)
        shutil.copytree(master, scene.root, symlinks=True)
        code = in_child(argv, scene.root, moment=Moment("change", number, group=bool(number % 2))).code
        for name, data in precious.items():
            assert data in all_versions(scene.root, name), (number, name)
        again = in_child(argv, scene.root)
        assert state_of(scene.root) == wanted, number
        # In use: the kill came after the last thing that there was to do.
        assert again.code in (0, 3), (number, again.out, again.err)
        resumed += again.code == 0 and json.loads(again.out)["resumed"]
        number += step
    assert (code, again.code) == (0, 3) and number > 60 and resumed > number / step / 2


def test_a_git_that_goes_on_without_us_is_waited_for(scene: Project, tmp_path: Path) -> None:
    """Git is held in the middle of the checkout by a filter that reads a pipe."""
    lay_feature(scene)
    pipe, asked = tmp_path / "pipe", tmp_path / "asked"
    os.mkfifo(pipe)
    scene.write(".gitattributes", "README.md filter=slow\n")
    scene.git("add", ".gitattributes")
    scene.git("commit", "-qm", "filter")
    scene.git("branch", "-f", "morph/cart")
    scene.git("config", "filter.slow.smudge", f"sh -c 'echo x > {asked}; cat {pipe} > /dev/null; cat'")
    first = subprocess.Popen(["morph-spec", *SETUP], cwd=scene.root, stdout=subprocess.DEVNULL)
    while not asked.exists():
        assert first.poll() is None
    first.kill()
    first.wait()
    second = scene.morph(*SETUP, "--wait", "0.2")
    assert (second.code, second.json["code"]) == (3, "busy")
    third = subprocess.Popen(["morph-spec", *SETUP, "--wait", "60"], cwd=scene.root, stdout=subprocess.PIPE)
    pipe.write_text("go on\n")
    said = json.loads(third.communicate()[0])
    assert said["ok"] and said["resumed"] and status(scene.root / "worktrees/cart").count("feature.json") == 1
    assert not [name for name in os.listdir(scene.root / "worktrees") if name.startswith(".half")]


def test_what_somebody_wrote_into_a_half_made_tree_is_kept(scene: Project) -> None:
    lay_feature(scene)
    half = scene.root / "worktrees/cart"
    for number in range(1, 100):
        ended = in_child(SETUP, scene.root, moment=Moment("change", number, group=True))
        if half.exists() or ended.code == 0:
            break
    shutil.rmtree(half, ignore_errors=True)
    repo = repo_of(scene)
    repo.run("worktree", "prune", ok=range(256))
    repo.git("worktree", "add", "-q", str(half), "morph/cart")
    admin = repo.common_dir / "worktrees/cart"
    (admin / "index").unlink()  # as git has it in the middle of a checkout
    (admin / "locked").write_text("initializing\n")
    (half / "src/app.py").write_bytes((half / "src/app.py").read_bytes()[:100])
    (half / "mine.txt").write_text("somebody's\n")
    said = scene.morph(*SETUP)
    assert said.code == 0 and said.json["resumed"] and any(".half-cart-" in line for line in said.json["warnings"])
    kept = list((scene.root / "worktrees").glob(".half-cart-*"))
    assert len(kept) == 1 and (kept[0] / "mine.txt").read_text() == "somebody's\n"
    assert (half / "src/app.py").stat().st_size == (scene.root / "src/app.py").stat().st_size


def test_a_tree_that_was_taken_elsewhere_after_the_kill_is_left_alone(scene: Project) -> None:
    lay_feature(scene)
    tree = scene.root / "worktrees/cart"
    number = 0
    while not (tree / "node_modules").is_symlink():
        number += 1
        shutil.rmtree(scene.root / "worktrees", ignore_errors=True)
        repo_of(scene).run("worktree", "prune", ok=range(256))
        assert in_child(SETUP, scene.root, moment=Moment("change", number)).code == -9
    open_repo(tree).git("switch", "-qc", "mine")
    said = scene.morph(*SETUP)
    assert (said.code, said.json["code"]) == (1, "path-taken") and open_repo(tree).branch() == "mine"
