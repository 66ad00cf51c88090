"""From the report of the specs and the end of their command to one verdict: the worse of the two counts."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.stack.specs import SpecsResult
from morph_tasks.stack.specs_report import Report

if TYPE_CHECKING:
    from morph_tasks.machine.processes import Ended
    from morph_tasks.stack.specs_find import Specs

_MOST_FAILURES = 10
_HERE = frozenset({"localhost", "127.0.0.1", "::1", "0.0.0.0"})  # noqa: S104  (names to compare with)
_DEFAULT_PORTS = {"http": 80, "https": 443}
_REFUSED = re.compile(r"(?:ERR_CONNECTION_REFUSED|ECONNREFUSED|NS_ERROR_CONNECTION_REFUSED)[^\n\d:]{0,20}?(\S*:\d+\S*)")
_ENDINGS = {126: "command-not-executable", 127: "command-not-found"}
_UNREAD = "the number of specs could not be read: it is unknown, not zero"


@dataclass(frozen=True)
class _Run:
    root: Path
    specs: Specs
    ended: Ended
    log: Path
    env: Mapping[str, str]
    ports: Collection[int]


def conclude(
    root: Path,
    specs: Specs,
    report: Report | None,
    ended: Ended,
    log: Path,
    *,
    env: Mapping[str, str],
    deadline_s: float,
    ports: Collection[int] = (),
) -> SpecsResult:
    """Return what a finished run came to."""
    from morph_tasks.verify.reading import left_behind

    run = _Run(root, specs, ended, log, env, ports)
    result = _by_report(run, report) if report is not None else _by_output(run)
    result = replace(result, exit_code=ended.exit_code, warnings=(*result.warnings, *left_behind(ended)))
    if ended.timed_out:
        message = f"the specs were still running after {deadline_s:g} s and were stopped"
        return replace(result, status="fail", reason="timeout", message=message)
    if ended.interrupted:
        return replace(result, status="fail", reason="interrupted", message="the specs were interrupted")
    return result


def _by_report(run: _Run, report: Report) -> SpecsResult:
    elsewhere = list(_elsewhere(run, report))
    result = SpecsResult(
        status="pass",
        reason=None,
        message=_counted(report),
        count=report.executed,
        counts=dict(report.counts),
        tests=report.tests,
        warnings=(*report.warnings, *_of_server(report), *elsewhere),
        detail=_detail(report),
        named=True,
    )
    reason, message = _red(run, report)
    if reason is None and elsewhere and run.ports:
        reason, message = "other-application", elsewhere[0]
    if reason is not None:
        hints = tuple(_hints(run, report))
        return replace(result, status="fail", reason=reason, message=message, detail=(*result.detail, *hints))
    if report.counts["flaky"]:
        many = report.counts["flaky"]
        said = f"{many} spec{'s' * (many != 1)} passed only after a failure"
        return replace(result, status="flaky", reason="flaky-in-runner", message=said)
    return result


def _red(run: _Run, report: Report) -> tuple[str | None, str]:
    """Return why a run is no pass, the reason that says most first."""
    counts, code = report.counts, run.ended.exit_code
    if counts["failed"]:
        return "tests-failed", _counted(report)
    if report.errors:
        return "unhandled-error", report.errors[0]
    if counts.get("interrupted"):
        return "interrupted", _counted(report)
    if counts.get("did_not_run"):
        return "incomplete", _counted(report)
    if not report.executed:
        if counts["skipped"] and not report.none_found:
            return "all-skipped", f"no spec was executed: {_counted(report)}"
        return "no-tests", "no spec was executed"
    if code not in (0, None) and not (code == 1 and counts["flaky"]):
        if code in _ENDINGS:
            return _ENDINGS[code], f"the command ended with exit code {code}"
        return "inconsistent-exit", f"every spec passed, and the command ended with exit code {code}"
    if code is None:
        return "not-ended", "the command did not end by itself"
    return None, ""


def _counted(report: Report) -> str:
    said = [f"{many} {kind.replace('_', ' ')}" for kind, many in report.counts.items() if many]
    return ", ".join(said) or "nothing was executed"


def _detail(report: Report) -> tuple[str, ...]:
    lines = [str(one) for one in report.failed[:_MOST_FAILURES]]
    if len(report.failed) > _MOST_FAILURES:
        lines.append(f"and {len(report.failed) - _MOST_FAILURES} more")
    return (*lines, *report.errors[:_MOST_FAILURES])


def _of_server(report: Report) -> tuple[str, ...]:
    if not report.own_server:
        return ()
    return (
        f"the Playwright configuration starts a server of its own ({report.own_server[:100]}): the specs may have "
        "asked that one and not the stack; leave `webServer` out when PLAYWRIGHT_BASE_URL is set",
    )


def _elsewhere(run: _Run, report: Report) -> Iterator[str]:
    """Yield the configured addresses of this machine where the stack does not listen."""
    base = run.env.get("PLAYWRIGHT_BASE_URL", "")
    ours = set(run.ports) or _block(run.env)
    if not base or not ours:
        return
    for url in report.base_urls:
        host, port = _address(url)
        if host in _HERE and port is not None and port not in ours:
            way_out = "read baseURL from PLAYWRIGHT_BASE_URL"
            yield f"the specs are configured for {url}, and the stack is at {base}: {way_out}"


def _block(env: Mapping[str, str]) -> set[int]:
    """Return the ports that an environment gives to the stack."""
    numbers = {int(value) for name, value in env.items() if name.endswith("PORT") and value.isdigit()}
    _, port = _address(env.get("PLAYWRIGHT_BASE_URL", ""))
    return numbers | ({port} if port is not None else set())


def _address(url: str) -> tuple[str, int | None]:
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        return parts.hostname or "", parts.port or _DEFAULT_PORTS.get(parts.scheme)
    except ValueError:
        return "", None


def _hints(run: _Run, report: Report) -> Iterator[str]:
    """Yield what a refused connection means when it went to another port than that of the stack."""
    base = run.env.get("PLAYWRIGHT_BASE_URL", "")
    ours = set(run.ports) or _block(run.env)
    asked = {hit[1] for said in report.said for hit in _REFUSED.finditer(said) if hit[1]}
    for address in sorted(asked):
        hit = re.search(r":(\d+)", address.removeprefix("http://").removeprefix("https://"))
        if base and hit and int(hit[1]) not in ours:
            yield f"nothing listens at {address}, and the stack is at {base}: read the address from PLAYWRIGHT_BASE_URL"


def _by_output(run: _Run) -> SpecsResult:
    """Conclude from what was printed, where there is no report or one that is torn."""
    from morph_tasks.verify.reading import tail
    from morph_tasks.verify.runners.infer import infer_runner
    from morph_tasks.verify.runners.read import read_failures, read_output
    from morph_tasks.verify.runners.results import read_results

    runner = (infer_runner(run.specs.command, run.root) or "none") if run.specs.command else "playwright"
    code, command = run.ended.exit_code, run.specs.command
    said = read_output(runner, run.log, exit_code=code, command=command, timed_out=run.ended.timed_out)
    if code in _ENDINGS and said.counts is None:
        why = f"the command ended with exit code {code}"
        return SpecsResult("fail", _ENDINGS[code], why, detail=tuple(tail(run.log)), runner=runner)
    failures = tuple(f"{one.where()}: {one.first_line()}".strip(": ") for one in read_failures(runner, run.log))
    found = read_results(runner, run.log, root=run.root)
    # What our own call of Playwright should have written and did not is not made up from what it printed.
    known = said.counts is not None and bool(command)
    result = SpecsResult(
        status="pass",
        reason=None,
        message=said.message,
        count=said.executed if known else None,
        counts=dict(said.counts or {}) if known else None,
        tests=found.tests if known else (),
        warnings=tuple(said.warnings) if known else (*said.warnings, _UNREAD),
        detail=failures[:_MOST_FAILURES] or tuple(tail(run.log)),
        named=found.named and known,
        runner=runner,
    )
    if said.verdict == "pass" or (said.verdict == "unknown" and code == 0):
        flaky = said.flaky and said.verdict == "pass"
        return replace(result, status="flaky", reason="flaky-in-runner") if flaky else replace(result, detail=())
    reason = "no-tests" if said.verdict == "no-tests" else said.reason or "tests-failed"
    return replace(result, status="fail", reason=reason)
