"""Commands on branches: prune."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from morph_tasks.cli.common import EPILOG_CODES, json_option, say, wait_option, warn
from morph_tasks.repo.git import open_repo

if TYPE_CHECKING:
    from morph_tasks.fleet.pruning import Pruned

_LIMIT, _WAIT_S = 1000, 30.0  # a branch that is taken for unmerged stays, so the answer may take longer here


@click.group(
    "branch",
    help="Look after the branches of the repository.",
    epilog=EPILOG_CODES,
    short_help="Delete branches whose work is in the default branch.",
)
def branch() -> None:
    """Hold the commands on branches."""


@branch.command(
    "prune",
    help="Delete the local branches whose work is in the default branch already, squash merges included, and say for "
    "each branch by which evidence. States: merged-ancestral and merged-squash are deleted; open, in-worktree and "
    "unmerged (nothing proves it) stay, and so does the branch of a feature in work. The default branch and the "
    "current one are left alone.",
    epilog=f"{EPILOG_CODES} Example: morph-spec branch prune --dry-run",
)
@click.option("--remote", is_flag=True, help="Also the branch of the same name at origin, where that is proved too.")
@click.option("--dry-run", is_flag=True, help="Say what would go, and delete nothing.")
@wait_option
@json_option
def prune(remote: bool, dry_run: bool, as_json: bool) -> int:
    """Run `morph-spec branch prune`."""
    from morph_tasks.fleet.github import ask_pulls
    from morph_tasks.fleet.pruning import prune as run

    repo = open_repo()
    done = run(repo, ask_pulls(repo, limit=_LIMIT, wait_s=_WAIT_S), remote=remote, dry_run=dry_run)
    for line in done.problems:
        warn(f"warning: {line}")
    payload: dict[str, Any] = {
        "ok": not done.problems,
        "dryRun": dry_run,
        "default": done.default,
        "prs": done.pulls.as_json(),
    }
    payload |= {"branches": [fate.as_json() for fate in done.fates], "problems": list(done.problems)}
    payload["deleted"] = [fate.branch for fate in done.fates if fate.deleted]
    say(payload, "\n".join(_lines(done, dry_run)), as_json)
    return 1 if done.problems else 0


def _lines(done: Pruned, dry_run: bool) -> list[str]:
    if not done.fates:
        return ["no branches but the default and the current one"]
    width = max(len(fate.branch) for fate in done.fates)
    lines = []
    for fate in done.fates:
        lines.append(f"{_word(fate.kept, fate.deleted):12} {fate.branch:{width}}  {fate.state}: {fate.evidence}")
        if fate.remote:
            word = _word(fate.remote.kept, fate.remote.deleted)
            lines.append(f"{word:12} {'  at origin':{width}}  {fate.remote.kept or fate.state}: {fate.remote.evidence}")
    lines += [f"bring back: {fate.restore}" for fate in done.fates if fate.deleted]
    if not done.pulls.verified:
        lines.append(f"pull requests not verified: {done.pulls.reason}")
    gone = [fate for fate in done.fates if fate.kept is None]
    lines.append(f"{len(gone)} {'would be deleted' if dry_run else 'deleted'}, {len(done.fates) - len(gone)} kept")
    return lines


def _word(kept: str | None, deleted: bool) -> str:
    if kept:
        return "kept" if kept != "active-feature" else "kept, active"
    return "deleted" if deleted else "would delete"
