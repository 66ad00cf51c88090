"""The real runners: what a narrowed command executes lies between the slice's tests and what the declared one runs."""

from __future__ import annotations

import json
import os
import pwd
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

import pytest

from morph_tasks.verify.narrowing import cargo, go, jest, vitest
from morph_tasks.verify.narrowing import pytest as pytest_narrower
from morph_tasks.verify.narrowing.model import Narrowed

NPM = Path(__file__).parents[2] / "runners-npm" / "node_modules"


def sh(command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "NODE_", "VITEST"))}
    env |= {"PATH": f"{NPM / '.bin'}:{env['PATH']}", "CI": "1", "NO_COLOR": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        timeout=240,
        stdin=subprocess.DEVNULL,
    )


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def narrowed(module: ModuleType, root: Path, command: str, files: Sequence[str], cwd: str = ".") -> Narrowed:
    found = module.narrow(root, cwd, command, files)
    assert isinstance(found, Narrowed), found
    return found


def ran_js(marks: Path) -> set[str]:
    return set(marks.read_text("utf-8").split("\n")[:-1]) if marks.exists() else set()


def executed(command: str, root: Path, cwd: str = ".") -> tuple[set[str], int]:
    """Run a command whose tests write their own names, and return those."""
    marks = root / "marks.log"
    marks.unlink(missing_ok=True)
    done = sh(command, root / cwd)
    return ran_js(marks), done.returncode


ODD = [
    "a.test.js",
    "src/deep/b.test.js",
    "src/with space/c.test.js",
    "src/[id]/d.test.js",
    "src/(group)/e.test.js",
    "src/it's/f.test.js",
    "-dash.test.js",
    "src/ünïcode/g.test.js",
    "src/$money/h.test.js",
    "src/a&b;c/i.test.js",
    'src/"quoted"/j.test.js',
    "src/@scope/k.test.js",
    "src/plus+star/l.test.js",
]


def js_tests(kind: str, root: Path) -> dict[str, str]:
    head = (
        "import { test } from 'vitest';\nimport fs from 'node:fs';\n"
        if kind == "vitest"
        else "const fs = require('fs');\n"
    )
    marks = json.dumps(str(root / "marks.log"))
    return {name: f"{head}test('x', () => fs.appendFileSync({marks}, {json.dumps(name)} + '\\n'));\n" for name in ODD}


@pytest.fixture
def js(tmp_path: Path) -> Callable[[str], Path]:
    if not NPM.is_dir():
        pytest.skip("the JavaScript runners are not installed")

    def make(kind: str) -> Path:
        root = tmp_path / "web"
        (root).mkdir()
        (root / "node_modules").symlink_to(NPM)
        package = {"name": "x", "private": True, "jest": {"testEnvironment": "node", "watchman": False}}
        write(
            root, {"package.json": json.dumps(package), "src/code.js": "export const a = 1;\n", **js_tests(kind, root)}
        )
        return root

    return make


JS = {"vitest": (vitest, "npx vitest run"), "jest": (jest, "npx jest --ci")}


@pytest.mark.parametrize("kind", ["vitest", "jest"])
def test_every_odd_path_runs_exactly_what_it_names(js: Callable[[str], Path], kind: str) -> None:
    root = js(kind)
    module, command = JS[kind]
    all_of_them, code = executed(command, root)
    assert code == 0
    assert all_of_them == set(ODD)
    for chosen in (
        ODD[1:],
        ODD[:1],
        ["src/[id]/d.test.js", "-dash.test.js"],
        ["src/it's/f.test.js", 'src/"quoted"/j.test.js'],
    ):
        found = narrowed(module, root, command, [*chosen, "src/code.js"])
        ran, code = executed(found.command, root)
        assert code == 0, found.command
        assert set(chosen) <= ran <= all_of_them
        if ODD[0] not in chosen:  # its name is a part of no other path here
            assert ran == set(chosen), found.command


@pytest.mark.parametrize("kind", ["vitest", "jest"])
def test_a_folder_below_the_root_and_flags_that_take_the_next_word(js: Callable[[str], Path], kind: str) -> None:
    root = js(kind)
    module, _ = JS[kind]
    command = {
        "vitest": "npx vitest run --silent --coverage.enabled=false",
        "jest": "npx jest --bail --reporters default",
    }[kind]
    found = narrowed(module, root.parent, command, ["web/src/deep/b.test.js"], cwd="web")
    assert found.selectors == ("src/deep/b.test.js",)
    assert executed(found.command, root) == ({"src/deep/b.test.js"}, 0)


