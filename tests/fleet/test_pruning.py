from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.fleet import pruning
from morph_tasks.fleet.github import Pull, Pulls, unanswered
from morph_tasks.fleet.pruning import Fate, Pruned, prune
from morph_tasks.repo.git import Repo, open_repo
from tests.conftest import Project

NONE = Pulls(True)


def run(project: Project, pulls: Pulls = NONE, *, remote: bool = False, dry_run: bool = False) -> Pruned:
    return prune(open_repo(project.root), pulls, remote=remote, dry_run=dry_run)


def fate(done: Pruned, branch: str) -> Fate:
    return next(fate for fate in done.fates if fate.branch == branch)


def branches(project: Project) -> set[str]:
    return set(project.git("for-each-ref", "--format=%(refname:short)", "refs/heads").split())


def work_on(project: Project, branch: str, name: str, text: str = "work\n", start: str = "main") -> str:
    project.git("switch", "-q", "-c", branch, start)
    project.write(name, text)
    project.commit(f"work on {branch}")
    tip = project.git("rev-parse", "HEAD")
    project.git("switch", "-q", "main")
    return tip


def squash(project: Project, branch: str) -> None:
    project.git("merge", "-q", "--squash", branch)
    project.git("commit", "-q", "-m", f"squash {branch}")


@pytest.fixture
def shop(project: Project, tmp_path: Path) -> Project:
    """One branch of each kind: merged, squashed, work, in a tree, current."""
    for name in ("merged", "squashed", "work", "treed", "current"):
        work_on(project, name, name)
    project.git("merge", "-q", "--no-ff", "-m", "merge", "merged")
    project.git("merge", "-q", "--no-ff", "-m", "merge", "treed")
    squash(project, "squashed")
    project.git("worktree", "add", "-q", str(tmp_path / "tree"), "treed")
    project.git("merge", "-q", "--no-ff", "-m", "merge", "current")
    project.git("switch", "-q", "current")
    return project


def test_only_what_is_proved_goes_and_can_come_back(shop: Project) -> None:
    shop.git("config", "branch.squashed.remote", "origin")
    tip = shop.git("rev-parse", "squashed")
    done = run(shop)
    assert {one.branch: (one.state, one.kept, one.deleted) for one in done.fates} == {
        "merged": ("merged-ancestral", None, True),
        "squashed": ("merged-squash", None, True),
        "work": ("unmerged", "unmerged", False),
        "treed": ("in-worktree", "in-worktree", False),
    }
    assert branches(shop) == {"main", "current", "work", "treed"}
    assert "branch.squashed" not in shop.git("config", "--list")
    restore = fate(done, "squashed").restore
    assert restore == f"git branch squashed {tip}"
    subprocess.run(restore, shell=True, cwd=shop.root, check=True)
    assert shop.git("rev-parse", "squashed") == tip


@pytest.mark.parametrize(("length", "each"), [(1, 3), (2, 5)])
def test_a_branch_more_costs_few_processes(
    project: Project, monkeypatch: pytest.MonkeyPatch, length: int, each: int
) -> None:
    lines = ["commit refs/heads/main", "mark :1", "committer a <a@e> 1700000000 +0000", "data 0", ""]
    for number in range(8):
        for step in range(length):
            lines += [f"commit refs/heads/b{number}", "committer a <a@e> 1700000001 +0000", "data 0"]
            lines += [] if step else ["from :1"]
            lines += [f"M 100644 inline f{number}", "data 1", str(step), ""]
    lines += ["commit refs/heads/main", "committer a <a@e> 1700000002 +0000", "data 0", "from :1"]
    lines += ["M 100644 inline other", "data 1", "x", ""]
    made = "\n".join(lines).encode()
    subprocess.run(["git", "fast-import", "--quiet", "--force"], cwd=project.root, input=made, check=True)
    asked: list[str] = []
    real = Repo.run

    def counted(self: Repo, *words: str, **options: Any) -> Any:
        asked.append(words[0])
        return real(self, *words, **options)

    monkeypatch.setattr(Repo, "run", counted)
    done = run(project, dry_run=True)
    assert [fate.state for fate in done.fates] == ["unmerged"] * 8, [fate.evidence for fate in done.fates]
    assert len(asked) <= 8 * each + 15, Counter(asked)


def test_a_dry_run_finds_the_same_and_deletes_nothing(shop: Project) -> None:
    before = branches(shop)
    plan = run(shop, dry_run=True)
    assert branches(shop) == before
    assert not any(one.deleted for one in plan.fates)
    done = run(shop)
    assert [(one.branch, one.state, one.kept) for one in plan.fates] == [
        (one.branch, one.state, one.kept) for one in done.fates
    ]


