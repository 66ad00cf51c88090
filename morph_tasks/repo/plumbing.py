"""Git as the fingerprint runs it: its own environment, no user taste, bytes in and out, no heavy import."""

from __future__ import annotations

import os

from morph_tasks.repo import spawn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from morph_tasks.errors import Refusal

# The same as in `repo/git.py`, which costs too much to import here; a test compares the two.
_KEPT = ("GIT_SSH", "GIT_SSH_COMMAND", "GIT_ASKPASS", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")
_IDENTITY = ("GIT_AUTHOR_", "GIT_COMMITTER_")
_ARGUMENTS_AT_ONCE = 500

EMPTY_TREES = {
    40: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    64: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}
LINK = "160000"
_TREE = "040000"
_COMMANDS = ("status", "ls-files", "update-index", "ls-tree", "diff-tree", "hash-object", "config")
_OF_A_CORRUPT_INDEX = ("corrupt", "signature", "smaller than", "extension", "version", "entry format")
Entry = tuple[str, str]  # mode and object id, as git writes them


class Plumbing:
    """One work tree and the private folder that belongs to it."""

    __slots__ = ("apart", "common_dir", "git_dir", "private", "root")

    def __init__(self, root: str, git_dir: str, *, apart: bool = False) -> None:
        """`apart`: the tree may not be where git knows it; git must not look for it, nor note where it is now."""
        self.root = os.path.abspath(root)
        self.git_dir = os.path.abspath(git_dir)
        self.common_dir = common_dir(self.git_dir)
        self.private = f"{self.git_dir}/morph-spec/fingerprint"
        self.apart = apart

    def stream(self, *args: str, index: str = "", stdin: bytes = b"") -> Iterator[bytes]:
        """Run git in the tree and yield its stdout; raises ChildError, or Refusal `git-missing`."""
        where = ["-C", self.root]
        if self.apart or not os.path.lexists(f"{self.root}/.git"):  # `core.worktree` keeps the two apart
            where += ["--git-dir", self.git_dir, "--work-tree", self.root]
        env = clean_env()
        if index:
            env["GIT_INDEX_FILE"] = index
        try:
            yield from spawn.stream(["git", *where, *args], env, stdin=stdin)
        except OSError as error:
            from morph_tasks.errors import Refusal

            said = f"git could not be started: {error.strerror}"
            raise Refusal("git-missing", said, fix="install git, or put it on the PATH") from None

    def fields(self, *args: str, index: str = "") -> Iterator[bytes]:
        """Run git in the tree and yield what it separates with NUL."""
        rest = b""
        for chunk in self.stream(*args, index=index):
            *whole, rest = (rest + chunk).split(b"\0")
            yield from whole
        if rest:
            yield rest

    def output(self, *args: str, index: str = "", stdin: bytes = b"") -> bytes:
        """Run git in the tree and return its stdout; raises Refusal."""
        try:
            return b"".join(self.stream(*args, index=index, stdin=stdin))
        except spawn.ChildError as error:
            raise self.refusal(error) from None

    def entries(self, commit: str, paths: Iterable[bytes]) -> dict[bytes, Entry]:
        """Return the entries that a commit has at these very paths; raises ChildError when it is gone."""
        found: dict[bytes, Entry] = {}
        wanted = set(paths)
        asked = [os.fsdecode(path) for path in wanted]
        for start in range(0, len(asked), _ARGUMENTS_AT_ONCE):
            some = asked[start : start + _ARGUMENTS_AT_ONCE]
            listed = ("--literal-pathspecs", "ls-tree", "-z", "--full-tree", commit, "--", *some)
            for entry, path in tree_entries(self.fields(*listed)):
                if path in wanted and entry[0] != _TREE:  # a folder brings along what lies beside what was asked
                    found[path] = entry
        return found

    def unusable(self, error: OSError) -> Refusal:
        """Word the failure to keep private state."""
        from morph_tasks.errors import Refusal

        gone = isinstance(error, FileNotFoundError | NotADirectoryError)
        if gone and not os.path.exists(f"{self.git_dir}/HEAD"):
            return Refusal("not-a-repository", f"{self.root} is not a git work tree", fix="git init", exit_code=2)
        what = f"private state in {self.private} cannot be kept: {error.strerror or error}"
        return Refusal("state-unwritable", what, fix=f"make {self.private} a folder that you can write")

    def corrupt_index(self, why: str) -> Refusal:
        """Word the failure to read the real index."""
        from morph_tasks.errors import Refusal

        index = f"{self.git_dir}/index"
        fix = f"mv {index} {index}.broken && git -C {self.root} reset"
        return Refusal("corrupt-index", f"the index of {self.root} cannot be read: {why}", fix=fix)

    def refusal(self, error: spawn.ChildError) -> Refusal:
        """Put what git said into a stable code, one sentence and a way out."""
        from morph_tasks.errors import Refusal

        said = error.stderr.decode("utf-8", "replace").strip()
        last = said.splitlines()[-1][-500:] if said else "it said nothing"
        root, command = self.root, next((word for word in error.argv if word in _COMMANDS), "git")
        if error.code is None:
            return Refusal("git-timeout", f"`git {command}` in {root} hangs", fix="look for a clean filter that waits")
        if "dubious ownership" in said:
            fix = f"git config --global --add safe.directory {root}"
            return Refusal("dubious-ownership", f"{root} belongs to another user, so git does not trust it", fix=fix)
        if "not a git repository" in said:
            return Refusal("not-a-repository", f"{root} is not a git work tree", fix="git init", exit_code=2)
        if "index" in said and any(word in said for word in _OF_A_CORRUPT_INDEX):
            return self.corrupt_index(last)
        if "filter" in said and "failed" in said:
            fix = "install the program that the filter runs"
            return Refusal("filter-failed", f"a clean filter failed in {root}: {last}", fix=fix)
        fix = f"git -C {root} fsck"
        return Refusal("git-failed", f"`git {command}` in {root} ended with {error.code}: {last}", fix=fix)


def tree_entries(fields: Iterable[bytes]) -> Iterator[tuple[Entry, bytes]]:
    """Read the lines of `git ls-tree -z`."""
    for field in fields:
        about, _, path = field.partition(b"\t")
        mode, _, oid = about.decode("ascii").split(" ")
        yield (mode, oid), path


def clean_env() -> dict[str, str]:
    """Return the environment for git: no inherited repository, no prompts, stable messages, no replaced objects."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name[:4] != "GIT_" or name in _KEPT or name.startswith(_IDENTITY)
    }
    kept["LC_ALL"] = "C"
    kept["GIT_TERMINAL_PROMPT"] = "0"
    kept["GIT_NO_REPLACE_OBJECTS"] = "1"
    return kept


def common_dir(git_dir: str) -> str:
    """Return the git directory that all work trees of the repository share."""
    try:
        with open(f"{git_dir}/commondir", encoding="utf-8", errors="surrogateescape") as file:
            return os.path.normpath(os.path.join(git_dir, file.read().rstrip("\r\n")))
    except OSError:
        return git_dir
