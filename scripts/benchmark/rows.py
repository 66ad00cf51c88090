"""The rows of the table: each is one function that measures one promise."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repos import BUSY, FEATURE, INSTANT, NODES, Workshop, plan
from timing import Cost, NotAvailable, Pairs, Shell, alone, compare


@dataclass(frozen=True)
class Size:
    """How much is measured; the targets hold for the defaults."""

    pairs: int = 7
    files: int = 10_000
    many_files: int = 50_000
    log_bytes: int = 50 * 1024 * 1024
    junit_tests: int = 20_000


@dataclass(frozen=True)
class Measured:
    """One line of the table; `held` tells whether the target was met."""

    what: str
    floor: str
    value: str
    target: str
    held: bool


@dataclass(frozen=True)
class Bench:
    """Where and how much."""

    workshop: Workshop
    size: Size


def noop(bench: Bench) -> Measured:
    """A verify that finds ten green nodes, against asking git and starting Python."""
    return _noop(bench, bench.size.files, 2.0, "morph-spec", "verify", FEATURE)


def noop_many(bench: Bench) -> Measured:
    return _noop(bench, bench.size.many_files, 1.0, "morph-spec", "verify", FEATURE)


def noop_doit(bench: Bench) -> Measured:
    return _noop(bench, bench.size.files, 4.0, "doit", f"verify:{FEATURE}")


def noop_doit_many(bench: Bench) -> Measured:
    return _noop(bench, bench.size.many_files, 1.8, "doit", f"verify:{FEATURE}")


def noop_memory(bench: Bench) -> Measured:
    """The peak memory of a verify that has nothing to do, the programs it starts included."""
    shell = _green(bench, bench.size.many_files, INSTANT)
    peak = alone(lambda: shell.cost("morph-spec", "verify", FEATURE), 3).peak
    what = f"peak memory of `morph-spec verify`, nothing to do, {bench.size.many_files:,} files"
    return Measured(what, "", f"{peak:.0f} MiB", "≤ 80 MiB", peak <= 80)


def start_up(bench: Bench) -> Measured:
    return _against_node(bench, bench.workshop.plain, 1.2, "`morph-spec --help`", "morph-spec", "--help")


def list_features(bench: Bench) -> Measured:
    """The list of fifty features."""
    shell = bench.workshop.repository(101)
    features = shell.cwd / ".morph/features"
    for number in range(1, 50):
        _copy_feature(features / FEATURE, features / f"{FEATURE}-{number:02}")
    shown = json.loads(shell.output("morph-spec", "list", "--json"))
    if json.dumps(shown).count(f'"{FEATURE}-') < 49:
        raise NotAvailable("`morph-spec list --json` does not show the fifty features")
    return _against_node(bench, shell, 1.5, "`morph-spec list`, 50 features", "morph-spec", "list")


def plan_check(bench: Bench) -> Measured:
    """The CPU time of checking a large plan."""
    shell = bench.workshop.repository(102)
    (shell.cwd / f".morph/features/{FEATURE}/2-plan/plan.md").write_text(plan(200, 60), encoding="utf-8")
    cpu = alone(lambda: shell.cost("morph-spec", "plan-check", FEATURE), bench.size.pairs).cpu
    what = "`morph-spec plan-check`, 200 scenarios, 60 slices"
    return Measured(what, "", f"{cpu:.2f} s of CPU", "≤ 0.5 s", cpu <= 0.5)


def overhead(bench: Bench) -> Measured:
    """What a verify adds to ten commands run one after the other."""
    shell = _green(bench, bench.size.files, BUSY)
    return _overhead(
        bench,
        "`morph-spec verify --fresh`",
        lambda: shell.cost("morph-spec", "verify", FEATURE, "--fresh", "-n", "1"),
        lambda: _by_hand(shell, 1),
    )


def overhead_two(bench: Bench) -> Measured:
    """What a verify adds to ten commands run two at a time."""
    shell = _green(bench, bench.size.files, BUSY)
    return _overhead(
        bench,
        "`morph-spec verify --fresh -n 2`",
        lambda: shell.cost("morph-spec", "verify", FEATURE, "--fresh", "-n", "2"),
        lambda: _by_hand(shell, 2),
    )


def suite_read(bench: Bench) -> Measured:
    """Reading the counts of a long log, against reading its bytes."""
    shell = bench.workshop.plain
    tests = bench.size.log_bytes // 70
    log = bench.workshop.file("pytest.log", _pytest_log(tests))
    read = _read(shell, tests, str(log))
    pairs = compare(lambda: shell.cost(*read), lambda: shell.cost("cat", str(log)), bench.size.pairs)
    what = f"`morph-spec suite read`, a log of {bench.size.log_bytes / 1024 / 1024:.0f} MB"
    return within(what, "`cat`", pairs, 1.5, 0.5)


def junit(bench: Bench) -> Measured:
    """The CPU time of reading a large JUnit report."""
    shell = bench.workshop.plain
    tests = bench.size.junit_tests
    report = bench.workshop.file("junit.xml", _junit(tests))
    log = bench.workshop.file("summary.log", [_summary(tests)])
    read = _read(shell, tests, str(log), "--junit", str(report))
    cpu = alone(lambda: shell.cost(*read), bench.size.pairs).cpu
    what = f"`morph-spec suite read`, JUnit with {tests:,} tests"
    return Measured(what, "", f"{cpu:.2f} s of CPU", "≤ 1 s", cpu <= 1)


def slice_start(bench: Bench) -> Measured:
    """Choosing what a slice needs of ten nodes, and starting the first of them once the tree is known."""
    shell = _green(bench, bench.size.files, INSTANT)
    folder = shell.cwd / f".morph/features/{FEATURE}/2-plan"
    folder.mkdir(exist_ok=True)
    (folder / "plan.md").write_text(plan(10, 4), encoding="utf-8")
    shell.output("morph-spec", "plan-check", FEATURE)
    touched = shell.cwd / "src/part_2.py"
    touched.write_text("touched = True\n", encoding="utf-8")
    took = sorted(_picking(shell) for _ in range(bench.size.pairs))[bench.size.pairs // 2]
    touched.unlink()
    what = f"`morph-spec verify {FEATURE} F2`, choosing and starting after the fingerprint, {NODES} nodes"
    return Measured(what, "", f"{took * 1000:.0f} ms", "≤ 150 ms", took <= 0.15)


def tripwire(bench: Bench) -> Measured:
    """The CPU time of looking for weakened tests in a long diff."""
    shell = bench.workshop.weakened(5_000)
    script = str(Path(__file__).with_name("weakening.py"))
    said = json.loads(shell.output(sys.executable, script, FEATURE))
    if not said["findings"]:
        raise NotAvailable("the validator found nothing in a diff that removes assertions")
    cpu = alone(lambda: shell.cost(sys.executable, script, FEATURE), bench.size.pairs).wall
    what = f"validator `test-weakening`, a diff of {said['lines']:,} lines"
    return Measured(what, "", f"{cpu:.2f} s", "≤ 2 s", cpu <= 2)


def heavy_alone(bench: Bench) -> Measured:
    """Taking a slot for heavy jobs that nobody else wants, and giving it back."""
    said = _slots(bench, "alone", "200")
    took = float(said["seconds"])
    return Measured(
        "a heavy slot taken and given back, in process", "", f"{took * 1000:.1f} ms", "≤ 5 ms", took <= 0.005
    )


def heavy_crowd(bench: Bench) -> Measured:
    """Twenty processes that compete for the slots a thousand times."""
    said = _slots(bench, "crowd", "20", "50")
    value = f"{said['granted']:,} granted, {said['lost']} lost, {said['most']} at once with {said['slots']} slots"
    held = not said["lost"] and not said["failed"] and said["most"] <= said["slots"]
    return Measured("heavy slots, 20 processes, 1,000 times", "", value, "none lost, none too many", held)


def e2e_status(bench: Bench) -> Measured:
    """Asking whether a stack of three services is up, well and current, against one listing by Compose."""
    return _stack(bench, "status", 0.8)


def e2e_up(bench: Bench) -> Measured:
    """Bringing up what is up already, against one listing by Compose; no container may be restarted."""
    return _stack(bench, "up", 1.2)


ROWS: dict[str, Callable[[Bench], Measured]] = {
    "noop": noop,
    "noop-50k": noop_many,
    "doit": noop_doit,
    "doit-50k": noop_doit_many,
    "help": start_up,
    "list": list_features,
    "plan-check": plan_check,
    "memory-50k": noop_memory,
    "overhead": overhead,
    "overhead-n2": overhead_two,
    "suite-read": suite_read,
    "junit": junit,
    "slice": slice_start,
    "tripwire": tripwire,
    "heavy": heavy_alone,
    "heavy-crowd": heavy_crowd,
    "e2e": e2e_status,
    "e2e-up": e2e_up,
}


def _slots(bench: Bench, *words: str) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(
        bench.workshop.plain.output(sys.executable, str(Path(__file__).with_name("heavy.py")), *words)
    )
    return said


def _stack(bench: Bench, verb: str, limit: float) -> Measured:
    shell, project = bench.workshop.stack
    ids = ("docker", "ps", "-q", "--no-trunc", "--filter", f"label=com.docker.compose.project={project}")
    before = sorted(shell.output(*ids).split())
    pairs = compare(
        lambda: shell.cost("morph-spec", "e2e", verb, FEATURE),
        lambda: shell.cost("docker", "compose", "-p", project, "ps", "--format", "json"),
        bench.size.pairs,
    )
    if sorted(shell.output(*ids).split()) != before:
        raise NotAvailable(f"`e2e {verb}` replaced a container that was up")
    what = f"`morph-spec e2e {verb}`, a warm, current stack of three services"
    return ratio(what, "`docker compose ps --format json`", pairs, limit)


def _picking(shell: Shell) -> float:
    script = str(Path(__file__).with_name("picking.py"))
    said = json.loads(shell.output(sys.executable, script, FEATURE, "F2"))
    if said["started"] != NODES:
        raise NotAvailable(f"the slice started {said['started']} of {NODES} nodes")
    return float(said["seconds"])


def _noop(bench: Bench, files: int, limit: float, *argv: str) -> Measured:
    shell = _green(bench, files, INSTANT)
    pairs = compare(
        lambda: shell.cost(*argv),
        lambda: shell.cost("git", "status", "--porcelain") + shell.cost(sys.executable, "-c", "pass"),
        bench.size.pairs,
    )
    what = f"`{' '.join(argv)}`, {NODES} green nodes, {files:,} files"
    return ratio(what, "`git status --porcelain` + `python -c pass`", pairs, limit)


def _against_node(bench: Bench, shell: Shell, limit: float, what: str, *argv: str) -> Measured:
    pairs = compare(lambda: shell.cost(*argv), lambda: shell.cost("node", "-e", ""), bench.size.pairs)
    return ratio(what, "`node -e ''`", pairs, limit)


def _overhead(bench: Bench, command: str, subject: Callable[[], Cost], floor: Callable[[], Cost]) -> Measured:
    pairs = compare(subject, floor, bench.size.pairs)
    return within(f"{command}, {NODES} commands, {bench.size.files:,} files", "the same by hand", pairs, 1.05, 0.4)


def ratio(what: str, floor: str, pairs: Pairs, limit: float) -> Measured:
    value = f"{pairs.ratio:.2f}× ({ms(pairs.subject)} / {ms(pairs.floor)})"
    return Measured(what, floor, value, f"≤ {limit:g}×", pairs.ratio <= limit)


def within(what: str, floor: str, pairs: Pairs, factor: float, seconds: float) -> Measured:
    above = pairs.subject.wall - factor * pairs.floor.wall
    value = f"{factor:g}× {above:+.2f} s ({ms(pairs.subject)} / {ms(pairs.floor)})"
    return Measured(what, floor, value, f"≤ {factor:g}× + {seconds:g} s", above <= seconds)


def ms(cost: Cost) -> str:
    return f"{cost.wall * 1000:.0f} ms"


def _green(bench: Bench, files: int, command: str) -> Shell:
    """Return a repository whose ten nodes have a proof; raises NotAvailable when a second verify reuses fewer."""
    shell = bench.workshop.repository(files, command)
    shell.cost("morph-spec", "verify", FEATURE)
    again = json.loads(shell.output("morph-spec", "verify", FEATURE, "--json"))
    runs = again.get("nodes", {}).get("tests", {}).get("runs", [])
    reused = [run for run in runs if run.get("reused")]
    if len(reused) != NODES:
        raise NotAvailable(f"a second verify reused {len(reused)} of {NODES} nodes")
    return shell


def _by_hand(shell: Shell, at_once: int) -> Cost:
    commands = b"\0".join([BUSY.encode()] * NODES) + b"\0"
    return shell.cost("xargs", "-0", "-n", "1", "-P", str(at_once), "sh", "-c", stdin=commands)


def _copy_feature(source: Path, target: Path) -> None:
    for path in sorted(source.rglob("*")):
        if path.is_file():
            beside = target / path.relative_to(source)
            beside.parent.mkdir(parents=True, exist_ok=True)
            text = path.read_text(encoding="utf-8")
            if path.name == "feature.json":
                text = text.replace(f'"{source.name}"', f'"{target.name}"')
            beside.write_text(text, encoding="utf-8")


def _read(shell: Shell, tests: int, *arguments: str) -> tuple[str, ...]:
    """Return the command that reads a suite; raises NotAvailable when it does not count what is there."""
    command = ("morph-spec", "suite", "read", *arguments, "--runner", "pytest", "--exit-code", "0")
    said = json.loads(shell.output(*command, "--json"))
    counted = (said.get("counts") or {}).get("passed")
    if counted != tests:
        raise NotAvailable(f"`morph-spec suite read` counted {counted} of {tests} tests")
    return command


def _pytest_log(tests: int) -> Iterator[str]:
    yield "============================= test session starts ==============================\n"
    for number in range(tests):
        line = f"tests/test_area_{number % 97:02}.py::test_case_{number:07}[with-parameter] PASSED"
        yield f"{line:<69}\n"
    yield _summary(tests)


def _summary(tests: int) -> str:
    return f"============================= {tests} passed in 12.34s ==============================\n"


def _junit(tests: int) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="utf-8"?>\n<testsuites>'
    yield f'<testsuite name="pytest" errors="0" failures="0" skipped="0" tests="{tests}" time="12.34">\n'
    for n in range(tests):
        yield f'<testcase classname="tests.test_area_{n % 97}" name="test_case_{n}" time="0.001">'
        yield f"<system-out>line one of {n}&#10;line two of {n}</system-out></testcase>\n"
    yield "</testsuite></testsuites>\n"
