"""Situations of the code graph: a project with code, one with a graph, and programs that call themselves graphify."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

from tests.conftest import BIN, Project

GRAPHIFY = BIN / "graphify"
CODE = {
    "shop/cart.py": "class Cart:\n    def total(self) -> int:\n        return 1\n",
    "shop/till.py": "from shop.cart import Cart\n\n\ndef pay(cart: Cart) -> int:\n    return cart.total()\n",
    "shop/tests/test_cart.py": "from shop.cart import Cart\n\n\ndef test_total():\n    assert Cart().total() == 1\n",
}


def fill(project: Project) -> None:
    """Give a project some code, committed."""
    for name, text in CODE.items():
        project.write(name, text)
    project.commit("code")


def graph_of(root: Path) -> dict[str, Any]:
    """Return the graph of a tree as graphify wrote it."""
    found: dict[str, Any] = json.loads((root / "graphify-out/graph.json").read_text("utf-8"))
    return found


def files_in(root: Path) -> set[str]:
    """Return the files that nodes of a graph come from."""
    return {node["source_file"] for node in graph_of(root)["nodes"] if node.get("source_file")}


def record_of(git_dir: Path) -> dict[str, Any]:
    """Return the record of the runs in a tree."""
    found: dict[str, Any] = json.loads((git_dir / "morph-spec/graph-refresh-state.json").read_text("utf-8"))
    return found


def status(project: Project, **more: Any) -> Any:
    """Return what `graph status --json` says; it never fails."""
    said = project.morph("graph", "status", "--json", **more)
    assert said.code == 0, said.err
    return said.json


def path_without(folder: Path, *names: str) -> str:
    """Return a PATH on which only git is, and the shell."""
    folder.mkdir()
    for name in ("git", "sh", "env", *names):
        found = shutil.which(name)
        assert found
        (folder / name).symlink_to(found)
    return str(folder)


def pretend(folder: Path, script: str, *, version: str = "echo graphify 0.9.96") -> str:
    """Return a PATH whose `graphify` is a shell script; it notes its calls in `calls` beside itself."""
    folder.mkdir(exist_ok=True)
    place = folder / "graphify"
    place.write_text(f'#!/bin/sh\n[ "$1" = --version ] && {version} && exit\necho "$*" >> "{folder}/calls"\n{script}\n')
    place.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def calls(folder: Path) -> list[str]:
    """Return how a pretended graphify was called, without questions for its version."""
    try:
        return (folder / "calls").read_text().splitlines()
    except FileNotFoundError:
        return []


def pid_in(place: Path) -> int:
    """Wait for a program to note its number; return it."""
    until(lambda: place.exists() and place.read_text().endswith("\n"))
    return int(place.read_text())


def lives(pid: int) -> bool:
    """Tell whether a process runs; a zombie does not."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def until(holds: Callable[[], bool], limit_s: float = 60) -> None:
    """Wait for something that another process does; fails when it does not."""
    end = time.monotonic() + limit_s
    while not holds():
        assert time.monotonic() < end, "it did not come to pass in time"
        time.sleep(0.02)