@pytest.mark.parametrize("kind", ["vitest", "jest"])
def test_what_matches_nothing_is_red_and_says_so(js: Callable[[str], Path], kind: str) -> None:
    root = js(kind)
    module, command = JS[kind]
    write(root, {"checks/odd.js": "it('x', () => {});\n"})
    found = narrowed(module, root, command, ["checks/odd.js"])
    done = sh(found.command, root)
    assert done.returncode == 1
    assert module.is_zero(done.stdout + done.stderr, done.returncode)


PYTHON = f'"{sys.executable}"'


def py_executed(command: str, cwd: Path) -> tuple[set[str], int]:
    done = sh(f"{command} -v -rA" if " -- " not in command else command, cwd)
    names = re.findall(r"^(\S.*::\S+) PASSED", done.stdout, re.M)
    return set(names), done.returncode


def py_project(root: Path) -> None:
    case = "def test_{0}():\n    pass\n"
    write(
        root,
        {
            "pytest.ini": "[pytest]\ntestpaths = tests\naddopts = -p no:cacheprovider\n",
            "tests/test_a.py": case.format("a"),
            "tests/unit/test_b.py": case.format("b"),
            "tests/with space/test_c.py": case.format("c"),
            "tests/it's/test_d.py": case.format("d"),
            "tests/ünï/e_test.py": case.format("e"),
            "tests/$x/-test_no.py": case.format("no"),
            "other/test_o.py": case.format("o"),
            "src/code.py": "A = 1\n",
        },
    )


@pytest.mark.parametrize(
    "command",
    [
        f"{PYTHON} -m pytest",
        f"{PYTHON} -m pytest tests",
        f"{PYTHON} -m pytest -p no:randomly tests/ --tb short",
        f"{PYTHON} -X utf8 -m pytest ./tests --maxfail=3",
        f"env A=1 {PYTHON} -m pytest tests/unit 'tests/with space' tests/test_a.py \"tests/it's\" tests/ünï",
    ],
)
def test_pytest_runs_the_slice_and_nothing_else(tmp_path: Path, command: str) -> None:
    py_project(tmp_path)
    chosen = ["tests/unit/test_b.py", "tests/with space/test_c.py", "tests/it's/test_d.py", "tests/ünï/e_test.py"]
    everything, code = py_executed(command, tmp_path)
    assert code == 0
    found = narrowed(pytest_narrower, tmp_path, command, [*chosen, "src/code.py", "other/test_o.py"])
    ran, code = py_executed(found.command, tmp_path)
    assert code == 0, found.command
    assert {name.split("::")[0] for name in ran} == set(chosen)
    assert ran <= everything
    assert found.note.startswith("other/test_o.py is not among the paths")


def test_pytest_below_the_root_reaches_paths_beside_its_folder(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "api/x.py": "",
            "checks/test_a.py": "def test_a():\n    pass\n",
            "checks/test_b.py": "def test_b():\n    pass\n",
        },
    )
    command = f"{PYTHON} -m pytest -p no:cacheprovider ../checks"
    found = narrowed(pytest_narrower, tmp_path, command, ["checks/test_b.py"], cwd="api")
    ran, code = py_executed(found.command, tmp_path / "api")
    assert code == 0
    assert [name.split("::")[1] for name in ran] == ["test_b"]


def test_a_pytest_option_at_the_end_of_addopts_takes_no_path(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "conftest.py": "def pytest_addoption(parser):\n    parser.addoption('--told', nargs='?', const='')\n",
            "pytest.ini": "[pytest]\naddopts = -p no:cacheprovider --told\n",
            "test_a.py": "def test_a():\n    pass\n",
            "test_b.py": "def test_b():\n    pass\n",
        },
    )
    found = narrowed(pytest_narrower, tmp_path, f"{PYTHON} -m pytest -v", ["test_b.py"])
    assert {name for (name,) in [(one,) for one in py_executed(found.command, tmp_path)[0]]} == {"test_b.py::test_b"}
    assert "take a path" in str(pytest_narrower.narrow(tmp_path, ".", f"{PYTHON} -m pytest", ["test_b.py"]))


