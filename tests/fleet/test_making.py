from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.fleet.setup import provision, setup
from morph_tasks.repo.git import open_repo
from tests.conftest import Project
from tests.fleet.birthplace import lay_feature, refused, repo_of, status


@pytest.fixture
def cart(project: Project) -> Path:
    """The folder of a feature that lies uncommitted in the main tree."""
    return lay_feature(project)


class TestInUse:
    def test_a_second_instance_is_told_where_the_first_is(self, project: Project, cart: Path) -> None:
        made = setup(repo_of(project), "cart")
        refusal = refused(project)
        assert (refusal.code, refusal.exit_code) == ("feature-in-use", 3)
        assert refusal.fix == f"cd {made.path}" and refusal.payload["claims"] == []
        assert refusal.payload["worktree"] == {"path": str(made.path), "branch": "morph/cart"}

    def test_the_main_tree_may_be_the_one(self, project: Project, cart: Path) -> None:
        project.git("switch", "-q", "morph/cart")
        refusal = refused(project)
        assert refusal.code == "feature-in-use" and refusal.payload["worktree"]["path"] == str(project.root)

    def test_a_live_claim_comes_along(self, project: Project, cart: Path) -> None:
        made = setup(repo_of(project), "cart")
        assert project.morph("claim", "cart", cwd=made.path).code == 0
        assert [claim["feature"] for claim in refused(project).payload["claims"]] == ["cart"]

    def test_of_two_at_once_one_wins(self, project: Project, cart: Path) -> None:
        argv = ["morph-spec", "worktree", "setup", "cart", "--json", "--wait", "60"]
        started = [subprocess.Popen(argv, cwd=project.root, stdout=subprocess.PIPE) for _ in range(2)]
        said = [json.loads(process.communicate()[0]) for process in started]
        assert sorted(process.returncode for process in started) == [0, 3]
        assert {one.get("code") for one in said} == {None, "feature-in-use"}
        assert status(project.root / "worktrees/cart").count("feature.json") == 1

    def test_a_task_too(self, project: Project) -> None:
        made = provision(repo_of(project), "t1")
        with pytest.raises(Refusal) as caught:
            provision(repo_of(project), "t1")
        assert (caught.value.code, caught.value.exit_code) == ("task-in-use", 3) and str(made.path) in caught.value.fix


class TestPlaces:
    @pytest.mark.parametrize("there", ["folder", "file", "link", "tree", "container"])
    def test_what_is_not_ours_stays(self, project: Project, cart: Path, there: str) -> None:
        path = project.root / "worktrees/cart"
        if there == "container":
            path.parent.write_text("a file")
        else:
            path.parent.mkdir()
        if there == "folder":
            path.mkdir()
            (path / "mine").write_text("x")
        if there == "file":
            path.write_text("x")
        if there == "link":
            path.symlink_to(project.root.parent)
        if there == "tree":
            project.git("worktree", "add", "-q", str(path), "-b", "other")
        refusal = refused(project)
        assert refusal.code == ("write-failed" if there == "container" else "path-taken")

    def test_an_empty_folder_is_nobodys(self, project: Project, cart: Path) -> None:
        (project.root / "worktrees/cart").mkdir(parents=True)
        assert setup(repo_of(project), "cart").path == project.root / "worktrees/cart"

    def test_a_tree_never_lies_in_another_one(self, project: Project) -> None:
        provision(repo_of(project), "a")
        with pytest.raises(Refusal) as caught:
            provision(repo_of(project), "a/b")
        assert caught.value.code == "path-taken" and not (project.root / "worktrees/a/b").exists()

    def test_a_root_elsewhere(self, project: Project, cart: Path, tmp_path: Path) -> None:
        project.config(worktree={"root": str(tmp_path / "trees with space")})
        made = setup(repo_of(project), "cart")
        assert made.path.parent.parent == tmp_path / "trees with space" and not (project.root / "worktrees").exists()
        assert made.root_warning is None

    def test_a_root_inside_is_told(self, project: Project, cart: Path) -> None:
        project.config(worktree={"root": "inside"})
        made = setup(repo_of(project), "cart")
        assert (
            made.path == project.root / "worktrees/cart" and made.root_warning == made.as_json()["worktreeRootWarning"]
        )

    @pytest.mark.parametrize("name", ["with space", 'q"uote', "it's", "new\nline", "ünï", os.fsdecode(b"x\xff")])
    def test_odd_paths(self, tmp_path: Path, name: str) -> None:
        project = Project(tmp_path / name)
        project.root.mkdir()
        project.git("init", "-q", "-b", "main")
        project.write(".env", "A=1\n")
        project.write(".gitignore", ".env\n")
        (project.root / "node_modules").mkdir()
        project.commit()
        lay_feature(project)
        made = setup(repo_of(project), "cart")
        assert made.path == tmp_path / name / "worktrees/cart" and (made.path / ".env").is_file()
        assert status(made.path).replace("?? ", "").split() == [
            ".morph/features/cart/2-plan/plan.md", ".morph/features/cart/feature.json"
        ]  # fmt: skip
        assert os.path.realpath(made.path / "node_modules") == str(project.root / "node_modules")
        said = project.morph("worktree", "setup", "cart", "--json")
        assert said.code == 3 and os.fsencode(said.json["worktree"]["path"]) == os.fsencode(made.path)


