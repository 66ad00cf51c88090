"""Vitest: the paths of the test files behind `run`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from morph_tasks.verify.narrowing.jsfiles import as_argument, sort_out
from morph_tasks.verify.narrowing.line import Line, parse
from morph_tasks.verify.narrowing.model import Narrowed
from morph_tasks.verify.narrowing.options import Args, read
from morph_tasks.verify.narrowing.scripts import find_js
from morph_tasks.verify.narrowing.thresholds import vitest_threshold
from morph_tasks.verify.narrowing.vocabulary import VITEST

_WITH_COVERAGE = ("--coverage", "--coverage.enabled")


def narrow(root: Path, cwd: str, command: str, files: Sequence[str]) -> Narrowed | str:
    """Return the command with the slice's test files behind `run`. Vitest takes them as parts of paths: never fewer."""
    line = parse(command)
    if isinstance(line, str):
        return line
    at = find_js(root / cwd, line, "vitest")
    if isinstance(at, str):
        return at
    args = read(line, at + 1, VITEST)
    place = args if isinstance(args, str) else _place(line, at, args)
    if isinstance(place, str):
        return place
    assert not isinstance(args, str)
    tests = sort_out(root, cwd, files, "vitest")
    if isinstance(tests, str):
        return tests
    covered = any(name.startswith(_WITH_COVERAGE) for name in args.options)
    if missed := vitest_threshold(root / cwd, args.options, covered=covered):
        return missed
    selectors = tuple(as_argument(path) for path in tests)
    return Narrowed(line.insert(place, selectors), selectors)


def _place(line: Line, at: int, args: Args) -> int | str:
    """Return the word behind which filters go: before every option, since some take the next word along."""
    texts = [line.words[place].text for place in args.plain]
    if args.dashes is not None:
        return "the command hands words behind `--` on"
    if "--run" in args.options and not texts:
        return at
    if texts[:1] != ["run"]:
        return f"`vitest {texts[0]}` is no plain run" if texts else "`vitest` without `run` watches"
    if len(texts) > 1:
        return f"the command chooses its tests already (`{texts[1][:60]}`)"
    return args.plain[0]


def is_zero(log: str, exit_code: int | None) -> bool:
    """Tell whether a red run says that no test file matched."""
    return "No test files found" in log
