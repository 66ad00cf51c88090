from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from morph_tasks.features.overview import everywhere
from morph_tasks.fleet import journal as journals
from morph_tasks.fleet.github import NO_ORIGIN, Pull, Pulls, unanswered
from morph_tasks.fleet.prs import PendingPull, pending
from morph_tasks.repo.git import open_repo
from tests.conftest import Project


def pulls(state: str = "OPEN", head: str = "morph/cart", days: float = 3.5, **other: object) -> Pulls:
    made = (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="seconds").replace("+00:00", "Z")
    pull = Pull(7, state, "https://github.com/acme/shop/pull/7", head, "main", created_at=made)
    return Pulls(True, "", (Pull(**{**pull.__dict__, **other}),))


def waiting(project: Project, answer: Pulls) -> list[PendingPull]:
    return pending(open_repo(project.root), answer)


@pytest.fixture
def finished(project: Project) -> Project:
    """A feature that is archived on its branch and nowhere else."""
    project.git("switch", "-q", "-c", "morph/cart")
    project.write(".morph/archive/cart/feature.json", '{"status": "archived", "workType": "bug", "description": "d"}')
    project.commit("archive")
    project.git("switch", "-q", "main")
    return project


def test_a_feature_that_waits_for_its_merge(finished: Project) -> None:
    [one] = waiting(finished, pulls())
    assert (one.slug, one.branch, one.pull.number, one.days) == ("cart", "morph/cart", 7, 3)
    assert one.tip == finished.git("rev-parse", "morph/cart")
    row = one.row
    assert (row.phase, row.flags, row.where, row.source) == (
        "aguardando-merge", ("pr-pending",), "branch morph/cart", "branch"
    )  # fmt: skip
    assert (row.description, row.work_type) == ("waiting for its merge for 3d — no local copy", "bug")


def test_a_time_that_github_did_not_tell(finished: Project) -> None:
    for when in (None, "yesterday", ""):
        [one] = waiting(finished, pulls(created_at=when))
        assert one.days is None and one.row.description == "waiting for its merge — no local copy"
    [one] = waiting(finished, pulls(days=-1))
    assert one.days == 0


@pytest.mark.parametrize(
    "answer",
    [
        pulls("MERGED"),
        pulls(head="morph/other"),
        pulls(cross_repository=True),
        unanswered(NO_ORIGIN),
        Pulls(True),
    ],
)
def test_without_a_pull_request_of_its_own_nothing_waits(finished: Project, answer: Pulls) -> None:
    assert waiting(finished, answer) == []


CUT = Pulls(True, "", (), whole=False)


@pytest.mark.parametrize("answer", [unanswered("gh is not on the PATH"), CUT, pulls("CLOSED")])
def test_work_that_nothing_shows_to_be_merged_is_not_left_out(finished: Project, answer: Pulls) -> None:
    [one] = waiting(finished, answer)
    closed = bool(answer.items)
    assert one.flags == one.row.flags == (("pr-closed",) if closed else ("pr-unverified",))
    assert (one.pull is not None) is closed and one.row.phase == ("archived" if closed else "aguardando-merge")
    assert ("closed without a merge" if closed else "is not known") in one.row.description
    # The same archive came in under another commit.
    finished.git("merge", "-q", "--squash", "morph/cart")
    finished.git("commit", "-q", "-m", "squashed")
    assert waiting(finished, answer) == []


def test_an_abandoned_feature_waits_for_nothing(finished: Project) -> None:
    finished.git("switch", "-q", "morph/cart")
    finished.write(".morph/archive/cart/feature.json", '{"status": "abandoned"}')
    finished.commit("abandoned")
    finished.git("switch", "-q", "main")
    assert waiting(finished, pulls("CLOSED")) == waiting(finished, unanswered("gh is not on the PATH")) == []


def journal(project: Project, state: str, **steps: object) -> None:
    repo = open_repo(project.root)
    made = journals.start(repo, "cart", {"mode": "pr", "default": "main", "options": {"force": True, "keep": False}})
    for name, facts in steps.items():
        made.done(name, **{name: facts} if not isinstance(facts, dict) else facts)
    made.close(state)


def test_the_journal_tells_the_pull_request_that_github_does_not(finished: Project) -> None:
    journal(finished, "done", integrate={"pr": {"number": 7, "url": "https://github.com/acme/shop/pull/7"}})
    [one] = waiting(finished, unanswered("HTTP 502"))
    assert one.pull and one.pull.as_json() == {
        "number": 7, "state": None, "url": "https://github.com/acme/shop/pull/7"
    }  # fmt: skip
    [path] = (open_repo(finished.root).store / "finish/cart").iterdir()
    path.write_text("{")
    [one] = waiting(finished, unanswered("HTTP 502"))
    assert one.pull is None


@pytest.mark.parametrize(
    ("state", "flag", "command"),
    [
        ("open", "finish-unfinished", "morph-spec finish cart --pr --force"),
        ("undoing", "undo-unfinished", "morph-spec undo cart"),
    ],
)
def test_what_was_broken_off_is_shown_wherever_it_is(finished: Project, state: str, flag: str, command: str) -> None:
    journal(finished, state)
    [one] = waiting(finished, Pulls(True))
    assert one.flags == (flag,) and one.row.description == f"broken off, goes on with: {command}"
    finished.git("merge", "-q", "--no-ff", "-m", "merge", "morph/cart")
    finished.git("branch", "-q", "-D", "morph/cart")
    [one] = waiting(finished, Pulls(True))
    assert (one.flags, one.row.where, one.tip) == ((flag,), "root", None)
    [path] = (open_repo(finished.root).store / "finish/cart").iterdir()
    path.write_text('"open"')
    assert waiting(finished, Pulls(True)) == []


def test_a_living_tree_that_has_it_in_its_archive(finished: Project) -> None:
    tree = finished.root / "worktrees/cart"
    finished.git("worktree", "add", "-q", str(tree), "morph/cart")
    [one] = waiting(finished, pulls())
    assert (one.row.where, one.row.tree) == ("worktree worktrees/cart", str(tree))
    assert one.row.description == "waiting for its merge for 3d"
    found = everywhere(open_repo(finished.root), archived=True)
    assert [(view.slug, view.where) for view in found.archived] == [("cart", "worktree worktrees/cart")]
    assert [view.where for view in everywhere(open_repo(tree), archived=True).archived] == ["worktree worktrees/cart"]


def test_what_is_merged_here_or_at_origin_does_not_wait(finished: Project, origin: Path) -> None:
    finished.git("merge", "-q", "--no-ff", "-m", "merge", "morph/cart")
    assert waiting(finished, pulls()) == []
    finished.git("push", "-q", "origin", "main")
    finished.git("reset", "-q", "--hard", "HEAD~1")
    assert waiting(finished, pulls()) == []


def test_a_feature_in_work_with_an_open_pull_request_does_not_wait(finished: Project) -> None:
    finished.git("switch", "-q", "morph/cart")
    finished.write(".morph/features/cart/feature.json", "{}")
    finished.commit("opened again")
    assert waiting(finished, pulls()) == []


def test_it_waits_also_where_its_branch_is_checked_out(finished: Project) -> None:
    finished.git("switch", "-q", "morph/cart")
    assert [one.slug for one in waiting(finished, pulls())] == ["cart"]


def test_without_a_default_branch_github_decides(finished: Project) -> None:
    finished.git("branch", "-m", "main", "trunk")
    finished.git("branch", "other")
    assert [one.slug for one in waiting(finished, pulls())] == ["cart"]
