"""Commands that move a feature along or take it away: advance, retype, archive, delete, handoff."""

from __future__ import annotations

from contextlib import suppress

import click

from morph_tasks.cli.again import typed
from morph_tasks.cli.common import EPILOG_CODES, feature_argument, json_option, say, wait_option, warn
from morph_tasks.errors import Refusal
from morph_tasks.features.removal import Removed
from morph_tasks.features.shape import WORK_TYPES
from morph_tasks.repo.git import Repo, open_repo


@click.command(
    "advance",
    help="Approve the gate of FEATURE's current phase and open the folder of the next one. Leaving `implement` needs a "
    "final report of every slice. --design branches off to the design after the plan.",
    epilog=f"{EPILOG_CODES} Example: morph-spec advance cart-totals --design",
)
@feature_argument
@click.option("--design", is_flag=True, help="Take the branch over the uiux gate; starts the mockups.")
@click.option("--approver", help="Name of the person who signs the gate.")
@click.option("--force", is_flag=True, help="Leave implement without all reports, and pass over the order of gates.")
@wait_option
@json_option
def advance(feature: str, design: bool, approver: str | None, force: bool, as_json: bool) -> int:
    """Run `morph-spec advance`."""
    from morph_tasks.gates.advance import advance as step
    from morph_tasks.gates.approval import Consent

    if approver is not None and not approver.strip():
        raise click.UsageError("--approver needs a name")
    consent = Consent((approver or "").strip(), force)
    made = step(open_repo(), feature, consent, design=design, command=typed())
    warnings = [f"skipped: {what}" for what in made.skipped]
    warnings += made.approval.warnings if made.approval else ()
    for line in warnings:
        warn(f"warning: {line}")
    payload = {"ok": True, "feature": feature, "from": made.before, "phase": made.after}
    payload |= {"approval": made.approval.record if made.approval else None, "skipped": list(made.skipped)}
    payload |= {"files": list(made.files), "next": made.next_command, "warnings": warnings}
    lines = [f"{feature}: {made.before} → {made.after}", *(f"  {path}" for path in made.files)]
    say(payload, "\n".join([*lines, f"next: {made.next_command}"]), as_json)
    return 0


@click.command(
    "retype",
    help="Give FEATURE another type of work. Gates that the old type passed by policy are open again; what people "
    "approved stays. Refused once the review is approved.",
    epilog=f"{EPILOG_CODES} Example: morph-spec retype cart-totals bug",
)
@feature_argument
@click.argument("work_type", metavar="TYPE", type=click.Choice(WORK_TYPES))
@wait_option
@json_option
def retype(feature: str, work_type: str, as_json: bool) -> int:
    """Run `morph-spec retype`."""
    from morph_tasks.features.retype import retype as change

    made = change(open_repo(), feature, work_type, command=typed())
    payload = {"ok": True, "feature": feature, "from": made.before, "workType": made.after, "phase": made.phase}
    payload |= {"undone": list(made.undone), "stamped": list(made.stamped), "kept": list(made.kept)}
    lines = [f"{feature} is a {made.after} now (it was a {made.before}); phase: {made.phase}"]
    lines += [f"  gate {gate} is open again" for gate in made.undone]
    lines += [f"  gate {gate} is passed by policy" for gate in made.stamped]
    say(payload, "\n".join(lines), as_json)
    return 0


@click.command(
    "archive",
    help="Move FEATURE to .morph/archive and commit the move, and nothing but the move. Its branch is not integrated.",
    epilog=f"{EPILOG_CODES} Example: morph-spec archive old-import",
)
@feature_argument
@wait_option
@json_option
def archive(feature: str, as_json: bool) -> int:
    """Run `morph-spec archive`."""
    from morph_tasks.features.removal import archive as put_away

    repo = open_repo()
    _warn_of_claims(repo, feature)
    made = put_away(repo, feature, command=typed())
    _close(repo, feature)
    return _tell(made, as_json)


