from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.features import birth
from morph_tasks.features.birth import Wish, create_feature
from morph_tasks.features.store import read_feature
from morph_tasks.proc import run
from morph_tasks.repo.git import Repo, open_repo


def wish(slug: str = "shop", **other: Any) -> Wish:
    return Wish(slug, **{"description": "Sell things", "work_type": "feature", **other})


def refused(repo: Repo, wanted: Wish) -> Refusal:
    """The refusal of a wish, after making sure that it left nothing behind."""
    before = snapshot(repo)
    with pytest.raises(Refusal) as caught:
        create_feature(repo, wanted)
    assert snapshot(repo) == before
    return caught.value


def snapshot(repo: Repo) -> Any:
    files = {
        str(path.relative_to(repo.root)): path.read_bytes() if path.is_file() else None
        for path in sorted(repo.root.rglob("*"))
        if ".git" not in path.relative_to(repo.root).parts
    }
    return files, repo.branch(), repo.head(), repo.text("for-each-ref"), repo.git("status", "--porcelain", "-z")


def test_a_feature_is_born(repo: Repo) -> None:
    born = create_feature(repo, wish(name="The Shop"))
    data = read_feature(repo.root, "shop")
    assert data["name"] == "The Shop" and data["feature"] == "shop" and data["description"] == "Sell things"
    assert (data["workType"], data["status"], data["branch"]) == ("feature", "draft", "morph/shop")
    assert data["approvalGates"] == {} and data["createdAt"] == data["updatedAt"]
    assert born.branch == {"name": "morph/shop", "checkedOut": True, "movedFrom": "main"}
    assert repo.branch() == "morph/shop" and repo.text("rev-parse", "main") == repo.head()
    assert (repo.root / ".morph/features/shop/2-plan/plan.md").read_text().startswith("#")
    assert any("from main to morph/shop" in line for line in born.warnings)


def test_nothing_is_committed_or_staged_and_derived_files_are_hidden(repo: Repo) -> None:
    head = repo.head()
    create_feature(repo, wish())
    assert repo.head() == head
    assert repo.text("status", "--porcelain", "-uall").splitlines() == [
        "?? .morph/.gitignore",
        "?? .morph/features/shop/2-plan/plan.md",
        "?? .morph/features/shop/feature.json",
    ]
    assert (repo.root / ".morph/state.json").exists()


def test_the_checkout_may_stay(repo: Repo) -> None:
    born = create_feature(repo, wish(checkout=False))
    assert born.branch == {"name": "morph/shop", "checkedOut": False, "stayedOn": "main"}
    assert repo.branch() == "main" and repo.branch_exists("morph/shop")
    assert born.warnings == ()


def test_uncommitted_work_comes_along_and_is_told(repo: Repo) -> None:
    (repo.root / "app.py").write_text("changed\n")
    (repo.root / "new.py").write_text("new\n")
    born = create_feature(repo, wish())
    assert (repo.root / "app.py").read_text() == "changed\n" and (repo.root / "new.py").exists()
    assert "came along (2 paths)" in born.warnings[0]


def test_one_uncommitted_path_is_one(repo: Repo) -> None:
    (repo.root / "app.py").write_text("changed\n")
    assert "came along (1 path)" in create_feature(repo, wish()).warnings[0]


def test_a_branch_starts_at_the_default_branch_wherever_head_is(repo: Repo) -> None:
    repo.git("switch", "-qc", "topic")
    (repo.root / "topic.py").write_text("t\n")
    repo.git("add", ".")
    repo.git("commit", "-qm", "Topic")
    (repo.root / "untracked.txt").write_text("mine\n")
    born = create_feature(repo, wish())
    assert born.branch["movedFrom"] == "topic"
    assert repo.head() == repo.text("rev-parse", "main")
    assert not (repo.root / "topic.py").exists() and (repo.root / "untracked.txt").exists()


