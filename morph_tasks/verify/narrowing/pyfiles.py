"""What a changed file is to a pytest suite."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from morph_tasks.verify.narrowing.places import is_any_test, is_document

Kind = Literal["test", "code", "suite", "helper", "document"]

_TEST_FOLDERS = frozenset({
    "tests", "test", "testing", "testdata", "test-data", "test_data", "fixtures", "fixture", "__snapshots__",
    "snapshots", "cassettes", "golden", "test_utils", "testutils", "test_helpers", "factories", "unittests",
    "functional_tests", "integration_tests", "unit_tests",
})  # fmt: skip
_SUITE = re.compile(
    r"^(?:conftest\.py|pyproject\.toml|setup\.(?:cfg|py)|tox\.ini|\.?pytest\.(?:ini|toml)|noxfile\.py|\.coveragerc"
    r"|(?:.*[-_.])?(?:requirements|constraints)(?:[-_.].*)?\.(?:txt|in)|(?:uv|poetry|pdm|pixi)\.lock|pipfile(?:\.lock)?"
    r"|environment\.ya?ml|\.env.*|\.python-version|\.tool-versions|\.?mise\.toml|(?:site|user)customize\.py|.*\.pth"
    r"|.*\.ambr|hatch\.toml|pixi\.toml|pylock.*\.toml)$",
    re.I,
)
# Looser than pytest's default: `python_functions` can name others.
_TESTS = re.compile(rb"^\s*(?:async\s+)?def\s+(?:test|check|should|it_|spec)|^\s*class\s+\w*[Tt]est|TestCase", re.M)


def kind_of(root: Path, path: str, python_files: Sequence[str]) -> Kind:
    """Return what a file is to a suite whose test modules have these names. One without any test is a helper."""
    *folders, name = path.split("/")
    among_tests = bool(_TEST_FOLDERS.intersection(folder.lower() for folder in folders))
    if _SUITE.match(name) or (among_tests and "requirements" in folders):
        return "suite"
    if name.endswith(".py") and any(_matches(path, name, pattern) for pattern in python_files):
        return "test" if _has_tests(root / path) else "helper"
    if name.endswith((".py", ".pyi", ".pyx")):
        return "helper" if among_tests else "code"
    if is_document(path) and (not among_tests or name.lower().startswith("readme")):
        return "document"
    return "helper" if among_tests and not is_any_test(path) else "code"


def _has_tests(path: Path) -> bool:
    try:
        return bool(_TESTS.search(path.read_bytes()))
    except OSError:
        return False


def _matches(path: str, name: str, pattern: str) -> bool:
    return fnmatchcase(path, f"*{pattern}") if "/" in pattern else fnmatchcase(name, pattern)
