from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.machine.heavy.cleanup import build_verb, cleanup, running_builds
from morph_tasks.machine.heavy.ledger import Ledger
from morph_tasks.machine.heavy.settings import Settings
from morph_tasks.machine.heavy.slots import slot

HeldBy = Callable[..., Path]
Sleeper = Callable[[], subprocess.Popen[bytes]]


class Dotnet:
    """A program of that name that notes how it was called."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "dotnet"
        self.calls = folder / "calls"

    def does(self, script: str = "") -> None:
        self.path.parent.mkdir(exist_ok=True)
        self.path.write_text(f'#!/bin/sh\necho "$@" >> "{self.calls}"\n{script}\n')
        self.path.chmod(0o755)

    def called(self) -> list[str]:
        return self.calls.read_text().splitlines() if self.calls.exists() else []


@pytest.fixture
def dotnet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Dotnet:
    made = Dotnet(tmp_path / "bin")
    made.does()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    return made


def _nobody() -> list[str]:
    return []


def test_the_servers_are_shut_down(settings: Settings, dotnet: Dotnet, tmp_path: Path) -> None:
    found = cleanup(settings, is_dotnet=True, cwd=tmp_path, building=_nobody)
    assert (found.ran, found.reason, found.exitCode) == (True, None, 0)
    assert dotnet.called() == ["build-server shutdown"]
    assert os.listdir(settings.folder / "cleaning") == []


@pytest.mark.parametrize(
    ("is_dotnet", "changes", "reason"),
    [
        (False, {}, "not-dotnet"),
        (True, {"enabled": False}, "heavy-off"),
        (True, {"shutdown_build_server": False}, "shutdown-off"),
    ],
)
def test_it_is_not_run_where_it_is_not_wanted(
    is_dotnet: bool, changes: dict[str, bool], reason: str, settings: Settings, dotnet: Dotnet, tmp_path: Path
) -> None:
    found = cleanup(replace(settings, **changes), is_dotnet=is_dotnet, cwd=tmp_path, building=_nobody)  # type: ignore[arg-type]
    assert (found.ran, found.reason) == (False, reason)
    assert dotnet.called() == []
    assert not settings.folder.exists()


def test_it_is_not_run_while_somebody_holds_a_slot(
    settings: Settings, dotnet: Dotnet, held_by: HeldBy, sleeper: Sleeper, tmp_path: Path
) -> None:
    process = sleeper()
    held_by(process.pid)
    found = cleanup(settings, is_dotnet=True, cwd=tmp_path, building=_nobody)
    assert (found.ran, found.reason) == (False, "slots-held")
    assert f"pid {process.pid}" in found.detail
    process.kill()
    process.wait()
    assert cleanup(settings, is_dotnet=True, cwd=tmp_path, building=_nobody).ran
    assert len(dotnet.called()) == 1


def test_it_is_not_run_twice_at_once(settings: Settings, dotnet: Dotnet, held_by: HeldBy, tmp_path: Path) -> None:
    held_by(os.getpid(), "cleaning")
    assert cleanup(settings, is_dotnet=True, cwd=tmp_path, building=_nobody).reason == "slots-held"
    assert dotnet.called() == []


def test_it_is_not_run_while_something_builds_outside_of_the_slots(
    settings: Settings, dotnet: Dotnet, tmp_path: Path
) -> None:
    (tmp_path / "build").write_text("read line\n")
    argv = ["dotnet", "build"]
    with subprocess.Popen(argv, executable="/bin/sh", stdin=subprocess.PIPE, cwd=tmp_path) as process:
        found = cleanup(settings, is_dotnet=True, cwd=tmp_path)
        assert (found.ran, found.reason) == (False, "build-running")
        assert f"pid {process.pid} dotnet build" in found.detail
        process.communicate()
    assert dotnet.called() == []
    assert not any(f"pid {process.pid} " in line for line in running_builds())


@pytest.mark.parametrize(
    ("argv", "verb"),
    [
        (["dotnet", "build"], "build"),
        (["/usr/share/dotnet/dotnet", "test", "a.csproj"], "test"),
        (["dotnet", "-d", "publish"], "publish"),
        (["dotnet", "MSBUILD", "/t:Build"], "msbuild"),
        (["dotnet", "/usr/share/dotnet/sdk/9/MSBuild.dll", "/nodemode:1", "/nodeReuse:true"], None),
        (["dotnet", "exec", "VBCSCompiler.dll"], None),
        (["dotnet", "build-server", "shutdown"], None),
        (["dotnet", "run", "build"], None),
        (["dotnet"], None),
        (["vim", "build"], None),
        ([], None),
    ],
)
def test_who_builds(argv: list[str], verb: str | None) -> None:
    assert build_verb(argv) == verb


def test_nobody_gets_a_slot_while_it_runs(settings: Settings, held_by: HeldBy, sleeper: Sleeper) -> None:
    mark = held_by(sleeper().pid, "cleaning")
    with pytest.raises(Refusal) as caught, slot("mine", settings=settings):
        pass
    assert caught.value.payload["busy"]["reason"] == "build-server-cleanup"
    with slot("mine", settings=replace(settings, wait_s=60), on_wait=lambda _: mark.unlink()):
        pass


def test_a_killed_clean_up_is_in_nobodys_way(settings: Settings, held_by: HeldBy, sleeper: Sleeper) -> None:
    process = sleeper()
    held_by(process.pid, "cleaning")
    process.kill()
    process.wait()
    with slot("mine", settings=settings):
        pass


def test_a_failure_is_told_and_stops_nothing(settings: Settings, dotnet: Dotnet, tmp_path: Path) -> None:
    dotnet.does("exit 7")
    found = cleanup(settings, is_dotnet=True, cwd=tmp_path, building=_nobody)
    assert (found.ran, found.reason, found.exitCode) == (True, "command-failed", 7)


def test_it_has_an_end(settings: Settings, dotnet: Dotnet, tmp_path: Path) -> None:
    dotnet.does("exec sleep 300")
    found = cleanup(settings, is_dotnet=True, cwd=tmp_path, building=_nobody, timeout_s=0.5)
    assert (found.ran, found.reason) == (False, "command-timeout")
    assert os.listdir(settings.folder / "cleaning") == []


def test_no_dotnet_is_no_failure(settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = cleanup(settings, is_dotnet=True, cwd=tmp_path, building=_nobody)
    assert (found.ran, found.reason) == (False, "tool-missing")


def test_a_fault_of_our_own_is_no_failure(settings: Settings, ledger: Ledger, tmp_path: Path) -> None:
    def broken() -> list[str]:
        raise RuntimeError("no process table")

    found = cleanup(settings, is_dotnet=True, cwd=tmp_path, building=broken)
    assert (found.ran, found.reason) == (False, "cleanup-failed")
    assert "no process table" in found.detail
    assert os.listdir(ledger.cleaning) == []
    blocked = replace(settings, folder=Path("/proc/heavy"))
    assert cleanup(blocked, is_dotnet=True, cwd=tmp_path, building=_nobody).reason == "state-unwritable"
