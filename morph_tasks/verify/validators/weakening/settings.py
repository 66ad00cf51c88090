"""Weakened settings: runners, coverage, linters, CI files, scripts and the nodes of the project."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from morph_tasks.verify.validators.weakening.changes import CONFIG
from morph_tasks.verify.validators.weakening.commands import Command, weaker
from morph_tasks.verify.validators.weakening.entries import entries
from morph_tasks.verify.validators.weakening.model import Change, Fact, Finding
from morph_tasks.verify.validators.weakening.project import weakened_project
from morph_tasks.verify.validators.weakening.rules import facts_of, weakened_facts
from morph_tasks.verify.validators.weakening.scripts import (
    PYTEST_FILES,
    commands_of,
    is_ci,
    options_command,
    triggers_of,
)

_SETTINGS = re.compile(
    r"(?:^|/)(?:pyproject\.toml|setup\.cfg|tox\.(?:ini|toml)|\.?pytest\.(?:ini|toml)|\.coveragerc(?:\.toml)?|\.?mypy\.ini|\.flake8|\.?ruff\.toml|\.?pylintrc"
    r"|package\.json|(?:jest|vitest|vite|playwright|cypress|karma|nyc|web-test-runner|ava|wdio)[\w.-]*\.(?:[cm]?[jt]s|json)"
    r"|vitest\.workspace\.[jt]s|\.(?:mocharc|nycrc|c8rc|eslintrc)(?:\.\w+)?|eslint\.config\.[cm]?[jt]s|\.oxlintrc\.json|biome\.jsonc?"
    r"|tsconfig[\w.-]*\.json|\.golangci\.(?:ya?ml|toml|json)|\.rubocop\.yml|\.?codecov\.ya?ml|[\w.-]+\.(?:cs|fs|vb)proj"
    r"|[\w.-]+\.(?:props|targets|runsettings)|pom\.xml|(?:\.config/)?nextest\.toml|Cargo\.toml|noxfile\.py|conftest\.py)$"
)
_TEST_FILE = re.compile(r"\.(?:test|spec)\.[cm]?[jt]sx?$")
_HOOKS = frozenset(
    {"pytest_collection_modifyitems", "pytest_ignore_collect", "pytest_runtest_setup", "pytest_collect_file"}
)
_FOREIGN = frozenset({"node_modules", "vendor", "dist", "site-packages", ".venv", "venv", "target", "third_party"})


@dataclass
class Settings:
    """What the settings of both trees say."""

    findings: list[Finding] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    looked: int = 0


def is_settings(path: str) -> bool:
    """Tell whether a file decides what is tested and how strictly, besides the tests themselves."""
    if not _FOREIGN.isdisjoint(path.split("/")[:-1]):
        return False
    return path == CONFIG or is_ci(path) or bool(_SETTINGS.search(path) and not _TEST_FILE.search(path))


def weakened_settings(changes: Sequence[Change]) -> Settings:
    """Compare every settings file among the changes."""
    found = Settings()
    before: list[Command] = []
    after: list[Command] = []
    for change in changes:
        if not is_settings(change.path):
            continue
        found.looked += 1
        try:
            if change.path == CONFIG:
                found.findings += weakened_project(change)
                continue
            before += _commands_of(change.path, change.before)
            after += _commands_of(change.path, change.after)
            found.findings += _facts(change)
        except (ValueError, SyntaxError, RecursionError, UnicodeDecodeError):
            found.unread.append(change.path)
    found.findings = [one for one in found.findings if not _moved(one, changes)]
    found.findings += _commands(before, after)
    return found


def _commands_of(path: str, data: bytes | None) -> list[Command]:
    if data is not None:
        return commands_of(path, data)
    # Without the file pytest runs without its options.
    return [options_command(path)] if path.rsplit("/", 1)[-1] in PYTEST_FILES else []


def _moved(one: Finding, changes: Sequence[Change]) -> bool:
    """Tell whether a setting that is gone from a file is as strict in another one that changed."""
    if not one.gone or one.file == CONFIG or ": " not in one.before:
        return False
    name, value = one.before.split(": ", 1)
    for change in changes:
        if change.path != one.file and change.after is not None and is_settings(change.path) and not is_ci(change.path):
            try:
                facts = _known(change.path, change.after)
            except (ValueError, SyntaxError, RecursionError):
                continue
            for fact in facts.values():
                if fact.name.rsplit(".", 1)[-1] == name.rsplit(".", 1)[-1] and _as_strict(fact, value):
                    return True
    return False


def _as_strict(fact: Fact, value: str) -> bool:
    if isinstance(fact.value, bool | tuple):
        return fact.value is not False
    try:
        return fact.value >= float(value) if fact.stricter == "higher" else fact.value <= float(value)
    except ValueError:
        return False


def _facts(change: Change) -> Iterator[Finding]:
    if change.path.endswith("conftest.py"):
        yield from weakened_facts(change.path, _ignored(change.before), _ignored(change.after))
        yield from _hooks(change)
        return
    if re.search(r"\.(?:py|sh|bash|mk)$|file$", change.path.lower()) or (
        "/" in change.path and "." not in change.path.rsplit("/", 1)[-1]
    ):
        return
    sides = [
        {**_known(change.path, data), **triggers_of(change.path, data)} if data is not None else {}
        for data in (change.before, change.after)
    ]
    if change.after is None:
        # What a deleted file said may be elsewhere: nothing can tell.
        for fact in sides[0].values():
            if (
                fact.kind == "threshold-lowered"
                and fact.stricter in ("higher", "true", "more")
                and not is_ci(change.path)
            ):
                said = f"{fact.name}: {fact.value if not isinstance(fact.value, tuple) else ' '.join(fact.value)}"
                yield Finding(fact.kind, change.path, fact.line, said, "the file is gone", gone=True, sure=False)
        return
    tested = not is_ci(change.path) or bool(change.before and commands_of(change.path, change.before))
    if tested:
        yield from weakened_facts(change.path, *sides)


def _known(path: str, data: bytes) -> dict[str, Fact]:
    return {} if is_ci(path) else facts_of(path, entries(path, data))


def _hooks(change: Change) -> Iterator[Finding]:
    """Yield the functions of a conftest.py that decide which tests run: what they decide cannot be told."""
    before, after = _deciding(change.before), _deciding(change.after)
    for name, (line, said) in after.items():
        if name not in before or before[name][1] != said:
            was = f"another `{name}`" if name in before else f"no `{name}`"
            how = f"`{name}`, and which tests that leaves out cannot be told"
            yield Finding("suite-narrowed", change.path, line, was, how, sure=False)


def _deciding(data: bytes | None) -> dict[str, tuple[int, str]]:
    found = {}
    for node in ast.parse(data).body if data else []:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            said = ast.unparse(node)
            fixture = "autouse=True" in said and re.search(r"\b(?:skip|xfail)\(", said)
            if node.name in _HOOKS or fixture:
                found[node.name] = (node.lineno, said)
    return found


def _ignored(data: bytes | None) -> dict[str, Fact]:
    """Return what a conftest.py keeps pytest from collecting."""
    found: dict[str, Fact] = {}
    for node in ast.parse(data).body if data else []:
        if not isinstance(node, ast.Assign | ast.AugAssign) or not isinstance(node.value, ast.List | ast.Tuple):
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        name = next((one.id for one in targets if isinstance(one, ast.Name)), "")
        if name in ("collect_ignore", "collect_ignore_glob"):
            words = tuple(ast.unparse(one) for one in node.value.elts)
            lines = tuple(one.lineno for one in node.value.elts)
            found[name] = Fact("suite-narrowed", name, words, node.lineno, "fewer", None, lines)
    return found


def _commands(before: Sequence[Command], after: Sequence[Command]) -> Iterator[Finding]:
    """Compare the commands of all files at once: one may move from a workflow to another."""
    left = list(after)
    rest: list[Command] = []
    for old in before:
        # One that is as strict as it was, wherever it stands, proves as much.
        same = next((new for new in left if new.same == old.same and new.around <= old.around), None)
        if same is not None:
            left.remove(same)
        else:
            rest.append(old)
    counts = Counter((old.file, old.text) for old in rest)
    for old in rest:
        new = _counterpart(old, left, any(one.file == old.file for one in after))
        if new is not None:
            left.remove(new)
            yield from weaker(old, new)
            continue
        there = next((one for one in left if one.file == old.file and one.place == old.place), None)
        if there is not None:
            yield Finding(
                "ci-weakened",
                there.file,
                there.line,
                f"`{old.text}`",
                f"`{there.text}`, and what that runs cannot be told",
                sure=False,
            )
        elif not any(one.same == old.same and one.around <= old.around and one.file == old.file for one in after):
            times = counts[old.file, old.text]
            yield Finding(
                "ci-weakened",
                old.file,
                old.line,
                f"`{old.text}`",
                "not run any more" if times == 1 else "gone",
                gone=True,
            )


def _counterpart(old: Command, left: Sequence[Command], stays: bool) -> Command | None:
    """Return what a command became: the same program, in the same place when there is one."""
    same = [new for new in left if new.program == old.program]
    same.sort(key=lambda new: (new.words != old.words, new.file != old.file, new.place != old.place))
    if same and same[0].file != old.file and same[0].words != old.words:
        return same[0] if not stays else None  # the file was renamed
    return same[0] if same else None