def test_the_branch_of_a_fresh_clone_tracks_nothing(repo: Repo, tmp_path: Path) -> None:
    run(["git", "clone", "-q", str(repo.root), str(tmp_path / "clone")])
    clone = open_repo(tmp_path / "clone")
    create_feature(clone, wish())
    assert clone.text("for-each-ref", "--format=%(upstream)", "refs/heads/morph/shop") == ""


def test_a_shallow_clone_is_fine(repo: Repo, tmp_path: Path) -> None:
    repo.git("commit", "-q", "--allow-empty", "-m", "Second")
    run(["git", "clone", "-q", "--depth=1", f"file://{repo.root}", str(tmp_path / "clone")])
    clone = open_repo(tmp_path / "clone")
    assert clone.is_shallow()
    create_feature(clone, wish())
    assert clone.branch() == "morph/shop"


def test_the_default_branch_may_exist_only_at_the_remote(repo: Repo, tmp_path: Path) -> None:
    repo.git("branch", "topic")
    run(["git", "clone", "-q", "-b", "topic", str(repo.root), str(tmp_path / "clone")])
    clone = open_repo(tmp_path / "clone")
    clone.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    create_feature(clone, wish())
    assert clone.head() == clone.text("rev-parse", "origin/main")


# Work types


@pytest.mark.parametrize("work_type", ["chore", "hotfix"])
def test_small_work_passes_the_plan_by_policy(repo: Repo, work_type: str) -> None:
    create_feature(repo, wish(work_type=work_type))
    gates = read_feature(repo.root, "shop")["approvalGates"]
    assert set(gates) == {"plan", "uiux"}
    for record in gates.values():
        assert record["approved"] is True and record["approvedBy"] == f"policy:{work_type}"
        assert record["timestamp"] and "planHash" not in record


def test_a_request_tells_the_type_and_the_description(repo: Repo) -> None:
    born = create_feature(repo, Wish("shop", request="  Fix the\n crash on save "))
    assert (born.work_type, born.data["description"]) == ("bug", "Fix the crash on save")
    assert born.data["request"] == "Fix the\n crash on save"


def test_what_is_said_outright_wins(repo: Repo) -> None:
    born = create_feature(repo, wish(request="Fix the crash", work_type="feature"))
    assert (born.work_type, born.data["description"]) == ("feature", "Sell things")


@pytest.mark.parametrize(
    ("request_text", "confidence", "candidates"),
    [
        ("fix a typo", "tie", {"bug", "chore"}),
        ("let carts be shared", "none", {"feature", "bug", "chore", "hotfix"}),
    ],
)
def test_a_request_that_does_not_tell(repo: Repo, request_text: str, confidence: str, candidates: set[str]) -> None:
    error = refused(repo, Wish("shop", request=request_text))
    assert (error.code, error.exit_code) == ("type-undecided", 2)
    assert error.payload["confidence"] == confidence and set(error.payload["candidates"]) == candidates


def test_a_description_never_decides_the_type(repo: Repo) -> None:
    error = refused(repo, Wish("shop", description="Rename the configs"))
    assert (error.code, error.exit_code) == ("type-undecided", 2)


@pytest.mark.parametrize("description", ["", "  \n"])
def test_no_words_no_feature(repo: Repo, description: str) -> None:
    error = refused(repo, Wish("shop", description=description, work_type="bug", worktree=True))
    assert (error.code, error.exit_code) == ("description-missing", 2)
    assert error.fix.endswith(" --type bug --worktree")


# Refusals before anything is written


def test_an_unborn_head(unborn_repo: Repo) -> None:
    error = refused(unborn_repo, wish())
    assert error.code == "no-commits" and "first commit" in error.what and "main" in error.what


def test_an_unborn_head_with_no_checkout(unborn_repo: Repo) -> None:
    assert refused(unborn_repo, wish(checkout=False)).code == "no-commits"


@pytest.mark.parametrize("slug", ["Shop", "shop.lock", "../shop", "a b", ""])
def test_a_bad_name(repo: Repo, slug: str) -> None:
    assert refused(repo, wish(slug)).code == "invalid-name"


