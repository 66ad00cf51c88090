"""The end of work trees: `worktree remove`, `worktree reap`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from morph_tasks.cli.common import EPILOG_CODES, json_option, say, wait_option, warn

if TYPE_CHECKING:
    from morph_tasks.fleet.ending import Ended
    from morph_tasks.fleet.reap import Reaped


@click.command(
    "remove",
    help="Remove the work tree of FEATURE (or of a task: its name, or task/NAME) without closing the feature. Refused "
    "while anything in it is not committed. Ignored files are judged one by one: what the main tree holds too and what "
    "tools make again goes, the rest is copied to the backups of the repository first. Links are unlinked, never "
    "followed. Its application goes down, its ports are given back, its branch stays.",
    epilog=f"{EPILOG_CODES} Example: morph-spec worktree remove cart-totals",
)
@click.argument("feature", required=False)
@click.option("--target", type=click.Path(path_type=Path), metavar="PATH", help="Name the tree by its folder instead.")
@click.option(
    "--if-clean", is_flag=True, help="Only when nothing is uncommitted; it is never removed otherwise. For hooks."
)
@click.option("--discard-ignored", is_flag=True, help="Make no copies of ignored files that exist only there.")
@click.option("--delete-branch", is_flag=True, help="Delete the branch too, if its work is proved to be elsewhere.")
@wait_option
@json_option
def remove(
    feature: str | None, target: Path | None, if_clean: bool, discard_ignored: bool, delete_branch: bool, as_json: bool
) -> int:
    """Run `morph-spec worktree remove`."""
    from morph_tasks.fleet import ending, removal
    from morph_tasks.fleet.lock import fleet_lock
    from morph_tasks.repo.git import open_repo

    if (feature is None) == (target is None):
        raise click.UsageError("name either FEATURE or --target")
    repo = open_repo().lightly()
    with fleet_lock(repo):
        recovered = removal.recover(repo)
        finished = [one for one in ending.resume(repo) if ending.is_about(one, feature, target)]
        for line in recovered:
            warn(f"note: {line}")
        ended = finished[-1] if finished else None
        if ended is None:
            tree = target if target is not None else ending.find_tree(repo, feature or "")
            ended = ending.end_tree(repo, tree, discard_ignored=discard_ignored, delete_branch=delete_branch)
    for line in ended.warnings:
        warn(f"warning: {line}")
    say({**ended.as_json(), "recovered": recovered}, "\n".join(removed_lines(ended)), as_json)
    return 0


@click.command(
    "reap",
    help="Remove what sub-agents left behind: work trees agent-HEX and branches morph-task/agent-HEX. A tree goes only "
    "when its agent is known to have stopped a while ago, nothing in it is uncommitted and no commit is only there. "
    "All others are listed with the reason.",
    epilog=f"{EPILOG_CODES} Example: morph-spec worktree reap --dry-run",
)
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
@click.option(
    "--grace",
    type=click.FloatRange(min=0),
    metavar="MIN",
    help="Minutes that an agent must have been silent.  [default: worktree.reap.graceMinutes, 30]",
)
@wait_option
@json_option
def reap(dry_run: bool, grace: float | None, as_json: bool) -> int:
    """Run `morph-spec worktree reap`."""
    from morph_tasks.fleet.reap import grace_of
    from morph_tasks.fleet.reap import reap as collect
    from morph_tasks.repo.git import open_repo

    repo = open_repo().lightly()
    found = collect(repo, grace_minutes=grace_of(repo) if grace is None else grace, dry_run=dry_run)
    for line in found.recovered:
        warn(f"note: {line}")
    say(found.as_json(), "\n".join(_reaped(found)), as_json)
    return 3 if found.busy else 0


def removed_lines(ended: Ended) -> list[str]:
    told = ended.told
    what = "the empty folder is removed" if told["alreadyDeregistered"] else "removed"
    lines = [f"{told['path']}: {what}"]
    lines += ["  its folder was gone already; git has forgotten it now"] if told["missing"] else []
    lines += [f"  unlinked: {', '.join(told['unlinked'])}"] if told["unlinked"] else []
    lines += [f"  the main tree has the same: {_some(told['replicatedInRoot'])}"] if told["replicatedInRoot"] else []
    lines += [f"  discarded: {_some(told['discardedIgnored'])}"] if told["discardedIgnored"] else []
    if told["ignoredBackup"]:
        lines += [f"  copied: {_some(told['backedUp'])}", f"  to {told['ignoredBackup']}"]
    lines += [f"  the copy of the feature in the main tree went to {ended.shed}"] if ended.shed else []
    lines += [f"  ports from {ended.ports} on are free again"] if ended.ports else []
    lines += [f"  branch {ended.branch} is deleted"] if ended.branch_deleted else []
    kept = told["kept"]
    lines += [f"  what was staged there is in {kept['ref']}: git show {kept['ref']}"] if kept else []
    return [*lines, *([f"  {ended.hint}"] if ended.hint else [])]


def _reaped(found: Reaped) -> list[str]:
    if found.busy:
        return ["another run is at it"]
    lines = [f"removed {one['path']}" for one in found.reaped]
    lines += [f"deleted {one['branch']} ({one['tip'][:10]})" for one in found.branches]
    lines += [f"would remove {left.path or left.branch}" for left in found.would]
    lines += [f"kept {left.path or left.branch}: {left.reason} ({left.detail})" for left in found.preserved]
    return lines or ["nothing of sub-agents is left here"]


def _some(paths: list[str]) -> str:
    return ", ".join(paths[:5]) + (f" and {len(paths) - 5} more" if len(paths) > 5 else "")
