"""A chain of `dotnet test` calls: what each one runs, and where words can be put in."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal, cast
from urllib.parse import unquote

from morph_tasks.verify.narrowing.dotnet_projects import ANY
from morph_tasks.verify.narrowing.line import Line, parse

Kind = Literal["nothing", "project", "solution"]
_KINDS = frozenset({"nothing", "project", "solution"})
ARGUMENTS = "testingplatformcommandlinearguments"
SOLUTIONS = (".sln", ".slnx")
# The next word is their value.
_VALUES = frozenset({
    "-c", "--configuration", "-f", "--framework", "-r", "--runtime", "-a", "--arch", "--os", "-o", "--output", "-v",
    "--verbosity", "-s", "--settings", "-l", "--logger", "-d", "--diag", "-e", "--environment", "--results-directory",
    "--collect", "--test-adapter-path", "--artifacts-path", "--stop-on-fail", "--show-live-output", "--fail-skips",
    "--fail-warns", "--explicit", "--long-running", "--blame-hang-timeout", "--blame-hang-dump-type",
    "--blame-crash-dump-type", "--source", "--max-parallel-test-modules", "--coverage-output",
    "--coverage-output-format", "--coverage-settings", "--report-trx-filename", "--report-xunit-filename",
    "--report-xunit-trx-filename", "--report-junit-filename", "--report-nunit-filename", "--report-ctrf-filename",
    "--report-xunit-html-filename", "--timeout", "--maximum-failed-tests", "--max-threads", "--parallel",
    "--parallel-algorithm", "--culture", "--diagnostic-output-directory", "--diagnostic-output-fileprefix",
    "--diagnostic-output-file-prefix", "--diagnostic-file-prefix", "--diagnostic-verbosity", "--hangdump-timeout",
    "--hangdump-type", "--hangdump-filename", "--crashdump-type", "--crashdump-filename", "--retry-failed-tests",
    "--retry-failed-tests-max-percentage", "--retry-failed-tests-max-tests", "--test-parameter", "--xunit-info-level",
    "--ansi", "--seed", "-p", "--property",
})  # fmt: skip
_FLAGS = frozenset({
    "--no-build", "--no-restore", "--nologo", "--no-logo", "--blame", "--blame-crash", "--blame-hang", "--no-ansi",
    "--no-progress", "--coverage", "--report-trx", "--report-xunit", "--report-xunit-trx", "--report-junit",
    "--report-nunit", "--report-ctrf", "--report-xunit-html", "--diagnostic", "--hangdump", "--crashdump",
    "--interactive", "--no-dependencies", "--force", "--disable-build-servers", "--use-current-runtime", "--ucr",
    "--no-launch-profile", "--no-launch-profile-arguments", "--self-contained", "--sc", "--tl",
})  # fmt: skip
_REFUSED = {
    "--solution": "runs a solution that is named by an option",
    "--directory": "runs a folder",
    "--test-modules": "runs built assemblies",
    "--list-tests": "only lists tests",
    "-t": "only lists tests, or asks the build engine for a target",
    "-lt": "only lists tests",
    "-target": "asks the build engine for a target",
    "/t": "asks the build engine for a target",
    "/target": "asks the build engine for a target",
    "--help": "asks for help",
    "-h": "asks for help",
    "-?": "asks for help",
    "/?": "asks for help",
    "--config-file": "takes its settings from a file that is not looked into",
}
_TOLD = {
    "--filter": "the command chooses its tests already",
    "--treenode-filter": "the command chooses its tests already",
    "vstesttestcasefilter": "the command chooses its tests already",
    "--ignore-exit-code": "the command ignores an exit code",
    "testingplatform_exitcode_ignore": "the command ignores an exit code",
    "exitcode_ignore": "the command ignores an exit code",
    "--minimum-expected-tests": "the command has a floor of tests of its own",
}
# What programs read for their own looks and places; any other variable is a property of the build as well.
_HARMLESS = re.compile(r"(?:DOTNET|ASPNETCORE|NUGET|LC)_\w+|LANG|LANGUAGE|TZ|CI|NO_COLOR|TERM|TMPDIR|HOME")
_ASSEMBLY = (".dll", ".exe")


@dataclass(frozen=True)
class Link:
    """One `dotnet test …`. `place` is the word that names what it runs (None: `nothing` does), `path` its text.

    `declares`: it sets the arguments of the testing platform itself. `settings` are the run settings that it names.
    """

    line: Line
    test: int
    kind: Kind
    place: int | None = None
    path: str = ""
    declares: bool = False
    settings: tuple[str, ...] = ()

    @property
    def unbuilt(self) -> bool:
        """Tell whether the call runs what an earlier one built."""
        return any(re.fullmatch(r"--no-build|.*\bNoBuild=true", word.text, re.I | re.S) for word in self.line.words)

    def text(self, added: Sequence[str], target: str | None = None, option: str | None = None) -> str:
        """Return the call with words at its end, and another target instead of its own (or of none).

        `option` is the word before a target that the call had none of.
        """
        line, at = self.line, 0
        out: list[str] = []
        new = None if target is None else f"{option} {quoted(target)}" if option else quoted(target)
        for place, word in enumerate(line.words):
            gap, raw = line.command[at : word.start], line.command[word.start : word.end]
            out += [gap, new if new is not None and place == self.place else raw]
            if new is not None and self.place is None and place == self.test:
                out.append(f" {new}")
            at = word.end
        return "".join([*out, *(f" {word}" for word in added)])


@lru_cache(maxsize=256)
def chain(command: str) -> tuple[Link, ...] | str:
    """Return the calls of a command that is nothing but `dotnet test …` joined by `&&`, or why it is not."""
    links = []
    for piece in _pieces(command):
        if not piece.strip():
            return "the command has an empty link"
        line = parse(piece.strip())
        link = line if isinstance(line, str) else _link(line)
        if isinstance(link, str):
            return link
        links.append(link)
    return tuple(links)


def quoted(word: str) -> str:
    """Return a word between double quotes, or as the shell needs it when those would not keep it as it is."""
    return shlex.quote(word) if re.search(r'[$`"\\!\x00-\x1f]', word) else f'"{word}"'


def _pieces(command: str) -> list[str]:
    pieces, quote, last, at = [], "", 0, 0
    while at < len(command):
        char = command[at]
        if char == "\\" and quote != "'":
            at += 2
            continue
        if char == quote:
            quote = ""
        elif not quote and char in "'\"":
            quote = char
        elif not quote and command.startswith("&&", at):
            pieces.append(command[last:at])
            at = last = at + 2
            continue
        at += 1
    return [*pieces, command[last:]]


def _link(line: Line) -> Link | str:
    texts = [word.text for word in line.words]
    names = [word.text.split("=", 1)[0] for word in line.words[: line.first]]
    strange = [name for name in names if not _HARMLESS.fullmatch(name)]
    if strange:
        return f"the command sets `{strange[0]}`, which the build may read"
    at = line.first
    if texts[at].rsplit("/", 1)[-1] != "dotnet" or texts[at + 1 : at + 2] != ["test"]:
        return "the command is more than calls of `dotnet test`"
    if any(word.expands for word in line.words):
        return "the command holds a variable"
    for text in texts[at + 2 :]:
        told = _told(text)
        if told:
            return told
    targets = _targets(texts, at + 2)
    if isinstance(targets, str):
        return targets
    declares = any(ARGUMENTS in unquote(text).lower() for text in texts)
    if len(targets) > 1:
        return "a link names more than one thing to run"
    kind = _kind(line, targets[0]) if targets else "nothing"
    if kind not in _KINDS:
        return kind
    place = targets[0] if targets else None
    path = "" if place is None else texts[place]
    return Link(line, at + 1, cast("Kind", kind), place, path, declares, _settings(texts))


def _settings(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the values of `--settings` in all its spellings."""
    found = []
    for text, following in pairwise([*texts, ""]):
        if text in ("-s", "--settings"):
            found.append(following)
        elif hit := re.match(r"(?:-s|--settings)[=:](.*)", text, re.S):
            found.append(hit[1])
    return tuple(found)


