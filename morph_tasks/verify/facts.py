"""What a node's result depends on, as a canonical manifest; its digest is the node's key."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.repo.globs import compile_globs
from morph_tasks.verify import packages
from morph_tasks.verify.digests import Digests, text_digest
from morph_tasks.verify.listing import files_beside, files_on_disk, fixed_part
from morph_tasks.verify.nodes import Node
from morph_tasks.verify.probe import ask
from morph_tasks.verify.tools import Tools, programs

if TYPE_CHECKING:
    from morph_tasks.model.load import Config
    from morph_tasks.repo.fingerprint import TreeState
    from morph_tasks.repo.git import Repo
    from morph_tasks.verify.evals.declared import Evals

RULES = 2  # raised when the meaning of a manifest changes
# A look at the tree serves every node decided within this time, in seconds, as long as nothing was run.
_TREE_AGE_S = 2.0

# What changes the tests a runner chooses or the flags it runs with, without a trace in the command.
_NODE_ENV = ("NODE_OPTIONS",)
_RUNNER_ENV = {
    "pytest": ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTEST_DISABLE_PLUGIN_AUTOLOAD"), "go": ("GOFLAGS",),
    "cargo": ("RUSTFLAGS",), "vitest": _NODE_ENV, "jest": _NODE_ENV, "mocha": _NODE_ENV, "node-test": _NODE_ENV,
}  # fmt: skip
# Where code is imported from, before what is installed.
_PATHS = {"python": "PYTHONPATH", "node": "NODE_PATH"}

Manifest = dict[str, Any]


@dataclass(frozen=True)
class Facts:
    """The manifest of a node, its key, and the tree it was taken from."""

    manifest: Manifest
    key: str
    tree: TreeState


class Observer:
    """Looks at one tree: one pass serves the fingerprint and the inputs of every node."""

    def __init__(self, repo: Repo, config: Config, nodes: Sequence[Node], feature: str | None = None) -> None:
        self._repo = repo
        self._feature = feature
        self._config = config
        self._nodes = nodes
        self._groups = {node.ref: node.inputs for node in nodes if node.inputs is not None}
        self.excluded = tuple(sorted({path for node in nodes for path in made_by(node)}))
        self._digests = Digests(repo.store)
        self._seen: tuple[float, int, TreeState] | None = None
        self._kept: TreeState | None = None
        self._era = object()  # ends when something has run
        self._still: dict[str, Manifest] = {}
        self._ignored: frozenset[str] | None = None

    def tree(self) -> TreeState:
        """Return the state of the tree; looks again when it is old, in another process, or after a run."""
        from morph_tasks.repo.fingerprint import tree_state

        if self._kept:
            return self._kept
        now, seen, era = time.monotonic(), self._seen, self._era
        if seen and seen[1] == os.getpid() and now - seen[0] < _TREE_AGE_S:
            return seen[2]
        state = tree_state(str(self._repo.root), str(self._repo.git_dir), self._groups, self.excluded)
        if era is self._era:  # else another thread's node ended meanwhile: the next question looks again
            self._seen = (now, os.getpid(), state)
        return state

    @contextmanager
    def kept(self) -> Iterator[TreeState]:
        """Look at the tree once for all that is asked meanwhile: a verdict speaks of one state of it."""
        self._kept = self.tree()
        try:
            yield self._kept
        finally:
            self._kept = None

    def forget(self) -> None:
        """Say that something ran: the next question looks at the tree and at what is installed again."""
        self._era = object()
        self._seen = None
        self._still = {}
        self._ignored = None

    def facts(self, node: Node, needs: Mapping[str, str]) -> Facts:
        """Return the facts of a node. `needs` holds the output digests of the nodes it depends on."""
        tree = self.tree()
        inputs: dict[str, Any] = {"globs": list(node.inputs) if node.inputs is not None else None}
        inputs["digest"] = tree.sum if node.inputs is None else tree.groups[node.ref]
        manifest = {**self._standing(node), "inputs": inputs, "needs": dict(sorted(needs.items()))}
        manifest["ignored"] = self._ignored_files(node)
        if node.evals:
            manifest["cache"] = self.answers(node.evals)
        return Facts(manifest, key_of(manifest), tree)

    def answers(self, evals: Evals) -> str:
        """Return what identifies the recorded answers of an evals node: it reads them, and a cold run adds to them."""
        from morph_tasks.verify.evals.cache import digest

        return digest(self._repo, evals.cache_dir, self._digests.of)

    def reads_nothing(self, facts: Facts) -> bool:
        """Tell whether no file of the tree belongs to the inputs of a node."""
        from morph_tasks.repo.sums import shown

        return facts.manifest["inputs"]["digest"] == shown(0) and not facts.manifest["ignored"]

    def output_digest(self, node: Node, status: str, manifest: Manifest) -> str:
        """Return what a finished build hands to the nodes behind it.

        Declared outputs count by content, so that a rebuild with the same result cuts off. Without them what was
        run counts, not what it read: the sources reach the nodes behind it through their own inputs.
        """
        if node.outputs:
            made = {
                path: self._digests.of(str(self._repo.root / path))
                for path in files_on_disk(self._repo.root, node.outputs)
            }
            return text_digest(canonical({"status": status, "outputs": made}))
        ran = {name: manifest.get(name) for name in ("command", "cwd", "tools", "packages", "env", "settings")}
        return text_digest(canonical({"status": status, "ran": ran}))

    def save(self) -> None:
        """Keep what was learnt about files for the next run."""
        self._digests.save()

    def _standing(self, node: Node) -> Manifest:
        """Return what does not depend on the tree's content."""
        still = self._still  # another thread may replace it while we look
        if node.ref not in still:
            still[node.ref] = self._look(node)
        return still[node.ref]

    def _look(self, node: Node) -> Manifest:
        root = self._repo.root
        cwd = root / node.cwd
        tools = Tools(self._digests, cwd, root)
        # In a container nothing of this machine decides.
        names = programs(node.command, node.runner) if node.image is None else []
        pythons = [path for name in names if (path := _python(tools, name))]
        # A validator is code of ours that reads the tree: nothing installed decides about it.
        ecosystems = [] if node.validator else packages.ecosystems(node.runner, root, cwd)
        here = ecosystems if node.image is None else []
        lists = {name: packages.installed(name, root, cwd, pythons, self._digests) for name in here}
        about = os.uname()
        return {
            "rules": RULES,
            "node": node.ref,
            "command": node.command,
            "cwd": node.cwd,
            "prebuild": list(node.prebuild),
            "runner": node.runner,
            "junit": list(node.junit),
            "outputs": list(node.outputs),
            "settings": dict(node.set_env),
            "scripts": self._scripts(node.command),
            "tools": tools.identities(names),
            "packages": {name: self._listed(lines) for name, lines in lists.items() if lines},
            "locks": packages.lock_files(ecosystems, root, cwd, self._digests),
            "validator": self._validator(node),
            "env": self._variables(node, ecosystems),
            "os": "Linux" if node.image else about.sysname,
            "arch": node.image.arch if node.image else about.machine,
            **({"image": node.image.id} if node.image else {}),
        }

    def _variables(self, node: Node, ecosystems: Sequence[str]) -> dict[str, str | None]:
        """Return the digests of the variables that belong to a key; None for one that is not set."""
        if node.image:
            return {name: text_digest(value) if (value := ask("env", name)) else None for name in sorted(node.env)}
        paths = {_PATHS[name] for name in ecosystems if name in _PATHS}
        found: dict[str, str | None] = {}
        for name in sorted({*node.env, *_RUNNER_ENV.get(node.runner, ()), *paths}):
            value = ask("env", name)
            if value and name in paths:
                value = self._placeless(value[1:])
            found[name] = text_digest(value) if value else None
        return found

    def _placeless(self, paths: str) -> str:
        """Return a list of folders with those in the tree said from its root: the place of the tree does not matter."""
        root = str(self._repo.root)
        inside = (
            os.path.relpath(path, root) if f"{path}/".startswith(f"{root}/") else path for path in paths.split(":")
        )
        return "=" + ":".join(inside)

    def _validator(self, node: Node) -> dict[str, Any] | None:
        if node.validator is None:
            return None
        from morph_tasks.verify.validators.table import facts

        found = facts(self._repo, self._config, node.validator, self._feature, self._digests.of)
        return {"name": node.validator, **found}

    def _scripts(self, command: str) -> str | None:
        from morph_tasks.verify.launch import SCRIPTS

        if "$MORPH_SCRIPTS" not in command:
            return None
        files = sorted(SCRIPTS.glob("*.py"))
        return text_digest(
            canonical({path.name: self._digests.of(str(path)) for path in files if path.name in command})
        )

    def _listed(self, lines: list[str]) -> str:
        """Keep a list of packages once by its digest, so that a later run can name what changed."""
        digest = text_digest("\n".join(lines))
        path = packages_file(self._repo.store, digest)
        if not path.exists():
            from morph_tasks.repo.files import write_atomic

            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_atomic(path, "\n".join(lines).encode("utf-8", "surrogateescape"), mode=0o600)
        return digest

    def _ignored_files(self, node: Node) -> dict[str, str]:
        """Return the ignored files that `inputs` names, as path -> digest.

        A glob names them when its fixed part is ignored, or when it has no `**`: below that, git's rules hold.
        """
        globs = [glob for glob in node.inputs or () if not glob.startswith("!")]
        if not globs:
            return {}
        ignored = self._ignored
        if ignored is None:
            ignored = self._ignored = self._ask_ignored()
        named = files_on_disk(self._repo.root, [glob for glob in globs if fixed_part(glob) in ignored])
        named += [path for path in files_beside(self._repo.root, globs) if path in ignored]
        matches = compile_globs(node.inputs or ())
        digests = {path: self._digests.of(str(self._repo.root / path)) for path in named if matches(os.fsencode(path))}
        return {path: digest for path, digest in digests.items() if digest}

    def _ask_ignored(self) -> frozenset[str]:
        """Return which of the paths that the globs of all nodes lead to git ignores."""
        globs = sorted({glob for node in self._nodes for glob in node.inputs or () if not glob.startswith("!")})
        asked = sorted({*map(fixed_part, globs), *files_beside(self._repo.root, globs)} - {""})
        if not asked:
            return frozenset()
        try:
            return self._told_ignored(asked)
        except Refusal:
            # One path that lies behind a link or in a submodule stops the whole question.
            return frozenset[str]().union(*map(self._one_ignored, asked))

    def _told_ignored(self, paths: list[str]) -> frozenset[str]:
        told = self._repo.git("check-ignore", "-z", "--stdin", ok=(0, 1), stdin=os.fsencode("\0".join(paths)))
        return frozenset(os.fsdecode(told).split("\0")) - {""}

    def _one_ignored(self, path: str) -> frozenset[str]:
        try:
            return self._told_ignored([path])
        except Refusal:
            return frozenset()


def made_by(node: Node) -> tuple[str, ...]:
    """Return the globs of what a node writes: that never is an input."""
    return (*node.junit, *node.outputs, *(node.evals.not_inputs if node.evals else ()))


def key_of(manifest: Manifest) -> str:
    """Return the key of a manifest."""
    return text_digest(canonical(manifest))


def canonical(value: Any) -> str:
    """Return the one JSON text of a value."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def packages_file(store: Path, digest: str) -> Path:
    """Return where a list of packages is kept."""
    return store / "packages" / f"{digest}.txt"


def _python(tools: Tools, name: str) -> str:
    path = tools.find(name)
    if os.path.basename(name).startswith("python"):
        return path
    interpreter = tools.interpreter(os.path.realpath(path)) if path else ""
    return interpreter if os.path.basename(interpreter).startswith("python") else ""
