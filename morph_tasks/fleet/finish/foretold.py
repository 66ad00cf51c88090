"""The document of a dry run: the plan of a finish, and what of the tree's ignored files would become."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from morph_tasks.features.store import ARCHIVE, FEATURES
from morph_tasks.fleet.finish.retention import forecast
from morph_tasks.fleet.finish.wish import MERGE

if TYPE_CHECKING:
    from morph_tasks.fleet.finish.preflight import Prepared
    from morph_tasks.fleet.triage import Triage

LINKS = "a link out of the work tree, which morph-spec unlinks; removed in another way, what it leads to can be lost"


def document_of(made: Prepared) -> dict[str, Any]:
    """Return the document of `finish --dry-run --json`; changes nothing."""
    place, plan = made.place, made.plan
    goes = place.linked and plan["keepTree"] is None
    found = _triage(made) if goes else None
    shield = [] if made.wish.discard_ignored else [file.path for file in found.exclusive] if found else []
    discard = [*found.regenerable] if found else []
    discard += [file.path for file in found.exclusive] if found and made.wish.discard_ignored else []
    links = [link.as_json() for link in found.links] if found else []
    retention = forecast(place.primary)
    document: dict[str, Any] = {
        "ok": True,
        "preflight": True,
        "finished": False,
        "feature": place.slug,
        "mode": plan["mode"],
        "branch": plan["branch"],
        "default": plan["default"],
        "ownerTree": plan["ownerTree"],
        "ignored": {
            "shieldable": shield,
            "replicable": [file.path for file in found.replicated] if found else [],
            "discardable": discard,
        },
        "reparsePoints": [{**link, "warning": LINKS} for link in links],
        "cwdInsideWorktree": place.inside,
        "teardownDeferred": plan["keepTree"] if place.linked and plan["keepTree"] != "keep" else None,
        "baseAdvanced": plan["baseAdvanced"],
        "verification": plan["verification"],
        "conflicts": list(made.conflicts),
    }
    if made.resumed:
        document["resumed"] = True
    document |= {"adrIndex": made.changes.index} if made.changes.index else {}
    document |= {"revocationProblems": list(made.changes.problems)} if made.changes.problems else {}
    document |= {"backupRetention": retention} if retention else {}
    document["wouldDo"] = list(_steps(made, shield, links, retention))
    warnings = [*made.warnings, *(f"{link['path']}: {LINKS}" for link in links)]
    return {**document, "warnings": warnings}


def _triage(made: Prepared) -> Triage | None:
    from morph_tasks.fleet.triage import sort_ignored

    if made.seen is None or made.place.tree is None:
        return None
    return sort_ignored(made.seen, made.place.tree.root, made.place.primary.root)


def _steps(made: Prepared, shield: list[str], links: list[Any], retention: dict[str, Any] | None) -> Iterator[str]:
    place, wish = made.place, made.wish
    if not made.has_done("archive") and not place.archived:
        yield f"copy {FEATURES}/{place.slug} aside, and commit its move to {ARCHIVE}/{place.slug} on {place.branch}"
    for word, ids in made.changes.index.items():
        yield f"record of decisions, {word}: {', '.join(ids)}"
    if not made.has_done("integrate"):
        if wish.mode == MERGE:
            yield f"merge {place.branch} into {place.default} (--no-ff, local)"
        else:
            yield f"push {place.branch} to origin and open a pull request into {place.default}"
    if wish.push:
        yield f"push {place.default} to origin"
    yield from _ends(made, shield, links)
    if retention and (retention.get("outsideRetention") or retention.get("overdueSecrets")):
        gone, secrets = retention.get("outsideRetention") or 0, retention.get("overdueSecrets") or 0
        yield f"prune backups: {gone} outside of the retention, {secrets} with secrets that are due"


def _ends(made: Prepared, shield: list[str], links: list[Any]) -> Iterator[str]:
    place, plan = made.place, made.plan
    if place.linked and plan["keepTree"] is None:
        if plan["portsBase"] is not None:
            yield f"take the application of {place.slug} down where it is up, and give its ports back"
        if links:
            yield f"unlink {len(links)} link{'s' * (len(links) > 1)}"
        if shield:
            many = "1 file that exists" if len(shield) == 1 else f"{len(shield)} files that exist"
            yield f"copy {many} only there to the backups"
        yield f"remove the work tree {plan['ownerTree']}"
    elif place.linked:
        yield f"leave the work tree {plan['ownerTree']} where it is"
    elif place.tree is not None and made.wish.mode == MERGE and plan["keepTree"] is None:
        yield f"move {plan['ownerTree']} from {place.branch} to {place.default}"
    if made.wish.mode == MERGE and plan["keepTree"] is None:
        yield f"delete the branch {place.branch}"
