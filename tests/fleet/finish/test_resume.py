"""A finish that was broken off goes on; one that is done is refused; two at once are one."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.fleet import backups
from morph_tasks.fleet import journal as journals
from morph_tasks.fleet.finish import service
from morph_tasks.fleet.finish.service import Wish, ended, finish, step
from morph_tasks.fleet.stamps import new_stamp
from morph_tasks.repo import moving
from morph_tasks.repo.git import open_repo
from tests.conftest import BIN
from tests.fleet.finish.conftest import Cart, add_feature


def check_done(cart: Cart, made: dict[str, Any]) -> None:
    assert made["integrated"] and cart.tip("main") == made["mergeCommit"]
    assert len(cart.git("rev-list", "--parents", "-n", "1", "main").split()) == 3
    assert cart.git("rev-list", "--count", "--merges", "main") == "1"
    assert cart.git("rev-list", "--count", "main") == "4"  # start, work, archive, merge
    assert not cart.tree.exists() and cart.tip("morph/cart") == ""
    assert cart.git("status", "--porcelain") == "" and (cart.main / "total.py").exists()
    assert cart.journal and cart.journal.state == "done"
    assert list((cart.store / "finish/cart").iterdir()) == [cart.journal.path]


@pytest.mark.parametrize("name", list(service.STEPS))
@pytest.mark.parametrize("when", ["before", "after"])
def test_broken_off_at_a_step(cart: Cart, monkeypatch: pytest.MonkeyPatch, name: str, when: str) -> None:
    cart.write("local/mine", "only here\n")
    whole = service.STEPS[name]

    def broken(repo: Any, journal: Any) -> None:
        if when == "after":
            whole(repo, journal)
            journal.data["steps"][name]["state"] = "begun"  # killed before it could write that it was done
            journal.data["state"] = "open"
            journal.save()
        raise KeyboardInterrupt

    monkeypatch.setitem(service.STEPS, name, broken)
    with pytest.raises(KeyboardInterrupt):
        cart.finish()
    monkeypatch.setitem(service.STEPS, name, whole)
    made = cart.finish()
    check_done(cart, made)
    assert made["resumed"] is (name != "preflight"), "from the archive on there is work to take up"
    assert made["verification"] == {"current": False, "reason": "nothing was verified"}, "what the first run could tell"
    assert Path(made["ignoredBackup"], "local/mine").read_text() == "only here\n"
    assert made["archiveCommit"] == cart.tip("main^2")


def test_killed_between_the_reference_and_the_files(cart: Cart, monkeypatch: pytest.MonkeyPatch) -> None:
    move = moving._move_head

    def broken(*args: Any) -> Any:
        move(*args)
        raise KeyboardInterrupt

    monkeypatch.setattr(moving, "_move_head", broken)
    with pytest.raises(KeyboardInterrupt):
        cart.finish()
    monkeypatch.undo()
    assert not (cart.main / "total.py").exists() and cart.git("status", "--porcelain") != ""
    monkeypatch.chdir(cart.main.parent)
    made = cart.finish()
    check_done(cart, made)
    assert made["resumed"]


def test_killed_while_the_main_tree_switches(own: Cart, monkeypatch: pytest.MonkeyPatch) -> None:
    cart = own
    cart.git("update-ref", "refs/heads/main", cart.git("commit-tree", "-p", "main", "-m", "News", "main^{tree}"))
    move = moving._move_head

    def broken(*args: Any) -> Any:
        move(*args)
        raise KeyboardInterrupt

    monkeypatch.setattr(moving, "_move_head", broken)
    with pytest.raises(KeyboardInterrupt):
        cart.finish()
    monkeypatch.undo()
    monkeypatch.chdir(cart.main.parent)
    made = cart.finish()
    assert made["integrated"] and made["resumed"] and cart.git("status", "--porcelain") == ""
    assert cart.git("symbolic-ref", "--short", "HEAD") == "main" and cart.tip("HEAD") == made["mergeCommit"]
    assert cart.tip("morph/cart") == ""


def test_once_is_enough(cart: Cart) -> None:
    made = cart.finish()
    before = cart.snapshot()
    refusal = cart.refused()
    assert refusal.code == "already-finished" and made["mergeCommit"][:10] in refusal.what
    assert cart.snapshot() == before


def test_merged_by_hand_after_the_archive(cart: Cart, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(service.STEPS, "integrate", _interrupt)
    with pytest.raises(KeyboardInterrupt):
        cart.finish()
    monkeypatch.undo()
    monkeypatch.chdir(cart.main.parent)
    cart.git("merge", "-q", "--no-ff", "-m", "By hand", "morph/cart")
    by_hand = cart.tip("main")
    made = cart.finish()
    assert made["alreadyContained"] and made["resumed"] and cart.tip("main") == by_hand and made["worktreeRemoved"]


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


def test_archived_before_and_never_integrated(cart: Cart) -> None:
    done = subprocess.run([str(BIN / "morph-spec"), "archive", "cart"], cwd=cart.tree, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    made = cart.finish()
    assert made["resumed"] and made["integrated"] and made["archiveCommit"] is None


def test_archived_and_integrated_by_other_means(cart: Cart) -> None:
    subprocess.run([str(BIN / "morph-spec"), "archive", "cart"], cwd=cart.tree, capture_output=True, check=True)
    cart.git("merge", "-q", "--no-ff", "-m", "By hand", "morph/cart")
    refusal = cart.refused_untouched()
    assert refusal.code == "already-finished" and "main holds the work" in refusal.what


def test_archived_integrated_and_its_branch_gone(own: Cart) -> None:
    own.finish()
    for path in (own.store / "finish").rglob("*.json"):
        path.unlink()
    refusal = own.refused()
    assert refusal.code == "already-finished" and "in its archive" in refusal.what


def test_an_archived_branch_of_a_shallow_clone(cart: Cart, tmp_path: Path) -> None:
    subprocess.run([str(BIN / "morph-spec"), "archive", "cart"], cwd=cart.tree, capture_output=True, check=True)
    cart.commit("news.md", main=True)
    clone = tmp_path / "shallow"
    cart.git("clone", "-q", "--depth=1", "--no-single-branch", f"file://{cart.main}", str(clone))
    shallow = Cart(clone, clone / "worktrees/cart")
    shallow.git("branch", "-q", "morph/cart", "origin/morph/cart")
    assert shallow.refused_untouched().code == "resume-undecidable"


def test_a_feature_of_the_same_name_begins_anew(cart: Cart) -> None:
    cart.finish()
    cart.git("rm", "-rq", ".morph/archive/cart", "total.py")
    cart.git("commit", "-qm", "Forget it")
    add_feature(cart, linked=True)
    made = cart.finish()
    assert made["integrated"] and "resumed" not in made


def test_a_finish_that_is_being_undone(cart: Cart) -> None:
    cart.finish()
    found = cart.journal
    assert found
    found.close("undoing")
    refusal = cart.refused()
    assert refusal.code == "undo-unfinished" and refusal.fix == "morph-spec undo cart"


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"version": 1, "state": "open", "plan": {}, "steps": {}}', '{"version": 2}']
)
def test_a_journal_that_cannot_be_read(cart: Cart, text: str) -> None:
    place = cart.store / "finish/cart/20261130T080000000000Z.json"
    place.parent.mkdir(parents=True)
    place.write_text(text)
    refusal = cart.refused()
    assert refusal.code == "corrupt-file" and refusal.fix.startswith(f"mv {place} ")


@pytest.mark.parametrize("after", ["archive", "integrate"])
def test_without_its_journal_the_branch_tells(cart: Cart, monkeypatch: pytest.MonkeyPatch, after: str) -> None:
    _broken_after(cart, monkeypatch, after)
    assert cart.journal
    cart.journal.path.unlink()
    if after == "archive":
        check_done(cart, cart.finish())
    else:
        refusal = cart.refused()
        assert refusal.code == "already-finished" and "worktree remove cart" in refusal.fix


# Hooks and references that refuse


def test_an_archive_commit_that_is_refused_leaves_all_as_it_was(cart: Cart) -> None:
    before = cart.git("status", "--porcelain", cwd=cart.tree), cart.tip("morph/cart"), cart.tip("main")
    cart.hook("reference-transaction", "grep -q refs/heads/morph/cart && test $1 = prepared && exit 1; exit 0")
    refusal = cart.refused()
    assert refusal.code == "commit-failed"
    assert before == (cart.git("status", "--porcelain", cwd=cart.tree), cart.tip("morph/cart"), cart.tip("main"))
    assert (cart.tree / ".morph/features/cart/feature.json").exists()
    cart.hook("reference-transaction", "exit 0")
    check_done(cart, cart.finish())


def test_a_merge_that_is_refused_leaves_the_default_branch(cart: Cart) -> None:
    before = cart.tip("main")
    cart.hook("reference-transaction", "grep -q refs/heads/main && test $1 = prepared && exit 1; exit 0")
    refusal = cart.refused()
    assert refusal.code == "reference-refused" and cart.tip("main") == before
    assert cart.git("status", "--porcelain") == "" and not (cart.main / ".git/index.lock").exists()
    assert cart.tree.is_dir()
    cart.hook("reference-transaction", "exit 0")
    made = cart.finish()
    check_done(cart, made)
    assert made["resumed"]


def test_a_branch_that_may_not_be_deleted_stays(cart: Cart) -> None:
    zeros = "0" * 40
    cart.hook(
        "reference-transaction", f"test $1 = prepared && grep -q ' {zeros} refs/heads/morph/cart' && exit 1; exit 0"
    )
    made = cart.finish()
    assert made["integrated"] and made["branchDeleted"] is False and cart.tip("morph/cart")
    assert any("morph/cart stays" in line for line in made["warnings"])


def test_a_default_branch_that_moves_meanwhile_is_merged_with_again(
    cart: Cart, monkeypatch: pytest.MonkeyPatch
) -> None:
    from morph_tasks.fleet.finish import integrate

    make, moved = integrate.commit_tree, []

    def late(repo: Any, tree: str, given: Any, message: str) -> str:
        found = make(repo, tree, given, message)
        if not moved:
            moved.append(cart.commit("news.md", main=True))
        return found

    monkeypatch.setattr(integrate, "commit_tree", late)
    made = cart.finish()
    assert cart.git("rev-list", "--parents", "-n", "1", "main").split()[1] == moved[0]
    assert made["integrated"] and (cart.main / "news.md").exists() and cart.git("status", "--porcelain") == ""


def test_a_default_branch_that_no_tree_shows_moves_meanwhile(cart: Cart, monkeypatch: pytest.MonkeyPatch) -> None:
    from morph_tasks.fleet.finish import integrate

    cart.git("switch", "-qc", "else")
    make, moved = integrate.commit_tree, []

    def late(repo: Any, tree: str, given: Any, message: str) -> str:
        found = make(repo, tree, given, message)
        if not moved:
            moved.append(cart.git("commit-tree", "-p", "main", "-m", "news", "main^{tree}"))
            cart.git("update-ref", "refs/heads/main", moved[0])
        return found

    monkeypatch.setattr(integrate, "commit_tree", late)
    assert cart.finish()["integrated"]
    assert cart.git("rev-list", "--parents", "-n", "1", "main").split()[1] == moved[0]


# Step by step, and two at once


def test_step_by_step(cart: Cart) -> None:
    repo, wish = open_repo(cart.main), Wish("merge")
    for name in journals.STEPS:
        step(repo, "cart", wish, name)
        step(repo, "cart", wish, name) if name not in ("preflight", "retention") else None
    check_done(cart, ended(repo, "cart").as_json())


def test_a_step_before_there_is_a_journal(cart: Cart) -> None:
    with pytest.raises(Refusal) as caught:
        step(open_repo(cart.main), "cart", Wish("merge"), "archive")
    assert caught.value.code == "no-journal"


def test_another_finish_in_between_does_the_rest(cart: Cart) -> None:
    repo, wish = open_repo(cart.main), Wish("merge")
    step(repo, "cart", wish, "preflight")
    step(repo, "cart", wish, "archive")
    check_done(cart, finish(repo, "cart", wish).as_json())
    for name in ("integrate", "teardown", "retention"):
        step(repo, "cart", wish, name)
    check_done(cart, ended(repo, "cart").as_json())


def test_what_a_slow_finish_copied_stays_behind_newer_copies(cart: Cart) -> None:
    cart.write(".morph/config/config.json", '{"finishBackup": {"retention": {"maxCount": 1}}}', main=True)
    cart.write("local/mine", "only here\n")
    repo, wish = open_repo(cart.main), Wish("merge")
    for name in journals.STEPS[:-1]:
        step(repo, "cart", wish, name)
    older, newer = (backups.folder(repo, "other", stamp) for stamp in ("20250101T000000000000Z", new_stamp()))
    for place in (older, newer):
        assert backups.back_up_files(repo, cart.main, ["README.md"], folder=place, about={})
    step(repo, "cart", wish, "retention")
    made = ended(repo, "cart").as_json()
    assert Path(made["ignoredBackup"], "local/mine").exists() and newer.exists() and not older.exists()


def test_two_at_once_are_one(cart: Cart) -> None:
    said: list[subprocess.CompletedProcess[bytes]] = []

    def run() -> None:
        argv = [str(BIN / "morph-spec"), "finish", "cart", "--merge", "--json", "--wait", "60"]
        said.append(subprocess.run(argv, cwd=cart.main, capture_output=True))

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done.returncode for done in said) == [0, 1, 1]
    assert sum(b'"already-finished"' in done.stdout for done in said) == 2
    assert cart.git("rev-list", "--count", "--merges", "main") == "1" and not cart.tree.exists()


def test_a_second_one_does_not_wait_for_ever(cart: Cart) -> None:
    script = (
        "import sys\nfrom pathlib import Path\nfrom morph_tasks.repo.git import open_repo\n"
        "from morph_tasks.fleet.lock import fleet_lock\n"
        "with fleet_lock(open_repo(Path(sys.argv[1]))):\n    print('held', flush=True)\n    sys.stdin.read()\n"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", script, str(cart.main)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout and holder.stdout.readline() == b"held\n"
    argv = [str(BIN / "morph-spec"), "finish", "cart", "--merge", "--wait", "0"]
    done = subprocess.run(argv, cwd=cart.main, capture_output=True, text=True)
    holder.communicate(b"")
    assert done.returncode == 3 and "error busy" in done.stderr
    assert cart.finish()["integrated"]


def test_a_plan_that_changed_after_a_refusal_counts(cart: Cart) -> None:
    cart.hook("reference-transaction", "grep -q refs/heads/morph/cart && test $1 = prepared && exit 1; exit 0")
    assert cart.refused().code == "commit-failed"
    plan = "# Cart\n\n## Decisions\n\n### ADR-001 — Cents\n**Scope:** project\n\nNo floats.\n"
    cart.write(".morph/features/cart/2-plan/plan.md", plan)
    cart.hook("reference-transaction", "exit 0")
    made = cart.finish()
    assert made["adrIndex"] == {"added": ["cart--ADR-001"]}
    saved = Path(made["featureBackup"]) / ".morph/features/cart"
    assert (saved / "2-plan/plan.md").read_text() == plan
    assert '"in_progress"' in (saved / "feature.json").read_text()


def test_killed_between_the_move_and_its_commit(cart: Cart, monkeypatch: pytest.MonkeyPatch) -> None:
    from morph_tasks.features import removal

    plan = "# Cart\n\n## Decisions\n\n### ADR-001 — Cents\n**Scope:** project\n\nNo floats.\n"
    cart.write(".morph/features/cart/2-plan/plan.md", plan)

    class Killed(BaseException):
        pass

    def killed(*_: Any, **__: Any) -> None:
        raise Killed

    monkeypatch.setattr(removal, "commit_paths", killed)
    monkeypatch.setattr(removal, "_put_back", lambda before: (_ for _ in ()).throw(Killed()))
    with pytest.raises(Killed):
        cart.finish()
    monkeypatch.undo()
    monkeypatch.chdir(cart.main.parent)
    assert not (cart.tree / ".morph/features/cart").exists()
    assert (cart.tree / ".morph/specs/adrs/cart--ADR-001.md").exists()
    made = cart.finish()
    assert made["resumed"] and made["adrIndex"] == {"added": ["cart--ADR-001"]} and made["archiveCommit"]
    assert (cart.main / ".morph/specs/adrs/cart--ADR-001.md").exists() and cart.git("status", "--porcelain") == ""
    assert '"archived"' in (cart.main / ".morph/archive/cart/feature.json").read_text()


def test_a_conflict_that_came_after_the_archive(cart: Cart, monkeypatch: pytest.MonkeyPatch) -> None:
    cart.commit("README.md", "# cart\n")
    monkeypatch.setitem(service.STEPS, "integrate", _interrupt)
    with pytest.raises(KeyboardInterrupt):
        cart.finish()
    monkeypatch.undo()
    monkeypatch.chdir(cart.main.parent)
    cart.commit("README.md", "# main\n", main=True)
    refusal = cart.refused()
    assert refusal.code == "merge-conflict" and f"git -C {cart.tree} merge main" in refusal.fix
    cart.git("merge", "main", cwd=cart.tree, ok=False)
    cart.write("README.md", "# both\n")
    cart.git("commit", "-qam", "Both", cwd=cart.tree)
    made = cart.finish()
    assert made["integrated"] and made["resumed"] and (cart.main / "README.md").read_text() == "# both\n"
    assert cart.journal and cart.journal.plan["branchTip"] != made["archiveCommit"]


def _broken_after(cart: Cart, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Break a finish off right before the step that follows `name`."""
    after = list(service.STEPS)[list(service.STEPS).index(name) + 1]
    with monkeypatch.context() as patch:
        patch.setitem(service.STEPS, after, _interrupt)
        with pytest.raises(KeyboardInterrupt):
            cart.finish()


