from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from morph_tasks.features.onbranch import local_branches
from morph_tasks.fleet.branches import Survey, classify, contained
from morph_tasks.fleet.github import Pull, Pulls, unanswered
from morph_tasks.repo.git import Repo, open_repo
from morph_tasks.repo.scratch import scratch_objects
from tests.conftest import Project

NONE = Pulls(True)
OFFLINE = unanswered("gh is not on the PATH")


def state(project: Project, branch: str = "feat", pulls: Pulls = NONE, default: str | None = "main") -> str:
    return classify(open_repo(project.root), branch, default=default, pulls=pulls).state


def evidence(project: Project, branch: str = "feat", pulls: Pulls = NONE) -> str:
    return classify(open_repo(project.root), branch, default="main", pulls=pulls).evidence


def change(project: Project, name: str, text: str, message: str = "work") -> str:
    project.write(name, text)
    project.commit(message)
    return project.git("rev-parse", "HEAD")


def pull(head: str, state: str = "OPEN", **other: object) -> Pulls:
    return Pulls(True, "", (Pull(7, state, "https://github.com/acme/shop/pull/7", head, "main", **other),))  # type: ignore[arg-type]


def objects(project: Project) -> set[str]:
    return set(project.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)").splitlines())


@pytest.fixture
def feat(project: Project) -> Project:
    """Branch `feat` with two commits on the same file; main is checked out and has not moved."""
    change(project, "f", "1\n2\n3\n", "base")
    project.git("switch", "-q", "-c", "feat")
    change(project, "f", "1\n2\n3\na\n", "a")
    change(project, "f", "1\n2\n3\na\nb\n", "b")
    project.git("switch", "-q", "main")
    return project


def squash(project: Project, branch: str = "feat") -> None:
    project.git("merge", "-q", "--squash", branch)
    project.git("commit", "-q", "-m", f"squash {branch}")


def test_work_that_is_nowhere_else(feat: Project) -> None:
    assert state(feat) == "unmerged"
    assert evidence(feat) == "2 commits are not in main"


def test_git_proves_a_merge(feat: Project) -> None:
    feat.git("merge", "-q", "--no-ff", "-m", "merge", "feat")
    assert state(feat) == "merged-ancestral"
    assert evidence(feat).startswith("main has its commit")


def test_a_branch_without_commits_of_its_own(project: Project) -> None:
    project.git("branch", "feat")
    change(project, "x", "1\n")
    assert state(project) == "merged-ancestral"


def test_squash_as_it_was(feat: Project) -> None:
    squash(feat)
    assert state(feat, pulls=OFFLINE) == "merged-squash"
    assert evidence(feat) == "main has the very same files"


def test_squash_that_was_edited_later(feat: Project) -> None:
    squash(feat)
    change(feat, "f", "1\n2\n3\nA2\nb\n", "later")
    assert state(feat, pulls=OFFLINE) == "merged-squash"
    assert "one commit of main" in evidence(feat)


def test_squash_onto_a_default_branch_that_had_moved(feat: Project) -> None:
    change(feat, "other", "x\n")
    squash(feat)
    change(feat, "f", "gone\n", "rewritten")
    assert state(feat) == "merged-squash"


def test_commits_that_were_rebased_one_by_one(feat: Project) -> None:
    change(feat, "other", "x\n")
    feat.git("cherry-pick", "feat~1", "feat")
    change(feat, "f", "1\n2\n3\nA2\nb\n", "later")
    assert state(feat) == "merged-squash"
    assert "each of its commits" in evidence(feat)


def test_one_of_two_commits_is_not_enough(feat: Project) -> None:
    feat.git("cherry-pick", "feat~1")
    assert state(feat) == "unmerged"


def test_one_more_commit_after_the_squash(feat: Project) -> None:
    squash(feat)
    feat.git("switch", "-q", "feat")
    change(feat, "more", "x\n")
    feat.git("switch", "-q", "main")
    assert state(feat) == "unmerged"


