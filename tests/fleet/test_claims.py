from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from morph_tasks.fleet import claims
from morph_tasks.fleet.claims import Claim
from morph_tasks.machine.identity import me
from morph_tasks.repo.git import Repo, open_repo
from tests.conftest import BIN, Project


@pytest.fixture(autouse=True)
def _no_session(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MORPH_SESSION_ID", "CLAUDE_CODE_SESSION_ID"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def repo(project: Project) -> Repo:
    return open_repo(project.root)


@pytest.fixture
def tree(project: Project, tmp_path: Path) -> Repo:
    path = tmp_path / "a tree"
    project.git("worktree", "add", "-q", str(path), "-b", "morph/shop")
    return open_repo(path)


def at(minutes: float) -> str:
    return (datetime.now(UTC) + timedelta(minutes=minutes)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def put(repo: Repo, *rows: dict[str, Any]) -> None:
    base = {"feature": "cart", "session": "other", "tree": "/elsewhere", "since": at(-50), "heartbeat": at(-1)}
    repo.store.mkdir(parents=True, exist_ok=True)
    (repo.store / "claims.json").write_text(json.dumps({"version": 1, "claims": [{**base, **row} for row in rows]}))


def names(found: list[Claim]) -> list[tuple[str, str]]:
    return [(claim.feature, claim.session) for claim in found]


def test_a_claim_is_private_and_shared_by_all_trees(repo: Repo, tree: Repo) -> None:
    made = claims.acquire(tree, "shop")
    assert (made.moved_from, made.others) == (None, ())
    path = repo.common_dir / "morph-spec/claims.json"
    assert path.stat().st_mode & 0o777 == 0o600
    [claim] = claims.live(repo)
    assert (claim.feature, claim.tree, claim.session) == ("shop", os.path.realpath(tree.root), f"tree:{tree.root}")
    assert claims.of(repo, "shop") == [claim] and claims.of(repo, "cart") == []


def test_claiming_another_feature_moves_the_claim_of_this_tree(repo: Repo, tree: Repo) -> None:
    claims.acquire(tree, "shop")
    claims.acquire(repo, "cart")
    assert claims.acquire(repo, "pay").moved_from == "cart"
    assert sorted(claim.feature for claim in claims.live(repo)) == ["pay", "shop"]


def test_claiming_again_keeps_the_beginning(repo: Repo) -> None:
    first = claims.acquire(repo, "cart").claim
    again = claims.acquire(repo, "cart")
    assert again.moved_from is None and again.claim.since == first.since
    assert again.claim.heartbeat >= first.heartbeat
    # One that was left for hours begins anew.
    put(repo, {"session": again.claim.session, "tree": again.claim.tree, "heartbeat": at(-45)})
    assert claims.acquire(repo, "cart").claim.since > first.since


@pytest.mark.parametrize(("name", "value"), [("MORPH_SESSION_ID", "s1"), ("CLAUDE_CODE_SESSION_ID", "s2")])
def test_a_session_has_the_name_it_was_given(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, f" {value} ")
    assert claims.acquire(repo, "cart").claim.session == value
    monkeypatch.setenv(name, " ")
    assert claims.session_here(repo).startswith("tree:")


def test_two_sessions_on_one_feature_hear_of_each_other(
    repo: Repo, tree: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MORPH_SESSION_ID", "one")
    claims.acquire(tree, "shop")
    assert claims.warning(repo, "shop") is None, "the same session elsewhere is no other"
    monkeypatch.setenv("MORPH_SESSION_ID", "two")
    told = claims.warning(repo, "shop")
    assert told and "session one in" in told and str(tree.root) in told
    made = claims.acquire(repo, "shop")
    assert names(list(made.others)) == [("shop", "one")]
    assert sorted(names(claims.of(repo, "shop"))) == [("shop", "one"), ("shop", "two")]
    assert claims.warning(repo, "cart") is None


@pytest.mark.parametrize(
    ("heartbeat", "is_live"),
    [(-1, True), (-29, True), (-31, False), (-60 * 73, False), (5, True), (60 * 24, False)],
)
def test_only_what_was_heard_of_lately_is_live(repo: Repo, heartbeat: float, is_live: bool) -> None:
    put(repo, {"heartbeat": at(heartbeat)})
    assert bool(claims.live(repo)) == is_live == bool(claims.warning(repo, "cart"))
    assert len(claims.read(repo).claims) == 1


def test_a_session_whose_process_is_dead_is_not_live(repo: Repo) -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    from morph_tasks.machine.identity import identify

    known = identify(child.pid)
    assert known
    put(repo, {"process": known.as_json()}, {"session": "here", "process": me().as_json()}, {"session": "unknown"})
    assert sorted(session for _, session in names(claims.live(repo))) == ["here", "other", "unknown"]
    child.communicate(b"\n")
    assert sorted(session for _, session in names(claims.live(repo))) == ["here", "unknown"]
    # Another machine: nobody can tell.
    put(repo, {"process": {**known.as_json(), "host": "far-away"}})
    assert len(claims.live(repo)) == 1


def test_in_a_terminal_the_shell_is_the_session(repo: Repo) -> None:
    """The same terminal is the same session, wherever it goes; with its end the claim ends."""
    program = (
        "import sys; from pathlib import Path; from morph_tasks.repo.git import open_repo;"
        "from morph_tasks.fleet.claims import acquire;"
        "print(acquire(open_repo(Path(sys.argv[1])), 'cart').claim.process)"
    )
    script = f'{sys.executable} -c "$1" "$2"; echo done'
    master, slave = pty.openpty()
    shell = subprocess.Popen(
        ["sh", "-c", script, "sh", program, str(repo.root)],
        stdin=slave, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    out, err = shell.communicate(timeout=60)
    os.close(master)
    os.close(slave)
    assert out.decode().endswith("done\n"), err.decode()
    assert f"'pid': {shell.pid}" in out.decode()
    assert claims.live(repo) == [] and len(claims.read(repo).claims) == 1


def test_release_takes_all_claims_on_a_feature(repo: Repo) -> None:
    put(repo, {}, {"session": "second", "heartbeat": at(-50)}, {"feature": "pay"})
    assert names(claims.release(repo, "cart")) == [("cart", "other"), ("cart", "second")]
    assert names(list(claims.read(repo).claims)) == [("pay", "other")]
    assert claims.release(repo, "cart") == []


def test_release_of_my_own(repo: Repo, tree: Repo) -> None:
    claims.acquire(repo, "cart")
    claims.acquire(tree, "shop")
    assert [claim.feature for claim in claims.release_mine(repo)] == ["cart"]
    assert [claim.feature for claim in claims.live(repo)] == ["shop"]
    assert claims.release_mine(repo) == []


def test_a_heartbeat_is_written_once_a_minute(repo: Repo) -> None:
    assert claims.renew(repo) is False
    made = claims.acquire(repo, "cart").claim
    path = repo.store / "claims.json"
    before = path.stat().st_mtime_ns
    assert claims.renew(repo) is True and path.stat().st_mtime_ns == before
    put(repo, {"session": made.session, "tree": made.tree, "heartbeat": at(-40)}, {"session": "other"})
    assert claims.renew(repo) is True
    assert {claim.session for claim in claims.live(repo)} == {made.session, "other"}


def test_very_old_claims_are_dropped_at_the_next_change(repo: Repo) -> None:
    put(repo, {"heartbeat": at(-60 * 24 * 8)}, {"session": "younger", "heartbeat": at(-60 * 24 * 6)})
    claims.acquire(repo, "pay")
    assert sorted(session for _, session in names(list(claims.read(repo).claims)))[-1] == "younger"
    assert len(claims.read(repo).claims) == 2


@pytest.mark.parametrize("text", ["", "{", "[]", '{"claims": 3}', "null", "\x00"])
def test_a_file_that_cannot_be_read_is_unknown_and_set_aside(repo: Repo, text: str) -> None:
    repo.store.mkdir(parents=True, exist_ok=True)
    (repo.store / "claims.json").write_text(text)
    assert claims.read(repo).problem and claims.live(repo) == []
    told = claims.warning(repo, "cart")
    assert told and "not known" in told
    assert (repo.store / "claims.json").read_text() == text, "reading writes nothing"
    claims.acquire(repo, "cart")
    assert [claim.feature for claim in claims.live(repo)] == ["cart"]
    [kept] = repo.store.glob("claims.json.corrupt-*")
    assert kept.read_text() == text


ROWS = st.lists(st.dictionaries(
    st.sampled_from(["feature", "session", "tree", "since", "heartbeat", "process"]),
    st.sampled_from(["cart", "", "2026-11-30T10:00:00Z", "2026-11-30", "9999-12-31T23:59:59+14:00"])
    | st.none() | st.integers() | st.dictionaries(st.sampled_from(["pid", "start", "boot", "host"]), st.integers()),
), max_size=4)  # fmt: skip


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(rows=ROWS)
def test_whatever_is_in_the_file_readers_answer(repo: Repo, rows: list[Any]) -> None:
    repo.store.mkdir(parents=True, exist_ok=True)
    (repo.store / "claims.json").write_text(json.dumps({"claims": rows}))
    claims.live(repo)
    claims.warning(repo, "cart")
    for claim in claims.read(repo).claims:
        assert claims.said_of(claim)


def test_32_processes_at_once_lose_no_claim(project: Project, repo: Repo) -> None:
    (project.root / ".morph/features").mkdir(parents=True)
    for number in range(32):
        folder = project.root / f".morph/features/f{number}"
        folder.mkdir()
        (folder / "feature.json").write_text('{"status": "draft"}')
    started = [
        subprocess.Popen(
            [BIN / "morph-spec", "claim", f"f{number}", "--json", "--wait", "120"],
            cwd=project.root, env={**os.environ, "MORPH_SESSION_ID": f"s{number}"},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        for number in range(32)
    ]  # fmt: skip
    ended = [(one.communicate(timeout=200), one.returncode) for one in started]
    assert {code for _, code in ended} == {0}, ended
    assert {claim.feature for claim in claims.live(repo)} == {f"f{number}" for number in range(32)}