def test_the_default_branch_went_on_before_the_run_was_taken_up(cart: Cart, monkeypatch: pytest.MonkeyPatch) -> None:
    _broken_after(cart, monkeypatch, "integrate")
    found = cart.journal
    assert found
    found.begin("integrate")  # killed before it could write that it was done
    on = cart.commit("total.py", "total = 2\n", main=True)
    made = cart.finish()
    assert made["integrated"] and cart.tip("main") == on and cart.git("status", "--porcelain") == ""
    assert (cart.main / "total.py").read_text() == "total = 2\n" and made["branchDeleted"]


def test_a_merge_that_was_taken_away_is_made_again(cart: Cart, monkeypatch: pytest.MonkeyPatch) -> None:
    _broken_after(cart, monkeypatch, "integrate")
    cart.git("reset", "-q", "--hard", "HEAD~1")
    check_done(cart, cart.finish())


def test_a_merge_that_was_taken_away_once_the_tree_was_gone(cart: Cart, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("morph_tasks.fleet.finish.teardown._delete_branch", _interrupt)
    with pytest.raises(KeyboardInterrupt):
        cart.finish()
    monkeypatch.undo()
    monkeypatch.chdir(cart.main.parent)
    cart.git("reset", "-q", "--hard", "HEAD~1")
    check_done(cart, cart.finish())


def test_the_repository_was_moved_before_the_run_was_taken_up(cart: Cart, monkeypatch: pytest.MonkeyPatch) -> None:
    cart.write("local/mine", "only here\n")
    _broken_after(cart, monkeypatch, "integrate")
    main = cart.main.with_name("moved")
    tree = main / cart.tree.relative_to(cart.main)
    cart.main.rename(main)
    moved = Cart(main, tree)
    monkeypatch.chdir(main.parent)
    assert moved.refused().code == "worktree-moved" and (tree / "local/mine").exists()
    moved.git("worktree", "repair", str(tree))
    made = moved.finish()
    check_done(moved, made)
    assert Path(made["ignoredBackup"], "local/mine").read_text() == "only here\n"


def test_new_work_after_the_merge_keeps_its_branch(cart: Cart, monkeypatch: pytest.MonkeyPatch) -> None:
    _broken_after(cart, monkeypatch, "integrate")
    tip = cart.commit("late.py")
    made = cart.finish()
    assert made["branchDeleted"] is False and cart.tip("morph/cart") == tip


def test_a_feature_that_begins_anew_beside_an_unfinished_journal(cart: Cart, monkeypatch: pytest.MonkeyPatch) -> None:
    _broken_after(cart, monkeypatch, "integrate")
    cart.git("worktree", "remove", "--force", str(cart.tree))
    cart.git("branch", "-qD", "morph/cart")
    cart.git("rm", "-rq", ".morph/archive/cart", "total.py")
    cart.git("commit", "-qm", "Forget it")
    add_feature(cart, linked=True)
    before = cart.tip("main")
    made = cart.finish()
    assert made["integrated"] and "resumed" not in made and made["mergeCommit"] == cart.tip("main") != before
    assert (cart.main / "total.py").exists() and len(list((cart.store / "finish/cart").iterdir())) == 2
