from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from morph_tasks.errors import Refusal
from morph_tasks.fleet.bases import Base, base_setting, check_task_name, task_base
from morph_tasks.repo.git import Repo, open_repo
from tests.conftest import Project
from tests.fleet.birthplace import config, repo_of


def is_allowed(name: str) -> bool:
    try:
        check_task_name(name)
    except Refusal as refusal:
        assert (refusal.code, refusal.exit_code) == ("invalid-name", 2)
        return False
    return True


@given(st.text(alphabet="aA.-/@{}~^: \\*?[\t\n\x7fé#'\"lock", max_size=8))
@example("a.lock")
@example("a/.b")
@example("@")
@example("a..b")
@example("x" * 300)
def test_what_is_allowed_is_a_branch_for_git_and_stays_in_the_container(name: str) -> None:
    if not is_allowed(name):
        return
    done = subprocess.run(["git", "check-ref-format", f"refs/heads/morph-task/{name}"], check=False)
    assert done.returncode == 0
    assert Path("/c") in Path("/c", name).resolve().parents


@pytest.mark.parametrize("name", ["t1", "agent-0a1b", "deep/er", "UPPER", "ü", "it's", "50%", "a@b", "x" * 200])
def test_names_people_use(name: str) -> None:
    assert is_allowed(name)


@pytest.mark.parametrize(
    "name",
    ["", "..", "../x", "/x", "x/", "a//b", "a/../b", "-x", ".x", "a b", "a\nb", "x.lock", "x.", "a@{b", "x" * 201],
)
def test_names_that_are_refused(name: str) -> None:
    assert not is_allowed(name)


def base_of(repo: Repo, asked: str | None = None, **worktree: str) -> Base:
    return task_base(repo, open_repo(repo.primary_root), config(**worktree), asked)


@pytest.fixture
def cart(project: Project) -> Repo:
    """The work tree of a feature, one commit ahead of main."""
    project.git("worktree", "add", "-q", "../cart", "-b", "morph/cart")
    repo = open_repo(project.root.parent / "cart")
    repo.git("commit", "-q", "--allow-empty", "-m", "Work")
    return repo


def test_a_task_begins_at_the_feature_one_stands_on_else_at_the_default_branch(project: Project, cart: Repo) -> None:
    assert base_of(cart) == Base("morph/cart", str(cart.head()), "cart")
    assert base_of(repo_of(project)) == Base("main", str(repo_of(project).head()))
    project.git("worktree", "add", "-q", "../task", "-b", "morph-task/t", "morph/cart")
    assert base_of(open_repo(project.root.parent / "task")).name == "main"


def test_a_feature_in_the_middle_of_a_rebase_is_still_stood_on(project: Project, cart: Repo) -> None:
    (cart.root / "README.md").write_text("theirs\n")
    cart.git("commit", "-qam", "Theirs")
    project.write("README.md", "ours\n")
    project.commit()
    cart.git("rebase", "-q", "main", ok=range(256))
    assert cart.branch() is None and base_of(cart).feature == "cart"


def test_what_is_asked_for_wins_over_settings_and_settings_over_where_one_stands(project: Project, cart: Repo) -> None:
    assert base_of(cart, baseRef="fresh").name == "main"
    assert base_of(repo_of(project), "morph/cart", baseRef="fresh").feature == "cart"
    assert base_of(cart, "main", baseRef="head") == Base("main", str(repo_of(project).head()))
    project.git("switch", "-qc", "topic")
    assert base_of(repo_of(project), baseRef="head").name == "topic" and base_of(repo_of(project)).name == "main"
    project.git("switch", "-q", "--detach")
    assert base_of(repo_of(project), baseRef="head").name == "HEAD"


def test_a_feature_at_origin_counts_as_the_feature(project: Project, origin: Path) -> None:
    project.git("push", "-q", "origin", "main:refs/heads/morph/cart")
    project.git("fetch", "-q")
    assert base_of(repo_of(project), "origin/morph/cart").feature == "cart"
    assert base_of(repo_of(project), "HEAD~0").feature is None


@pytest.mark.parametrize("asked", ["nothing", "", "-x", "--help", "main:README.md"])
def test_a_base_that_is_none(project: Project, asked: str) -> None:
    with pytest.raises(Refusal) as caught:
        base_of(repo_of(project), asked)
    assert (caught.value.code, caught.value.exit_code) == ("no-such-base", 2)


@pytest.mark.parametrize("setting", ["head", None])
def test_without_a_commit_there_is_nothing_to_begin_at(tmp_path: Path, setting: str | None) -> None:
    subprocess.run(["git", "init", "-q", "-b", "trunk", str(tmp_path / "u")], check=True)
    with pytest.raises(Refusal) as caught:
        base_of(open_repo(tmp_path / "u"), **({"baseRef": setting} if setting else {}))
    assert caught.value.code == "no-commits" and "trunk" in caught.value.what and "first commit" in caught.value.what


def test_the_settings_of_claude_code_are_read_in_layers_and_ours_win(project: Project, tmp_path: Path) -> None:
    repo = repo_of(project)
    assert base_setting(repo, config()) is None
    home = Path.home() / ".claude/settings.json"
    home.parent.mkdir()
    layers = [home, project.root / ".claude/settings.json", project.root / ".claude/settings.local.json"]
    (project.root / ".claude").mkdir()
    for path, said in zip(layers, ("head", "fresh", "head"), strict=True):
        path.write_text(json.dumps({"worktree": {"baseRef": said}}))
        assert base_setting(repo, config()) == said
    assert base_setting(repo, config(baseRef="fresh")) == "fresh"
    layers[2].write_text("{ not json")
    assert base_setting(repo, config()) == "fresh"
    layers[1].write_text(json.dumps({"worktree": "head"}))
    assert base_setting(repo, config()) == "head"
    home.write_text(json.dumps({"worktree": {"baseRef": "morph/cart"}}))
    assert base_setting(repo, config()) is None