def test_a_branch_that_moved_meanwhile_stays(shop: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    new = shop.git("rev-parse", "work")
    real = pruning.branches_in_use

    def meanwhile(repo: object) -> dict[str, str]:
        shop.git("branch", "-f", "merged", new)
        shop.git("branch", "-D", "squashed")
        return real(repo)  # type: ignore[arg-type]

    monkeypatch.setattr(pruning, "branches_in_use", meanwhile)
    done = run(shop)
    assert (fate(done, "merged").kept, fate(done, "squashed").kept) == ("moved", "gone")
    assert shop.git("rev-parse", "merged") == new


def test_a_branch_that_was_checked_out_meanwhile_stays(
    shop: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = pruning.branches_in_use

    def meanwhile(repo: object) -> dict[str, str]:
        shop.git("worktree", "add", "-q", str(tmp_path / "late"), "merged")
        return real(repo)  # type: ignore[arg-type]

    monkeypatch.setattr(pruning, "branches_in_use", meanwhile)
    assert fate(run(shop), "merged").kept == "in-worktree"
    assert "merged" in branches(shop)


def test_another_name_of_a_branch_is_not_followed(shop: Project) -> None:
    shop.git("symbolic-ref", "refs/heads/old-name", "refs/heads/work")
    done = run(shop)
    assert "old-name" not in [one.branch for one in done.fates]
    assert shop.git("rev-parse", "old-name") == shop.git("rev-parse", "work")


def test_nothing_goes_without_a_default_branch(project: Project) -> None:
    project.git("branch", "feat")
    project.git("branch", "-m", "main", "trunk")
    project.git("branch", "other")
    done = run(project)
    assert done.default is None
    assert {one.kept for one in done.fates} == {"unmerged"} and "feat" in branches(project)


@pytest.fixture
def cart(project: Project) -> Iterator[Project]:
    """A feature in work whose branch has nothing that main has not; main is checked out."""
    said = project.morph("create", "cart", "--type", "chore", "--description", "A cart", "--no-checkout")
    assert said.code == 0, said.err
    yield project


def test_the_branch_of_a_feature_in_work_stays(cart: Project) -> None:
    done = fate(run(cart), "morph/cart")
    assert (done.state, done.kept) == ("merged-ancestral", "active-feature")
    assert "morph/cart" in branches(cart)


def record(project: Project, text: str) -> None:
    """Commit a record of the feature on its branch and merge it; nothing of it is on disk in the end."""
    project.git("switch", "-q", "morph/cart")
    project.write(".morph/features/cart/feature.json", text)
    project.commit("record")
    project.git("switch", "-q", "main")
    project.git("merge", "-q", "--no-ff", "-m", "merge", "morph/cart")
    project.git("rm", "-rqf", ".morph/features/cart")
    project.git("commit", "-q", "-m", "without it")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ('{"status": "in_progress"}', "active-feature"),
        ("{}", "active-feature"),
        ("not json", "active-feature"),
        ("[]", "active-feature"),
        ('{"status": "abandoned"}', None),
        ('{"status": "archived"}', None),
    ],
)
def test_the_record_on_the_branch_decides(project: Project, text: str, kept: str | None) -> None:
    project.git("branch", "morph/cart")
    record(project, text)
    assert fate(run(project), "morph/cart").kept == kept


def test_an_archive_on_the_branch_ends_it(cart: Project) -> None:
    cart.git("switch", "-q", "morph/cart")
    cart.commit("record")
    data = json.loads((cart.root / ".morph/features/cart/feature.json").read_text())
    cart.git("mv", ".morph/features/cart", ".morph/other")
    cart.write(".morph/archive/cart/feature.json", json.dumps({**data, "status": "archived"}))
    cart.commit("archive")
    cart.git("switch", "-q", "main")
    cart.git("merge", "-q", "--no-ff", "-m", "merge", "morph/cart")
    # A copy that an older tool left here.
    cart.write(".morph/features/cart/feature.json", json.dumps(data))
    assert fate(run(cart), "morph/cart").deleted


# -- at origin


@pytest.fixture
def pushed(project: Project, origin: Path) -> Project:
    """Merged and squashed branches, pushed together with main."""
    for name in ("merged", "squashed"):
        work_on(project, name, name)
        project.git("push", "-q", "origin", name)
    project.git("merge", "-q", "--no-ff", "-m", "merge", "merged")
    squash(project, "squashed")
    project.git("push", "-q", "origin", "main")
    return project