def test_pytest_without_a_test_exits_with_five(tmp_path: Path) -> None:
    write(tmp_path, {"test_a.py": "if False:\n    def test_a():\n        pass\n"})
    found = narrowed(pytest_narrower, tmp_path, f"{PYTHON} -m pytest -p no:cacheprovider", ["test_a.py"])
    done = sh(found.command, tmp_path)
    assert pytest_narrower.is_zero("", done.returncode)


def go_test(*names: str) -> str:
    body = "".join(f"func {name}(t *testing.T) {{}}\n" for name in names)
    return f'package p\n\nimport "testing"\n\n{body}'


GO_FILES = {
    "go.mod": "module example.test/shop\n\ngo 1.19\n",
    "a/a.go": "package p\n\nconst A = 1\n",
    "a/a_test.go": go_test("TestA"),
    "b/b.go": 'package p\n\nimport (\n\tshop "example.test/shop/a" // of cents\n)\n\nconst B = shop.A\n',
    "b/b_test.go": go_test("TestB"),
    "c/c.go": 'package p\n\nimport "example.test/shop/b"\n\nconst C = p.B\n',
    "c/c_test.go": go_test("TestC"),
    "d/d.go": "package p\n",
    "d/d_test.go": go_test("TestD"),
    "e/e_test.go": go_test("TestE").replace('"testing"', '"testing"\n\nimport _ "example.test/shop/a"'),
    "empty/x.go": "package empty\n",
}


def go_executed(command: str, cwd: Path) -> tuple[set[str], int]:
    done = sh(command, cwd)
    return set(re.findall(r"^--- PASS: (\S+)", done.stdout, re.M)), done.returncode


@pytest.mark.skipif(not shutil.which("go"), reason="go is not installed")
@pytest.mark.parametrize(
    ("files", "want"),
    [
        (["a/a_test.go"], {"TestA"}),
        (["a/a_test.go", "d/d_test.go"], {"TestA", "TestD"}),
        (["a/a.go"], {"TestA", "TestB", "TestC", "TestE"}),
        (["c/c.go", "README.md"], {"TestC"}),
        (["b/b.go", "empty/x.go"], {"TestB", "TestC"}),
    ],
)
def test_go_runs_the_packages_and_what_imports_them(tmp_path: Path, files: list[str], want: set[str]) -> None:
    write(tmp_path, GO_FILES)
    command = "go test -v -count=1 ./..."
    everything, code = go_executed(command, tmp_path)
    assert (everything, code) == ({"TestA", "TestB", "TestC", "TestD", "TestE"}, 0)
    found = narrowed(go, tmp_path, command, files)
    assert go_executed(found.command, tmp_path) == (want, 0), found.command
    assert found.zero_guard == "count"
    assert narrowed(go, tmp_path, "go test ./...", files).zero_guard == "count-or-exit"


@pytest.mark.skipif(not shutil.which("go"), reason="go is not installed")
def test_go_below_the_root_and_within_what_is_declared(tmp_path: Path) -> None:
    write(tmp_path, {f"srv/{name}": text for name, text in GO_FILES.items()})
    found = narrowed(go, tmp_path, "go test -race=false ./b/... ./d ./c -v", ["srv/a/a.go"], cwd="srv")
    assert found.command == "go test -race=false ./b ./c -v"
    assert go_executed(found.command, tmp_path / "srv") == ({"TestB", "TestC"}, 0)
    found = narrowed(go, tmp_path, "go test -v example.test/shop/... -count=1", ["srv/a/a_test.go"], cwd="srv/b")
    assert go_executed(found.command, tmp_path / "srv/b") == ({"TestA"}, 0)


@pytest.mark.skipif(not shutil.which("go"), reason="go is not installed")
def test_a_go_run_without_tests_says_so(tmp_path: Path) -> None:
    write(tmp_path, GO_FILES)
    done = sh("go test ./empty", tmp_path)
    assert go.is_zero(done.stdout + done.stderr, done.returncode)
    done = sh("go test ./a ./empty", tmp_path)
    assert not go.is_zero(done.stdout + done.stderr, done.returncode)


