"""Which settings make a proof weaker, and in which direction."""

# ruff: noqa: E501  (rows of a table)

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from morph_tasks.verify.validators.weakening.entries import Entry
from morph_tasks.verify.validators.weakening.model import Direction, Fact, Finding

_PYTHON = r"(?:pyproject\.toml|setup\.cfg|tox\.ini|\.?pytest\.(?:ini|toml)|\.coveragerc(?:\.toml)?|\.?mypy\.ini|\.flake8|\.?ruff\.toml|\.?pylintrc)$"
_JS = (
    r"(?:package\.json|(?:jest|vitest|vite|playwright|cypress|karma|nyc|web-test-runner|ava|wdio)[\w.-]*\.(?:[cm]?[jt]s|json)"
    r"|vitest\.workspace\.[jt]s|\.(?:mocharc|nycrc|c8rc)(?:\.\w+)?)$"
)
_ESLINT = r"(?:package\.json|\.eslintrc(?:\.\w+)?|eslint\.config\.[cm]?[jt]s|\.oxlintrc\.json|biome\.jsonc?)$"
_XML = r"(?:\.(?:cs|fs|vb)proj|\.props|\.targets|\.runsettings|pom\.xml)$"
_PYTEST = r"(?:ini_options|^pytest|tool:pytest)\."
_METRICS = r"(?:branches|functions|lines|statements)"
_THRESHOLD, _SUITE = "threshold-lowered", "suite-narrowed"


@dataclass(frozen=True)
class Rule:
    """For files of a name, the settings of a name: what their change means."""

    files: str
    names: str
    kind: str
    stricter: Direction
    default: float | tuple[str, ...] | None = None


