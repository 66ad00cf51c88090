"""Which code a stamp has to speak of: the fingerprint of a commit, told without checking it out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.features.onbranch import read_objects
from morph_tasks.model.load import CONFIG_PATH, Config

if TYPE_CHECKING:
    from collections.abc import Iterable

    from morph_tasks.fleet.union.scratch import Scratch
    from morph_tasks.repo.git import Repo


class Fingerprints:
    """Answers for many commits of one repository, each from the difference to the one before."""

    def __init__(self, room: Scratch) -> None:
        from morph_tasks.repo.plumbing import Plumbing
        from morph_tasks.repo.private import make_folder

        self._plumbing = Plumbing(str(room.tree.root), str(room.tree.git_dir))
        make_folder(self._plumbing.private)
        self._valid: dict[bytes, Config] = {}

    def of(self, commit: str, config: bytes | None) -> str:
        """Return what a stamp of this commit holds as `fingerprint`; `config` is the configuration in it.

        Raises Refusal `not-told` for what only a work tree can tell, `corrupt-file`, `invalid-config`.
        """
        from morph_tasks.repo.sums import Scope, base_of, shown
        from morph_tasks.verify.digests import text_digest

        known = self._read(config)
        tests = known.project.get("tests") or []
        if any(node.get("evals") or node.get("runner") == "evals" for node in tests):
            raise Refusal("not-told", "recorded answers of evals belong to it")
        scope = Scope(b"", written_by_nodes(known), None)
        total = base_of(self._plumbing, commit, [scope]).totals[scope.key()]
        return text_digest(" ".join([shown(total), known.meaning()]))

    def _read(self, raw: bytes | None) -> Config:
        from morph_tasks.model.load import validate
        from morph_tasks.repo.files import parse_json

        if raw is None:
            return Config({}, "")
        if raw not in self._valid:
            data = parse_json(raw, Path(CONFIG_PATH), unique=True)
            if not isinstance(data, dict):
                raise Refusal("invalid-config", f"{CONFIG_PATH} holds no object")
            validate(data)
            self._valid[raw] = Config(data, "")
        return self._valid[raw]


def written_by_nodes(config: Config) -> tuple[str, ...]:
    """Return the globs of what declared nodes write: it is no part of a fingerprint. Inferred nodes declare none."""
    nodes: list[dict[str, Any]] = [*(config.project.get("build") or []), *(config.project.get("tests") or [])]
    found: set[str] = set()
    for node in nodes:
        junit = node.get("junit") or ()
        found |= {*((junit,) if isinstance(junit, str) else junit), *(node.get("outputs") or ())}
    return tuple(sorted(found))


def blobs(repo: Repo, wanted: Iterable[tuple[str, str]]) -> dict[tuple[str, str], bytes]:
    """Return the files at (commit, path); absent ones are not in the answer. One git process for all of them."""
    names = {(commit, path): f"{commit}:{path}" for commit, path in wanted if "\n" not in path}
    said = read_objects(repo, names.values(), kind="blob", env={"GIT_NO_LAZY_FETCH": "0"})
    return {one: content for one, name in names.items() if (content := said[name]) is not None}
