"""All that can stand against an undo, asked before anything changes; a step that an earlier run has done is settled."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.fleet import marker
from morph_tasks.fleet.layout import container
from morph_tasks.fleet.making import plan_tree
from morph_tasks.fleet.triage import File
from morph_tasks.fleet.undo.past import GONE, KEPT, MAIN, Past
from morph_tasks.fleet.undo.record import Record
from morph_tasks.fleet.undo.sources import Source, read_source, same_file
from morph_tasks.model.load import load_config
from morph_tasks.repo.git import Repo, open_repo
from morph_tasks.repo.moving import refuse_move
from morph_tasks.repo.trees import live_owners

if TYPE_CHECKING:
    from collections.abc import Iterator

_SHOWN = 5


@dataclass(frozen=True)
class Plan:
    """What an undo is going to do. `home`: the main tree, from which git is asked.

    `default_tree`: the tree that has the default branch checked out; `left_out`: what is not to be had, {path, why}.
    """

    past: Past
    record: Record
    home: Repo
    default_tree: Path | None
    feature: Source
    ignored: Source
    shed: Source
    replicated: tuple[File, ...] = ()
    left_out: tuple[dict[str, str], ...] = ()
    warnings: tuple[str, ...] = field(default=())


def make_plan(repo: Repo, past: Past, record: Record, *, without_ignored: bool) -> Plan:
    """Compute an undo and raise the first refusal that stands against it; changes nothing.

    Codes: `repository-moved`, `already-pushed`, `default-moved`, `merge-in-use`, `branch-exists`, `branch-gone`,
    `path-taken`, `worktree-gone`, `main-tree-elsewhere`, `default-checked-out-twice`, `feature-exists`, `ports-taken`,
    `backup-incomplete`, `ignored-discarded`, `replicated-changed`, and what moving a tree refuses.
    """
    home = _home(repo, past)
    _refuse_pushed(home, past)
    default_tree = _refuse_default(home, past, record)
    _refuse_branch(home, past, record)
    _refuse_tree(home, past, record)
    _refuse_ports(home, past, record)
    feature, ignored = read_source(past.archive.get("backup")), _ignored_source(past)
    shed = read_source(past.teardown.get("shedBackup"))
    replicated, changed = _replicated(past, record)
    _refuse_feature(past, record, shed)
    left_out = [*feature.problems, *ignored.problems, *shed.problems, *changed, *_discarded(past)]
    if past.kind == GONE and not record.is_done("files") and not without_ignored:
        _refuse_discarded(past)
    if not without_ignored:
        _refuse_incomplete(past, feature, ignored, shed)
        _refuse_changed(past, changed)
    return Plan(past, record, home, default_tree, feature, ignored, shed, replicated, tuple(left_out))


def _home(repo: Repo, past: Past) -> Repo:
    """Return the main tree; the journal names places, and they hold for a repository that is still where it was."""
    try:
        home = open_repo(past.primary)
    except Refusal:
        home = None
    if home is None or not _same(home.common_dir, repo.common_dir):
        what = f"the finish of {past.feature!r} was run in {past.primary}, and the repository is not there any more"
        raise Refusal("repository-moved", what, fix=f"move it back to {past.primary}", primary=str(past.primary))
    return home


def again(past: Past, *words: str) -> str:
    """Return the command that undoes this finish, with more words."""
    return " ".join(["morph-spec undo", shlex.quote(past.feature), *words])


def some(names: Sequence[str]) -> str:
    """Return the first few names for one line, whatever they hold."""
    shown = [name if name.isprintable() else json.dumps(name) for name in names[:_SHOWN]]
    return ", ".join(shown) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


def tip_of(repo: Repo, branch: str) -> str | None:
    """Return the commit of a local branch; None when there is none."""
    return repo.text("rev-parse", "--verify", "--quiet", f"refs/heads/{branch}^{{commit}}", ok=(0, 1, 128)) or None


def _refuse_pushed(home: Repo, past: Past) -> None:
    if past.merge is None or past.before is None:
        what = f"{past.default} held the work already when the finish ran, so nothing tells which commit brought it"
        raise Refusal("default-moved", what, fix=f"git log {past.default}", feature=past.feature)
    listed = home.text("for-each-ref", "--format=%(symref) %(refname:short)", "--contains", past.merge, "refs/remotes")
    # `origin/HEAD` only points to another one.
    where = [line.strip() for line in listed.splitlines() if line.startswith(" ") or " " not in line]
    if where or (past.integrate.get("push") or {}).get("pushed"):
        named = where[0] if where else f"origin/{past.default}"
        what = f"the merge of {past.feature!r} was published: {named} holds {past.merge[:10]}"
        fix = f"git -C {shlex.quote(str(past.primary))} revert -m 1 {past.merge[:10]}, on {past.default}"
        raise Refusal("already-pushed", what, fix=fix, feature=past.feature, merge=past.merge, refs=where)


def _refuse_default(home: Repo, past: Past, record: Record) -> Path | None:
    """Return the tree that has the default branch checked out."""
    assert past.merge
    trees = live_owners(home, past.default)
    if record.is_done("default"):
        return trees[0] if trees else None
    tip = tip_of(home, past.default)
    if tip not in (past.merge, past.before):
        _refuse_moved(home, past, tip)
    users = [branch for branch in _containing(home, past.merge) if branch != past.default]
    if users and tip == past.merge:
        what = f"{', '.join(users[:_SHOWN])} began after the merge of {past.feature!r} and holds it"
        fix = f"git rebase --onto {past.default}~1 {past.default} {users[0]}, then undo again"
        raise Refusal("merge-in-use", what, fix=fix, feature=past.feature, branches=users)
    if len(trees) > 1:
        what = f"{past.default} is checked out in {len(trees)} trees: moving it would leave one of them behind"
        raise Refusal("default-checked-out-twice", what, fix="git worktree list", trees=[str(tree) for tree in trees])
    return _refuse_default_tree(past, record, trees, tip)


def _refuse_default_tree(past: Past, record: Record, trees: Sequence[Path], tip: str | None) -> Path | None:
    assert past.merge and past.before
    partly = record.was_begun("default")
    if past.kind == MAIN:
        main = open_repo(past.primary)
        if main.branch() not in (past.default, *((past.branch,) if partly else ())):
            what = f"the main tree had {past.branch} checked out, and is on {main.branch() or 'no branch'} now"
            fix = f"git -C {shlex.quote(str(past.primary))} switch {past.default}"
            raise Refusal("main-tree-elsewhere", what, fix=fix, tree=str(past.primary))
        refuse_move(main, past.merge if tip == past.merge else past.before, past.tip, partly=partly)
        return past.primary
    if not trees:
        return None
    if tip == past.merge or partly:
        refuse_move(open_repo(trees[0]), past.merge, past.before, partly=partly)
    return trees[0]


def _refuse_moved(home: Repo, past: Past, tip: str | None) -> None:
    assert past.merge
    count = None
    if tip:
        said = home.text("rev-list", "--count", f"{past.merge}..{tip}", ok=range(256))
        on_top = home.run("merge-base", "--is-ancestor", past.merge, tip, ok=range(256)).code == 0
        count = int(said) if on_top and said.isdigit() else None
    if count:
        what = f"{past.default} has {count} commits on top of the merge of {past.feature!r}"
        fix = f"git -C {shlex.quote(str(past.primary))} revert -m 1 {past.merge[:10]}, on {past.default}"
    else:
        what = f"{past.default} is no longer at the merge of {past.feature!r} ({past.merge[:10]})"
        fix = f"git reflog {past.default}"
    raise Refusal("default-moved", what, fix=fix, feature=past.feature, merge=past.merge, tip=tip, commits=count)


def _containing(home: Repo, commit: str) -> list[str]:
    listed = home.text("for-each-ref", "--format=%(refname)", "--contains", commit, "refs/heads")
    return [name.removeprefix("refs/heads/") for name in listed.splitlines()]


def _refuse_branch(home: Repo, past: Past, record: Record) -> None:
    if record.is_done("branch"):
        return
    tip = tip_of(home, past.branch)
    allowed = {past.tip, None if past.kind in (GONE, MAIN) else past.archived_tip}
    if past.kind in (GONE, MAIN):
        # Where the branch was not deleted, it stands at the archive.
        allowed.add(past.archived_tip)
    if tip not in allowed:
        _refuse_other_tip(past, tip)
    below = home.text("for-each-ref", "--format=%(refname:short)", "--count=1", f"refs/heads/{past.branch}/")
    if below:
        what = f"branch {below} is in the way: git cannot hold it and {past.branch} at the same time"
        raise Refusal("branch-exists", what, fix=f"git branch -m {below} <other-name>", branch=below)


def _refuse_other_tip(past: Past, tip: str | None) -> None:
    where = f"is at {tip[:10]} now" if tip else "is gone"
    what = f"branch {past.branch} {where}; this finish left it at {past.archived_tip[:10]}"
    fix = f"git branch -m {past.branch} <other-name>" if tip else f"git branch {past.branch} {past.archived_tip[:10]}"
    raise Refusal("branch-exists" if tip else "branch-gone", what, fix=fix, branch=past.branch, commit=tip)


def _refuse_tree(home: Repo, past: Past, record: Record) -> None:
    owners = live_owners(home, past.branch)
    if past.kind == KEPT and not record.is_done("branch"):
        assert past.tree
        if not any(_same(owner, past.tree) for owner in owners):
            what = f"the finish left the work tree {past.tree} in place, and it is not there on {past.branch} any more"
            fix = f"git worktree add {shlex.quote(str(past.tree))} {past.branch}, then undo again"
            raise Refusal("worktree-gone", what, fix=fix, worktree=str(past.tree))
        refuse_move(open_repo(past.tree), past.archived_tip, past.tip, partly=record.was_begun("branch"))
    if past.kind == GONE and not record.is_done("tree"):
        assert past.tree
        _refuse_taken_path(home, past, past.tree, owners)


def _refuse_taken_path(home: Repo, past: Past, path: Path, owners: Sequence[Path]) -> None:
    elsewhere = [owner for owner in owners if not _same(owner, path)]
    if elsewhere:
        what = f"{past.branch} is checked out in {elsewhere[0]}"
        fix = f"git -C {shlex.quote(str(elsewhere[0]))} switch --detach"
        raise Refusal("branch-exists", what, fix=fix, branch=past.branch, tree=str(elsewhere[0]))
    key = str(past.plan.get("portsKey") or past.feature)
    if owners and marker.read(home, key) is None:
        return  # made by a run that was killed right after it
    top = container(home, load_config(home)).path
    plan_tree(home, key=key, path=path, branch=past.branch, top=top, start=lambda: (past.branch, past.tip))


def _refuse_ports(home: Repo, past: Past, record: Record) -> None:
    from morph_tasks.stack.ports import refuse_claim

    key, base = past.plan.get("portsKey"), past.plan.get("portsBase")
    if key and base is not None and not record.is_done("ports"):
        refuse_claim(home, str(key), int(base))


def _refuse_feature(past: Past, record: Record, shed: Source) -> None:
    """Refuse where somebody has begun the feature anew, in the main tree or in the one that is still there."""
    places = []
    if past.kind in (KEPT, MAIN) and not record.was_begun("branch") and not record.was_begun("default"):
        places.append((past.tree or past.primary) / past.folder)
    if past.kind == GONE and not record.was_begun("root"):
        places.append(past.primary / past.folder)
    expected = {past.primary / file.path for file in shed.files}
    for place in places:
        if os.path.lexists(place) and not (set(_files(place)) <= expected):
            what = f"the feature {past.feature!r} was begun anew: {place} is there"
            raise Refusal("feature-exists", what, fix=f"morph-spec delete {past.feature}", path=str(place))
    taken = [str(path) for path in _shed_taken(past, shed)] if not record.is_done("root") else []
    if taken:
        what = f"{taken[0]} is there again with other content"
        raise Refusal("feature-exists", what, fix=f"move {taken[0]} away, then undo again", paths=taken)


def _shed_taken(past: Past, shed: Source) -> Iterator[Path]:
    for file in shed.files:
        place = past.primary / file.path
        if os.path.lexists(place) and not same_file(place, file):
            yield place


def _files(place: Path) -> list[Path]:
    if os.path.islink(place) or not place.is_dir():
        return [place]
    return [Path(parent, name) for parent, _, names in os.walk(place) for name in names]


def _ignored_source(past: Past) -> Source:
    if past.kind != GONE:
        return Source()
    wanted = [entry for entry in past.removal.get("exclusive", ()) if not past.is_archived(entry["path"])]
    if (past.plan.get("options") or {}).get("discardIgnored"):
        wanted = []
    return read_source(past.teardown.get("ignoredBackup"), wanted)


def _replicated(past: Past, record: Record) -> tuple[tuple[File, ...], list[dict[str, str]]]:
    """Return the files of which the main tree still has what the removed tree had, and those of which it has not."""
    if past.kind != GONE or record.is_done("files"):
        return (), []
    assert past.tree
    found, changed = [], []
    for entry in past.removal.get("replicatedInRoot", ()):
        file = File(entry["path"], entry["sha256"], int(entry["mode"]), int(entry.get("size") or 0))
        if same_file(past.primary / file.path, file) or same_file(past.tree / file.path, file):
            found.append(file)
        else:
            changed.append({"path": file.path, "why": "the main tree has other content now"})
    return tuple(found), changed


def _discarded(past: Past) -> list[dict[str, str]]:
    if past.kind != GONE or not (past.plan.get("options") or {}).get("discardIgnored"):
        return []
    why = "the finish was told to discard it"
    return [{"path": entry["path"], "why": why} for entry in past.removal.get("exclusive", ())]


def _refuse_discarded(past: Past) -> None:
    gone = [entry["path"] for entry in _discarded(past)]
    if gone:
        what = f"the finish discarded ignored files, as it was told: {some(gone)}"
        raise Refusal("ignored-discarded", what, fix=again(past, "--without-ignored"), discarded=gone)


def _refuse_incomplete(past: Past, *sources: Source) -> None:
    missing: list[dict[str, Any]] = [problem for source in sources for problem in source.problems]
    if missing:
        named = some([f"{one['path']} ({one['why']})" for one in missing])
        what = f"the backups of this finish do not hold everything any more: {named}"
        raise Refusal("backup-incomplete", what, fix=again(past, "--without-ignored"), missing=missing)


def _refuse_changed(past: Past, changed: Sequence[dict[str, str]]) -> None:
    if changed:
        named = some([one["path"] for one in changed])
        what = f"the work tree had the same ignored files as the main tree, where they were changed since: {named}"
        raise Refusal("replicated-changed", what, fix=again(past, "--without-ignored"), missing=list(changed))


def _same(one: Path, other: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)
