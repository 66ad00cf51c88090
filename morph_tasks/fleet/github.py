"""The one door to `gh`: what GitHub knows of pull requests, or why that could not be learnt.

An answer that could not be had is `verified: False` with a reason; it is never an empty list.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.meanwhile import meanwhile
from morph_tasks.proc import ProcError, run_bounded
from morph_tasks.repo.git import clean_env
from morph_tasks.repo.trees import primary_root

if TYPE_CHECKING:
    from morph_tasks.proc import Completed
    from morph_tasks.repo.git import Repo

FIELDS = (
    "number,state,url,headRefName,baseRefName,title,headRefOid,mergedAt,updatedAt,createdAt,isCrossRepository,isDraft"
)
LIMIT = 200  # pull requests asked for at once, the newest first
READ_S = 5.0  # seconds that a reader waits for an answer
WRITE_S = 60.0  # seconds that making a pull request may take
NO_ORIGIN = "this repository has no remote called origin"
STATES = ("OPEN", "CLOSED", "MERGED")
_NOT_SIGNED_IN = 4
# Each of them would put colours, a table or a question where JSON is expected.
_SHED = ("GH_FORCE_TTY", "CLICOLOR_FORCE", "GH_PAGER", "GH_DEBUG")
_SET = {"GH_PROMPT_DISABLED": "1", "NO_COLOR": "1", "GH_NO_UPDATE_NOTIFIER": "1", "GH_SPINNER_DISABLED": "1"}


@dataclass(frozen=True)
class Pull:
    """One pull request. `state`: OPEN, CLOSED or MERGED, empty when that is not known.

    Times are as GitHub writes them, None when there is none.
    """

    number: int
    state: str
    url: str
    head: str
    base: str
    title: str = ""
    head_oid: str | None = None
    merged_at: str | None = None
    updated_at: str | None = None
    created_at: str | None = None
    cross_repository: bool = False
    draft: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return what commands print of it."""
        return {"number": self.number, "state": self.state or None, "url": self.url}


@dataclass(frozen=True)
class Pulls:
    """What GitHub said. `whole`: False when there may be more than `items`, so that absence says nothing."""

    verified: bool
    reason: str = ""
    items: tuple[Pull, ...] = ()
    whole: bool = True

    def of(self, branch: str) -> tuple[Pull, ...]:
        """Return the pull requests of a branch of this repository, the newest first.

        One from a fork is not among them: its branch only happens to have the same name.
        """
        own = (pull for pull in self.items if pull.head == branch and not pull.cross_repository)
        return tuple(sorted(own, key=lambda pull: -pull.number))

    def current(self, branch: str) -> Pull | None:
        """Return the one that counts for a branch: the open one, else the newest."""
        own = self.of(branch)
        return next((pull for pull in own if pull.state == "OPEN"), own[0] if own else None)

    def as_json(self) -> dict[str, Any]:
        """Return whether the question was answered, for the output of readers."""
        return {"verified": self.verified, "reason": self.reason or None}


def unanswered(reason: str) -> Pulls:
    """Return the answer of a question that could not be asked."""
    return Pulls(False, reason, whole=False)


def ask_pulls(repo: Repo, *, head: str | None = None, limit: int = LIMIT, wait_s: float = READ_S) -> Pulls:
    """Ask GitHub for pull requests in any state, or for those of one branch; never raises, waits `wait_s` seconds."""
    problem = _unreachable(repo)
    if problem:
        return unanswered(problem.what)
    argv = ["gh", "pr", "list", "--state", "all", "--json", FIELDS, "--limit", str(limit)]
    argv += ["--head", head] if head else []
    try:
        done = _gh(repo, argv, wait_s)
    except ProcError as error:
        return unanswered(error.what)
    if done.code:
        return unanswered(_why(done).what)
    return _read(done, limit)


def ask_aside(repo: Repo, *, wait_s: float = READ_S) -> Callable[[], Pulls]:
    """Begin to ask, and return what waits for the answer; a question that cannot be asked costs next to nothing."""
    problem = _unreachable(repo)
    if problem:
        return lambda: unanswered(problem.what)
    return meanwhile(lambda: ask_pulls(repo, wait_s=wait_s))


def require(repo: Repo, *, wait_s: float = READ_S * 2) -> None:
    """Refuse where a pull request could not be made.

    Raises Refusal `no-origin`, `gh-missing`, `gh-not-authenticated`, `gh-failed`.
    """
    problem = _unreachable(repo)
    if problem:
        raise problem
    try:
        done = _gh(repo, ["gh", "repo", "view", "--json", "nameWithOwner"], wait_s)
    except ProcError as error:
        raise Refusal("gh-failed", error.what, fix="gh repo view") from None
    if done.code:
        raise _why(done)


