from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.faults import Ended, Moment, in_child
from tests.fleet.scene import ODD, Scene, copy, differences, empty_shop, in_main_tree, snapshot, with_tree, work, write
from tests.gh import FakeGh

FINISH = ("finish", "cart", "--merge", "--force")


@dataclass(frozen=True)
class Master:
    """A prepared repository, and the place where it was made: paths in it are absolute."""

    master: Path
    place: Path

    def scene(self) -> Scene:
        return copy(self.master, self.place)


@pytest.fixture(scope="module")
def masters(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Master]:
    folder = tmp_path_factory.mktemp("undo")
    makers: dict[str, Callable[[Path], Scene]] = {
        "tree": with_tree,
        "plan not committed": lambda base: with_tree(base, commit_plan=False),
        "main": in_main_tree,
        "main elsewhere": main_elsewhere,
        "origin": lambda base: with_tree(base, origin=True),
        "finished": lambda base: finished(with_tree(base)),
    }
    made: dict[str, Master] = {}

    def get(name: str) -> Master:
        if name not in made:
            found = Master(folder / f"{len(made)}", folder / "here")
            shutil.rmtree(found.place, ignore_errors=True)
            makers[name](found.place)
            os.rename(found.place, found.master)
            made[name] = found
        return made[name]

    return get


@pytest.fixture
def done(masters: Callable[[str], Master]) -> Scene:
    """A feature that was finished by a merge; its work tree is gone."""
    return masters("finished").scene()


def finished(scene: Scene) -> Scene:
    assert run(scene, *FINISH).code == 0
    return scene


def main_elsewhere(base: Path) -> Scene:
    """The main tree is on something else, and another linked tree has the default branch."""
    scene = with_tree(base)
    scene.git("switch", "-q", "-c", "else")
    scene.git("worktree", "add", "-q", str(base / "of main"), "main")
    return scene


def run(scene: Scene, *argv: str, cwd: Path | None = None, **env: str) -> Ended:
    """Run a command of ours in a child of this process."""
    ended = in_child(argv, cwd or scene.shop, env={**scene.env, **env})
    assert "Traceback" not in ended.err and "internal-error" not in ended.err + ended.out, ended
    return ended


def said(scene: Scene, *argv: str, code: int = 0) -> Any:
    ended = run(scene, *argv, "--json")
    assert ended.code == code, (ended.code, ended.out, ended.err)
    return json.loads(ended.out)


def everything(scene: Scene) -> dict[str, Any]:
    """Return all that a refusal may not touch: the trees and references, and what we keep ourselves."""
    kept = {}
    for parent, _, names in os.walk(scene.store):
        for name in names:
            if not name.endswith((".lock", ".guard")):
                path = Path(parent, name)
                kept[str(path)] = path.read_bytes()
    return {**snapshot(scene), "store": kept}


def refused(scene: Scene, code: str, *words: str, exit_code: int = 1) -> Any:
    """Undo is refused, as is its dry run, with nothing changed; return the document."""
    before = everything(scene)
    documents = [said(scene, "undo", "cart", *words, *more, code=exit_code) for more in ((), ("--dry-run",))]
    assert [one["code"] for one in documents] == [code, code], documents
    assert documents[0] == documents[1] and documents[0]["fix"]
    assert differences(before, everything(scene)) == []
    return documents[0]


# The way back


@pytest.mark.parametrize("kind", ["tree", "plan not committed", "main", "main elsewhere"])
@pytest.mark.parametrize("keep", [(), ("--keep",)], ids=["", "kept"])
def test_everything_is_as_it_was(masters: Callable[[str], Master], kind: str, keep: tuple[str, ...]) -> None:
    scene = masters(kind).scene()
    before = snapshot(scene)
    finished_at = said(scene, *FINISH, *keep)
    assert differences(before, snapshot(scene))
    document = said(scene, "undo", "cart")
    assert differences(before, snapshot(scene)) == []
    assert document["undone"] and not document["resumed"] and document["warnings"] == []
    assert document["default"]["from"] == finished_at["mergeCommit"]
    assert document["branch"] == {"name": "morph/cart", "commit": scene.text("rev-parse", "morph/cart")}
    assert document["notRestored"]["files"] == []


