"""A repository with a feature that has everything a finish must not lose, and what is compared before and after."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BIN = Path(sys.executable).parent
ODD = ("with space.txt", "quote\"d'.txt", "new\nline.txt", "höhe.txt", os.fsdecode(b"not-utf8-\xff.txt"))
IGNORE = "/node_modules\n.env*\nlocal/\n__pycache__/\n*.secret\nhandoff.md\n"
# Derived anew by whoever writes state; and what tools make again.
DERIVED = re.compile(r"(^|/)(\.morph/state\.json$|\.morph/logs/|__pycache__/|\.git$)")


@dataclass(frozen=True)
class Scene:
    """A home, a bare `origin` where there is one, and the repository `shop`."""

    base: Path

    @property
    def shop(self) -> Path:
        return self.base / "shop"

    @property
    def tree(self) -> Path:
        return self.shop / "worktrees" / "cart"

    @property
    def store(self) -> Path:
        return self.shop / ".git" / "morph-spec"

    @property
    def env(self) -> dict[str, str]:
        home = self.base / "home"
        return {
            "HOME": str(home),
            "XDG_STATE_HOME": str(home / "state"),
            "XDG_CONFIG_HOME": str(home / "config"),
            "PATH": f"{self.base / 'gh' / 'bin'}{os.pathsep}{BIN}{os.pathsep}{os.environ['PATH']}",
            "GIT_CONFIG_NOSYSTEM": "1",
        }

    def git(self, *args: str, cwd: Path | None = None) -> bytes:
        done = subprocess.run(["git", *args], cwd=cwd or self.shop, capture_output=True, env={**os.environ, **self.env})
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout

    def text(self, *args: str, cwd: Path | None = None) -> str:
        return self.git(*args, cwd=cwd).decode("utf-8", "surrogateescape").strip()

    def morph(self, *args: str, cwd: Path | None = None, ok: int | None = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [str(BIN / "morph-spec"), *args], cwd=cwd or self.shop, capture_output=True, text=True, errors="replace",
            stdin=subprocess.DEVNULL, timeout=300, env={**os.environ, **self.env},
        )  # fmt: skip
        assert "Traceback" not in done.stderr, done.stderr
        assert ok is None or done.returncode == ok, (args, done.returncode, done.stdout, done.stderr)
        return done

    def json(self, *args: str, cwd: Path | None = None, ok: int | None = 0) -> Any:
        return json.loads(self.morph(*args, "--json", cwd=cwd, ok=ok).stdout)


def write(path: Path, text: str | bytes, mode: int = 0o644) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    path.chmod(mode)


def empty_shop(base: Path, *, origin: bool = False) -> Scene:
    """Make a repository with one commit, what a main tree has beside it, and no feature."""
    scene = Scene(base)
    home = base / "home"
    home.mkdir(parents=True)
    write(
        home / ".gitconfig",
        "[user]\n\tname = Tess Ter\n\temail = tess@example.invalid\n[init]\n\tdefaultBranch = main\n"
        '[commit]\n\tgpgSign = false\n[protocol "file"]\n\tallow = always\n[gc]\n\tauto = 0\n',
    )
    scene.shop.mkdir()
    scene.git("init", "-q", "-b", "main")
    write(scene.shop / "README.md", "# shop\n")
    write(scene.shop / ".gitignore", IGNORE)
    write(scene.shop / "src/app.py", "def app():\n    return 1\n")
    write(scene.shop / "src/old.py", "old = True\n")
    scene.git("add", "-A")
    scene.git("commit", "-qm", "start")
    if origin:
        scene.git("init", "-q", "--bare", "-b", "main", str(base / "origin.git"), cwd=base)
        scene.git("remote", "add", "origin", str(base / "origin.git"))
        scene.git("push", "-q", "origin", "main")
        scene.git("remote", "set-head", "origin", "main")
    write(scene.shop / "node_modules/pkg/index.js", "shared\n")
    write(scene.shop / ".env", "SHARED=1\n", 0o600)
    write(scene.shop / "local/of-main.txt", "only in the main tree\n")
    return scene


def work(tree: Path, git: Any, *, commit_plan: bool = True) -> None:
    """Leave in a tree what a person leaves: commits, an unfinished plan, ignored files of all kinds."""
    write(tree / "src/app.py", "def app():\n    return 2\n")
    write(tree / "src/new.sh", "#!/bin/sh\necho new\n", 0o755)
    (tree / "src/old.py").unlink()
    (tree / "src/latest").symlink_to("app.py")
    for name in ODD:
        write(tree / "odd" / name, f"tracked {name!a}\n")
    git("config", "branch.morph/cart.description", "what the cart is for", cwd=tree)
    git("add", "-A", "--", *(["."] if commit_plan else ["src", "odd"]), cwd=tree)
    git("commit", "-qm", "cart work", cwd=tree)
    folder = tree / ".morph/features/cart"
    plan = folder / "2-plan/plan.md"
    plan.write_text(plan.read_text() + "\nchanged and not committed\n")
    write(folder / "2-plan/notes on it.md", "new and not committed\n")
    write(folder / "keys.secret", "ignored in the feature\n", 0o600)
    (folder / "2-plan/the plan").symlink_to("plan.md")
    (folder / "secret link.secret").symlink_to("keys.secret")
    (folder / "3-implement/empty").mkdir(parents=True)
    for name in ODD:
        write(folder / "odd" / name, f"of the feature {name!a}\n")
    ignored(tree)


def ignored(tree: Path) -> None:
    """Write files that git ignores: exclusive ones, links, caches, an empty folder."""
    write(tree / ".env.local", "PORT=20010\nTOKEN=s3cret\n", 0o640)
    write(tree / "local/data/deep/x.db", b"\x00\x01binary\xff" * 300, 0o600)
    write(tree / "local/run me.sh", "#!/bin/sh\n", 0o755)
    write(tree / "local/read only.txt", "read only\n", 0o444)
    for name in ODD:
        write(tree / "local/odd" / name, f"ignored {name!a}\n")
    (tree / "local/current").symlink_to("data/deep")
    (tree / "local/dangling").symlink_to("nowhere at all")
    (tree / "local/empty/inner").mkdir(parents=True)
    (tree / "local/data").chmod(0o750)
    (tree / "local/data/deep").chmod(0o700)
    write(tree / "src/__pycache__/app.cpython-311.pyc", b"cache")


def with_tree(base: Path, *, origin: bool = False, commit_plan: bool = True) -> Scene:
    """Make the shop with the feature `cart` in a work tree of its own, and work in it."""
    scene = empty_shop(base, origin=origin)
    scene.morph("create", "cart", "--type", "feature", "--description", "A cart", "--no-checkout")
    scene.morph("worktree", "setup", "cart")
    work(scene.tree, scene.git, commit_plan=commit_plan)
    return scene


def in_main_tree(base: Path) -> Scene:
    """Make the shop with the feature `cart` in the main tree, which has its branch checked out."""
    scene = empty_shop(base)
    scene.morph("create", "cart", "--type", "feature", "--description", "A cart")
    work(scene.shop, scene.git)
    return scene


def files_of(tree: Path) -> dict[str, tuple[str, int, str]]:
    """Return path → (kind, mode, digest or target) of all that lies in a tree, other trees and git's own left out."""
    found = {}
    for parent, folders, names in os.walk(tree):
        inside = os.path.relpath(parent, tree)
        prefix = "" if inside == "." else f"{inside}/"
        links = [name for name in folders if os.path.islink(os.path.join(parent, name))]
        folders[:] = [name for name in folders if f"{prefix}{name}" not in (".git", "worktrees") and name not in links]
        if not folders and not names and not links and prefix:
            found[prefix] = ("folder", 0, "")
        if prefix.startswith("local/"):
            found[prefix] = ("folder", stat.S_IMODE(os.lstat(parent).st_mode), "")
        for name in (*names, *links):
            path = Path(parent, name)
            if not DERIVED.search(f"{prefix}{name}"):
                found[f"{prefix}{name}"] = _about(path)
    return found


