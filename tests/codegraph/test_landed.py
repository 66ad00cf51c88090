from __future__ import annotations

import pytest

from morph_tasks.codegraph.landed import anything_new, arrivals, how_many, not_held
from morph_tasks.errors import Refusal
from morph_tasks.repo.git import Repo, open_repo
from tests.conftest import Project

ODD = 'a "odd"\nnäme.py'


def merge(project: Project, branch: str, files: dict[str, str], *, message: str = "", squash: bool = False) -> str:
    """Bring a branch with one commit into main; return the commit of main."""
    here = project.git("rev-parse", "--abbrev-ref", "HEAD")
    project.git("switch", "-q", "-c", branch, "main")
    for name, text in files.items():
        project.write(name, text)
    project.commit(f"work of {branch}")
    project.git("switch", "-q", "main")
    if squash:
        project.git("merge", "-q", "--squash", branch)
        project.git("commit", "-q", "-m", message)
    else:
        project.git("merge", "-q", "--no-ff", branch, "-m", message or f"Merge branch '{branch}'")
    tip = project.git("rev-parse", "main")
    project.git("switch", "-q", here)
    return tip


@pytest.fixture
def started(project: Project) -> tuple[Project, Repo, str]:
    """A project, and the commit that a plan was written against."""
    return project, open_repo(project.root), project.git("rev-parse", "main")


def test_merges_with_their_feature_and_their_files(started: tuple[Project, Repo, str]) -> None:
    project, repo, base = started
    first = merge(project, "morph/tea", {ODD: "1", "x.py": "1"})
    second = merge(project, "morph/beer", {"y.py": "1"}, message="Merge pull request #7 from acme/morph/beer")
    found = arrivals(repo, [base], [second], [ODD, "y.py"])
    assert [(one.commit, one.feature, one.merge, one.files) for one in found] == [
        (second, "beer", True, ("y.py",)),
        (first, "tea", True, (ODD,)),
    ]
    assert how_many(repo, [base], [second], merges=True) == 2


def test_a_squash_is_known_by_what_it_archives(started: tuple[Project, Repo, str]) -> None:
    project, repo, base = started
    files = {"x.py": "1", ".morph/archive/tea/feature.json": "{}"}
    tip = merge(project, "morph/tea", files, message="Tea (#9)", squash=True)
    [one] = arrivals(repo, [base], [tip], ["x.py"])
    assert (one.feature, one.merge, "x.py" in one.files) == ("tea", False, True)


def test_a_commit_that_archives_several_features_is_of_none(started: tuple[Project, Repo, str]) -> None:
    project, repo, base = started
    files = {"x.py": "1", ".morph/archive/tea/feature.json": "{}", ".morph/archive/beer/feature.json": "{}"}
    tip = merge(project, "side", files, message="Drinks (#9)", squash=True)
    assert [one.feature for one in arrivals(repo, [base], [tip], ["x.py"])] == [None]


@pytest.mark.parametrize("subject", ["Fix morph/teapot/lid", "xmorph/tea", "morph/Tea", "no branch at all"])
def test_a_subject_that_names_no_branch(started: tuple[Project, Repo, str], subject: str) -> None:
    project, repo, base = started
    tip = merge(project, "side", {"x.py": "1"}, message=subject)
    assert [one.feature for one in arrivals(repo, [base], [tip], ["x.py"])] == [None]


def test_many_paths_are_asked_for_all_at_once(started: tuple[Project, Repo, str]) -> None:
    project, repo, base = started
    tip = merge(project, "morph/tea", {"x.py": "1", "z.py": "1"})
    [one] = arrivals(repo, [base], [tip], [f"f{number}" for number in range(500)])
    assert one.files == ("x.py", "z.py")


def test_patterns_in_names_are_names(started: tuple[Project, Repo, str]) -> None:
    project, repo, base = started
    tip = merge(project, "morph/tea", {"x.py": "1"})
    assert arrivals(repo, [base], [tip], ["*.py", ":(top)x.py"]) == []


def test_what_is_new_and_what_this_tree_lacks(started: tuple[Project, Repo, str]) -> None:
    project, repo, base = started
    assert anything_new(repo, [base], [base]) is False
    project.git("switch", "-q", "-c", "morph/cart")
    first = merge(project, "morph/tea", {"x.py": "1"})
    project.git("merge", "-q", "main", "-m", "take it in")
    second = merge(project, "morph/beer", {"y.py": "1"})
    assert anything_new(repo, [base], [second]) is True
    missing = not_held(repo, [base], [second])
    assert second in missing and first not in missing


def test_a_base_that_is_not_here_is_refused(started: tuple[Project, Repo, str]) -> None:
    project, repo, base = started
    with pytest.raises(Refusal) as refused:
        anything_new(repo, ["0" * 40], [base])
    assert refused.value.code == "base-missing"
    clone = project.root.parent / "clone"
    project.git("clone", "-q", "--depth", "1", f"file://{project.root}", str(clone))
    with pytest.raises(Refusal, match="shallow"):
        anything_new(open_repo(clone), [base], [base])
