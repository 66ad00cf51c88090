"""Git: where the repository is and what it says. Inherited `GIT_*` variables are shed."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from morph_tasks.errors import Refusal
from morph_tasks.proc import Completed, ProcError, run, tail

_KEPT = ("GIT_SSH", "GIT_SSH_COMMAND", "GIT_ASKPASS", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")
_HEX = frozenset("0123456789abcdef")
# A replaced object, or a graft, would answer for another commit.
AS_RECORDED = {"GIT_NO_REPLACE_OBJECTS": "1", "GIT_GRAFT_FILE": os.devnull}
_IDENTITY = ("GIT_AUTHOR_", "GIT_COMMITTER_")


def clean_env() -> dict[str, str]:
    """Return the environment for git: no inherited repository, no prompts, stable messages."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name in _KEPT or name.startswith(_IDENTITY)
    }
    return {**kept, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0"}


@dataclass(frozen=True)
class Worktree:
    """One line of `git worktree list`. `locked`: the reason it was locked with, maybe empty; None when it is not."""

    path: Path
    head: str | None
    branch: str | None
    prunable: bool
    bare: bool
    locked: str | None = None
    why_prunable: str = ""


@dataclass(frozen=True)
class Repo:
    """One work tree of a repository."""

    root: Path
    git_dir: Path
    common_dir: Path
    light: bool = field(default=False, compare=False)

    def lightly(self) -> Repo:
        """Return the same tree with git started without `sh`, whose import costs a verify more than its answers."""
        return replace(self, light=True)

    @property
    def morph(self) -> Path:
        return self.root / ".morph"

    @property
    def store(self) -> Path:
        """Return the folder that all work trees of the repository share."""
        return self.common_dir / "morph-spec"

    @property
    def tree_state(self) -> Path:
        """Return the folder for private state of this one work tree."""
        return self.git_dir / "morph-spec"

    def run(
        self, *args: str, ok: Collection[int] = (0,), stdin: bytes = b"", env: Mapping[str, str] | None = None
    ) -> Completed:
        """Run git in this tree, with `env` added to a clean environment; raises ProcError."""
        ask = _git_lightly if self.light else _git
        return ask(("-C", str(self.root), *args), ok=ok, stdin=stdin, env=env)

    def git(self, *args: str, ok: Collection[int] = (0,), stdin: bytes = b"") -> bytes:
        """Run git in this tree and return its stdout; raises ProcError."""
        return self.run(*args, ok=ok, stdin=stdin).stdout

    def text(self, *args: str, ok: Collection[int] = (0,)) -> str:
        """Run git in this tree and return its stdout as stripped text."""
        return self.git(*args, ok=ok).decode("utf-8", "surrogateescape").strip()

    def head(self) -> str | None:
        """Return the commit that is checked out; None before the first commit."""
        return self.text("rev-parse", "--verify", "--quiet", "HEAD^{commit}", ok=(0, 1, 128)) or None

    def branch(self) -> str | None:
        """Return the branch that is checked out, born or not; None when HEAD is detached."""
        said = self._head_file()
        if said.startswith("ref: refs/heads/") and said != "ref: refs/heads/.invalid":  # kept in a reftable
            return said.removeprefix("ref: refs/heads/")
        if len(said) in (40, 64) and set(said) <= _HEX:
            return None
        return self.text("symbolic-ref", "--quiet", "--short", "HEAD", ok=(0, 1, 128)) or None

    def _head_file(self) -> str:
        """Return what HEAD says in its file; empty where git has to be asked."""
        head = self.git_dir / "HEAD"
        try:
            return "" if head.is_symlink() else os.fsdecode(head.read_bytes()).strip()
        except OSError:
            return ""

    def branch_exists(self, name: str) -> bool:
        return self.run("show-ref", "--verify", "--quiet", f"refs/heads/{name}", ok=(0, 1, 128)).code == 0

    def is_shallow(self) -> bool:
        return (self.common_dir / "shallow").exists()

    def has_origin(self) -> bool:
        """Tell whether there is a remote called origin."""
        return self.run("config", "--get", "remote.origin.url", ok=(0, 1)).code == 0

    def tip(self, branch: str) -> str | None:
        """Return the commit of a local branch; None when there is none."""
        return self.text("rev-parse", "--verify", "--quiet", f"refs/heads/{branch}^{{commit}}", ok=(0, 1, 128)) or None

    def count(self, *words: str, env: Mapping[str, str] | None = None) -> int | None:
        """Count the commits that the words of a `rev-list` stand for; None when git cannot tell."""
        done = self.run("rev-list", "--count", *words, ok=range(256), env=env)
        text = done.text.strip()
        return int(text) if done.code == 0 and text.isdigit() else None

    def default_branch(self) -> str | None:
        """Return the name of the default branch; None when nothing tells.

        Order: origin's HEAD, then `main` and `master`, then `init.defaultBranch`, then the only local branch of a
        repository without origin: of a clone, one branch says nothing about the others.
        """
        remote = self.text("symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD", ok=(0, 1, 128))
        # A remote that is itself in the middle of a feature names that branch.
        if remote.startswith("origin/") and not remote.startswith("origin/morph/"):
            return remote.removeprefix("origin/")
        configured = self.text("config", "--get", "init.defaultBranch", ok=(0, 1))
        for name in ("main", "master", configured):
            if name and self.branch_exists(name):
                return name
        if self.has_origin():
            return None
        heads = self.text("for-each-ref", "--format=%(refname:short)", "refs/heads").splitlines()
        others = [name for name in heads if not name.startswith(("morph/", "morph-task/"))]
        return others[0] if len(others) == 1 else None

    def worktrees(self) -> list[Worktree]:
        """Return every work tree of the repository, the main one first."""
        found = []
        try:
            blocks = self.git("worktree", "list", "--porcelain", "-z").split(b"\0\0")
        except ProcError:
            from morph_tasks.repo.halfmade import half_made, listed_by_hand

            if not half_made(self):
                raise
            blocks = list(listed_by_hand(self))
        for block in blocks:
            fields = {
                line.partition(b" ")[0]: line.partition(b" ")[2] for line in block.split(b"\0") if line.strip(b"\0")
            }
            if b"worktree" not in fields:
                continue
            branch = fields.get(b"branch", b"").decode("utf-8", "surrogateescape")
            locked = fields.get(b"locked")
            found.append(
                Worktree(
                    Path(os.fsdecode(fields[b"worktree"])),
                    fields.get(b"HEAD", b"").decode() or None,
                    branch.removeprefix("refs/heads/") or None,
                    b"prunable" in fields,
                    b"bare" in fields,
                    None if locked is None else locked.decode("utf-8", "replace"),
                    fields.get(b"prunable", b"").decode("utf-8", "replace"),
                )
            )
        return found

    @cached_property
    def primary_root(self) -> Path:
        """Return the main work tree, or this one when the repository has none (bare with linked trees)."""
        if self.common_dir.name == ".git":
            return self.common_dir.parent
        first = self.worktrees()[:1]
        return first[0].path if first and not first[0].bare else self.root


def _git(
    args: Collection[str],
    *,
    ok: Collection[int] = (0,),
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
) -> Completed:
    try:
        return run(("git", *args), env={**clean_env(), **(env or {})}, ok=ok, stdin=stdin)
    except ProcError as error:
        if error.code == "tool-missing":
            raise Refusal("git-missing", "git is not on the PATH", fix="install git") from None
        said = (error.done.stderr if error.done else b"").decode("utf-8", "replace")
        if "dubious ownership" in said:
            raise _dubious(said) from None
        raise


def _git_lightly(
    args: Collection[str],
    *,
    ok: Collection[int] = (0,),
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
) -> Completed:
    from morph_tasks.repo.spawn import ChildError, stream

    argv, said = ["git", *args], []
    try:
        for chunk in stream(argv, {**clean_env(), **(env or {})}, stdin=stdin):
            said.append(chunk)
    except ChildError as error:
        done = Completed(tuple(argv), -1 if error.code is None else error.code, b"".join(said), error.stderr)
        if done.code in ok:
            return done
        if b"dubious ownership" in error.stderr:
            raise _dubious(error.stderr.decode("utf-8", "replace")) from None
        what = f"`{' '.join(argv)[:200]}` ended with {done.code}: {tail(done)}"
        raise ProcError("command-failed", what, done=done) from None
    except OSError:
        raise Refusal("git-missing", "git is not on the PATH", fix="install git") from None
    return Completed(tuple(argv), 0, b"".join(said), b"")


def open_repo(start: Path | None = None) -> Repo:
    """Find the work tree around `start` (default: the current folder).

    Raises Refusal `git-missing`, `not-a-repository`, `bare-repository`, `dubious-ownership`.
    """
    try:
        where = (start or Path.cwd()).absolute()
    except OSError:
        raise Refusal(
            "no-current-folder", "the current folder no longer exists", fix="cd to a folder", exit_code=2
        ) from None
    quick = _plain_repo(where)
    if quick:
        return quick
    asked = _git(
        (
            "-C",
            str(where),
            "rev-parse",
            "--path-format=absolute",
            "--show-toplevel",
            "--absolute-git-dir",
            "--git-common-dir",
        ),
        ok=(0, 128),
    )
    if asked.code:
        raise _not_open(where, asked.stderr.decode("utf-8", "replace"))
    root, git_dir, common = asked.stdout.decode("utf-8", "surrogateescape").rstrip("\n").split("\n")[-3:]
    return Repo(Path(root), Path(git_dir), Path(common))


def _plain_repo(where: Path) -> Repo | None:
    """Return the repository without asking git, in the two common layouts; None sends the question to git."""
    if os.environ.get("GIT_DIR") or os.environ.get("GIT_WORK_TREE"):
        return None
    real = Path(os.path.realpath(where))
    for folder in (real, *real.parents):
        dot = folder / ".git"
        if dot.is_dir():
            owned = dot.stat().st_uid == os.geteuid() and folder.stat().st_uid == os.geteuid()
            plain = (dot / "HEAD").exists() and (dot / "objects").is_dir() and not _has_worktree_setting(dot)
            return Repo(folder, dot, dot) if owned and plain else None
        if dot.exists():
            return _linked_repo(folder, dot)
    return None


def _linked_repo(folder: Path, dot: Path) -> Repo | None:
    """Return a plain linked tree; git's own answer cannot hold a path with a newline."""
    try:
        pointer = os.fsdecode(dot.read_bytes())
        git_dir = Path(os.path.realpath(folder / pointer.removeprefix("gitdir:").strip()))
        common = Path(os.path.realpath(git_dir / os.fsdecode((git_dir / "commondir").read_bytes()).strip()))
        mine = all(path.stat().st_uid == os.geteuid() for path in (folder, dot, git_dir, common))
    except OSError:
        return None
    whole = pointer.startswith("gitdir:") and (git_dir / "HEAD").exists() and (common / "objects").is_dir()
    return Repo(folder, git_dir, common) if mine and whole else None


def _has_worktree_setting(git_dir: Path) -> bool:
    try:
        text = (git_dir / "config").read_bytes().lower()
    except OSError:
        return True
    # `bare`, `core.worktree` and includes can move the work tree: git answers then.
    return b"worktree" in text or b"bare = true" in text or b"[include" in text


def _not_open(where: Path, said: str) -> Refusal:
    if "dubious ownership" in said:
        return _dubious(said)
    if "must be run in a work tree" in said:
        return Refusal(
            "bare-repository",
            f"{where} is a bare repository or a git folder: there is no tree to work in",
            fix="run this in a clone or a work tree (`git worktree add`)",
        )
    if "not a git repository" in said:
        return Refusal("not-a-repository", f"{where} is not inside a git repository", fix="git init", exit_code=2)
    return Refusal("git-failed", f"git cannot open {where}: {said.strip()[-300:]}")


def _dubious(said: str) -> Refusal:
    return Refusal(
        "dubious-ownership",
        "git refuses this repository: its folder belongs to another user",
        fix=next(
            (line.strip() for line in said.splitlines() if "safe.directory" in line),
            "git config --global --add safe.directory <path>",
        ),
    )