def _kind(line: Line, place: int) -> str:
    """Return the kind of a target, or why it is none."""
    path = line.words[place].text
    lower = path.lower()
    if lower.endswith(".csproj"):
        return "project"
    if lower.endswith(SOLUTIONS) and line.words[place - 1].text != "--project":
        return "solution"
    if line.words[place - 1].text == "--project":
        return f"`--project {path}` names no .csproj"
    if lower.endswith(_ASSEMBLY):
        return f"`{path}` is a built assembly"
    if lower.endswith((*ANY, ".slnf", ".proj")):
        return f"`{path}` is no .csproj and no solution"
    return f"`{path}` is a folder or nothing that is known"


def _told(text: str) -> str | None:
    plain = unquote(text).lower()
    if text == "--":
        return "the command has arguments after `--`"
    if text.startswith("@"):
        return "the command reads words from a response file"
    return next((said for word, said in _TOLD.items() if word in plain), None)


def _targets(texts: Sequence[str], at: int) -> list[int] | str:
    """Return the places of the words that name something to run, or why they cannot be told."""
    found: list[int] = []
    unknown = ""
    while at < len(texts):
        text = texts[at]
        name, joined = re.match(r"([^=:]*)(.?)", text, re.S).groups()  # type: ignore[union-attr]
        refused = _REFUSED.get(name.lower())
        if refused:
            return f"the command {refused} (`{text}`)"
        if name.lower() == "--project":
            if joined:
                return f"`{text}` names its project in one word with the option"
            if at + 1 >= len(texts) or not texts[at + 1]:
                return "`--project` has no value"
            found.append(at + 1)
            at += 2
            continue
        if text.startswith("-") or _is_switch(text):
            takes = not joined and name in _VALUES
            unknown = "" if joined or name in _FLAGS or takes or not text.startswith("--") else text
            at += 2 if takes else 1
            continue
        if not unknown:
            found.append(at)
        elif _looks_aimed(text):
            return f"`{text}` may be what is run or belong to `{unknown}`"
        unknown = ""
        at += 1
    return found


def _is_switch(text: str) -> bool:
    """Tell whether a word is a switch of the build engine (`/p:A=B`, `/nologo`) rather than an absolute path."""
    return bool(re.match(r"/\w+(?::|$)", text)) and not _looks_aimed(text)


def _looks_aimed(text: str) -> bool:
    return text.lower().endswith((*ANY, *SOLUTIONS, ".slnf", ".proj", *_ASSEMBLY)) or "/" in text[1:] or text == "."
