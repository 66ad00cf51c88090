"""Run the browser specs of a project against its running application, and tell what they came to."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from morph_tasks.errors import Refusal
from morph_tasks.stack.artifacts import Kept, Wanted, keep, whatever_is_in
from morph_tasks.stack.specs_find import NoSpecs as NoSpecs
from morph_tasks.stack.specs_find import Specs as Specs
from morph_tasks.stack.specs_find import Unexecuted as Unexecuted
from morph_tasks.stack.specs_find import find_specs as find_specs
from morph_tasks.stack.specs_report import Attached, Report, read_report
from morph_tasks.verify.runners.model import TestResult

if TYPE_CHECKING:
    from morph_tasks.machine.processes import Ended
    from morph_tasks.model.load import Config
    from morph_tasks.repo.git import Repo

CEILING_S = 300.0
REPORTER = Path(__file__).with_name("specs_reporter.cjs")
_LEFT_S = 86_400
_GRACE_S = 5.0
# Inherited, these would open a window, wait for somebody to close it, or send the report elsewhere.
_SHED = {"PWDEBUG", "PW_TEST_REPORTER", "PW_TEST_REPORTER_WS_ENDPOINT", "PLAYWRIGHT_JSON_OUTPUT_DIR"}
_QUIET = {"PLAYWRIGHT_HTML_OPEN": "never", "PW_TEST_HTML_REPORT_OPEN": "never"}


@dataclass(frozen=True)
class SpecsResult:
    """What the specs came to.

    `count` is the number of tests that were executed, None when it cannot be read; `tests` names them, and is no
    claim about a run where `named` is False. `artifacts` are absolute paths of what failures left. `detail` holds a
    line for each failure, `runner` the one that ran them.
    """

    status: Literal["pass", "fail", "flaky"]
    reason: str | None
    message: str
    count: int | None = None
    counts: Mapping[str, int] | None = None
    tests: tuple[TestResult, ...] = ()
    artifacts: tuple[Path, ...] = ()
    warnings: tuple[str, ...] = ()
    exit_code: int | None = None
    detail: tuple[str, ...] = ()
    duration_ms: int = 0
    interrupted: bool = False
    named: bool = False
    runner: str = "playwright"

    def as_json(self) -> dict[str, Any]:
        """Return the fields of a node's record; of the tests those that carry a scenario, of paths the names."""
        return {
            "status": self.status,
            "reason": self.reason,
            "message": self.message,
            "count": self.count,
            "counts": dict(self.counts) if self.counts is not None else None,
            "tests": [test.as_json() for test in self.tests if test.scenarios],
            "named": self.named,
            "artifacts": [path.name for path in self.artifacts],
            "warnings": list(self.warnings),
            "exitCode": self.exit_code,
            "detail": list(self.detail),
        }


@dataclass(frozen=True)
class _Place:
    """The private folders of one run."""

    reports: Path
    json: Path
    output: Path


def run_specs(
    repo: Repo,
    config: Config,
    specs: Specs,
    env: Mapping[str, str],
    *,
    log: Path,
    deadline_s: float = CEILING_S,
    feature: str = "",
    run_id: str = "",
    ports: Collection[int] = (),
) -> SpecsResult:
    """Run the specs with the environment of the stack; `log` holds what they said, artifacts lie beside it.

    `ports` are those the stack listens on: specs that are configured for another address of this machine did not ask
    this application, and are red. Without it that is a warning.
    """
    warnings = tuple(str(one) for one in specs.unexecuted)
    if specs.missing:
        return SpecsResult("fail", "playwright-missing", f"{specs.missing}: {specs.fix}", warnings=warnings)
    with _private(repo) as place:
        command, cwd, more = _command(repo.root, specs, place)
        try:
            ended = _run(repo, command, cwd, {**_base(repo, feature), **env, **more}, log, deadline_s, run_id)
        except Refusal as refusal:
            return SpecsResult("fail", refusal.code, refusal.what, warnings=warnings)
        from morph_tasks.stack.specs_verdict import conclude

        report = read_report(_reports(place), repo.root)
        result = conclude(repo.root, specs, report, ended, log, env=env, deadline_s=deadline_s, ports=ports)
        kept = _kept(repo.root, result, report, place, log)
    return replace(
        result,
        artifacts=kept.paths,
        warnings=(*warnings, *result.warnings, *kept.warnings),
        duration_ms=ended.duration_ms,
        interrupted=ended.interrupted,
    )