def test_a_work_tree_outside_of_the_repository(tmp_path: Path) -> None:
    scene = empty_shop(tmp_path / "here")
    place = {"MORPH_WORKTREE_ROOT": str(tmp_path / "trees of all")}
    assert run(scene, "create", "cart", "--type", "feature", "--description", "d", "--no-checkout").code == 0
    assert run(scene, "worktree", "setup", "cart", **place).code == 0
    tree = next((tmp_path / "trees of all").glob("*/cart"))
    work(tree, scene.git)
    write(tree / "local/fixed/a.db", "in a folder that nobody may write to\n")
    (tree / "local/fixed").chmod(0o550)
    before = snapshot(scene)
    finished(scene)
    assert not tree.exists() and run(scene, "undo", "cart").code == 0
    assert differences(before, snapshot(scene)) == []


def test_what_came_back_and_what_did_not_is_told(done: Scene) -> None:
    before = said(done, "undo", "cart", "--dry-run")
    assert (before["undone"], before["dryRun"]) == (False, True)
    document = said(done, "undo", "cart")
    restored, missing = document["restored"], document["notRestored"]
    assert set(restored["ignored"]) >= {
        ".env.local",
        "local/data/deep/x.db",
        *(f"local/odd/{name}" for name in ODD[:4]),
    }
    assert restored["replicated"] == [".env"] and ".morph/features/cart/2-plan/plan.md" in restored["feature"]
    assert set(restored["links"]) >= {"node_modules", "local/current", "local/dangling"}
    assert missing["caches"] == ["src/__pycache__/"] and missing["files"] == []
    assert document["worktree"] == {"path": str(done.tree), "branch": "morph/cart"}
    assert {key: before[key] for key in ("restored", "notRestored", "branch", "default", "ports", "backups")} == {
        key: document[key] for key in ("restored", "notRestored", "branch", "default", "ports", "backups")
    }
    assert all(Path(folder).is_dir() for folder in document["backups"]) and len(document["backups"]) == 2


def test_people_read_it_in_lines(done: Scene) -> None:
    ended = run(done, "undo", "cart", cwd=done.shop / "src")
    lines = ended.out.splitlines()
    assert ended.code == 0 and lines[0] == "the finish of cart is undone"
    assert f"  the work tree {done.tree} is back" in lines
    assert "not restored: caches, which tools make again (src/__pycache__/)" in lines
    assert lines[-1] == f"next: cd {done.tree}"


def test_a_finish_after_an_undo_and_an_undo_after_that(masters: Callable[[str], Master]) -> None:
    scene = masters("tree").scene()
    before = snapshot(scene)
    for _ in range(2):
        assert run(scene, *FINISH).code == 0
        assert run(scene, "undo", "cart").code == 0
        assert differences(before, snapshot(scene)) == []
    document = refused(scene, "nothing-to-undo")
    assert "undone at" in document["message"]
    write(scene.tree / "src/more.py", "more\n")
    scene.git("add", "-A", cwd=scene.tree)
    scene.git("commit", "-qm", "more", cwd=scene.tree)
    assert run(scene, *FINISH).code == 0
    assert (scene.shop / "src/more.py").exists()


def test_local_changes_in_the_main_tree_stay(done: Scene) -> None:
    write(done.shop / "README.md", "# my shop\n")
    write(done.shop / "staged.txt", "staged\n")
    done.git("add", "staged.txt")
    write(done.shop / "untracked.txt", "untracked\n")
    assert run(done, "undo", "cart").code == 0
    changed = [line for line in done.text("status", "--porcelain").splitlines() if ".morph" not in line]
    assert changed == ["M README.md", "A  staged.txt", "?? untracked.txt"]
    assert (done.shop / "README.md").read_text() == "# my shop\n"


def test_from_inside_of_another_work_tree(done: Scene) -> None:
    done.git("worktree", "add", "-q", "--detach", str(done.base / "aside"), "main~1")
    ended = run(done, "undo", "cart", cwd=done.base / "aside")
    assert ended.code == 0 and done.tree.is_dir()


def test_the_leftover_copy_in_the_main_tree_comes_back(masters: Callable[[str], Master]) -> None:
    scene = masters("tree").scene()
    write(scene.shop / ".morph/features/cart/feature.json", '{"description": "frozen"}')
    write(scene.shop / ".morph/features/cart/2-plan/old.md", "written by hand\n")
    before = snapshot(scene)
    finished(scene)
    assert not (scene.shop / ".morph/features/cart").exists()
    document = said(scene, "undo", "cart")
    assert differences(before, snapshot(scene)) == []
    assert ".morph/features/cart/2-plan/old.md" in document["restored"]["mainTree"]


