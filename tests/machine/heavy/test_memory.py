from __future__ import annotations

import os
from pathlib import Path

import pytest

from morph_tasks.machine.heavy.memory import GIB, Memory, cpus, look, needed_gb

V2 = "31 23 0:28 {top} /sys/fs/cgroup rw,relatime - cgroup2 cgroup rw\n"
V1 = (
    "30 23 0:27 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
    "35 30 0:32 {top} /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n"
    "36 30 0:33 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:10 - cgroup cgroup rw,cpu,cpuacct\n"
)


class Machine:
    """A root folder with /proc and /sys as a kernel would show them."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def host(self, available: float | None, total: float = 1024) -> Machine:
        lines = [f"MemTotal: {int(total * GIB / 1024)} kB", "MemFree: 1024 kB", "Buffers: 1024 kB", "Cached: 2048 kB"]
        if available is not None:
            lines.append(f"MemAvailable: {int(available * GIB / 1024)} kB")
        return self.file("proc/meminfo", "\n".join(lines) + "\n")

    def group(self, own: str, mounts: str, top: str = "/") -> Machine:
        return self.file("proc/self/cgroup", own).file("proc/self/mountinfo", mounts.format(top=top))

    def file(self, name: str, text: object) -> Machine:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}")
        return self

    def free_gib(self) -> float:
        free = look(self.root).free
        assert free is not None
        return free / GIB


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_the_control_group_decides_when_it_leaves_less(machine: Machine) -> None:
    machine.host(850).group("0::/\n", V2)
    machine.file("sys/fs/cgroup/memory.max", 8589934592).file("sys/fs/cgroup/memory.current", 7516192768)
    found = look(machine.root)
    assert (found.free, found.total) == (GIB, 8 * GIB)
    assert found.limited_by.endswith("/sys/fs/cgroup")


def test_the_host_decides_when_the_group_has_no_limit(machine: Machine) -> None:
    machine.host(2).group("0::/\n", V2)
    machine.file("sys/fs/cgroup/memory.max", "max").file("sys/fs/cgroup/memory.current", GIB)
    assert look(machine.root) == Memory(2 * GIB, 1024 * GIB, "")


def test_the_host_decides_when_it_has_less_than_the_group_leaves(machine: Machine) -> None:
    machine.host(2).group("0::/\n", V2)
    machine.file("sys/fs/cgroup/memory.max", 199715979264).file("sys/fs/cgroup/memory.current", 26843545600)
    assert machine.free_gib() == 2


def test_no_limit_of_version_one_is_no_limit(machine: Machine) -> None:
    machine.host(10).group("4:memory:/\n0::/\n", V1)
    machine.file("sys/fs/cgroup/memory/memory.limit_in_bytes", 9223372036854771712)
    machine.file("sys/fs/cgroup/memory/memory.usage_in_bytes", 5 * GIB)
    assert machine.free_gib() == 10


def test_the_limit_of_a_group_above_counts(machine: Machine) -> None:
    machine.host(850).group("0::/jobs/mine\n", V2)
    machine.file("sys/fs/cgroup/jobs/mine/memory.max", "max").file("sys/fs/cgroup/jobs/memory.max", 4294967296)
    assert machine.free_gib() == 4
    machine.file("sys/fs/cgroup/jobs/memory.current", 3 * GIB)
    assert machine.free_gib() == 1


def test_the_tightest_of_nested_limits_counts(machine: Machine) -> None:
    machine.host(850).group("7:cpu,memory:/a/b\n", V1)
    base = "sys/fs/cgroup/memory"
    for folder, limit, used in (("", 100, 99), ("/a", 50, 20), ("/a/b", 40, 5)):
        machine.file(f"{base}{folder}/memory.limit_in_bytes", limit * GIB)
        machine.file(f"{base}{folder}/memory.usage_in_bytes", used * GIB)
    assert machine.free_gib() == 1
    assert look(machine.root).total == 40 * GIB


@pytest.mark.parametrize(
    ("mounts", "own", "folder", "names", "cache"),
    [
        (V2, "0::/\n", "sys/fs/cgroup", ("memory.max", "memory.current"), "inactive_file"),
        (V1, "4:memory:/\n", "sys/fs/cgroup/memory", ("memory.limit_in_bytes", "memory.usage_in_bytes"),
         "total_inactive_file"),
    ],
)  # fmt: skip
def test_the_cache_that_can_be_dropped_is_free(
    machine: Machine, mounts: str, own: str, folder: str, names: tuple[str, str], cache: str
) -> None:
    machine.host(850).group(own, mounts)
    machine.file(f"{folder}/{names[0]}", 8 * GIB).file(f"{folder}/{names[1]}", 8 * GIB)
    assert machine.free_gib() == 0
    machine.file(f"{folder}/memory.stat", f"anon 1\nfile 9\n{cache} {3 * GIB}\nactive_file 7\n")
    assert machine.free_gib() == 3


def test_more_used_than_allowed_leaves_nothing(machine: Machine) -> None:
    machine.host(850).group("0::/\n", V2)
    machine.file("sys/fs/cgroup/memory.max", GIB).file("sys/fs/cgroup/memory.current", 2 * GIB)
    assert machine.free_gib() == 0


def test_the_mark_at_which_the_kernel_slows_a_group_down_counts(machine: Machine) -> None:
    machine.host(850).group("0::/\n", V2)
    machine.file("sys/fs/cgroup/memory.max", "max").file("sys/fs/cgroup/memory.high", 3 * GIB)
    assert machine.free_gib() == 3


@pytest.mark.parametrize("own", ["0::/docker/abc\n", "0::/\n", "0::/../../other\n", "0::/docker/abc/inner\n"])
def test_a_mount_that_shows_only_a_part_of_the_tree(machine: Machine, own: str) -> None:
    machine.host(850).group(own, V2, top="/docker/abc")
    machine.file("sys/fs/cgroup/memory.max", 2 * GIB)
    assert machine.free_gib() == 2


def test_a_mount_point_with_a_space(machine: Machine) -> None:
    machine.host(850).group("0::/\n", "31 23 0:28 / /sys/fs/c\\040group rw - cgroup2 none rw\n")
    machine.file("sys/fs/c group/memory.max", 2 * GIB)
    assert machine.free_gib() == 2


@pytest.mark.parametrize("junk", ["", "lots", "-1", "8589934592 7", "\0"])
def test_a_limit_that_makes_no_sense_is_none(machine: Machine, junk: str) -> None:
    machine.host(5).group("0::/\n", V2).file("sys/fs/cgroup/memory.max", junk)
    assert machine.free_gib() == 5


def test_a_kernel_that_does_not_estimate(machine: Machine) -> None:
    assert look(machine.host(None).root).free == 4096 * 1024


def test_what_nobody_tells_is_unknown(machine: Machine) -> None:
    assert look(machine.root) == Memory(None, None, "")
    assert look(machine.root).free_gb is None


def test_this_machine_tells() -> None:
    found = look()
    assert found.free is not None and found.total is not None
    assert 0 <= found.free <= found.total


def test_the_default_is_four_gib_or_half_of_a_small_machine() -> None:
    assert needed_gb(None, Memory(0, 64 * GIB)) == 4
    assert needed_gb(None, Memory(0, 8 * GIB)) == 4
    assert needed_gb(None, Memory(0, 3 * GIB)) == 1.5
    assert needed_gb(None, Memory(0, 2 * GIB)) == 1
    assert needed_gb(None, Memory(None, None)) == 4


def test_what_the_user_says_holds_to_the_letter() -> None:
    assert needed_gb(4, Memory(0, 2 * GIB)) == 4
    assert needed_gb(0, Memory(0, 2 * GIB)) == 0


def test_processors_follow_the_quota(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(64)), raising=False)
    machine.group("0::/a\n", V2)
    assert cpus(machine.root) == 64
    machine.file("sys/fs/cgroup/a/cpu.max", "max 100000").file("sys/fs/cgroup/cpu.max", "100000 100000")
    assert cpus(machine.root) == 1
    machine.file("sys/fs/cgroup/cpu.max", "250000 100000")
    assert cpus(machine.root) == 2
    machine.file("sys/fs/cgroup/cpu.max", "50000 100000")
    assert cpus(machine.root) == 1


def test_processors_follow_the_quota_of_version_one(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(64)), raising=False)
    machine.group("3:cpu,cpuacct:/\n", V1)
    machine.file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", -1)
    machine.file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", 100000)
    assert cpus(machine.root) == 64
    machine.file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", 300000)
    assert cpus(machine.root) == 3
