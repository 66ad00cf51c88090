"""What Playwright's JSON reports say: counts, tests with their scenarios, attachments of failures, other errors."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from morph_tasks.verify.runners.model import TestResult
from morph_tasks.verify.runners.text import strip_codes
from morph_tasks.verify.runners.told import joined
from morph_tasks.verify.scenarios.tags import tags

_LARGEST = 1 << 28
_DEEPEST = 100
_NO_TESTS = "Error: No tests found"
_OUTCOMES = {"expected": "passed", "unexpected": "failed", "flaky": "flaky"}
# Of the runs of one test in several browsers the worst one counts.
_WORST = ("failed", "flaky", "passed", "skipped")

Status = Literal["passed", "failed", "skipped", "flaky"]


@dataclass(frozen=True)
class Attached:
    """What a test left: a file at `path` (absolute), or a picture or film in `body` (base64); `name` as a file name."""

    test: str
    name: str
    path: Path | None = None
    body: str = ""


@dataclass(frozen=True)
class Failed:
    """A test that did not pass, with the first line of its error."""

    name: str
    file: str | None
    line: int | None
    message: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line} " if self.file else ""
        return f"{place}{self.name}: {self.message}".rstrip(": ")


@dataclass(frozen=True)
class Report:
    """The sum of the reports of one command. `executed` counts a test once for each browser it ran in.

    `counts` has `passed`, `failed`, `skipped`, `flaky`, and where there are any `did_not_run` and `interrupted`.
    `base_urls` are the addresses that the projects are configured with.
    """

    counts: Mapping[str, int]
    executed: int
    tests: tuple[TestResult, ...]
    failed: tuple[Failed, ...] = ()
    attached: tuple[Attached, ...] = ()
    errors: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
    none_found: bool = False
    own_server: str = ""
    base_urls: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass
class _Sum:
    root: Path
    counts: dict[str, int] = field(default_factory=lambda: {"passed": 0, "failed": 0, "skipped": 0, "flaky": 0})
    tests: dict[tuple[str, str | None, int | None], TestResult] = field(default_factory=dict)
    failed: list[Failed] = field(default_factory=list)
    attached: list[Attached] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def read_report(paths: Sequence[Path], root: Path) -> Report | None:
    """Return what reports say together, files relative to `root`; None when there is none, or one cannot be read."""
    documents = [_document(path) for path in paths]
    if not documents:
        return None
    total = _Sum(Path(os.path.realpath(root)))
    errors: list[str] = []
    servers: list[str] = []
    urls: list[str] = []
    try:
        for document in documents:
            if document is None:
                return None
            _add(total, document)
            errors += [_first_line(one) for one in document.get("errors") or ()]
            servers += _servers(document)
            urls += _urls(document)
    except (TypeError, AttributeError, KeyError):  # JSON of another shape
        return None
    counts = total.counts
    return Report(
        counts=counts,
        executed=counts["passed"] + counts["failed"] + counts["flaky"],
        tests=tuple(total.tests.values()),
        failed=tuple(total.failed),
        attached=tuple(total.attached),
        errors=tuple(one for one in errors if one != _NO_TESTS),
        said=tuple(total.said),
        none_found=_NO_TESTS in errors,
        own_server=", ".join(dict.fromkeys(servers)),
        base_urls=tuple(dict.fromkeys(urls)),
        warnings=tuple(dict.fromkeys(total.warnings)),
    )


def _document(path: Path) -> dict[str, Any] | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(descriptor, "rb") as file:
            data = file.read(_LARGEST + 1)
        found = json.loads(data.decode("utf-8", "replace"), strict=False) if len(data) <= _LARGEST else None
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and isinstance(found.get("suites"), list) and "errors" in found else None


def _servers(document: Mapping[str, Any]) -> list[str]:
    found = (document.get("config") or {}).get("webServer")
    several = found if isinstance(found, list) else [found]
    return [str(one.get("command") or "?") for one in several if isinstance(one, dict)]


def _urls(document: Mapping[str, Any]) -> list[str]:
    projects = (document.get("config") or {}).get("filteredProjects") or ()
    found = [(one.get("use") or {}).get("baseURL") for one in projects if isinstance(one, dict)]
    return [url for url in found if isinstance(url, str) and url]


def _add(total: _Sum, document: Mapping[str, Any]) -> None:
    base = Path(str((document.get("config") or {}).get("rootDir") or total.root))
    for titles, spec in _specs(document["suites"], [], 0):
        name = joined([*titles, str(spec.get("title", ""))])
        file = _placed(spec.get("file"), base, total.root)
        for one in spec.get("tests") or ():
            _add_test(total, one, name, file, spec.get("line"))


def _specs(suites: Any, above: list[str], depth: int) -> Iterator[tuple[list[str], Mapping[str, Any]]]:
    """Yield each spec with the titles above it; the outermost suite is the file, which is none of them."""
    if depth > _DEEPEST:
        return
    for suite in suites or ():
        titles = [*above, str(suite.get("title", ""))] if depth else above
        for spec in suite.get("specs") or ():
            yield titles, spec
        yield from _specs(suite.get("suites"), titles, depth + 1)


def _placed(file: Any, base: Path, root: Path) -> str | None:
    """Return a file relative to the tree; outside of it as it was told."""
    if not isinstance(file, str) or not file:
        return None
    whole = os.path.relpath(os.path.realpath(base / file), root)
    return file if whole.startswith("..") else whole.replace(os.sep, "/")


def _add_test(total: _Sum, one: Mapping[str, Any], name: str, file: str | None, line: Any) -> None:
    kind = _kind(one)
    total.counts[kind] = total.counts.get(kind, 0) + 1
    line = line if isinstance(line, int) else None
    status: Status = "skipped"
    if kind in ("passed", "failed", "flaky"):
        # What is expected to fail and does is no proof of anything.
        status = "skipped" if kind == "passed" and one.get("expectedStatus") != "passed" else kind  # type: ignore[assignment]
    noted, warnings = _noted(one, name, file, line)
    total.warnings += warnings
    key = (name, file, line)
    before = total.tests.get(key)
    scenarios = tuple(dict.fromkeys([*(before.scenarios if before else ()), *tags(name), *noted]))
    worst = min(status, before.status if before else status, key=_WORST.index)
    total.tests[key] = TestResult(name, worst, file, line, scenarios)
    if kind in ("failed", "flaky", "interrupted"):
        _add_failure(total, one, Failed(_in_project(name, one), file, line, ""), red=kind == "failed")


def _kind(one: Mapping[str, Any]) -> str:
    """Return what a test counts as. Playwright's own report calls skipped what never ran, too."""
    status = one.get("status")
    if status in _OUTCOMES:
        return _OUTCOMES[str(status)]
    results = one.get("results") or ()
    if any(result.get("status") == "interrupted" for result in results):
        return "interrupted"
    return "skipped" if results and one.get("expectedStatus") == "skipped" else "did_not_run"


