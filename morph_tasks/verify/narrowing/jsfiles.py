"""What a changed file is to a JavaScript suite: a test, code, or something that changes how the suite runs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from morph_tasks.verify.narrowing.places import is_any_test, is_document, seen_from

Kind = Literal["test", "code", "suite", "helper", "document"]

_CODE = re.compile(r"\.(?:[cm]?[jt]sx?|vue|svelte|astro)$")
_NAMED = re.compile(r"\.(?:test|spec)\.[cm]?[jt]sx?$")
# At the start of a line only: deeper down it may be text, or a function that other tests call.
_STARTS = re.compile(rb"^(?:describe|it|test)(?:\.\w+)*\s*(?:\(|`|<)", re.M)
_CALLS = re.compile(rb"\b(?:describe|it|test)(?:\.\w+)*\s*(?:\(|`|<)")
# Tests of another runner: this one does not run them.
_FOREIGN = re.compile(
    rb"""(?:\bfrom\s*|\brequire\(\s*|^\s*import\s*)["'](?:@playwright/test|playwright/test|node:test|bun:test|cypress)["']""",
    re.M,
)
_TYPES = re.compile(r"\.d\.[cm]?ts$|\.d\.\w+\.ts$")
_TEST_FOLDERS = frozenset({
    "__tests__", "__mocks__", "__fixtures__", "__snapshots__", "__image_snapshots__", "__helpers__", "__testutils__",
    "test", "tests", "spec", "specs", "fixtures", "fixture", "mocks", "testing", "testdata", "test-data", "test-utils",
    "test-helpers", "testutils", "testutil", "testsupport", "test-support", "e2e", "cypress", "playwright",
    ".storybook", "msw", "factories",
})  # fmt: skip
_SUITE_NAMES = frozenset({
    "package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "pnpm-workspace.yaml",
    "bun.lock", "bun.lockb", ".npmrc", ".yarnrc", ".yarnrc.yml", ".nvmrc", ".node-version", ".babelrc", ".swcrc",
    ".browserslistrc", "turbo.json", "nx.json", "project.json", "lerna.json", "deno.json", ".tool-versions", 
    "mise.toml", ".mise.toml", "component.json", ".pnp.cjs", ".pnpmfile.cjs",
})  # fmt: skip
_SUITE = re.compile(
    r"^(?:\.env.*|tsconfig.*\.json|jsconfig.*\.json|\.babelrc.*|\.swcrc.*"
    r"|(?:.*[.-])?(?:setup|teardown|global-?setup|global-?teardown|setup-?(?:tests?|files?|env|jest|vitest)"
    r"|test-?(?:setup|utils?|helpers?|env|environment)|(?:jest|vitest)[.-].+)\.[cm]?[jt]sx?"
    r"|.*\.(?:config|preset|workspace|setup|mock|mocks|fixture|fixtures)\.[cm]?[jt]sx?|.*\.config\.json|.*\.snap"
    r"|.*\.snapshot|jest\..*\.json|.*\.patch)$",
    re.I,
)


def sort_out(root: Path, cwd: str, files: Sequence[str], runner: str) -> list[str] | str:
    """Return the test files among those of a node, relative to its folder, or why the suite runs whole."""
    tests = []
    for path in files:
        kind = kind_of(root, path)
        if kind == "suite":
            return f"{path} changes how the suite runs"
        if kind == "helper":
            return f"{path} is no test itself, and tests that the slice did not touch may use it"
        if kind != "test":
            continue
        seen = seen_from(root, cwd, path)
        if seen is None:
            return f"{path} lies outside of the node's folder"
        tests.append(seen)
    return tests or f"the slice changed no test file that {runner} would run"


def kind_of(root: Path, path: str) -> Kind:
    """Return what a file is. A test is known by its name, by `__tests__/`, or by what it begins lines with."""
    *folders, name = path.split("/")
    if name in _SUITE_NAMES or (_SUITE.match(name) and not _NAMED.search(name)):
        return "suite"
    among_tests = bool(_TEST_FOLDERS.intersection(folders))
    if not _CODE.search(name):
        told = is_document(path) and (not among_tests or name.lower().startswith("readme"))
        return "document" if told else "helper" if among_tests and not is_any_test(path) else "code"
    if _TYPES.search(name):
        return "helper" if among_tests else "code"
    text = _read(root / path)
    if text is None:
        return "helper"
    if _FOREIGN.search(text):
        return "code"
    if _NAMED.search(name) or _STARTS.search(text) or b"import.meta.vitest" in text:
        return "test"
    if "__tests__" in folders and _CALLS.search(text):
        return "test"
    return "helper" if among_tests else "code"


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def as_argument(path: str) -> str:
    """Return a path that no program takes for an option."""
    return f"./{path}" if path.startswith("-") else path
