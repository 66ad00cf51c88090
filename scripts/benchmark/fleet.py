"""The rows about many features: work trees, the end of one, the board and the list."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

from repos import INSTANT, commit_all, write_config, write_files
from rows import Bench, Measured, ms, ratio, within
from timing import Cost, NotAvailable, Shell, alone, compare

TREES = 100
FEATURES = 500
_FILES_OF_A_TREE = 200
_SHARE = 5  # a fifth of the files: what is added to git's own work shows better
_CHANGED = 3  # files that a feature changes
_WHEN = "@1767225600 +0000"

_numbers = count(1)


def worktree_setup(bench: Bench) -> Measured:
    """A work tree with links, copies and ports for a feature that was just created, against a bare one."""
    shell = _shop(bench)

    def subject() -> Cost:
        name = f"set-up-{next(_numbers)}"
        shell.output(*_create(name))
        cost = shell.cost("morph-spec", "worktree", "setup", name)
        _drop(shell, _tree_of(shell, f"morph/{name}"), f"morph/{name}")
        return cost

    def floor() -> Cost:
        name = f"bare-{next(_numbers)}"
        shell.output("git", "branch", name, "main")
        tree = shell.cwd.parent / name
        cost = shell.cost("git", "worktree", "add", "--quiet", str(tree), name)
        _drop(shell, tree, name)
        return cost

    pairs = compare(subject, floor, bench.size.pairs)
    what = f"`morph-spec worktree setup`, {_files(bench):,} files"
    return within(what, "`git worktree add`", pairs, 1.5, 0.15)


def finish_merge(bench: Bench) -> Measured:
    """The end of a feature, against the commands of git that bring the same about."""
    shell = _shop(bench)

    def subject() -> Cost:
        name, _ = _worked_on(shell)
        return shell.cost("morph-spec", "finish", name, "--merge", "--force")

    def floor() -> Cost:
        name, tree = _worked_on(shell)
        there = Shell(tree, shell.env)
        (tree / ".morph/archive").mkdir(exist_ok=True)
        return (
            there.cost("git", "mv", f".morph/features/{name}", f".morph/archive/{name}")
            + there.cost("git", "commit", "--quiet", "--message", f"Archive {name}")
            + shell.cost("git", "merge", "--quiet", "--no-ff", "--no-edit", f"morph/{name}")
            + shell.cost("git", "worktree", "remove", "--force", str(tree))
            + shell.cost("git", "branch", "--quiet", "-d", f"morph/{name}")
        )

    pairs = compare(subject, floor, bench.size.pairs)
    left = shell.output("git", "worktree", "list", "--porcelain").count("worktree ") - 1
    if left:
        raise NotAvailable(f"`morph-spec finish` left {left} work trees")
    what = f"`morph-spec finish --merge`, {_files(bench):,} files"
    return within(what, "`git mv, commit, merge, worktree remove, branch -d`", pairs, 2, 0.3)


def board(bench: Bench) -> Measured:
    """The board of a hundred work trees, against asking git once for all of them and once for each."""
    shell = _many_trees(bench)
    shown = json.loads(shell.output("morph-spec", "fleet", "--json"))
    seen = json.dumps(shown).count('"morph/f-')
    if seen < TREES:
        raise NotAvailable(f"`morph-spec fleet` shows {seen} of {TREES} features")
    trees = [line.partition(" ")[2] for line in shell.output("git", "worktree", "list", "--porcelain").splitlines()
             if line.startswith("worktree ")]  # fmt: skip
    given = "\0".join(trees).encode() + b"\0"

    def floor() -> Cost:
        each = ("xargs", "-0", "-I", "{}", "git", "-C", "{}", "status", "--porcelain")
        return shell.cost("git", "worktree", "list") + shell.cost(*each, stdin=given)

    pairs = compare(lambda: shell.cost("morph-spec", "fleet"), floor, bench.size.pairs)
    return ratio(f"`morph-spec fleet`, {TREES} work trees", "`git worktree list` + a `git status` each", pairs, 3)


def long_list(bench: Bench) -> Measured:
    """The list of five hundred features, each with a branch of its own."""
    shell = _many_features(bench)
    shown = json.loads(shell.output("morph-spec", "list", "--json"))
    if len(shown["features"]) != FEATURES:
        raise NotAvailable(f"`morph-spec list` shows {len(shown['features'])} of {FEATURES} features")
    cost = alone(lambda: shell.cost("morph-spec", "list"), bench.size.pairs)
    return Measured(f"`morph-spec list`, {FEATURES} features", "", ms(cost), "≤ 400 ms", cost.wall <= 0.4)


ROWS: dict[str, Callable[[Bench], Measured]] = {
    "worktree-setup": worktree_setup,
    "finish-merge": finish_merge,
    "fleet-100": board,
    "list-500": long_list,
}


def _shop(bench: Bench) -> Shell:
    """Return a repository on its default branch with so many files."""
    root = bench.workshop.folder / "shop"
    shell = Shell(root, bench.workshop.env)
    if not root.exists():
        root.mkdir()
        write_files(root, _files(bench))
        write_config(root, INSTANT)
        ignored = (".worktrees/", "state.json", "worktree.env", "evidence/", "logs/")
        (root / ".morph/.gitignore").write_text("".join(f"/{name}\n" for name in ignored))
        commit_all(shell, "files")
    return shell


def _files(bench: Bench) -> int:
    return bench.size.files // _SHARE


def _create(name: str) -> tuple[str, ...]:
    return ("morph-spec", "create", name, "--type", "chore", "--description", "What is measured", "--no-checkout")


def _worked_on(shell: Shell) -> tuple[str, Path]:
    """Return a feature with a work tree and a commit in it, ready for its end."""
    name = f"end-{next(_numbers)}"
    shell.output(*_create(name))
    shell.output("morph-spec", "worktree", "setup", name)
    tree = _tree_of(shell, f"morph/{name}")
    for path in sorted((tree / "src").rglob("*.py"))[:_CHANGED]:
        path.write_text(path.read_text() + f"# {name}\n")
    commit_all(Shell(tree, shell.env), name)
    return name, tree


def _tree_of(shell: Shell, branch: str) -> Path:
    tree = Path()
    for line in shell.output("git", "worktree", "list", "--porcelain").splitlines():
        kind, _, value = line.partition(" ")
        if kind == "worktree":
            tree = Path(value)
        if line == f"branch refs/heads/{branch}":
            return tree
    raise NotAvailable(f"no work tree has {branch} checked out")


def _drop(shell: Shell, tree: Path, branch: str) -> None:
    shell.output("git", "worktree", "remove", "--force", "--force", str(tree))
    shell.output("git", "branch", "--quiet", "-D", branch)
    shutil.rmtree(shell.cwd / ".morph/features", ignore_errors=True)


def _many_trees(bench: Bench) -> Shell:
    """Return a repository with a hundred work trees, each with a feature, a commit and an untracked file."""
    root = bench.workshop.folder / "many-trees"
    shell = Shell(root, bench.workshop.env)
    if not root.exists():
        root.mkdir()
        write_files(root, _FILES_OF_A_TREE)
        write_config(root, INSTANT)
        (root / ".gitignore").write_text("/worktrees/\n")
        commit_all(shell, "files")
        _import(shell, _branches(TREES))
        for number in range(TREES):
            tree = root / f"worktrees/f-{number:03}"
            shell.output("git", "worktree", "add", "--quiet", str(tree), f"morph/f-{number:03}")
            (tree / "untracked.py").write_text("begun = True\n")
    return shell


def _many_features(bench: Bench) -> Shell:
    """Return a repository whose tree holds five hundred features, each with a branch that knows more of it."""
    root = bench.workshop.folder / "many-features"
    shell = Shell(root, bench.workshop.env)
    if not root.exists():
        root.mkdir()
        write_files(root, _FILES_OF_A_TREE)
        write_config(root, INSTANT)
        for number in range(FEATURES):
            path = root / _path(number)
            path.parent.mkdir(parents=True)
            path.write_text(_record(number, "plan"))
        commit_all(shell, "features")
        _import(shell, _branches(FEATURES))
    return shell


def _branches(number: int) -> Iterator[bytes]:
    for at in range(number):
        record = _record(at, "implement").encode()
        yield f"commit refs/heads/morph/f-{at:03}\ncommitter bench <bench> {_WHEN[1:]}\ndata 4\nwork\n".encode()
        yield f"from refs/heads/main^0\nM 100644 inline {_path(at)}\ndata {len(record)}\n".encode() + record + b"\n"


def _import(shell: Shell, stream: Iterator[bytes]) -> None:
    argv = ["git", "fast-import", "--quiet"]
    subprocess.run(argv, cwd=shell.cwd, env=shell.env, input=b"".join(stream), check=True)


def _path(number: int) -> str:
    return f".morph/features/f-{number:03}/feature.json"


def _record(number: int, phase: str) -> str:
    when = f"2026-01-01T00:{number // 60 % 60:02}:{number % 60:02}.000Z"
    gate = {"approved": phase != "plan", "timestamp": when, "approvedBy": "human"}
    data = {
        "name": f"Feature {number}",
        "feature": f"f-{number:03}",
        "description": f"What feature {number} is for, in a sentence of an ordinary length",
        "workType": "feature",
        "status": "in_progress",
        "createdAt": when,
        "updatedAt": when,
        "branch": f"morph/f-{number:03}",
        "approvalGates": {"plan": gate},
        "gateDecisions": {},
        "outputs": {},
    }
    return json.dumps(data, indent=2) + "\n"