def _command(root: Path, specs: Specs, place: _Place) -> tuple[str | list[str], Path, dict[str, str]]:
    """Return what to run, where, and the environment that makes it leave a report."""
    to_file = {"PLAYWRIGHT_JSON_OUTPUT_NAME": str(place.json)}
    if specs.command:
        added = {"PW_TEST_REPORTER": str(REPORTER), "MORPH_SPECS_REPORTS": str(place.reports)}
        # A command that reads what its own `json` reporter prints must go on finding it.
        return specs.command, root, added if _pipes(specs.command) else {**added, **to_file}
    words = ["test", "--reporter=list,json", f"--output={place.output}", "--forbid-only"]
    # Versions before 1.46 know the name alone; from then on the file counts, and it wins over a folder.
    return [*specs.argv, *words], root / specs.folder, {**to_file, "PLAYWRIGHT_JSON_OUTPUT_FILE": str(place.json)}


def _pipes(command: str) -> bool:
    return any(sign in command for sign in "|>")


def _base(repo: Repo, feature: str) -> dict[str, str]:
    from morph_tasks.verify.launch import environment
    from morph_tasks.verify.nodes import Node

    inherited = environment(repo, Node("e2e", "e2e"), feature)
    return {name: value for name, value in inherited.items() if name not in _SHED} | _QUIET


def _run(
    repo: Repo, command: str | list[str], cwd: Path, env: Mapping[str, str], log: Path, deadline_s: float, run_id: str
) -> Ended:
    from morph_tasks.machine.processes import supervise
    from morph_tasks.verify.launch import redact

    ended = supervise(
        command,
        cwd=cwd,
        env=env,
        log=log,
        timeout_s=deadline_s,
        run_id=run_id or f"specs-{os.getpid()}",
        live_dir=repo.tree_state / "live",
        # Time for the browsers of a run that is stopped to write what they recorded.
        grace_s=_GRACE_S,
    )
    redact(log)
    return ended


@contextmanager
def _private(repo: Repo) -> Iterator[_Place]:
    """Make the folders of a run, and remove them after it; those of killed runs go a day later."""
    above = repo.tree_state / "specs"
    above.mkdir(mode=0o700, parents=True, exist_ok=True)
    for old in above.iterdir():
        with suppress(OSError):
            if old.lstat().st_mtime < time.time() - _LEFT_S:
                shutil.rmtree(old)
    folder = Path(tempfile.mkdtemp(prefix="run-", dir=above))
    try:
        place = _Place(folder / "reports", folder / "report.json", folder / "output")
        place.reports.mkdir(mode=0o700)
        yield place
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _reports(place: _Place) -> list[Path]:
    """Return the reports of the reporter that was added, one for each call of Playwright, else the one of `json`."""
    added = sorted(place.reports.glob("*.json"))
    return added or ([place.json] if place.json.exists() else [])


def _written(one: Attached, place: _Place) -> Path:
    """Write a picture that the report itself holds into a folder of its own, so that it is kept like any file."""
    import binascii

    place.output.mkdir(mode=0o700, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="inline-", dir=place.output))
    path = folder / re.sub(r"[^\w.-]", "-", one.name)[-60:]
    with suppress(OSError, ValueError):  # not written is not found, and said to be
        path.write_bytes(binascii.a2b_base64(one.body))
    return path


def _kept(root: Path, result: SpecsResult, report: Report | None, place: _Place, log: Path) -> Kept:
    """Keep what failures left; of a run without a report whatever there is, when it was red."""
    if report is not None:
        wanted = [Wanted(one.path or _written(one, place), one.test) for one in report.attached]
    elif result.status == "fail":
        wanted = whatever_is_in(place.output)
    else:
        wanted = []
    return keep(wanted, [place.output, root], log.with_suffix("")) if wanted else Kept()
