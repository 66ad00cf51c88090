from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from morph_tasks.fleet.github import Pull, Pulls, unanswered
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
        pulls("CLOSED"),
        pulls(head="morph/other"),
        pulls(cross_repository=True),
        unanswered("gh is not on the PATH"),
        Pulls(True),
    ],
)
def test_without_an_open_pull_request_of_its_own_nothing_waits(finished: Project, answer: Pulls) -> None:
    assert waiting(finished, answer) == []


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