def test_white_space_can_be_the_work(project: Project) -> None:
    body = "def f():\n    for x in y:\n        a()\n"
    change(project, "f.py", body)
    project.git("switch", "-q", "-c", "feat")
    change(project, "f.py", body + "    b()\n")
    project.git("switch", "-q", "main")
    change(project, "f.py", body + "        b()\n")
    change(project, "f.py", "later\n")

    repo = open_repo(project.root)
    cherry = repo.text("cherry", "main", "feat")
    assert cherry.startswith("- "), "git takes the two for the same, or this test shows nothing"
    assert state(project) == "unmerged"


def test_an_attempt_with_other_white_space_that_was_taken_back(project: Project) -> None:
    """Merging would bring nothing, for the rest is there; how it was tried is nowhere else."""
    change(project, "f.py", "if a:\n    b()\n")
    project.git("branch", "feat")
    change(project, "other", "x\n")
    for branch, indent in (("feat", "  "), ("main", "      ")):
        project.git("switch", "-q", branch)
        for name, text in (("one", "1\n"), ("two", "2\n"), ("f.py", f"if a:\n{indent}b()\n")):
            change(project, name, text)
        change(project, "f.py", "if a:\n    b()\n")
    change(project, "one", "later\n")

    cherry = open_repo(project.root).text("cherry", "main", "feat")
    assert "+" not in cherry, "git takes the two for the same, or this test shows nothing"
    assert state(project) == "unmerged"


def test_a_branch_inside_of_a_larger_squash(feat: Project) -> None:
    """Somebody merged two branches in one commit: no single change is alike, but nothing is missing."""
    change(feat, "f", "1\n2\n3\na\nb\n", "all of it")
    change(feat, "g", "x\n", "and more")
    assert state(feat) == "merged-squash"
    feat.git("switch", "-q", "feat")
    change(feat, "h", "y\n", "half of it is there")
    feat.git("switch", "-q", "main")
    assert state(feat) == "unmerged"


def test_merging_would_change_nothing(feat: Project) -> None:
    feat.write("f", "1\n2\n3\na\nb\n")
    feat.write("g", "in the same commit\n")
    feat.commit("both")
    assert state(feat) == "merged-squash"
    assert evidence(feat) == "merging it would change nothing in main"


def test_an_attempt_that_was_taken_back_is_nowhere_else(project: Project) -> None:
    project.git("switch", "-q", "-c", "feat")
    change(project, "try", "an idea\n")
    project.git("revert", "--no-edit", "HEAD")
    project.git("switch", "-q", "main")
    assert state(project) == "unmerged" and "take each other back" in evidence(project)
    change(project, "other", "x\n")
    assert state(project) == "unmerged"


def test_commits_that_change_nothing(project: Project) -> None:
    project.git("switch", "-q", "-c", "feat")
    project.git("commit", "-q", "--allow-empty", "-m", "nothing")
    project.git("switch", "-q", "main")
    assert state(project) == "merged-squash"
    change(project, "other", "x\n")
    assert state(project) == "merged-squash"


def test_modes_links_and_bytes_count(project: Project) -> None:
    (project.root / "bin").write_bytes(bytes(range(256)))
    (project.root / "run").write_text("echo\n")
    project.commit("base")
    project.git("switch", "-q", "-c", "feat")
    (project.root / "bin").write_bytes(bytes(range(255, -1, -1)))
    (project.root / "link").symlink_to("run")
    (project.root / "run").chmod(0o755)
    project.commit("all kinds")
    project.git("switch", "-q", "main")
    squash(project)
    change(project, "run", "later\n")
    assert state(project) == "merged-squash"
    project.git("reset", "-q", "--hard", "HEAD~1")
    (project.root / "bin").write_bytes(b"\0other")
    project.git("commit", "-q", "-a", "--amend", "-m", "not the same bytes")
    assert state(project) == "unmerged"


