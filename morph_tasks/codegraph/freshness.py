"""Whether the graph of a tree is that of its HEAD, and if not, why. Imports are few: `graph status` asks it first.

Beside the commit the files are compared: work that is not committed keeps a graph fresh for HEAD, and is told.
"""

from __future__ import annotations

import os

from morph_tasks.codegraph import record
from morph_tasks.codegraph.ignore_rules import rules_digest
from morph_tasks.codegraph.layout import GRAPH
from morph_tasks.codegraph.sparse import left_out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from morph_tasks.codegraph.drift import Drift
    from morph_tasks.repo.git import Repo

FRESH, STALE, NO_GRAPH = "fresh", "stale", "no-graph"
OLD_STAMP, IGNORE_CHANGED, RULES_UNKNOWN = "old-stamp", "ignore-changed", "rules-unknown"
EXTRACTED_DIRTY = "extracted-dirty"
WAY_OUT = "morph-spec graph refresh"
_STAMP = b'"built_at_commit"'
_TAIL = 4096


class Freshness:
    """`state`: fresh, stale or no-graph; `reason`: a code, None when fresh; `detail`: the same in a sentence.

    `head`: the commit that is checked out; `built_at`: the commit that the graph is known to be of. None: unknown.
    `drift`: which files are not as they were extracted; None when that is not known. `way_out`: the command that brings
    the graph up to date, from where the question was asked. `left_out`: files of code that are not checked out.
    """

    __slots__ = ("built_at", "detail", "drift", "head", "left_out", "reason", "rules", "state", "way_out")

    def __init__(self, state: str, reason: str | None, detail: str, head: str | None, built_at: str | None) -> None:
        self.state = state
        self.reason = reason
        self.detail = detail
        self.head = head
        self.built_at = built_at
        self.rules: str | None = None
        self.drift: Drift | None = None
        self.way_out = WAY_OUT
        self.left_out: list[str] = []

    def __repr__(self) -> str:
        return self.detail

    def as_json(self) -> dict[str, Any]:
        """Return the part of `graph status --json`."""
        told: dict[str, Any] = {"state": self.state, "reason": self.reason, "detail": self.detail}
        differs = self.drift.as_json() if self.drift is not None else None
        return {
            **told,
            "builtAtCommit": self.built_at,
            "head": self.head,
            "differs": differs,
            "notCheckedOut": self.left_out,
        }


def freshness(repo: Repo) -> Freshness:
    """Compare the graph of a tree with its HEAD and its ignore rules; raises Refusal where git does not answer."""
    return of_tree(str(repo.root), str(repo.git_dir), str(repo.common_dir))


def of_tree(
    root: str,
    git_dir: str,
    common_dir: str,
    *,
    stamp: Callable[[], str | None] | None = None,
    named: Iterable[str] = (),
    full: bool = True,
) -> Freshness:
    """Compare as `freshness` does, for the paths of a tree; `stamp` tells the commit in the graph without a look.

    Not `full`: of a big tree only the files `named` are compared.
    """
    if record.signature(root) is None:
        return Freshness(NO_GRAPH, "absent", f"there is no {GRAPH}", None, None)
    head = head_of(root, git_dir, common_dir)
    known = record.current(root, git_dir)
    # A run that read the files at one commit may have been stamped with the next one: the record comes first.
    built_at = known.get("head") if known else stamp() if stamp else stamp_of(root)
    rules = rules_digest(root, common_dir)
    drift = None
    if known:
        from morph_tasks.codegraph.drift import look

        drift = look(root, git_dir, common_dir, named=named, full=full)
    moved = ""
    if built_at and head and built_at != head:
        moved = _without_change(root, git_dir, (str(built_at), head), drift)
    found = _judged(head, built_at, known, rules, moved, drift)
    found.rules, found.drift = rules, drift
    found.left_out = left_out(root, git_dir, common_dir)
    return found


