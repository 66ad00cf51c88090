"""What tools leave behind: the one table of paths that are never the input of anything."""

from __future__ import annotations

from itertools import pairwise


def _names(text: str) -> frozenset[bytes]:
    return frozenset(text.encode().split())


# Bytecode and caches. No one writes these by hand: they never count, tracked or not.
_CACHES = _names("""
    __pycache__ .pytest_cache .mypy_cache .pyre .pytype .ruff_cache .import_linter_cache .hypothesis
    .ipynb_checkpoints .tox .nox .coverage .nyc_output .turbo .parcel-cache .sass-cache .stryker-tmp .scannerwork
    .gradle .phpunit.cache .phpunit.result.cache .rspec_status .eslintcache .stylelintcache .dmypy.json
    .testmondata .testmondata-shm .testmondata-wal .DS_Store Thumbs.db desktop.ini
""")
_INNER_CACHES = _names("""
    node_modules/.cache node_modules/.vite node_modules/.vitest node_modules/.vite-temp .nx/cache .nx/workspace-data
""")
_CACHE_ENDINGS = _names(".pyc .pyo .tsbuildinfo")
_CACHE_STARTS = (b".coverage.", b".doit.db")

# Reports. A project can keep real files under these names, so they count once git tracks them.
_REPORTS = _names("""
    htmlcov coverage lcov-report coverage-report coveragereport cover_db test-results TestResults test-reports
    playwright-report blob-report vitest-report .vitest-reports .vitest-attachments mochawesome-report
    cucumber-report cucumber-reports allure-results allure-report surefire-reports failsafe-reports
    StrykerOutput .benchmarks .eggs
""")
_INNER_REPORTS = _names("cypress/videos cypress/screenshots")
_REPORT_NAMES = _names("""
    junit.xml test-results.xml test-report.xml test-results.json nosetests.xml xunit.xml pytest.xml
    coverage.xml coverage.json coverage.txt coverage.out cover.out coverage-final.json coverage-summary.json
    coverage.lcov lcov.info clover.xml cobertura.xml cobertura-coverage.xml coverage.cobertura.xml
    coverage.opencover.xml jest-results.json vitest-results.json npm-debug.log yarn-error.log
""")
# The last three are an editor's that has a file of the tree open.
_REPORT_ENDINGS = _names(".trx .lcov .gcda .gcno .gcov .profraw .profdata .py,cover .egg-info .swp .swo .swx")
_SOURCE_ENDINGS = _names("""
    .py .pyi .pyx .ts .tsx .jsx .mts .cts .mjs .cjs .vue .svelte .go .rs .java .kt .kts .scala .groovy .cs .fs .vb
    .rb .php .ex .exs .erl .clj .c .h .cc .cpp .cxx .hpp .m .mm .swift .dart .lua .pl .r .jl .sh .sql .proto
""")

_SOURCE, _REPORT, _CACHE = 0, 1, 2
_known_folders: dict[bytes, int] = {}  # paths come sorted by folder, tens of thousands at a time


def is_content(path: bytes, tracked: bool) -> bool:
    """Tell whether a path is content of its tree at all: neither ours nor a by-product."""
    return not (path.startswith(b".morph/") or path == b".morph" or is_byproduct(path, tracked))


def is_byproduct(path: bytes, tracked: bool) -> bool:
    """Tell whether a repository-relative path is left behind by a tool rather than written by someone.

    A name that can be either (`coverage/`, `junit.xml`) is a by-product only while untracked, and never
    when it ends like source code: a new package called `coverage` has to count before it is committed.
    """
    folder, _, name = path.rpartition(b"/")
    kind = _known_folders.get(folder)
    if kind is None:
        kind = _remember(folder)
    ending = name[name.rfind(b".") :]
    if kind == _CACHE or name in _CACHES or ending in _CACHE_ENDINGS or name.startswith(_CACHE_STARTS):
        return True
    if tracked:
        return False
    return (kind == _REPORT and ending not in _SOURCE_ENDINGS) or _is_report(name, ending)


def _remember(folder: bytes) -> int:
    if len(_known_folders) > 1000:
        _known_folders.clear()
    kind = _known_folders[folder] = _kind(folder.split(b"/"))
    return kind


def _kind(parts: list[bytes]) -> int:
    pairs = [above + b"/" + below for above, below in pairwise(parts)]
    if not (_CACHES.isdisjoint(parts) and _INNER_CACHES.isdisjoint(pairs)):
        return _CACHE
    if not (_REPORTS.isdisjoint(parts) and _INNER_REPORTS.isdisjoint(pairs)):
        return _REPORT
    return _REPORT if any(part.endswith(b".egg-info") for part in parts) else _SOURCE


def _is_report(name: bytes, ending: bytes) -> bool:
    if name in _REPORT_NAMES or ending in _REPORT_ENDINGS or name.endswith((b"~", b"#")):
        return not name.endswith(b"#") or name.startswith(b"#")
    if ending == b".xml":
        return name.startswith((b"TEST-", b"junit-", b"junit_", b"junit.")) or name.endswith(
            (b"-junit.xml", b".junit.xml")
        )
    return name.startswith(b".#")