def test_several_merge_bases(project: Project) -> None:
    change(project, "f", "1\n")
    project.git("switch", "-q", "-c", "feat")
    change(project, "a", "a\n")
    project.git("switch", "-q", "main")
    change(project, "b", "b\n")
    first = project.git("rev-parse", "main")
    project.git("merge", "-q", "--no-edit", "feat")
    project.git("switch", "-q", "feat")
    project.git("merge", "-q", "--no-edit", first)
    change(project, "c", "c\n")
    project.git("switch", "-q", "main")
    assert len(project.git("merge-base", "--all", "main", "feat").split()) == 2
    assert state(project) == "unmerged"
    change(project, "c", "c\n", "squash")
    change(project, "d", "d\n")
    assert state(project) == "merged-squash"


def test_the_default_branch_at_origin_counts(feat: Project, origin: Path) -> None:
    squash(feat)
    feat.git("push", "-q", "origin", "main")
    feat.git("reset", "-q", "--hard", "main~1")
    assert state(feat) == "merged-squash"
    assert evidence(feat) == "origin/main has the very same files"


def test_a_default_branch_that_was_renamed(feat: Project) -> None:
    squash(feat)
    feat.git("branch", "-m", "main", "trunk")
    assert state(feat, default="trunk") == "merged-squash"
    assert state(feat, default="main") == "unmerged"
    assert "the default branch is not known" in evidence(feat)
    assert state(feat, default=None) == "unmerged"


def test_an_open_pull_request_keeps_even_a_merged_branch(feat: Project) -> None:
    squash(feat)
    assert state(feat, pulls=pull("feat")) == "open"
    assert evidence(feat, pulls=pull("feat")) == "pull request #7 is open"
    assert state(feat, pulls=pull("feat", cross_repository=True)) == "merged-squash"
    assert state(feat, pulls=pull("feat2")) == "merged-squash"


def test_a_merged_pull_request_proves_its_own_commit(feat: Project) -> None:
    tip, before = feat.git("rev-parse", "feat"), feat.git("rev-parse", "feat~1")
    assert state(feat, pulls=pull("feat", "MERGED", head_oid=tip)) == "merged-squash"
    assert state(feat, pulls=pull("other-name", "MERGED", head_oid=tip)) == "merged-squash"
    assert state(feat, pulls=pull("feat", "CLOSED", head_oid=tip)) == "unmerged"
    # Commits after the merge.
    assert state(feat, pulls=pull("feat", "MERGED", head_oid=before)) == "unmerged"
    assert f"not with {tip[:10]}" in evidence(feat, pulls=pull("feat", "MERGED", head_oid=before))
    # A branch of a fork only has the same name.
    assert "#7" not in evidence(feat, pulls=pull("feat", "MERGED", head_oid=before, cross_repository=True))
    # An object that is not here.
    assert state(feat, pulls=pull("feat", "MERGED", head_oid="1" * 40)) == "unmerged"
    assert state(feat, pulls=pull("feat", "MERGED")) == "unmerged"


def test_a_branch_behind_what_was_merged(feat: Project) -> None:
    whole = feat.git("rev-parse", "feat")
    feat.git("branch", "-f", "kept", whole)
    feat.git("branch", "-f", "feat", "feat~1")
    assert state(feat, pulls=pull("feat", "MERGED", head_oid=whole)) == "merged-squash"


def test_a_pull_request_into_another_branch_proves_nothing(feat: Project) -> None:
    tip = feat.git("rev-parse", "feat")
    into = Pulls(True, "", (Pull(7, "MERGED", "u", "feat", "morph/base", head_oid=tip),))
    assert state(feat, pulls=into) == "unmerged"
    assert "merged into morph/base" in evidence(feat, pulls=into)


