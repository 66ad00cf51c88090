"""`finish --merge` when nothing stands in its way, and what it leaves."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.proc import ProcError
from morph_tasks.repo.git import Repo
from tests.fleet.finish.conftest import Cart, add_feature, add_origin, make


def parents(cart: Cart, ref: str) -> list[str]:
    return cart.git("rev-list", "--parents", "-n", "1", ref).split()[1:]


def test_the_work_arrives_by_a_merge_commit_and_the_tree_is_gone(cart: Cart) -> None:
    start, tip = cart.tip("main"), cart.tip("morph/cart")
    made = cart.finish()

    assert made["finished"] and made["integrated"] and made["ok"] and "resumed" not in made
    assert cart.tip("main") == made["mergeCommit"]
    assert parents(cart, "main") == [start, made["archiveCommit"]] and parents(cart, made["archiveCommit"]) == [tip]
    assert (cart.main / "total.py").read_text() == "total = 1\n"
    assert cart.git("status", "--porcelain") == ""
    assert not cart.tree.exists() and made["worktreeRemoved"]
    assert cart.tip("morph/cart") == "" and made["branchDeleted"]
    assert len(cart.git("worktree", "list").splitlines()) == 1


def test_the_archive_travels_with_the_branch(cart: Cart) -> None:
    made = cart.finish()
    changed = cart.git("show", "--format=%s", "--no-renames", "--name-status", made["archiveCommit"]).splitlines()
    assert changed == [
        "Archive cart",
        "",
        "A\t.morph/archive/cart/2-plan/plan.md",
        "A\t.morph/archive/cart/feature.json",
        "D\t.morph/features/cart/2-plan/plan.md",
        "D\t.morph/features/cart/feature.json",
    ]
    data = json.loads((cart.main / ".morph/archive/cart/feature.json").read_text())
    assert data["status"] == "archived" and data["archivedAt"]
    assert made["archived"] == ".morph/archive/cart" and not (cart.main / ".morph/features/cart").exists()
    assert cart.git("log", "-1", "--format=%B", "main") == "Merge branch 'morph/cart'\n\nTotals of a cart"


def test_a_feature_in_the_main_tree(own: Cart) -> None:
    own.write("loose.log", "ignored\n")
    made = own.finish(start=own.main)
    assert own.git("symbolic-ref", "--short", "HEAD") == "main"
    assert own.tip("HEAD") == made["mergeCommit"] and own.git("status", "--porcelain") == ""
    assert made["worktreeRemoved"] is None and made["branchDeleted"] and own.tip("morph/cart") == ""
    assert (own.main / "total.py").exists() and (own.main / "loose.log").exists()


def test_a_feature_in_the_main_tree_while_the_default_branch_went_on(own: Cart) -> None:
    blob = own.git("rev-parse", "main:README.md")
    tree = own.git("rev-parse", "main^{tree}")
    listing = own.git("ls-tree", tree) + f"\n100644 blob {blob}\tnews.md\n"
    made = own.main / "listing"
    made.write_text(listing)
    new = own.git("commit-tree", "-p", "main", "-m", "News", own_tree(own, listing))
    made.unlink()
    own.git("update-ref", "refs/heads/main", new)
    own.finish()
    assert (own.main / "news.md").exists() and (own.main / "total.py").exists()
    assert own.git("status", "--porcelain") == ""


def own_tree(cart: Cart, listing: str) -> str:
    import subprocess

    done = subprocess.run(["git", "mktree"], cwd=cart.main, input=listing.encode(), capture_output=True, check=True)
    return done.stdout.decode().strip()


def test_what_was_not_committed_in_the_folder_of_the_feature_is_archived(cart: Cart) -> None:
    cart.write(".morph/features/cart/2-plan/plan.md", "# Cart, changed\n")
    cart.write(".morph/features/cart/notes.md", "new\n")
    cart.write(".morph/features/cart/raw.log", "ignored\n")
    made = cart.finish()
    archive = cart.main / ".morph/archive/cart"
    assert (archive / "2-plan/plan.md").read_text() == "# Cart, changed\n" and (archive / "notes.md").exists()
    saved = Path(made["featureBackup"]) / ".morph/features/cart"
    assert (saved / "raw.log").read_text() == "ignored\n" and (saved / "feature.json").exists()
    assert json.loads((saved / "feature.json").read_text())["status"] == "in_progress"


def test_a_feature_that_was_never_committed(cart: Cart) -> None:
    cart.git("rm", "-rq", "--cached", ".morph/features", cwd=cart.tree)
    cart.git("commit", "-qm", "forget", cwd=cart.tree)
    cart.finish()
    assert (cart.main / ".morph/archive/cart/feature.json").exists()


def test_derived_files_do_not_stand_in_the_way(cart: Cart) -> None:
    cart.commit(".gitignore", "*.log\n")  # nothing of `.morph/` is ignored any more
    cart.write(".morph/state.json", "{}")
    cart.write(".morph/worktree.env", "PORT=1\n")
    made = cart.finish()
    assert made["worktreeRemoved"]
    assert "state.json" in cart.git("show", "main:.morph/.gitignore")


def test_typed_in_a_third_tree(cart: Cart, tmp_path: Path) -> None:
    other = tmp_path / "other"
    cart.git("worktree", "add", "-q", "--detach", str(other))
    made = cart.finish(start=other)
    assert made["integrated"] and cart.git("status", "--porcelain") == ""


def test_the_default_branch_in_another_linked_tree(cart: Cart, tmp_path: Path) -> None:
    cart.git("switch", "-q", "--detach")
    held = tmp_path / "held"
    cart.git("worktree", "add", "-q", str(held), "main")
    before = cart.tip("HEAD")
    made = cart.finish()
    assert (held / "total.py").exists() and cart.git("status", "--porcelain", cwd=held) == ""
    assert cart.git("rev-parse", "HEAD", cwd=held) == made["mergeCommit"] and cart.tip("HEAD") == before


def test_a_bare_repository_with_linked_trees_only(cart: Cart, tmp_path: Path) -> None:
    bare, held = tmp_path / "bare.git", tmp_path / "held"
    cart.git("clone", "-q", "--bare", str(cart.main), str(bare))
    cart.git("remote", "remove", "origin", cwd=bare)
    other = Cart(held, tmp_path / "tree")
    cart.git("worktree", "add", "-q", str(held), "main", cwd=bare)
    cart.git("worktree", "add", "-q", str(other.tree), "morph/cart", cwd=bare)
    made = other.finish()
    assert made["worktreeRemoved"] and not other.tree.exists() and other.tip("main") == made["mergeCommit"]
    assert (held / "total.py").exists() and other.git("status", "--porcelain") == ""


def test_the_default_branch_in_no_tree(cart: Cart) -> None:
    cart.git("switch", "-q", "--detach")
    made = cart.finish()
    assert cart.tip("main") == made["mergeCommit"] and not (cart.main / "total.py").exists()
    assert cart.git("status", "--porcelain") == ""


def test_a_main_tree_with_unrelated_changes(cart: Cart) -> None:
    cart.write("README.md", "# edited\n", main=True)
    cart.write("staged.md", "staged\n", main=True)
    cart.git("add", "staged.md")
    cart.write("loose.md", "loose\n", main=True)
    cart.finish()
    assert cart.git("status", "--porcelain").splitlines() == ["M README.md", "A  staged.md", "?? loose.md"]
    assert (cart.main / "total.py").exists()


def test_a_default_branch_that_went_on(cart: Cart) -> None:
    cart.commit("news.md", main=True)
    cart.finish()
    assert (cart.main / "news.md").exists() and (cart.main / "total.py").exists()


def test_a_feature_beside_which_another_one_was_archived(tmp_path: Path) -> None:
    """The move into the archive looks like a renamed folder: git would move the other feature along."""
    cart = make(tmp_path / "shop", linked=False)
    for number in range(4):
        cart.write(f".morph/features/shop/{number}.md", f"page {number}\n" * 20)
    cart.git("switch", "-q", "main")
    cart.git("branch", "-qD", "morph/cart")
    cart.git("add", "-A")
    cart.git("commit", "-qm", "A feature on main")
    other = Cart(cart.main, cart.main / "worktrees/other", "other")
    add_feature(other, linked=True)
    (cart.main / ".morph/archive").mkdir()
    cart.git("mv", ".morph/features/shop", ".morph/archive/shop")
    cart.git("commit", "-qm", "Archive it")
    made = other.finish()
    assert made["integrated"] and sorted(os.listdir(cart.main / ".morph/archive")) == ["other", "shop"]
    assert cart.git("ls-files", ".morph/features") == ""


@pytest.mark.parametrize("name", ["with space", "quote's \"d", "new\nline", "höhe"])
def test_paths_of_all_kinds(tmp_path: Path, name: str) -> None:
    cart = make(tmp_path / name / "shop", linked=True)
    cart.commit(f"{name}.txt", f"{name}\n")
    cart.write(f"local/{name}", "only here\n")
    made = cart.finish()
    assert (cart.main / f"{name}.txt").read_text() == f"{name}\n"
    assert made["backedUp"] == [f"local/{name}"]
    assert (Path(made["ignoredBackup"]) / "local" / name).read_text() == "only here\n"


def test_a_repository_of_sha_256(tmp_path: Path) -> None:
    cart = make(tmp_path / "shop", linked=True, options=("--object-format=sha256",))
    made = cart.finish()
    assert len(made["mergeCommit"]) == 64 and cart.git("status", "--porcelain") == ""


def test_what_is_left_to_publish(cart: Cart, origin: Path) -> None:
    made = cart.finish()
    assert made["publish"] == {"remote": "origin", "branch": "main", "ahead": 3, "pushed": False}
    assert made["nextStep"] == "3 commits of main are not on origin/main: git push origin main"


def test_nothing_tells_what_is_published(cart: Cart, tmp_path: Path) -> None:
    cart.git("remote", "add", "origin", str(tmp_path / "never-fetched"))
    made = cart.finish()
    assert made["publish"] == {"remote": "origin", "branch": "main", "ahead": None, "pushed": False}
    assert made["nextStep"] == "integrated into the local main only; to publish it: git push origin main"


def test_pushed_afterwards(cart: Cart, origin: Path) -> None:
    made = cart.finish(push=True)
    assert made["publish"] == {"remote": "origin", "branch": "main", "ahead": 0, "pushed": True, "published": 3}
    assert made["nextStep"] is None and "pushError" not in made
    assert cart.git("rev-parse", "main", cwd=origin) == cart.tip("main")


def test_no_origin_to_push_to(cart: Cart) -> None:
    made = cart.finish(push=True)
    assert made["pushError"] == "no-origin-remote" and made["integrated"] and made["publish"]["pushed"] is False
    assert made["publish"]["ahead"] is None and "git push" not in made["nextStep"] and made["ok"]


def test_a_push_that_is_refused_leaves_the_merge(cart: Cart, origin: Path) -> None:
    cart.hook("pre-push", "echo 'not on a Friday' >&2; exit 1")
    made = cart.finish(push=True)
    assert not made["ok"] and made["finished"] and made["nextStep"].endswith("git push origin main")
    assert "not on a Friday" in made["pushError"] and made["integrated"] and made["worktreeRemoved"]
    assert made["publish"] == {"remote": "origin", "branch": "main", "ahead": 3, "pushed": False}


def test_kept_as_asked(cart: Cart) -> None:
    made = cart.finish(keep=True)
    assert made["worktreeRemoved"] is False and "teardownDeferred" not in made
    assert made["worktree"] == {"path": str(cart.tree), "branch": "morph/cart"}
    assert "morph-spec worktree remove cart" in made["hint"]
    assert cart.tree.is_dir() and cart.tip("morph/cart") and made["branchDeleted"] is False
    assert made["publish"]["ahead"] is None and made["nextStep"]


def test_kept_in_the_main_tree(own: Cart) -> None:
    made = own.finish(keep=True)
    assert own.git("symbolic-ref", "--short", "HEAD") == "morph/cart" and own.tip("main") == made["mergeCommit"]
    assert made["worktree"] == {"path": str(own.main), "branch": "morph/cart"} and "git switch main" in made["hint"]


def test_deferred_for_a_session_in_the_tree(cart: Cart, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(cart.tree))
    monkeypatch.chdir(cart.tree)
    made = cart.finish(start=cart.tree)
    assert made["integrated"] and made["worktreeRemoved"] is False
    assert made["teardownDeferred"] == "session-anchored"
    assert made["worktree"] == {"path": str(cart.tree), "branch": "morph/cart"}
    assert "morph-spec worktree remove cart" in made["hint"] and cart.tree.is_dir()
    assert cart.git("status", "--porcelain", cwd=cart.tree) == ""


def test_the_session_of_the_main_tree_defers_nothing(cart: Cart, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MORPH_SESSION_PROJECT_DIR", str(cart.main))
    assert cart.finish()["worktreeRemoved"]


def test_what_every_success_tells(cart: Cart) -> None:
    made = cart.outcome()
    assert made.as_json()["memoryNote"] and made.lines[0] == "cart is finished: morph/cart is merged into main"
    assert all(len(line) < 320 for line in made.lines)


def test_decisions_go_into_the_record_in_the_same_commit(cart: Cart) -> None:
    cart.commit(".morph/specs/adrs/old--ADR-007.md", "# ADR-007\n")
    cart.commit(
        ".morph/features/cart/2-plan/plan.md",
        "# Cart\n\n## Decisions\n\n### ADR-001 — Cents\n**Scope:** project\n\nNo floats.\n\n"
        "### Conflicts with the record\n\n| ADR | Change | Scope |\n|---|---|---|\n| ADR-007 | total | |\n"
        "| ADR-099 | total | |\n",
    )
    made = cart.finish()
    assert made["adrIndex"] == {"added": ["cart--ADR-001"], "revoked": ["old--ADR-007"]}
    assert [(one["id"], one["reason"]) for one in made["revocationProblems"]] == [("ADR-099", "not-in-record")]
    assert os.listdir(cart.main / ".morph/specs/adrs") == ["cart--ADR-001.md"]
    changed = cart.git("show", "--format=", "--name-only", made["archiveCommit"])
    assert ".morph/specs/adrs/cart--ADR-001.md" in changed and ".morph/specs/adrs/old--ADR-007.md" in changed


def test_a_plan_without_decisions_says_nothing_of_them(cart: Cart) -> None:
    made = cart.finish()
    assert "adrIndex" not in made and "revocationProblems" not in made


def test_a_copy_that_an_older_tool_left_in_the_main_tree(cart: Cart) -> None:
    cart.write(".morph/features/cart/feature.json", '{"name": "a stale copy"}', main=True)
    made = cart.finish()
    assert not (cart.main / ".morph/features/cart").exists()
    saved = Path(made["shedBackup"]) / ".morph/features/cart/feature.json"
    assert "stale" in saved.read_text() and made["shedBackup"].endswith(str(cart.journal and cart.journal.stamp))


def test_the_ports_are_free_again(cart: Cart) -> None:
    from morph_tasks.repo.git import open_repo
    from morph_tasks.stack.ports import block_of, known_block

    block = block_of(open_repo(cart.main), "cart")
    made = cart.finish()
    assert made["portsReleased"] and known_block(open_repo(cart.main), "cart") is None
    assert cart.journal and cart.journal.plan["portsBase"] == block.base


def test_claims_are_released(cart: Cart) -> None:
    from morph_tasks.fleet import claims
    from morph_tasks.repo.git import open_repo

    claims.acquire(open_repo(cart.tree), "cart")
    made = cart.finish()
    assert made["claimsReleased"] and claims.of(open_repo(cart.main), "cart") == []


def test_a_submodule_comes_along(tmp_path: Path) -> None:
    library = make(tmp_path / "library", linked=False)
    cart = make(tmp_path / "shop", linked=True)
    cart.git("submodule", "add", "-q", str(library.main), "lib", cwd=cart.tree)
    cart.git("commit", "-qm", "Use the library", cwd=cart.tree)
    made = cart.finish()
    assert made["worktreeRemoved"] and "160000 commit" in cart.git("ls-tree", "main", "lib")


def test_an_own_folder_of_hooks(cart: Cart, tmp_path: Path) -> None:
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("pre-commit", "commit-msg", "pre-merge-commit", "prepare-commit-msg"):
        (hooks / name).write_text("#!/bin/sh\nexit 1\n")
        (hooks / name).chmod(0o755)
    (hooks / "post-merge").write_text(f"#!/bin/sh\ntouch '{tmp_path}/ran'\n")
    (hooks / "post-merge").chmod(0o755)
    cart.git("config", "core.hooksPath", str(hooks))
    assert cart.finish()["integrated"] and (tmp_path / "ran").exists()


def test_signing_without_a_terminal(cart: Cart) -> None:
    cart.git("config", "commit.gpgsign", "true")
    cart.git("config", "gpg.program", "/bin/false")
    cart.git("config", "merge.verifySignatures", "true")
    made = cart.finish()
    assert made["integrated"] and any("unsigned" in line for line in made["warnings"])
    assert cart.git("config", "commit.gpgsign") == "true"


def test_a_recorded_resolution_is_not_used(cart: Cart) -> None:
    for name, value in (("rerere.enabled", "true"), ("rerere.autoupdate", "true")):
        cart.git("config", name, value)
    cart.commit("README.md", "# cart\n")
    cart.commit("README.md", "# main\n", main=True)
    cart.git("merge", "morph/cart", ok=False)
    cart.write("README.md", "# both\n", main=True)
    cart.git("commit", "-qam", "Both")
    cart.git("reset", "-q", "--hard", "HEAD~1")
    refusal = cart.refused_untouched()
    assert refusal.code == "merge-conflict" and refusal.payload["paths"] == ["README.md"]
    assert not (cart.main / ".git/MERGE_HEAD").exists()


@pytest.mark.parametrize("name", ["post-merge", "post-checkout"])
def test_a_hook_that_complains_afterwards_is_a_warning(tmp_path: Path, name: str) -> None:
    cart = make(tmp_path / "shop", linked=name == "post-merge")
    cart.hook(name, "echo late >&2; exit 3")
    made = cart.finish()
    assert made["integrated"] and any(f"the hook {name} ended with" in line for line in made["warnings"])
    assert cart.git("status", "--porcelain") == ""


def test_a_hook_that_does_not_end_does_not_keep_the_finish_from_its_end(
    cart: Cart, monkeypatch: pytest.MonkeyPatch
) -> None:
    cart.hook("post-merge", "exec sleep 60")
    whole = Repo.run

    def hasty(repo: Repo, *args: str, **how: Any) -> Any:
        if args[0] == "hook":
            raise ProcError("command-timeout", "`git hook run` did not end within 120 s")
        return whole(repo, *args, **how)

    monkeypatch.setattr(Repo, "run", hasty)
    made = cart.finish()
    assert made["integrated"] and made["worktreeRemoved"]
    assert any("post-merge" in line and "120 s" in line for line in made["warnings"])


def test_hooks_of_a_move_run(cart: Cart, tmp_path: Path) -> None:
    cart.hook("post-merge", f"echo \"$1 $(git rev-parse --show-toplevel)\" > '{tmp_path}/ran'")
    cart.finish()
    assert (tmp_path / "ran").read_text() == f"0 {os.path.realpath(cart.main)}\n"


def test_settings_of_a_merge_do_not_count(cart: Cart) -> None:
    for name, value in (
        ("merge.ff", "false"),
        ("branch.main.mergeOptions", "--squash"),
        ("merge.autostash", "true"),
        ("core.fsmonitor", "/bin/false"),
        ("core.splitIndex", "true"),
        ("fetch.prune", "true"),
    ):
        cart.git("config", name, value)
    cart.write("README.md", "# edited\n", main=True)
    made = cart.finish()
    assert len(parents(cart, "main")) == 2 and made["integrated"]
    assert cart.git("status", "--porcelain") == "M README.md" and cart.git("stash", "list") == ""


def test_a_remote_that_is_ahead(cart: Cart, origin: Path, tmp_path: Path) -> None:
    add = tmp_path / "clone"
    cart.git("clone", "-q", str(origin), str(add))
    (add / "new.md").write_text("new\n")
    cart.git("add", "-A", cwd=add)
    cart.git("commit", "-qm", "new", cwd=add)
    cart.git("push", "-q", "origin", "main", cwd=add)
    cart.git("fetch", "-q")
    made = cart.finish(push=True)
    assert made["baseAdvanced"] == {"ref": "origin/main", "commits": 1}
    assert "rejected" in made["pushError"] and "hint" not in made["pushError"] and made["integrated"]
    way_out = made["nextStep"].partition(": ")[2]
    assert subprocess.run(way_out, shell=True, cwd=tmp_path, capture_output=True).returncode == 0
    assert cart.git("rev-parse", "main", cwd=origin) == cart.tip("main")


def test_origin_of_a_feature_in_the_main_tree(own: Cart, tmp_path: Path) -> None:
    add_origin(own, tmp_path / "origin.git")
    made = own.finish(push=True)
    assert made["publish"]["pushed"] and own.git("symbolic-ref", "--short", "HEAD") == "main"
