"""Where work trees lie, and which of them are ours."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.fleet.excludes import excluded
from morph_tasks.repo.git import open_repo
from morph_tasks.repo.trees import is_inside, primary_root, same_place

if TYPE_CHECKING:
    from morph_tasks.model.load import Config
    from morph_tasks.repo.git import Repo

FOLDER = "worktrees"
_KNOWN = (FOLDER, ".worktrees")
ROOT_VARIABLE = "MORPH_WORKTREE_ROOT"


@dataclass(frozen=True)
class Container:
    """The folder of new work trees. `warning`: why a configured one is not used."""

    path: Path
    warning: str | None = None


def container(repo: Repo, config: Config) -> Container:
    """Return where new work trees go: `worktrees/` of the main tree, or a folder of the repository's own elsewhere.

    `MORPH_WORKTREE_ROOT` comes before `worktree.root`; one that leads into the main tree or the git folder is not used.
    """
    main = _main(repo)
    if main is None:
        # A bare repository: beside it lie those of others, too.
        ours, usual = _own_name(repo.common_dir), repo.common_dir.parent / FOLDER / _own_name(repo.common_dir)
        main = repo.root
    else:
        ours, usual = _own_name(main), main / FOLDER
    block = config.data.get("worktree")
    said, source = os.environ.get(ROOT_VARIABLE, ""), ROOT_VARIABLE
    if not said:
        said, source = (block.get("root") or "") if isinstance(block, dict) else "", "worktree.root"
    if not said:
        return Container(usual)
    root = Path(os.path.realpath(os.path.join(main, os.path.expanduser(said))))
    if any(is_inside(root, place) for place in (main, repo.common_dir)):
        return Container(usual, f"{source} is not used: {said} lies inside the repository; work trees go to {usual}")
    return Container(root / ours)


def tree_path(repo: Repo, config: Config, name: str) -> Path:
    """Return where the work tree of a feature or a task goes."""
    return container(repo, config).path / name


def is_ours(repo: Repo, config: Config, path: Path) -> bool:
    """Tell whether a path lies where this tool puts work trees now, or has put them."""
    main = _main(repo)
    places = [container(repo, config).path, *(main / name for name in _KNOWN if main)]
    return any(is_inside(path, place) and not same_place(path, place) for place in places)


def primary_of(repo: Repo) -> Repo:
    """Return the main work tree, opened lightly; of a bare repository, the tree one stands in."""
    main = primary_root(repo)
    return (repo if same_place(main, repo.root) else open_repo(main)).lightly()


def exclude_lines(repo: Repo, place: Container, tree: Path) -> list[str]:
    """Return what keeps a work tree out of the main tree's status; nothing when it lies elsewhere.

    The whole container, unless the project keeps files of its own in a folder of that name.
    """
    main = _main(repo)
    if not main or not is_inside(tree, main):
        return []
    inside = os.path.relpath(tree, main)
    if place.path != main / FOLDER or not inside.startswith(f"{FOLDER}/"):
        return [inside]
    if FOLDER in excluded(repo):
        return [FOLDER]
    tracked = repo.git("ls-files", "-z", "--", f":(top,literal){FOLDER}") if repo.root == main else b""
    return [inside] if tracked else [FOLDER]


def _main(repo: Repo) -> Path | None:
    main = primary_root(repo)
    bare = same_place(main, repo.root) and repo.git_dir != repo.common_dir
    return None if bare else main


def _own_name(folder: Path) -> str:
    """Return a name that no other repository has, and that people can tell."""
    real = os.path.realpath(folder)
    return f"{os.path.basename(real)}-{hashlib.sha256(os.fsencode(real)).hexdigest()[:8]}"
