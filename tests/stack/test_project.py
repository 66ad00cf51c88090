from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from morph_tasks.repo.git import Repo, open_repo
from morph_tasks.stack import project as projects
from morph_tasks.stack import userstate
from tests.conftest import Project

VALID = re.compile(r"[a-z0-9][a-z0-9_-]*")


@pytest.fixture
def repo(project: Project) -> Repo:
    return open_repo(project.root)


@pytest.mark.parametrize(
    ("directory", "name"),
    [("My.App Web_2", "myappweb_2"), ("_lead", "lead"), ("ação", "ao"), ("日本", ""), ("a.b", "ab"), ("ab", "ab")],
)
def test_names_are_normalised_as_compose_does(directory: str, name: str) -> None:
    assert projects.normalised(directory) == name


def test_the_name_is_the_slug_and_stays(repo: Repo) -> None:
    assert projects.project_name(repo, "cart") == "morph-cart"
    assert projects.project_name(repo, "cart") == "morph-cart"
    assert projects.known_project(repo, "shop") is None


def test_two_clones_never_share_a_project(tmp_path: Path, project: Project, repo: Repo) -> None:
    project.git("clone", "-q", str(project.root), str(tmp_path / "clone"))
    clone = open_repo(tmp_path / "clone")
    assert projects.project_name(repo, "cart") == "morph-cart"
    found = projects.project_name(clone, "cart")
    assert re.fullmatch(r"morph-cart-[0-9a-f]{6}", found)
    # Neither changes once the other has gone.
    projects.release_project(repo, "cart")
    assert projects.project_name(clone, "cart") == found


def test_names_that_normalise_to_one_do_not_meet(repo: Repo) -> None:
    keys = ["a.b", "ab", "A.B", "日本", "中国", "task/x", "task-x", "_ab", "x" * 200, "x" * 201]
    names = [projects.project_name(repo, key) for key in keys]
    assert len(set(names)) == len(keys)
    assert all(VALID.fullmatch(name) and len(name) < 150 for name in names)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(keys=st.sets(st.text(min_size=1, max_size=80).filter(lambda text: "\0" not in text), min_size=2, max_size=5))
def test_every_name_is_valid_and_injective(repo: Repo, keys: set[str]) -> None:
    try:
        names = {key: projects.project_name(repo, key) for key in keys}
    except UnicodeEncodeError:
        return
    assert len(set(names.values())) == len(keys)
    assert all(VALID.fullmatch(name) for name in names.values())


def test_a_broken_registry_is_set_aside_and_does_not_give_a_name_twice(repo: Repo) -> None:
    userstate.folder().mkdir(parents=True)
    userstate.projects_file().write_text("{")
    assert projects.project_name(repo, "cart") == "morph-cart"
    assert userstate.projects_file().with_name("compose-projects.json.corrupt").read_text() == "{"
    assert json.loads(userstate.projects_file().read_text())["names"]["morph-cart"]["key"] == "cart"


def test_a_tree_that_does_not_own_the_feature_has_a_stack_of_its_own(project: Project, repo: Repo) -> None:
    assert projects.stack_key(repo, "cart") == "cart"
    project.git("worktree", "add", "-q", "-b", "morph/cart", "../cart-tree")
    project.git("worktree", "add", "-q", "-b", "morph-task/agent-1", "../task-tree")
    folder = project.root.parent
    assert projects.stack_key(open_repo(folder / "cart-tree"), "cart") == "cart"
    assert projects.stack_key(open_repo(folder / "task-tree"), "cart") == "task/agent-1"
    assert re.fullmatch(r"task/tree-[0-9a-f]{8}", projects.stack_key(repo, "cart"))
    assert projects.stack_key(repo, "task/x") == "task/x"