class TestRegistrations:
    @pytest.mark.parametrize("how", ["moved", "deleted"])
    def test_a_tree_that_is_not_at_its_place_is_not_taken_over(self, project: Project, how: str) -> None:
        repo, away = repo_of(project), project.root.parent / "away"
        tree = provision(repo, "tt").path
        (tree / "staged").write_text("only here\n")
        project.git("-C", str(tree), "add", "staged")
        os.rename(tree, away)
        shutil.rmtree(away) if how == "deleted" else None
        for _ in range(2):
            with pytest.raises(Refusal) as caught:
                provision(repo, "tt")
            assert caught.value.code == "worktree-missing" and caught.value.exit_code == 1
        assert caught.value.fix and "git worktree repair <where" in caught.value.fix
        assert f"morph-spec worktree remove --target {tree}" in caught.value.fix
        if how == "moved":
            project.git("worktree", "repair", str(away))
            assert status(away) == "A  staged"
            with pytest.raises(Refusal) as caught:
                provision(repo, "tt")
            assert caught.value.fix == f"cd {away}"
        else:
            said = project.morph("worktree", "remove", "--target", str(tree))
            kept = project.git("for-each-ref", "--format=%(refname)", "refs/morph-spec/kept")
            assert f"what was staged there is in {kept}" in said.out
            assert project.git("show", f"{kept}:staged") == "only here"
            assert provision(repo, "tt").path == tree

    def test_the_id_of_a_tree_that_was_given_up_is_not_used_again(self, project: Project) -> None:
        repo, away = repo_of(project), project.root.parent / "away"
        tree = provision(repo, "tt").path
        os.rename(tree, away)
        assert project.morph("worktree", "remove", "tt").code == 0  # it was said to be deleted
        made = provision(repo, "tt").path
        tip = project.git("rev-parse", "morph-task/tt")
        assert made == tree and repo.run("-C", str(away), "status", ok=range(256)).code
        project.git("-C", str(made), "commit", "-q", "--allow-empty", "-m", "x")
        assert project.git("rev-parse", "morph-task/tt~1") == tip
        assert sorted(os.listdir(project.root / ".git/worktrees")) == ["tt1"]

    def test_one_of_the_branch_elsewhere_is_in_the_way_too(self, project: Project, cart: Path) -> None:
        project.git("worktree", "add", "-q", "../old", "morph/cart")
        shutil.rmtree(project.root.parent / "old")
        assert f"--target {project.root.parent}/old" in str(refused(project).fix)

    def test_another_one_that_was_moved_is_let_be(self, project: Project, cart: Path) -> None:
        project.git("worktree", "add", "-q", "../moved", "-b", "moved")
        (project.root.parent / "moved/new").write_text("x\n")
        os.rename(project.root.parent / "moved", project.root.parent / "moved-away")
        setup(repo_of(project), "cart")
        project.git("worktree", "repair", str(project.root.parent / "moved-away"))
        assert status(project.root.parent / "moved-away") == "?? new"

    @pytest.mark.parametrize("state", ["locked", "moved", "rebase"])
    def test_one_that_may_hold_something_is_refused(self, project: Project, cart: Path, state: str) -> None:
        old = project.root.parent / "old"
        project.git("worktree", "add", "-q", str(old), "morph/cart")
        if state == "locked":
            project.git("worktree", "lock", str(old))
        if state == "rebase":
            (project.root / ".git/worktrees/old/rebase-merge").mkdir()
            (project.root / ".git/worktrees/old/rebase-merge/head-name").write_text("refs/heads/morph/cart\n")
        os.rename(old, project.root.parent / "away")
        if state != "moved":
            shutil.rmtree(project.root.parent / "away")
        expected = {"locked": "worktree-locked", "moved": "worktree-moved", "rebase": "worktree-missing"}
        assert refused(project).code == expected[state]


