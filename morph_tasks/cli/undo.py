"""The command that takes the end of a feature back."""

from __future__ import annotations

import click

from morph_tasks.cli.common import EPILOG_CODES, feature_argument, json_option, say, wait_option, warn


@click.command(
    "undo",
    help="Take the last finish of FEATURE back, as long as it was not published: its branch, the default branch, its "
    "work tree with the ignored files, its folder and its ports are as they were. Refused, with the reason, where that "
    "cannot be proved. Run it again when it was broken off.",
    epilog=f"{EPILOG_CODES} Example: morph-spec undo cart-totals --dry-run",
)
@feature_argument
@click.option("--dry-run", is_flag=True, help="Say what would come back, or why it would be refused; change nothing.")
@click.option(
    "--without-ignored",
    is_flag=True,
    help="Also when the backups do not hold every file any more: what cannot be proved is left out and named.",
)
@wait_option
@json_option
def undo(feature: str, dry_run: bool, without_ignored: bool, as_json: bool) -> int:
    """Run `morph-spec undo`."""
    from morph_tasks.fleet.undo.service import undo as take_back
    from morph_tasks.repo.git import open_repo

    made = take_back(open_repo(), feature, without_ignored=without_ignored, dry_run=dry_run)
    for line in made.warnings:
        warn(f"warning: {line}")
    say(made.as_json(), "\n".join(made.lines), as_json)
    return 0
