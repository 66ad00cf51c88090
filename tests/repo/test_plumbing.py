"""How git is run, and what becomes of its complaints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from morph_tasks.repo import git, plumbing
from morph_tasks.repo.plumbing import Plumbing, clean_env
from morph_tasks.repo.spawn import ChildError

if TYPE_CHECKING:
    from conftest import Tree


def test_the_environment_is_that_of_every_other_git(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GIT_DIR", "GIT_SSH", "GIT_CONFIG_GLOBAL", "GIT_AUTHOR_NAME", "GIT_NEW_ONE", "OTHER"):
        monkeypatch.setenv(name, "x")

    assert clean_env() == {**git.clean_env(), "GIT_NO_REPLACE_OBJECTS": "1"}


def test_empty_trees_are_git_s(make_tree) -> None:  # type: ignore[no-untyped-def]
    for digits, options in ((40, ()), (64, ("--object-format=sha256",))):
        tree = make_tree(f"empty{digits}", *options)
        assert tree.git("hash-object", "-t", "tree", "--stdin") == plumbing.EMPTY_TREES[digits]


def test_entries_of_a_commit(tree: Tree) -> None:
    for name in ("*", ":(top)a", "a b"):
        tree.write(name, "1")
    head = tree.commit()
    asked = Plumbing(str(tree.root), str(tree.git_dir))

    found = asked.entries(head, [b"*", b":(top)a", b"a b", b"a", b"absent", b"a/x.py"])

    assert sorted(found) == [b"*", b":(top)a", b"a b", b"a/x.py"]
    assert len(asked.entries(head, [b"a b"] * 1200)) == 1
    with pytest.raises(ChildError):
        asked.entries("0" * 40, [b"a"])


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("fatal: detected dubious ownership in repository at '/x'\nTo add an exception", "dubious-ownership"),
        ("fatal: not a git repository (or any of the parent directories): .git", "not-a-repository"),
        ("error: bad signature 0x78787878\nfatal: index file corrupt", "corrupt-index"),
        ("fatal: .git/index: index file smaller than expected", "corrupt-index"),
        ("fatal: index uses \u00bfabcd extension, which we do not understand", "corrupt-index"),
        ("error: external filter 'false' failed 1\nfatal: a: clean filter 'x' failed", "filter-failed"),
        ("fatal: bad object HEAD", "git-failed"),
        ("", "git-failed"),
        ("\n", "git-failed"),
    ],
)
def test_complaints_have_codes(tmp_path, said: str, code: str) -> None:  # type: ignore[no-untyped-def]
    failed = ChildError(["git", "-C", "/x", "-c", "a=b", "status"], 128, said.encode())

    refused = Plumbing(str(tmp_path), f"{tmp_path}/.git").refusal(failed)

    assert refused.code == code
    assert refused.fix


def test_silence_has_a_code(tmp_path) -> None:  # type: ignore[no-untyped-def]
    refused = Plumbing(str(tmp_path), f"{tmp_path}/.git").refusal(ChildError(["git", "status"], None, b""))

    assert refused.code == "git-timeout"
