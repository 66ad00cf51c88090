"""The birth of a work tree: of a feature, of a task, and of one that an undo brings back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.features.ignores import IGNORES
from morph_tasks.features.store import FEATURES, feature_dir, state_lock, write_index
from morph_tasks.fleet import marker, treeenv
from morph_tasks.fleet.codegraph import seed_graph
from morph_tasks.fleet.copies import Copied, copy_all
from morph_tasks.fleet.editor import SETTINGS, EditorSettings, settle_editor
from morph_tasks.fleet.excludes import DERIVED, exclude
from morph_tasks.fleet.featuretree import plan_feature, refuse_absent
from morph_tasks.fleet.handover import Handover, bring, let_go, plan_handover
from morph_tasks.fleet.layout import Container, container, exclude_lines, primary_of
from morph_tasks.fleet.links import Linked, link_all, put_links
from morph_tasks.fleet.lock import fleet_lock
from morph_tasks.fleet.making import TreePlan, make_tree, plan_tree
from morph_tasks.model.load import Config, load_config
from morph_tasks.repo.git import open_repo
from morph_tasks.repo.trees import TASK, TASK_BRANCH

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo
    from morph_tasks.stack.env import StackEnv

HANDOFFS = f"{FEATURES}/*/handoff.md"


@dataclass(frozen=True)
class SetUp:
    """A work tree that is ready. `base`: the first of its ports; `base_ref`: what its branch began at or is.

    `moved`: the feature's folder came from the main tree; `handoff`: the page for the next session.
    `archived`: the tree is for commits that follow a finished feature, such as those that a review asked for.
    `graph`: it has a copy of the code graph of the main tree.
    """

    path: Path
    branch: str
    key: str
    feature: str | None
    base: int
    base_ref: str
    links: Linked
    copies: Copied
    env: dict[str, str]
    editor_settings: EditorSettings | None = None
    warnings: tuple[str, ...] = ()
    root_warning: str | None = None
    moved: bool = False
    handoff: Path | None = None
    resumed: bool = False
    archived: bool = False
    graph: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return the document of `worktree setup --json` and `provision --json`."""
        said: dict[str, Any] = {
            "key": self.key,
            "feature": self.feature,
            "resumed": self.resumed,
            "archived": self.archived,
        }
        said |= {"worktree": {"path": str(self.path), "branch": self.branch}, "base": self.base_ref}
        said |= {"ports": {"base": self.base, "range": self.env["MORPH_PORT_RANGE"]}, "env": self.env}
        said |= {"links": self.links.as_json(), "copied": list(self.copies.env)}
        said |= {"worktreeInclude": self.copies.include_json(), "moved": self.moved}
        said["editorSettings"] = self.editor_settings.as_json() if self.editor_settings else None
        said["handoff"] = str(self.handoff) if self.handoff else None
        said["graph"] = {"copied": self.graph}
        if self.root_warning:
            said["worktreeRootWarning"] = self.root_warning
        return said | {"warnings": list(self.warnings)}


def setup(repo: Repo, slug: str) -> SetUp:
    """Give a feature that exists a work tree of its own; all of it, or nothing.

    One that is archived on its branch gets a tree, too, until its work is in the default branch. Raises Refusal
    `feature-not-found` (2), `feature-in-use` (3), `already-finished`, `path-taken`, `no-commits`,
    `feature-uncommitted`, `busy` (3) and what its parts raise. A run that was killed half-way is completed.
    """
    primary = primary_of(repo)
    feature_dir(primary.root, slug)
    with fleet_lock(primary):
        config, place, notes = begin(primary)
        plan = plan_feature(primary, place, slug)
        moving = plan_handover(primary, slug)
        archived = refuse_absent(primary, slug, plan, moving)
        with state_lock(primary.root) if moving else nullcontext():
            return _raise_tree(
                primary, config, place, plan, feature=slug, moving=moving, archived=archived, warnings=notes
            )


