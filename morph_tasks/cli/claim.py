"""`morph-spec claim`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from morph_tasks.cli.common import EPILOG_CODES, json_option, say, wait_option, warn
from morph_tasks.repo.git import Repo, open_repo

if TYPE_CHECKING:
    from morph_tasks.fleet.claims import Claim


def _names(_: click.Context, __: click.Parameter, incomplete: str) -> list[Any]:
    from morph_tasks.cli.completion import features

    return features(incomplete)


@click.command(
    "claim",
    help="Say that this session works on FEATURE, so that others hear of it; what it had claimed in this tree before "
    "is released in the same step. A claim warns and never stops anybody; one that was not renewed for 30 minutes is "
    "not live. Without FEATURE, or with --list, show the live claims and change nothing.",
    epilog=f"{EPILOG_CODES} Example: morph-spec claim cart-totals",
)
@click.argument("feature", required=False, shell_complete=_names)
@click.option("--release", is_flag=True, help="Take the claims on FEATURE back, those of dead sessions too; without "
              "FEATURE the one of this session.")  # fmt: skip
@click.option("--list", "only_list", is_flag=True, help="Show the claims, on FEATURE if it is given.")
@click.option("--all", "also_dead", is_flag=True, help="Show also claims that are not live.")
@wait_option
@json_option
def claim(feature: str | None, release: bool, only_list: bool, also_dead: bool, as_json: bool) -> int:
    """Run `morph-spec claim`."""
    if release and (only_list or also_dead):
        raise click.UsageError("--release changes claims, --list and --all show them: they exclude each other")
    repo = open_repo()
    if release:
        return _release(repo, feature, as_json)
    if feature is None or only_list or also_dead:
        return _show(repo, feature, also_dead, as_json)
    return _acquire(repo, feature, as_json)


def _acquire(repo: Repo, feature: str, as_json: bool) -> int:
    from morph_tasks.fleet import claims

    _require_feature(repo, feature)
    made = claims.acquire(repo, feature)
    warnings = [f"{feature!r} is also claimed by {claims.said_of(other)}" for other in made.others]
    for line in warnings:
        warn(f"warning: {line}")
    payload = {"ok": True, "feature": feature, "claim": made.claim.as_json(), "movedFrom": made.moved_from}
    payload |= {"others": [other.as_json() for other in made.others], "warnings": warnings}
    moved = f"moved from {made.moved_from} to {feature}" if made.moved_from else f"claimed {feature}"
    say(payload, f"{moved} for session {made.claim.session}", as_json)
    return 0


def _release(repo: Repo, feature: str | None, as_json: bool) -> int:
    from morph_tasks.fleet import claims

    gone = claims.release(repo, feature) if feature else claims.release_mine(repo)
    mine = claims.session_here(repo)
    warnings = [f"it was live: {claims.said_of(one)}" for one in gone if one.is_live() and one.session != mine]
    for line in warnings:
        warn(f"warning: {line}")
    payload = {"ok": True, "feature": feature, "released": [one.as_json() for one in gone], "warnings": warnings}
    lines = [f"released {one.feature}, claimed by {claims.said_of(one)}" for one in gone]
    say(payload, "\n".join(lines) or "nothing was claimed", as_json)
    return 0


def _show(repo: Repo, feature: str | None, also_dead: bool, as_json: bool) -> int:
    from morph_tasks.errors import Refusal
    from morph_tasks.fleet import claims

    known = claims.read(repo)
    if known.problem:
        fix = "morph-spec claim <feature>, which sets the file aside"
        raise Refusal("claims-unreadable", f"the claims are not known: {known.problem}", fix=fix)
    meant = sorted((one for one in known.claims if feature in (None, one.feature)), key=lambda one: one.feature)
    shown = [one for one in meant if also_dead or one.is_live()]
    hidden = len(meant) - len(shown)
    rows = [{**one.as_json(), "live": one.is_live()} for one in shown]
    payload = {"ok": True, "feature": feature, "claims": rows, "hidden": hidden, "ttlMinutes": claims.TTL_S // 60}
    say(payload, "\n".join(_lines(shown, hidden)), as_json)
    return 0


def _lines(shown: Sequence[Claim], hidden: int) -> list[str]:
    from morph_tasks.fleet.claims import said_of

    width = max((len(one.feature) for one in shown), default=0)
    lines = [f"{one.feature:{width}}  {'' if one.is_live() else 'not live: '}{said_of(one)}" for one in shown]
    lines = lines or ["no live claims"]
    return lines + ([f"{hidden} more {'is' if hidden == 1 else 'are'} not live: --all shows them"] if hidden else [])


def _require_feature(repo: Repo, feature: str) -> None:
    """Raise Refusal `feature-not-found` for a name that no tree and no branch has."""
    from morph_tasks.features.store import read_feature
    from morph_tasks.features.whereabouts import branch_holds
    from morph_tasks.repo.trees import owner_tree

    if branch_holds(repo, feature) is None:
        read_feature(owner_tree(repo, feature), feature)
