"""Reads what the runners answer when they are asked for their tests."""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from morph_tasks.verify.scenarios.tags import tag, tags

_CARGO_TEST = re.compile(r"(\S.*): test$")
_CARGO_FILE = re.compile(r"\s*Running (?:unittests )?(\S+\.rs)(?: \(.*\))?$")
_GO_NAME = re.compile(r"(?:Test|Fuzz|Example)\w*$")
_GO_END = re.compile(r"(?:ok|---|\?|FAIL)\s+(\S+)")


@dataclass(frozen=True)
class Listed:
    """One test that a runner names: `file` relative to the root, `cases` of a test with parameters are one."""

    name: str
    file: str | None = None
    line: int | None = None
    scenarios: tuple[str, ...] = ()
    skipped: str | None = None
    cases: int = 1
    package: str | None = None


@dataclass
class Answer:
    """What a runner answered. `tests` None: it named none; `files` None: it named tests instead of files.

    Where it is not `complete`, `open` are the files and folders that are not known, all of them when it is empty.
    """

    tests: list[Listed] | None = None
    files: frozenset[str] | None = None
    complete: bool = True
    open: tuple[str, ...] = ()
    said: str = ""
    notes: list[str] = field(default_factory=list)


def read_answer(runner: str, root: Path, folder: Path, out: str, said: str, code: int | None) -> Answer | None:
    """Return what a runner answered in its file `out` or on its streams (`said`); None when it answered nothing."""
    return READERS[runner](root, folder, out, said, code)


def _pytest(root: Path, folder: Path, out: str, said: str, code: int | None) -> Answer | None:
    lines = [told for line in _text(out).splitlines() if isinstance(told := _json(line), dict)]
    if not any("ended" in line for line in lines):
        return None
    failed = [line for line in lines if "failed" in line]
    notes = [f"{line['failed'] or 'a file'}: {line['said']}" for line in failed]
    found: dict[tuple[str, str | None, int | None], Listed] = {}
    for line in lines:
        if "name" not in line:
            continue
        name, case = line["name"], line["case"]
        base = name.removesuffix(case) if case else name
        ids = dict.fromkeys([*map(tag, line["scenarios"]), *tags(name)])
        file = below(root, line["path"])
        before = found.get((base, file, line["line"]))
        if before:
            ids = dict.fromkeys([*before.scenarios, *ids])
        found[base, file, line["line"]] = Listed(
            base.replace("::", " > "), file, line["line"], tuple(ids),
            # Cases that run are what counts.
            line["skipped"] if before is None or before.skipped else None,
            before.cases + 1 if before else 1,
        )  # fmt: skip
    ended = next(line["ended"] for line in lines if "ended" in line)
    # A file that failed interrupts (2) what is to follow, once all the others are collected.
    unread = [below(root, line["path"]) or "." for line in failed] if ended in (0, 2, 5) else []
    complete = not failed and ended in (0, 5)
    return Answer(list(found.values()), complete=complete, open=tuple(unread), notes=notes)


def _vitest(root: Path, folder: Path, out: str, said: str, code: int | None) -> Answer | None:
    data = _json(_text(out))
    if not isinstance(data, list):
        return None
    found: dict[tuple[str, str | None, int | None], Listed] = {}
    for one in data:
        if not isinstance(one, dict) or not isinstance(one.get("name"), str):
            continue
        file = below(root, str(one.get("file")))
        line = (one.get("location") or {}).get("line")
        found[one["name"], file, line] = Listed(one["name"], file, line, tags(one["name"]))
    return Answer(list(found.values()), complete=code == 0)


def _jest(root: Path, folder: Path, out: str, said: str, code: int | None) -> Answer | None:
    for line in reversed(said.splitlines()):
        found = _json(line.strip()) if line.strip().startswith("[") else None
        if isinstance(found, list) and all(isinstance(path, str) for path in found):
            files = frozenset(file for path in found if (file := below(root, path)))
            return Answer(files=files, complete=code == 0)
    return None