def provision(repo: Repo, name: str, *, base: str | None = None) -> SetUp:
    """Make a work tree for a task, on a branch of its own; all of it, or nothing.

    Raises Refusal `invalid-name`, `no-such-base` (both 2), `task-in-use` (3), `path-taken`, `no-commits`, `busy` (3)
    and what its parts raise.
    """
    from morph_tasks.fleet.bases import check_task_name, task_base

    name = name.removeprefix(TASK)  # as the tree is called elsewhere
    check_task_name(name)
    primary = primary_of(repo)
    with fleet_lock(primary):
        config, place, warnings = begin(primary)
        # Asked at once, so that a wrong one is told even where the branch is there already.
        wanted = task_base(repo.lightly(), primary, config, base)
        plan = plan_tree(
            primary,
            key=TASK + name,
            path=place.path / name,
            branch=TASK_BRANCH + name,
            top=place.path,
            start=lambda: (wanted.name, wanted.commit),
        )
        if not plan.start and base is not None and not plan.half:
            warnings.append(f"the branch {plan.branch} is there already and keeps its commits: {base} is not used")
        return _raise_tree(primary, config, place, plan, feature=wanted.feature, warnings=warnings)


def reattach(
    repo: Repo,
    path: Path,
    branch: str,
    key: str,
    base_port: int | None,
    links: Sequence[Mapping[str, str]],
) -> None:
    """Bring a work tree back that was removed: the same place, branch, ports and links ({path, target}).

    The branch has to be there. Raises Refusal `ports-taken`, `path-taken`, `worktree-failed` and leaves nothing behind.
    """
    from morph_tasks.stack.ports import claim, known_block, release

    primary = primary_of(repo)
    with fleet_lock(primary), ExitStack() as undo:
        config = load_config(primary)
        if base_port is not None:
            had = known_block(primary, key) is not None
            claim(primary, key, base_port)
            if not had:
                undo.callback(release, primary, key)
        top = container(primary, config).path
        plan = plan_tree(primary, key=key, path=path, branch=branch, top=top, start=lambda: _no_branch(branch))
        make_tree(primary, plan, undo)
        tree = open_repo(path).lightly()
        _exclude(primary, config, path, [link["path"] for link in links])
        put_links(path, links)
        if base_port is not None:
            treeenv.write(tree, _config_of(tree, config), key, treeenv.works_on(tree, key))
        undo.pop_all()
        seed_graph(primary, tree)
        marker.drop(primary, key)


def link(repo: Repo, tree: Repo, key: str) -> tuple[Linked, StackEnv]:
    """Link a tree's shared folders again and write its environment anew; the feature it is for stays."""
    from morph_tasks.stack.env import tree_env

    primary = primary_of(repo)
    with fleet_lock(primary):
        config = load_config(primary)
        linked = link_all(primary, tree, config)
        _exclude(primary, config, tree.root, [*linked.made, *linked.kept])
        env = tree_env(tree, _config_of(tree, config), key, treeenv.works_on(tree, key))
        treeenv.write_env(tree, env)
    return linked, env


def begin(primary: Repo) -> tuple[Config, Container, list[str]]:
    """Finish what killed removals left; return the settings, the container, and what was finished."""
    notes = []
    if any((primary.store / left).is_dir() for left in ("removals", "endings")):
        from morph_tasks.fleet import ending, removal

        notes = removal.recover(primary)
        for ended in ending.resume(primary):
            notes += ended.warnings
    config = load_config(primary)
    return config, container(primary, config), notes


def _raise_tree(
    primary: Repo,
    config: Config,
    place: Container,
    plan: TreePlan,
    *,
    feature: str | None,
    moving: Handover | None = None,
    archived: bool = False,
    warnings: Sequence[str] = (),
) -> SetUp:
    """Do what was planned; a step that fails takes the ones before it back."""
    with ExitStack() as undo:
        said = [*warnings, *make_tree(primary, plan, undo)]
        tree = open_repo(plan.path).lightly()
        brought = bring(moving, tree) if moving else []
        said += _unsparse(tree, plan.key) if feature == plan.key and not (moving or archived) else []
        linked, copied, env = furnish(primary, tree, config, plan.key, feature, undo)
        if moving and brought is None:
            said.append(f"another copy of {feature} lies in {moving.source}: the one of {plan.branch} counts")
        elif moving:
            said += brought or []
            let_go(moving, tree)
        undo.pop_all()
    if moving:
        write_index(primary.root)
    moved = bool(moving and not moving.tracked and brought is not None)
    return settled(
        primary, config, place, plan, tree, feature, (linked, copied, env), said, moved=moved, archived=archived
    )


