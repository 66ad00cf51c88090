"""What a finish tells: the document, and short lines for people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from morph_tasks.features.store import ARCHIVE
from morph_tasks.fleet.finish import publish
from morph_tasks.fleet.finish.place import shown
from morph_tasks.fleet.finish.wish import MERGE, PR

if TYPE_CHECKING:
    from morph_tasks.fleet.finish.preflight import Prepared
    from morph_tasks.fleet.journal import Journal
    from morph_tasks.repo.git import Repo

MEMORY = (
    "the repository does not hold what was only said, such as a choice of the user, something to watch in production "
    "or a cost that was measured: write it down where it lasts"
)
_TREE = ("unlinked", "replicatedInRoot", "discardedIgnored", "ignoredBackup", "backedUp", "alreadyDeregistered", "left")


@dataclass(frozen=True)
class Outcome:
    """What a finish did, or would do. `lines`: for people; `warnings`: for stderr."""

    document: dict[str, Any]
    lines: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the document of `finish --json`."""
        return self.document

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(self.document["warnings"])


def outcome_of(primary: Repo, journal: Journal) -> Outcome:
    """Return what a finish that is done has done, from its journal and from what is left to publish."""
    plan, steps = journal.plan, {name: journal.step(name) for name in ("archive", "integrate", "teardown", "retention")}
    archive, integrate, teardown = steps["archive"], steps["integrate"], steps["teardown"]
    document: dict[str, Any] = {"ok": True, "finished": True, "feature": journal.feature, "mode": plan["mode"]}
    if journal.data.get("resumed"):
        document["resumed"] = True
    document |= {"branch": plan["branch"], "default": plan["default"]}
    document |= {"archived": archive.get("archived"), "archiveCommit": archive.get("archiveCommit")}
    document |= {"featureBackup": archive.get("backup")}
    document |= {key: archive[key] for key in ("adrIndex", "revocationProblems") if archive.get(key)}
    document |= _integrated(primary, journal, integrate)
    document |= _torn_down(journal, teardown)
    if steps["retention"].get("backupRetention"):
        document["backupRetention"] = steps["retention"]["backupRetention"]
    document |= {"verification": plan.get("verification"), "baseAdvanced": plan.get("baseAdvanced")}
    warnings = [*(journal.step("preflight").get("warnings") or ())]
    warnings += [line for step in (integrate, teardown) for line in step.get("warnings") or ()]
    warnings += [f"{one['id'] or 'a row'}: {one['message']}" for one in archive.get("revocationProblems") or ()]
    document |= {"warnings": list(dict.fromkeys(warnings)), "journal": str(journal.path), "memoryNote": MEMORY}
    return Outcome(document, tuple(_lines(document)))


def _integrated(primary: Repo, journal: Journal, step: dict[str, Any]) -> dict[str, Any]:
    plan = journal.plan
    if plan["mode"] == PR:
        pull = step["pr"]
        number = pull["number"]
        merged = pull.get("state") == "MERGED"
        waiting = f"pull request #{number} waits to be merged: gh pr merge {number}"
        waiting += f"; until then {journal.feature} is not integrated"
        return {
            "integrated": merged,
            "awaiting": None if merged else "merge",
            "pr": {"number": number, "url": pull["url"]},
            "prAdopted": bool(pull.get("adopted")),
            "nextStep": f"git fetch origin: pull request #{number} is merged" if merged else waiting,
        }
    default = str(plan["default"])
    told = publish.published(primary, default, plan.get("remote"))
    pushed = step.get("push") or {}
    if pushed.get("pushed"):
        told |= {"pushed": True, "published": pushed["published"]}
    document: dict[str, Any] = {"integrated": True, "mergeCommit": step.get("mergeCommit"), "publish": told}
    if step.get("alreadyContained"):
        document["alreadyContained"] = True
    error = pushed.get("error")
    if error:
        document["pushError"] = error
        document["ok"] = error == publish.NO_ORIGIN
    then = _pull_first(primary, default) if publish.is_behind(error or "") else _next_step(told)
    return {**document, "nextStep": then}


def _pull_first(primary: Repo, default: str) -> str:
    """Return how to publish when the remote has gone on: the push alone would be rejected again."""
    from morph_tasks.repo.trees import live_owners

    where = shown((live_owners(primary, default) or [primary.root])[0])
    commands = f"git -C {where} pull --no-rebase --no-edit origin {default} && git -C {where} push origin {default}"
    return f"origin/{default} has commits that {default} has not: {commands}"


