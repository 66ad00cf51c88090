"""Asks the test nodes of a tree which tests they would run. Runs no test, but what their files do when imported."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.errors import Refusal
from morph_tasks.verify.scenarios.listed import Answer, Listed, read_answer
from morph_tasks.verify.scenarios.listers import Call, call_for

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo
    from morph_tasks.verify.nodes import Node

TIMEOUT_S = 120.0
_AT_ONCE = 4
_TAIL_LINES = 4
_LONGEST_LINE = 240
_LARGEST_LOG = 32 << 20


@dataclass(frozen=True)
class Collection:
    """What one node said. `tests` None: it named none, `files` None: no files either.

    `complete` False: what it did not name may run all the same, if it lies in `open` (anywhere when that is empty).
    `why` says why it was not asked, `problem` why it did not answer, or not fully.
    """

    node: Node
    tests: tuple[Listed, ...] | None = None
    files: frozenset[str] | None = None
    complete: bool = False
    open: tuple[str, ...] = ()
    why: str | None = None
    problem: str | None = None

    @property
    def asked(self) -> bool:
        return self.tests is not None or self.files is not None


def collect(repo: Repo, feature: str, nodes: Sequence[Node], *, timeout_s: float = TIMEOUT_S) -> tuple[Collection, ...]:
    """Return what each node says of its tests, in the order of the nodes. What cannot be asked says why."""
    from morph_tasks.machine.signals import install

    install()
    with tempfile.TemporaryDirectory(prefix="morph-trace-", ignore_cleanup_errors=True) as place:

        def ask(numbered: tuple[int, Node]) -> Collection:
            number, node = numbered
            return _ask(repo, feature, node, Path(place) / str(number), timeout_s)

        with ThreadPoolExecutor(min(_AT_ONCE, os.cpu_count() or 1)) as pool:
            return tuple(pool.map(ask, enumerate(nodes)))


def _ask(repo: Repo, feature: str, node: Node, place: Path, timeout_s: float) -> Collection:
    if node.invalid:
        return Collection(node, why="the node is not valid", problem=f"{node.ref} is not valid: {node.invalid}")
    if not node.command:
        return Collection(node, why=node.skip or "it has no command")
    call = call_for(repo.root, node.runner, node.cwd, node.command, str(place.with_suffix(".out")))
    if isinstance(call, str):
        return Collection(node, why=call)
    try:
        answer = _answer(repo, feature, node, call, place.with_suffix(".log"), timeout_s)
    except Refusal as refusal:
        return Collection(node, problem=f"{node.ref}: {refusal.what}")
    if isinstance(answer, str):
        return Collection(node, problem=f"not verified: {node.ref} did not list its tests: {clean(repo, answer)}")
    tests = None if answer.tests is None else tuple(answer.tests)
    found = Collection(node, tests, answer.files, answer.complete, answer.open)
    if answer.complete:
        return found
    said = "; ".join(answer.notes[:_TAIL_LINES]) or answer.said
    return replace(found, problem=f"not verified: {node.ref} listed only a part of its tests: {clean(repo, said)}")


def _answer(repo: Repo, feature: str, node: Node, call: Call, log: Path, timeout_s: float) -> Answer | str:
    """Run a call; return what was answered, or what the command said instead."""
    from morph_tasks.machine.processes import supervise
    from morph_tasks.verify.launch import environment, redact

    ended = supervise(
        call.command,
        cwd=call.folder,
        env=environment(repo, node, feature) | call.env,
        log=log,
        timeout_s=timeout_s,
        run_id=f"trace-{os.getpid()}",
        live_dir=repo.tree_state / "live",
    )
    redact(log)
    said = _read(log)
    if ended.timed_out:
        return f"it did not end within {timeout_s:g} s"
    if ended.interrupted:
        return "it was interrupted"
    answer = read_answer(node.runner, repo.root, call.folder, call.out, said, ended.exit_code)
    if answer is None:
        return f"exit {ended.exit_code}: {_tail(said)}"
    answer.said = f"exit {ended.exit_code}: {_tail(said)}"
    return answer


def _read(log: Path) -> str:
    from morph_tasks.verify.runners.text import strip_codes

    with open(log, "rb") as file:
        text = file.read(_LARGEST_LOG).decode("utf-8", "replace")
    return "\n".join(map(strip_codes, text.splitlines()))


def _tail(said: str) -> str:
    """Return the lines that tell what went wrong: those with an error, else the last ones."""
    lines = [line.strip()[:_LONGEST_LINE] for line in said.splitlines() if line.strip()]
    wrong = [line for line in lines if "error" in line.lower() or "not found" in line.lower()]
    return " / ".join((wrong or lines)[-_TAIL_LINES:]) or "it said nothing"


def clean(repo: Repo, text: str) -> str:
    """Return a text without the places of this machine, on one line."""
    for place, name in (
        (os.path.realpath(repo.root), "."), (str(repo.root), "."), (tempfile.gettempdir(), "<tmp>"),
        (os.path.expanduser("~"), "~"),
    ):  # fmt: skip
        if len(place) > 1:
            text = text.replace(place, name)
    return " ".join(text.split())