def at_origin(origin: Path) -> set[str]:
    said = subprocess.run(
        ["git", "for-each-ref", "--format=%(refname:short)", "refs/heads"], cwd=origin, capture_output=True, text=True
    )
    return set(said.stdout.split())


def test_origin_is_left_alone_unless_asked(pushed: Project, origin: Path) -> None:
    run(pushed)
    assert at_origin(origin) == {"main", "merged", "squashed"}


def test_at_origin_what_is_proved_goes(pushed: Project, origin: Path) -> None:
    assert run(pushed, remote=True, dry_run=True).fates[0].remote
    assert at_origin(origin) == {"main", "merged", "squashed"}
    done = run(pushed, remote=True)
    assert at_origin(origin) == {"main"} and not done.problems
    assert [one.remote.deleted for one in done.fates if one.remote] == [True, True]


def test_a_merge_that_was_not_pushed_keeps_the_branch_at_origin(pushed: Project, origin: Path) -> None:
    work_on(pushed, "local", "local")
    pushed.git("push", "-q", "origin", "local")
    pushed.git("merge", "-q", "--no-ff", "-m", "merge", "local")
    done = fate(run(pushed, remote=True), "local")
    assert done.deleted and done.remote and done.remote.kept == "not-proved"
    assert "local" in at_origin(origin)


def test_commits_that_only_origin_has_stay(pushed: Project, origin: Path, tmp_path: Path) -> None:
    other = Project(tmp_path / "other")
    pushed.git("clone", "-q", str(origin), str(other.root))
    other.git("switch", "-q", "merged")
    other.write("more", "x\n")
    other.commit("more")
    other.git("push", "-q")
    for _ in range(2):  # before the fetch, and after it
        done = fate(run(pushed, remote=True, dry_run=True), "merged")
        assert done.kept is None and done.remote and done.remote.kept == "not-proved"
        pushed.git("fetch", "-q")


def test_a_squash_with_github_unheard_stays_at_origin(pushed: Project, origin: Path) -> None:
    done = run(pushed, unanswered("gh is not on the PATH"), remote=True)
    squashed, merged = fate(done, "squashed"), fate(done, "merged")
    assert squashed.deleted and squashed.remote and squashed.remote.kept == "not-verified"
    assert merged.deleted and merged.remote and merged.remote.deleted
    assert at_origin(origin) == {"main", "squashed"}


def test_open_pull_requests_keep_both_their_branches(pushed: Project, origin: Path) -> None:
    pulls = Pulls(True, "", (Pull(1, "OPEN", "u", "squashed", "main"), Pull(2, "OPEN", "u", "next", "merged")))
    done = run(pushed, pulls, remote=True)
    squashed, merged = fate(done, "squashed"), fate(done, "merged")
    assert (squashed.state, squashed.kept) == ("open", "open") and squashed.remote and squashed.remote.kept == "open"
    assert merged.deleted and merged.remote and merged.remote.kept == "base-of-open"
    assert at_origin(origin) == {"main", "merged", "squashed"}


def test_what_origin_refuses_is_told(pushed: Project, origin: Path) -> None:
    (origin / "hooks/pre-receive").write_text("#!/bin/sh\necho no deletion here >&2\nexit 1\n")
    (origin / "hooks/pre-receive").chmod(0o755)
    done = run(pushed, remote=True)
    assert len(done.problems) == 2 and "no deletion here" in done.problems[0]
    merged = fate(done, "merged")
    assert merged.deleted and merged.remote and merged.remote.kept == "refused"
    assert at_origin(origin) == {"main", "merged", "squashed"}


def test_origin_that_moves_meanwhile_wins(pushed: Project, origin: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = pruning.branches_in_use

    def meanwhile(repo: object) -> dict[str, str]:
        subprocess.run(["git", "branch", "-f", "merged", "squashed"], cwd=origin, check=True)
        return real(repo)  # type: ignore[arg-type]

    monkeypatch.setattr(pruning, "branches_in_use", meanwhile)
    done = fate(run(pushed, remote=True), "merged")
    assert done.deleted and done.remote and done.remote.kept == "refused"
    assert at_origin(origin) >= {"merged"}


def test_without_an_origin_that_answers_nothing_is_done(shop: Project, tmp_path: Path) -> None:
    before = branches(shop)
    with pytest.raises(Refusal) as caught:
        run(shop, remote=True)
    assert caught.value.code == "no-origin"
    shop.git("remote", "add", "origin", str(tmp_path / "nowhere"))
    with pytest.raises(Refusal) as caught:
        run(shop, remote=True)
    assert caught.value.code == "origin-unreachable"
    assert branches(shop) == before