def _next_step(told: dict[str, Any]) -> str | None:
    default, ahead = told["branch"], told["ahead"]
    if told["remote"] is None:
        return f"integrated into the local {default} only: there is no remote called origin to publish it to"
    if told["pushed"]:
        return None
    if ahead is None:
        return f"integrated into the local {default} only; to publish it: git push origin {default}"
    many = f"{ahead} commit{'s' * (ahead != 1)} of {default} {'are' if ahead != 1 else 'is'}"
    return f"{many} not on origin/{default}: git push origin {default}"


def _torn_down(journal: Journal, step: dict[str, Any]) -> dict[str, Any]:
    document: dict[str, Any] = {"worktreeRemoved": step.get("worktreeRemoved")}
    document |= {key: step[key] for key in _TREE if key in step}
    if step.get("teardownDeferred"):
        document["teardownDeferred"] = step["teardownDeferred"]
    if step.get("worktree"):
        document["worktree"] = step["worktree"]
        document["hint"] = _hint(journal, step)
    if step.get("shedBackup"):
        document["shedBackup"] = step["shedBackup"]
    document |= {"branchDeleted": bool(step.get("branchDeleted")), "stack": step.get("stack")}
    document |= {"portsReleased": bool(step.get("portsReleased")), "claimsReleased": bool(step.get("claimsReleased"))}
    return document


def _hint(journal: Journal, step: dict[str, Any]) -> str:
    plan = journal.plan
    if not plan["linked"]:
        return f"the tree stays on {plan['branch']}; to leave it: git switch {plan['default']}"
    command = f"morph-spec worktree remove {journal.feature}"
    if step.get("teardownDeferred"):
        where = shown(plan["primary"])
        return f"the session works in the work tree, so it stays; from a session opened in {where}: {command}"
    return f"the work tree stays as asked; to close it: {command}"


def forecast(made: Prepared) -> Outcome:
    """Return the document of a dry run: what this finish would do."""
    from morph_tasks.fleet.finish.foretold import document_of

    document = document_of(made)
    lines = [f"{made.place.slug} would be finished; nothing was changed", *(f"  {one}" for one in document["wouldDo"])]
    return Outcome(document, tuple(lines))


def _lines(document: dict[str, Any]) -> Iterator[str]:
    again = " (taken up again)" if document.get("resumed") else ""
    if document["mode"] == MERGE:
        yield f"{document['feature']} is finished: {document['branch']} is merged into {document['default']}{again}"
    else:
        pull = document["pr"]
        yield f"{document['feature']} waits for the merge of pull request #{pull['number']}{again}"
        yield f"  {pull['url']}"
    commit = f", commit {document['archiveCommit'][:10]}" if document["archiveCommit"] else ""
    yield f"  archived in {document['archived'] or ARCHIVE}{commit}"
    if document.get("mergeCommit"):
        yield f"  merge commit {document['mergeCommit'][:10]}"
    for word, ids in (document.get("adrIndex") or {}).items():
        yield f"  decisions {word}: {', '.join(ids)}"
    yield from _tree_lines(document)
    if document.get("pushError"):
        yield f"  not pushed: {document['pushError']}"
    if (document.get("publish") or {}).get("pushed"):
        count = document["publish"]["published"]
        many = "" if count is None else f": {count} commit{'s' * (count != 1)}"
        yield f"  pushed to origin/{document['default']}{many}"
    if document["nextStep"]:
        yield f"next: {document['nextStep']}"
    if document.get("hint"):
        yield f"note: {document['hint']}"
    yield f"note: {document['memoryNote']}"


def _tree_lines(document: dict[str, Any]) -> Iterator[str]:
    if document["worktreeRemoved"]:
        yield "  work tree removed"
    for key, what in (
        ("ignoredBackup", "what existed only there"),
        ("shedBackup", "a leftover copy of the main tree"),
        ("featureBackup", "the feature's folder as it was"),
    ):
        if document.get(key):
            yield f"  {what}: {document[key]}"
    if document["branchDeleted"]:
        yield f"  branch {document['branch']} deleted"
    elif document["mode"] == PR:
        yield f"  branch {document['branch']} stays for the pull request"
    if document["stack"] and document["stack"]["removed"]:
        gone = len(document["stack"]["removed"])
        yield f"  application taken down: {gone} thing{'s' * (gone != 1)} removed"
    if document["portsReleased"]:
        yield "  its ports are free again"
