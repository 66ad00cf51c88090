"""What the note of a ready stack rests on, besides the tree and the containers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from morph_tasks.model.load import CONFIG_PATH
from morph_tasks.stack import quick, stampfile, userstate
from morph_tasks.stack.env import known_env

if TYPE_CHECKING:
    from morph_tasks.model.load import Config
    from morph_tasks.repo.git import Repo


def remember(repo: Repo, config: Config, feature: str, answers: Mapping[str, Mapping[str, str]]) -> None:
    """Keep the answers for as long as nothing changes that they rest on."""
    env = known_env(repo, config, feature)
    record = stampfile.load(repo, env.project) if env else None
    if env is None or record is None or record.stamp is None or env.warnings:
        return
    inputs = record.stamp.inputs
    quick.note(
        str(repo.root),
        str(repo.git_dir),
        feature,
        project=env.project,
        sum=record.stamp.fingerprint,
        files=[*inputs["files"], *_files(repo, config, feature, env.project)],
        variables=[name for name in inputs["variables"] if name not in env.values],
        answers=answers,
    )


def _files(repo: Repo, config: Config, feature: str, project: str) -> Iterator[str]:
    """Yield what decides whose stack it is and what its environment says; an absent one counts as well."""
    root = str(repo.root)
    yield f"{root}/{CONFIG_PATH}"
    yield f"{root}/.morph/features/{feature}/feature.json"
    yield str(repo.store / "ports.json")
    yield str(userstate.projects_file())
    yield str(stampfile.path_of(repo, project))
    e2e = config.data.get("e2e")
    auth = e2e.get("auth") if isinstance(e2e, dict) else None
    if isinstance(auth, dict) and isinstance(auth.get("envFile"), str):
        yield f"{root}/{auth['envFile']}"
    # Who owns the feature: the branch of each tree.
    trees = repo.common_dir / "worktrees"
    yield str(trees)
    yield str(repo.common_dir / "HEAD")
    if trees.is_dir():
        for folder in sorted(trees.iterdir()):
            yield str(folder / "HEAD")
