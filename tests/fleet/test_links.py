from __future__ import annotations

import os

import pytest

from morph_tasks.fleet.links import link_all, put_links, wanted
from morph_tasks.repo.git import Repo, open_repo
from tests.conftest import Project
from tests.fleet.birthplace import config, repo_of


@pytest.fixture
def tree(project: Project) -> Repo:
    """A linked tree beside the project."""
    project.git("worktree", "add", "-q", "../tree", "-b", "tree")
    return open_repo(project.root.parent / "tree")


def test_what_exists_and_is_not_tracked_is_shared(project: Project, tree: Repo) -> None:
    for name in ("node_modules/lib/index.js", ".morph/framework/rules.md", ".claude/settings.json"):
        project.write(name, "{}")
    project.git("add", ".claude")
    assert wanted(repo_of(project), config()) == ("node_modules", ".morph/framework")
    done = link_all(repo_of(project), tree, config())
    assert done.made == ("node_modules", ".morph/framework") and done.skipped == ()
    assert os.readlink(tree.root / "node_modules") == str(project.root / "node_modules")
    assert (tree.root / ".morph/framework/rules.md").read_text() == "{}"
    assert link_all(repo_of(project), tree, config()).kept == done.made


def test_nothing_that_is_there_is_replaced(project: Project, tree: Repo) -> None:
    (project.root / "node_modules").mkdir()
    (project.root / ".claude").mkdir()
    (tree.root / "node_modules").mkdir()
    (tree.root / ".claude").symlink_to("/nowhere")
    done = link_all(repo_of(project), tree, config())
    assert done.made == () and {one["path"] for one in done.skipped} == {"node_modules", ".claude"}
    assert os.readlink(tree.root / ".claude") == "/nowhere" and not os.path.islink(tree.root / "node_modules")


def test_a_configured_list_replaces_the_default_one(project: Project, tree: Repo) -> None:
    project.write("node_modules/x", "")
    project.write("data/big/x", "")
    project.write("apps/web/node_modules/x", "")
    said = config(links=["data/big/", "./apps/web/node_modules"])
    assert link_all(repo_of(project), tree, said).made == ("data/big", "apps/web/node_modules")
    assert not os.path.lexists(tree.root / "node_modules") and not os.path.islink(tree.root / "data")
    assert link_all(repo_of(project), tree, config(links=[])).made == ()


@pytest.mark.parametrize(
    "said",
    ["../outside", "/etc", ".", "..", ".git", ".GIT/hooks", ".morph", ".morph/features", ".morph/config/config.json",
     "missing", "README.md"],
)  # fmt: skip
def test_what_must_not_be_shared_is_named(project: Project, tree: Repo, said: str) -> None:
    (project.root.parent / "outside").mkdir()
    project.write(".morph/features/cart/feature.json", "{}")
    project.write(".morph/config/config.json", "{}")
    done = link_all(repo_of(project), tree, config(links=[said]))
    assert done.made == () and [one["path"] for one in done.skipped] == [said] and done.skipped[0]["why"]


def test_a_link_never_goes_through_a_link(project: Project, tree: Repo) -> None:
    project.write("data/big/x", "")
    elsewhere = project.root.parent / "elsewhere"
    elsewhere.mkdir()
    (tree.root / "data").symlink_to(elsewhere)
    assert link_all(repo_of(project), tree, config(links=["data/big"])).made == ()
    assert os.listdir(elsewhere) == []


def test_a_folder_that_holds_the_tree_itself_is_not_linked_into_it(project: Project) -> None:
    project.git("worktree", "add", "-q", "worktrees/deep", "-b", "deep")
    deep = open_repo(project.root / "worktrees/deep")
    done = link_all(repo_of(project), deep, config(links=["worktrees"]))
    assert done.made == () and done.skipped[0]["why"] == "the work tree lies in it"


@pytest.mark.parametrize("name", ["with space", 'q"uote', "new\nline", "ünï", os.fsdecode(b"\xff")])
def test_odd_names(project: Project, tree: Repo, name: str) -> None:
    (project.root / name).mkdir()
    assert link_all(repo_of(project), tree, config(links=[name])).made == (name,)
    assert os.path.realpath(tree.root / name) == str(project.root / name)


def test_links_come_back_as_they_were(project: Project, tree: Repo) -> None:
    links = [{"path": "a/b", "target": "/t"}, {"path": "README.md", "target": "/t"}, {"path": "c/d", "target": "/t"}]
    (tree.root / "c").symlink_to("/")
    assert put_links(tree.root, links) == ["README.md", "c/d"]
    assert os.readlink(tree.root / "a/b") == "/t" and not os.path.islink(tree.root / "README.md")
