"""The birth of a feature: a branch, a folder, `feature.json` and the skeleton of a plan, all or nothing."""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.features.dotnet import seed_build_ignores
from morph_tasks.features.ignores import IGNORES, ignore_derived
from morph_tasks.features.naming import check_name
from morph_tasks.features.router import WORDS, route
from morph_tasks.features.store import (
    ARCHIVE,
    FEATURES,
    UNBORN,
    checked,
    now,
    state_lock,
    sweep_leftovers,
    write_index,
)
from morph_tasks.repo.branching import BranchPlan, make_branch, plan_branch, undo_branch
from morph_tasks.repo.files import write_atomic, write_json
from morph_tasks.repo.trees import feature_branch, primary_root, tree_kind

if TYPE_CHECKING:
    from morph_tasks.fleet.setup import SetUp
    from morph_tasks.repo.git import Repo

WRITTEN = ("feature.json", "2-plan/plan.md")


@dataclass(frozen=True)
class Wish:
    """What was asked for. Absent texts are empty."""

    slug: str
    description: str = ""
    work_type: str | None = None
    request: str = ""
    name: str = ""
    checkout: bool = True
    worktree: bool = False


@dataclass(frozen=True)
class Born:
    """A feature that now exists. `files`: what was written, relative to the root; `tree`: its own, if it has one."""

    slug: str
    work_type: str
    path: Path
    branch: dict[str, Any]
    files: tuple[str, ...]
    data: dict[str, Any]
    warnings: tuple[str, ...]
    tree: SetUp | None = None


def create_feature(repo: Repo, wish: Wish) -> Born:
    """Make the feature; raises a Refusal before anything is written, and leaves nothing behind when a step fails."""
    if wish.worktree:
        from morph_tasks.fleet.birth import create_in_tree

        return create_in_tree(repo, wish)
    work_type, data = first_record(wish)
    with state_lock(repo.root):
        _refuse_place(repo, wish)
        plan = plan_branch(repo, feature_branch(wish.slug), switch=wish.checkout)
        refuse_taken(repo, wish.slug, plan.base if plan.base != plan.head else "")
        plan_text = plan_skeleton(repo, data)
        sweep_leftovers(repo.root)
        warnings = _write(repo, wish.slug, data, plan_text, plan)
        files = [f"{FEATURES}/{wish.slug}/{name}" for name in WRITTEN]
        further, problems = seed_ignores(repo, wish.slug)
        write_index(repo.root)
    files, warnings = [*files, *further], [*warnings, *problems]
    return Born(
        wish.slug,
        work_type,
        repo.root / FEATURES / wish.slug,
        _branch_payload(plan),
        tuple(files),
        data,
        (*_moved_warning(plan), *warnings, *hidden_warning(repo, files[0])),
    )


def seed_ignores(repo: Repo, slug: str) -> tuple[list[str], list[str]]:
    """Keep derived files out of git; return the files that were written, and what could not be."""
    files: list[str] = []
    try:
        files += [IGNORES] if ignore_derived(repo.root) else []
        files += [".gitignore"] if seed_build_ignores(repo, slug) else []
    except Refusal as error:
        return files, [f"derived files will show up in git: {error.what}"]
    return files, []


def policy_gates(work_type: str, when: str) -> dict[str, Any]:
    """Return the gates that the type of work passes by policy. No plan hash: nobody approved a plan."""
    if work_type not in ("chore", "hotfix"):
        return {}
    stamp = {"approved": True, "timestamp": when, "approvedBy": f"policy:{work_type}"}
    return {"plan": dict(stamp), "uiux": dict(stamp)}


def _said(wish: Wish) -> str:
    """Return the options that were asked for, for the command to type next."""
    words = [f"--type {shlex.quote(wish.work_type or 'feature')}"]
    words += [f"--name {shlex.quote(wish.name)}"] if wish.name else []
    words += ["--worktree"] if wish.worktree else [] if wish.checkout else ["--no-checkout"]
    return "".join(f" {word}" for word in words)


def _identity(wish: Wish) -> tuple[str, str]:
    """Return work type and description; raises Refusal `description-missing` or `type-undecided` (exit 2)."""
    description = wish.description.strip() or " ".join(wish.request.split())
    if not description:
        raise Refusal(
            "description-missing",
            "a feature needs a description: what it is for, in a sentence",
            fix=f'morph-spec create {wish.slug} --description "…"{_said(wish)}',
            exit_code=2,
        )
    if wish.work_type:
        return wish.work_type, description
    said = route(wish.request or description)
    if wish.request.strip() and said.work_type:
        return said.work_type, description
    if wish.request.strip():
        drawn = "its words speak for " + " and ".join(said.candidates)
        why = f"the request does not tell the type of work: {drawn if said.matched else 'no word decides it'}"
    else:
        why = "the type of work is not given"
    raise Refusal(
        "type-undecided",
        why,
        fix=f"morph-spec create {wish.slug} --type {'|'.join(said.candidates)} …",
        exit_code=2,
        confidence=said.confidence,
        candidates=list(said.candidates if said.confidence != "none" else WORDS),
        matched=said.matched,
    )


