"""What is refused, each before anything changed; and the dry run, which is the same look."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.fleet.finish.service import Wish, finish
from morph_tasks.fleet.finish.wish import from_variables, mode_of, of_journal
from morph_tasks.repo.git import open_repo
from tests.fleet.finish.conftest import Cart, add_origin, make
from tests.gh import FakeGh

# What is asked for


@pytest.mark.parametrize("both", [True, False])
def test_exactly_one_of_the_two_ways(both: bool) -> None:
    with pytest.raises(Refusal) as caught:
        mode_of("cart", merge=both, pr=both)
    assert (caught.value.code, caught.value.exit_code) == ("usage", 2)


def test_push_belongs_to_a_merge(cart: Cart) -> None:
    refusal = cart.refused_untouched("pr", push=True)
    assert (refusal.code, refusal.exit_code) == ("push-with-pr", 1)
    assert "finish cart --pr" in refusal.fix and "finish cart --merge --push" in refusal.fix


def test_variables_of_doit() -> None:
    assert from_variables("cart", {"mode": "pr", "keep": "1", "dry_run": "yes"}) == Wish("pr", keep=True, dry_run=True)


@pytest.mark.parametrize(
    ("variables", "code"),
    [
        ({}, "usage"),
        ({"mode": "squash"}, "bad-option"),
        ({"mode": "merge", "fresh": "1"}, "unknown-option"),
        ({"mode": "merge", "push": "maybe"}, "bad-option"),
    ],
)
def test_wrong_variables_of_doit(variables: dict[str, str], code: str) -> None:
    with pytest.raises(Refusal) as caught:
        from_variables("cart", variables)
    assert (caught.value.code, caught.value.exit_code) == (code, 2)


@pytest.mark.parametrize(
    ("wish", "typed"),
    [
        (Wish("merge", force=True, keep_volumes=True), "morph-spec finish cart --merge --keep-volumes --force"),
        (from_variables("cart", {"mode": "merge", "force": "1"}), "doit finish:cart mode=merge force=1"),
        (
            of_journal({"mode": "merge", "options": Wish("merge", True, True, True, False, True, True).options()}),
            "morph-spec finish cart --merge --push --keep --keep-volumes --force --discard-ignored",
        ),
    ],
)
def test_a_way_out_keeps_what_was_asked_for(wish: Wish, typed: str) -> None:
    assert wish.command("cart") == typed


# Where the feature stands


def test_no_such_feature(cart: Cart) -> None:
    for slug in ("shop", "../cart", ""):
        with pytest.raises(Refusal) as caught:
            finish(open_repo(cart.main), slug, Wish("merge"))
        assert (caught.value.code, caught.value.exit_code) == ("feature-not-found", 2)


def test_a_feature_without_a_branch(own: Cart) -> None:
    own.git("switch", "-q", "main")
    own.git("branch", "-qD", "morph/cart")
    own.write(".morph/features/cart/feature.json", '{"name": "old"}', main=True)
    refusal = own.refused_untouched()
    assert refusal.code == "no-feature-branch" and refusal.fix == "morph-spec archive cart"


def test_a_branch_in_no_tree(own: Cart) -> None:
    own.git("switch", "-q", "main")
    refusal = own.refused_untouched()
    assert refusal.code == "branch-not-checked-out" and refusal.fix == "morph-spec worktree setup cart"


def test_a_branch_in_two_trees(cart: Cart, tmp_path: Path) -> None:
    cart.git("worktree", "add", "-qf", str(tmp_path / "twice"), "morph/cart")
    assert cart.refused_untouched().code == "branch-checked-out-twice"


def test_an_unborn_repository(tmp_path: Path) -> None:
    main = tmp_path / "new"
    main.mkdir()
    cart = Cart(main, main)
    cart.git("init", "-q", "-b", "main")
    cart.write(".morph/features/cart/feature.json", "{}")
    assert cart.refused().code == "no-feature-branch"


def test_nothing_tells_the_default_branch(cart: Cart) -> None:
    cart.git("switch", "-q", "--detach")
    cart.git("branch", "-qm", "main", "one")
    cart.git("branch", "-q", "two", "one")
    cart.git("config", "init.defaultBranch", "gone")
    assert cart.refused_untouched().code == "no-default-branch"


def test_no_local_default_branch(cart: Cart, tmp_path: Path) -> None:
    add_origin(cart, tmp_path / "origin.git")
    cart.git("remote", "set-head", "origin", "main")
    cart.git("switch", "-q", "--detach")
    cart.git("branch", "-qD", "main")
    refusal = cart.refused_untouched()
    assert refusal.code == "no-local-default" and refusal.fix == "git branch main origin/main"


# The feature


def test_a_review_that_nobody_approved(cart: Cart) -> None:
    path = cart.tree / ".morph/features/cart/feature.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "approvalGates": {}}))
    refusal = cart.refused_untouched()
    assert refusal.code == "review-not-approved" and "approve cart review" in refusal.fix
    assert cart.finish(force=True)["integrated"]


@pytest.mark.parametrize(("text", "code"), [("{", "corrupt-file"), ('{"status": 7}', "invalid-feature")])
def test_a_broken_record(cart: Cart, text: str, code: str) -> None:
    cart.write(".morph/features/cart/feature.json", text)
    assert cart.refused_untouched().code == code


def test_a_taken_place_in_the_archive(cart: Cart) -> None:
    cart.commit(".morph/archive/cart/feature.json", "{}")
    assert cart.refused_untouched().code == "archive-exists"


def test_an_archive_that_git_ignores(cart: Cart) -> None:
    cart.commit(".gitignore", ".morph/archive/\n")
    assert cart.refused_untouched().code == "archive-ignored"


def test_nobody_to_commit_as(cart: Cart, monkeypatch: pytest.MonkeyPatch) -> None:
    cart.git("config", "user.useConfigOnly", "true")
    home = Path(os.environ["HOME"]) / ".gitconfig"
    home.write_text("[init]\n\tdefaultBranch = main\n")
    assert cart.refused_untouched().code == "no-identity"


# The tree


@pytest.mark.parametrize("mode", ["merge", "pr"])
def test_work_that_is_not_committed(cart: Cart, mode: str, gh: FakeGh, origin: Path) -> None:
    cart.write("total.py", "total = 2\n")
    cart.write("new.py")
    refusal = cart.refused_untouched(mode)
    assert refusal.code == "worktree-dirty" and sorted(refusal.payload["paths"]) == ["new.py", "total.py"]
    assert str(cart.tree) in refusal.fix


def test_work_that_git_was_told_not_to_look_at(cart: Cart) -> None:
    cart.git("update-index", "--assume-unchanged", "total.py", cwd=cart.tree)
    cart.write("total.py", "total = 2\n")
    assert cart.refused_untouched().payload["paths"] == ["total.py"]


def test_work_in_the_main_tree_that_owns_the_feature(own: Cart) -> None:
    own.write("total.py", "total = 2\n")
    assert own.refused_untouched().code == "worktree-dirty"


def test_work_on_another_feature_is_work(cart: Cart) -> None:
    cart.write(".morph/features/other/feature.json", "{}")
    cart.write(".morph/features/cart-two/feature.json", "{}")
    paths = cart.refused_untouched().payload["paths"]
    assert [path.rstrip("/").split("/")[2] for path in sorted(paths)] == ["cart-two", "other"]


def test_from_inside_of_the_tree(cart: Cart, monkeypatch: pytest.MonkeyPatch) -> None:
    (cart.tree / "deep").mkdir()
    monkeypatch.chdir(cart.tree / "deep")
    refusal = cart.refused_untouched(start=cart.tree)
    assert refusal.code == "cwd-inside-worktree"
    assert refusal.fix == f"cd {cart.main} && morph-spec finish cart --merge"


def test_kept_from_inside_of_the_tree(cart: Cart, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(cart.tree)
    assert cart.finish(start=cart.tree, keep=True)["integrated"]


def test_a_locked_tree(cart: Cart) -> None:
    cart.git("worktree", "lock", "--reason", "an agent runs", str(cart.tree))
    refusal = cart.refused_untouched()
    assert refusal.code == "worktree-locked" and "an agent runs" in refusal.what


def test_another_work_tree_inside(cart: Cart) -> None:
    cart.git("worktree", "add", "-q", "--detach", str(cart.tree / "local/inner"))
    assert cart.refused_untouched().code == "worktree-inside"


def test_somebody_else_at_work_is_a_warning(cart: Cart, monkeypatch: pytest.MonkeyPatch) -> None:
    from morph_tasks.fleet import claims

    monkeypatch.setenv("MORPH_SESSION_ID", "somebody")
    claims.acquire(open_repo(cart.tree), "cart")
    monkeypatch.setenv("MORPH_SESSION_ID", "me")
    assert any("somebody" in line for line in cart.finish(dry_run=True)["warnings"])


def test_a_merge_in_progress_in_the_tree(cart: Cart) -> None:
    cart.commit("README.md", "# cart\n")
    cart.commit("README.md", "# main\n", main=True)
    cart.git("merge", "main", cwd=cart.tree, ok=False)
    assert cart.refused_untouched().code == "operation-in-progress"


def test_a_rebase_in_progress_in_the_tree(cart: Cart) -> None:
    cart.commit("README.md", "# cart\n")
    cart.commit("README.md", "# main\n", main=True)
    cart.git("rebase", "-q", "main", cwd=cart.tree, ok=False)
    assert cart.refused_untouched().code == "operation-in-progress"


def test_a_submodule_with_work_of_its_own(tmp_path: Path) -> None:
    library = make(tmp_path / "library", linked=False)
    cart = make(tmp_path / "shop", linked=True)
    cart.git("submodule", "add", "-q", str(library.main), "lib", cwd=cart.tree)
    cart.git("switch", "-qc", "mine", cwd=cart.tree / "lib")
    (cart.tree / "lib/mine").write_text("mine\n")
    cart.git("add", "-A", cwd=cart.tree / "lib")
    cart.git("commit", "-qm", "Mine", cwd=cart.tree / "lib")
    cart.git("add", "-A", cwd=cart.tree)
    cart.git("commit", "-qm", "Use the library", cwd=cart.tree)
    assert cart.refused_untouched().code == "submodule-unproved"


# The merge


def test_a_conflict_is_known_before_anything_changes(cart: Cart) -> None:
    cart.commit("README.md", "# cart\n")
    cart.commit("README.md", "# main\n", main=True)
    refusal = cart.refused_untouched()
    assert refusal.code == "merge-conflict" and refusal.payload["paths"] == ["README.md"]
    assert f"git -C {cart.tree} merge main" in refusal.fix and "finish cart --merge" in refusal.fix


def test_the_way_out_of_a_conflict(cart: Cart) -> None:
    cart.commit("README.md", "# cart\n")
    cart.commit("README.md", "# main\n", main=True)
    assert cart.refused().code == "merge-conflict"
    cart.git("merge", "main", cwd=cart.tree, ok=False)
    cart.write("README.md", "# both\n")
    cart.git("commit", "-qam", "Both", cwd=cart.tree)
    assert cart.finish()["integrated"] and (cart.main / "README.md").read_text() == "# both\n"


def test_a_conflict_that_only_the_archive_commit_makes(cart: Cart) -> None:
    cart.git("merge", "-q", "morph/cart", "--no-commit", "--no-ff")
    cart.git("commit", "-qm", "Everything so far")
    cart.git("rm", "-rq", ".morph/features")
    cart.write(".morph/archive/cart/feature.json", "another archive of that name", main=True)
    cart.git("add", "-A")
    cart.git("commit", "-qm", "Archived by hand")
    assert cart.refused_untouched().code == "merge-conflict"


def test_a_feature_that_was_squashed_into_the_default_branch_does_not_live_on(cart: Cart) -> None:
    cart.git("merge", "-q", "--squash", "morph/cart")
    cart.git("commit", "-qm", "Squashed by hand")
    refusal = cart.refused_untouched()
    assert refusal.code == "feature-in-default" and f"git -C {cart.tree} merge main" in refusal.fix
    cart.git("merge", "-q", "main", cwd=cart.tree)
    assert cart.finish()["integrated"]
    assert not (cart.main / ".morph/features/cart").exists() and (cart.main / ".morph/archive/cart").is_dir()


@pytest.mark.parametrize("how", ["edited", "staged", "hidden", "untracked", "ignored"])
def test_local_changes_in_the_way_of_the_default_branch(cart: Cart, how: str) -> None:
    name = "total.py" if how in ("untracked", "ignored") else "README.md"
    cart.commit("README.md", "# by the cart\n")
    if how == "ignored":
        cart.write("made.log", "by the cart\n")
        cart.git("add", "-f", "made.log", cwd=cart.tree)
        cart.git("commit", "-qm", "A log", cwd=cart.tree)
        name = "made.log"
    if how == "hidden":
        cart.git("update-index", "--assume-unchanged", "README.md")
    cart.write(name, "precious\n", main=True)
    if how == "staged":
        cart.git("add", name)
    refusal = cart.refused_untouched()
    assert refusal.code == "would-overwrite" and refusal.payload["paths"] == [name]
    assert (cart.main / name).read_text() == "precious\n"


def test_a_file_in_the_way_of_the_main_tree_that_owns_the_feature(own: Cart, tmp_path: Path) -> None:
    other = tmp_path / "other"
    own.git("worktree", "add", "-q", str(other), "main")
    (other / "made.log").write_text("by main\n")
    own.git("add", "-f", "made.log", cwd=other)
    own.git("commit", "-qm", "A log", cwd=other)
    own.git("worktree", "remove", str(other))
    own.write("made.log", "precious\n")
    refusal = own.refused_untouched()
    assert refusal.code == "would-overwrite" and refusal.payload["paths"] == ["made.log"]


def test_a_merge_in_progress_in_the_main_tree(cart: Cart) -> None:
    cart.git("branch", "-q", "side")
    cart.commit("README.md", "# main\n", main=True)
    cart.git("switch", "-q", "side")
    cart.commit("README.md", "# side\n", main=True)
    cart.git("switch", "-q", "main")
    cart.git("merge", "side", ok=False)
    assert cart.refused_untouched().code == "operation-in-progress"


def test_git_works_in_the_main_tree(cart: Cart) -> None:
    (cart.main / ".git/index.lock").write_text("")
    refusal = cart.refused_untouched()
    assert (refusal.code, refusal.exit_code) == ("index-locked", 3)


def test_a_shallow_clone(cart: Cart, tmp_path: Path) -> None:
    cart.commit("news.md", main=True)
    clone = tmp_path / "shallow"
    cart.git("clone", "-q", "--depth=1", "--no-single-branch", f"file://{cart.main}", str(clone))
    shallow = Cart(clone, clone / "worktrees/cart")
    shallow.git("worktree", "add", "-q", str(shallow.tree), "morph/cart")
    refusal = shallow.refused_untouched()
    assert refusal.code == "shallow-clone" and refusal.fix == "git fetch --unshallow"


def test_backups_cannot_be_written(cart: Cart, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage("/")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=10))
    assert cart.refused_untouched().code == "backup-failed"


# The dry run


def test_a_dry_run_changes_nothing_and_tells_all(cart: Cart, origin: Path) -> None:
    cart.write(".env", "SECRET=1\n")
    cart.write(".env", "SECRET=1\n", main=True)
    cart.write(".env.local", "PORT=1\n")
    cart.write("local/notes", "mine\n")
    (cart.tree / "local/link").symlink_to(cart.main / "worktrees")
    before = cart.snapshot()
    told = cart.outcome(dry_run=True)
    made = told.as_json()
    assert cart.snapshot() == before and cart.journal is None
    assert (made["preflight"], made["finished"], made["ok"]) == (True, False, True)
    assert made["ignored"]["shieldable"] == [".env.local", "local/notes"]
    assert made["ignored"]["replicable"] == [".env"] and isinstance(made["ignored"]["discardable"], list)
    assert made["cwdInsideWorktree"] is False and made["teardownDeferred"] is None
    assert made["baseAdvanced"] == {"ref": "origin/main", "commits": 0}
    [link] = made["reparsePoints"]
    assert link["path"] == "local/link" and "morph-spec" in link["warning"]
    assert "merge morph/cart into main (--no-ff, local)" in made["wouldDo"]
    assert f"remove the work tree {cart.tree}" in made["wouldDo"] and "delete the branch morph/cart" in made["wouldDo"]
    assert told.lines[0] == "cart would be finished; nothing was changed"
    assert "memoryNote" not in made


def test_a_dry_run_from_inside_of_the_tree_warns_and_ends_well(cart: Cart, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(cart.tree)
    made = cart.finish(start=cart.tree, dry_run=True)
    assert made["cwdInsideWorktree"] and any("without --dry-run this is refused" in line for line in made["warnings"])


def test_a_dry_run_foretells_a_teardown_that_is_put_off(cart: Cart, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(cart.tree / "src"))
    made = cart.finish(dry_run=True)
    assert made["teardownDeferred"] == "session-anchored"
    assert f"leave the work tree {cart.tree} where it is" in made["wouldDo"]


def test_a_dry_run_refuses_what_the_finish_would(cart: Cart) -> None:
    cart.write("total.py", "total = 2\n")
    assert cart.refused_untouched(dry_run=True).code == "worktree-dirty"


def test_a_dry_run_in_the_main_tree(own: Cart) -> None:
    made = own.finish(dry_run=True)
    assert f"move {own.main} from morph/cart to main" in made["wouldDo"] and made["ignored"]["shieldable"] == []


def test_a_dry_run_does_not_know_what_nothing_tells(cart: Cart) -> None:
    assert cart.finish(dry_run=True)["baseAdvanced"] == {"ref": "origin/main", "commits": None}


def test_a_dry_run_makes_no_pull_request(cart: Cart, gh: FakeGh, origin: Path) -> None:
    before = cart.snapshot()
    made = cart.finish("pr", dry_run=True)
    assert "push morph/cart to origin and open a pull request into main" in made["wouldDo"]
    assert not gh.calls("pr", "create") and cart.snapshot() == before and not gh.pulls()
    assert cart.git("for-each-ref", cwd=origin).count("morph/") == 0


# What was verified


def test_whether_the_last_verify_speaks_for_this_code(cart: Cart) -> None:
    assert cart.finish(dry_run=True)["verification"] == {"current": False, "reason": "nothing was verified"}
    path = cart.tree / ".morph/features/cart/feature.json"
    data = json.loads(path.read_text())
    path.write_text(json.dumps({**data, "verification": {"status": "fail"}}))
    assert cart.finish(dry_run=True)["verification"] == {"current": False, "reason": "it ended with fail"}
    path.write_text(json.dumps({**data, "verification": {"status": "pass", "nodeIds": ["tests/gone"]}}))
    made = cart.finish(dry_run=True)
    assert made["verification"]["current"] is False and "the nodes are not the ones" in made["verification"]["reason"]
    assert any("does not speak for this code" in line for line in made["warnings"])