RULES = tuple(
    Rule(*row)
    for row in (
        (_PYTHON, r"(?:^|[.:])report\.fail_under$", _THRESHOLD, "higher"),
        (_PYTHON, r"(?:^|[.:])(?:run|report)\.(?:omit|exclude_lines|exclude_also|partial_branches)$", _THRESHOLD, "fewer"),
        (_PYTHON, r"(?:^|[.:])run\.branch$", _THRESHOLD, "true"),
        (_PYTHON, r"(?:^|[.:])run\.(?:source|include|source_pkgs)$", _THRESHOLD, "more"),
        (_PYTHON, rf"{_PYTEST}testpaths$", _SUITE, "more"),
        (_PYTHON, rf"{_PYTEST}norecursedirs$", _SUITE, "fewer",
         (".*", "build", "dist", "CVS", "_darcs", "{arch}", "*.egg", "venv", "node_modules", ".git", ".venv")),
        (_PYTHON, rf"{_PYTEST}python_files$", _SUITE, "more", ("test_*.py", "*_test.py")),
        (_PYTHON, rf"{_PYTEST}python_classes$", _SUITE, "more", ("Test",)),
        (_PYTHON, rf"{_PYTEST}python_functions$", _SUITE, "more", ("test",)),
        (_PYTHON, rf"{_PYTEST}timeout$", "timeout-raised", "lower"),
        (_PYTHON, rf"{_PYTEST}reruns$", "retries-raised", "lower", 0),
        (_PYTHON, rf"{_PYTEST}xfail_strict$", _THRESHOLD, "true"),
        (r"pyproject\.toml$", r"^tool\.ruff\.(?:lint\.)?(?:extend-)?select$", _THRESHOLD, "more"),
        (r"pyproject\.toml$", r"^tool\.ruff\.(?:lint\.)?(?:(?:extend-)?ignore|(?:extend-)?exclude)$", _THRESHOLD, "fewer"),
        (r"pyproject\.toml$", r"^tool\.ruff\.(?:lint\.)?(?:extend-)?per-file-ignores\.", _THRESHOLD, "fewer"),
        (r"ruff\.toml$", r"^(?:lint\.)?(?:extend-)?select$", _THRESHOLD, "more"),
        (r"ruff\.toml$", r"^(?:lint\.)?(?:(?:extend-)?(?:ignore|exclude)|(?:extend-)?per-file-ignores\..*)$", _THRESHOLD, "fewer"),
        (_PYTHON, r"(?:^|\.)mypy\b.*\.(?:strict\w*|disallow_\w+|check_untyped_defs|warn_\w+|no_implicit_\w+)$", _THRESHOLD, "true"),
        (_PYTHON, r"(?:^|\.)mypy\b.*\.(?:ignore_errors|ignore_missing_imports|implicit_optional)$", _THRESHOLD, "false"),
        (_PYTHON, r"(?:^|\.)mypy\b.*\.(?:exclude|disable_error_code)$", _THRESHOLD, "fewer"),
        (_PYTHON, r"(?:^|\.)flake8\.(?:(?:extend-)?(?:ignore|exclude)|per-file-ignores)$", _THRESHOLD, "fewer"),
        (_PYTHON, r"(?:^|\.)flake8\.max-(?:line-length|complexity)$", _THRESHOLD, "lower"),
        (_PYTHON, r"(?i)(?:pylint|main|master)[\w.]*\.fail-under$", _THRESHOLD, "higher"),
        (_PYTHON, r"(?i)(?:pylint|messages control)[\w.]*\.disable$", _THRESHOLD, "fewer"),
        (_JS, rf"(?:coverageThreshold\..*|coverage\.thresholds?\.(?:.*\.)?|(?:^|\.)(?:nyc|c8|coverage|global|each|check)\.){_METRICS}$",
         _THRESHOLD, "higher"),
        (r"\.(?:nycrc|c8rc)(?:\.\w+)?$", rf"^{_METRICS}$", _THRESHOLD, "higher"),
        (_JS, r"(?:coverageThreshold|coverage\.thresholds)\.100$", _THRESHOLD, "true"),
        (_JS, r"(?:coverage\.exclude|coveragePathIgnorePatterns|nyc\.exclude|c8\.exclude)$", _THRESHOLD, "fewer"),
        (r"\.(?:nycrc|c8rc)(?:\.\w+)?$", r"^exclude$", _THRESHOLD, "fewer"),
        (_JS, r"(?:collectCoverage|check-coverage|checkCoverage|coverage\.enabled|perFile|coverage\.all)$", _THRESHOLD, "true"),
        (_JS, r"(?:collectCoverageFrom|coverage\.include)$", _THRESHOLD, "more"),
        (_JS, r"(?:testPathIgnorePatterns|modulePathIgnorePatterns|testIgnore|excludeSpecPattern|grepInvert|testNamePattern|(?:^|\.)grep)$",
         _SUITE, "fewer", ("/node_modules/", "node_modules")),
        (r"(?:vitest|vite)[\w.-]*\.[cm]?[jt]s$", r"(?:^|\.)test\.exclude$", _SUITE, "fewer",
         ("**/node_modules/**", "**/dist/**", "node_modules", "dist")),
        (r"\.mocharc(?:\.\w+)?$", r"^(?:ignore|exclude|fgrep|invert)$", _SUITE, "fewer"),
        (_JS, r"(?:testMatch|testRegex|specPattern|(?:^|\.)test\.include|(?:^|\.)roots|testDir)$", _SUITE, "more"),
        (r"\.mocharc(?:\.\w+)?$", r"^spec$", _SUITE, "more"),
        (_JS, r"(?:testTimeout|hookTimeout)$", "timeout-raised", "lower", 5000),
        (r"playwright[\w.-]*\.[jt]s$", r"(?:^|[.\d])timeout$", "timeout-raised", "lower", 30000),
        (r"\.mocharc(?:\.\w+)?$", r"^timeout$", "timeout-raised", "lower", 2000),
        (_JS, r"(?:defaultCommandTimeout|pageLoadTimeout)$", "timeout-raised", "lower"),
        (_JS, r"(?:^|\.)(?:retries|retry|retryTimes|runMode|openMode)$", "retries-raised", "lower", 0),
        (_JS, r"(?:passWithNoTests|allowOnly|dangerouslyIgnoreUnhandledErrors|failZero)$", _SUITE, "false"),
        (_JS, r"(?:forbidOnly|forbidPending)$", _SUITE, "true"),
        (_ESLINT, r"(?:ignorePatterns|(?:^|\.)ignores)$", _THRESHOLD, "fewer"),
        (r"tsconfig[\w.-]*\.json$", r"^compilerOptions\.(?:strict\w*|noImplicit\w+|noUnused\w+|noUnchecked\w+|noFallthrough\w+"
         r"|exactOptional\w+|alwaysStrict|useUnknownInCatchVariables|noPropertyAccess\w+)$", _THRESHOLD, "true"),
        (r"tsconfig[\w.-]*\.json$", r"^exclude$", _THRESHOLD, "fewer", ("node_modules", "dist", "build", "coverage")),
        (r"\.golangci\.(?:ya?ml|toml|json)$", r"linters\.disable$|exclusions\.(?:presets|paths|rules\.\d+\.linters)$|issues\.exclude", _THRESHOLD, "fewer"),
        (r"\.golangci\.(?:ya?ml|toml|json)$", r"linters\.enable$", _THRESHOLD, "more"),
        (r"\.rubocop\.yml$", r"\.Enabled$", _THRESHOLD, "true"),
        (r"\.rubocop\.yml$", r"\.Exclude$", _THRESHOLD, "fewer"),
        (r"\.?codecov\.ya?ml$", r"\.target$", _THRESHOLD, "higher"),
        (r"\.?codecov\.ya?ml$", r"\.threshold$", _THRESHOLD, "lower", 0),
        (r"\.?codecov\.ya?ml$", r"(?:^|\.)ignore$", _THRESHOLD, "fewer"),
        (r"\.?codecov\.ya?ml$", r"\.informational$", _THRESHOLD, "false"),
        (_XML, r"(?:\.|^)(?:Threshold|CoverletThreshold|minimum|coverageThreshold|haltOnFailure)$", _THRESHOLD, "higher"),
        (_XML, r"\.(?:TreatWarningsAsErrors|EnforceCodeStyleInBuild|failOnViolation|CollectCoverage)$", _THRESHOLD, "true"),
        (_XML, r"\.(?:NoWarn|WarningsNotAsErrors|Exclude|ExcludeByFile|ExcludeByAttribute)$", _THRESHOLD, "fewer"),
        (_XML, r"(?:surefire|failsafe|properties|configuration)\.(?:skipTests|skip|skipITs|maven\.test\.skip|testFailureIgnore)$",
         _SUITE, "false"),
        (_XML, r"\.excludes?\.exclude$|\.excludedGroups$", _SUITE, "fewer"),
        (_XML, r"\.(?:IsTestProject)$", _SUITE, "true"),
        (_XML, r"\.rerunFailingTestsCount$", "retries-raised", "lower", 0),
        (_XML, r"\.TestSessionTimeout$", "timeout-raised", "lower"),
        (r"nextest\.toml$", r"\.(?:retries|retries\.count)$", "retries-raised", "lower", 0),
        (r"nextest\.toml$", r"\.(?:default-filter|skip)$", _SUITE, "fewer"),
        (r"Cargo\.toml$", r"^lib\.test$", _SUITE, "true"),
    )
)  # fmt: skip
_LEVELS = {
    "off": 0.0,
    "allow": 0.0,
    "0": 0.0,
    "warn": 1.0,
    "1": 1.0,
    "error": 2.0,
    "deny": 2.0,
    "forbid": 2.0,
    "2": 2.0,
}
_LEVEL_RULES = (
    (_ESLINT, re.compile(r"(?:^|\.)rules\.(?:.*\.)?[^.]+$")),
    (r"Cargo\.toml$", re.compile(r"(?:^|\.)lints\.")),
)