def test_what_github_did_not_say_is_told(feat: Project) -> None:
    assert "not verified: gh is not on the PATH" in evidence(feat, pulls=OFFLINE)


@pytest.mark.parametrize("what", ["living", "gone", "rebase", "bisect", "update-refs"])
def test_a_branch_that_a_work_tree_uses(feat: Project, tmp_path: Path, what: str) -> None:
    feat.git("merge", "-q", "--no-ff", "-m", "merge", "feat")
    tree = tmp_path / "a tree\nwith 'signs'"
    feat.git("worktree", "add", "-q", str(tree), "feat")
    inside = Project(tree)
    if what == "gone":
        os.rename(tree, tmp_path / "moved")
    if what in ("rebase", "update-refs"):
        feat.git("branch", "below", "feat~1")
        options = ["--update-refs"] if what == "update-refs" else []
        subprocess.run(
            ["git", "rebase", "-q", "-i", "--keep-base", "--exec", "false", *options, "main~1"], cwd=tree,
            capture_output=True, env={**os.environ, "GIT_SEQUENCE_EDITOR": "true"},
        )  # fmt: skip
        assert inside.git("rev-parse", "--abbrev-ref", "HEAD") == "HEAD"
    if what == "bisect":
        inside.git("bisect", "start", "feat", "feat~2")
        assert inside.git("rev-parse", "--abbrev-ref", "HEAD") == "HEAD"
    assert state(feat) == "in-worktree"
    if what == "update-refs":
        assert state(feat, "below") == "in-worktree"


def test_a_shallow_clone_cannot_know(feat: Project, tmp_path: Path) -> None:
    feat.git("merge", "-q", "--no-ff", "-m", "merge", "feat")
    change(feat, "f", "later\n")
    clone = Project(tmp_path / "sh")
    feat.git("clone", "-q", "--depth=1", "--no-single-branch", f"file://{feat.root}", str(clone.root))
    clone.git("branch", "feat", "origin/feat")
    repo = open_repo(clone.root)
    assert contained(repo, "feat", "main") is None
    assert state(clone) == "unmerged"
    assert "shallow, so it cannot be known" in evidence(clone)
    # What is there still proves: the very commit of main.
    clone.git("branch", "same", "main")
    assert state(clone, "same") == "merged-ancestral"


def test_contained_knows_yes_no_and_neither(feat: Project) -> None:
    repo = open_repo(feat.root)
    assert contained(repo, "main", "feat") is True
    assert contained(repo, "feat", "main") is False
    assert contained(repo, "f" * 40, "main") is None


def test_lines_without_a_common_beginning(project: Project) -> None:
    project.git("switch", "-q", "--orphan", "feat")
    change(project, "x", "1\n")
    project.git("switch", "-q", "main")
    assert state(project) == "unmerged" and "no commit in common" in evidence(project)


def test_names_are_refs_and_never_text_of_git_branch(feat: Project, tmp_path: Path) -> None:
    feat.git("worktree", "add", "-q", str(tmp_path / "w"), "-b", "task/one")
    odd = ["-x", "a b"[:1] + "'$(x)", 'say"', "ünï", "@{x"[:1], "task/two"]
    tip = feat.git("rev-parse", "main")
    for name in odd:
        subprocess.run(["git", "update-ref", f"refs/heads/{name}", tip], cwd=feat.root, check=True)
    subprocess.run([b"git", b"update-ref", b"refs/heads/\xff\xfe", tip.encode()], cwd=feat.root, check=True)
    feat.git("switch", "-q", "--detach")
    feat.git("symbolic-ref", "refs/heads/alias", "refs/heads/main")
    found = local_branches(open_repo(feat.root))
    assert set(found) == {"main", "feat", "task/one", *odd, os.fsdecode(b"\xff\xfe")}
    survey = Survey(open_repo(feat.root), "main", NONE)
    assert {survey.classify(name).state for name in odd} == {"merged-ancestral"}
    assert survey.classify(os.fsdecode(b"\xff\xfe")).state == "merged-ancestral"
    assert survey.classify("alias").tip is None