def _about(path: Path) -> tuple[str, int, str]:
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        return "link", 0, os.readlink(path)
    return "file", stat.S_IMODE(mode), hashlib.sha256(path.read_bytes()).hexdigest()


def snapshot(scene: Scene) -> dict[str, Any]:
    """Return everything that an undo has to bring back, in a form that compares."""
    trees = [line.removeprefix("worktree ") for line in _worktrees(scene) if line.startswith("worktree ")]
    state: dict[str, Any] = {
        "refs": scene.text("for-each-ref", "--format=%(refname) %(objectname)").splitlines(),
        "worktrees": _worktrees(scene),
        "settings": scene.text("config", "--local", "--list").splitlines(),
        "ports": _json(scene.store / "ports.json"),
    }
    for tree in trees:
        path = Path(tree)
        state[f"files of {tree}"] = files_of(path)
        state[f"status of {tree}"] = sorted(
            line
            for line in scene.git(
                "status", "--porcelain=v1", "-z", "-uall", "--ignored", "--no-renames", cwd=path
            ).split(b"\0")
            if not re.search(rb"__pycache__|state\.json|\.morph/logs|worktrees/", line)
        )
    return state


def _worktrees(scene: Scene) -> list[str]:
    return sorted(scene.text("worktree", "list", "--porcelain", "-z").split("\0"))


def _json(path: Path) -> Any:
    return json.loads(path.read_text()) if path.exists() else None


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return what differs between two snapshots, one line each."""
    return list(_differences(before, after))


def _differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    for key in sorted({*before, *after}):
        one, other = before.get(key), after.get(key)
        if one == other:
            continue
        if isinstance(one, dict) and isinstance(other, dict):
            for name in sorted({*one, *other}):
                if one.get(name) != other.get(name):
                    yield f"{key}: {name!a}: {one.get(name)} → {other.get(name)}"
        elif isinstance(one, list) and isinstance(other, list):
            yield f"{key}: - {[x for x in one if x not in other]} + {[x for x in other if x not in one]}"
        else:
            yield f"{key}: {one!a} → {other!a}"


def copy(master: Path, place: Path) -> Scene:
    """Put a prepared scene back to where it was made."""
    shutil.rmtree(place, ignore_errors=True)
    subprocess.run(["cp", "-a", str(master), str(place)], check=True)
    return Scene(place)
