"""A feature that is ready to end: in a work tree of its own, or in the main tree."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.fleet import journal
from morph_tasks.fleet.finish.outcome import Outcome
from morph_tasks.fleet.finish.service import Wish, finish
from morph_tasks.fleet.journal import Journal
from morph_tasks.repo.git import open_repo

SIGNED = {"approved": True, "approvedBy": "manual", "timestamp": "2026-11-30T08:00:00.000Z"}
IGNORES = "*.log\n.env*\nlocal/\nworktrees/\n.morph/state.json\n.morph/logs/\n"


@dataclass(frozen=True)
class Cart:
    """The feature `cart`: `main` is the main tree, `tree` the one that has `morph/cart` checked out."""

    main: Path
    tree: Path
    slug: str = "cart"

    def git(self, *args: str, cwd: Path | None = None, ok: bool = True) -> str:
        done = subprocess.run(["git", *args], cwd=cwd or self.main, capture_output=True)
        assert done.returncode == 0 or not ok, (args, done.stderr.decode())
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def write(self, name: str, text: str = "x\n", *, main: bool = False) -> Path:
        path = (self.main if main else self.tree) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def commit(self, name: str, text: str = "x\n", *, main: bool = False) -> str:
        """Write a file and commit it in one of the trees."""
        self.write(name, text, main=main)
        where = self.main if main else self.tree
        self.git("add", "-A", "--", name, cwd=where)
        self.git("commit", "-qm", f"Write {name}", cwd=where)
        return self.git("rev-parse", "HEAD", cwd=where)

    def hook(self, name: str, script: str = "exit 1") -> None:
        path = self.main / ".git/hooks" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def finish(self, mode: str = "merge", *, start: Path | None = None, **wish: bool) -> dict[str, Any]:
        return self.outcome(mode, start=start, **wish).as_json()

    def outcome(self, mode: str = "merge", *, start: Path | None = None, **wish: bool) -> Outcome:
        return finish(open_repo(start or self.main), self.slug, Wish(mode, **wish))

    def refused(self, mode: str = "merge", *, start: Path | None = None, **wish: bool) -> Refusal:
        with pytest.raises(Refusal) as caught:
            self.finish(mode, start=start, **wish)
        return caught.value

    def refused_untouched(self, mode: str = "merge", *, start: Path | None = None, **wish: bool) -> Refusal:
        """Return the refusal of a finish that changed nothing at all."""
        before = self.snapshot()
        found = self.refused(mode, start=start, **wish)
        assert self.snapshot() == before
        assert self.journal is None
        return found

    @property
    def journal(self) -> Journal | None:
        return journal.latest(open_repo(self.main), self.slug)

    @property
    def store(self) -> Path:
        return self.main / ".git/morph-spec"

    def tip(self, ref: str) -> str:
        return self.git("rev-parse", "--verify", "--quiet", ref, ok=False)

    def ids(self) -> set[str]:
        """Return all objects of the repository."""
        return set(self.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split())

    def snapshot(self) -> Any:
        """Return all that a refusal and a dry run leave alone: references, objects, files, backups."""
        trees = [self.main, *([self.tree] if self.tree.exists() else [])]
        files = {
            (str(tree), os.path.relpath(os.path.join(parent, name), tree)): _content(Path(parent, name))
            for tree in trees
            for parent, folders, names in os.walk(tree)
            if not _is_inner(folders)
            for name in names
        }
        refs = self.git("for-each-ref", "--format=%(refname) %(objectname)")
        kept = sorted(str(path) for top in ("finish", "finish-backup") for path in (self.store / top).rglob("*"))
        status = [self.git("status", "--porcelain", "-z", cwd=tree) for tree in trees]
        return refs, files, kept, self.ids(), status, self.git("worktree", "list", "--porcelain")


def _is_inner(folders: list[str]) -> bool:
    folders[:] = [name for name in folders if name not in (".git", "worktrees")]
    return False


def _content(path: Path) -> Any:
    return os.readlink(path) if path.is_symlink() else path.read_bytes()


def make(main: Path, *, linked: bool, slug: str = "cart", options: tuple[str, ...] = ()) -> Cart:
    """Make the repository `main` with the feature, its review approved, one commit ahead of `main`."""
    main.mkdir(parents=True)
    tree = main / "worktrees" / slug if linked else main
    cart = Cart(main, tree, slug)
    cart.git("init", "-q", "-b", "main", "--template=", *options)
    cart.write("README.md", "# shop\n", main=True)
    cart.write(".gitignore", IGNORES, main=True)
    cart.git("add", "-A")
    cart.git("commit", "-qm", "start")
    add_feature(cart, linked=linked)
    return cart


def add_feature(cart: Cart, *, linked: bool) -> None:
    if linked:
        cart.git("worktree", "add", "-q", "-b", f"morph/{cart.slug}", str(cart.tree), "main")
    else:
        cart.git("switch", "-qc", f"morph/{cart.slug}")
    data = {
        "name": "Totals of a cart",
        "feature": cart.slug,
        "description": "Totals in cents",
        "workType": "feature",
        "status": "in_progress",
        "approvalGates": {"plan": SIGNED, "review": SIGNED},
    }
    folder = f".morph/features/{cart.slug}"
    cart.write(f"{folder}/feature.json", json.dumps(data, indent=2))
    cart.write(f"{folder}/2-plan/plan.md", "# Cart\n")
    cart.write("total.py", "total = 1\n")
    cart.git("add", "-A", cwd=cart.tree)
    cart.git("commit", "-qm", f"Work on {cart.slug}", cwd=cart.tree)


@pytest.fixture(autouse=True)
def _outside(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand in no tree, in no session."""
    monkeypatch.chdir(tmp_path_factory.mktemp("outside"))
    monkeypatch.delenv("CLAUDE_PROJECT_DIR", raising=False)


@pytest.fixture
def cart(tmp_path: Path) -> Cart:
    """The feature in a linked tree, typed from the main one."""
    return make(tmp_path / "shop", linked=True)


@pytest.fixture
def own(tmp_path: Path) -> Cart:
    """The feature in the main tree."""
    return make(tmp_path / "own", linked=False)


@pytest.fixture
def origin(cart: Cart, tmp_path: Path) -> Path:
    """A bare repository that `cart` has as origin, with main pushed."""
    return add_origin(cart, tmp_path / "origin.git")


def add_origin(cart: Cart, path: Path) -> Path:
    cart.git("init", "-q", "--bare", "-b", "main", str(path))
    cart.git("remote", "add", "origin", str(path))
    cart.git("push", "-q", "origin", "main")
    return path