def facts_of(path: str, found: Sequence[Entry]) -> dict[str, Fact]:
    """Return the settings of a file that have a stricter direction, by their names."""
    facts: dict[str, Fact] = {}
    rules = [rule for rule in RULES if re.search(rule.files, path)]
    by_name: dict[str, list[Entry]] = {}
    for entry in found:
        by_name.setdefault(entry.name, []).append(entry)
    for name, group in by_name.items():
        rule = next((rule for rule in rules if re.search(rule.names, name)), None)
        fact = _fact(path, rule, name, group) if rule else _level(path, name, group)
        if fact:
            facts[name] = fact
    return facts


def _fact(path: str, rule: Rule, name: str, group: Sequence[Entry]) -> Fact | None:
    first = group[0]
    spaced = path.endswith((".cfg", ".ini", ".toml", "rc", ".flake8", "proj", ".props", ".targets"))
    if rule.stricter in ("fewer", "more"):
        words, lines = [], []
        usual = rule.default if isinstance(rule.default, tuple) and rule.stricter == "fewer" else ()
        for entry in group:
            said = re.split(r"[\s,;]+", str(entry.value)) if spaced and not entry.listed else [str(entry.value)]
            kept = [word.strip() for word in said if word.strip() and word.strip() not in usual]
            words += kept
            lines += [entry.line] * len(kept)
        return Fact(rule.kind, name, tuple(words), first.line, rule.stricter, None, tuple(lines))
    if rule.stricter in ("true", "false"):
        return Fact(rule.kind, name, first.value, first.line, rule.stricter) if isinstance(first.value, bool) else None
    number = _number(first.value)
    default = float(rule.default) if isinstance(rule.default, int | float) else None
    return Fact(rule.kind, name, number, first.line, rule.stricter, default) if number is not None else None


