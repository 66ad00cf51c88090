"""The command that ends a feature: finish."""

from __future__ import annotations

import click

from morph_tasks.cli.common import EPILOG_CODES, feature_argument, json_option, say, wait_option, warn
from morph_tasks.fleet.finish.wish import Wish, mode_of
from morph_tasks.repo.git import open_repo


@click.command(
    "finish",
    help="End FEATURE: archive it in a commit on its branch, merge the branch into the default one or open a pull "
    "request, take its application and its work tree down. Nothing is lost: what exists only in the work tree is "
    "copied to the backups first. A finish that was broken off goes on where it stopped when it is typed again. "
    "Refused before anything changes where it could not end well; --dry-run tells as much and changes nothing.",
    epilog=f"{EPILOG_CODES} Example: morph-spec finish cart-totals --merge",
)
@feature_argument
@click.option("--merge", is_flag=True, help="Merge into the local default branch (--no-ff).")
@click.option("--pr", is_flag=True, help="Push the branch and open a pull request with gh; integrates nothing.")
@click.option("--push", is_flag=True, help="With --merge: push the default branch to origin afterwards.")
@click.option("--keep", is_flag=True, help="Leave the work tree and the branch where they are.")
@click.option("--keep-volumes", is_flag=True, help="Keep the data of the application.")
@click.option("--dry-run", is_flag=True, help="Tell what would be done, and change nothing.")
@click.option("--force", is_flag=True, help="Also when the review gate is not approved.")
@click.option("--discard-ignored", is_flag=True, help="Remove what git ignores without a copy.")
@wait_option
@json_option
def finish(
    feature: str,
    merge: bool,
    pr: bool,
    push: bool,
    keep: bool,
    keep_volumes: bool,
    dry_run: bool,
    force: bool,
    discard_ignored: bool,
    as_json: bool,
) -> int:
    """Run `morph-spec finish`."""
    from morph_tasks.fleet.finish.service import finish as end

    wish = Wish(mode_of(feature, merge=merge, pr=pr), push, keep, keep_volumes, dry_run, force, discard_ignored)
    wish.check(feature)
    made = end(open_repo(), feature, wish)
    for line in made.warnings:
        warn(f"warning: {line}")
    say(made.as_json(), "\n".join(made.lines), as_json)
    return 0 if made.as_json()["ok"] else 1
