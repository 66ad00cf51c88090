"""What can stand against an undo in git: what was published or went on, and trees and ports that are taken."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import Path

from morph_tasks.errors import Refusal
from morph_tasks.fleet import marker
from morph_tasks.fleet.layout import container
from morph_tasks.fleet.making import plan_tree
from morph_tasks.fleet.undo.past import GONE, KEPT, MAIN, Past
from morph_tasks.fleet.undo.record import Record
from morph_tasks.model.load import load_config
from morph_tasks.repo.git import Repo, open_repo
from morph_tasks.repo.moving import refuse_move
from morph_tasks.repo.trees import live_owners, same_place

_SHOWN = 5


def again(past: Past, *words: str) -> str:
    """Return the command that undoes this finish, with more words."""
    return " ".join(["morph-spec undo", shlex.quote(past.feature), *words])


def some(names: Sequence[str]) -> str:
    """Return the first few names for one line, whatever they hold."""
    shown = [name if name.isprintable() else json.dumps(name) for name in names[:_SHOWN]]
    return ", ".join(shown) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


def refuse_pushed(home: Repo, past: Past) -> None:
    if past.by_pull:
        _refuse_pull(home, past)
        return
    if past.merge is None or past.before is None:
        what = f"{past.default} held the work already when the finish ran, so nothing tells which commit brought it"
        raise Refusal("default-moved", what, fix=f"git log {past.default}", feature=past.feature)
    where = _published(home, past.merge)
    if where or (past.integrate.get("push") or {}).get("pushed"):
        named = where[0] if where else f"origin/{past.default}"
        what = f"the merge of {past.feature!r} was published: {named} holds {past.merge[:10]}"
        fix = _revert(home, past)
        raise Refusal("already-pushed", what, fix=fix, feature=past.feature, merge=past.merge, refs=where)


def _published(home: Repo, commit: str) -> list[str]:
    """Return the branches of remotes that are known to hold a commit."""
    listed = home.text("for-each-ref", "--format=%(symref) %(refname:short)", "--contains", commit, "refs/remotes")
    # `origin/HEAD` only points to another one.
    return [line.strip() for line in listed.splitlines() if line.startswith(" ") or " " not in line]


def _refuse_pull(home: Repo, past: Past) -> None:
    """Refuse as long as the pull request of the finish, or a branch of a remote, shows the work to others."""
    from morph_tasks.fleet.github import ask_pulls

    opened = past.integrate.get("pr") or {}
    number, branch = opened.get("number"), past.branch
    said = ask_pulls(home, head=branch)
    pull = next((one for one in said.of(branch) if one.number == number), None)
    where = _published(home, past.archived_tip)
    drop = f"git push origin --delete {branch}"
    what = f"the finish of {past.feature!r} published {branch}"
    if pull is None:
        reason = said.reason or "GitHub does not list it"
        what, fix = f"{what}, and how pull request #{number} stands is not known: {reason}", f"gh pr view {number}"
    elif pull.state == "OPEN":
        what, fix = f"{what}: pull request #{number} is open", f"gh pr close {number} && {drop}"
    elif pull.state == "MERGED":
        what, fix = f"{what}: pull request #{number} is merged", f"gh pr view {number} --web, to revert it there"
    elif where:
        what = f"{what}, and {where[0]} still holds it"
        fix = f"{drop}, or git fetch --prune origin when it is gone there"
    else:
        return
    raise Refusal("already-pushed", what, fix=fix, feature=past.feature, pr=opened or None, refs=where)


def refuse_default(home: Repo, past: Past, record: Record) -> Path | None:
    """Return the tree that has the default branch checked out."""
    if past.by_pull:
        return None
    assert past.merge
    trees = live_owners(home, past.default)
    if record.is_done("default"):
        return trees[0] if trees else None
    tip = home.tip(past.default)
    if tip not in (past.merge, past.before):
        _refuse_moved(home, past, tip)
    users = [branch for branch in _containing(home, past.merge) if branch != past.default]
    if users and tip == past.merge:
        what = f"{', '.join(users[:_SHOWN])} began after the merge of {past.feature!r} and holds it"
        fix = " && ".join(_taken_off(home, past, branch) for branch in users)
        raise Refusal("merge-in-use", what, fix=fix, feature=past.feature, branches=users)
    if len(trees) > 1:
        what = f"{past.default} is checked out in {len(trees)} trees: moving it would leave one of them behind"
        fix = f"git -C {shlex.quote(str(trees[-1]))} switch --detach"
        raise Refusal("default-checked-out-twice", what, fix=fix, trees=[str(tree) for tree in trees])
    return _refuse_default_tree(past, record, trees, tip)


def _taken_off(home: Repo, past: Past, branch: str) -> str:
    """Return the command that bases a branch on what was before the merge, in the tree that has it."""
    before, merge = str(past.before)[:10], str(past.merge)[:10]
    trees, name = live_owners(home, branch), shlex.quote(branch)
    if trees:
        return f"git -C {shlex.quote(str(trees[0]))} rebase --autostash --onto {before} {merge}"
    root = shlex.quote(str(home.root))
    if home.tip(branch) == past.merge:
        return f"git -C {root} branch --force {name} {before}"
    back = shlex.quote(home.branch() or "--detach")
    return f"git -C {root} rebase --autostash --onto {before} {merge} {name} && git -C {root} switch {back}"


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
        on_top = home.run("merge-base", "--is-ancestor", past.merge, tip, ok=range(256)).code == 0
        count = home.count(f"{past.merge}..{tip}") if on_top else None
    if count:
        back = f"git branch {past.branch} {past.archived_tip[:10]}"
        what = f"{past.default} has {count} commit{'s' * (count > 1)} on top of the merge of {past.feature!r}"
        what += f"; its work can be had again with {back}"
        later = merged_last(home, tip)
        fix = f"morph-spec undo {later}" if later else _revert(home, past)
        what += f"; the last of them is the finish of {later!r}: undo that first" if later else ""
    else:
        what = f"{past.default} is no longer at the merge of {past.feature!r} ({past.merge[:10]})"
        fix = f"git reflog {past.default}"
    raise Refusal("default-moved", what, fix=fix, feature=past.feature, merge=past.merge, tip=tip, commits=count)


def merged_last(home: Repo, tip: str | None) -> str | None:
    """Return the feature whose finish ended with this very merge; None when none did."""
    from morph_tasks.fleet.journal import DONE, newest

    found = (journal for journal in newest(home) if journal.state == DONE)
    return next((one.feature for one in found if one.step("integrate").get("mergeCommit") == tip), None)


def _revert(home: Repo, past: Past) -> str:
    """Return the command that takes the merge back in public, for the tree that has the default branch."""
    trees = live_owners(home, past.default)
    return f"git -C {shlex.quote(str(trees[0] if trees else past.primary))} revert -m 1 {str(past.merge)[:10]}"


def _containing(home: Repo, commit: str) -> list[str]:
    listed = home.text("for-each-ref", "--format=%(refname)", "--contains", commit, "refs/heads")
    return [name.removeprefix("refs/heads/") for name in listed.splitlines()]


def refuse_branch(home: Repo, past: Past, record: Record) -> None:
    if record.is_done("branch"):
        return
    tip = home.tip(past.branch)
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


def refuse_tree(home: Repo, past: Past, record: Record) -> None:
    owners = live_owners(home, past.branch)
    if past.kind == KEPT and not record.is_done("branch"):
        assert past.tree
        if not any(same_place(owner, past.tree) for owner in owners):
            what = f"the finish left the work tree {past.tree} in place, and it is not there on {past.branch} any more"
            fix = f"git worktree add {shlex.quote(str(past.tree))} {past.branch}"
            raise Refusal("worktree-gone", what, fix=fix, worktree=str(past.tree))
        refuse_move(open_repo(past.tree), past.archived_tip, past.tip, partly=record.was_begun("branch"))
    if past.kind == GONE and not record.is_done("tree"):
        assert past.tree
        _refuse_taken_path(home, past, past.tree, owners)


def _refuse_taken_path(home: Repo, past: Past, path: Path, owners: Sequence[Path]) -> None:
    elsewhere = [owner for owner in owners if not same_place(owner, path)]
    if elsewhere:
        what = f"{past.branch} is checked out in {elsewhere[0]}"
        fix = f"git -C {shlex.quote(str(elsewhere[0]))} switch --detach"
        raise Refusal("branch-exists", what, fix=fix, branch=past.branch, tree=str(elsewhere[0]))
    key = str(past.plan.get("portsKey") or past.feature)
    if owners and marker.read(home, key) is None:
        return  # made by a run that was killed right after it
    top = container(home, load_config(home)).path
    plan_tree(home, key=key, path=path, branch=past.branch, top=top, start=lambda: (past.branch, past.tip))


def refuse_ports(home: Repo, past: Past, record: Record) -> None:
    from morph_tasks.stack.ports import refuse_claim

    key, base = past.plan.get("portsKey"), past.plan.get("portsBase")
    if key and base is not None and not record.is_done("ports"):
        refuse_claim(home, str(key), int(base))