def _in_project(name: str, one: Mapping[str, Any]) -> str:
    project = one.get("projectName")
    return f"[{project}] {name}" if project else name


def _noted(one: Mapping[str, Any], name: str, file: str | None, line: int | None) -> tuple[list[str], list[str]]:
    """Return the scenarios in the annotations of a test, those made while it ran included, and warnings of bad ones."""
    found: list[str] = []
    warnings: list[str] = []
    for note in _annotations(one):
        if note.get("type") != "scenario":
            continue
        said = str(note.get("description") or "").strip()
        ids = [one for part in said.replace(",", " ").split() for one in tags(part if "[" in part else f"[{part}]")]
        if not ids:
            warnings.append(f"{file}:{line} {name}: the annotation scenario names no scenario: {said[:60]!r}")
        found += ids
    return found, warnings


def _annotations(one: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    yield from (note for note in one.get("annotations") or () if isinstance(note, dict))
    for result in one.get("results") or ():
        yield from (note for note in result.get("annotations") or () if isinstance(note, dict))


def _add_failure(total: _Sum, one: Mapping[str, Any], failed: Failed, *, red: bool) -> None:
    for result in one.get("results") or ():
        if result.get("status") in ("passed", "skipped"):
            continue
        message = _first_line(result.get("error") or next(iter(result.get("errors") or ()), None))
        total.said.append(_whole(result.get("error") or {}))
        if red and message and not failed.message:
            failed = Failed(failed.name, failed.file, failed.line, message)
        total.attached += [
            left for one_left in result.get("attachments") or () if (left := _left(failed.name, one_left))
        ]
    if red:
        total.failed.append(failed)


def _left(test: str, one: Mapping[str, Any]) -> Attached | None:
    """Return an attachment that can be kept; text that a test hands over is in the log already."""
    path, body, kind = one.get("path"), one.get("body"), str(one.get("contentType") or "")
    if isinstance(path, str) and os.path.isabs(path):
        return Attached(test, os.path.basename(path), Path(path))
    if isinstance(body, str) and body and kind.startswith(("image/", "video/")):
        return Attached(test, f"{one.get('name') or 'attached'}.{kind.partition('/')[2]}", body=body)
    return None


def _whole(error: Any) -> str:
    return strip_codes(str(error.get("message") or error.get("value") or "")) if isinstance(error, dict) else ""


def _first_line(error: Any) -> str:
    return next((line.strip()[:300] for line in _whole(error).splitlines() if line.strip()), "")