def create_pull(repo: Repo, *, head: str, base: str, title: str, body: str) -> Pull:
    """Make a pull request of a branch that is pushed already, or adopt the open one that is there.

    Raises Refusal `no-origin`, `gh-missing`, `gh-not-authenticated`, `pr-failed`.
    """
    problem = _unreachable(repo)
    if problem:
        raise problem
    argv = ["gh", "pr", "create", "--title", title, "--body-file", "-", "--base", base, "--head", head]
    said: Refusal
    try:
        done = _gh(repo, argv, WRITE_S, stdin=body.encode("utf-8", "backslashreplace"))
    except ProcError as error:
        said = Refusal("gh-failed", error.what)
    else:
        made = _made(done.text, head, base, title) if done.code == 0 else None
        if made:
            return made
        said = _why(done) if done.code else Refusal("gh-failed", "gh did not say which pull request it made")
    if said.code == "gh-not-authenticated":
        raise said
    # It may have been made before all the same: by an earlier run, or by this one before the connection broke.
    pull = ask_pulls(repo, head=head).current(head)
    if pull and pull.state == "OPEN" and pull.base == base:
        return pull
    fix = f"gh pr create --base {base} --head {head}"
    raise Refusal("pr-failed", f"the pull request of {head} could not be made: {said.what}", fix=fix)


def _unreachable(repo: Repo) -> Refusal | None:
    """Return why GitHub cannot even be asked; None when it can."""
    if not repo.lightly().has_origin():
        return no_origin()
    if not _has_gh():
        return Refusal("gh-missing", "gh is not on the PATH", fix="install gh, the command line of GitHub")
    return None


def no_origin() -> Refusal:
    """Return the refusal of what needs a remote."""
    return Refusal("no-origin", NO_ORIGIN, fix="git remote add origin <url>")


def _has_gh() -> bool:
    # Not by shutil, whose import costs more than the search.
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return any(os.access(os.path.join(folder, "gh"), os.X_OK) for folder in folders if folder)


def _gh(repo: Repo, argv: list[str], wait_s: float, *, stdin: bytes = b"") -> Completed:
    kept = {name: value for name, value in clean_env().items() if name not in _SHED}
    # Not where the user stands: a command that removed that work tree would leave gh without a folder.
    where = primary_root(repo)
    try:
        return run_bounded(argv, cwd=where, env={**kept, **_SET}, stdin=stdin, timeout=wait_s)
    except ProcError as error:
        if error.code != "command-timeout":
            raise
        # Its arguments are ours, and tell nobody why the answer is missing.
        raise ProcError(error.code, f"gh did not answer within {wait_s:g} s") from None


def _why(done: Completed) -> Refusal:
    """Put what gh complained of into a code and a sentence."""
    said = " ".join((done.stderr or done.stdout).decode("utf-8", "replace").split())[:300]
    if "none of the git remotes" in said:
        return Refusal("gh-failed", "no remote of this repository is on GitHub", fix="git remote -v")
    if done.code == _NOT_SIGNED_IN or "HTTP 401" in said:
        return Refusal("gh-not-authenticated", "gh is not signed in to GitHub", fix="gh auth login")
    what = f"gh ended with {done.code}: {said}" if said else f"gh ended with {done.code} and said nothing"
    return Refusal("gh-failed", what, fix="gh repo view")


def _read(done: Completed, limit: int) -> Pulls:
    try:
        rows = json.loads(done.stdout)
    except (ValueError, RecursionError):
        return unanswered("gh did not answer with JSON")
    found = [_pull(row) for row in rows] if isinstance(rows, list) else [None]
    if not all(found):
        return unanswered("gh answered with something that is no list of pull requests")
    return Pulls(True, "", tuple(pull for pull in found if pull), whole=len(found) < limit)


def _pull(row: Any) -> Pull | None:
    """Read one pull request; None when a part that decides anything is missing."""
    if not isinstance(row, dict):
        return None
    number, state, cross = row.get("number"), row.get("state"), row.get("isCrossRepository")
    url, head, base = (_text(row.get(key)) for key in ("url", "headRefName", "baseRefName"))
    if not isinstance(number, int) or isinstance(number, bool) or state not in STATES or not isinstance(cross, bool):
        return None
    if not url or not head or not base:
        return None
    return Pull(
        number,
        state,
        url,
        head,
        base,
        title=_text(row.get("title")) or "",
        head_oid=_text(row.get("headRefOid")),
        merged_at=_text(row.get("mergedAt")),
        updated_at=_text(row.get("updatedAt")),
        created_at=_text(row.get("createdAt")),
        cross_repository=cross,
        draft=row.get("isDraft") is True,
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _made(said: str, head: str, base: str, title: str) -> Pull | None:
    """Read the address that gh prints last, such as `https://github.com/o/r/pull/12`."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    url = lines[-1] if lines else ""
    before, _, number = url.rstrip("/").rpartition("/")
    if not before.endswith("/pull") or not number.isdecimal():
        return None
    return Pull(int(number), "OPEN", url, head, base, title)