def _playwright(root: Path, folder: Path, out: str, said: str, code: int | None) -> Answer | None:
    data = _json(_text(out))
    if not isinstance(data, dict) or not isinstance(data.get("suites"), list):
        return None
    top = Path(str((data.get("config") or {}).get("rootDir") or folder))
    found: dict[tuple[str, str | None, int | None], Listed] = {}
    for one in _specs(data["suites"], root, top, ()):
        found[one.name, one.file, one.line] = one
    errors = [str(one.get("message", "")).splitlines()[0] for one in data.get("errors") or () if isinstance(one, dict)]
    return Answer(list(found.values()), complete=code == 0 and not errors, notes=errors)


def _specs(suites: list[Any], root: Path, top: Path, above: tuple[str, ...]) -> Iterator[Listed]:
    for suite in suites:
        titles = (*above, suite["title"]) if suite.get("title") and suite.get("title") != suite.get("file") else above
        for spec in suite.get("specs") or ():
            name = " > ".join((*titles, spec.get("title", "")))
            runs = spec.get("tests") or ()
            left_out = bool(runs) and all(run.get("expectedStatus") == "skipped" for run in runs)
            why = next((note.get("description") for run in runs for note in run.get("annotations") or ()), None)
            yield Listed(
                name, below(root, str(top / spec.get("file", ""))), spec.get("line"), tags(name),
                (why or "skip") if left_out else None,
            )  # fmt: skip
        yield from _specs(suite.get("suites") or [], root, top, titles)


def _go(root: Path, folder: Path, out: str, said: str, code: int | None) -> Answer | None:
    tests: list[Listed] = []
    names: dict[str, list[str]] = defaultdict(list)
    ended = False
    for speaker, line in _go_lines(said):
        end = _GO_END.match(line)
        if _GO_NAME.fullmatch(line):
            names[speaker].append(line)
        elif end:
            ended = True
            package = _go_folder(root, folder, end[1])
            tests += [Listed(name, None, None, tags(name), package=package) for name in names.pop(speaker, ())]
    return Answer(tests, complete=code == 0) if ended else None


def _go_lines(said: str) -> Iterator[tuple[str, str]]:
    """Yield who speaks and what. As JSON the packages speak at the same time, else one after the other."""
    for line in said.splitlines():
        event = _json(line) if line.startswith("{") else None
        if isinstance(event, dict):
            yield from ((str(event.get("Package", "")), part) for part in str(event.get("Output", "")).splitlines())
        else:
            yield "", line


def _go_folder(root: Path, folder: Path, package: str) -> str | None:
    """Return the folder of a package relative to the root; None when its module is not found there."""
    for above in (folder, *folder.parents):
        try:
            text = (above / "go.mod").read_text("utf-8", "replace")
        except OSError:
            continue
        module = re.search(r"^module\s+\"?([^\s\"]+)", text, re.M)
        if module and (package == module[1] or package.startswith(f"{module[1]}/")):
            inner = package[len(module[1]) :].strip("/")
            return below(root, str(above / inner)) or "."
        break
    return None


def _cargo(root: Path, folder: Path, out: str, said: str, code: int | None) -> Answer | None:
    tests: list[Listed] = []
    file: str | None = None
    counted = False
    for line in said.splitlines():
        running = _CARGO_FILE.match(line)
        if running:
            path = folder / running[1]
            # The tests of a library may stand in any of its modules.
            file = below(root, str(path)) if "unittests" not in line and path.is_file() else None
        elif line.strip().startswith("Doc-tests"):
            file = None
        elif found := _CARGO_TEST.fullmatch(line.rstrip()):
            tests.append(Listed(found[1], file, None, tags(found[1])))
        counted = counted or bool(re.fullmatch(r"\d+ tests?, \d+ benchmarks?", line.strip()))
    return Answer(tests, complete=code == 0) if counted else None


def below(root: Path, path: str) -> str | None:
    """Return a path relative to the root as it is spelled there; None when it lies elsewhere."""
    if path.startswith("file://"):
        path = path.removeprefix("file://")
    for top, one in ((str(root), path), (os.path.realpath(root), os.path.realpath(path))):
        inside = os.path.relpath(one, top)
        if not inside.startswith(".."):
            return inside.replace(os.sep, "/")
    return None


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


READERS: dict[str, Callable[[Path, Path, str, str, int | None], Answer | None]] = {
    "pytest": _pytest,
    "vitest": _vitest,
    "jest": _jest,
    "playwright": _playwright,
    "go": _go,
    "cargo": _cargo,
}
