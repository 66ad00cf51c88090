"""Which files hold tests, by their names."""

from __future__ import annotations

import re

from morph_tasks.verify.validators.languages import LANGUAGES, Language, is_test

_FOREIGN = frozenset({"node_modules", ".morph", "dist", "target", "vendor", "build"})
_JAVA = re.compile(r"(?:Test|IT)[A-Z0-9]\w*\.java$|\w+(?:Tests?|TestCase|IT|Spec)\.java$")
_RUBY = re.compile(r"(?:test_\w+|\w+_(?:spec|test))\.rb$|(?:spec|test|rails)_helper\.rb$")
_JS = re.compile(
    r"\.(?:test|spec|cy|e2e|it)\.[cm]?[jt]sx?$|^(?:test|tests|spec)\.[cm]?[jt]sx?$|-(?:test|spec)\.[cm]?[jt]sx?$"
)
_CSHARP = re.compile(r"\w*(?:Tests?|Specs?|TestBase|Fixture)\.cs$", re.I)
_PYTHON = re.compile(r"tests?\.py$|conftest\.py$|test_.*\.py$|.*_test\.py$")
# Languages that tests are read in, and that nothing else is measured in.
_MORE = (
    Language("java", (".java",), _FOREIGN, (), lambda name: bool(_JAVA.match(name))),
    Language("ruby", (".rb",), _FOREIGN, (), lambda name: bool(_RUBY.match(name))),
    Language("typescript", (".mts", ".cts"), _FOREIGN, (".d.mts", ".d.cts"), lambda name: bool(_JS.search(name))),
)
_FOLDERS = frozenset({
    "test", "tests", "__tests__", "spec", "specs", "e2e", "testing", "cypress", "androidTest", "integration-tests",
    "integration_tests", "unit-tests", "acceptance", "features",
})  # fmt: skip
_TEST_NAME = re.compile(r"(?:^|[._-])(?:tests?|specs?|cy|e2e)(?:[._-]|$)|(?:Test|Tests|Spec|IT)\.\w+$", re.I)
# Source that a test may be written in and that is not read.
_OTHER = frozenset({
    ".kt", ".kts", ".swift", ".php", ".scala", ".groovy", ".clj", ".cljs", ".ex", ".exs", ".erl", ".hs", ".ml", ".fs",
    ".fsx", ".vb", ".c", ".cc", ".cpp", ".cxx", ".m", ".mm", ".dart", ".lua", ".pl", ".t", ".r", ".jl", ".zig", ".nim",
    ".cr", ".elm", ".bats", ".sh", ".feature", ".robot", ".vue", ".svelte", ".sol", ".sql", ".ps1", ".hurl", ".phpt",
})  # fmt: skip


def language_of(path: str) -> str | None:
    """Return the language that a file of the project is read in; None for another's, a generated or an unknown one."""
    found = _language(path)
    return found.name if found else None


def is_test_path(path: str) -> bool:
    """Tell whether the name of a file, or the folder it is in, says that it is test code of a language that is read."""
    language = _language(path)
    if language is None:
        return False
    *folders, name = path.split("/")
    if is_test(path, language) or not _FOLDERS.isdisjoint(folders):
        return True
    if language.name in ("javascript", "typescript"):
        return bool(_JS.search(name))
    if language.name == "csharp":
        return bool(_CSHARP.match(name)) or any(re.search(r"(?:^|\.)(?:Unit|Integration)?Tests?$", f) for f in folders)
    return language.name == "python" and bool(_PYTHON.match(name))


def looks_like_test(path: str) -> bool:
    """Tell whether a file looks like test code in a language that is not read."""
    *folders, name = path.split("/")
    suffix = f".{name.rpartition('.')[2].lower()}" if "." in name else ""
    if suffix not in _OTHER or not _FOREIGN.isdisjoint(folders):
        return False
    return suffix in (".feature", ".robot", ".bats", ".hurl", ".phpt") or bool(
        _TEST_NAME.search(name) or any(folder in _FOLDERS or folder.endswith(("Test", "Tests")) for folder in folders)
    )


def _language(path: str) -> Language | None:
    *folders, name = path.split("/")
    lower = name.lower()
    for language in (*LANGUAGES, *_MORE):
        if lower.endswith(language.suffixes):
            ours = language.foreign.isdisjoint(folders) and not lower.endswith(language.generated)
            return language if ours else None
    return None