def test_asking_leaves_nothing_in_the_repository(feat: Project) -> None:
    squash(feat)
    change(feat, "f", "1\n2\n3\nA2\nb\n", "later")
    before = objects(feat)
    assert state(feat) == "merged-squash"
    feat.git("switch", "-q", "feat")
    change(feat, "g", "more\n")
    feat.git("switch", "-q", "main")
    change(feat, "h", "else\n")
    before = objects(feat)
    assert state(feat) == "unmerged"
    assert objects(feat) == before


def test_scratch_objects_work_in_folders_with_any_name(tmp_path: Path) -> None:
    root = tmp_path / 'a:b "c"\\d\ne'
    root.mkdir()
    subprocess.run(["git", "init", "-q", "-b", "main", "."], cwd=root, check=True)
    repo = Repo(root, root / ".git", root / ".git")
    repo.git("commit", "-q", "--allow-empty", "-m", "x")
    with scratch_objects(repo) as env:
        made = repo.run("commit-tree", "-p", "HEAD", "-m", "y", "HEAD^{tree}", env=env).text.strip()
        assert repo.run("cat-file", "-t", made, env=env).text.strip() == "commit"
        assert Path(env["GIT_OBJECT_DIRECTORY"]).is_dir()
    assert repo.run("cat-file", "-e", made, ok=range(256)).code
    assert not Path(env["GIT_OBJECT_DIRECTORY"]).exists()


