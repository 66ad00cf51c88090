"""What tools leave behind is told from what people write."""

from __future__ import annotations

import pytest

from morph_tasks.repo.byproducts import is_byproduct, is_content

ALWAYS = """
__pycache__/a.cpython-311.pyc deep/__pycache__/b.pyc a.pyc a.pyo .pytest_cache/v/cache/lastfailed
.mypy_cache/3.11/x.json .ruff_cache/0.1/1 .hypothesis/examples/1/2 .tox/py311/bin/python .nox/x .nyc_output/1.json
.turbo/turbo-build.log web/node_modules/.cache/babel/1 node_modules/.vite/deps/a.js
node_modules/.vitest/results.json .coverage .coverage.host.1.2 web/.coverage .DS_Store deep/er/.DS_Store
tsconfig.tsbuildinfo web/a.tsbuildinfo .doit.db .doit.db.dat .doit.db-journal .eslintcache
.ipynb_checkpoints/a.ipynb .nx/cache/1 .mypy_cache
""".split()  # noqa: SIM905

UNTRACKED = """
htmlcov/index.html coverage/lcov-report/index.html coverage/coverage-final.json web/coverage/clover.xml
test-results/a/trace.zip playwright-report/index.html TestResults/1.trx TestResults/guid/coverage.cobertura.xml
junit.xml reports/junit.xml junit-unit.xml web/e2e-junit.xml target/surefire-reports/TEST-a.b.C.xml TEST-a.xml
coverage.xml lcov.info foo.egg-info/PKG-INFO src/foo.egg-info/SOURCES.txt a.gcda b.profraw cover.out
allure-results/1.json cypress/videos/a.mp4 .a.py.swp a.py~ .#a.py #a.py# blob-report/report.zip
""".split()  # noqa: SIM905

NEVER = """
src/a.py coverage.py src/coverage/__init__.py coverage/report.ts test-results/helper.go junit_helper.py
junit.xml.j2 .coveragerc .coverage_config a.pycx pycache/a node_modules/left-pad/index.js
node_modules/.package-lock.json my_node_modules/.cache/a TestResults.cs test-results.md egg-info/a
__snapshots__/a.snap .env .gitignore build/a.o .nx/version-plans/a.md .yarn/cache/a.zip my__pycache__/a.txt
a.egg-infos #a a# src/a.tsbuildinfo.ts doit.db .vscode/a cypress/e2e/a.cy.js report.xml results.xml
package-lock.json .turbofan/a
""".split()  # noqa: SIM905


@pytest.mark.parametrize("path", ALWAYS)
def test_caches_never_count(path: str) -> None:
    assert is_byproduct(path.encode(), tracked=False)
    assert is_byproduct(path.encode(), tracked=True)


@pytest.mark.parametrize("path", UNTRACKED)
def test_reports_count_once_they_are_tracked(path: str) -> None:
    assert is_byproduct(path.encode(), tracked=False)
    assert not is_byproduct(path.encode(), tracked=True)


@pytest.mark.parametrize("path", NEVER)
def test_what_people_write_counts(path: str) -> None:
    assert not is_byproduct(path.encode(), tracked=False)
    assert not is_byproduct(path.encode(), tracked=True)


def test_names_that_are_not_utf8() -> None:
    assert not is_byproduct(b"caf\xe9", tracked=False)
    assert is_byproduct(b"caf\xe9/__pycache__/a", tracked=False)


def test_many_folders_are_not_remembered_for_ever() -> None:
    for number in range(3000):
        assert is_byproduct(b"%d/__pycache__/a" % number, tracked=True)
        assert not is_byproduct(b"%d/src/a" % number, tracked=False)


@pytest.mark.parametrize(
    ("path", "content"),
    [(b".morph/state.json", False), (b".morph", False), (b".morphology/a", True), (b"a/.morph/b", True), (b"a", True)],
)
def test_our_own_state_is_no_content(path: bytes, content: bool) -> None:
    assert is_content(path, tracked=True) is content
    assert is_content(path, tracked=False) is content
