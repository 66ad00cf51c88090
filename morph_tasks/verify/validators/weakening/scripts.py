"""Where commands stand: CI files, package scripts, make, tox and nox; and what decides whether they run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from morph_tasks.verify.validators.weakening.commands import Command, commands_in
from morph_tasks.verify.validators.weakening.entries import Entry, entries
from morph_tasks.verify.validators.weakening.model import Fact

_CI = re.compile(
    r"(?:^|/)(?:\.github/(?:workflows|actions)/.*\.ya?ml|\.gitlab-ci[\w.-]*\.ya?ml|\.gitlab/.*\.ya?ml|azure-pipelines[\w.-]*\.ya?ml"
    r"|\.azure(?:-pipelines)?/.*\.ya?ml|\.circleci/config\.ya?ml|\.circleci/.*\.ya?ml|\.travis\.ya?ml|bitbucket-pipelines\.yml"
    r"|\.drone\.ya?ml|appveyor\.ya?ml|\.buildkite/.*\.ya?ml|\.woodpecker.*\.ya?ml|\.pre-commit-config\.ya?ml|[Tt]askfile\.ya?ml"
    r"|cloudbuild\.ya?ml|buildspec\.ya?ml|action\.ya?ml)$"
)
_TEXT = re.compile(r"(?:^|/)(?:Jenkinsfile[\w.-]*|(?:GNU)?[Mm]akefile|[\w.-]+\.mk|[Jj]ustfile|Rakefile)$")
_SCRIPT = re.compile(
    r"(?:^|/)(?:(?:ci|test|tests|lint|check|verify|run[-_]?tests?)(?:\.sh|\.bash)|(?:scripts?|bin|ci|\.ci|tools|hack)/[\w.-]*(?:test|ci|lint|check|verify)[\w-]*(?:\.sh|\.bash)?)$"
)
_SHELL_KEYS = frozenset({
    "run", "script", "bash", "pwsh", "powershell", "command", "commands", "before_script", "after_script", "sh", "cmd",
    "cmds", "inlineScript", "test_script", "build_script", "install_script", "args", "test", "entry",
})  # fmt: skip
_HIDING = {
    "continue-on-error": False,
    "continueOnError": False,
    "allow_failure": False,
    "ignore_failure": False,
    "ignore_error": False,
}
_CONDITIONS = frozenset({"if", "condition", "when", "enabled"})
_RETRIES = frozenset({"retry", "retries", "max_attempts", "retryCountOnTaskFailure"})
_BLOCKS = frozenset({"rules", "only", "except"})
PYTEST_FILES = ("tox.ini", "setup.cfg", "pyproject.toml", "pytest.ini", ".pytest.ini")


def is_ci(path: str) -> bool:
    """Tell whether a file is CI, or a script that CI and people run tests with."""
    return bool(_CI.search(path) or _TEXT.search(path) or _SCRIPT.search(path))


def commands_of(path: str, data: bytes) -> list[Command]:
    """Return the commands of a file that test or lint; raises ValueError or SyntaxError when it does not parse."""
    name = path.rsplit("/", 1)[-1]
    if _CI.search(path):
        return list(_of_ci(path, entries(path, data)))
    if name == "package.json":
        return list(_of_scripts(path, entries(path, data)))
    if name in PYTEST_FILES or name == "tox.toml":
        return list(_of_settings(path, entries(path, data)))
    if name == "noxfile.py":
        return list(_of_nox(path, data))
    if _TEXT.search(path) or _SCRIPT.search(path):
        return list(_of_text(path, data.decode("utf-8", "replace")))
    return []


def _of_ci(path: str, found: Sequence[Entry]) -> Iterator[Command]:
    around = [(holder, said) for entry in found for holder, said in _around(entry)]
    for entry in found:
        if entry.path and entry.path[-1] in _SHELL_KEYS and isinstance(entry.value, str):
            place = entry.path[:-1]
            holds = frozenset(said for holder, said in around if place[: len(holder)] == holder)
            yield from commands_in(entry.value, path, entry.line, ".".join(entry.path[:2]), holds)
        elif (
            entry.path
            and entry.path[-1] == "uses"
            and re.search(r"test|lint|cypress|codecov|pytest|playwright|sonar|codeql", str(entry.value), re.I)
        ):
            holds = frozenset(said for holder, said in around if entry.path[:-1][: len(holder)] == holder)
            used = str(entry.value).split("@")[0]
            yield Command(f"uses {used}", (), path, entry.line, ".".join(entry.path[:2]), f"uses: {used}", holds)


def _around(entry: Entry) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield what an entry says about all that stands beside and below it, and where that is."""
    path, value = entry.path, entry.value
    block = next((at for at, key in enumerate(path) if key in _BLOCKS), None)
    if block:
        yield path[:block], f"{'.'.join(path[block:])}: {value}"
    elif path and path[-1] in _HIDING:
        if value is not False and str(value).lower() != "false":
            yield path[:-1], f"{path[-1]}: {str(value).lower() if value is True else value}"
    elif path and path[-1] in _CONDITIONS:
        said = str(value).lower() if isinstance(value, bool) else str(value)
        if re.sub(r"[${}\s]", "", said) not in (
            "always()",
            "true",
            "success()",
            "on_success",
            "succeeded()",
            "!cancelled()",
        ):
            yield path[:-1], f"{path[-1]}: {said}"


