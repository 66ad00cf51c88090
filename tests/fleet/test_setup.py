from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.fleet import marker
from morph_tasks.fleet import setup as births
from morph_tasks.fleet.setup import SetUp, provision, reattach, setup
from morph_tasks.repo.git import open_repo
from morph_tasks.stack.ports import block_of, known_block, release
from morph_tasks.stack.project import known_project
from tests.conftest import Project
from tests.fleet.birthplace import everything, files_of, lay_feature, refused, repo_of, status


@pytest.fixture
def cart(project: Project) -> Path:
    """The folder of a feature that lies uncommitted in the main tree."""
    return lay_feature(project)


class TestOfAFeature:
    def test_an_uncommitted_feature_moves_into_its_tree_and_nowhere_else(self, project: Project, cart: Path) -> None:
        (cart / "1-design").mkdir()
        (cart / "2-plan/run.sh").write_bytes(b"\xff\0")
        (cart / "2-plan/run.sh").chmod(0o755)
        (cart / "2-plan/link").symlink_to("../../../../README.md")
        before = files_of(cart)
        made = setup(repo_of(project), "cart")
        assert made.moved and not made.resumed and made.path == project.root / "worktrees/cart"
        there = made.path / ".morph/features/cart"
        assert not os.path.lexists(cart) and (there / "1-design").is_dir()
        after = files_of(there)
        assert after.pop("handoff.md") and after == before
        assert stat.S_IMODE((there / "2-plan/run.sh").stat().st_mode) == 0o755
        assert open_repo(made.path).branch() == "morph/cart" and repo_of(project).branch() == "main"
        assert json.loads((project.root / ".morph/state.json").read_text())["features"] == {}
        assert os.listdir(project.root / ".morph/features") == []

    def test_a_committed_feature_comes_with_the_branch_and_the_tree_is_clean(self, project: Project) -> None:
        (project.root / "node_modules").mkdir()
        project.write(".gitignore", "node_modules/\n.env\n")
        project.write(".env", "A=1\n")
        shutil.rmtree(lay_feature(project) / "2-plan")
        project.commit()
        project.git("branch", "-D", "morph/cart")
        made = setup(repo_of(project), "cart")
        assert not made.moved and made.warnings == () and made.base_ref == "main"
        assert made.links.made == ("node_modules",) and made.copies.env == (".env",)
        assert status(made.path) == "" and status(project.root) == ""
        assert made.handoff == made.path / ".morph/features/cart/handoff.md" and made.handoff.is_file()
        assert (made.path / ".morph/worktree.env").is_file()
        assert marker.read(repo_of(project), "cart") is None and os.listdir(repo_of(project).store / "setup") == []

    def test_a_feature_that_was_committed_after_its_branch_was_made_is_copied(
        self, project: Project, cart: Path
    ) -> None:
        project.commit()
        before = files_of(cart)
        made = setup(repo_of(project), "cart")
        assert files_of(cart) == before and "a copy stays" in made.warnings[0]
        assert files_of(made.path / ".morph/features/cart").items() >= before.items()

    def test_untracked_files_beside_committed_ones_move_along(self, project: Project, cart: Path) -> None:
        project.commit()
        project.git("branch", "-f", "morph/cart")
        (cart / "3-implement/F1").mkdir(parents=True)
        (cart / "3-implement/F1/report.md").write_text("new\n")
        made = setup(repo_of(project), "cart")
        assert made.warnings == () and not (cart / "3-implement").exists() and (cart / "feature.json").exists()
        assert (made.path / ".morph/features/cart/3-implement/F1/report.md").read_text() == "new\n"

    def test_another_copy_in_the_main_tree_stays_and_is_told(self, project: Project, cart: Path) -> None:
        project.commit()
        project.git("branch", "-f", "morph/cart")
        project.git("rm", "-rq", "--cached", ".morph/features")
        project.git("commit", "-qm", "only on the branch")
        (cart / "feature.json").write_text("{}")
        before = files_of(cart)
        made = setup(repo_of(project), "cart")
        assert files_of(cart) == before and "another copy" in made.warnings[0] and not made.moved
        assert json.loads((made.path / ".morph/features/cart/feature.json").read_text())["feature"] == "cart"

    @pytest.mark.parametrize("edit", ["staged", "changed", "deleted", "staged and changed"])
    def test_a_half_committed_feature_is_refused_with_the_way_out(
        self, project: Project, cart: Path, edit: str
    ) -> None:
        if edit == "staged":
            project.git("add", ".morph/features")
        else:
            project.commit()
            (cart / "2-plan/plan.md").write_text("# changed\n")
        if edit == "deleted":
            (cart / "2-plan/plan.md").unlink()
        if edit == "staged and changed":
            project.git("add", ".")
            (cart / "2-plan/plan.md").write_text("# again\n")
        refusal = refused(project)
        assert refusal.code == "feature-uncommitted" and refusal.payload["paths"]
        subprocess.run(refusal.fix, shell=True, cwd="/", check=True, capture_output=True)
        assert setup(repo_of(project), "cart").path.is_dir()

    def test_what_cannot_be_moved_is_refused(self, project: Project, cart: Path) -> None:
        os.mkfifo(cart / "pipe")
        assert refused(project).code == "odd-file"
        (cart / "pipe").unlink()
        os.rename(cart, project.root / "elsewhere")
        cart.symlink_to(project.root / "elsewhere")
        assert refused(project).code == "feature-is-link"

    @pytest.mark.parametrize("slug", ["nothing", "../cart", "", ".", "a/b"])
    def test_a_feature_that_is_not_there(self, project: Project, cart: Path, slug: str) -> None:
        refusal = refused(project, slug)
        assert (refusal.code, refusal.exit_code) == ("feature-not-found", 2)

    def test_a_feature_that_exists_only_on_its_branch_or_at_origin(
        self, project: Project, cart: Path, origin: Path
    ) -> None:
        project.git("switch", "-q", "morph/cart")
        project.commit()
        project.git("push", "-q", "origin", "morph/cart")
        project.git("switch", "-q", "main")
        made = setup(repo_of(project), "cart")
        assert made.base_ref == "morph/cart" and status(made.path) == ""
        project.git("worktree", "remove", "--force", str(made.path))
        project.git("branch", "-D", "morph/cart")
        made = setup(repo_of(project), "cart")
        assert made.base_ref == "origin/morph/cart" and status(made.path) == ""
        assert open_repo(made.path).text("rev-parse", "--abbrev-ref", "@{upstream}") == "origin/morph/cart"

    def test_from_a_linked_tree_it_is_the_same(self, project: Project, cart: Path) -> None:
        project.git("worktree", "add", "-q", "../side", "-b", "side")
        made = setup(open_repo(project.root.parent / "side"), "cart")
        assert made.path == project.root / "worktrees/cart" and made.moved


