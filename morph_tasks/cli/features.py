"""Commands on features: create, list."""

from __future__ import annotations

import os
import sys

import click

from morph_tasks.cli.common import EPILOG_CODES, json_option, out, say, wait_option, warn
from morph_tasks.features.listing import listing
from morph_tasks.features.shape import WORK_TYPES


@click.command(
    "create",
    help="Start FEATURE: its folder under .morph/features, feature.json, the skeleton of a plan and the branch "
    "morph/FEATURE off the default branch. The checkout moves to that branch unless --no-checkout or --worktree is "
    "given. Nothing is committed.",
    epilog=f'{EPILOG_CODES} Example: morph-spec create cart-totals --description "Totals in cents" --type feature',
)
@click.argument("feature")
@click.option("--description", default="", help="What it is for, in a sentence. Needed unless --request is given.")
@click.option("--type", "work_type", type=click.Choice(WORK_TYPES), help="Type of work; it decides which gates apply.")
@click.option("--request", default="", help="The words it was asked for with; they tell the type when they can.")
@click.option("--name", default="", help="A name for people. Default: FEATURE.")
@click.option("--no-checkout", is_flag=True, help="Make the branch and leave the checkout where it is.")
@click.option("--worktree", is_flag=True, help="Make a work tree for it: the feature begins there, this tree stays.")
@wait_option
@json_option
def create(
    feature: str,
    description: str,
    work_type: str | None,
    request: str,
    name: str,
    no_checkout: bool,
    worktree: bool,
    as_json: bool,
) -> int:
    """Run `morph-spec create`."""
    from morph_tasks.features.birth import Wish, create_feature
    from morph_tasks.repo.git import open_repo

    if worktree and no_checkout:
        raise click.UsageError(
            "--worktree and --no-checkout exclude each other: with --worktree this tree stays anyway"
        )
    wish = Wish(feature, description, work_type, request, name, not no_checkout, worktree)
    born = create_feature(open_repo(), wish)
    for line in born.warnings:
        warn(_yellow(f"warning: {line}"))
    payload = {"ok": True, "feature": born.slug, "name": born.data["name"], "description": born.data["description"]}
    payload |= {"workType": born.work_type, "status": born.data["status"], "path": f".morph/features/{born.slug}"}
    payload |= {"branch": born.branch, "approvalGates": born.data["approvalGates"], "files": list(born.files)}
    if born.tree:
        payload |= {key: value for key, value in born.tree.as_json().items() if key != "warnings"}
    where = "checked out" if born.branch["checkedOut"] else f"made; the checkout stays on {born.branch['stayedOn']}"
    if born.tree:
        where = f"in {born.tree.path}; the checkout stays on {born.branch['stayedOn']}"
    lines = [f"{born.work_type} {born.slug} created on branch {born.branch['name']} ({where})"]
    lines += [f"  {path}" for path in born.files]
    if born.tree:
        from morph_tasks.cli.worktree import about

        lines += about(born.tree)
    say({**payload, "warnings": list(born.warnings)}, "\n".join(lines), as_json)
    return 0


@click.command(
    "list",
    help="Show the features, one a line: type, status, phase, gates, last verify, where it is, pull request, "
    "description. A feature that another work tree owns is shown as it is there, one that no tree has as it is on its "
    "branch; one that waits for the merge of its pull request is shown too. ⚠ marks what needs a look.",
    epilog=f"{EPILOG_CODES} Example: morph-spec list --all --json",
)
@click.option("--all", "archived", is_flag=True, help="Include archived features.")
@click.option("--no-branch", is_flag=True, help="Show what is on disk in this tree; ask neither git nor GitHub.")
@json_option
def list_features(archived: bool, no_branch: bool, as_json: bool) -> int:
    """Run `morph-spec list`."""
    out(listing(archived=archived, as_json=as_json, branches=not no_branch))
    return 0


def _yellow(line: str) -> str:
    plain = "NO_COLOR" in os.environ or not sys.stderr.isatty()
    return line if plain else click.style(line, fg="yellow")
