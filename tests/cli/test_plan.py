from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from morph_tasks.plan.guide import EXAMPLE, RULES
from tests.conftest import Project

PLAN = ".morph/features/cart/2-plan/plan.md"
CHECKS = ".morph/features/cart/2-plan/checks.json"


@pytest.fixture
def planned(project: Project) -> Project:
    """A project with the feature `cart` and a plan without a fault."""
    assert project.morph("create", "cart", "--type", "feature", "--description", "Totals").code == 0
    project.write(PLAN, EXAMPLE)
    return project


def test_a_good_plan(planned: Project) -> None:
    said = planned.morph("plan-check", "cart")
    assert (said.code, said.err) == (0, "")
    assert said.out.splitlines() == [
        "ok: 2 scenarios, 2 slices; checks.json is up to date",
        "wave 1: F1",
        "wave 2: F2",
    ]
    assert json.loads((planned.root / CHECKS).read_text())["waves"] == [["F1"], ["F2"]]


def test_the_skeleton_that_create_writes_waits_to_be_filled(project: Project) -> None:
    project.morph("create", "cart", "--type", "feature", "--description", "Totals")
    said = project.morph("plan-check", "cart", "--json")
    assert said.code == 1
    assert {one["code"] for one in said.json["errors"]} == {"no-scenarios", "empty-section"}


def test_findings_are_lines_that_an_editor_can_follow(planned: Project) -> None:
    planned.write(PLAN, EXAMPLE.replace("proof: e2e", "proof: hope").replace("surface: form", "surface: sea"))
    said = planned.morph("plan-check", "cart")
    assert said.code == 1
    lines = said.out.splitlines()
    assert lines[0].startswith("plan.md:14:10: error bad-proof: ")
    assert lines[1].startswith("plan.md:38:12: warning unknown-surface: ")
    assert "1 error" in lines[-1]
    assert not (planned.root / CHECKS).exists()


def test_the_json_document(planned: Project) -> None:
    said = planned.morph("plan-check", "cart", "--json")
    assert (said.code, said.err) == (0, "")
    around = {"collisions", "sameFile", "dependents", "graph", "notCompared", "staleByMerge"}
    assert set(said.json) == {"ok", "errors", "warnings", "waves", "hash"} | around
    assert said.json["ok"] is True and said.json["waves"] == [["F1"], ["F2"]]
    planned.write(PLAN, EXAMPLE.replace("proof: e2e", "proof: hope"))
    said = planned.morph("plan-check", "cart", "--json")
    assert said.code == 1
    (error,) = said.json["errors"]
    assert set(error) == {"code", "line", "column", "message"}
    assert (error["code"], error["line"], error["column"]) == ("bad-proof", 14, 10)
    assert said.json["ok"] is False and said.json["waves"] == []


def test_refusals_are_documents_too(planned: Project) -> None:
    said = planned.morph("plan-check", "nope", "--json")
    assert (said.code, said.json["code"]) == (2, "feature-not-found")
    (planned.root / PLAN).unlink()
    said = planned.morph("plan-check", "cart", "--json")
    assert (said.code, said.json["ok"], said.json["code"]) == (2, False, "plan-missing")
    said = planned.morph("plan-check", "cart")
    assert said.code == 2 and "error plan-missing:" in said.err and said.out == ""
    assert planned.morph("plan-check").code == 2


def test_an_approved_plan_that_changed_is_refused(planned: Project) -> None:
    stored = planned.morph("plan-check", "cart", "--json").json["hash"]
    state = planned.feature()
    state["approvalGates"]["plan"] = {"approved": True, "timestamp": "2026-01-01T00:00:00Z", "planHash": stored}
    planned.write(".morph/features/cart/feature.json", json.dumps(state))
    planned.write(PLAN, EXAMPLE + "It was 423.\n")
    assert planned.morph("plan-check", "cart").code == 0
    planned.write(PLAN, EXAMPLE.replace("422", "423"))
    said = planned.morph("plan-check", "cart", "--json")
    assert (said.code, said.json["code"]) == (1, "frozen")
    assert said.json["planHash"] == stored


