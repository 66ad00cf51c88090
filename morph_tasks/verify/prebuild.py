"""What has to be built before a .NET suite runs, and the suites that would run a binary of an earlier build."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from morph_tasks.verify.runners.shell import Step

STALE = "stale-binary"
_WRAPPERS = frozenset({"env", "exec", "command", "time", "timeout", "nice", "nohup", "sudo", "xvfb-run", "stdbuf"})
_SHELLS = frozenset({"sh", "bash", "zsh", "dash"})
_DEEPEST = 3
_TESTS = frozenset({"test", "vstest", "run", "exec"})
_BUILDS = frozenset({"build", "publish", "pack", "msbuild"})
_ENDINGS = (".sln", ".slnx", ".slnf", ".csproj", ".fsproj", ".vbproj")
_ASSEMBLIES = (".dll", ".exe")
# Options that move the binaries: a build without them would leave alone the ones that the suite runs.
_WITH_VALUE = frozenset({
    "-c", "--configuration", "-r", "--runtime", "-a", "--arch", "--os", "-o", "--output", "--artifacts-path", "-p",
    "--property",
})  # fmt: skip
_JOINED = ("-p:", "/p:", "--property:", "-property:", "/property:")
# Their next word is a value, never a project.
_OTHER_VALUES = frozenset({
    "-f", "--framework", "-v", "--verbosity", "-s", "--settings", "-l", "--logger", "-d", "--diag", "-e",
    "--environment", "--filter", "--results-directory", "--collect", "--test-adapter-path", "-bl",
    "--blame-hang-timeout", "--blame-hang-dump-type", "--blame-crash-dump-type", "--treenode-filter",
})  # fmt: skip


@dataclass(frozen=True)
class Prebuild:
    """Commands to run first, in the folder of the node; or why nothing may run: a code and a sentence."""

    commands: tuple[str, ...] = ()
    refusal: tuple[str, str] | None = None


def plan(command: str, build: Sequence[str], runner: str) -> Prebuild:
    """Return what precedes the command of a test node. `build` holds its declared projects.

    Declared projects are built first, with the configuration that the suite asks for. A suite that builds nothing
    itself (`--no-build`, an assembly) and has no build before it is refused: it would test a binary of an earlier day.
    """
    if runner != "dotnet":
        return Prebuild()
    calls = [call for call in map(_call, _steps(command)) if call is not None]
    if build:
        options = _configuration(calls)
        return Prebuild(tuple(f"dotnet build {_word(project)}{options}" for project in build))
    for place, call in enumerate(calls):
        if call.unbuilt and not _built_before(call, calls[:place], command):
            return Prebuild(refusal=(STALE, _refused(call)))
    return Prebuild()


@dataclass(frozen=True)
class _Call:
    """One call of `dotnet`: its verb, the project or assembly it names, and the operator before it."""

    verb: str
    target: str
    options: tuple[str, ...]
    unbuilt: bool
    before: str


def _steps(command: str, level: int = 0) -> list[Step]:
    """Return the program calls of a command, those inside `sh -c` in their place."""
    from morph_tasks.verify.runners.shell import Step, steps

    found: list[Step] = []
    for step in steps(command):
        words = step.words
        script = next((at for at, word in enumerate(words) if word in ("-c", "-lc", "-ec")), 0)
        if words[0].rsplit("/", 1)[-1] in _SHELLS and script and level < _DEEPEST and script + 1 < len(words):
            inner = _steps(words[script + 1], level + 1)
            found += [Step(each.words, each.before or step.before) for each in inner]
        else:
            found.append(step)
    return found


def _call(step: Step) -> _Call | None:
    words = list(step.words)
    if words and ("=" in words[0] or words[0] in _WRAPPERS):
        words = words[next((at for at, word in enumerate(words) if _is_dotnet(word)), len(words)) :]
    if not words:
        return None
    if not _is_dotnet(words[0]):
        return _Call("", "", (), False, step.before)
    rest = words[1 : words.index("--")] if "--" in words else words[1:]
    verb = rest[0] if rest else ""
    target, options, without = _read(rest[1:])
    if verb.lower().endswith(_ASSEMBLIES):
        return _Call("exec", verb, (), True, step.before)
    if verb not in _TESTS | _BUILDS:
        return _Call("", "", (), False, step.before)
    assembly = target.lower().endswith(_ASSEMBLIES)
    unbuilt = verb in _TESTS and (without or assembly or verb in ("vstest", "exec"))
    return _Call(verb, target, options, unbuilt, step.before)


def _is_dotnet(word: str) -> bool:
    return word.rsplit("/", 1)[-1] == "dotnet"


def _read(words: list[str]) -> tuple[str, tuple[str, ...], bool]:
    """Return the target, the options that decide where binaries lie, and whether the build is left out."""
    target, options, without = "", [], False
    at = 0
    while at < len(words):
        word = words[at]
        value = words[at + 1] if at + 1 < len(words) else ""
        name, _, given = word.partition("=")
        if name == "--no-build":
            without = without or given.lower() != "false"
        elif word.startswith(_JOINED) or (name in _WITH_VALUE and given):
            without = without or _no_build_property(word)
            options.append(word)
        elif word in _WITH_VALUE and value:
            without = without or _no_build_property(value)
            options += [word, value]
            at += 1
        elif name in ("--project", "--solution"):
            target = given or value
            at += not given
        elif word in _OTHER_VALUES:
            at += 1
        elif not target and not word.startswith("-") and _is_target(word):
            target = word
        at += 1
    return target, tuple(options), without


def _is_target(word: str) -> bool:
    # `dotnet` takes a folder too; `/nologo` and the like are switches of the build engine.
    return word.lower().endswith((*_ENDINGS, *_ASSEMBLIES)) or not (word.startswith("/") and ":" in word)


def _no_build_property(word: str) -> bool:
    name, _, value = word.rpartition(":")[2].partition("=")
    return name.strip().lower() == "nobuild" and value.strip().strip('"').lower() == "true"


def _built_before(call: _Call, earlier: Sequence[_Call], command: str) -> bool:
    """Tell whether the command itself builds what it then runs, and stops when that build fails."""
    stops = command.lstrip().startswith(("set -e", "set -eu"))
    chain = [*earlier, call]
    for place in range(len(earlier) - 1, -1, -1):
        link = chain[place + 1].before
        if link != "&&" and not (stops and link in (";", "\n")):
            return False
        if _builds(earlier[place]) and _covers(earlier[place], call):
            return True
    return False


def _builds(call: _Call) -> bool:
    return bool(call.verb) and not call.unbuilt and call.verb not in ("exec", "vstest")


def _covers(build: _Call, suite: _Call) -> bool:
    """Tell whether a build makes the binaries that a suite runs: the same settings, and its project or more."""
    if _settings(build) != _settings(suite):
        return False
    wide = not build.target.lower().endswith((".csproj", ".fsproj", ".vbproj"))
    return wide or build.target == suite.target or suite.target.lower().endswith(_ASSEMBLIES)


def _settings(call: _Call) -> frozenset[str]:
    """Return the options of a call in one spelling; what only says `--no-build` is not one."""
    if call.target.lower().endswith(_ASSEMBLIES):
        return frozenset()
    spelled = {"-c": "--configuration", "-r": "--runtime", "-a": "--arch", "-o": "--output"}
    found, waiting = set(), ""
    for word in call.options:
        if waiting:
            found.add(f"{waiting}={word}")
            waiting = ""
        elif word in _WITH_VALUE:
            waiting = spelled.get(word, word)
        elif not _no_build_property(word):
            name, mark, value = word.partition("=")
            found.add(f"{spelled.get(name, name)}{mark}{value}")
    return frozenset(found)


def _configuration(calls: Sequence[_Call]) -> str:
    """Return the options of the first suite, so that the build makes the binaries that it runs."""
    suite = next((call for call in calls if call.verb in _TESTS), None)
    if suite is None:
        return ""
    kept, skip = [], False
    for word, value in pairwise([*suite.options, ""]):
        if skip:
            skip = False
        elif word in _WITH_VALUE:
            kept += [] if _no_build_property(value) else [word, value]
            skip = True
        elif not _no_build_property(word):
            kept.append(word)
    return "".join(f" {_word(word)}" for word in kept)


def _word(word: str) -> str:
    return word if word.startswith(("-", "/")) and shlex.quote(word) == word else shlex.quote(word)


def _refused(call: _Call) -> str:
    what = f"`dotnet {call.verb}` of {call.target}" if call.target else f"`dotnet {call.verb}`"
    return (
        f"{what} builds nothing, and nothing is built before it: it would test the binary of an earlier build; "
        "name the projects in the node's `build`, or leave out `--no-build`"
    )