def test_no_identity_signing_or_taste_of_the_user_is_in_the_way(feat: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    squash(feat)
    change(feat, "f", "1\n2\n3\nA2\nb\n", "later")
    for key, value in {
        "user.useConfigOnly": "true", "commit.gpgSign": "true", "gpg.program": "/bin/false", "color.ui": "always",
        "diff.external": "/bin/false", "diff.noprefix": "true", "diff.algorithm": "histogram",
        "log.showSignature": "true",
    }.items():  # fmt: skip
        feat.git("config", key, value)
    Path(os.environ["HOME"], ".gitconfig").write_text("")
    assert state(feat) == "merged-squash"


def test_sha_256(tmp_path: Path) -> None:
    made = Project(tmp_path / "sha")
    made.root.mkdir()
    made.git("init", "-q", "-b", "main", "--object-format=sha256")
    change(made, "f", "1\n")
    made.git("switch", "-q", "-c", "feat")
    change(made, "f", "1\n2\n")
    made.git("switch", "-q", "main")
    assert state(made) == "unmerged"
    squash(made)
    change(made, "f", "later\n")
    assert state(made) == "merged-squash"


@pytest.mark.parametrize("setting", ["attribute", "default"])
def test_a_driver_that_keeps_ours_proves_nothing(project: Project, setting: str) -> None:
    change(project, "lock", "".join(f"{number}\n" for number in range(9)))
    if setting == "attribute":
        change(project, ".gitattributes", "lock merge=ours\n")
    project.git("config", "merge.ours.driver", "true")
    project.git("config", "merge.default", "ours" if setting == "default" else "text")
    project.git("switch", "-q", "-c", "feat")
    change(project, "lock", "precious\n")
    project.git("switch", "-q", "main")
    change(project, "lock", "other\n")
    assert open_repo(project.root).text("merge-tree", "--write-tree", "main", "feat") == project.git(
        "rev-parse", "main^{tree}"
    ), "the driver decides, or this test shows nothing"
    assert state(project) == "unmerged"


def test_the_same_change_in_another_place_that_looks_alike(project: Project) -> None:
    block = ["    a = 1", "    b = 2", "    c = 3", "    return a", "    # x", "    # y", "    # z", ""]
    fixed = [*block[:3], "    return b", *block[4:]]
    change(project, "f.py", "\n".join(["def one():", *block, "def two():", *block]))
    project.git("switch", "-q", "-c", "feat")
    change(project, "f.py", "\n".join(["def one():", *fixed, "def two():", *block]))
    project.git("switch", "-q", "main")
    change(project, "f.py", "\n".join(["def one():", *block, "def two():", *fixed]))
    cherry = open_repo(project.root).text("cherry", "main", "feat")
    assert cherry.startswith("- "), "git takes the two for the same, or this test shows nothing"
    assert state(project) == "unmerged"


def test_a_graft_proves_nothing(feat: Project) -> None:
    tips = [feat.git("rev-parse", name).strip() for name in ("main", "main~1", "feat")]
    (feat.root / ".git/info/grafts").write_text(" ".join(tips) + "\n")
    assert feat.git("branch", "--list", "feat", "--merged", "main").strip() == "feat"
    assert state(feat) == "unmerged"


def test_a_replaced_object_proves_nothing(feat: Project) -> None:
    feat.git("replace", "--graft", "main", "feat", "main~1")
    assert feat.git("branch", "--list", "feat", "--merged", "main").strip() == "feat"
    assert state(feat) == "unmerged"


def test_a_missing_object_proves_nothing(feat: Project) -> None:
    squash(feat)
    tree = feat.git("rev-parse", "feat^{tree}")
    change(feat, "f", "later\n")
    blob = feat.git("rev-parse", "feat~1:f")
    assert blob not in feat.git("rev-parse", f"{tree}:f")
    (feat.root / ".git/objects" / blob[:2] / blob[2:]).unlink()
    # The whole branch can still be compared; its single commits cannot.
    assert state(feat) == "merged-squash"
    tip = feat.git("rev-parse", "feat")
    (feat.root / ".git/objects" / tip[:2] / tip[2:]).unlink()
    assert state(feat) == "unmerged"
    assert state(feat, "main") == "in-worktree"


STEPS = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("12 3\n")), min_size=1, max_size=4)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ours=STEPS, theirs=STEPS, how=st.sampled_from(["none", "squash", "rebase", "merge"]))
def test_merged_means_that_no_change_is_missing(
    tmp_path_factory: pytest.TempPathFactory, ours: list[tuple[str, str]], theirs: list[tuple[str, str]], how: str
) -> None:
    """Whatever was integrated is found, and what was not is never called merged unless its files were in main."""
    project = Project(tmp_path_factory.mktemp("shop"))
    project.git("init", "-q", "-b", "main")
    change(project, "base", "x\n")
    project.git("switch", "-q", "-c", "feat")
    for number, (name, text) in enumerate(ours):
        change(project, name, f"{text}\n{number}\n")
    project.git("switch", "-q", "main")
    done = integrate(project, how, len(ours))
    for number, (name, text) in enumerate(theirs):
        # Without a merge both sides may do the same by chance.
        change(project, f"z{name}" if done else name, f"{text}\n{number}\n")
    found = state(project)
    if done:
        # Picked onto its own parent within the same second, a commit stays itself.
        assert found in (("merged-ancestral",) if how == "merge" else ("merged-squash", "merged-ancestral"))
    elif found != "unmerged":
        # By chance main came to the same files at some time.
        history = set(project.git("rev-list", "--objects", "--no-object-names", "main").split())
        mine = project.git("diff-tree", "-r", "--no-commit-id", "main~" + str(len(theirs)), "feat").splitlines()
        assert {line.split()[3] for line in mine} <= history


def integrate(project: Project, how: str, count: int) -> bool:
    steps: dict[str, Callable[[], object]] = {
        "squash": lambda: squash(project),
        "rebase": lambda: project.git("cherry-pick", f"feat~{count}..feat"),
        "merge": lambda: project.git("merge", "-q", "--no-ff", "-m", "merge", "feat"),
    }
    if how in steps:
        steps[how]()
    return how in steps