@pytest.mark.parametrize("kind", ["tree", "main elsewhere"])
def test_a_file_that_the_merge_took_over_lies_there_again(masters: Callable[[str], Master], kind: str) -> None:
    scene, name = masters(kind).scene(), "sub/new\nline.txt"
    place = scene.base / "of main" if kind == "main elsewhere" else scene.shop
    write(scene.tree / name, "mine\n")
    scene.text("add", name, cwd=scene.tree)
    scene.text("commit", "-qm", "Take a file", cwd=scene.tree)
    write(place / name, "mine\n", 0o600)
    before = snapshot(scene)
    finished(scene)
    document = said(scene, "undo", "cart")
    assert differences(before, snapshot(scene)) == []
    assert name in document["restored"]["mainTree"]


@pytest.mark.parametrize("staged", [False, True])
def test_a_local_change_that_the_merge_took_over_is_there_again(masters: Callable[[str], Master], staged: bool) -> None:
    scene = masters("tree").scene()
    names = [name for name in scene.text("ls-files", cwd=scene.shop).splitlines() if name.endswith(".py")]
    for place in (scene.tree, scene.shop):
        write(place / names[0], "the same change\n")
    scene.text("commit", "-qam", "Change it", cwd=scene.tree)
    if staged:
        scene.text("add", names[0])
    before = snapshot(scene)
    finished(scene)
    said(scene, "undo", "cart")
    assert differences(before, snapshot(scene)) == []


def test_a_submodule_is_named_and_can_be_checked_out_again(masters: Callable[[str], Master]) -> None:
    scene = masters("tree").scene()
    remote, allow = scene.base / "lib", ("-c", "protocol.file.allow=always")
    scene.text("init", "-q", str(remote))
    write(remote / ".gitignore", "*.db\n")
    scene.text("add", ".", cwd=remote)
    scene.text("commit", "-qm", "A library", cwd=remote)
    scene.text(*allow, "submodule", "--quiet", "add", str(remote), "sub", cwd=scene.tree)
    scene.text("commit", "-qm", "Use it", cwd=scene.tree)
    write(scene.tree / "sub/x.db", "rows\n")
    finished(scene)
    foretold = said(scene, "undo", "cart", "--dry-run")["notRestored"]
    document = said(scene, "undo", "cart")
    told = document["notRestored"]
    assert told["submodules"] == ["sub"] and [one["path"] for one in told["files"]] == ["sub/x.db"] and told == foretold
    copy = Path(told["files"][0]["why"].rpartition(": ")[2], "sub/x.db")
    assert copy.read_text() == "rows\n" and "sub/x.db" not in document["restored"]["ignored"]
    assert "sub" not in scene.text("status", "--porcelain", cwd=scene.tree)
    scene.text(*allow, "submodule", "--quiet", "update", "--init", cwd=scene.tree)
    assert (scene.tree / "sub/.gitignore").exists()


def test_the_backups_stay(done: Scene) -> None:
    kept = sorted((done.store / "finish-backup").rglob("*"))
    assert run(done, "undo", "cart").code == 0
    assert sorted((done.store / "finish-backup").rglob("*")) == kept and kept


def test_a_hook_that_refuses_the_branch_stops_it_and_a_second_run_goes_on(done: Scene) -> None:
    hook = done.shop / ".git/hooks/reference-transaction"
    write(hook, '#!/bin/sh\n[ "$1" = prepared ] || exit 0\n! grep -q refs/heads/main\n', 0o755)
    document = said(done, "undo", "cart", code=1)
    assert document["code"] == "reference-refused" and not done.tree.exists()
    assert document["fix"].endswith("then morph-spec undo cart")
    assert done.text("rev-parse", "morph/cart")
    assert said(done, "finish", "cart", "--merge", code=1)["code"] == "undo-unfinished"
    hook.unlink()
    document = said(done, "undo", "cart")
    assert document["resumed"] and done.tree.is_dir()


# Refusals: nothing has changed


def test_nothing_was_finished(masters: Callable[[str], Master]) -> None:
    assert "none is recorded" in refused(masters("tree").scene(), "nothing-to-undo")["message"]


