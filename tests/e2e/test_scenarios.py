"""Scenarios end to end, by suites of several runners: what is proven, what is not, and why."""

from __future__ import annotations

import os
import pwd
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Project

RUNNERS = Path(__file__).resolve().parents[1] / "runners-npm/node_modules"
PLAN = """\
# A cart

## Problem
Totals drift.

## Scenarios
{scenarios}
## Decisions

### Conflicts with the record
none

## Slices

### F1 — Totals
- persona: python-senior
- files: tests/test_total.py
- covers: {covers}
"""


def _feature(project: Project, **proofs: str) -> None:
    project.commit()
    said = project.morph("create", "cart", "--type", "feature", "--description", "Add up")
    assert said.code == 0, said.err
    scenarios = "".join(
        f"\n### {name} — It holds\nGiven it, then it holds.\n- proof: {proof}\n" for name, proof in proofs.items()
    )
    project.write(".morph/features/cart/2-plan/plan.md", PLAN.format(scenarios=scenarios, covers=", ".join(proofs)))
    said = project.morph("plan-check", "cart")
    assert said.code == 0, said.out


def _states(document: Any) -> dict[str, str]:
    return {one["id"]: one["state"] for one in document["scenarios"]}


def test_every_state_of_a_python_suite(project: Project) -> None:
    project.config(project={"build": [], "tests": [{"id": "unit", "command": "python -m pytest -q --strict-markers"}]})
    project.write(
        "tests/test_total.py",
        "import pytest\n\n"
        '@pytest.mark.scenario("C1")\ndef test_one():\n    assert True\n\n'
        '@pytest.mark.scenario("C2", "cart:C3")\ndef test_two():\n    assert False\n\n'
        '@pytest.mark.skip\n@pytest.mark.scenario("C4")\ndef test_four():\n    assert True\n\n'
        '@pytest.mark.parametrize("n", [pytest.param(1, id="[C6]")])\ndef test_six(n):\n    assert n\n\n'
        '@pytest.mark.scenario("C99")\ndef test_stranger():\n    assert True\n\n'
        '@pytest.mark.scenario("shop:C5")\ndef test_of_others():\n    assert True\n',
    )
    _feature(project, C1="test", C2="test", C3="test", C4="test", C5="test", C6="test", C7="manual", C8="e2e")
    found = project.verify()
    assert _states(found) == {
        "C1": "proven", "C2": "failed", "C3": "failed", "C4": "unproven", "C5": "unproven", "C6": "proven",
        "C7": "manual", "C8": "unproven",
    }  # fmt: skip
    first = found["scenarios"][0]
    assert first["tests"][0]["file"] == "tests/test_total.py" and first["tests"][0]["line"] >= 3
    assert first["nodes"] == ["tests/unit"]
    assert any("C99" in line and "tests/test_total.py:" in line for line in found["feedback"])
    assert not any("shop:C5" in line for line in found["feedback"])
    text = project.morph("verify", "cart").out
    assert "scenario C1 proven" in text and "scenario C2 failed" in text
    stamp = project.feature()["verification"]["scenarios"]
    assert {one["id"]: one["state"] for one in stamp} == _states(found)


def test_a_reused_proof_still_proves_and_a_changed_plan_is_noticed(project: Project) -> None:
    project.config(project={"build": [], "tests": [{"id": "unit", "command": "python -m pytest -q"}]})
    project.write(
        "tests/test_total.py", 'import pytest\n\n@pytest.mark.scenario("C1")\ndef test_one():\n    assert True\n'
    )
    _feature(project, C1="test")
    for _ in range(4):
        found = project.verify()
        assert _states(found) == {"C1": "proven"}
    assert found["nodes"]["tests"]["runs"][0]["reused"]
    plan = project.root / ".morph/features/cart/2-plan/plan.md"
    plan.write_text(plan.read_text().replace("### C1", "### C2").replace("covers: C1", "covers: C2"))
    changed = project.verify()
    assert _states(changed) == {"C2": "unproven"}
    assert any("C1" in line and "tests/test_total.py:3" in line for line in changed["feedback"])
    plan.write_text("# nothing of the form\n")
    broken = project.verify()
    assert broken["scenarios"] is None and any("scenarios are not verified" in line for line in broken["feedback"])


