"""Which runner a command line runs, how often, and whether its exit code can be trusted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from morph_tasks.verify.runners.programs import (
    MANAGERS,
    MODULES,
    NO_SCRIPT,
    PROGRAMS,
    QUIET,
    SHELLS,
    TAKES_ONE,
    TAKES_VALUE,
    VERBS,
    WRAPPERS,
)
from morph_tasks.verify.runners.shell import Step, loops, steps

_PYTHON = re.compile(r"^(?:python|pypy)\d*(?:\.\d+)?w?$")
_ASSIGNMENT = re.compile(r"^[A-Za-z_]\w*=")
_ROUNDS = 12


@dataclass(frozen=True)
class _Call:
    """One program call after wrappers and scripts: the runner, or None; `opaque` when it may run more than is seen."""

    runner: str | None
    opaque: bool
    before: str


def infer_runner(command: str, cwd: Path) -> str | None:
    """Return the runner that a command line calls, through wrappers and one level of package scripts."""
    return next((call.runner for call in _calls(command, cwd) if call.runner), None)


def runners_of(command: str, cwd: Path) -> tuple[str, ...]:
    """Return all runners that a command line calls, in order."""
    return tuple(dict.fromkeys(call.runner for call in _calls(command, cwd) if call.runner))


def direct_calls(command: str, runner: str, cwd: Path) -> int | None:
    """Return how often a command line calls a runner, None when that cannot be told."""
    if loops(command):
        return None
    calls = list(_calls(command, cwd))
    if any(call.opaque for call in calls):
        return None
    return sum(call.runner == runner for call in calls) or None


def pipeline_without_pipefail(command: str) -> bool:
    """Tell whether a pipeline hides the exit code of what runs before its last stage."""
    if re.search(r"\bpipefail\b|PIPESTATUS|pipestatus", command):
        return False
    for inner in _inner_scripts(command):
        if pipeline_without_pipefail(inner):
            return True
    found = steps(command)
    for index, step in enumerate(found):
        last = index + 1 == len(found) or found[index + 1].before not in ("|", "|&")
        if (
            step.before in ("|", "|&")
            and last
            and not any(call.runner for call in _of_step(step, Path("/nonexistent"), 0))
        ):
            return True
    return False


def exit_code_hidden(command: str) -> str | None:
    """Return the ending that replaces the exit code (`|| true`, `; exit 0`, `&`), None when there is none."""
    if re.search(r"\$\?|PIPESTATUS", command):
        return None
    if re.search(r"(?<![&>|])&\s*$", command):
        return "&"
    found = steps(command)
    if len(found) < 2:
        inner = list(_inner_scripts(command))
        return exit_code_hidden(inner[0]) if inner else None
    last = found[-1]
    quiet = last.words[0] in ("true", ":", "echo", "printf") or last.words[:2] == ("exit", "0")
    return (
        f"{last.before.strip() or ';'} {' '.join(last.words)[:40]}"
        if quiet and last.before in ("||", ";", "\n")
        else None
    )


def _inner_scripts(command: str) -> Iterator[str]:
    for step in steps(command):
        words = _unwrapped(step.words)
        if words and PurePosixPath(words[0]).name in SHELLS and (script := _script(words)):
            yield script


def _calls(command: str, cwd: Path, level: int = 0) -> Iterator[_Call]:
    here = cwd
    for step in steps(command):
        if step.words[0] in ("cd", "pushd") and len(step.words) > 1:
            here = here / step.words[1]
            continue
        yield from _of_step(step, here, level)


def _of_step(step: Step, cwd: Path, level: int) -> Iterator[_Call]:
    words = _unwrapped(step.words)
    if not words:
        return
    name = _name(words[0])
    if name in SHELLS and (inner_script := _script(words)):
        yield from _calls(inner_script, cwd, level + 1) if level < 4 else ()
        return
    if name in MANAGERS and (package := _package_script(words, cwd)) is not None:
        where, text = package
        many = any(word in ("-r", "--recursive", "--workspaces", "-ws", "workspaces") for word in words)
        inner = list(_calls(text, where, level + 1)) if text and level < 2 else [_Call(None, True, step.before)]
        yield from (_Call(call.runner, call.opaque or many, call.before) for call in inner)
        return
    runner = _runner(words)
    yield _Call(runner, runner is None and name not in QUIET, step.before)


def _runner(words: Sequence[str]) -> str | None:
    name, rest = _name(words[0]), list(words[1:])
    if _PYTHON.match(name):
        return _of_python(rest)
    if name in ("node", "nodejs", "tsx", "electron"):
        return _of_node(rest)
    plain = [word for word in rest if not word.startswith(("-", "+"))]
    for program, runner in PROGRAMS.items():
        if program[0] == name and (len(program) == 1 or program[1] in plain[:1]):
            return runner
    if name == "manage.py" and plain[:1] == ["test"]:
        return "unittest"
    if name == "php" and plain:
        return _runner(plain)
    return None


def _of_python(rest: Sequence[str]) -> str | None:
    at = 0
    while at < len(rest) and rest[at].startswith("-") and rest[at] != "-m":
        at += 2 if rest[at] in ("-W", "-X") else 1
    if rest[at : at + 1] == ["-m"] and at + 1 < len(rest):
        module, more = rest[at + 1], rest[at + 2 :]
        if module in VERBS:
            return _runner(_unwrapped([module, *more]) or ["none"])
        return MODULES.get(module) or MODULES.get(module.split(".")[0])
    if at >= len(rest):
        return None
    if _name(rest[at]) == "manage.py":
        return "unittest" if "test" in rest[at + 1 : at + 2] else None
    return MODULES.get(_name(rest[at]))


def _of_node(rest: Sequence[str]) -> str | None:
    if "--test" in rest:
        return "node-test"
    script = next((word for word in rest if not word.startswith("-") and "/" in word), None)
    return _runner([re.sub(r"\.[cm]?js$", "", _name(script)), *rest[rest.index(script) + 1 :]]) if script else None


def _unwrapped(words: Sequence[str]) -> list[str]:
    """Return a call without assignments and without the programs that only run another one."""
    rest = list(words)
    for _ in range(_ROUNDS):
        while rest and _ASSIGNMENT.match(rest[0]):
            rest = rest[1:]
        if not rest:
            return []
        name = _name(rest[0])
        if name in WRAPPERS:
            rest = _after_options(rest[1:], WRAPPERS[name])
            if name in TAKES_ONE and len(rest) > 1:
                rest = rest[1:]
        elif name in VERBS and (at := _verb(rest, VERBS[name])):
            rest = _after_options(rest[at + 1 :], TAKES_VALUE)
            rest = ["python", *rest] if name == "coverage" and rest else rest
        else:
            return rest
    return rest


def _verb(words: Sequence[str], verbs: Sequence[str]) -> int | None:
    """Return where the verb stands when it is the first word that is no option (or an option's value)."""
    at = 1
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in TAKES_VALUE else 1
    if at >= len(words) or words[at] not in verbs:
        return None
    # `yarn run x` is a script unless x is the program itself.
    return None if words[0] == "yarn" and words[at] == "run" else at


def _after_options(words: Sequence[str], takes_value: frozenset[str]) -> list[str]:
    rest = list(words)
    while rest and (rest[0].startswith("-") or _ASSIGNMENT.match(rest[0])):
        if rest[0] == "-m" and len(rest) > 1:
            return rest
        skip = 2 if rest[0] in takes_value else 1
        rest = rest[1:] if rest[0] == "--" else rest[skip:]
    return rest


def _script(words: Sequence[str]) -> str | None:
    """Return what follows `-c` (or `-lc`, `-ec`) of a shell."""
    for index, word in enumerate(words[1:], start=1):
        if re.match(r"^-[a-z]*c$", word) and index + 1 < len(words):
            return words[index + 1]
    return None


def _package_script(words: Sequence[str], cwd: Path) -> tuple[Path, str | None] | None:
    """Return folder and text of the package script that a manager call runs; None when it runs no script."""
    where, plain, index = cwd, [], 1
    while index < len(words) and words[index] != "--":
        word = words[index]
        if word in ("--prefix", "-C", "--dir", "--cwd") and index + 1 < len(words):
            where, index = cwd / words[index + 1], index + 1
        elif word.startswith(("--prefix=", "--cwd=", "--dir=")):
            where = cwd / word.split("=", 1)[1]
        elif word in TAKES_VALUE:
            index += 1
        elif not word.startswith("-"):
            plain.append(word)
        index += 1
    name = _script_name(words[0], plain)
    if name is None:
        return None
    text = _scripts(where).get(name)
    if text is None and _name(words[0]) in ("yarn", "pnpm") and _runner([name, *plain[1:]]):
        # `yarn jest` and `pnpm vitest run` call the program itself.
        return where, " ".join([name, *plain[1:]])
    return where, text


def _script_name(manager: str, plain: Sequence[str]) -> str | None:
    name = _name(manager)
    if not plain or (name == "bun" and plain[0] == "test"):
        return None
    if plain[0] in ("run", "run-script", "rum", "urn"):
        return plain[1] if len(plain) > 1 else None
    if plain[0] in ("test", "t", "tst"):
        return "test"
    return plain[0] if name in ("yarn", "pnpm") and plain[0] not in NO_SCRIPT else None


def _scripts(folder: Path) -> dict[str, str]:
    try:
        data = json.loads((folder / "package.json").read_bytes())
    except (OSError, ValueError):
        return {}
    found = data.get("scripts") if isinstance(data, dict) else None
    return {key: text for key, text in found.items() if isinstance(text, str)} if isinstance(found, dict) else {}


def _name(word: str) -> str:
    name = word.replace("\\", "/").rsplit("/", 1)[-1]
    return re.sub(r"\.(?:exe|cmd|bat|ps1|phar)$", "", name, flags=re.I)