def test_a_finish_that_was_broken_off_has_to_end_first(masters: Callable[[str], Master]) -> None:
    scene = masters("tree").scene()
    assert in_child(FINISH, scene.shop, moment=Moment("after-write", 12), env=scene.env).code == -9
    assert refused(scene, "finish-not-complete")["fix"] == "morph-spec finish cart --merge --force"
    assert run(scene, *FINISH).code == 0 and run(scene, "undo", "cart").code == 0


def test_the_merge_was_pushed(masters: Callable[[str], Master]) -> None:
    scene = masters("origin").scene()
    finished(scene)
    scene.git("push", "-q", "origin", "main")
    document = refused(scene, "already-pushed")
    assert document["refs"] == ["origin/main"] and "revert -m 1" in document["fix"]


def test_the_finish_itself_pushed(masters: Callable[[str], Master]) -> None:
    scene = masters("origin").scene()
    assert said(scene, *FINISH, "--push")["publish"]["pushed"] is True
    # Even where the remote branch is not known any more.
    scene.git("update-ref", "-d", "refs/remotes/origin/main")
    refused(scene, "already-pushed")


def test_commits_on_top_of_the_merge(done: Scene) -> None:
    done.git("commit", "-q", "--allow-empty", "-m", "one more")
    document = refused(done, "default-moved")
    assert document["commits"] == 1 and "1 commit" in document["message"]
    assert "git branch morph/cart " in document["message"]


def test_a_later_finish_is_undone_first(done: Scene) -> None:
    done.morph("create", "later", "--worktree", "--type", "chore", "--description", "More")
    done.git("add", "-A", cwd=done.shop / "worktrees/later")
    done.git("commit", "-q", "-m", "More", cwd=done.shop / "worktrees/later")
    done.morph("finish", "later", "--merge", "--force")
    before = done.text("rev-parse", "main~1")
    document = refused(done, "default-moved")
    assert document["fix"] == "morph-spec undo later"
    done.morph("undo", "later")
    assert done.text("rev-parse", "main") == before
    # The branch of the later one stands on the merge: its way out is another.
    assert refused(done, "merge-in-use")["fix"]


def test_the_default_branch_is_somewhere_else(done: Scene) -> None:
    done.git("commit", "-q", "--amend", "--allow-empty", "-m", "another merge")
    assert refused(done, "default-moved")["commits"] is None


def test_the_merge_was_taken_off_by_hand(masters: Callable[[str], Master]) -> None:
    scene = masters("tree").scene()
    before = snapshot(scene)
    finished(scene)
    scene.git("reset", "-q", "--keep", "HEAD~1")
    write(scene.shop / "src/app.py", "a change of mine\n")
    assert run(scene, "undo", "cart").code == 0
    scene.git("checkout", "-q", "src/app.py")
    assert differences(before, snapshot(scene)) == []


@pytest.mark.parametrize("kind", ["bare", "own commits", "tree", "tree with commits"])
def test_another_branch_began_after_the_merge(done: Scene, kind: str) -> None:
    done.git("branch", "morph/next")
    tree = done.base / "next"
    if kind != "bare":
        done.git("worktree", "add", "-q", str(tree), "morph/next")
    if "commits" in kind:
        write(tree / "new.txt", "new\n")
        done.git("add", "new.txt", cwd=tree)
        done.git("commit", "-qm", "Begin", cwd=tree)
    if kind == "own commits":
        done.git("worktree", "remove", str(tree))
    document = refused(done, "merge-in-use")
    assert document["branches"] == ["morph/next"]
    subprocess.run(document["fix"], shell=True, check=True, env={**os.environ, **done.env}, capture_output=True)
    assert run(done, "undo", "cart").code == 0 and done.text("branch", "--show-current") == "main"
    assert ("new.txt" in done.text("ls-tree", "--name-only", "morph/next")) == ("commits" in kind)


def test_the_branch_was_made_again(done: Scene) -> None:
    done.git("branch", "morph/cart", "main~1")
    assert refused(done, "branch-exists")["branch"] == "morph/cart"


def test_a_branch_below_the_name(done: Scene) -> None:
    done.git("branch", "morph/cart/part", "main~1")
    assert refused(done, "branch-exists")["branch"] == "morph/cart/part"


