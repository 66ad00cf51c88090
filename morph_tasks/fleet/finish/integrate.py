"""The step `integrate`: the merge is made beside every tree, then references and trees move to it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.features.store import ARCHIVE
from morph_tasks.fleet.branches import contained
from morph_tasks.fleet.finish import publish
from morph_tasks.fleet.finish.place import Place, find_place
from morph_tasks.fleet.finish.refusals import refuse_conflict
from morph_tasks.fleet.finish.wish import PR, of_journal
from morph_tasks.proc import ProcError
from morph_tasks.repo.git import open_repo
from morph_tasks.repo.merging import commit_tree, merge_trees
from morph_tasks.repo.moving import adopted, move_tree, reference_refused
from morph_tasks.repo.ref_lock import ref_moves

if TYPE_CHECKING:
    from morph_tasks.fleet.journal import Journal
    from morph_tasks.repo.git import Repo

_ATTEMPTS = 5


def integrate_step(repo: Repo, journal: Journal) -> None:
    """Merge into the default branch, or open the pull request; raises Refusal `merge-conflict`, `push-failed`, ..."""
    if journal.plan["mode"] == PR:
        from morph_tasks.fleet.finish.pull import integrate_pull

        integrate_pull(open_repo(Path(journal.plan["primary"])).lightly(), journal, _record(repo, journal))
        return
    _merge(repo, journal)
    pushed = _push(repo, journal) if journal.plan["options"]["push"] else None
    journal.done("integrate", push=pushed)


def _merge(repo: Repo, journal: Journal) -> None:
    """Bring the branch into the default one; a default branch that moves meanwhile is merged with again."""
    for _ in range(_ATTEMPTS):
        place = find_place(repo, journal.feature)
        step = journal.step("integrate")
        if place.default_tip is None or (place.tip is None and not step):
            what = f"{place.default if place.default_tip is None else place.branch} is gone"
            raise Refusal("branch-missing", what, fix=f"git reflog show {place.branch}", feature=journal.feature)
        tip = place.tip or str(step["branchTip"])
        # What was just committed is in no branch that has not moved since.
        fresh = not journal.data.get("resumed") and place.default_tip == journal.plan["defaultTip"]
        if not fresh and contained(place.primary, tip, place.default_tip):
            _catch_up(place, journal, tip)
            return
        if not fresh:
            _refuse_no_longer(place, journal)
        if _advance(place, journal, tip):
            return
    what = f"{place.default} keeps moving: it was another commit at each of {_ATTEMPTS} attempts"
    raise Refusal("busy", what, fix="run it again", exit_code=3, feature=journal.feature)


def _refuse_no_longer(place: Place, journal: Journal) -> None:
    if not place.archived:
        what = f"{place.branch} no longer holds the feature in its archive"
        raise Refusal("branch-changed", what, fix=f"git log {place.branch}", feature=journal.feature)


def _advance(place: Place, journal: Journal, tip: str) -> bool:
    """Make the merge and move to it; False when the default branch has moved meanwhile."""
    old, repo = str(place.default_tip), place.primary
    merged = merge_trees(repo, old, tip)
    if not merged.clean:
        refuse_conflict(place, of_journal(journal.plan), merged.conflicts)
    commit = commit_tree(repo, merged.tree, [old, tip], _message(repo, journal, tip))
    moved = place.home or (place.tree if _switches(place, journal) else None)
    journal.begin(
        "integrate",
        mergeCommit=commit,
        defaultBefore=old,
        branchTip=tip,
        treeMoved=str(moved.root) if moved else None,
        treeFrom=(old if place.home else tip) if moved else None,
        treeTo=commit if moved else None,
        switched=bool(moved and not place.home),
        adopted=adopted(moved, old if place.home else tip, commit) if moved else [],
        alreadyContained=False,
        warnings=[],
    )
    try:
        if place.home is None:
            again = of_journal(journal.plan).command(journal.feature)
            _move_reference(repo, str(place.default), commit, old, place.branch, again)
        _move_tree(place, journal)
    except Refusal:
        if repo.text("rev-parse", f"refs/heads/{place.default}") in (old, commit):
            raise
        return False
    return True


def _switches(place: Place, journal: Journal) -> bool:
    """Tell whether the main tree goes from the feature's branch to the default one."""
    own = place.tree is not None and not place.linked
    return own and place.home is None and journal.plan["keepTree"] is None


