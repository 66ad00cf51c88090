"""Source files as definitions with their text; each file is parsed once."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from morph_tasks.codegraph.spans import Definition, definitions, language_of
from morph_tasks.verify.testcode.paths import is_test_path
from morph_tasks.verify.testcode.paths import language_of as of_the_project
from morph_tasks.verify.validators.languages import is_generated
from morph_tasks.verify.validators.repeats.names import plain
from morph_tasks.verify.validators.repeats.shape import Shape, names_in, shape_of

# Folders of what shows, measures or moves the project, and is not used by it.
_ASIDE = frozenset({
    "docs", "doc", "docsrc", "website", "examples", "example", "samples", "sample", "demo", "demos", "tutorial",
    "tutorials", "templates", "template", "fixtures", "testdata", "testing", "testutil", "testutils",
    "test_utils", "mocks", "__mocks__", "fakes", "stubs", "benchmark", "benchmarks", "bench", "perf",
    "migrations", "migration", "alembic", "stories", "node_modules", "vendor", "vendored", "_vendor",
    "third_party", "thirdparty", "external", "generated", "gen", "target", "dist", "out", "bin", "obj",
    "graphify-out", "e2e", "playground", "sandbox", "scripts", "hack", ".github",
})  # fmt: skip
_ASIDE_FILE = re.compile(
    r"(?i)(?:\.stories\.|\.story\.|\.d\.[cm]?ts$|\.pyi$|\.min\.|\.gen\.|_gen\.go$|\.generated\.|_generated\.|\.pb\.)"
    r"|(?:^|[._-])(?:conftest|setup|noxfile|tasks|gulpfile|gruntfile|webpack|vite|rollup|karma|jest|babel|eslint)\b"
)
_RUST_TESTS = re.compile(r"^#\[cfg\((?:test|all\(test)[^\]]*\]\s*(?:pub )?mod\b", re.M)
_RUST_TEST = re.compile(r"\s*#\[(?:\w+::)*test\b|\s*#\[cfg\(test\)\]")
_FAMILY = {"typescript": "javascript", "tsx": "javascript"}
_HEAD = 6  # lines at most in which a definition says what it is


@dataclass(frozen=True)
class Made:
    """One definition in a file, with its text."""

    path: str
    language: str
    about: Definition
    text: str = field(repr=False)

    @property
    def name(self) -> str:
        return self.about.name

    @property
    def kind(self) -> str:
        return self.about.kind

    @property
    def family(self) -> str:
        """Return the language whose code it can be called from."""
        return _FAMILY.get(self.language, self.language)

    @property
    def id(self) -> tuple[str, str, str]:
        """Return what stays the same when it moves or its body changes."""
        return ("type" if self.kind == "type" else "", self.about.owner, self.name)

    @cached_property
    def line(self) -> int:
        """Return the line of its name: decorators and comments stand before it."""
        named = re.compile(rf"(?<![\w$]){re.escape(self.name)}(?![\w$])")
        lines = self.text.split("\n")
        return self.about.start + next((at for at, one in enumerate(lines[:40]) if _says(named, one)), 0)

    @cached_property
    def head(self) -> str:
        """Return its first lines up to its body: modifiers, bases, parameters."""
        start = self.line - self.about.start
        lines = self.text.split("\n")
        many = 1 if self.language == "python" and self.kind != "type" else _HEAD
        ends = r"[{]|:(?= |$)|=>" if self.kind == "type" else r"[{]|=>"
        before, name, after = " ".join(lines[start : start + many]).partition(self.name)
        return " ".join([*lines[:start], before + name + re.split(ends, after, maxsplit=1)[0]])

    @cached_property
    def names(self) -> frozenset[str]:
        """Return the other names in it, in lower case."""
        return names_in(self.text) - {self.name.lower()}

    @cached_property
    def shape(self) -> Shape:
        return shape_of(self.language, self.text, self.name)


def _says(named: re.Pattern[str], line: str) -> bool:
    return bool(named.search(line)) and not line.lstrip().startswith(("@", "#", "//", "*", "["))


@dataclass(frozen=True)
class Source:
    """What a file defines; `made` is None when it cannot be read."""

    path: str
    made: tuple[Made, ...] | None


def family_of(path: str) -> str | None:
    """Return the language whose code a file can be called from."""
    language = language_of(path)
    return _FAMILY.get(language, language) if language else None


def is_production(path: str) -> bool:
    """Tell whether a file may hold production code of the project, in a language that is read."""
    if language_of(path) is None or of_the_project(path) is None or is_test_path(path):
        return False
    *folders, name = path.split("/")
    return _ASIDE.isdisjoint(folder.lower() for folder in folders) and not _ASIDE_FILE.search(name)


def read(path: str, source: bytes) -> Source:
    """Return what a file defines; a file that a program wrote defines nothing."""
    text = source.decode("utf-8", "replace")
    if is_generated(text):
        return Source(path, ())
    found = definitions(path, source)
    if found is None:
        return Source(path, None)
    lines = text.split("\n")
    language = str(language_of(path))
    made = (Made(path, language, one, "\n".join(lines[one.start - 1 : one.end])) for one in found)
    if language == "rust":
        tests = _RUST_TESTS.search(text)
        last = text.count("\n", 0, tests.start()) if tests else len(lines)
        made = (one for one in made if one.about.start <= last and not _RUST_TEST.match(one.text))
    return Source(path, tuple(made))


def by_name(made: Iterable[Made]) -> dict[str, list[Made]]:
    """Return definitions by the form in which their names compare."""
    found: dict[str, list[Made]] = {}
    for one in made:
        found.setdefault(plain(one.name), []).append(one)
    return found