@click.command(
    "delete",
    help="Remove FEATURE and commit the removal, and nothing but the removal. What git does not hold is copied to the "
    "backups of the repository first. Its branch stays. Refused while a work tree works on it, unless --with-worktree "
    "takes that down as well: refused in turn while work in it is not committed.",
    epilog=f"{EPILOG_CODES} Example: morph-spec delete dead-draft --archive",
)
@feature_argument
@click.option("--archive", "keep", is_flag=True, help="Archive it as abandoned instead.")
@click.option("--force", is_flag=True, help="Also when a gate was approved.")
@click.option("--with-worktree", "with_tree", is_flag=True, help="Remove its work tree too, and lose nothing in it.")
@click.option("--delete-branch", is_flag=True, help="With --with-worktree: also the branch; its last commit is named.")
@wait_option
@json_option
def delete(feature: str, keep: bool, force: bool, with_tree: bool, delete_branch: bool, as_json: bool) -> int:
    """Run `morph-spec delete`."""
    from morph_tasks.features.removal import delete as remove

    if delete_branch and not with_tree:
        raise click.UsageError("--delete-branch goes with --with-worktree")
    if delete_branch and keep:
        raise click.UsageError("--archive and --delete-branch exclude each other: the archive is on the branch")
    repo = open_repo()
    _warn_of_claims(repo, feature)
    if with_tree:
        return _drop(repo, feature, keep=keep, force=force, delete_branch=delete_branch, as_json=as_json)
    made = remove(repo, feature, keep=keep, force=force, command=typed())
    _close(repo, feature)
    return _tell(made, as_json)


@click.command(
    "handoff",
    help="Write the page with which the next session takes up FEATURE, in the work tree that owns it.",
    epilog=f"{EPILOG_CODES} Example: morph-spec handoff cart-totals",
)
@feature_argument
@click.option("--here", is_flag=True, help="Write it in this tree, whoever owns the feature.")
@wait_option
@json_option
def handoff(feature: str, here: bool, as_json: bool) -> int:
    """Run `morph-spec handoff`."""
    from morph_tasks.features.handoff import handoff as write

    made = write(open_repo(), feature, here=here)
    payload = {"ok": True, "feature": feature, "path": str(made.path), "next": made.next_command}
    say(payload, f"{made.path}\nnext: {made.next_command}", as_json)
    return 0


def _drop(repo: Repo, feature: str, *, keep: bool, force: bool, delete_branch: bool, as_json: bool) -> int:
    """Delete a feature together with its work tree."""
    from morph_tasks.cli.worktree_end import removed_lines
    from morph_tasks.fleet import claims
    from morph_tasks.fleet.dropping import drop

    made = drop(repo, feature, keep=keep, force=force, delete_branch=delete_branch, command=typed())
    with suppress(Refusal):  # a claim on what is gone harms nobody
        claims.release(repo, feature)
    for line in made.warnings:
        warn(f"warning: {line}")
    told = made.as_json()
    lines = [f"{feature} archived in {told['archived']}" if keep else f"{feature} deleted"]
    lines += [f"  copies of what git did not hold: {told['backup']}"] if told["backup"] else []
    ended = removed_lines(made.ended) if made.ended else []
    lines += [line for line in ended if not made.deleted or line.strip() != f"branch morph/{feature} stays"]
    lines += [f"  branch morph/{feature} deleted; {made.hint} brings it back"] if made.deleted else []
    lines += [f"  branch {made.branch} stays"] if made.branch and not made.ended else []
    say(told, "\n".join(lines), as_json)
    return 0


def _warn_of_claims(repo: Repo, feature: str) -> None:
    """Say on stderr that another session works on a feature; a claim never stops anybody."""
    from morph_tasks.fleet.claims import warning

    told = warning(repo, feature)
    if told:
        warn(f"warning: {told}")


def _close(repo: Repo, feature: str) -> None:
    """Take the application of a feature that is gone down for good, and give its ports and its claims back."""
    from morph_tasks.fleet import claims

    with suppress(Refusal):  # a claim on what is gone harms nobody
        claims.release(repo, feature)
    from morph_tasks.stack.ports import known_block
    from morph_tasks.stack.project import stack_key

    if known_block(repo, stack_key(repo, feature)) is None:
        return
    from morph_tasks.stack.down import close_stack
    from morph_tasks.stack.wiring import hooks_for

    done = close_stack(repo, feature, hooks=hooks_for(repo, {}, feature))
    for line in (*done.warnings, *(f"still there: {left}" for left in done.left)):
        warn(f"warning: {line}")


def _tell(made: Removed, as_json: bool) -> int:
    payload = {"ok": True, "feature": made.slug, "archived": made.archived_at, "deleted": made.archived_at is None}
    payload |= {"commit": made.commit, "backup": str(made.backup) if made.backup else None, "branch": made.branch}
    lines = [f"{made.slug} archived in {made.archived_at}" if made.archived_at else f"{made.slug} deleted"]
    lines.append(f"  commit {made.commit[:10]}" if made.commit else "  nothing to commit")
    lines += [f"  copies of what git did not hold: {made.backup}"] if made.backup else []
    lines += [f"  branch {made.branch} stays"] if made.branch else []
    say({**payload, "resumed": made.resumed}, "\n".join(lines), as_json)
    return 0