def _of_scripts(path: str, found: Sequence[Entry]) -> Iterator[Command]:
    for entry in found:
        if entry.path[:1] == ("scripts",) and isinstance(entry.value, str):
            yield from commands_in(entry.value, path, entry.line, entry.path[-1])


def _of_settings(path: str, found: Sequence[Entry]) -> Iterator[Command]:
    options: list[Entry] = []
    for entry in found:
        keys = {key.rsplit(":", 1)[-1] for key in entry.path}
        if not keys.isdisjoint({"commands", "commands_pre", "commands_post", "scripts", "tasks", "cmd", "shell"}):
            said = str(entry.value)
            lenient = frozenset({"- "}) if re.match(r"-\s", said) else frozenset()
            yield from commands_in(said.lstrip("- "), path, entry.line, entry.path[0], lenient)
        elif entry.path[-1] == "addopts":
            options.append(entry)
    yield options_command(path, options)


def options_command(path: str, options: Sequence[Entry] = ()) -> Command:
    """Return what pytest's own options make of a plain `pytest`; without any, the plain call."""
    words = " ".join(_quoted(str(one.value)) if one.listed and len(options) > 1 else str(one.value) for one in options)
    line = options[0].line if options else 1
    found = next(commands_in(f"pytest {words}", path, line, "addopts"), None)
    return found or Command("pytest", (), path, line, "addopts", "pytest")


def _of_nox(path: str, data: bytes) -> Iterator[Command]:
    for node in ast.walk(ast.parse(data)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "run":
            words = [arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
            codes = next((ast.unparse(word.value) for word in node.keywords if word.arg == "success_codes"), "")
            around = frozenset({f"success_codes={codes}"}) if codes else frozenset()
            yield from commands_in(" ".join(map(_quoted, words)), path, node.lineno, "nox", around)


def _quoted(word: str) -> str:
    import shlex

    return shlex.quote(word)


def _of_text(path: str, text: str) -> Iterator[Command]:
    """Read a file line by line: Jenkinsfile, Makefile and shell have no parser here."""
    place, lenient = "", False
    lines = text.split("\n")
    for at, line in enumerate(lines):
        target = re.match(r"([\w.-]+)\s*:(?!=)", line)
        if target:
            place = target[1]
        if re.match(r"set \+[a-z]*e", line.strip()):
            lenient = True
        stage = re.search(r"stage\s*\(?\s*['\"]([^'\"]+)", line)
        place = stage[1] if stage else place
        quoted = re.search(r"\b(?:sh|bat|powershell)\s*\(?(?:script:)?\s*(['\"]{1,3})(.+?)\1", line)
        said = quoted[2] if quoted else line.strip()
        ignored = "-" if path.lower().endswith(("makefile", ".mk")) and re.match(r"@?-", said) else ""
        around = {"-"} if ignored else set()
        around |= {"set +e"} if lenient else set()
        yield from commands_in(said.lstrip("@-+ "), path, at + 1, place, frozenset(around))


def triggers_of(path: str, data: bytes) -> dict[str, Fact]:
    """Return when a CI file runs: its events, branches, paths and matrix."""
    if not _CI.search(path):
        return {}
    sets: dict[str, tuple[str, list[tuple[str, int]]]] = {}
    facts: dict[str, Fact] = {}
    for entry in entries(path, data):
        keys = entry.path
        if keys[:1] in (("on",), ("trigger",), ("pr",), ("workflow",)):
            last = keys[-1] if keys else ""
            if last in ("paths-ignore", "branches-ignore", "exclude", "paths"):
                sets.setdefault(entry.name, ("fewer", []))[1].append((str(entry.value), entry.line))
            event = keys[1] if len(keys) > 1 else str(entry.value)
            sets.setdefault("on", ("more", []))[1].append((event, entry.line))
        elif (keys and keys[-1] in _RETRIES) or keys[-2:] == ("retry", "max"):
            count = entry.value
            if isinstance(count, float):
                usual = 1.0 if "attempts" in keys[-1] else 0.0
                facts[entry.name] = Fact("retries-raised", entry.name, count, entry.line, "lower", usual)
        elif "matrix" in keys and keys[-1] not in ("fail-fast", "max-parallel") and entry.listed:
            exclude = "exclude" in keys
            sets.setdefault(entry.name, ("fewer" if exclude else "more", []))[1].append((str(entry.value), entry.line))
    return facts | {
        name: Fact(
            "ci-weakened", name, tuple(word for word, _ in words), words[0][1], stricter, None,  # type: ignore[arg-type]
            tuple(line for _, line in words),
        )
        for name, (stricter, words) in sets.items()
    }  # fmt: skip
