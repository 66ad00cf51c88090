from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.machine import ends, identity, live, table

Survivors = Callable[[], list[table.Entry]]

RUNNER = """
import os, sys
from pathlib import Path
from morph_tasks.machine import processes
here = Path.cwd()
done = processes.supervise(
    sys.argv[2], cwd=here, env=dict(os.environ), log=here / "log", timeout_s=300, run_id=sys.argv[1],
    live_dir=here / "live", grace_s=0.3,
)
print(done, flush=True)
if len(sys.argv) > 3:
    sys.stdin.read()
"""


@pytest.fixture
def dead_owner() -> dict[str, Any]:
    """Give the identity of a process that is gone."""
    with subprocess.Popen(["sleep", "300"]) as process:
        found = identity.identify(process.pid)
        process.kill()
    assert found is not None
    return found.as_json()


@pytest.fixture
def marked(run_id: str, dead_owner: dict[str, Any]) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Start a process with the marks of a run whose owner is dead."""
    started: list[subprocess.Popen[bytes]] = []

    def start(token: str, *argv: str, owner: dict[str, Any] | None = None) -> subprocess.Popen[bytes]:
        env = {
            **os.environ,
            table.RUN_ID: run_id,
            table.RUN_MARKS: token,
            table.RUN_OWNER: json.dumps(dead_owner if owner is None else owner),
        }
        started.append(subprocess.Popen(argv or ("sleep", "300"), env=env, start_new_session=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


def write(folder: Path, name: str, **record: Any) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps({"version": 1, "runId": "r", "token": "none", "leader": None, **record}))
    return folder / name


def identity_of(process: subprocess.Popen[bytes], **changes: Any) -> dict[str, Any]:
    found = identity.identify(process.pid)
    assert found is not None
    return {**found.as_json(), **changes}


def names(entries: list[table.Entry]) -> list[str]:
    return sorted(entry.name for entry in entries)


def confirmed(folder: Path) -> dict[str, Any] | None:
    """Return the one record of a folder once it names the leader."""
    try:
        (path,) = folder.iterdir()
        record: dict[str, Any] = json.loads(path.read_text())
    except (ValueError, FileNotFoundError):
        return None
    return record if record["leader"] else None


def pids(ended: list[str]) -> set[int]:
    return {int(text.split()[0]) for text in ended}


class TestOwnerKilled:
    def test_the_next_start_ends_what_is_left(
        self, start: Any, run_id: str, survivors: Survivors, tmp_path: Path, wait_until: Any, bystander: Any
    ) -> None:
        owner = start(RUNNER, run_id, "trap '' TERM; setsid sleep 300 & sleep 301 & touch up; sleep 302")
        wait_until((tmp_path / "up").exists, "the command is up")
        wait_until(lambda: names(survivors()) == ["sh", "sleep", "sleep", "sleep"], "all of it runs")
        record = wait_until(lambda: confirmed(tmp_path / "live"), "the record names the leader")
        (path,) = (tmp_path / "live").iterdir()
        assert path.name == f"{run_id}-{record['leader']['pid']}.json"
        assert path.stat().st_mode & 0o777 == 0o600
        assert live.reap(tmp_path / "live", grace_s=0.1) == [], "its owner lives"
        owner.kill()
        owner.wait()
        before = {entry.pid for entry in survivors()}
        assert len(before) == 4
        assert before == pids(live.reap(tmp_path / "live", grace_s=0.3))
        assert survivors() == []
        assert list((tmp_path / "live").iterdir()) == []
        assert bystander.poll() is None
        assert live.reap(tmp_path / "live") == []

    def test_a_leader_that_is_gone_does_not_hide_the_rest(
        self, start: Any, run_id: str, survivors: Survivors, tmp_path: Path, wait_until: Any
    ) -> None:
        owner = start(RUNNER, run_id, "sleep 300 & setsid sleep 301 & touch up; sleep 302")
        wait_until((tmp_path / "up").exists, "the command is up")
        wait_until(lambda: names(survivors()) == ["sh", "sleep", "sleep", "sleep"], "all of it runs")
        leader = wait_until(lambda: confirmed(tmp_path / "live"), "the record names the leader")["leader"]["pid"]
        os.kill(owner.pid, 19)  # it may not see to the end of its command
        os.kill(leader, 9)
        owner.kill()
        owner.wait()
        wait_until(lambda: ends.ended(leader), "the leader dies")
        before = {entry.pid for entry in survivors()}
        assert len(before) == 3
        assert pids(live.reap(tmp_path / "live")) == before
        assert survivors() == []

    def test_killed_before_the_leader_was_known(
        self, marked: Any, survivors: Survivors, dead_owner: dict[str, Any], tmp_path: Path
    ) -> None:
        child = marked("t0k3n")
        path = write(tmp_path, "r-t0k3n.json", owner=dead_owner, token="t0k3n")
        assert pids(live.reap(tmp_path)) == {child.pid}
        assert survivors() == []
        assert not path.exists()


class TestUntouched:
    def test_a_number_that_a_stranger_has_now(self, bystander: Any, dead_owner: Any, tmp_path: Path) -> None:
        leader = identity_of(bystander)
        leader["start"] -= 1
        path = write(tmp_path, f"r-{bystander.pid}.json", owner=dead_owner, leader=leader)
        assert live.reap(tmp_path) == []
        assert bystander.poll() is None
        assert not path.exists()

    def test_the_same_number_and_start_of_another_boot(self, bystander: Any, dead_owner: Any, tmp_path: Path) -> None:
        boot = "00000000-0000/" + identity.boot().partition("/")[2]
        leader = identity_of(bystander, boot=boot)
        write(tmp_path, "r-1.json", owner={**dead_owner, "boot": boot}, leader=leader)
        assert live.reap(tmp_path) == []
        assert bystander.poll() is None

    @pytest.mark.parametrize("change", [{"host": "elsewhere.example"}, {"start": None}])
    def test_an_owner_that_cannot_be_judged(self, bystander: Any, tmp_path: Path, change: dict[str, Any]) -> None:
        owner = {**identity.me().as_json(), **change}
        path = write(tmp_path, "r-1.json", owner=owner, leader=identity_of(bystander))
        assert live.reap(tmp_path) == []
        assert bystander.poll() is None
        assert path.exists()

    def test_strangers_in_a_group_whose_number_was_given_out_again(
        self, marked: Any, dead_owner: Any, tmp_path: Path
    ) -> None:
        stranger = marked("other", "sh", "-c", "sleep 300 & wait")
        leader = identity_of(stranger)
        leader["start"] -= 1
        write(tmp_path, "r-1.json", owner=dead_owner, leader=leader, token="mine")
        assert live.reap(tmp_path) == []
        assert stranger.poll() is None

    def test_itself_and_those_above_it(self, dead_owner: Any, tmp_path: Path) -> None:
        script = (
            "import sys; from pathlib import Path; from morph_tasks.machine import live\n"
            "print(live.reap(Path(sys.argv[1]), grace_s=0.1))\n"
        )
        argv = [sys.executable, "-c", script, str(tmp_path / "live")]
        command = ["sh", "-c", 'sleep 300 & read _; "$@"; wait; echo above lives', "sh", *argv]
        env = {**os.environ, table.RUN_ID: "r", table.RUN_MARKS: "t"}
        with subprocess.Popen(
            command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        ) as leader:
            write(tmp_path / "live", "r-1.json", owner=dead_owner, leader=identity_of(leader), token="t")
            out, _ = leader.communicate(b"go\n")
        ended, above = out.decode().splitlines()
        assert ended.count("sleep") == 1
        assert above == "above lives"

    def test_a_process_of_another_user_is_not_even_asked(
        self, marked: Any, dead_owner: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        child = marked("t")
        write(tmp_path, "r-t.json", owner=dead_owner, token="t")
        monkeypatch.setattr(os, "geteuid", lambda: 4_000_000)
        assert live.reap(tmp_path) == []
        assert child.poll() is None


class TestGarbage:
    @pytest.mark.parametrize(
        "content",
        [b"", b"{", b"[]", b"null", b"{}", b'{"owner": 3}', b"\xff\xfe", b"[" * 100_000, b'{"owner": {"pid": 1}}'],
    )
    def test_it_goes_once_it_is_old(self, tmp_path: Path, content: bytes) -> None:
        path = tmp_path / "r-1.json"
        path.write_bytes(content)
        assert live.reap(tmp_path) == []
        assert path.exists(), "somebody may be at it right now"
        hours_ago = time.time() - 7200
        os.utime(path, (hours_ago, hours_ago))
        assert live.reap(tmp_path) == []
        assert not path.exists()

    def test_half_written_files_go_and_foreign_things_stay(self, tmp_path: Path) -> None:
        hours_ago = time.time() - 7200
        (tmp_path / ".r-1.json.tmp").write_text('{"ver')
        (tmp_path / "notes.txt").touch()
        (tmp_path / "folder.json").mkdir()
        (tmp_path / "link.json").symlink_to(tmp_path / "notes.txt")
        for path in tmp_path.iterdir():
            os.utime(path, (hours_ago, hours_ago), follow_symlinks=False)
        assert live.reap(tmp_path) == []
        assert sorted(path.name for path in tmp_path.iterdir()) == ["folder.json", "link.json", "notes.txt"]

    def test_no_folder_is_no_work(self, tmp_path: Path) -> None:
        assert live.reap(tmp_path / "none") == []
        assert isinstance(live.orphans(tmp_path / "none"), list)


class TestOrphans:
    def test_what_escaped_is_offered_once_its_owner_is_gone(
        self, start: Any, run_id: str, survivors: Survivors, tmp_path: Path, wait_until: Any
    ) -> None:
        owner = start(
            RUNNER,
            run_id,
            "setsid sh -c ': > up; exec sleep 300' & until [ -e up ]; do :; done",
            "stay",
            stdin=subprocess.PIPE,
        )
        said = owner.stdout.readline()
        assert "running=(" in said
        assert "running=()" not in said
        assert self.of(run_id, tmp_path) == [], "its owner lives"
        owner.stdin.close()
        owner.wait()
        wait_until(lambda: [entry.name for entry in survivors()] == ["sleep"], "what escaped becomes its program")
        (orphan,) = self.of(run_id, tmp_path)
        (living,) = survivors()
        assert (orphan.pid, orphan.name, orphan.command) == (living.pid, "sleep", "sleep 300")
        assert orphan.fix == f"kill {living.pid}"
        assert live.reap(tmp_path / "live") == [], "it is offered, not ended"
        assert survivors() != []

    def test_zombies_are_not_listed(self, marked: Any, run_id: str, tmp_path: Path) -> None:
        process = marked("t", "true")
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert self.of(run_id, tmp_path) == []

    def test_owners_that_cannot_be_judged_are_not_dead(self, marked: Any, run_id: str, tmp_path: Path) -> None:
        marked("t", owner={**identity.me().as_json(), "host": "elsewhere.example"})
        marked("t", owner={"pid": 1})
        assert self.of(run_id, tmp_path) == []

    def test_a_record_tells_the_owner_where_the_marks_do_not(
        self, marked: Any, run_id: str, dead_owner: Any, tmp_path: Path
    ) -> None:
        process = marked("t", owner={})
        assert self.of(run_id, tmp_path) == []
        write(tmp_path / "live", "r-1.json", owner=dead_owner, runId=run_id)
        assert [orphan.pid for orphan in self.of(run_id, tmp_path)] == [process.pid]

    def test_a_long_command_with_odd_bytes_is_one_short_line(self, marked: Any, run_id: str, tmp_path: Path) -> None:
        marked("t", "sh", "-c", "kill -STOP $$", "a\nb\x1b[31m" + "x" * 5000)
        (orphan,) = self.of(run_id, tmp_path)
        assert "\n" not in orphan.command
        assert "\x1b" not in orphan.command
        assert len(orphan.command) <= 200

    @staticmethod
    def of(run_id: str, tmp_path: Path) -> list[live.Orphan]:
        return [orphan for orphan in live.orphans(tmp_path / "live") if orphan.run_id == run_id]


@pytest.mark.parametrize("run_id", ["../../up", "a/b", ".hidden", "-x", "", "ç" * 300, "\0\n", "\udcff"])
def test_any_run_id_makes_a_name_inside_the_folder(tmp_path: Path, run_id: str) -> None:
    record = live.Record(run_id, "t0k3n", identity.me(), None)
    first = live.announce(tmp_path / "live", record)
    second = live.confirm(first, live.Record(run_id, "t0k3n", identity.me(), identity.me()))
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [second]
    assert second.parent == tmp_path / "live"
    assert json.loads(second.read_text())["runId"] == run_id
    live.forget(second)
    live.forget(second)
    assert list((tmp_path / "live").iterdir()) == []


def test_a_full_disk_after_the_start_keeps_the_first_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = live.Record("r", "t0k3n", identity.me(), identity.me())
    first = live.announce(tmp_path, record)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert live.confirm(first, record) == first
    assert list(tmp_path.iterdir()) == [first]