def test_a_path_of_its_own_leaves_the_suite_as_it_is(project: Project) -> None:
    command = "PYTHONPATH=src python -m pytest -v"
    project.config(project={"build": [], "tests": [{"id": "unit", "command": command}]})
    project.write("src/cart.py", "x = 1\n")
    project.write(
        "tests/test_total.py",
        "import pytest, cart\n\n@pytest.mark.parametrize('n', [1], ids=['[C1]'])\n"
        "def test_one(n):\n    assert cart.x\n",
    )
    _feature(project, C1="test")
    found = project.verify()
    assert (found["exit"], _states(found)) == (0, {"C1": "proven"})


@pytest.mark.skipif(not RUNNERS.is_dir() and not os.environ.get("CI"), reason="tests/runners-npm is not installed")
@pytest.mark.parametrize(
    ("command", "file", "body"),
    [
        ("npx vitest run --reporter=verbose", "web/a.test.ts", 'import {{ expect, it }} from "vitest";\n{tests}'),
        ("npx jest --verbose", "web/a.test.js", "{tests}"),
        (
            "npx vitest run --reporter=junit --outputFile=junit.xml",
            "web/a.test.ts",
            'import {{ expect, it }} from "vitest";\n{tests}',
        ),
    ],
)
def test_a_javascript_suite(project: Project, command: str, file: str, body: str) -> None:
    bodies = {"adds [C1]": "expect(1).toBe(1);", "fails [C2]": "expect(1).toBe(2);", "odd [C9]": ""}
    tests = "".join(f'it("{name}", () => {{ {text} }});\n' for name, text in bodies.items())
    # To fail is what it is for: that it does proves nothing of the scenario.
    tests += f'it.{"fails" if "vitest" in command else "failing"}("to be done [C3]", () => {{ expect(1).toBe(2); }});\n'
    project.write(file, body.format(tests=tests))
    project.write("web/package.json", '{"private": true}\n')
    project.write(".gitignore", "node_modules\njunit.xml\n")
    (project.root / "web/node_modules").symlink_to(RUNNERS)
    node = {"id": "web", "command": command, "cwd": "web", **({"junit": "web/junit.xml"} if "junit" in command else {})}
    project.config(project={"build": [], "tests": [node]})
    _feature(project, C1="test", C2="test", C3="test")
    found = project.verify()
    assert _states(found) == {"C1": "proven", "C2": "failed", "C3": "unproven"}
    line = 4 if "vitest" in command else 3
    assert any(f"{file}:{line}" in said and "C9" in said for said in found["feedback"]), found["feedback"]


def test_go_and_cargo_suites(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, folder in (("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")):
        monkeypatch.setenv(name, os.environ.get(name) or str(Path(pwd.getpwuid(os.getuid()).pw_dir) / folder))
    project.write("svc/go.mod", "module svc\n\ngo 1.18\n")
    project.write(
        "svc/a_test.go",
        'package svc\n\nimport "testing"\n\nfunc TestTotal(t *testing.T) {\n'
        '\tt.Run("[C1] adds", func(t *testing.T) {})\n\tt.Run("[C2] fails", func(t *testing.T) { t.Error("no") })\n}\n',
    )
    project.write("lib/Cargo.toml", '[package]\nname = "lib1"\nversion = "0.1.0"\nedition = "2021"\n')
    project.write("lib/src/lib.rs", "#[cfg(test)]\nmod tests {\n    #[test]\n    fn scenario_c3_adds() {}\n}\n")
    project.write(".gitignore", "target/\n")
    subprocess.run(["cargo", "generate-lockfile", "--offline"], cwd=project.root / "lib", check=True)
    tests = [
        {"id": "go", "command": "go test -v -count=1 ./...", "cwd": "svc"},
        {"id": "cargo", "command": "cargo test --offline", "cwd": "lib"},
    ]
    project.config(project={"build": [], "tests": tests})
    _feature(project, C1="test", C2="test", C3="test")
    found = project.verify()
    assert _states(found) == {"C1": "proven", "C2": "failed", "C3": "proven"}, found["feedback"]
