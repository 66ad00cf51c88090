"""Which features go into a union: those proved green for exactly what their branch holds; of the others, why not."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.features.store import ARCHIVE, FEATURES
from morph_tasks.model.load import CONFIG_PATH
from morph_tasks.repo.trees import BRANCH_PREFIX, checked_out, primary_root

if TYPE_CHECKING:
    from morph_tasks.fleet.union.scratch import Scratch
    from morph_tasks.repo.git import Repo

_HEADS = "refs/heads/"


@dataclass(frozen=True)
class Default:
    """The default branch: its name, the commit it is at, and the time of that commit in seconds."""

    name: str
    commit: str
    when: int = 0


@dataclass(frozen=True)
class Candidate:
    """A feature in work or waiting for its merge. `code` and `why` say why it is left out; empty when it is not.

    `tip`: the commit of its branch, None when it has none; `when`: the time of that commit in seconds;
    `tree`: the living work tree that owns it.
    """

    feature: str
    tip: str | None = None
    when: int = 0
    tree: Path | None = None
    stamp: dict[str, Any] | None = field(default=None, repr=False)
    code: str = ""
    why: str = ""
    uncommitted: tuple[str, ...] = ()

    @property
    def branch(self) -> str:
        return BRANCH_PREFIX + self.feature

    @property
    def included(self) -> bool:
        return not self.code

    def as_json(self) -> dict[str, Any]:
        keys = ("status", "ts", "sha", "fingerprint")
        return {
            "feature": self.feature,
            "branch": self.branch if self.tip else None,
            "tip": self.tip,
            "tree": str(self.tree) if self.tree else None,
            "stamp": {key: self.stamp.get(key) for key in keys} if self.stamp else None,
            "included": self.included,
            "code": self.code or None,
            "why": self.why,
            "uncommitted": list(self.uncommitted),
        }


def default_branch(repo: Repo) -> Default:
    """Return where merges go; raises Refusal `no-commits`, `no-default-branch`."""
    name = repo.default_branch()
    refs = (f"{_HEADS}{name}", f"refs/remotes/origin/{name}") if name else ()
    said = repo.text("for-each-ref", "--format=%(refname) %(objectname) %(committerdate:unix)", *refs) if refs else ""
    known = {line.rsplit(" ", 2)[0]: line.rsplit(" ", 2)[1:] for line in said.splitlines()}
    for ref in refs:
        if name and ref in known:
            return Default(name, known[ref][0], int(known[ref][1] or 0))
    if repo.head() is None:
        from morph_tasks.repo.branching import no_commits

        raise no_commits(repo)
    what = "nothing tells which branch is the default one, or it has no commit"
    raise Refusal("no-default-branch", what, fix="git config init.defaultBranch <branch>")


def candidates(repo: Repo, default: Default, room: Scratch) -> list[Candidate]:
    """Return every active feature by name; raises ProcError."""
    found = [_judged(one, data) for one, data in _active(repo, default)]
    found = _current(room, found)
    return [_looked_at(one) for one in sorted(found, key=lambda one: one.feature)]


def _active(repo: Repo, default: Default) -> list[tuple[Candidate, dict[str, Any] | Refusal | None]]:
    """Return the features with their `feature.json`: of the tree that owns one, else of its branch, else of the root.

    None stands for a branch that holds no feature of its name, a Refusal for one that cannot be read.
    """
    tips, merged = _tips(repo), _merged(repo, default)
    owners = {branch: path for path, branch in reversed(checked_out(repo))}
    root = primary_root(repo)
    found: dict[str, tuple[Candidate, Any]] = {}
    asked = []
    for feature, (tip, when) in tips.items():
        one = Candidate(feature, tip, when, owners.get(BRANCH_PREFIX + feature))
        place = one.tree or (root if feature in merged else None)
        data = _on_disk(place, feature, archived=feature not in merged) if place else None
        if data is not None:
            found[feature] = (one, data)
        elif feature not in merged:
            asked.append(one)
    for one, data in _on_branches(repo, asked):
        found[one.feature] = (one, data)
    for folder in _folders(root / FEATURES):
        if folder.name not in tips:
            found[folder.name] = (Candidate(folder.name), _on_disk(root, folder.name, archived=False))
    done = {name: _nothing_new(one, default) for name, (one, _) in found.items() if name in merged}
    return [
        (done.get(name, one), data)
        for name, (one, data) in found.items()
        if not isinstance(data, dict) or data.get("status") != "abandoned"
    ]


def _judged(one: Candidate, data: dict[str, Any] | Refusal | None) -> Candidate:
    """Return a candidate with its stamp, and with the reason when that alone leaves it out."""
    if isinstance(data, Refusal):
        return replace(one, code="unreadable", why=data.what)
    stamp = (data or {}).get("verification")
    one = replace(one, stamp=stamp)
    if one.code:
        return one
    if one.tip is None:
        return replace(one, code="no-branch", why=f"there is no branch {one.branch}")
    if data is None:
        return replace(one, code="no-feature", why=f"{one.branch} holds no feature {one.feature}")
    if not stamp and (data or {}).get("status") == "archived":
        return replace(one, code="no-stamp", why="archived without a verify, and what is archived is not verified")
    if not stamp:
        return replace(one, code="no-stamp", why=f"never verified: morph-spec verify {one.feature}")
    if stamp.get("status") != "pass":
        return replace(
            one, code="red", why=f"its last verify was {stamp.get('status')} ({stamp.get('ts') or 'no time'})"
        )
    if stamp.get("scope") not in (None, "feature"):
        return replace(one, code="partial", why=f"its last proof is of {stamp['scope']} only")
    return one


def _current(room: Scratch, found: Sequence[Candidate]) -> list[Candidate]:
    """Leave out what is green for other code than the branch holds."""
    from morph_tasks.fleet.union.tips import Fingerprints, blobs

    green = [one for one in found if one.included]
    configs = blobs(room.tree, [(str(one.tip), CONFIG_PATH) for one in green])
    known = Fingerprints(room)
    result = []
    for one in found:
        if not one.included:
            result.append(one)
            continue
        said = (one.stamp or {}).get("fingerprint")
        try:
            same = known.of(str(one.tip), configs.get((str(one.tip), CONFIG_PATH))) == said
        except Refusal as refusal:
            result.append(_by_its_tree(one, refusal))
            continue
        again = f"morph-spec verify {one.feature}"
        stale = f"its stamp is of other code than {one.branch} holds: {again}"
        result.append(one if same else replace(one, code="stale", why=stale))
    return result


def _by_its_tree(one: Candidate, problem: Refusal) -> Candidate:
    """Ask the work tree whether a stamp holds, where the commit alone does not tell."""
    from morph_tasks.repo.git import open_repo
    from morph_tasks.verify.stamp import stamp_staleness

    why = f"whether its stamp is of what {one.branch} holds is not known: {problem.what}"
    if one.tree is None or problem.code != "not-told" or uncommitted(one.tree):
        return replace(one, code="stamp-unknown", why=why)
    try:
        stale = stamp_staleness(open_repo(one.tree), {"feature": one.feature, "verification": one.stamp})
    except Refusal as refusal:
        return replace(one, code="stamp-unknown", why=f"{why}; {refusal.what}")
    if stale:
        return replace(one, code="stale", why=f"its stamp does not hold: {stale}: morph-spec verify {one.feature}")
    return one


def _looked_at(one: Candidate) -> Candidate:
    """Note the uncommitted work beside a proof: it is not part of the branch."""
    if one.tree is None or one.code not in ("", "stale"):
        return one
    paths = uncommitted(one.tree)
    if not paths or one.included:
        return replace(one, uncommitted=paths)
    more = f"; {len(paths)} uncommitted paths in {one.tree} may be what was proved: commit them and verify again"
    return replace(one, uncommitted=paths, why=one.why.partition(": morph-spec")[0] + more)


def uncommitted(tree: Path) -> tuple[str, ...]:
    """Return the paths of a work tree whose content no commit holds and that count in a proof."""
    from morph_tasks.repo.byproducts import is_content
    from morph_tasks.repo.git import open_repo

    said = (
        open_repo(tree)
        .lightly()
        .git(
            "--no-optional-locks", "status", "--porcelain=v1", "-z", "-uall", "--no-renames", "--ignore-submodules=none"
        )
    )
    found = []
    for line in said.split(b"\0"):
        path = line[3:]
        if path and (path == CONFIG_PATH.encode() or is_content(path.rstrip(b"/"), not line.startswith(b"??"))):
            found.append(os.fsdecode(path))
    return tuple(found)


def _tips(repo: Repo) -> dict[str, tuple[str, int]]:
    """Return the branches of features: feature -> commit, time of the commit."""
    words = ("for-each-ref", "--format=%(refname)%00%(objectname)%00%(committerdate:unix)%00%(symref)")
    found = {}
    for line in repo.git(*words, f"{_HEADS}{BRANCH_PREFIX}").split(b"\n"):
        name, *rest = line.split(b"\0")
        feature = os.fsdecode(name).removeprefix(_HEADS + BRANCH_PREFIX)
        if feature and "/" not in feature and not rest[2]:
            found[feature] = (rest[0].decode(), int(rest[1] or 0))
    return found


def _merged(repo: Repo, default: Default) -> set[str]:
    said = repo.git("for-each-ref", "--format=%(refname)", f"--merged={default.commit}", f"{_HEADS}{BRANCH_PREFIX}")
    return {os.fsdecode(name).removeprefix(_HEADS + BRANCH_PREFIX) for name in said.split(b"\n") if name}


def _nothing_new(one: Candidate, default: Default) -> Candidate:
    return replace(one, code="merged", why=f"{default.name} has all that {one.branch} holds")


def _on_disk(tree: Path, feature: str, *, archived: bool) -> dict[str, Any] | Refusal | None:
    from morph_tasks.features.store import checked
    from morph_tasks.repo.files import read_json

    for parent in (FEATURES, ARCHIVE) if archived else (FEATURES,):
        where = f"{parent}/{feature}/feature.json"
        try:
            return checked(read_json(tree / where), where)
        except OSError:
            continue
        except Refusal as refusal:
            return refusal
    return None


def _on_branches(repo: Repo, asked: Sequence[Candidate]) -> list[tuple[Candidate, dict[str, Any] | Refusal | None]]:
    from morph_tasks.features.store import checked
    from morph_tasks.fleet.union.tips import blobs
    from morph_tasks.repo.files import parse_json

    places = {
        one.feature: [(str(one.tip), f"{parent}/{one.feature}/feature.json") for parent in (FEATURES, ARCHIVE)]
        for one in asked
    }
    held = blobs(repo, [place for some in places.values() for place in some])
    found: list[tuple[Candidate, dict[str, Any] | Refusal | None]] = []
    for one in asked:
        place = next((place for place in places[one.feature] if place in held), None)
        if place is None:
            found.append((one, None))
            continue
        try:
            found.append((one, checked(parse_json(held[place], Path(place[1])), place[1])))
        except Refusal as refusal:
            found.append((one, refusal))
    return found


def _folders(parent: Path) -> list[Path]:
    try:
        return sorted(path for path in parent.iterdir() if path.is_dir() and not path.name.startswith("."))
    except OSError:
        return []
