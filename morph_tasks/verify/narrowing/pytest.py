"""pytest: the test files in place of the paths that the command, or `testpaths`, names."""

from __future__ import annotations

import os
import posixpath
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from morph_tasks.verify.narrowing.line import Line, parse
from morph_tasks.verify.narrowing.model import Narrowed
from morph_tasks.verify.narrowing.options import Args, read
from morph_tasks.verify.narrowing.places import below, normal
from morph_tasks.verify.narrowing.program import find
from morph_tasks.verify.narrowing.pyfiles import kind_of
from morph_tasks.verify.narrowing.pytestini import Ini, ancestor_of, find_ini
from morph_tasks.verify.narrowing.thresholds import pytest_threshold
from morph_tasks.verify.narrowing.vocabulary import PYTEST

_NAMES = ("pytest", "py.test")
_OVERRIDDEN = ("addopts", "testpaths", "python_files", "norecursedirs", "python_classes", "python_functions")


@dataclass(frozen=True)
class _Run:
    """What a command runs: its paths relative to the root; `options` with those of addopts, whose open end is told."""

    line: Line
    at: int
    args: Args
    ini: Ini
    paths: tuple[str, ...]
    options: dict[str, list[str]]
    open_end: str


def narrow(root: Path, cwd: str, command: str, files: Sequence[str]) -> Narrowed | str:
    """Return the command with the slice's test files as its paths; files that it does not reach are left to others."""
    run = _run(root, cwd, command)
    if isinstance(run, str):
        return run
    tests = _tests(root, run, files)
    if isinstance(tests, str):
        return tests
    kept, left = tests
    problem = _hidden(root, run, kept) or _moved(root, run, kept) or _coverage(root / cwd, run)
    if problem:
        return problem
    selectors = tuple(_argument(posixpath.relpath(path, cwd)) for path in kept)
    note = f"{left[0]} is not among the paths of the command: it is left to the node that runs it" if left else ""
    place = _place(run)
    if isinstance(place, str):
        return place
    return Narrowed(run.line.insert(place, selectors, (*run.args.plain, *run.args.behind)), selectors, note=note)


def _run(root: Path, cwd: str, command: str) -> _Run | str:
    line = parse(command)
    if isinstance(line, str):
        return line
    at = find(line, _NAMES, _NAMES)
    if isinstance(at, str):
        return at
    if line.sets("PYTEST_ADDOPTS", at):
        return "the command sets PYTEST_ADDOPTS"
    args = read(line, at + 1, PYTEST)
    if isinstance(args, str):
        return args
    declared = _declared(root, cwd, [line.words[place].text for place in (*args.plain, *args.behind)])
    if isinstance(declared, str):
        return declared
    named = [*args.options.get("-c", ()), *args.options.get("--config-file", ())]
    ini = find_ini(root, ancestor_of(root, declared or [cwd]), posixpath.join(cwd, named[-1]) if named else None)
    if isinstance(ini, str):
        return ini
    more = _added(ini)
    if isinstance(more, str):
        return more
    options = {name: [*more.options.get(name, ()), *args.options.get(name, ())] for name in more.options | args.options}
    for one in [*options.get("-o", ()), *options.get("--override-ini", ())]:
        if one.partition("=")[0].strip() in _OVERRIDDEN:
            return f"the command overrides `{one.partition('=')[0].strip()}`"
    paths = declared or _testpaths(root, cwd, ini, options)
    return paths if isinstance(paths, str) else _Run(line, at, args, ini, paths, options, more.last)


def _declared(root: Path, cwd: str, words: Sequence[str]) -> tuple[str, ...] | str:
    """Return the paths of a command relative to the root, or why its words are more than paths."""
    found = []
    for word in words:
        if "::" in word or "[" in word or word.startswith("@"):
            return f"the command chooses its tests already (`{word[:60]}`)"
        path = os.path.relpath(word, root) if word.startswith("/") else normal(posixpath.join(cwd, word))
        if path == ".." or path.startswith("../"):
            return f"`{word[:60]}` lies outside of the tree"
        if not (root / path).exists():
            return f"`{word[:60]}` is no path in the tree"
        found.append(path)
    return tuple(found)


def _added(ini: Ini) -> Args | str:
    """Return the options that configuration and environment add, or why they do not allow to choose tests."""
    try:
        from_env = shlex.split(os.environ.get("PYTEST_ADDOPTS", ""))
    except ValueError:
        return "PYTEST_ADDOPTS cannot be read"
    # pytest itself puts the environment first, then the file, then the command line.
    words = ["pytest", *from_env, *ini.addopts]
    line = parse(shlex.join(words))
    if isinstance(line, str):
        return f"addopts: {line}"
    args = read(line, 1, PYTEST)
    where = "PYTEST_ADDOPTS" if not ini.addopts else f"addopts of {ini.file.name if ini.file else 'pytest'}"
    if isinstance(args, str):
        return f"{where}: {args.replace('the command', 'it')}"
    if args.plain or args.behind or args.dashes is not None:
        return f"{where}: it names paths"
    return args