def _catch_up(place: Place, journal: Journal, tip: str) -> None:
    """The default branch holds the work: bring along the tree that a killed run did not, or say that it was so."""
    step, now = journal.step("integrate"), str(place.default_tip)
    ours = step.get("mergeCommit")
    if ours is None or not contained(place.primary, str(ours), now):
        if not step.get("alreadyContained"):
            moves = _switches(place, journal)
            journal.begin(
                "integrate",
                mergeCommit=None,
                defaultBefore=None,
                branchTip=tip,
                treeMoved=str(place.tree.root) if place.tree and moves else None,
                treeFrom=tip if moves else None,
                treeTo=now if moves else None,
                switched=moves,
                alreadyContained=True,
                warnings=[],
            )
    elif now != ours:
        return  # the tree went on from there: it had arrived
    _move_tree(place, journal, partly=bool(step))


def _move_tree(place: Place, journal: Journal, *, partly: bool = False) -> None:
    """Move the tree that shows the default branch; one that has arrived is left as it is."""
    step, default = journal.step("integrate"), str(place.default)
    if step["treeMoved"] is None:
        return
    tree = open_repo(Path(step["treeMoved"])).lightly()
    old, new = str(step["treeFrom"]), str(step["treeTo"])
    again = of_journal(journal.plan).command(journal.feature)
    if step["switched"]:
        message = f"checkout: moving from {place.branch} to {default}"
        move_tree(tree, old, new, to=default, message=message, partly=partly, again=again)
        _hook(tree, journal, "post-checkout", old, new, "1")
    else:
        message = f"merge {place.branch}: Fast-forward"
        move_tree(tree, old, new, to=default, message=message, partly=partly, again=again)
        _hook(tree, journal, "post-merge", "0")


def _move_reference(repo: Repo, default: str, new: str, old: str, branch: str, again: str) -> None:
    try:
        with ref_moves(repo, default) as git:
            git.git("update-ref", "-m", f"merge {branch}: Fast-forward", f"refs/heads/{default}", new, old)
    except ProcError as error:
        raise reference_refused(default, error, again) from error


def _hook(tree: Repo, journal: Journal, name: str, *args: str) -> None:
    """Run a hook of the user as git does after such a move; what it complains of comes too late to stop anything."""
    if not journal.plan.get("hooksElsewhere") and not os.path.lexists(tree.common_dir / "hooks" / name):
        return
    try:
        done = tree.run("hook", "run", "--ignore-missing", name, "--", *args, ok=range(256))
        said = " ".join(done.stderr.decode("utf-8", "replace").split())[-300:]
        problem = f"the hook {name} ended with {done.code}: {said}" if done.code else ""
    except ProcError as error:  # it took too long: it would again, and the finish would never end
        problem = f"the hook {name} was not waited for: {error.what}"
    if problem:
        journal.begin("integrate", warnings=[*(journal.step("integrate").get("warnings") or ()), problem])


def _push(repo: Repo, journal: Journal) -> dict[str, Any]:
    """Publish the default branch; a push that fails is told, and the merge stays."""
    primary, default = open_repo(Path(journal.plan["primary"])).lightly(), str(journal.plan["default"])
    if not primary.has_origin():
        return {"pushed": False, "published": None, "error": publish.NO_ORIGIN}
    ahead = publish.ahead_of(primary, default)
    problem = publish.push(primary, default)
    return {"pushed": problem is None, "published": ahead if problem is None else None, "error": problem}


def _message(repo: Repo, journal: Journal, tip: str) -> str:
    data = _record_on_disk(journal) or _archived_record(repo, journal.feature, tip)
    name = " ".join(str(data.get("name") or "").split())
    told = f"\n\n{name}" if name and name != journal.feature else ""
    return f"Merge branch '{journal.plan['branch']}'{told}"


def _record_on_disk(journal: Journal) -> dict[str, Any]:
    from morph_tasks.repo.files import read_json

    tree = journal.plan["ownerTree"]
    try:
        found = read_json(Path(tree, ARCHIVE, journal.feature, "feature.json")) if tree else {}
    except (OSError, Refusal):
        return {}
    return found if isinstance(found, dict) else {}


def _record(repo: Repo, journal: Journal) -> dict[str, Any]:
    return _archived_record(repo, journal.feature, f"refs/heads/{journal.plan['branch']}")


def _archived_record(repo: Repo, slug: str, commit: str) -> dict[str, Any]:
    import json

    done = repo.run("cat-file", "blob", f"{commit}:{ARCHIVE}/{slug}/feature.json", ok=range(256))
    try:
        found = json.loads(done.stdout)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
