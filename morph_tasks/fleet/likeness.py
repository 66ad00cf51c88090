"""Is a change in another line of commits already, under other commits? By what it does, not by its name.

Patches are alike that do the same in two places which look alike, so merging has to agree: it would bring nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from morph_tasks.repo.merging import merge_trees

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

# Who applied a branch in one go made a commit like this one; its author and time do not matter.
_NOBODY = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "nobody"), ("EMAIL", "nobody@example.invalid"), ("DATE", "@0 +0000"))
}
_DIFF = (
    "diff-tree", "--stdin", "--root", "-p", "--binary", "--full-index", "--no-renames", "--no-ext-diff",
    "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/",
)  # fmt: skip
# What a merge brings is what the files say, not what the user's settings make of it.
_PLAIN = {
    "GIT_CONFIG_COUNT": "2",
    "GIT_CONFIG_KEY_0": "merge.default",
    "GIT_CONFIG_VALUE_0": "text",
    "GIT_CONFIG_KEY_1": "merge.renormalize",
    "GIT_CONFIG_VALUE_1": "false",
}
_BUILT_IN = (b"unspecified", b"set", b"unset", b"text", b"binary")
_SAYS_WHERE = (b" ", b"@@", b"index ")  # context, places and blob ids: they differ for one and the same change


def whole_applied(repo: Repo, base: str, tree: str, target: str, env: Mapping[str, str]) -> bool:
    """Tell whether one commit of `target` does what all commits from `base` to the files `tree` do together.

    `env` names the place for the commit that is made to ask this; nothing else refers to it.
    """
    words = ("commit-tree", "--no-gpg-sign", "-p", base, "-m", "the whole branch", tree)
    made = _text(repo, {**env, **_NOBODY}, *words)
    return each_applied(repo, made, target, own_commits(repo, made, target, env), env)


def own_commits(repo: Repo, tip: str, target: str, env: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return (mark, commit) of what `tip` has and `target` has not; `=` marks one whose like is in `target`."""
    return _marked(repo, env, "--right-only", target, tip)


def each_applied(repo: Repo, tip: str, target: str, own: Sequence[tuple[str, str]], env: Mapping[str, str]) -> bool:
    """Tell whether each commit that `tip` has and `target` has not is in `target` under another name.

    `own`: those commits, as `own_commits` returns them. False with a merge among them: what it decided is in no commit
    of its own.
    """
    if not own or not all(mark == "=" for mark, _ in own):
        return False
    theirs = [commit for mark, commit in _marked(repo, env, "--left-only", target, tip) if mark == "="]
    # Git's comparison passes over white space, which can be the whole change.
    done = {_deed(patch) for patch in _patches(repo, env, theirs)}
    if not all(_deed(patch) in done for patch in _patches(repo, env, [commit for _, commit in own])):
        return False
    return any(_brings_nothing(repo, tip, commit, _tree(repo, commit, env), env) for commit in theirs)


def brings_nothing(repo: Repo, bases: Sequence[str], tip: str, target: str, files: str, env: Mapping[str, str]) -> bool:
    """Tell whether merging `tip` would leave the files of `target` as they are; a driver that decides proves nothing.

    `bases`: where the two parted; `files`: the tree of `target`. Raises what `merge_trees` raises.
    """
    if not _brings_nothing(repo, tip, target, files, env):
        return False
    paths = b"".join(
        repo.run("diff-tree", "-r", "-z", "--name-only", "--no-renames", base, tip, env=env).stdout for base in bases
    )
    said = repo.run("check-attr", "-z", "--stdin", "merge", stdin=paths, env=env).stdout.split(b"\0")
    return all(driver in _BUILT_IN for driver in said[2::3])


def _brings_nothing(repo: Repo, tip: str, target: str, files: str, env: Mapping[str, str]) -> bool:
    merge = merge_trees(repo, target, tip, env={**env, **_PLAIN})
    return merge.clean and merge.tree == files


def _tree(repo: Repo, commit: str, env: Mapping[str, str]) -> str:
    return _text(repo, env, "rev-parse", f"{commit}^{{tree}}")


def _marked(repo: Repo, env: Mapping[str, str], side: str, target: str, tip: str) -> list[tuple[str, str]]:
    """Return (mark, commit) of one side; `=` marks a commit whose like is on the other side."""
    lines = _text(repo, env, "rev-list", "--cherry-mark", side, f"{target}...{tip}").splitlines()
    return [(line[:1], line[1:]) for line in lines]


def _patches(repo: Repo, env: Mapping[str, str], commits: Sequence[str]) -> list[list[bytes]]:
    said = repo.run(*_DIFF, stdin="".join(f"{commit}\n" for commit in commits).encode(), env=env).stdout
    heads = {commit.encode() for commit in commits}
    found: list[list[bytes]] = []
    for line in said.split(b"\n"):
        if line in heads:
            found.append([])
        elif found:
            found[-1].append(line)
    return found


def _deed(patch: Sequence[bytes]) -> str:
    """Return what a patch does: its lines without those that only say where."""
    return hashlib.sha256(b"\n".join(line for line in patch if not line.startswith(_SAYS_WHERE))).hexdigest()


def _text(repo: Repo, env: Mapping[str, str], *words: str) -> str:
    return repo.run(*words, env=env).text.strip()