def _without_change(root: str, git_dir: str, commits: tuple[str, str], drift: Drift | None) -> str:
    """Return words on how HEAD moved when it still is what was extracted, else nothing; that settles the drift."""
    from morph_tasks.codegraph.same_code import same_code

    if same_code(root, git_dir, *commits):
        return f"nothing but .morph/ changed since {short(commits[0])}, "
    if drift is None:
        return ""
    from morph_tasks.codegraph.committed import committed

    work = committed(root, git_dir, *commits, drift.note)
    if work is None:
        return ""
    drift.settle(work)
    return f"what was committed since {short(commits[0])} is what was extracted, "


def _judged(
    head: str | None, built_at: Any, known: dict[str, Any] | None, rules: str | None, moved: str, drift: Drift | None
) -> Freshness:
    """Judge; `moved`: words on a HEAD that moved without any change of code, else empty."""
    if (built_at != head and not moved) or (head is None and not known):
        was = f"the graph is of {short(built_at)}" if built_at else "the graph does not say which commit it is of"
        detail = f"{was}, HEAD is at {short(head)}" if head else f"{was}, and HEAD has no commit"
        return Freshness(STALE, OLD_STAMP, detail, head, built_at)
    if rules is None or not known or not known.get("rules"):
        what = "which ignore rules the graph was extracted with is not known"
        return Freshness(STALE, RULES_UNKNOWN, what, head, built_at)
    if known["rules"] != rules:
        what = "the ignore rules are not those that the graph was extracted with"
        return Freshness(STALE, IGNORE_CHANGED, what, head, built_at)
    if drift is not None and drift.moved_on:
        what = f"the graph was extracted from work that was not committed and is no longer there; {drift.words()}"
        return Freshness(STALE, EXTRACTED_DIRTY, what, head, built_at)
    where = f"is at {short(head)}" if head else "has no commit"
    detail = f"{moved}the graph is that of HEAD, which {where}, and of the ignore rules"
    if drift is None:
        detail += "; whether files differ from what was extracted is not known"
    elif len(drift) or not drift.complete:
        detail += f"; {drift.words()}"
    return Freshness(FRESH, None, detail, head, built_at)


def head_of(root: str, git_dir: str, common_dir: str) -> str | None:
    """Return the commit that is checked out; None before the first one."""
    from morph_tasks.repo.head import commit_by_files

    known = commit_by_files(git_dir, common_dir)
    if known is not None:
        return known
    from morph_tasks.repo.plumbing import Plumbing
    from morph_tasks.repo.spawn import ChildError

    plumbing = Plumbing(root, git_dir)
    try:
        said = b"".join(plumbing.stream("rev-parse", "--verify", "--quiet", "HEAD^{commit}"))
    except ChildError as error:
        if error.code == 1 and not error.stderr:
            return None
        raise plumbing.refusal(error) from None
    return said.decode().strip() or None


def stamp_of(root: str) -> str | None:
    """Return the commit that graphify wrote into the graph, as a rule at its end; None when it wrote none."""
    try:
        with open(f"{root}/{GRAPH}", "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - _TAIL, 0))
            found = _stamp_in(file.read())
            if found is None and size > _TAIL:
                file.seek(0)
                found = _stamp_in(file.read())
            return found
    except OSError:
        return None


def _stamp_in(data: bytes) -> str | None:
    """Return the value of the last such key; inside of a string its quotes would be escaped."""
    _, key, after = data.rpartition(_STAMP)
    value = after.lstrip()[1:].lstrip()[:80].split(b'"') if key and after.lstrip()[:1] == b":" else []
    commit = value[1].decode("ascii", "replace") if len(value) > 2 and value[0] == b"" else ""
    return commit if len(commit) in (40, 64) and set(commit) <= set("0123456789abcdef") else None


def short(commit: Any) -> str:
    """Return the first ten digits of a commit."""
    return str(commit)[:10]
