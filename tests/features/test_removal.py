from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.features import removal
from morph_tasks.features.removal import archive, delete
from morph_tasks.repo.git import Repo, open_repo

SIGNED = {"approved": True, "approvedBy": "manual"}
POLICY = {"approved": True, "approvedBy": "policy:chore"}


def put(repo: Repo, data: Any = None, *, commit: bool = True) -> Path:
    folder = repo.root / ".morph/features/shop"
    (folder / "2-plan").mkdir(parents=True)
    (folder / "feature.json").write_text(json.dumps({"description": "d", **(data or {})}))
    (folder / "2-plan/plan.md").write_text("# Plan\n")
    if commit:
        repo.git("add", ".morph/features")
        repo.git("commit", "-qm", "Start the shop")
    return folder


def listed(repo: Repo) -> list[str]:
    return repo.text("show", "--no-renames", "--name-status", "--format=", "HEAD").splitlines()


def refused(call: Any, *args: Any, **named: Any) -> Refusal:
    with pytest.raises(Refusal) as caught:
        call(*args, **named)
    return caught.value


# Archive


def test_the_move_is_committed_and_nothing_else(repo: Repo) -> None:
    put(repo)
    (repo.root / "app.py").write_text("staged\n")
    repo.git("add", "app.py")
    made = archive(repo, "shop")
    assert made.commit == repo.head() and made.archived_at == ".morph/archive/shop"
    assert listed(repo) == [
        "A\t.morph/archive/shop/2-plan/plan.md",
        "A\t.morph/archive/shop/feature.json",
        "D\t.morph/features/shop/2-plan/plan.md",
        "D\t.morph/features/shop/feature.json",
    ]
    assert repo.text("diff", "--cached", "--name-only") == "app.py"
    data = json.loads((repo.root / ".morph/archive/shop/feature.json").read_text())
    assert data["status"] == "archived" and data["archivedAt"].endswith("Z")
    assert json.loads((repo.root / ".morph/state.json").read_text())["features"] == {}


def test_what_git_ignores_moves_too(repo: Repo) -> None:
    folder = put(repo)
    (repo.git_dir / "info/exclude").write_text("*.log\n")
    (folder / "notes.log").write_text("precious\n")
    archive(repo, "shop")
    assert (repo.root / ".morph/archive/shop/notes.log").read_text() == "precious\n"


def test_a_feature_that_was_never_committed(repo: Repo) -> None:
    put(repo, commit=False)
    archive(repo, "shop")
    assert listed(repo) == ["A\t.morph/archive/shop/2-plan/plan.md", "A\t.morph/archive/shop/feature.json"]


