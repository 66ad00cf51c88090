"""A run of graphify on a tree, from its rules to its record. A run that fails leaves the graph that was there."""

from __future__ import annotations

import os
import re
import shlex
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from morph_tasks.codegraph import graphify, layout, program, record, runlock, sparse, unread, unreadable
from morph_tasks.codegraph.freshness import head_of, short
from morph_tasks.codegraph.ignore_rules import NAME, rules_digest
from morph_tasks.errors import Refusal
from morph_tasks.repo.git import Repo

BUILD, REFRESH = "build", "refresh"
OK, EMPTY, FAILED, UNAVAILABLE = "ok", "empty", "failed", "unavailable"
_NO_CODE = re.compile(r"found 0 code\b|No code files found")
_NO_FILES = "the project holds no code that graphify reads, so there is no graph of it"


@dataclass
class Ran:
    """What a run came to. `holder`: what another run that has the lock says of itself; then nothing was run.

    `counts`: nodes and links of the graph, None when the index could not be made; `recovered`: edges found beside it;
    `unread`: files of code that could not be read; `not_checked_out`: those that a sparse checkout leaves out.
    """

    command: str
    root: Path
    holder: dict[str, Any] | None = None
    empty: bool = False
    head: str | None = None
    duration_ms: int = 0
    version: str | None = None
    ignore_file: str | None = None
    counts: dict[str, int] | None = None
    unread: list[str] | None = None
    not_checked_out: list[str] | None = None
    recovered: dict[str, Any] | None = None
    warnings: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Return the document of `graph build --json` and `graph refresh --json`."""
        counts, running = self.counts or {}, self.holder is not None
        told: dict[str, Any] = {"ok": True, "command": self.command, "running": running, "empty": self.empty}
        if self.holder is not None:
            told |= {"pid": self.holder.get("pid"), "since": self.holder.get("since")}
        told |= {"path": str(layout.graph_file(self.root)), "nodes": counts.get("nodes"), "links": counts.get("links")}
        told |= {"head": self.head, "durationMs": self.duration_ms, "ignoreFile": self.ignore_file}
        told |= {"recovered": self.recovered, "unread": self.unread, "version": graphify_json(self.version)}
        told["notCheckedOut"] = self.not_checked_out
        told["warnings"] = self.warnings
        return told


def graphify_json(version: str | None) -> dict[str, Any]:
    """Return the part of a document that tells which graphify there is, and whether it is one we know."""
    return {"installed": version, "pinned": graphify.PINNED, "matches": graphify.matches(version)}


def silent(_: str) -> None:
    """Be told what is under way, and tell nobody."""


def run(repo: Repo, command: str, *, background: bool = False, stage: Callable[[str], None] = silent) -> Ran:
    """Extract the graph of a tree (`build`) or bring it up to date (`refresh`), and record how that ended.

    `stage` is told what is under way, from this thread and from another.
    While another run has the lock of the tree nothing is run. Raises Refusal `graphify-unavailable`, `graph-failed`,
    `graph-timeout`, `graph-unwritable`, `unreadable-file`, `corrupt-graph`, `bad-limit` (2), `write-failed`,
    `state-unwritable`.
    """
    repo = repo.lightly()
    ran = Ran(command, repo.root)
    limit = program.limit_s()
    found = graphify.find()
    if found is None:
        note_absent(repo, command, background=background)
        raise graphify.unavailable()
    with runlock.take(repo) as lock:
        if lock is None:
            ran.holder = runlock.holder(str(repo.git_dir)) or {}
            return ran
        return _Job(repo, ran, found, lock, background, stage).do(limit)


class _Job:
    """One run under its lock."""

    def __init__(
        self, repo: Repo, ran: Ran, found: str, lock: runlock.Held, background: bool, stage: Callable[[str], None]
    ) -> None:
        self.stage = stage
        self.repo, self.ran, self.found, self.lock = repo, ran, found, lock
        self.place = (str(repo.root), str(repo.git_dir), str(repo.common_dir))
        self.main = _main_of(repo)
        self.begun_ns = time.time_ns()
        known = record.read(self.place[1])["current"]
        self.kept = known if record.current(*self.place[:2]) else None
        self.last: dict[str, Any] = {"command": ran.command, "background": background, "startedAt": _now()}

    def do(self, limit: float) -> Ran:
        ran, begun = self.ran, time.monotonic()
        self.lock.note(pid=os.getpid(), since=self.last["startedAt"], command=ran.command)
        self._sweep()
        ran.version = graphify.ask_version(self.found)
        if graphify.matches(ran.version) is False:
            ran.warnings.append(f"graphify {ran.version} is not one this was tested with ({graphify.PINNED})")
        try:
            with ExitStack() as stack:
                self._settle_rules(stack)
                ran.head = head_of(*self.place)
                rules = rules_digest(self.place[0], self.place[2])
                self.last |= {"head": ran.head, "rules": rules, "program": self.found, "version": ran.version}
                self._extract(limit)
            if not ran.empty:
                self._conclude()
            ran.not_checked_out = sparse.left_out(*self.place)
            ran.warnings += sparse.words(ran.not_checked_out)
        except Refusal as refusal:
            self._write(FAILED, begun, reason=refusal.code, message=refusal.what)
            raise
        ran.duration_ms = round((time.monotonic() - begun) * 1000)
        if head_of(*self.place) != ran.head:
            ran.warnings.append(f"HEAD moved while graphify ran: the graph is of {short(ran.head)}; run it again")
        self._write(EMPTY if ran.empty else OK, begun)
        return ran

    def _sweep(self) -> None:
        """Remove parts of files that a killed run left: those in the tree would make it dirty."""
        from morph_tasks.fleet.marker import sweep

        root = self.repo.root
        sweep(root / NAME, layout.recovered_file(root), layout.record_file(self.repo))

    def _settle_rules(self, stack: ExitStack) -> None:
        """Write or renew the rules of the main tree, or lend them to a work tree that has none."""
        from morph_tasks.codegraph.ignore_file import settle
        from morph_tasks.codegraph.lending import lent

        hide(self.repo, self.ran.warnings)
        if self.main != self.repo.root:
            self.ran.ignore_file = "lent" if stack.enter_context(lent(self.repo.root, self.main)) else "kept"
        elif not self.last["background"]:
            settled = settle(self.repo, create=self.ran.command == BUILD)
            self.ran.ignore_file = settled.action
            self.ran.warnings += settled.warnings

    def _extract(self, limit: float) -> None:
        """Run graphify; a graph that is not one goes first, since graphify would stumble over it."""
        graph = layout.graph_file(self.repo.root)
        _refuse_unwritable(layout.graph_folder(self.repo.root))
        unreadable.refuse(self.place[0])
        _forget_other_place(self.repo.root)
        fresh = self.ran.command == BUILD or not graph.exists()
        before = _looks(graph)
        ended = self._graphify(fresh, limit)
        if ended.code not in (0, None) and not _NO_CODE.search(ended.said) and _is_corrupt(graph):
            graph.unlink(missing_ok=True)
            ended = self._graphify(True, limit)
        self.last["exitCode"] = ended.code
        if ended.code is None:
            what = f"graphify did not end within {limit:g} s and was stopped; the graph that was there is as it was"
            fix = f"{program.LIMIT_VARIABLE}={limit * 2:g} morph-spec graph {self.ran.command}"
            raise Refusal("graph-timeout", what, fix=fix)
        if ended.code and _NO_CODE.search(ended.said):
            self._forget_graph()
            return
        log = f"see {layout.log_file(self.repo)}, then morph-spec graph {self.ran.command}"
        if ended.code:
            self._log(ended)
            raise Refusal("graph-failed", f"graphify ended with {ended.code}: {ended.last_line}", fix=log)
        # An update leaves a graph as it is when nothing moved; an extraction always writes one.
        if not graph.is_file() or (fresh and _looks(graph) == before):
            self._log(ended)
            raise Refusal("graph-failed", f"graphify ended well and wrote no {layout.GRAPH}", fix=log)

    def _graphify(self, fresh: bool, limit: float) -> program.Ended:
        argv = (graphify.extract_argv if fresh else graphify.update_argv)(self.found, self.place[0])
        # Never in the tree: a program that outlives us would keep the folder in use.
        common = self.repo.common_dir
        self.stage("graphify extracts")
        # It has a line for its progress now and then.
        hear = lambda line: self.stage(f"graphify: {line}")  # noqa: E731
        env = graphify.environment()
        return program.run(argv, cwd=common, env=env, keep=self.lock.fd, timeout_s=limit, hear=hear)

    def _conclude(self) -> None:
        """Find what graphify lost and make the index; only a graph that cannot be read is a failure."""
        ran, root = self.ran, self.repo.root
        self._note_files()
        self.stage("looking for edges that graphify lost")
        ran.recovered, failed = _recovered(root, ran.warnings)
        ran.unread = unread.all_of(*self.place, failed)
        ran.warnings += unread.words(ran.unread)
        from morph_tasks.codegraph import index

        self.stage("making the index")
        try:
            index.build(root)
            with index.open_index(root) as opened:
                ran.counts = dict(opened.counts())
        except Refusal as refusal:
            if refusal.code == "corrupt-graph":
                raise
            ran.warnings.append(refusal.what)
        if ran.counts is not None and not ran.counts.get("nodes"):
            self._forget_graph()

    def _note_files(self) -> None:
        """Note what was extracted, so that later work is told from it; without the note that is not known."""
        from morph_tasks.codegraph import extracted

        try:
            extracted.note(*self.place[:2], self.begun_ns)
        except (OSError, ValueError, Refusal) as error:
            self.ran.warnings.append(f"which files were extracted could not be noted: {error}")

    def _forget_graph(self) -> None:
        """Remove the graph of code that is gone: it would go on answering."""
        self.ran.empty, self.ran.counts = True, None
        self.ran.warnings.append(_NO_FILES)
        for path in (layout.graph_file, layout.index_file, layout.recovered_file):
            path(self.repo.root).unlink(missing_ok=True)

    def _write(self, status: str, begun: float, **more: Any) -> None:
        ended = {"endedAt": _now(), "durationMs": round((time.monotonic() - begun) * 1000), "status": status}
        self.last |= {**ended, **more}
        current = self.kept
        if status == OK:
            current = {name: self.last[name] for name in ("head", "rules", "startedAt")}
            current |= {"graph": record.signature(self.place[0]), "counts": self.ran.counts}
        elif status == EMPTY:
            current = None
        record.write(self.repo, current=current, last=self.last)

    def _log(self, ended: program.Ended) -> None:
        from morph_tasks.codegraph.runlog import log

        log(self.repo, f"{self.ran.command} of {self.place[0]} ended with {ended.code}:\n{ended.said.rstrip()}")


def hide(repo: Repo, warnings: list[str]) -> None:
    """Keep the folder of the graph out of `git status`, by the exclude file that all trees share."""
    from morph_tasks.fleet.excludes import exclude, excluded
    from morph_tasks.fleet.lock import fleet_lock

    if repo.run("ls-files", "--error-unmatch", "--", layout.GRAPH, ok=(0, 1)).code == 0:
        way = f"git rm -r --cached {layout.FOLDER}, and commit that"
        warnings.append(f"git tracks {layout.GRAPH}, which is of one commit and changes with every run: {way}")
    if layout.FOLDER in excluded(repo) or _is_ignored(repo):
        return
    try:
        with fleet_lock(repo):
            exclude(repo, [layout.FOLDER])
    except Refusal as refusal:
        warnings.append(f"{layout.FOLDER} is not kept out of git: {refusal.what}")


def _is_ignored(repo: Repo) -> bool:
    return repo.run("check-ignore", "-q", "--", f"{layout.FOLDER}/", ok=(0, 1, 128)).code == 0


def _main_of(repo: Repo) -> Path | None:
    """Return the main work tree; None when a bare repository has none."""
    from morph_tasks.repo.trees import primary_root

    if repo.git_dir == repo.common_dir:
        return repo.root
    found = primary_root(repo)
    return None if found == repo.root else found


def _refuse_unwritable(folder: Path) -> None:
    """Raise Refusal `graph-unwritable` where graphify could not write; it would only fail after all its work."""
    if not os.path.lexists(folder) or (folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)):
        return
    shown = shlex.quote(str(folder))
    fix = f"chmod -R u+rwX {shown}" if folder.is_dir() else f"mv {shown} {shlex.quote(unreadable.aside(str(folder)))}"
    why = "is not writable" if folder.is_dir() else "is no folder"
    raise Refusal("graph-unwritable", f"{folder}, where the graph goes, {why}", fix=fix, path=str(folder))


def _forget_other_place(root: Path) -> None:
    """Remove the note of where the tree was before it was copied or moved.

    While the old place is still there, graphify takes what was deleted here for what is there, and keeps it.
    """
    marker = layout.graph_folder(root) / ".graphify_root"
    try:
        said = marker.read_text("utf-8", "surrogateescape").removeprefix("\ufeff").strip()
        if os.path.realpath(root / said) != os.path.realpath(root):
            marker.unlink()
    except OSError:
        return  # without it, or where it cannot be removed, graphify says what is wrong


def _looks(graph: Path) -> tuple[int, int, int] | None:
    try:
        about = graph.stat()
    except OSError:
        return None
    return about.st_ino, about.st_mtime_ns, about.st_ctime_ns


def _is_corrupt(graph: Path) -> bool:
    from morph_tasks.codegraph.raw import parse

    try:
        parse(graph.read_bytes(), graph)
    except Refusal:
        return True
    except OSError:
        return False
    return False


def _recovered(root: Path, warnings: list[str]) -> tuple[dict[str, Any] | None, tuple[str, ...]]:
    """Find the edges that graphify lost, and the files that it could not read; whatever happens, the graph stands."""
    try:
        found = import_module("morph_tasks.codegraph.recovery.service").recover(root)
    except Exception as error:
        warnings.append(f"the edges that graphify loses were not looked for: {type(error).__name__}: {error}")
        return None, ()
    return {"files": found.files, "edges": found.edges, "failed": len(found.failed)}, found.failed


def note_absent(repo: Repo, command: str, *, background: bool) -> None:
    """Record that the program is not there, once; what is known of the graph stays."""
    known = record.read(str(repo.git_dir))
    if (known["last"] or {}).get("status") == UNAVAILABLE:
        return
    last = {"command": command, "background": background, "startedAt": _now(), "status": UNAVAILABLE}
    record.write(repo, current=known["current"], last={**last, "reason": "graphify-unavailable"})


def _now() -> str:
    from datetime import UTC, datetime

    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
