"""A repository beside the user's that reads its objects and writes nothing into it.

It has objects, references, index and work tree of its own, so neither a merge nor a suite that uses git can touch
the user's, and a run that is killed leaves no registration there. Only the store of evidence is the user's.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from morph_tasks.errors import Refusal
from morph_tasks.fleet.deletion import delete
from morph_tasks.repo.git import Repo
from morph_tasks.repo.scratch import quoted

TREE = "union"  # what evidence calls the tree
MARKER = "morph-spec-union"
_LOCK, _MERGING = "lock", "merging"
_RUN = "run-"
_ATTRIBUTES = b".gitattributes"
# What in the user's settings speaks of the user's own tree, or would start something on its own.
_SETTINGS = """\
[include]
\tpath = {include}
[core]
\tbare = false
\thooksPath = /dev/null
\tfsmonitor = false
\tsparseCheckout = false
\tsplitIndex = false
\tlogAllRefUpdates = false
[gc]
\tauto = 0
[maintenance]
\tauto = false
"""


@dataclass(frozen=True)
class SharedStore(Repo):
    """A repository whose evidence is kept in the store of another one."""

    shared: Path = field(default=Path(), compare=False)

    @property
    def store(self) -> Path:
        """Return the store of the user's repository."""
        return self.shared


@dataclass(frozen=True)
class Scratch:
    """The folder of one run.

    `tree`: the work tree for suites; `merging`: an empty one that only holds attributes; `submodules`: what was filled.
    """

    folder: Path
    tree: SharedStore
    merging: Repo
    submodules: list[Path] = field(default_factory=list)

    def attributes_of(self, commit: str) -> None:
        """Put the `.gitattributes` of a commit where git looks for them while it merges beside a tree."""
        for left in self.merging.root.iterdir():
            if left.name != ".git":
                remove(left)
        listed = self.merging.git("ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0")
        wanted = [line.partition(b"\t") for line in listed if line.endswith(_ATTRIBUTES)]
        for about, _, path in wanted:
            mode, _, oid = about.decode().split(" ")
            if mode.startswith("100") and path.rpartition(b"/")[2] == _ATTRIBUTES:
                place = self.merging.root / os.fsdecode(path)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(self.merging.git("cat-file", "blob", oid))

    def put(self, commit: str) -> None:
        """Make the work tree hold exactly this commit: what an earlier suite left in it would decide the next one."""
        while self.submodules:
            remove(self.submodules.pop())
        if self.tree.run("clean", "-ffdxq", ok=range(256)).code:
            for left in self.tree.root.iterdir():
                if left.name != ".git":
                    remove(left)
        self.tree.git("checkout", "-q", "-f", "--detach", commit)

    def remove(self) -> None:
        """Remove the folder of the run."""
        _remove_run(self.folder)


@contextmanager
def scratch(repo: Repo, default: str, commit: str) -> Iterator[Scratch]:
    """Make the folder and remove it at the end; what killed runs of this repository left goes first.

    `default`: the name of the default branch, `commit`: where it is. Raises Refusal `no-room`, `busy`.
    """
    from morph_tasks.repo.files import locked

    place = _place(repo)
    with ExitStack() as held:
        with locked(place / _LOCK, wait_s=10, what="the folder for unions"):
            _sweep(place)
            folder = Path(tempfile.mkdtemp(prefix=_RUN, dir=place))
            held.enter_context(locked(folder / _LOCK, wait_s=0, what="the union"))
            (folder / MARKER).write_bytes(os.fsencode(repo.common_dir))
        made = Scratch(folder, *_repositories(repo, folder))
        try:
            _begin(made, repo, default, commit)
            yield made
        finally:
            made.remove()


def remove(path: Path) -> None:
    """Remove a file, a link or a folder of ours, also where a suite took the right to write away."""
    is_folder = path.is_dir() and not path.is_symlink()
    try:
        delete(path)
    except OSError:
        if not is_folder:  # of a folder, what somebody else put there is left
            raise