@pytest.mark.parametrize("taken", ["shop", "Shop"])
@pytest.mark.parametrize(("folder", "code"), [("features", "feature-exists"), ("archive", "feature-archived")])
def test_a_taken_name_in_any_case(repo: Repo, folder: str, code: str, taken: str) -> None:
    (repo.root / ".morph" / folder / taken).mkdir(parents=True)
    assert refused(repo, wish()).code == code


@pytest.mark.parametrize("branch", ["morph/shop", "morph/SHOP"])
def test_a_taken_branch_in_any_case(repo: Repo, branch: str) -> None:
    repo.git("branch", branch)
    error = refused(repo, wish())
    assert (error.code, error.payload["branch"]) == ("branch-exists", branch)


@pytest.mark.parametrize("branch", ["morph", "morph/shop/part"])
def test_a_branch_in_the_way(repo: Repo, branch: str) -> None:
    repo.git("branch", branch)
    assert refused(repo, wish()).code == "branch-blocked"


def test_a_branch_that_others_have(repo: Repo, tmp_path: Path) -> None:
    repo.git("branch", "morph/shop")
    run(["git", "clone", "-q", str(repo.root), str(tmp_path / "clone")])
    assert refused(open_repo(tmp_path / "clone"), wish()).code == "branch-exists"


def test_a_name_archived_on_the_default_branch_only(repo: Repo) -> None:
    folder = repo.root / ".morph/archive/shop"
    repo.git("branch", "topic")
    folder.mkdir(parents=True)
    (folder / "feature.json").write_text("{}")
    repo.git("add", ".")
    repo.git("commit", "-qm", "Archive")
    repo.git("switch", "-q", "topic")
    assert refused(repo, wish()).code == "feature-archived"


def test_a_detached_head(repo: Repo) -> None:
    repo.git("switch", "-q", "--detach")
    assert refused(repo, wish()).code == "detached-head"
    assert create_feature(repo, wish(checkout=False)).branch["stayedOn"] == repo.head()


def test_no_default_branch(repo: Repo) -> None:
    repo.git("branch", "-m", "one")
    repo.git("branch", "two")
    assert refused(repo, wish()).code == "no-default-branch"
    repo.git("config", "init.defaultBranch", "two")
    create_feature(repo, wish())


