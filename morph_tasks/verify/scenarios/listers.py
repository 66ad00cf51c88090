"""How each runner is asked which tests it would run: its own command, changed so that it lists them instead."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from pathlib import Path

from morph_tasks.verify.narrowing.line import Line, parse, quoted
from morph_tasks.verify.narrowing.options import read
from morph_tasks.verify.narrowing.program import find
from morph_tasks.verify.narrowing.scripts import find_js
from morph_tasks.verify.narrowing.vocabulary import CARGO, GO, LIBTEST, VITEST
from morph_tasks.verify.scenarios.spelled import Spelled, spelled

PLUGINS = (Path(__file__).parents[2] / "pytest_plugin", Path(__file__).with_name("listing_plugin"))

# What chooses tests does no harm here: the list is then what the command would run.
_TARGETS = frozenset(["-p", "--package", "--exclude", "--bin", "--test", "--example", "--bench"])
_KINDS = frozenset(["--lib", "--bins", "--tests", "--examples", "--benches", "--doc"])
_CARGO = replace(
    CARGO, selects=CARGO.selects - _TARGETS - _KINDS, values=CARGO.values | _TARGETS, flags=CARGO.flags | _KINDS
)
_CHOICES = frozenset(["--ignored", "--include-ignored", "--exact", "--test"])
_LIBTEST = replace(
    LIBTEST,
    selects=LIBTEST.selects - _CHOICES - {"--skip"},
    values=LIBTEST.values | {"--skip"},
    flags=LIBTEST.flags | _CHOICES,
)


@dataclass(frozen=True)
class Call:
    """A command that lists tests, what its environment has on top, and the folder it runs in.

    Its answer is in `out` (a file that it writes) or, where that is empty, in what it says.
    """

    command: str
    folder: Path
    env: dict[str, str] = field(default_factory=dict)
    out: str = ""


def call_for(root: Path, runner: str, cwd: str, command: str, out: str) -> Call | str:
    """Return the call that lists the tests of a node, or why there is none. `out` is a place for its answer."""
    make = LISTERS.get(runner)
    if make is None:
        return "nobody knows what runs its tests" if runner == "none" else f"{runner} cannot be asked without a run"
    said = spelled(root / cwd, command)
    if isinstance(said, str):
        return said
    line = parse(said.command)
    if isinstance(line, str):
        return line
    return make(line, said, out)


def _pytest(line: Line, said: Spelled, out: str) -> Call | str:
    names = ("pytest", "py.test")
    at = find(line, names, names)
    if isinstance(at, str):
        return at
    before = [word for word in line.words[:at] if word.text.partition("=")[0] in ("PYTEST_PLUGINS", "PYTHONPATH")]
    if any(not word.text.startswith("PYTHONPATH=") for word in before):
        return "the command sets PYTEST_PLUGINS"
    plugins = [*filter(None, [os.environ.get("PYTEST_PLUGINS")]), "morph_scenarios", "morph_listing"]
    paths = [*filter(None, [os.environ.get("PYTHONPATH")]), *map(str, PLUGINS)]
    env = {
        "MORPH_LISTING": out,
        "PYTEST_PLUGINS": ",".join(plugins),
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    added = ("--collect-only", "-q", "-o", f"cache_dir={out}.cache")
    command = line.insert(at, added)
    for word in reversed(before):
        more = quoted(os.pathsep.join(map(str, PLUGINS)))
        # Behind the value, whose quotes stay as they are; an empty part of a path would be the current folder.
        between = "" if word.text == "PYTHONPATH=" else os.pathsep
        command = f"{command[: word.end]}{between}{more}{command[word.end :]}"
    return Call(command, said.folder, {**said.env, **env}, out)


def _vitest(line: Line, said: Spelled, out: str) -> Call | str:
    at = find_js(said.folder, line, "vitest")
    if isinstance(at, str):
        return at
    chosen = frozenset({"-t", "--testNamePattern", "--shard", "--project", "--exclude", "--tagsFilter"})
    table = replace(VITEST, selects=VITEST.selects - chosen - {"--watch", "-w"}, values=VITEST.values | chosen)
    args = read(line, at + 1, table)
    if isinstance(args, str):
        return args
    texts = [line.words[place].text for place in args.plain]
    verb = texts[0] if texts[:1] and texts[0] in ("run", "watch", "dev", "related", "bench", "init", "list") else ""
    if verb not in ("", "run"):
        return f"`vitest {verb}` is no plain run"
    gone = {args.plain[0]} if verb else set()
    gone |= _options(line, at + 1, ("--run", "--coverage", "--ui", "--open", "-u", "--update", "-w", "--watch"))
    gone |= _options(line, at + 1, ("--reporter", "--outputFile", "--output-file"), takes=True)
    gone |= {place for place in range(at + 1, len(line.words)) if line.words[place].text.startswith("--coverage.")}
    gone |= {place + 1 for place in gone if line.words[place].text in VITEST.values} & set(range(len(line.words)))
    added = ("list", f"--json={out}", "--includeTaskLocation", "--coverage.enabled=false")
    return Call(line.insert(at, added, gone), said.folder, said.env, out)


def _jest(line: Line, said: Spelled, out: str) -> Call | str:
    at = find_js(said.folder, line, "jest")
    if isinstance(at, str):
        return at
    gone = _options(line, at + 1, ("--json", "--watch", "--watchAll", "--coverage", "--collectCoverage", "--listTests"))
    return Call(line.insert(at, ("--listTests", "--json"), gone), said.folder, said.env)


def _playwright(line: Line, said: Spelled, out: str) -> Call | str:
    at = find_js(said.folder, line, "playwright")
    if isinstance(at, str):
        return at
    if _text(line, at + 1) != "test":
        return f"`playwright {_text(line, at + 1)}` runs no tests"
    gone = _options(line, at + 2, ("--reporter",), takes=True) | _options(line, at + 2, ("--ui", "--debug", "--headed"))
    env = {"PLAYWRIGHT_JSON_OUTPUT_NAME": out, "PLAYWRIGHT_JSON_OUTPUT_FILE": out}
    return Call(line.insert(at + 1, ("--list", "--reporter=json"), gone), said.folder, {**said.env, **env}, out)


def _go(line: Line, said: Spelled, out: str) -> Call | str:
    at = find(line, ("go",))
    if isinstance(at, str):
        return at
    if _text(line, at + 1) != "test":
        return f"`go {_text(line, at + 1)}` runs no tests"
    args = read(line, at + 2, GO)
    if isinstance(args, str):
        return args
    writes = (
        "coverprofile",
        "o",
        "cpuprofile",
        "memprofile",
        "blockprofile",
        "mutexprofile",
        "trace",
        "outputdir",
        "bench",
    )
    gone = _options(line, at + 2, tuple(f"{dash}{name}" for name in writes for dash in ("-", "--")), takes=True)
    return Call(line.insert(at + 1, ("-list", "."), gone), said.folder, said.env)


def _cargo(line: Line, said: Spelled, out: str) -> Call | str:
    at = find(line, ("cargo",))
    if isinstance(at, str):
        return at
    at += _text(line, at + 1).startswith("+")
    if _text(line, at + 1) not in ("test", "t"):
        return f"`cargo {_text(line, at + 1)}` cannot be asked without a run"
    args = read(line, at + 2, _CARGO)
    behind = read(line, args.dashes + 1, _LIBTEST) if not isinstance(args, str) and args.dashes is not None else args
    if isinstance(args, str) or isinstance(behind, str):
        return args if isinstance(args, str) else str(behind)
    if args.dashes is not None:
        return Call(line.insert(args.dashes, ("--list",)), said.folder, said.env)
    return Call(line.insert(len(line.words) - 1, ("--", "--list")), said.folder, said.env)


def _text(line: Line, at: int) -> str:
    return line.words[at].text if at < len(line.words) else ""


def _options(line: Line, start: int, names: Collection[str], *, takes: bool = False) -> set[int]:
    """Return the places of options, with those of their values when they take one."""
    found: set[int] = set()
    for place in range(start, len(line.words)):
        text = line.words[place].text
        if text == "--":
            break
        if text.partition("=")[0] in names and place not in found:
            found |= {place} | ({place + 1} if takes and "=" not in text and place + 1 < len(line.words) else set())
    return found


LISTERS: dict[str, Callable[[Line, Spelled, str], Call | str]] = {
    "pytest": _pytest,
    "vitest": _vitest,
    "jest": _jest,
    "playwright": _playwright,
    "go": _go,
    "cargo": _cargo,
}