def _place(repo: Repo) -> Path:
    """Return a private folder outside of every work tree; raises Refusal `no-room`."""
    name = hashlib.sha256(os.fsencode(os.path.realpath(repo.common_dir))).hexdigest()[:12]
    cache = os.environ.get("XDG_CACHE_HOME", "")
    bases = [(Path(cache) if os.path.isabs(cache) else Path.home() / ".cache") / "morph-spec"]
    bases.append(Path(tempfile.gettempdir()) / f"morph-spec-{os.getuid()}")
    trees = [Path(os.path.realpath(one)) for one in (*(tree.path for tree in repo.worktrees()), repo.common_dir)]
    for base in bases:
        place = base / "union" / name
        real = Path(os.path.realpath(place))
        if any(real == tree or tree in real.parents for tree in trees):
            continue
        with suppress(OSError):
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            # A folder that another user made there first is not private.
            if place.stat().st_uid == os.geteuid() and base.stat().st_uid == os.geteuid():
                return real
    what = "there is no private folder outside of the work trees to merge in"
    raise Refusal("no-room", what, fix="set XDG_CACHE_HOME to a folder of yours outside of the repository")


def _sweep(place: Path) -> None:
    """Remove the folders of runs that are no more; the caller holds the lock of the place."""
    from morph_tasks.machine.live import reap
    from morph_tasks.repo.files import locked

    for folder in place.glob(f"{_RUN}*"):
        if not (folder / MARKER).is_file() and set(os.listdir(folder)) - {_LOCK}:
            continue  # not ours to judge
        try:
            with locked(folder / _LOCK, wait_s=0, what="a union"):
                reap(folder / TREE / ".git" / "morph-spec" / "live")
                _remove_run(folder)
        except Refusal:
            continue  # it is alive


def _remove_run(folder: Path) -> None:
    """Remove a folder, its marker last: a removal that is killed is known for what it is."""
    for name in (TREE, _MERGING, MARKER, _LOCK):
        remove(folder / name)
    with suppress(OSError):
        folder.rmdir()


def _repositories(repo: Repo, folder: Path) -> tuple[SharedStore, Repo]:
    git_dir = folder / TREE / ".git"
    tree = SharedStore(folder / TREE, git_dir, git_dir, light=True, shared=repo.store)
    return tree, Repo(folder / _MERGING, git_dir, git_dir, light=True)


def _begin(made: Scratch, repo: Repo, default: str, commit: str) -> None:
    """Make the repository and tell it which branch is the default one, and where that is."""
    tree, git_dir = made.tree, made.tree.git_dir
    tree.root.mkdir()
    wide = ("--object-format=sha256",) if len(commit) == 64 else ()
    tree.git("init", "-q", "--template=", *wide)
    share(repo, git_dir, tree.root)
    names = (f"refs/heads/{default}", f"refs/remotes/origin/{default}")
    tree.git("update-ref", "--stdin", "-z", stdin=b"".join(_update(name, commit) for name in names))
    tree.git("symbolic-ref", "refs/remotes/origin/HEAD", names[1])
    tree.git("symbolic-ref", "HEAD", "refs/heads/morph-spec-nothing")
    made.merging.root.mkdir()
    (made.merging.root / ".git").write_text(f"gitdir: ../{TREE}/.git\n")
    made.attributes_of(commit)


def share(repo: Repo, git_dir: Path, root: Path) -> None:
    """Let a new repository read what the user's holds: objects, settings, what is ignored and how files convert."""
    (git_dir / "objects" / "info").mkdir(exist_ok=True)
    (git_dir / "objects" / "info" / "alternates").write_bytes(_quoted(repo.common_dir / "objects") + b"\n")
    with open(git_dir / "config", "ab") as file:
        file.write(_SETTINGS.encode().replace(b"{include}", _quoted(repo.common_dir / "config")))
        if repo.run("config", "--get", "core.worktree", ok=(0, 1)).code == 0:
            file.write(b"[core]\n\tworktree = " + _quoted(root) + b"\n")
    (git_dir / "info").mkdir(exist_ok=True)
    for name in ("info/exclude", "info/attributes", "shallow"):
        with suppress(FileNotFoundError):
            shutil.copyfile(repo.common_dir / name, git_dir / name)


def _update(name: str, commit: str) -> bytes:
    return b"update " + os.fsencode(name) + b"\0" + commit.encode() + b"\0\0"


def _quoted(path: Path) -> bytes:
    return os.fsencode(quoted(os.fspath(path)))