def _testpaths(root: Path, cwd: str, ini: Ini, options: dict[str, list[str]]) -> tuple[str, ...] | str:
    """Return the folders of a command without paths. `testpaths` count only where pytest's root folder is the cwd."""
    top = root / cwd
    if options.get("--rootdir"):
        return "`--rootdir` decides whether `testpaths` count" if ini.testpaths else (cwd,)
    if not ini.testpaths or ini.folder is None or os.path.realpath(ini.folder) != os.path.realpath(top):
        return (cwd,)
    found: list[str] = []
    for pattern in ini.testpaths:
        if pattern.startswith(("/", "..")):
            return f"`testpaths` names {pattern[:60]}"
        found += sorted(str(path.relative_to(root)) for path in top.glob(pattern or "."))
    return tuple(found) or (cwd,)


def _tests(root: Path, run: _Run, files: Sequence[str]) -> tuple[list[str], list[str]] | str:
    """Return the test files that the command reaches and those that it does not, or why the suite runs whole."""
    kept: list[str] = []
    left: list[str] = []
    doctests = [name for name in ("--doctest-modules", "--doctest-glob") if name in run.options]
    for path in files:
        kind = kind_of(root, path, run.ini.python_files)
        if kind == "suite":
            return f"{path} changes how the suite runs"
        if kind == "helper":
            return f"{path} is no test itself, and tests that the slice did not touch may use it"
        if kind == "test":
            (kept if any(below(one, path) for one in run.paths) else left).append(path)
        elif doctests:
            return f"{path} may hold doctests (`{doctests[0]}`)"
    if not kept:
        return (
            f"{left[0]} is not among the paths of the command" if left else "the slice changed no test file of pytest"
        )
    return kept, left


def _hidden(root: Path, run: _Run, tests: Sequence[str]) -> str | None:
    """Return which test the declared command would not collect, though it runs when it is named."""
    for path in tests:
        if "[" in path or "::" in path:
            return f"pytest would read {path} as a test inside of a file"
        base = next(one for one in run.paths if below(one, path))
        if base == path:
            continue
        inner = path if base == "." else path[len(base) + 1 :]
        for folder in inner.split("/")[:-1]:
            if any(fnmatchcase(folder, pattern) for pattern in run.ini.no_recurse):
                return f"pytest does not look into {folder}/ unless it is told to ({path})"
        if hook := _ignoring(root, path):
            return f"{hook} decides itself what is collected"
    return None


def _ignoring(root: Path, path: str) -> str | None:
    """Return the conftest above a test that may leave files out; a path that is named is never left out."""
    folder = posixpath.dirname(path)
    while True:
        conftest = posixpath.join(folder, "conftest.py")
        try:
            text = (root / conftest).read_text("utf-8", "replace")
        except OSError:
            text = ""
        if "collect_ignore" in text or "pytest_ignore_collect" in text:
            return conftest
        if not folder:
            return None
        folder = posixpath.dirname(folder)


def _moved(root: Path, run: _Run, tests: Sequence[str]) -> str | None:
    """Return which file would become pytest's configuration, or move its root folder, once paths change."""
    if run.args.options.get("-c") or run.args.options.get("--config-file"):
        return None
    ini = find_ini(root, ancestor_of(root, tests), None)
    if isinstance(ini, str):
        return ini
    if (ini.file, ini.marks) != (run.ini.file, run.ini.marks):
        found = ini.file or (ini.marks or (Path("setup.py"),))[0]
        return f"with other paths pytest would take {found.name} of another folder as its configuration"
    return None


def _coverage(folder: Path, run: _Run) -> str | None:
    if "--cov-fail-under" in run.options:
        return "a coverage threshold is for the whole suite (`--cov-fail-under`)"
    return pytest_threshold(folder) if "--cov" in run.options else None


def _place(run: _Run) -> int | str:
    """Return the word behind which no option takes a path for its value."""
    declared = (*run.args.plain, *run.args.behind)
    if declared:
        return declared[0] - 1
    if not run.open_end:
        return run.at
    # What addopts ends with would take the first word of the command line along.
    end = len(run.line.words) - 1
    if end > run.at and not run.args.last and run.args.dashes is None:
        return end
    return f"addopts end with `{run.open_end}`, which would take a path for its value"


def _argument(path: str) -> str:
    return f"./{path}" if path.startswith(("-", "@")) else path


def is_zero(log: str, exit_code: int | None) -> bool:
    """Tell whether a red run says that no test was collected, or that all were deselected."""
    return exit_code == 5 or "no tests ran" in log