def test_the_branch_at_its_place_already_is_fine(done: Scene) -> None:
    tip = json.loads(next((done.store / "finish/cart").glob("*.json")).read_text())["plan"]["branchTip"]
    done.git("branch", "morph/cart", tip)
    assert run(done, "undo", "cart").code == 0


def test_the_branch_went_on_in_a_kept_tree(masters: Callable[[str], Master]) -> None:
    scene = masters("tree").scene()
    assert run(scene, *FINISH, "--keep").code == 0
    scene.git("commit", "-q", "--allow-empty", "-m", "more", cwd=scene.tree)
    refused(scene, "branch-exists")


def test_something_lies_where_the_tree_was(done: Scene) -> None:
    write(done.tree / "mine.txt", "mine\n")
    assert refused(done, "path-taken")["path"] == str(done.tree)
    shutil.rmtree(done.tree)
    done.git("worktree", "add", "-q", "--detach", str(done.tree), "main~1")
    refused(done, "path-taken")


def test_the_kept_tree_is_gone(masters: Callable[[str], Master]) -> None:
    scene = masters("tree").scene()
    assert run(scene, *FINISH, "--keep").code == 0
    scene.git("worktree", "remove", "--force", str(scene.tree))
    assert refused(scene, "worktree-gone")["worktree"] == str(scene.tree)


def test_the_main_tree_is_on_another_branch(masters: Callable[[str], Master]) -> None:
    scene = masters("main").scene()
    finished(scene)
    scene.git("switch", "-q", "-c", "else", "main~1")
    assert "switch main" in refused(scene, "main-tree-elsewhere")["fix"]


def test_the_ports_belong_to_somebody_else(done: Scene) -> None:
    base = said(done, "undo", "cart", "--dry-run")["ports"]
    write(done.store / "ports.json", json.dumps({"version": 1, "blocks": {"other": {"base": base}}}))
    document = refused(done, "ports-taken")
    assert "'other' has them" in document["message"] and document["holder"] == "other"
    assert "morph-spec delete other --with-worktree" in document["fix"]
    write(done.store / "ports.json", json.dumps({"version": 1, "blocks": {"cart": {"base": 20_000}}}))
    refused(done, "ports-taken")
    write(done.store / "ports.json", json.dumps({"version": 1, "blocks": {}}))
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", base + 3))
        listening.listen()
        refused(done, "ports-taken")


def test_the_feature_was_begun_anew(done: Scene) -> None:
    write(done.shop / ".morph/features/cart/feature.json", "{}")
    refused(done, "feature-exists")


def test_local_changes_that_would_be_overwritten(done: Scene) -> None:
    write(done.shop / "src/app.py", "mine\n")
    document = refused(done, "would-overwrite")
    assert document["paths"] == ["src/app.py"] and (done.shop / "src/app.py").read_text() == "mine\n"


def test_an_ignored_file_where_a_tracked_one_comes_back(done: Scene) -> None:
    write(done.shop / ".git/info/exclude", "old.py\n")
    write(done.shop / "src/old.py", "mine\n")
    assert refused(done, "would-overwrite")["paths"] == ["src/old.py"]


@pytest.mark.parametrize("kept", [False, True])
def test_an_operation_is_in_progress(masters: Callable[[str], Master], kept: bool) -> None:
    scene = masters("tree").scene()
    assert run(scene, *FINISH, *(("--keep",) if kept else ())).code == 0
    tree = scene.tree if kept else scene.shop
    git_dir = Path(scene.text("rev-parse", "--absolute-git-dir", cwd=tree))
    write(git_dir / "MERGE_HEAD", scene.text("rev-parse", "HEAD", cwd=tree))
    refused(scene, "operation-in-progress")


def test_another_git_holds_the_index(done: Scene) -> None:
    write(done.shop / ".git/index.lock", "")
    refused(done, "index-locked", exit_code=3)


def test_two_trees_have_the_default_branch(done: Scene) -> None:
    done.git("worktree", "add", "-q", "--force", str(done.base / "second"), "main")
    refused(done, "default-checked-out-twice")


def _ignored_backup(scene: Scene) -> Path:
    return next((scene.store / "finish-backup").glob("cart-*-worktree-ignored"))


def _feature_backup(scene: Scene) -> Path:
    return next((scene.store / "finish-backup").glob("cart-*-feature"))


def _drop_folder(scene: Scene) -> str:
    folder = _ignored_backup(scene)
    shutil.rmtree(folder)
    folder.with_name(folder.name + ".manifest.json").unlink()
    return ".env.local"