def settled(
    primary: Repo,
    config: Config,
    place: Container,
    plan: TreePlan,
    tree: Repo,
    feature: str | None,
    furnished: tuple[Linked, Copied, StackEnv],
    warnings: Sequence[str],
    *,
    moved: bool = False,
    archived: bool = False,
) -> SetUp:
    """Do what may fail without harm once the tree is there, and forget that it was in the making."""
    linked, copied, env = furnished
    handoff, problems = (None, []) if archived else _handoff(tree, plan.key)
    editor = settle_editor(primary, config)
    graph, trouble = seed_graph(primary, tree)
    if plan.half:
        _sweep(primary, tree, plan.key)
    marker.drop(primary, plan.key)
    return SetUp(
        path=plan.path,
        branch=plan.branch,
        key=plan.key,
        feature=feature,
        base=env.block.base if env.block else 0,
        base_ref=plan.base_name,
        links=linked,
        copies=copied,
        env=env.values,
        editor_settings=editor,
        warnings=(*warnings, *env.warnings, *problems, *trouble, *_submodules(tree)),
        root_warning=place.warning,
        moved=moved,
        handoff=handoff,
        resumed=plan.half is not None,
        archived=archived,
        graph=graph,
    )


def furnish(
    primary: Repo, tree: Repo, config: Config, key: str, feature: str | None, undo: ExitStack
) -> tuple[Linked, Copied, StackEnv]:
    """Give a new tree its links, its ignored files, its ports and its environment."""
    from morph_tasks.stack.env import tree_env
    from morph_tasks.stack.ports import known_block, release
    from morph_tasks.stack.project import known_project, release_project

    linked = link_all(primary, tree, config)
    _exclude(primary, config, tree.root, [*linked.made, *linked.kept])
    copied = copy_all(primary, tree)
    if known_block(primary, key) is None:
        undo.callback(release, primary, key)
    if known_project(primary, key) is None:
        undo.callback(release_project, primary, key)
    env = tree_env(tree, _config_of(tree, config), key, feature or treeenv.works_on(tree, key))
    treeenv.write_env(tree, env)
    return linked, copied, env


def _config_of(tree: Repo, config: Config) -> Config:
    """Return the tree's own configuration; one that is broken there must not keep anybody from mending it there."""
    try:
        return load_config(tree)
    except Refusal:
        return config


def _unsparse(tree: Repo, slug: str) -> list[str]:
    """Bring a committed feature onto the disk that a sparse checkout left out."""
    if (tree.root / FEATURES / slug).exists():
        return []
    for pattern in (".morph", "/.morph/"):  # a folder, or a pattern where patterns are used
        tree.run("sparse-checkout", "add", pattern, ok=range(256))
        if (tree.root / FEATURES / slug).exists():
            return [f"the sparse checkout of this tree holds .morph now: it left {FEATURES}/{slug} out"]
    return [f"{FEATURES}/{slug} is committed, but not on the disk of {tree.root}: a sparse checkout leaves it out"]


def _exclude(primary: Repo, config: Config, tree: Path, links: Sequence[str]) -> None:
    place = container(primary, config)
    exclude(primary, [*exclude_lines(primary, place, tree), *links, *DERIVED], globs=[HANDOFFS])


def _sweep(primary: Repo, tree: Repo, key: str) -> None:
    """Remove parts of files that the killed run left: they would make the trees dirty."""
    own = [tree.root / name for name in (treeenv.FILE, IGNORES, ".morph/state.json", ".gitignore")]
    shared = [primary.common_dir / "info/exclude", primary.root / SETTINGS, primary.root / ".morph/state.json"]
    marker.sweep(*own, *shared, tree.root / FEATURES / key / "handoff.md")


def _handoff(tree: Repo, key: str) -> tuple[Path | None, list[str]]:
    if key.startswith(TASK):
        return None, []
    from morph_tasks.features.handoff import write_handoff

    try:
        return write_handoff(tree.root, key).path, []
    except Refusal as refusal:
        return None, [f"the page for the next session was not written: {refusal.what}"]


def _submodules(tree: Repo) -> list[str]:
    if not (tree.root / ".gitmodules").exists():
        return []
    return [f"submodules are not checked out there: git -C {tree.root} submodule update --init"]


def _no_branch(branch: str) -> tuple[str, str]:
    raise Refusal("branch-missing", f"the branch {branch} is gone", fix=f"git branch {branch} <commit>")