@pytest.mark.parametrize("mark", ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG"])
def test_something_under_way(repo: Repo, mark: str) -> None:
    (repo.git_dir / mark).write_text(f"{repo.head()}\n")
    assert refused(repo, wish()).code == "operation-in-progress"


def test_unresolved_conflicts(repo: Repo) -> None:
    blob = repo.text("hash-object", "-w", "app.py")
    lines = "".join(f"100644 {blob} {stage}\tapp.py\n" for stage in (1, 2, 3))
    repo.git("update-index", "--index-info", stdin=lines.encode())
    assert refused(repo, wish()).code == "operation-in-progress"


@pytest.fixture
def on_topic(repo: Repo) -> Repo:
    """HEAD is on `topic`; `main` has another app.py and a file `extra.txt`."""
    repo.git("branch", "topic")
    (repo.root / "app.py").write_text("main\n")
    (repo.root / "extra.txt").write_text("main\n")
    repo.git("add", ".")
    repo.git("commit", "-qm", "Main moves on")
    repo.git("switch", "-q", "topic")
    return repo


def test_a_checkout_that_would_overwrite_changes(on_topic: Repo) -> None:
    (on_topic.root / "app.py").write_text("mine\n")
    error = refused(on_topic, wish())
    assert error.code == "would-overwrite" and "app.py" in error.what
    create_feature(on_topic, wish(checkout=False))


@pytest.mark.parametrize("ignored", [False, True])
def test_a_checkout_that_would_overwrite_an_untracked_file(on_topic: Repo, ignored: bool) -> None:
    (on_topic.root / "extra.txt").write_text("mine\n")
    if ignored:
        (on_topic.git_dir / "info/exclude").write_text("extra.txt\n")
    error = refused(on_topic, wish())
    assert (error.code, error.payload["paths"]) == ("would-overwrite", ["extra.txt"])


def test_a_config_that_does_not_parse(repo: Repo) -> None:
    (repo.root / ".morph/config").mkdir(parents=True)
    (repo.root / ".morph/config/config.json").write_text("{")
    assert refused(repo, wish()).code == "corrupt-file"


def test_features_that_is_a_file(repo: Repo) -> None:
    (repo.root / ".morph").mkdir()
    (repo.root / ".morph/features").write_text("")
    assert refused(repo, wish()).code in ("write-failed", "unreadable-folder")


# Linked trees


def test_a_linked_tree_keeps_the_feature_it_owns(repo: Repo, tmp_path: Path) -> None:
    repo.git("worktree", "add", "-q", "-b", "morph/cart", str(tmp_path / "cart"))
    tree = open_repo(tmp_path / "cart")
    error = refused(tree, wish())
    assert error.code == "linked-worktree" and f"cd {repo.root}" in error.fix


def test_a_linked_tree_of_its_own_may_move(repo: Repo, tmp_path: Path) -> None:
    repo.git("worktree", "add", "-q", "-b", "topic", str(tmp_path / "topic"))
    tree = open_repo(tmp_path / "topic")
    assert refused(tree, wish(checkout=False)).code == "linked-worktree"
    create_feature(tree, wish())
    assert tree.branch() == "morph/shop" and repo.branch() == "main"


# Steps that fail half way


@pytest.mark.parametrize("step", ["write_json", "write_atomic", "make_branch"])
def test_a_step_that_fails_leaves_nothing(repo: Repo, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise Refusal("write-failed", "the disk is full")

    monkeypatch.setattr(birth, step, fail)
    assert refused(repo, wish()).code == "write-failed"


def test_the_branch_is_taken_back_when_the_folder_cannot_be_placed(
    on_topic: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise PermissionError(13, "Permission denied")

    (on_topic.root / "notes.txt").write_text("mine\n")
    monkeypatch.setattr(os, "rename", fail)
    assert refused(on_topic, wish()).code == "write-failed"


def test_a_hook_that_fails_after_the_move_is_a_warning(repo: Repo) -> None:
    hook = repo.git_dir / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 7\n")
    hook.chmod(0o755)
    born = create_feature(repo, wish())
    assert repo.branch() == "morph/shop" and any("error" in line for line in born.warnings)
    assert read_feature(repo.root, "shop")


def test_a_hook_that_forbids_the_branch_leaves_nothing(repo: Repo) -> None:
    hook = repo.git_dir / "hooks" / "reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text('#!/bin/sh\n[ "$1" = prepared ] && grep -q refs/heads/morph && exit 1\nexit 0\n')
    hook.chmod(0o755)
    assert refused(repo, wish()).code == "branch-failed"


def test_leftovers_of_a_killed_run_are_swept(repo: Repo) -> None:
    (repo.root / ".morph/features/.unborn-abc").mkdir(parents=True)
    create_feature(repo, wish())
    assert os.listdir(repo.root / ".morph/features") == ["shop"]


def test_a_folder_that_git_ignores_is_told(repo: Repo) -> None:
    (repo.git_dir / "info/exclude").write_text(".morph/\n")
    assert any("git ignores" in line for line in create_feature(repo, wish()).warnings)


def test_the_language_of_the_project_chooses_the_template(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for language in ("en", "pt"):
        (tmp_path / f"plan.{language}.md").write_text(f"# {language}\n")
    monkeypatch.setattr("morph_tasks.framework_files.framework_path", lambda name: tmp_path / Path(name).name)
    (repo.root / ".morph/config").mkdir(parents=True)
    (repo.root / ".morph/config/config.json").write_text(json.dumps({"language": "pt-BR"}))
    create_feature(repo, wish())
    assert (repo.root / ".morph/features/shop/2-plan/plan.md").read_text() == "# pt\n"