def _drop_manifest(scene: Scene) -> str:
    folder = _ignored_backup(scene)
    folder.with_name(folder.name + ".manifest.json").unlink()
    return ".env.local"


def _tear_manifest(scene: Scene) -> str:
    folder = _ignored_backup(scene)
    folder.with_name(folder.name + ".manifest.json").write_text("{")
    return ".env.local"


def _drop_file(scene: Scene) -> str:
    (_ignored_backup(scene) / "local/run me.sh").unlink()
    return "local/run me.sh"


def _change_file(scene: Scene) -> str:
    write(_ignored_backup(scene) / "local/run me.sh", "#!/bin/zsh\n")
    return "local/run me.sh"


def _strip_secrets(scene: Scene) -> str:
    folder = _ignored_backup(scene)
    manifest = folder.with_name(folder.name + ".manifest.json")
    told = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**told, "secretsStrippedAt": "2026-12-08T00:00:00.000Z"}))
    (folder / ".env.local").unlink()
    return ".env.local"


def _change_feature(scene: Scene) -> str:
    write(_feature_backup(scene) / ".morph/features/cart/2-plan/notes on it.md", "changed\n")
    return ".morph/features/cart/2-plan/notes on it.md"


DAMAGES = [_drop_folder, _drop_manifest, _tear_manifest, _drop_file, _change_file, _strip_secrets, _change_feature]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda one: one.__name__.strip("_").replace("_", " "))
def test_a_backup_that_is_not_whole(done: Scene, damage: Callable[[Scene], str]) -> None:
    path = damage(done)
    document = refused(done, "backup-incomplete")
    assert path in [one["path"] for one in document["missing"]] and all(one["why"] for one in document["missing"])
    assert document["fix"] == "morph-spec undo cart --without-ignored"
    document = said(done, "undo", "cart", "--without-ignored")
    assert path in [one["path"] for one in document["notRestored"]["files"]]
    restored = [*document["restored"]["ignored"], *document["restored"]["feature"]]
    assert path not in restored and (done.tree / ".morph/features/cart/feature.json").exists()
    if damage in (_drop_file, _change_file):
        assert "local/data/deep/x.db" in restored and not (done.tree / path).exists()
    if damage is _change_feature:
        assert (done.tree / ".morph/features/cart/2-plan/plan.md").read_text().endswith("changed and not committed\n")


def test_ignored_files_that_the_finish_discarded(masters: Callable[[str], Master]) -> None:
    scene = masters("tree").scene()
    assert run(scene, *FINISH, "--discard-ignored").code == 0
    assert ".env.local" in refused(scene, "ignored-discarded")["discarded"]
    document = said(scene, "undo", "cart", "--without-ignored")
    assert ".env.local" in [one["path"] for one in document["notRestored"]["files"]]
    assert not (scene.tree / ".env.local").exists() and (scene.tree / ".env").exists()


def test_a_file_that_the_main_tree_had_too_was_changed(done: Scene) -> None:
    write(done.shop / ".env", "SHARED=2\n")
    document = refused(done, "replicated-changed")
    assert [one["path"] for one in document["missing"]] == [".env"]
    assert run(done, "undo", "cart", "--without-ignored").code == 0
    assert not (done.tree / ".env").exists()


def test_a_pull_request_that_is_closed_and_gone_from_the_remote(tmp_path: Path) -> None:
    from tests.fleet.kills_of import hosted

    scene = hosted(tmp_path / "hosted")
    gh, drop = FakeGh(scene.base / "gh"), "git push origin --delete morph/cart"
    before = snapshot(scene)
    assert run(scene, "finish", "cart", "--pr", "--force").code == 0
    document = refused(scene, "already-pushed")
    assert document["pr"]["number"] == 1 and document["fix"] == f"gh pr close 1 && {drop}"
    gh.change(1, state="MERGED")
    assert "is merged" in refused(scene, "already-pushed")["message"]
    gh.change(1, state="CLOSED")
    assert refused(scene, "already-pushed")["fix"].startswith(drop)
    scene.git(*drop.split()[1:])
    gh.reply("pr", "list", code=1, stderr="no such host")
    assert "is not known" in refused(scene, "already-pushed")["message"]
    gh.forget("pr", "list")
    document = said(scene, "undo", "cart")
    assert document["finish"]["mode"] == "pr" and document["default"]["to"] is None
    assert differences(before, snapshot(scene)) == []
    assert run(scene, "finish", "cart", "--merge", "--force").code == 0


