"""A repository with a main tree and one linked work tree, and what must survive the end of that tree."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from morph_tasks.fleet import removal
from morph_tasks.fleet.removal import RemovalPlan, RemovedTree
from morph_tasks.fleet.stamps import new_stamp
from morph_tasks.repo.git import Repo, open_repo

IGNORE = "*.log\n.env*\nlocal/\ndata/\nnode_modules\n__pycache__/\nbin/\nobj/\n*.tsbuildinfo\nworktrees/\n.venv/\n"
ODD = ("with space.log", "quote\"d'.log", "new\nline.log", "höhe.log", os.fsdecode(b"not-utf8-\xff.log"), "-dash.log")


@dataclass(frozen=True)
class Linked:
    """`main` is the main tree, `tree` the linked one, on the branch `branch`."""

    main: Path
    tree: Path
    branch: str

    @property
    def repo(self) -> Repo:
        return open_repo(self.main).lightly()

    @property
    def store(self) -> Path:
        return self.main / ".git" / "morph-spec"

    @property
    def admin(self) -> Path:
        return next(
            folder
            for folder in (self.main / ".git/worktrees").iterdir()
            if (folder / "gitdir").read_text("utf-8", "surrogateescape").startswith(f"{self.tree}/")
        )

    def git(self, *args: str, cwd: Path | None = None, ok: bool = True) -> str:
        done = subprocess.run(["git", *args], cwd=cwd or self.main, capture_output=True)
        assert done.returncode == 0 or not ok, (args, done.stderr.decode())
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def write(self, name: str, text: str | bytes = "x\n", *, main: bool = False, mode: int = 0o644) -> Path:
        path = (self.main if main else self.tree) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        path.chmod(mode)
        return path

    def link(self, name: str, target: str | Path) -> Path:
        path = self.tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target)
        return path

    def commit(self, message: str = "work") -> str:
        self.git("add", "-A", cwd=self.tree)
        self.git("commit", "-q", "--allow-empty", "-m", message, cwd=self.tree)
        return self.git("rev-parse", "HEAD", cwd=self.tree)

    def plan(self, *, discard_ignored: bool = False) -> RemovalPlan:
        return removal.plan_removal(self.repo, self.tree, discard_ignored=discard_ignored)

    def remove(self, plan: RemovalPlan | None = None, *, discard_ignored: bool = False) -> RemovedTree:
        plan = plan or self.plan(discard_ignored=discard_ignored)
        return removal.remove_tree(self.repo, plan, stamp=new_stamp(), name="cart", namespace="task")

    def registered(self) -> bool:
        return f"worktree {self.tree}" in self.git("worktree", "list", "--porcelain").splitlines()


def make_linked(base: Path, *, branch: str = "morph-task/cart", place: str = "worktrees/cart") -> Linked:
    """Make the repository `shop` with one commit and a work tree in it."""
    main = Path(os.path.realpath(base)) / "shop"
    main.mkdir()
    made = Linked(main, Path(os.path.realpath(main / place)), branch)
    made.git("init", "-q", "-b", "main")
    made.write(".gitignore", IGNORE, main=True)
    made.write("src/app.txt", "one\n", main=True)
    made.git("add", "-A")
    made.git("commit", "-q", "-m", "start")
    made.git("worktree", "add", "-q", str(made.tree), "-b", branch)
    return made


def snapshot(root: Path) -> dict[str, str]:
    """Return all below a folder by path: what a link says, the digest and mode of a file, `/` for a folder."""
    found = {}
    for parent, folders, files in os.walk(root):
        for name in (*folders, *files):
            path = Path(parent, name)
            inside = str(path.relative_to(root))
            if path.is_symlink():
                found[inside] = f"-> {os.readlink(path)}"
            elif path.is_file():
                found[inside] = f"{hashlib.sha256(path.read_bytes()).hexdigest()} {path.stat().st_mode & 0o777:o}"
            else:
                found[inside] = "/"
    return found


def contents(root: Path) -> set[bytes]:
    """Return the content of every regular file below a folder."""
    return {
        Path(parent, name).read_bytes()
        for parent, _, files in os.walk(root)
        for name in files
        if not Path(parent, name).is_symlink()
    }


def manifest(backup: Path) -> Any:
    return json.loads(backup.with_name(f"{backup.name}.manifest.json").read_text())