class TestBeginnings:
    def test_without_a_commit_nothing_is_half_created(self, tmp_path: Path) -> None:
        project = Project(tmp_path / "u")
        project.root.mkdir()
        project.git("init", "-q", "-b", "trunk")
        project.write(".morph/features/cart/feature.json", "{}")
        said = project.morph("worktree", "setup", "cart", "--json")
        assert (said.code, said.json["code"]) == (1, "no-commits") and "first commit" in said.json["message"]
        assert project.morph("fleet", "--union", "--json").json["code"] == "no-commits"
        assert project.morph("worktree", "provision", "t", "--json").json["code"] == "no-commits"
        assert project.morph("create", "c", "--worktree", "--type", "bug", "--description", "x").code == 1
        assert not (project.root / "worktrees").exists() and project.git("for-each-ref") == ""
        assert not (project.root / ".git/morph-spec/setup").exists()

    def test_the_first_commit_can_be_made_in_an_empty_folder(self, tmp_path: Path) -> None:
        project = Project(tmp_path / "u")
        project.root.mkdir()
        project.git("init", "-q", "-b", "main")
        wish = ["t", "--type", "bug", "--description", "x", "--json"]
        asked = [["worktree", "provision", "t", "--json"], ["create", *wish], ["create", "--worktree", *wish]]
        fixes = {project.morph(*argv).json["fix"] for argv in asked}
        assert len(fixes) == 1
        subprocess.run(fixes.pop(), shell=True, cwd=project.root, check=True, capture_output=True)
        assert project.morph("worktree", "provision", "t").code == 0

    @pytest.mark.parametrize("there", ["morph", "morph/cart/more", "MORPH/CART"])
    def test_a_branch_in_the_way(self, project: Project, cart: Path, there: str) -> None:
        project.git("branch", "-D", "morph/cart")
        project.git("branch", there)
        assert refused(project).code == ("branch-exists" if there.isupper() else "branch-blocked")

    def test_no_default_branch(self, project: Project, cart: Path) -> None:
        project.git("branch", "-D", "morph/cart")
        project.git("branch", "-m", "main", "one")
        project.git("branch", "two")
        assert refused(project).code == "no-default-branch"


class TestRepositories:
    def test_a_hook_that_fails_after_the_checkout_is_a_warning(self, project: Project, cart: Path) -> None:
        hook = project.write("hooks/post-checkout", "#!/bin/sh\necho nope >&2\nexit 1\n")
        hook.chmod(0o755)
        project.git("config", "core.hooksPath", "hooks")
        project.commit()
        project.git("branch", "-f", "morph/cart")
        made = setup(repo_of(project), "cart")
        assert "nope" in made.warnings[0] and open_repo(made.path).branch() == "morph/cart"

    @pytest.mark.parametrize("mode", ["cone", "patterns"])
    def test_sparse_checkouts_keep_their_shape_and_the_feature(self, project: Project, cart: Path, mode: str) -> None:
        project.write("big/data", "x")
        project.write("src/app", "x")
        project.commit()
        project.git("branch", "-f", "morph/cart")
        project.git("config", "extensions.worktreeConfig", "true")
        project.git("sparse-checkout", "set", *(["src"] if mode == "cone" else ["--no-cone", "/src/"]))
        made = setup(repo_of(project), "cart")
        assert (made.path / "src/app").exists() and not (made.path / "big").exists()
        assert (made.path / ".morph/features/cart/feature.json").exists() and "sparse" in made.warnings[0]
        assert status(made.path) == "" and not (project.root / ".morph/features").exists()

    def test_submodules_are_left_and_told(self, project: Project, cart: Path, tmp_path: Path) -> None:
        lib = Project(tmp_path / "lib")
        lib.root.mkdir()
        lib.git("init", "-q", "-b", "main")
        lib.write("x", "x")
        lib.commit()
        project.git("submodule", "add", "-q", str(lib.root), "lib")
        project.commit()
        project.git("branch", "-f", "morph/cart")
        made = setup(repo_of(project), "cart")
        assert "submodule update --init" in made.warnings[0] and os.listdir(made.path / "lib") == []

    def test_a_separate_git_folder(self, project: Project, cart: Path, tmp_path: Path) -> None:
        project.git("init", "-q", "--separate-git-dir", str(tmp_path / "git"))
        made = setup(repo_of(project), "cart")
        assert made.path == project.root / "worktrees/cart" and made.moved

    def test_a_configuration_that_is_broken_on_the_branch_can_be_mended_there(
        self, project: Project, cart: Path
    ) -> None:
        project.write(".morph/config/config.json", "{ broken")
        project.git("add", "-f", ".morph/config")
        project.git("commit", "-qm", "broken")
        project.git("branch", "-f", "morph/cart")
        project.config()
        assert setup(repo_of(project), "cart").path.is_dir()