def crate(name: str, more: str = "") -> str:
    return f'[package]\nname = "{name}"\nversion = "0.1.0"\nedition = "2021"\n{more}'


CARGO_FILES = {
    "Cargo.toml": '[workspace]\nresolver = "2"\nmembers = ["crates/*"]\n',
    "crates/core/Cargo.toml": crate("shop-core"),
    "crates/core/src/lib.rs": "pub fn one() -> u8 {\n    1\n}\n\n#[test]\nfn core_unit() {}\n",
    "crates/core/tests/flow.rs": "#[test]\nfn core_flow() {}\n",
    "crates/core/tests/other.rs": "mod common;\n\n#[test]\nfn core_other() {\n    common::help();\n}\n",
    "crates/core/tests/common/mod.rs": "pub fn help() {}\n",
    "crates/api/Cargo.toml": crate("shop-api", '[dependencies]\nshop-core = { path = "../core" }\n'),
    "crates/api/src/lib.rs": "#[test]\nfn api_unit() {\n    assert_eq!(shop_core::one(), 1);\n}\n",
    "crates/alone/Cargo.toml": crate("alone"),
    "crates/alone/src/lib.rs": "#[test]\nfn alone_unit() {}\n",
    "crates/alone/tests/flow.rs": "#[test]\nfn alone_flow() {}\n",
}


@pytest.mark.skipif(not shutil.which("cargo"), reason="cargo is not installed")
def test_cargo_runs_the_crates_and_what_needs_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rust_home(monkeypatch)
    write(tmp_path, CARGO_FILES)
    command = "cargo test --workspace --offline -- --nocapture"
    everything = rust_executed(command, tmp_path)
    assert len(everything) == 6
    for files, want in (
        (["crates/core/tests/flow.rs"], {"core_flow"}),
        (["crates/core/tests/flow.rs", "crates/alone/tests/flow.rs"], {"core_flow", "alone_flow"}),
        (["crates/core/tests/common/mod.rs"], {"core_unit", "core_flow", "core_other"}),
        (["crates/core/src/lib.rs"], {"core_unit", "core_flow", "core_other", "api_unit"}),
        (["crates/alone/src/lib.rs", "crates/alone/tests/flow.rs"], {"alone_unit", "alone_flow"}),
    ):
        found = narrowed(cargo, tmp_path, command, files)
        assert rust_executed(found.command, tmp_path) == want, found.command
    found = narrowed(cargo, tmp_path, "cargo test --offline", ["crates/core/tests/flow.rs"], cwd="crates/core")
    assert found.command == "cargo test --test flow --offline"
    assert rust_executed(found.command, tmp_path / "crates/core") == {"core_flow"}


def rust_home(monkeypatch: pytest.MonkeyPatch) -> None:
    home = Path(pwd.getpwuid(os.getuid()).pw_dir)
    for name, folder in (("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")):
        if (home / folder).is_dir():
            monkeypatch.setenv(name, str(home / folder))


def rust_executed(command: str, cwd: Path) -> set[str]:
    done = sh(command, cwd)
    assert done.returncode == 0, done.stderr
    return set(re.findall(r"^test (\w+) \.\.\. ok", done.stdout, re.M))


@pytest.mark.parametrize("command", ["npx vitest --run", "npx vitest run --root web", "npx vitest run --dir web -r ."])
def test_vitest_takes_paths_from_where_it_was_started(js: Callable[[str], Path], command: str) -> None:
    root = js("vitest")
    (root.parent / "node_modules").symlink_to(NPM)
    found = narrowed(vitest, root.parent, command, ["web/src/deep/b.test.js"])
    assert executed(found.command, root.parent) == (set(), 0)
    assert ran_js(root / "marks.log") == {"src/deep/b.test.js"}


@pytest.mark.parametrize("options", ["--projects web", "--rootDir web --ci"])
def test_jest_takes_paths_from_where_it_was_started(js: Callable[[str], Path], options: str) -> None:
    root = js("jest")
    write(root.parent, {"package.json": '{"name": "y", "jest": {"watchman": false}}'})
    found = narrowed(jest, root.parent, f"jest {options}", ["web/src/deep/b.test.js"])
    assert executed(found.command, root.parent) == (set(), 0)
    assert ran_js(root / "marks.log") == {"src/deep/b.test.js"}