def test_a_chart_is_drawn_whatever_the_plan(planned: Project) -> None:
    said = planned.morph("plan-check", "cart", "--mermaid")
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("flowchart LR\n") and "F1 --> F2" in said.out
    assert not (planned.root / CHECKS).exists()
    planned.write(PLAN, EXAMPLE.replace("depends: F1", "depends: F1, F2").replace("proof: e2e", ""))
    said = planned.morph("plan-check", "cart", "--mermaid")
    assert said.code == 0
    assert said.out.startswith("flowchart LR\n") and "F2 --> F2" in said.out
    assert "error dependency-cycle" in said.err and "error missing-proof" in said.err
    assert planned.morph("plan-check", "cart", "--mermaid", "--json").json["mermaid"] == said.out.rstrip("\n")


def test_another_tree_than_the_owner_refuses(planned: Project) -> None:
    planned.commit("plan")
    other = planned.root.parent / "other"
    planned.git("worktree", "add", "-q", "-b", "side", str(other))
    said = planned.morph("plan-check", "cart", "--json", cwd=other)
    assert said.code == 1 and said.json["code"] in ("owner-tree-elsewhere", "unregistered-worktree")
    assert str(planned.root) in said.json["fix"]


def test_help_shows_the_grammar_as_it_is_written(project: Project) -> None:
    said = project.morph("plan-check", "--help", COLUMNS="60")
    lines = [line[2:] if line.startswith("  ") else line for line in said.out.splitlines()]
    for wanted in (*RULES.split("\n"), *EXAMPLE.split("\n")):
        assert wanted in lines
    assert said.code == 0 and "--mermaid" in said.out and "Exit codes" in said.out


def test_signs_that_steer_a_terminal_are_not_printed(planned: Project) -> None:
    planned.write(PLAN, EXAMPLE.replace("python-senior", "py\x1b[31mthon\x9b"))
    said = planned.morph("plan-check", "cart")
    assert said.code == 1 and "\x1b" not in said.out and "\x9b" not in said.out


def test_a_terminal_without_unicode_gets_the_findings_all_the_same(planned: Project) -> None:
    planned.write(PLAN, EXAMPLE.replace("python-senior", "pythön — 日本"))
    said = planned.morph("plan-check", "cart", PYTHONIOENCODING="ascii", LC_ALL="C", PYTHONUTF8="0")
    assert said.code == 1 and "unknown-persona" in said.out


def big_plan(scenarios: int, slices: int) -> str:
    parts = ["# Big\n\n## Problem\nIt is big.\n\n## Scenarios\n"]
    parts += [
        f"### C{n} — Scenario {n}\nGiven `x`, when **it** runs,\nthen the answer is {n}.\n- proof: test\n"
        for n in range(1, scenarios + 1)
    ]
    parts.append("## Decisions\n### Conflicts with the record\nnone\n\n## Slices\n")
    for n in range(1, slices + 1):
        covers = ", ".join(f"C{one}" for one in range(n, scenarios + 1, slices))
        depends = f"- depends: F{n - 5}\n" if n > 5 else ""
        parts.append(
            f"### F{n} — Slice {n}\n- persona: python-senior\n- files: src/a{n}.py, `src/b{n // 3}.py`\n"
            f"- covers: {covers}\n{depends}- reuse: REUSE Money\n\nText.\n"
        )
    return "\n".join(parts)


def test_a_big_plan_costs_little(planned: Project) -> None:
    """Compares processor time of the whole command with that of a command that does nothing, in one run."""
    planned.write(PLAN, big_plan(200, 60))
    before = cpu()
    said = planned.morph("plan-check", "cart", "--json")
    between = cpu()
    planned.morph("--version")
    nothing = cpu() - between
    assert said.code == 0 and len(said.json["waves"]) >= 12
    assert between - before < nothing + 60 * empty_python()


def test_the_heavy_libraries_stay_out_of_a_plan_without_circles(planned: Project) -> None:
    script = (
        "import sys\nfrom morph_tasks.cli.main import main\ncode = main(['plan-check', 'cart'])\n"
        "print(code, [one for one in ('networkx', 'pydantic', 'sh', 'rich', 'jsonschema') if one in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=planned.root, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "0 []"


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def empty_python() -> float:
    before = cpu()
    for _ in range(3):
        subprocess.run([sys.executable, "-I", "-S", "-c", "pass"], check=True)
    return (cpu() - before) / 3


def test_the_page_of_the_documentation_names_every_code() -> None:
    root = Path(__file__).parents[2]
    page = (root / "docs/plan.md").read_text("utf-8")
    source = "".join(path.read_text("utf-8") for path in (root / "morph_tasks/plan").glob("*.py"))
    codes = set(re.findall(r'Finding\(\s*"([a-z-]+)"', source))
    assert len(codes) > 20
    assert all(f"`{code}`" in page for code in codes)
