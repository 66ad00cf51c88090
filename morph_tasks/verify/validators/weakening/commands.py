"""Commands that run tests or linters, in scripts and CI files, and what makes one run less."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field

from morph_tasks.verify.validators.weakening.model import Finding

_WRAPPED = {
    "npx": 0, "pnpx": 0, "bunx": 0, "sudo": 0, "time": 0, "env": 0, "cross-env": 0, "xvfb-run": 0, "nice": 0, "exec": 0,
    "command": 0, "dotenv": 0, "timeout": 1, "uvx": 0, "nyc": 0, "c8": 0, "retry": 0, "then": 0,
    "do": 0, "if": 0, "!": 0,
}  # fmt: skip
_RUNS = {"uv": "run", "poetry": "run", "pdm": "run", "hatch": "run", "pipenv": "run", "rye": "run", "bundle": "exec",
         "pnpm": "exec", "conda": "run", "pixi": "run"}  # fmt: skip
_WRAPPER_VALUES = frozenset({
    "--group", "--with", "--extra", "--python", "-p", "--project", "--directory", "--env-file", "--package", "--from",
    "--only-group", "-n", "--name", "-e",
})  # fmt: skip
_SIMPLE = frozenset({
    "pytest", "py.test", "tox", "nox", "jest", "vitest", "mocha", "ava", "tap", "karma", "cypress", "rspec", "phpunit",
    "ctest", "gotestsum", "ginkgo", "ruff", "mypy", "pyright", "eslint", "flake8", "pylint", "golangci-lint", "rubocop",
    "tsc", "biome", "stylelint", "bandit", "unittest", "playwright", "trial", "stestr", "minitest", "robot", "behave",
    "cucumber", "ng", "bats", "staticcheck", "pre-commit", "web-test-runner", "wtr",
})  # fmt: skip
_VERBS = {
    "go": {"test", "vet"}, "cargo": {"test", "nextest", "clippy", "tarpaulin", "llvm-cov"}, "dotnet": {"test"},
    "mvn": {"test", "verify", "install", "package"}, "mvnw": {"test", "verify", "install", "package"},
    "gradle": {"test", "check", "build", "integrationTest"}, "gradlew": {"test", "check", "build", "integrationTest"},
    "rake": {"test", "spec", "default"}, "rails": {"test", "spec"}, "deno": {"test", "lint"}, "bun": {"test"},
    "node": {"--test"}, "coverage": {"run", "report"}, "bazel": {"test"}, "swift": {"test"}, "mix": {"test"},
    "make": {"test", "tests", "check", "lint", "ci", "verify", "coverage"},
    "just": {"test", "tests", "check", "lint", "ci"},
    "task": {"test", "lint", "check"}, "nx": {"test", "lint", "affected", "run-many"}, "turbo": {"test", "run", "lint"},
    "lerna": {"run"},
}  # fmt: skip
_MANAGERS = frozenset({"npm", "pnpm", "yarn", "bun"})
_SCRIPT = re.compile(
    r"(?:^|[:_-])(?:unit|tests?|specs?|lint|checks?|verify|coverage|e2e|type-?check|validate)(?:$|[:_-])|^(?:ci|t)$",
    re.I,
)
_OWN_SCRIPT = re.compile(r"(?:^|[/_-])(?:run[-_]?)?(?:tests?|lint|check)(?:\.(?:sh|py))?$")
# Options that leave tests out, and those that take a value.
_NARROW = frozenset({
    "-k", "--ignore", "--ignore-glob", "--deselect", "-t", "--testNamePattern", "--test-name-pattern",
    "--testPathPattern", "--testPathPatterns", "--testPathIgnorePatterns", "--exclude", "-run", "-skip", "--filter",
    "--grep", "-g", "--invert", "--grep-invert", "--shard", "--spec", "--skip", "--tag", "--tags", "--tests",
    "--changed", "--onlyChanged", "--findRelatedTests", "--lf", "--last-failed", "-short", "--short",
    "--passWithNoTests", "--pass-with-no-tests", "--no-cov", "--lib", "--bin", "--bins", "--test", "-p", "--package",
    "-Dtest", "-DskipTests", "-Dmaven.test.skip", "-DskipITs", "-x", "--exclude-task", "--collect-only", "--co",
    "--listTests", "--list", "--no-run", "-m", "--doc", "--exit-zero", "--suppress-tests-failed-exit-code", "--project",
    "--selectProjects", "--ignore-exit-code", "--if-present", "-E", "--example", "--exclude-dir", "--extend-ignore",
    "--disable", "--quiet-tests", "--no-fail", "--no-coverage", "--stepwise", "--sw", "--snapshot-update", "-u",
    "--updateSnapshot", "--update-snapshots", "--update", "--allowOnly", "--no-error-on-unmatched-pattern",
    "-Dmaven.test.failure.ignore", "--continue-on-collection-errors", "--exclude-tag", "--only", "--since",
})  # fmt: skip
# What the short options mean is another thing for other programs.
_ONLY = {
    "-p": ("cargo",), "-m": ("pytest",), "-x": ("gradle",), "-k": ("pytest", "tox", "behave"),
    "-E": ("cargo", "nextest"),
    "-u": ("jest", "vitest", "script", "playwright"), "--project": ("playwright", "vitest", "script", "cypress"),
    "--update": ("vitest", "script"), "--list": ("playwright", "vitest", "jest", "script"),
}  # fmt: skip
_STRICT = frozenset({
    "--workspace", "--all", "--all-targets", "--all-features", "-race", "--strict", "--cov", "--coverage",
    "--check-coverage", "--strict-markers", "--strict-config", "--recursive", "--workspaces", "--ws", "-Werror",
    "--error-on-warnings", "--fail-on-warnings", "--runxfail", "--forbid-only", "--ci",
})  # fmt: skip
_VALUED = frozenset(
    {"-e", "-k", "-m", "-t", "-g", "-run", "-skip", "-p", "-x", "-E", "-n", "-c", "-o", "-W", "-D", "-j", "-r"}
)
_PLAIN_FLAGS = frozenset({
    "--lf", "--last-failed", "-short", "--short", "--passWithNoTests", "--pass-with-no-tests", "--no-cov", "--lib",
    "--bins", "--changed", "--onlyChanged", "--collect-only", "--co", "--list", "--listTests", "--no-run", "--doc",
    "--exit-zero", "--invert", "--if-present", "--stepwise", "--sw", "-u", "--no-coverage", *_STRICT,
})  # fmt: skip
_NUMBERS = {
    "--reruns": ("retries-raised", False, 0.0), "--retries": ("retries-raised", False, 0.0),
    "--retry": ("retries-raised", False, 0.0), "--retry-times": ("retries-raised", False, 0.0),
    "--rerun-fails": ("retries-raised", False, 0.0), "--timeout": ("timeout-raised", False, None),
    "--testTimeout": ("timeout-raised", False, None), "--test-timeout": ("timeout-raised", False, None),
    "-timeout": ("timeout-raised", False, None), "--cov-fail-under": ("threshold-lowered", True, None),
    "--fail-under": ("threshold-lowered", True, None), "--max-warnings": ("threshold-lowered", False, None),
    "--lines": ("threshold-lowered", True, None), "--branches": ("threshold-lowered", True, None),
    "--functions": ("threshold-lowered", True, None), "--statements": ("threshold-lowered", True, None),
    "--coverage.thresholds.lines": ("threshold-lowered", True, None),
    "--fail-under-lines": ("threshold-lowered", True, None),
    "/p:Threshold": ("threshold-lowered", True, None), "-p:Threshold": ("threshold-lowered", True, None),
    "--test-timeout-factor": ("timeout-raised", False, None),
}  # fmt: skip
_HIDES = re.compile(r"\|\|\s*(?:true|:|exit 0|echo\b|/bin/true|printf\b)|;\s*(?:true|:|exit 0)\s*$")


@dataclass(frozen=True)
class Command:
    """One command that tests or lints: what runs it, its words behind the program, and its place.

    `around` holds what decides whether it runs and whether its failure counts.
    """

    program: str
    words: tuple[str, ...]
    file: str
    line: int
    place: str
    text: str
    around: frozenset[str] = field(default=frozenset())

    @property
    def same(self) -> tuple[object, ...]:
        return self.program, self.words


def commands_in(
    source: str, file: str, line: int, place: str, around: frozenset[str] = frozenset()
) -> Iterator[Command]:
    """Yield the commands in a piece of shell that test or lint."""
    lines = source.split("\n")
    at, lenient = 0, False
    while at < len(lines):
        start, said = at, lines[at]
        while said.rstrip().endswith("\\") and at + 1 < len(lines):
            at += 1
            said = f"{said.rstrip()[:-1]} {lines[at].strip()}"
        at += 1
        said = re.sub(r"\$\{\{.*?\}\}", lambda hit: hit[0].replace(" ", ""), said.strip())
        if said.startswith("#"):
            continue
        lenient = lenient or bool(re.match(r"set \+[a-z]*e", said))
        hidden = _HIDES.search(said)
        how = {hidden[0].strip()} if hidden else {"set +e"} if lenient else set()
        for part in _segments(said):
            program, words = _program(part)
            if program:
                yield Command(program, tuple(words), file, line + start, place, said[:200], around | how)


def _segments(said: str) -> Iterator[list[str]]:
    try:
        lexer = shlex.shlex(said, posix=True, punctuation_chars=True)
        lexer.commenters = ""
        lexer.whitespace_split = True
        words = list(lexer)
    except ValueError:
        words = said.split()
    part: list[str] = []
    for word in words:
        if word and set(word) <= set("|&;()"):
            yield part
            part = []
        elif word.startswith("#") and not part:
            break
        else:
            part.append(word)
    yield part


def _program(words: list[str]) -> tuple[str, list[str]]:
    """Return the name of what tests or lints, and the words behind it; an empty name for anything else."""
    at, wrapped = 0, False
    while at < len(words):
        word = words[at]
        name = re.sub(r"\.(?:cmd|exe|bat|js|mjs)$", "", word.rsplit("/", 1)[-1])
        name = name.lstrip("@-") if at == 0 else name
        if re.match(r"[A-Za-z_]\w*=", word):
            at += 1
        elif wrapped and word.startswith("-"):
            at += 2 if word in _WRAPPER_VALUES else 1
        elif re.fullmatch(r"(?:python|pypy)[\d.]*", name) and words[at + 1 : at + 2] == ["-m"]:
            at += 2
        elif name == "coverage" and words[at + 1 : at + 2] == ["run"]:
            at += 2 + (words[at + 2 : at + 3] == ["-m"])
        elif name in _RUNS and words[at + 1 : at + 2] == [_RUNS[name]]:
            at, wrapped = at + 2, True
        elif name in _MANAGERS and (found := _script(words[at + 1 :])):
            return found
        elif name in _VERBS:
            verb = next((one for one in words[at + 1 :] if one in _VERBS[name]), None)
            if verb is None:
                return "", []
            rest = list(words[at + 1 :])
            rest.remove(verb)
            return f"{name.removesuffix('w') if name in ('mvnw', 'gradlew') else name} {verb}", rest
        elif name in _SIMPLE:
            return name, words[at + 1 :]
        elif name in _WRAPPED:
            at, wrapped = at + 1 + _WRAPPED[name], True
        elif at == 0 and word != "test" and _OWN_SCRIPT.search(word):  # `test` alone is the shell's
            return name, words[at + 1 :]
        else:
            return "", []
    return "", []


def _script(words: list[str]) -> tuple[str, list[str]] | None:
    """Return a package script as one program, whatever manager runs it."""
    rest = [word for word in words if word not in ("run", "run-script", "--")]
    name = next((word for word in rest if not word.startswith("-")), "")
    if not name or name in ("install", "ci", "i", "add", "exec", "x", "dlx") or not _SCRIPT.search(name):
        return None
    rest.remove(name)
    if name in ("t", "tst"):
        name = "test"
    return f"script {name}", rest


def options_of(command: Command) -> tuple[dict[str, list[str]], list[str]]:
    """Return the options of a command with their values, and its other words."""
    found: dict[str, list[str]] = {}
    rest: list[str] = []
    words = list(command.words)
    at = 0
    while at < len(words):
        word = words[at]
        name, equals, value = word.partition("=")
        if not word.startswith("-") and not word.startswith("/p:"):
            rest.append(word)
        elif equals:
            found.setdefault(name, []).append(value)
        elif (
            word not in _PLAIN_FLAGS
            and (word != "-x" or command.program.startswith("gradle"))
            and (word in _VALUED or word in _NARROW or word in _NUMBERS)
            and at + 1 < len(words)
        ):
            at += 1
            found.setdefault(word, []).append(words[at])
        else:
            found.setdefault(word, []).append("")
        at += 1
    return found, rest


def weaker(old: Command, new: Command) -> Iterator[Finding]:
    """Yield what a command does less than before."""
    before, was_given = options_of(old)
    after, given = options_of(new)
    shown = new.text
    for how in sorted(new.around - old.around):
        yield Finding("ci-weakened", new.file, new.line, f"`{old.text}`", f"`{shown}`, with `{how}`")
    for name, values in after.items():
        if name in _NUMBERS:
            yield from _raised(old, new, name, before.get(name), values)
        elif name in _NARROW and new.program.startswith(_ONLY.get(name, "")):
            added = [value for value in values if value not in before.get(name, [])]
            wider = name in ("-k", "-m", "-run", "-skip", "-t", "--filter", "-E") and name in before and not added
            if added and not wider:
                said = " ".join(filter(None, [name, added[0]]))
                yield Finding(
                    "suite-narrowed", new.file, new.line, f"`{old.text}`", f"`{shown}`: `{said}` leaves tests out"
                )
    for name in before:
        if name in _STRICT and name not in after:
            yield Finding("ci-weakened", new.file, new.line, f"`{old.text}`", f"`{shown}`, without `{name}`")
        elif name in _NUMBERS and name not in after and _NUMBERS[name][0] == "threshold-lowered":
            yield Finding("threshold-lowered", new.file, new.line, f"{name} {before[name][0]}", "not set")
    yield from _fewer_places(old, new, was_given, given)


def _fewer_places(old: Command, new: Command, before: list[str], after: list[str]) -> Iterator[Finding]:
    """Yield when a command that ran everything names places now, or does not name some of them any more."""
    before, after = ([word for word in words if word not in ("run", "--")] for words in (before, after))
    if before == after:
        return
    missing = [word for word in before if word not in after]
    said = f"`{old.text}`", f"`{new.text}`"
    if not after and old.program != "go test":
        return  # without places they take everything
    if not before and after:
        yield Finding("suite-narrowed", new.file, new.line, said[0], f"{said[1]}: it names places now")
    elif missing and not any(word in (".", "./...", "tests", "test") or _above(word, missing) for word in after):
        yield Finding("suite-narrowed", new.file, new.line, said[0], f"{said[1]}: without `{missing[0]}`")


def _above(word: str, missing: list[str]) -> bool:
    base = word.removesuffix("...").rstrip("/")
    return bool(base) and all(one.startswith(f"{base}/") for one in missing)


def _raised(old: Command, new: Command, name: str, before: list[str] | None, after: list[str]) -> Iterator[Finding]:
    kind, higher, default = _NUMBERS[name]
    was = _amount(before[-1]) if before else default
    now = _amount(after[-1])
    if was is None or now is None or was == now:
        return
    unlimited = kind == "timeout-raised" and now == 0
    endless = name == "--max-warnings" and now < 0
    if unlimited or endless or (now < was if higher else now > was):
        yield Finding(kind, new.file, new.line, f"{name} {before[-1] if before else 'not set'}", f"{name} {after[-1]}")


def _amount(said: str) -> float | None:
    """Return a number, also a duration such as `10m`."""
    if re.fullmatch(r"-?\d+(?:\.\d+)?", said):
        return float(said)
    parts = re.findall(r"(\d+(?:\.\d+)?)(ms|h|m|s)", said)
    factors = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
    return sum(float(number) * factors[unit] for number, unit in parts) if parts else None
