"""Jest: `--runTestsByPath` and the test files at the end of the command."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from morph_tasks.verify.narrowing.jsfiles import as_argument, sort_out
from morph_tasks.verify.narrowing.line import parse
from morph_tasks.verify.narrowing.model import Narrowed
from morph_tasks.verify.narrowing.options import read
from morph_tasks.verify.narrowing.scripts import find_js
from morph_tasks.verify.narrowing.thresholds import jest_threshold
from morph_tasks.verify.narrowing.vocabulary import JEST


def narrow(root: Path, cwd: str, command: str, files: Sequence[str]) -> Narrowed | str:
    """Return the command with the slice's test files by their paths; jest leaves out those its config does not know."""
    line = parse(command)
    if isinstance(line, str):
        return line
    at = find_js(root / cwd, line, "jest")
    if isinstance(at, str):
        return at
    args = read(line, at + 1, JEST)
    if isinstance(args, str):
        return args
    if args.plain or args.behind:
        place = [*args.plain, *args.behind][0]
        return f"the command chooses its tests already (`{line.words[place].text[:60]}`)"
    tests = sort_out(root, cwd, files, "jest")
    if isinstance(tests, str):
        return tests
    if missed := jest_threshold(root / cwd, args.options):
        return missed
    paths = tuple(as_argument(path) for path in tests)
    end = len(line.words) - 1 if args.dashes is None else args.dashes - 1
    return Narrowed(line.insert(end, ("--runTestsByPath", *paths)), paths)


def is_zero(log: str, exit_code: int | None) -> bool:
    """Tell whether a red run says that no test file matched."""
    return "No tests found" in log
