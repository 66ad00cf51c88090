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
    "morph/FEATURE off the default branch. The checkout moves to that branch unless --no-checkout is given. "
    "Nothing is committed.",
    epilog=f'{EPILOG_CODES} Example: morph-spec create cart-totals --description "Totals in cents" --type feature',
)
@click.argument("feature")
@click.option("--description", default="", help="What it is for, in a sentence. Needed unless --request is given.")
@click.option("--type", "work_type", type=click.Choice(WORK_TYPES), help="Type of work; it decides which gates apply.")
@click.option("--request", default="", help="The words it was asked for with; they tell the type when they can.")
@click.option("--name", default="", help="A name for people. Default: FEATURE.")
@click.option("--no-checkout", is_flag=True, help="Make the branch and leave the checkout where it is.")
@wait_option
@json_option
def create(
    feature: str, description: str, work_type: str | None, request: str, name: str, no_checkout: bool, as_json: bool
) -> int:
    """Run `morph-spec create`."""
    from morph_tasks.features.birth import Wish, create_feature
    from morph_tasks.repo.git import open_repo

    wish = Wish(feature, description, work_type, request, name, not no_checkout)
    born = create_feature(open_repo(), wish)
    for line in born.warnings:
        warn(_yellow(f"warning: {line}"))
    payload = {"ok": True, "feature": born.slug, "name": born.data["name"], "description": born.data["description"]}
    payload |= {"workType": born.work_type, "status": born.data["status"], "path": f".morph/features/{born.slug}"}
    payload |= {"branch": born.branch, "approvalGates": born.data["approvalGates"], "files": list(born.files)}
    where = "checked out" if born.branch["checkedOut"] else f"made; the checkout stays on {born.branch['stayedOn']}"
    lines = [f"{born.work_type} {born.slug} created on branch {born.branch['name']} ({where})"]
    lines += [f"  {path}" for path in born.files]
    say({**payload, "warnings": list(born.warnings)}, "\n".join(lines), as_json)
    return 0


@click.command(
    "list",
    help="Show the features of this tree, one a line: type, status, phase, gates, last verify, description. "
    "A feature that another work tree owns is shown as it is there. ⚠ marks what needs a look.",
    epilog=f"{EPILOG_CODES} Example: morph-spec list --all --json",
)
@click.option("--all", "archived", is_flag=True, help="Include archived features.")
@json_option
def list_features(archived: bool, as_json: bool) -> int:
    """Run `morph-spec list`."""
    out(listing(archived=archived, as_json=as_json))
    return 0


def _yellow(line: str) -> str:
    plain = "NO_COLOR" in os.environ or not sys.stderr.isatty()
    return line if plain else click.style(line, fg="yellow")
