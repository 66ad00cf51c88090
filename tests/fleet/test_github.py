from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from morph_tasks.errors import Refusal
from morph_tasks.fleet import github
from morph_tasks.fleet.github import ask_pulls, create_pull, require
from morph_tasks.machine.ends import await_ends
from morph_tasks.proc import Completed
from morph_tasks.repo.git import Repo, open_repo
from tests.conftest import Project
from tests.gh import FakeGh


@pytest.fixture
def repo(project: Project, origin: Path) -> Repo:
    return open_repo(project.root)


@pytest.fixture
def no_gh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A PATH with git and nothing else."""
    folder = tmp_path / "only-git"
    folder.mkdir()
    for name in ("git", "git-upload-pack", "git-receive-pack"):
        found = shutil.which(name)
        assert found
        (folder / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(folder))


def test_pull_requests_come_with_all_that_was_asked(repo: Repo, gh: FakeGh) -> None:
    gh.pull("morph/cart", headRefOid="a" * 40, isDraft=True)
    gh.pull("morph/shop", state="MERGED", mergedAt="2026-11-21T10:00:00Z")

    found = ask_pulls(repo)

    assert (found.verified, found.reason, found.whole) == (True, "", True)
    assert [(pull.number, pull.state, pull.head, pull.base) for pull in found.items] == [
        (2, "MERGED", "morph/shop", "main"),
        (1, "OPEN", "morph/cart", "main"),
    ]
    assert found.items[1].head_oid == "a" * 40 and found.items[1].draft
    assert found.items[0].merged_at == "2026-11-21T10:00:00Z"
    assert [pull.number for pull in ask_pulls(repo, head="morph/cart").items] == [1]


def test_gh_is_asked_without_prompt_colour_and_terminal_in_the_main_tree(
    repo: Repo, gh: FakeGh, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GH_FORCE_TTY", "1")
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    repo.git("worktree", "add", "-q", str(tmp_path / "w"), "-b", "morph/cart")

    assert ask_pulls(open_repo_at(tmp_path / "w", monkeypatch)).verified

    [call] = gh.calls()
    assert call["env"] == {"GH_PROMPT_DISABLED": "1", "NO_COLOR": "1", "GH_FORCE_TTY": None, "GIT_DIR": None}
    assert call["cwd"] == os.path.realpath(repo.root)


def open_repo_at(path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    with monkeypatch.context() as patch:
        patch.delenv("GIT_DIR")
        return open_repo(path)


def test_a_fork_has_nothing_to_do_with_a_branch_of_the_same_name(repo: Repo, gh: FakeGh) -> None:
    gh.pull("morph/cart", state="MERGED")
    gh.pull("morph/cart", isCrossRepository=True)
    found = ask_pulls(repo)
    assert [pull.number for pull in found.of("morph/cart")] == [1]
    assert len(found.items) == 2


def test_the_open_pull_request_counts_before_a_newer_closed_one(repo: Repo, gh: FakeGh) -> None:
    gh.pull("morph/cart")
    gh.pull("morph/cart", state="CLOSED")
    current = ask_pulls(repo).current("morph/cart")
    assert current and current.number == 1
    gh.change(1, state="MERGED")
    current = ask_pulls(repo).current("morph/cart")
    assert current and current.number == 2
    assert ask_pulls(repo).current("morph/none") is None


def test_an_answer_that_was_cut_says_nothing_about_what_is_absent(repo: Repo, gh: FakeGh) -> None:
    for number in range(3):
        gh.pull(f"morph/f{number}")
    assert not ask_pulls(repo, limit=3).whole
    assert ask_pulls(repo, limit=4).whole


def test_no_origin(project: Project, gh: FakeGh) -> None:
    found = ask_pulls(open_repo(project.root))
    assert not found.verified and "origin" in found.reason and not gh.calls()
    with pytest.raises(Refusal, match="origin") as caught:
        require(open_repo(project.root))
    assert caught.value.code == "no-origin"


def test_no_gh(repo: Repo, no_gh: None) -> None:
    found = ask_pulls(repo)
    assert not found.verified and "PATH" in found.reason
    for ask in (require, lambda repo: create_pull(repo, head="morph/cart", base="main", title="t", body="b")):
        with pytest.raises(Refusal) as caught:
            ask(repo)
        assert caught.value.code == "gh-missing"


@pytest.mark.parametrize(
    ("code", "stderr", "reason"),
    [
        (4, "To get started with GitHub CLI, please run:  gh auth login\n", "signed in"),
        (1, "HTTP 401: Bad credentials\nTry authenticating with:  gh auth login\n", "signed in"),
        (1, "none of the git remotes configured for this repository point to a known GitHub host.\n", "on GitHub"),
        (1, "error connecting to api.github.com\ncheck your internet connection\n", "error connecting"),
        (1, "", "said nothing"),
        (2, "", "ended with 2"),
    ],
)  # fmt: skip
def test_an_error_of_gh_is_a_reason_and_not_an_empty_list(
    repo: Repo, gh: FakeGh, code: int, stderr: str, reason: str
) -> None:
    gh.reply("pr", "list", code=code, stderr=stderr, stdout="[]" if stderr else "")
    found = ask_pulls(repo)
    assert (found.verified, found.whole, found.items) == (False, False, ()) and reason in found.reason


@pytest.mark.parametrize(
    "stdout", ["", "no pull requests match", "{}", "[1]", '[{"number": 1}]', "null", '[{"number":1,"state":"NEW"}]']
)
def test_garbage_is_a_reason_too(repo: Repo, gh: FakeGh, stdout: str) -> None:
    gh.reply("pr", "list", stdout=stdout)
    found = ask_pulls(repo)
    assert not found.verified and found.reason


def test_one_row_that_cannot_be_read_spoils_the_answer(repo: Repo, gh: FakeGh) -> None:
    gh.pull("morph/cart")
    rows = [*gh.pulls(), {**gh.pulls()[0], "headRefName": None}]
    gh.reply("pr", "list", stdout=json.dumps(rows))
    assert not ask_pulls(repo).verified


def test_a_gh_that_hangs_is_ended_with_what_it_started(repo: Repo, gh: FakeGh) -> None:
    gh.hang("pr", "list")
    found = ask_pulls(repo, wait_s=0.5)
    assert not found.verified and found.reason == "gh did not answer within 0.5 s"
    assert await_ends(gh.hung(), 10) == []


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.binary(max_size=200) | st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["number", "state", "url", "headRefName", "baseRefName", "isCrossRepository", "x"]), inner),
).map(lambda value: json.dumps(value).encode()))  # fmt: skip
def test_whatever_gh_says_is_read_or_refused_as_a_whole(said: bytes) -> None:
    found = github._read(Completed(("gh",), 0, said, b""), 10)
    assert found.verified or (found.reason and not found.items and not found.whole)


def test_require_passes_and_refuses(repo: Repo, gh: FakeGh) -> None:
    require(repo)
    gh.reply("repo", "view", code=4, stderr="gh auth login")
    with pytest.raises(Refusal) as caught:
        require(repo)
    assert (caught.value.code, caught.value.fix) == ("gh-not-authenticated", "gh auth login")
    gh.reply("repo", "view", code=1, stderr="error connecting to api.github.com")
    with pytest.raises(Refusal) as caught:
        require(repo)
    assert caught.value.code == "gh-failed"
    gh.hang("repo", "view")
    with pytest.raises(Refusal) as caught:
        require(repo, wait_s=0.3)
    assert caught.value.code == "gh-failed" and "0.3 s" in caught.value.what


def _branch(repo: Repo) -> str:
    repo.git("branch", "morph/cart")
    repo.git("push", "-q", "origin", "morph/cart")
    return "morph/cart"


def test_a_pull_request_is_made_with_the_body_on_stdin(repo: Repo, gh: FakeGh) -> None:
    head = _branch(repo)
    made = create_pull(repo, head=head, base="main", title="-Totals; $(x)", body='Zeile\n`code` "ü"\n')
    assert (made.number, made.url, made.state) == (1, "https://github.com/acme/shop/pull/1", "OPEN")
    [call] = gh.calls("pr", "create")
    assert call["stdin"] == 'Zeile\n`code` "ü"\n'
    assert gh.pulls()[0]["title"] == "-Totals; $(x)"
    assert [call["argv"][1] for call in gh.calls()] == ["create"]


def test_a_pull_request_that_is_there_is_adopted(repo: Repo, gh: FakeGh) -> None:
    head = _branch(repo)
    gh.pull(head, number=7)
    made = create_pull(repo, head=head, base="main", title="t", body="b")
    assert made.number == 7 and len(gh.pulls()) == 1


def test_one_that_was_made_before_the_connection_broke_is_adopted(repo: Repo, gh: FakeGh) -> None:
    head = _branch(repo)
    gh.pull(head, number=7)
    gh.reply("pr", "create", code=1, stderr="error connecting to api.github.com")
    assert create_pull(repo, head=head, base="main", title="t", body="b").number == 7


def test_a_closed_one_or_one_into_another_branch_is_not_adopted(repo: Repo, gh: FakeGh) -> None:
    head = _branch(repo)
    gh.pull(head, number=7, state="CLOSED")
    gh.pull(head, number=8, baseRefName="morph/base")
    gh.reply("pr", "create", code=1, stderr="something else")
    with pytest.raises(Refusal, match="something else") as caught:
        create_pull(repo, head=head, base="main", title="t", body="b")
    assert caught.value.code == "pr-failed" and "--head morph/cart" in caught.value.fix


def test_a_branch_that_was_not_pushed_is_refused(repo: Repo, gh: FakeGh) -> None:
    with pytest.raises(Refusal, match="Head ref must be a branch") as caught:
        create_pull(repo, head="morph/nowhere", base="main", title="t", body="b")
    assert caught.value.code == "pr-failed"


@pytest.mark.parametrize("said", ["", "done", "https://github.com/acme/shop/issues/3", "https://x/pull/new"])
def test_success_without_an_address_is_asked_again(repo: Repo, gh: FakeGh, said: str) -> None:
    head = _branch(repo)
    gh.reply("pr", "create", stdout=said)
    with pytest.raises(Refusal) as caught:
        create_pull(repo, head=head, base="main", title="t", body="b")
    assert caught.value.code == "pr-failed"
    gh.pull(head, number=9)
    assert create_pull(repo, head=head, base="main", title="t", body="b").number == 9
