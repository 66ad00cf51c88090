"""The `.graphifyignore` of a first build, by what the project is made of; renewed as long as nobody edits it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain, combinations
from typing import TYPE_CHECKING

from morph_tasks.codegraph.ignore_rules import NAME, rules_in
from morph_tasks.repo.files import write_atomic

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

_HEADER = """\
# What graphify leaves out of the code graph; the syntax is that of .gitignore.
# Written by `morph-spec graph build`, which renews it as long as its rules are not edited. Commit it: each checkout
# reads its own.
"""
_TEST_PROJECTS = ("Tests", "Test", "UnitTests", "IntegrationTests", "FunctionalTests", "AcceptanceTests", "Specs")
_HELPER_FOLDERS = ("TestDoubles", "Fakes", "Stubs", "Mocks", "Fixtures", "Helpers", "Builders")
_HELPER_FILES = ("*Fixture.cs", "*Fixtures.cs", "Fake*.cs", "Stub*.cs", "*Stub.cs")
# Outputs, dependencies and generated code. What graphify leaves out by itself (node_modules, dist, target, .venv) is
# not repeated. Prose is left out because an update would read it and a build does not.
_COMMON = (
    *(".morph/", ".claude/", "graphify-out/", "/worktrees/", "/.worktrees/"),
    *("*.md", "*.mdx", "*.qmd", "*.min.js", "*.min.css", "*.map", "*.lock"),
)
_STACKS = {
    "python": ("*_pb2.py", "*_pb2.pyi", "*_pb2_grpc.py", "*.egg-info/"),
    "node": ("package-lock.json", "npm-shrinkwrap.json", "*.bundle.js", "__generated__/", "*.generated.[jt]s"),
    "dotnet": ("*.Designer.cs", "*.g.cs", "*.g.i.cs", "*.generated.cs", "*ModelSnapshot.cs", "packages.lock.json"),
    "go": ("*.pb.go", "*_gen.go", "/vendor/"),
    "java": ("generated-sources/", ".gradle/"),
    "rust": ("*.rs.bk",),
    "ruby": ("/vendor/bundle/", "/sorbet/rbi/"),
    "php": ("/vendor/",),
}
# The names of files by which a stack shows, and the tags of `project.stack` that mean it.
_SHOWN_BY = {
    "python": ("pyproject.toml", "setup.py", "requirements.txt", ".py"),
    "node": ("package.json",),
    "dotnet": (".csproj", ".fsproj", ".sln", ".slnx"),
    "go": ("go.mod",),
    "java": ("pom.xml", "build.gradle", "build.gradle.kts"),
    "rust": ("Cargo.toml",),
    "ruby": ("Gemfile", ".gemspec"),
    "php": ("composer.json",),
}
_TAGS = {".net": "dotnet", "csharp": "dotnet", "typescript": "node", "javascript": "node", "kotlin": "java"}
# The test projects of .NET were left out whole once, and with them every double: a second implementation of an
# interface was not seen.
_EARLIER, _TODAY = 1, 2


@dataclass(frozen=True)
class Settled:
    """What became of the file. `action`: `written`, `renewed`, or `kept` as it was; `warnings` for the user."""

    action: str
    warnings: tuple[str, ...] = ()


def settle(repo: Repo, *, create: bool) -> Settled:
    """Write the file where there is none (`create`), or renew one that only an earlier version wrote.

    Raises Refusal `write-failed`, and `rules-unreadable` for a folder or a pipe, on which graphify fails or hangs.
    """
    place = repo.root / NAME
    if not os.path.lexists(place):
        if not create:
            return Settled("kept")
        write_atomic(place, text_for(stacks_of(repo)).encode())
        return Settled("written", (f"{NAME} is new: commit it, each checkout reads its own",))
    if place.exists() and not place.is_file():
        from morph_tasks.errors import Refusal

        shown = shlex.quote(str(place))
        raise Refusal(
            "rules-unreadable", f"{place}, the rules of graphify, is no file", fix=f"mv {shown} {shown}.aside"
        )
    try:
        data = place.read_bytes()
    except OSError as error:
        return Settled("kept", (f"{NAME} cannot be read: {error.strerror}",))
    before = _written_for(data)
    if before is None:
        return Settled("kept", _advice(data))
    # What a project was made of stays in: rules that came and went with the last file of a kind would help nobody.
    wanted = text_for({*before, *stacks_of(repo)}).encode()
    if rules_in(data) == rules_in(wanted):
        return Settled("kept")
    write_atomic(place, wanted)
    tracked = repo.git("ls-files", "-z", "--", f":(literal){NAME}")
    more = ": commit it, each checkout reads its own" if tracked else ""
    return Settled("renewed", (f"{NAME} was renewed: its rules were for other stacks, or of an earlier version{more}",))


def stacks_of(repo: Repo) -> list[str]:
    """Return what a project is made of, by its files and by `project.stack`."""
    listed = repo.git("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    names = {os.fsdecode(path.rpartition(b"/")[2]) for path in listed.split(b"\0")}
    names |= {os.path.splitext(name)[1] for name in names}
    tags = _tags(repo)
    return [stack for stack, signs in _SHOWN_BY.items() if stack in tags or not names.isdisjoint(signs)]


def text_for(stacks: Iterable[str]) -> str:
    """Return the file for a project of some stacks."""
    return _text(stacks, _TODAY)


def _text(stacks: Iterable[str], generation: int) -> str:
    chosen = [stack for stack in _STACKS if stack in set(stacks)]
    parts = [_HEADER.rstrip("\n")]
    if "dotnet" in chosen:
        tests = ["", "# .NET test projects, but for the doubles and helpers in them", *_tests(generation)]
        parts.append("\n".join(tests))
    for stack in chosen:
        parts.append("\n".join(["", f"# {stack}", *_STACKS[stack]]))
    parts.append("\n".join(["", "# everywhere", *_COMMON]))
    if "dotnet" in chosen:
        # Last: what is brought back above must not bring back what lies in an output folder.
        parts.append("\n".join(["", "# outputs of .NET", "**/bin/", "**/obj/"]))
    return "\n".join(parts) + "\n"


def _tests(generation: int) -> list[str]:
    if generation == _EARLIER:
        return [f"**/*.{name}/" for name in _TEST_PROJECTS]
    # Nothing below a folder that is left out can be brought back: so the content goes, the folders come back first.
    left_out = [f"**/*.{name}/**" for name in _TEST_PROJECTS]
    folders = [f"!**/*.{name}/**/" for name in _TEST_PROJECTS]
    helpers = [f"!**/{folder}/**" for folder in _HELPER_FOLDERS]
    return [*left_out, *folders, *helpers, *(f"!**/{pattern}" for pattern in _HELPER_FILES)]


def _written_for(data: bytes) -> tuple[str, ...] | None:
    """Return for which stacks some version wrote these rules; None when none did, so that somebody edited them."""
    rules = rules_in(data)
    several = chain.from_iterable(combinations(_STACKS, count) for count in range(len(_STACKS) + 1))
    for stacks in several:
        for generation in (_EARLIER, _TODAY) if "dotnet" in stacks else (_TODAY,):
            if rules == rules_in(_text(stacks, generation).encode()):
                return stacks
    return None


def _advice(data: bytes) -> tuple[str, ...]:
    """Return which lines of an edited file keep something out that the graph needs, and what to put there."""
    here = {os.fsdecode(rule) for rule in rules_in(data)}
    earlier = [rule for rule in _tests(_EARLIER) if rule in here]
    if not earlier:
        return ()
    old, new = ", ".join(earlier), " ".join(_tests(_TODAY))
    return (f"{NAME} was edited and leaves out the doubles of test projects: instead of {old} write the lines {new}",)


def _tags(repo: Repo) -> set[str]:
    from morph_tasks.errors import Refusal
    from morph_tasks.model.load import load_config

    try:
        said = str(load_config(repo).project.get("stack") or "")
    except Refusal:
        return set()
    tags = {tag.strip().lower() for tag in said.split("+")}
    return tags | {_TAGS[tag] for tag in tags if tag in _TAGS}