class TestAllOrNothing:
    @pytest.mark.parametrize("step", ["link_all", "copy_all", "let_go", "bring", "furnish", "_config_of"])
    @pytest.mark.parametrize("error", [Refusal("boom", "It broke"), KeyboardInterrupt()])
    def test_a_step_that_fails_takes_the_ones_before_it_back(
        self, project: Project, cart: Path, monkeypatch: pytest.MonkeyPatch, step: str, error: BaseException
    ) -> None:
        project.git("branch", "-D", "morph/cart")
        (project.root / "node_modules").mkdir()
        project.write("node_modules/lib", "keep")
        before = everything(project)

        def fail(*_: Any, **__: Any) -> None:
            raise error

        monkeypatch.setattr(births, step, fail)
        with pytest.raises(type(error)):
            setup(repo_of(project), "cart")
        assert everything(project) == before and not (project.root / "worktrees").exists()
        assert marker.read(repo_of(project), "cart") is None
        assert known_block(repo_of(project), "cart") is None and known_project(repo_of(project), "cart") is None
        monkeypatch.undo()

    def test_what_was_there_before_is_not_taken_back(
        self, project: Project, cart: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        block = block_of(repo_of(project), "cart")
        tip = project.git("rev-parse", "morph/cart")
        monkeypatch.setattr(births, "let_go", lambda *_: (_ for _ in ()).throw(Refusal("boom", "It broke")))
        with pytest.raises(Refusal):
            setup(repo_of(project), "cart")
        assert known_block(repo_of(project), "cart") == block and project.git("rev-parse", "morph/cart") == tip

    def test_a_feature_that_changes_while_it_moves_stays_whole(
        self, project: Project, cart: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def furnish(*args: Any) -> Any:
            (cart / "2-plan/plan.md").write_text("written in between\n")
            return real(*args)

        real = births.furnish
        monkeypatch.setattr(births, "furnish", furnish)
        with pytest.raises(Refusal) as caught:
            setup(repo_of(project), "cart")
        assert (
            caught.value.code == "feature-changed" and (cart / "2-plan/plan.md").read_text() == "written in between\n"
        )
        assert not (project.root / "worktrees").exists()


class TestOfATask:
    def test_a_task_of_a_feature(self, project: Project, cart: Path) -> None:
        tree = setup(repo_of(project), "cart").path
        made = provision(open_repo(tree), "deep/er")
        assert (made.path, made.branch, made.key) == (
            project.root / "worktrees/deep/er", "morph-task/deep/er", "task/deep/er"
        )  # fmt: skip
        assert made.feature == made.env["MORPH_FEATURE"] == "cart" and made.base_ref == "morph/cart"
        assert made.env["COMPOSE_PROJECT_NAME"] == "morph-task-deep-er" and made.handoff is None
        assert made.base != known_block(repo_of(project), "cart")
        births.link(repo_of(project), open_repo(made.path), made.key)
        assert "MORPH_FEATURE=cart\n" in (made.path / ".morph/worktree.env").read_text()
        assert status(made.path) == ""

    def test_a_branch_that_is_there_keeps_its_commits(self, project: Project) -> None:
        project.git("branch", "morph-task/t1")
        made = provision(repo_of(project), "t1", base="HEAD")
        assert "HEAD is not used" in made.warnings[0] and made.base_ref == "morph-task/t1"


class TestBroughtBack:
    def links(self, made: SetUp, project: Project) -> list[dict[str, str]]:
        return [{"path": name, "target": str(project.root / name)} for name in made.links.made]

    def test_place_branch_links_and_ports_are_as_they_were(self, project: Project, cart: Path) -> None:
        (project.root / "node_modules").mkdir()
        made = setup(repo_of(project), "cart")
        open_repo(made.path).git("add", "-A")
        open_repo(made.path).git("commit", "-qm", "Feature")
        before = (made.path / ".morph/worktree.env").read_text(), files_of(made.path / ".morph/features")
        project.git("worktree", "remove", "--force", str(made.path))
        release(repo_of(project), "cart")
        reattach(repo_of(project), made.path, "morph/cart", "cart", made.base, self.links(made, project))
        after = (made.path / ".morph/worktree.env").read_text(), files_of(made.path / ".morph/features")
        assert after[0] == before[0] and status(made.path) == ""
        assert os.readlink(made.path / "node_modules") == str(project.root / "node_modules")
        assert marker.read(repo_of(project), "cart") is None

    def test_ports_that_somebody_else_has_are_a_refusal_before_anything_changes(
        self, project: Project, cart: Path
    ) -> None:
        made = setup(repo_of(project), "cart")
        project.git("worktree", "remove", "--force", str(made.path))
        release(repo_of(project), "cart")
        other = block_of(repo_of(project), "other")
        with pytest.raises(Refusal) as caught:
            reattach(repo_of(project), made.path, "morph/cart", "cart", other.base, [])
        assert caught.value.code == "ports-taken" and not made.path.exists()
        with pytest.raises(Refusal) as caught:
            reattach(repo_of(project), made.path, "morph/gone", "gone", None, [])
        assert caught.value.code == "branch-missing" and not made.path.exists()
        reattach(repo_of(project), made.path, "morph/cart", "cart", None, [])
        assert known_block(repo_of(project), "cart") is None and made.path.is_dir()

    @pytest.mark.parametrize("had", [True, False])
    def test_a_tree_that_cannot_be_made_leaves_the_ports_as_they_were(
        self, project: Project, cart: Path, had: bool
    ) -> None:
        made = setup(repo_of(project), "cart")
        project.git("worktree", "remove", "--force", str(made.path))
        project.write("worktrees/cart/mine", "in the way")
        before = known_block(repo_of(project), "cart") if had else None
        if not had:
            release(repo_of(project), "cart")
        with pytest.raises(Refusal) as caught:
            reattach(repo_of(project), made.path, "morph/cart", "cart", made.base, [])
        assert caught.value.code == "path-taken" and known_block(repo_of(project), "cart") == before