def _number(value: object) -> float | None:
    """Return a number; of an expression such as `process.env.CI ? 2 : 0`, the largest in it."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return float(value)
    found = re.findall(r"(?<![\w.])-?\d[\d_]*(?:\.\d+)?(?![\w.])", str(value).rstrip("%"))
    return max(float(one.replace("_", "")) for one in found) if found else None


def _level(path: str, name: str, group: Sequence[Entry]) -> Fact | None:
    for files, names in _LEVEL_RULES:
        if re.search(files, path) and names.search(name):
            value = group[0].value
            said = str(int(value)) if isinstance(value, float) else str(value)
            level = _LEVELS.get(said.lower())
            if level is not None and not re.search(r"\.\d+\.\w+$", name):
                return Fact(_THRESHOLD, name, level, group[0].line, "higher")
    return None


def weakened_facts(
    path: str, before: dict[str, Fact], after: dict[str, Fact], *, gone: bool = False
) -> Iterator[Finding]:
    """Yield the settings that ask for less. `gone`: the file itself was deleted, and what it said may be elsewhere."""
    for name in dict.fromkeys([*before, *after]):
        was, now = before.get(name), after.get(name)
        fact = now or was
        if fact is None:
            continue
        if fact.stricter in ("fewer", "more"):
            yield from _sets(path, name, was, now)
        elif fact.stricter in ("true", "false"):
            yield from _switch(path, name, was, now)
        else:
            yield from _numbers(path, name, was, now, fact)


def _sets(path: str, name: str, was: Fact | None, now: Fact | None) -> Iterator[Finding]:
    old = was.value if was is not None and isinstance(was.value, tuple) else ()
    new = now.value if now is not None and isinstance(now.value, tuple) else ()
    if now is not None and now.stricter == "fewer":
        added = [(word, line) for word, line in zip(new, now.lines, strict=False) if word not in old]
        if added:
            said = ", ".join(dict.fromkeys(word for word, _ in added))
            yield Finding(now.kind, path, added[0][1], f"{name}: {' '.join(old) or 'not set'}", f"{name}: also {said}")
    elif was is not None and was.stricter == "more" and now is not None and now.stricter == "more":
        # A wider word, such as ALL or a folder above, makes others unnecessary.
        if any(word in ("ALL", ".", "./...", "**/*") for word in new):
            return
        if "matrix" in name and len(new) >= len(old):
            return  # a version for another
        lost = [word for word in old if word not in new and not any(_contains(other, word) for other in new)]
        if lost:
            yield Finding(was.kind, path, now.line, f"{name}: {' '.join(old)}", f"{name}: without {', '.join(lost)}")
    elif was is not None and was.stricter == "more" and name.rsplit(".", 1)[-1].endswith("select"):
        yield Finding(was.kind, path, was.line, f"{name}: {' '.join(old)}", "not set", gone=True)


def _contains(other: str, word: str) -> bool:
    return word != other and word.startswith(
        (f"{other.rstrip('/')}/", other if other.isalpha() and other.isupper() else "\0")
    )


def _switch(path: str, name: str, was: Fact | None, now: Fact | None) -> Iterator[Finding]:
    fact = now or was
    strict = fact is not None and fact.stricter == "true"
    if now is None:
        if was is not None and strict and was.value is True:
            yield Finding(was.kind, path, was.line, f"{name}: on", "not set", gone=True)
    elif now.value is not strict and (was is None or was.value is strict):
        said = f"{name}: {'on' if was.value else 'off'}" if was else f"{name}: not set"
        yield Finding(now.kind, path, now.line, said, f"{name}: {'on' if now.value else 'off'}")


def _numbers(path: str, name: str, was: Fact | None, now: Fact | None, fact: Fact) -> Iterator[Finding]:
    default = fact.default if isinstance(fact.default, float) else None
    old = float(was.value) if was is not None and not isinstance(was.value, tuple) else default
    new = float(now.value) if now is not None and not isinstance(now.value, tuple) else default
    if old is None or old == new:
        return
    higher = fact.stricter == "higher"
    unlimited = fact.kind == "timeout-raised" and new == 0
    if new is None or unlimited or (new < old if higher else new > old):
        said = f"{name}: {_shown(name, old)}" if was else f"{name}: {old:g} by default"
        line, gone = (now.line, False) if now else (was.line if was else 0, True)
        after = "not set" if new is None else f"{name}: {_shown(name, new)}"
        sure = not (now is None and ".rules." in f".{name}")
        yield Finding(fact.kind, path, line, said, after, gone=gone, sure=sure)


def _shown(name: str, value: float) -> str:
    if re.search(r"(?:^|\.)(?:rules|lints)\.", name):
        return {0.0: "off", 1.0: "warn", 2.0: "error"}.get(value, f"{value:g}")
    return f"{value:g}"