def test_a_failed_commit_puts_everything_back(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = put(repo)
    before, head = (folder / "feature.json").read_bytes(), repo.head()

    def fail(*_: Any, **__: Any) -> None:
        raise Refusal("command-failed", "the disk is full")

    monkeypatch.setattr(removal, "commit_paths", fail)
    assert refused(archive, repo, "shop").code == "command-failed"
    assert (folder / "feature.json").read_bytes() == before and repo.head() == head
    assert not (repo.root / ".morph/archive/shop").exists()


def test_a_move_that_was_never_committed_is_taken_up(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    put(repo)
    (repo.root / ".morph/archive").mkdir()
    (repo.root / ".morph/features/shop").rename(repo.root / ".morph/archive/shop")
    made = archive(repo, "shop")
    assert made.resumed and made.commit and repo.text("status", "--porcelain", ".morph/archive") == ""
    assert refused(archive, repo, "shop").code == "feature-not-found"


def test_what_goes_along_is_in_the_same_commit(repo: Repo) -> None:
    put(repo)
    for name in ("gone", "old"):
        (repo.root / f"{name}.md").write_text(f"{name}\n")
        repo.git("add", f"{name}.md")
    repo.git("commit", "-qm", "Records")
    (repo.root / "notes").write_text("as it lies\n")
    along = removal.Along(write={"old.md": "new\n", "deep/in/x.md": "x\n"}, remove=["gone.md"], add=["notes"])
    archive(repo, "shop", along=along)
    moved = [line for line in listed(repo) if ".morph/" not in line]
    assert moved == ["A\tdeep/in/x.md", "D\tgone.md", "A\tnotes", "M\told.md"]
    assert repo.text("status", "--porcelain", "--", ":!.morph/state.json") == ""


def test_a_failed_commit_takes_back_what_goes_along(repo: Repo) -> None:
    put(repo)
    (repo.root / "old.md").write_text("old\n")
    (repo.root / "gone.md").write_text("gone\n")
    repo.git("add", "old.md", "gone.md")
    repo.git("commit", "-qm", "Records")
    hook = repo.git_dir / "hooks/reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\ntest $1 != prepared\n")
    hook.chmod(0o755)
    before = repo.text("rev-parse", "HEAD")
    along = removal.Along(write={"old.md": "new\n", "x.md": "x\n"}, remove=["gone.md"])
    assert refused(archive, repo, "shop", along=along).code == "command-failed"
    assert repo.head() == before and repo.text("status", "--porcelain", "--", ":!.morph/state.json") == ""
    assert (repo.root / ".morph/features/shop/feature.json").exists()


def test_a_feature_that_was_never_committed_is_taken_up(repo: Repo) -> None:
    put(repo, commit=False)
    (repo.root / ".morph/archive").mkdir()
    (repo.root / ".morph/features/shop").rename(repo.root / ".morph/archive/shop")
    assert archive(repo, "shop").commit == repo.head()


def test_an_index_that_missed_the_commit_catches_up(repo: Repo) -> None:
    put(repo)
    index = (repo.git_dir / "index").read_bytes()
    archive(repo, "shop")
    (repo.git_dir / "index").write_bytes(index)  # killed between the commit and the index
    made = archive(repo, "shop")
    assert made.resumed and made.commit is None
    assert repo.text("status", "--porcelain", "--", ":!.morph/state.json") == ""


def test_a_taken_place_in_the_archive(repo: Repo) -> None:
    folder = put(repo)
    (repo.root / ".morph/archive/shop").mkdir(parents=True)
    assert refused(archive, repo, "shop").code == "archive-exists"
    assert folder.exists()


@pytest.mark.parametrize("call", [archive, delete])
def test_where_nothing_can_be_committed_nothing_moves(repo: Repo, call: Any) -> None:
    folder = put(repo)
    (repo.git_dir / "MERGE_HEAD").write_text(f"{repo.head()}\n")
    before = (folder / "feature.json").read_bytes()
    assert refused(call, repo, "shop").code == "operation-in-progress"
    assert (folder / "feature.json").read_bytes() == before


def test_another_tree_owns_the_feature(repo: Repo, tmp_path: Path) -> None:
    put(repo)
    repo.git("worktree", "add", "-q", "-b", "morph/shop", str(tmp_path / "wt"))
    assert refused(archive, repo, "shop", command="archive shop").code == "owner-tree-elsewhere"
    assert archive(open_repo(tmp_path / "wt"), "shop").commit


# Delete


def test_a_committed_feature_needs_no_copy(repo: Repo) -> None:
    folder = put(repo)
    repo.git("branch", "morph/shop")
    made = delete(repo, "shop")
    assert not folder.exists() and made.backup is None and made.branch == "morph/shop"
    assert listed(repo) == ["D\t.morph/features/shop/2-plan/plan.md", "D\t.morph/features/shop/feature.json"]
    assert json.loads((repo.root / ".morph/state.json").read_text())["features"] == {}
    assert os.listdir(repo.root / ".morph/features") == []
    assert refused(delete, repo, "shop").code == "feature-not-found"


def test_other_staged_work_is_not_touched(repo: Repo) -> None:
    put(repo)
    (repo.root / "new.py").write_text("n\n")
    repo.git("add", "new.py")
    delete(repo, "shop")
    assert repo.text("diff", "--cached", "--name-only") == "new.py"
    assert "new.py" not in "".join(listed(repo))


@pytest.mark.parametrize("how", ["untracked", "ignored", "modified", "hidden", "link"])
def test_what_git_does_not_hold_is_copied_first(repo: Repo, how: str) -> None:
    folder = put(repo)
    notes = folder / "2-plan/notes.txt"
    if how == "modified":
        (folder / "2-plan/plan.md").write_text("# Better plan\n")
    elif how == "hidden":
        repo.git("update-index", "--assume-unchanged", ".morph/features/shop/2-plan/plan.md")
        (folder / "2-plan/plan.md").write_text("# Better plan\n")
    elif how == "link":
        (repo.root / "kept.txt").write_text("kept\n")
        notes.symlink_to(repo.root / "kept.txt")
    else:
        notes.write_text("precious\n")
        if how == "ignored":
            (repo.git_dir / "info/exclude").write_text("notes.txt\n")
    made = delete(repo, "shop")
    assert made.backup and made.backup.parent == repo.common_dir / "morph-spec/backups"
    assert stat.S_IMODE(made.backup.stat().st_mode) == 0o700
    assert stat.S_IMODE(made.backup.parent.stat().st_mode) == 0o700
    copy = made.backup / "shop/2-plan"
    manifest = json.loads((made.backup / "manifest.json").read_text())
    if how in ("modified", "hidden"):
        assert (copy / "plan.md").read_text() == "# Better plan\n" and manifest["files"] == ["2-plan/plan.md"]
    elif how == "link":
        assert (copy / "notes.txt").is_symlink() and (repo.root / "kept.txt").read_text() == "kept\n"
    else:
        assert (copy / "notes.txt").read_text() == "precious\n" and manifest["files"] == ["2-plan/notes.txt"]


def test_a_feature_that_was_never_committed_is_copied(repo: Repo) -> None:
    put(repo, commit=False)
    made = delete(repo, "shop")
    assert made.commit is None and made.backup and (made.backup / "shop/feature.json").exists()


def test_no_copy_no_removal(repo: Repo) -> None:
    folder = put(repo, commit=False)
    (repo.store).mkdir()
    (repo.store / "backups").write_text("in the way")
    assert refused(delete, repo, "shop").code == "backup-failed"
    assert (folder / "feature.json").exists()


def test_a_kill_after_the_commit_is_made_good_by_a_second_run(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = put(repo)
    with monkeypatch.context() as patch:
        patch.setattr(removal, "_remove", lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            delete(repo, "shop")
    assert (folder / "feature.json").exists()
    assert delete(repo, "shop").backup
    assert not folder.exists()


def test_signed_work_is_not_deleted_lightly(repo: Repo) -> None:
    folder = put(repo, {"approvalGates": {"plan": SIGNED}})
    error = refused(delete, repo, "shop")
    assert error.code == "gate-approved" and error.payload["gates"] == ["plan"]
    assert refused(delete, repo, "shop", keep=True).code == "gate-approved"
    assert folder.exists()
    delete(repo, "shop", force=True)
    assert not folder.exists()


def test_a_policy_signed_nothing(repo: Repo) -> None:
    put(repo, {"workType": "chore", "approvalGates": {"plan": POLICY, "uiux": POLICY}})
    assert delete(repo, "shop").commit


@pytest.mark.parametrize("force", [False, True])
def test_a_living_tree_keeps_its_record(repo: Repo, tmp_path: Path, force: bool) -> None:
    folder = put(repo)
    repo.git("worktree", "add", "-q", "-b", "morph/shop", str(tmp_path / "wt"))
    for here in (repo, open_repo(tmp_path / "wt")):
        error = refused(delete, here, "shop", force=force)
        assert error.code == "feature-has-worktree" and error.payload["worktree"] == str(tmp_path / "wt")
    assert folder.exists()


def test_the_root_on_the_features_branch_is_no_living_tree(repo: Repo) -> None:
    put(repo)
    repo.git("switch", "-qc", "morph/shop")
    assert delete(repo, "shop").commit


def test_abandoned_work_may_be_kept(repo: Repo) -> None:
    put(repo)
    made = delete(repo, "shop", keep=True)
    assert made.archived_at == ".morph/archive/shop" and made.commit
    assert json.loads((repo.root / ".morph/archive/shop/feature.json").read_text())["status"] == "abandoned"


@pytest.mark.parametrize("text", ["{", '{"status": 9}'])
def test_a_broken_record_can_be_removed_by_force(repo: Repo, text: str) -> None:
    folder = put(repo)
    (folder / "feature.json").write_text(text)
    assert refused(delete, repo, "shop").code in ("corrupt-file", "invalid-feature")
    assert delete(repo, "shop", force=True).backup and not folder.exists()


def test_a_folder_without_a_record_can_be_removed(repo: Repo) -> None:
    (repo.root / ".morph/features/shop").mkdir(parents=True)
    delete(repo, "shop")
    assert not (repo.root / ".morph/features/shop").exists()


def test_a_feature_that_is_a_link_is_unlinked(repo: Repo, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "feature.json").write_text('{"description": "d"}')
    (repo.root / ".morph/features").mkdir(parents=True)
    (repo.root / ".morph/features/shop").symlink_to(elsewhere)
    delete(repo, "shop")
    assert (elsewhere / "feature.json").exists() and not (repo.root / ".morph/features/shop").is_symlink()


@pytest.mark.parametrize("slug", ["..", "../features", "", "."])
def test_a_path_is_no_name(repo: Repo, slug: str) -> None:
    put(repo)
    assert refused(delete, repo, slug, force=True).code == "feature-not-found"
    assert (repo.root / ".morph/features/shop/feature.json").exists()