def _refuse_place(repo: Repo, wish: Wish) -> None:
    """Keep a linked tree from giving up the feature it owns, or from holding state that belongs to the root."""
    main = primary_root(repo)
    if tree_kind(repo) == "root" or main == repo.root:
        return
    branch = repo.branch() or ""
    if wish.checkout and not branch.startswith(("morph/", "morph-task/")):
        return
    why = f"it is on {branch}" if wish.checkout else "its state would lie outside the root"
    raise Refusal(
        "linked-worktree",
        f"a feature cannot begin in this linked work tree: {why}",
        fix=f"cd {main} && morph-spec create {wish.slug} …",
    )


def refuse_taken(repo: Repo, slug: str, base: str = "") -> None:
    """Raise Refusal `feature-exists` or `feature-archived` for a name that this tree or a commit has already."""
    places = {FEATURES: "feature-exists", ARCHIVE: "feature-archived"}
    for folder, code in places.items():
        names = _names_on_disk(repo.root / folder)
        if base:
            listed = repo.git("ls-tree", "-z", "--name-only", base, f"{folder}/")
            names += [os.fsdecode(line).rpartition("/")[2] for line in listed.split(b"\0") if line]
        for name in names:
            if name.casefold() == slug:
                where = f"{folder}/{name}"
                raise Refusal(code, f"{where} exists already", fix="choose another name", feature=name)


def _names_on_disk(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise Refusal("unreadable-folder", f"{folder} cannot be read: {error.strerror}") from error


def plan_skeleton(repo: Repo, data: dict[str, Any]) -> str:
    """Return the plan that a feature begins with, in the language of the project."""
    from morph_tasks.framework_files import framework_path
    from morph_tasks.model.load import load_config

    name, description = data["name"], data["description"]
    language = load_config(repo).language
    for one in (language, "en"):
        with suppress(FileNotFoundError):
            text = framework_path(f"templates/plan.{one}.md").read_text("utf-8")
            return text.replace("{{name}}", name).replace("{{description}}", description)
    return f"# {name}\n\n{description}\n"


def first_record(wish: Wish) -> tuple[str, dict[str, Any]]:
    """Return the type of work and the first `feature.json`.

    Raises Refusal `invalid-name`, `description-missing`, `type-undecided` (all 2).
    """
    check_name(wish.slug)
    work_type, description = _identity(wish)
    when = now()
    data: dict[str, Any] = {
        "name": wish.name.strip() or wish.slug,
        "feature": wish.slug,
        "description": description,
        **({"request": wish.request.strip()} if wish.request.strip() else {}),
        "workType": work_type,
        "status": "draft",
        "createdAt": when,
        "updatedAt": when,
        "branch": feature_branch(wish.slug),
        "approvalGates": policy_gates(work_type, when),
        "gateDecisions": {},
        "outputs": {},
    }
    return work_type, checked(data, f"{FEATURES}/{wish.slug}/feature.json")


def _write(repo: Repo, slug: str, data: dict[str, Any], plan_text: str, plan: BranchPlan) -> list[str]:
    """Write beside, make the branch, put the folder in place; a step that fails undoes the ones before it."""
    with unborn(repo.root, slug, data, plan_text) as put:
        warnings = make_branch(repo, plan)
        try:
            put()
        except BaseException:
            undo_branch(repo, plan)
            raise
    return warnings


@contextmanager
def unborn(root: Path, slug: str, data: dict[str, Any], plan_text: str) -> Iterator[Callable[[], None]]:
    """Write a feature beside its place and give the function that puts it there; without that, nothing stays.

    Raises Refusal `write-failed`.
    """
    parent = root / FEATURES
    made = _missing_folders(parent, root)
    beside = None
    try:
        try:
            parent.mkdir(parents=True, exist_ok=True)
            beside = Path(tempfile.mkdtemp(prefix=UNBORN, dir=parent))
            beside.chmod(0o755)
        except OSError as error:
            raise Refusal("write-failed", f"{parent} could not be written: {error.strerror or error}") from error
        write_atomic(beside / WRITTEN[1], plan_text.encode())
        write_json(beside / WRITTEN[0], data)
        yield lambda: _put(beside, parent / slug)
    except BaseException:
        if beside:
            shutil.rmtree(beside, ignore_errors=True)
        for folder in made:
            with suppress(OSError):  # not empty, or never made
                folder.rmdir()
        raise


def _put(beside: Path, place: Path) -> None:
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        os.rename(beside, place)
    except OSError as error:
        raise Refusal("write-failed", f"{place}: {error.strerror or error}") from error


def _missing_folders(path: Path, top: Path) -> list[Path]:
    """Return the folders up to `top` that do not exist, the innermost first."""
    return [folder for folder in (path, *path.parents) if top in folder.parents and not folder.exists()]


def _branch_payload(plan: BranchPlan) -> dict[str, Any]:
    where = plan.current or plan.head
    return {"name": plan.name, "checkedOut": plan.switch, "movedFrom" if plan.switch else "stayedOn": where}


def _moved_warning(plan: BranchPlan) -> list[str]:
    if not plan.switch:
        return []
    text = f"the checkout moved from {plan.current} to {plan.name}: commits in this tree now go there"
    if plan.uncommitted:
        text += f"; uncommitted work came along ({plan.uncommitted} path{'s' * (plan.uncommitted != 1)})"
    return [text]


def hidden_warning(repo: Repo, path: str) -> list[str]:
    ignored = repo.run("check-ignore", "-q", "--", path, ok=(0, 1, 128)).code == 0
    return [f"git ignores {path}: the feature would not travel with its branch"] if ignored else []
