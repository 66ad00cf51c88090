"""Which files of a project are test code, and which of those are helpers that tests share."""

from __future__ import annotations

import re

# A production file that is taken for a test would be hidden by `--prod`: a name alone (`FakeClock.cs`) says nothing.
_FOLDERS = frozenset({
    "test", "tests", "__tests__", "spec", "specs", "e2e", "cypress", "testdata", "androidtest",
    "testdoubles", "fakes", "mocks", "__mocks__", "__fixtures__",
})  # fmt: skip
_PROJECT = re.compile(r"(?:^|[.\-_])(?:unit|integration|functional|acceptance|e2e)?tests?$")  # Shop.Tests, unit-tests
_FILE = re.compile(
    r"""
      .+\.(?:test|spec|cy|e2e)\.[cm]?[jt]sx? | .+[.-](?:test|spec)s?\.[a-z]+
    | test_.+\.py | conftest\.py | tests\.py
    | .+_tests?\.(?:go|py|rb|rs|exs?) | .+_spec\.rb
    """,
    re.IGNORECASE | re.VERBOSE,
)
_CLASS_FILE = re.compile(r".+(?:Tests?|TestCase|Specs?|IT)\.(?:java|kt|cs|php|swift|scala|groovy)|.+Fixtures?\.cs")
_HELPER_FOLDERS = frozenset({
    "testdoubles", "fakes", "stubs", "mocks", "fixtures", "helpers", "builders", "__mocks__", "__fixtures__",
})  # fmt: skip
_HELPER_FILE = re.compile(
    r".+Fixtures?\.cs|Fake.+\.cs|Stub.+\.cs|.+Stub\.cs|conftest\.py|.+\.(?:fixture|mock|fake)s?\.[cm]?[jt]sx?"
)


def is_test(path: str) -> bool:
    """Tell whether a file, by its path from the root of the tree, is code that only tests run."""
    *folders, name = path.replace("\\", "/").split("/")
    for folder in folders:
        lowered = folder.lower()
        if lowered in _FOLDERS or _PROJECT.search(lowered):
            return True
    return bool(_FILE.fullmatch(name) or _CLASS_FILE.fullmatch(name))


def is_helper(path: str) -> bool:
    """Tell whether a file of the test code is a double, a fixture, or a helper that tests share."""
    *folders, name = path.replace("\\", "/").split("/")
    shared = _HELPER_FILE.fullmatch(name) or any(folder.lower() in _HELPER_FOLDERS for folder in folders)
    return bool(shared) and is_test(path)