def test_the_repository_was_moved(tmp_path: Path) -> None:
    scene = finished(with_tree(tmp_path / "here"))
    moved = Scene(tmp_path / "there")
    os.rename(scene.base, moved.base)
    assert refused(moved, "repository-moved")["primary"] == str(scene.shop)
    os.rename(moved.base, scene.base)
    assert run(scene, "undo", "cart").code == 0


def test_a_feature_nobody_knows(tmp_path: Path) -> None:
    scene = empty_shop(tmp_path / "empty")
    assert said(scene, "undo", "nothing", code=1)["code"] == "nothing-to-undo"
    assert said(scene, "undo", "../x", code=2)["code"] == "feature-not-found"


# Pieces


@pytest.fixture
def strange(masters: Callable[[str], Master]) -> Scene:
    """An undo that was killed before the folder of the feature came back."""
    for number in range(1, 40):
        scene = masters("finished").scene()
        assert in_child(("undo", "cart"), scene.shop, moment=Moment("after-write", number), env=scene.env).code == -9
        record = json.loads(next((scene.store / "finish/cart").glob("*.json")).read_text())
        if record["undo"]["steps"].get("folder", {}).get("state") == "begun":
            return scene
    raise AssertionError("the step `folder` never began")


def test_what_was_written_between_a_kill_and_the_next_run_is_not_lost(strange: Scene) -> None:
    written = strange.tree / ".morph/features/cart/2-plan/mine.md"
    write(written, "mine\n")
    document = said(strange, "undo", "cart", code=1)
    assert document["code"] == "feature-exists" and written.read_text() == "mine\n"
    os.rename(written, strange.base / "mine.md")
    assert said(strange, "undo", "cart")["resumed"]


HALVES = [
    ["locked"],
    ["locked", "gitdir"],
    ["locked", "gitdir", ".git"],
    ["locked", "gitdir", ".git", "HEAD"],
    ["locked", "gitdir", ".git", "HEAD", "commondir"],
    ["locked", "gitdir", ".git", "on the branch", "commondir", "file"],
]


@pytest.fixture(scope="module")
def about_to_add(masters: Callable[[str], Master]) -> Master:
    """An undo that was killed before git made the work tree, its marker written."""
    made = masters("finished")
    for number in range(1, 40):
        scene = made.scene()
        assert in_child(("undo", "cart"), scene.shop, moment=Moment("after-write", number), env=scene.env).code == -9
        if (scene.store / "setup/cart.json").exists():
            kept = Master(made.master.with_name("about"), made.place)
            shutil.copytree(scene.base, kept.master, symlinks=True)
            return kept
    raise AssertionError("the work tree was never about to be made")


@pytest.mark.parametrize("torn", [False, True], ids=["", "torn"])
@pytest.mark.parametrize("half", HALVES, ids=lambda half: half[-1])
def test_git_was_killed_while_it_made_the_tree(about_to_add: Master, half: list[str], torn: bool) -> None:
    scene = about_to_add.scene()
    admin = scene.shop / ".git/worktrees/cart"
    texts = {
        "locked": (admin / "locked", "initializing\n"),
        "gitdir": (admin / "gitdir", f"{scene.tree}/.git\n"),
        ".git": (scene.tree / ".git", f"gitdir: {admin}\n"),
        "HEAD": (admin / "HEAD", "0" * 40 + "\n"),
        "on the branch": (admin / "HEAD", "ref: refs/heads/morph/cart\n"),
        "commondir": (admin / "commondir", "../..\n"),
        "file": (scene.tree / "README.md", "# s"),
    }
    for name in half:
        path, text = texts[name]
        write(path, "" if torn and name == half[-1] else text)
    if half[-1] == "file":
        write(admin / "index.lock", "")
    said(scene, "list")
    document = said(scene, "undo", "cart")
    assert document["resumed"] and (scene.tree / "local/data/deep/x.db").exists()
    assert scene.text("status", "--porcelain", cwd=scene.tree)
    assert os.listdir(scene.shop / "worktrees") == ["cart"] and os.listdir(admin.parent) == ["cart"]
    assert (scene.tree / "README.md").read_text() == "# shop\n"
