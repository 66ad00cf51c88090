"""Baselines, retries, parallel nodes and what failed, through the installed commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Project, runs

SUITE = {"id": "unit", "command": "python -B -m pytest -q -p no:cacheprovider", "runner": "pytest"}


@pytest.fixture
def green(python_project: Project) -> Project:
    python_project.write("cart/total.py", "def total(prices):\n    return sum(prices)\n")
    assert python_project.morph("create", "cart", "--type", "feature", "--description", "Adds up").code == 0
    return python_project


def _config(project: Project) -> str:
    return (project.root / ".morph/config/config.json").read_text()


def test_a_baseline_is_recorded_and_nothing_else_changes(green: Project) -> None:
    text = '{\n  "project": {\n    "tests": [\n      ' + json.dumps(SUITE) + '\n    ]\n  },\n  "mine": [1,2]\n}\n'
    green.write(".morph/config/config.json", text)
    document = green.verify("cart", "--record-baseline")
    assert (document["exit"], document["persisted"], document["baseline"]["recorded"]) == (0, True, {"unit": 2})
    assert _config(green) == text.replace('"pytest"}', '"pytest", "expectedCount": 2}')
    again = green.verify()
    assert (again["exit"], again["runs"][-3]["expectedCount"], bool(again["runs"][-3]["reused"])) == (0, 2, True) or (
        next(run for run in again["runs"] if run["id"] == "tests/unit")["reused"]
    )


@pytest.mark.parametrize(
    ("tests", "said"),
    [
        ([{**SUITE, "command": "python -B -m pytest -q -p no:cacheprovider --nope"}], "is fail"),
        ([SUITE, {"id": "other", "command": "true", "runner": "none"}], "no readable count"),
        ([SUITE, {"id": "app", "command": "true", "e2e": True}], "was not measured"),
    ],
)
def test_a_baseline_is_refused_and_nothing_is_stamped(green: Project, tests: list[dict], said: str) -> None:
    green.config(project={"tests": tests})
    before = _config(green)
    done = green.morph("verify", "cart", "--record-baseline", "--json")
    assert done.code == 1
    assert said in done.err and said in done.json["reason"]
    assert _config(green) == before
    assert not green.feature().get("verification")


def test_a_baseline_needs_a_whole_run_and_a_declaration(green: Project) -> None:
    assert green.morph("verify", "cart", "--record-baseline", "--json").json["code"] == "no-config"
    green.config(project={})
    assert green.morph("verify", "cart", "--record-baseline", "--json").json["code"] == "no-tests-declared"
    green.config(project={"tests": [SUITE]})
    said = green.morph("verify", "cart", "--record-baseline", "--filter", "unit", "--json")
    assert (said.code, said.json["code"]) == (2, "options-exclude")


FLAKY = "n=$(cat .git/n 2>/dev/null || echo 0); echo $((n+1)) > .git/n; test $n -gt 0"


def test_a_pass_after_a_fail_is_flaky_and_no_proof(project: Project) -> None:
    node = {"id": "odd", "command": FLAKY, "runner": "none", "retries": 2}
    project.config(project={"tests": [node]})
    assert project.morph("create", "cart", "--type", "feature", "--description", "x").code == 0
    document = project.verify()
    entry = document["nodes"]["tests"]["runs"][0]
    assert (document["exit"], entry["status"], entry["attempts"]) == (1, "flaky", ["fail", "pass"])
    assert project.feature()["verification"]["status"] == "fail"
    # Not reused; measured again it passes at once, and says what was before.
    again = project.verify()
    entry = again["nodes"]["tests"]["runs"][0]
    assert (again["exit"], entry["status"], entry["afterFailures"]) == (0, "pass", 1)


def test_an_allowed_flaky_pass_is_green_and_shown(project: Project) -> None:
    node = {"id": "odd", "command": FLAKY, "runner": "none", "retries": 1, "flaky": "allow"}
    project.config(project={"tests": [node]})
    assert project.morph("create", "cart", "--type", "feature", "--description", "x").code == 0
    assert project.verify()["nodes"]["tests"]["runs"][0]["reason"] == "invalid-test-node"
    project.config(project={"tests": [{**node, "flakyReason": "a race in the driver"}]})
    document = project.verify()
    assert (document["exit"], document["nodes"]["tests"]["status"]) == (0, "flaky")
    assert any("a race in the driver" in line for line in document["feedback"])


def _meeting(name: str, other: str) -> str:
    """Return a command that only ends when the other node runs at the same time."""
    wait = f"i=0; while [ ! -e .git/{other} ]; do i=$((i+1)); [ $i -lt 600 ] || exit 1; sleep 0.05; done"
    return f"touch .git/{name}; {wait}"


@pytest.mark.parametrize("how", ["morph", "doit", "doit-threads"])
def test_nodes_run_side_by_side(project: Project, how: str) -> None:
    tests = [
        {"id": name, "command": _meeting(name, other), "runner": "none"} for name, other in (("x", "y"), ("y", "x"))
    ]
    project.config(project={"tests": tests})
    project.write("dodo.py", "from morph_tasks.tasks import *\n")
    assert project.morph("create", "cart", "--type", "feature", "--description", "x").code == 0
    said = {
        "morph": lambda: project.morph("verify", "cart", "-n", "2"),
        "doit": lambda: project.doit("-n", "2", "verify:cart"),
        "doit-threads": lambda: project.doit("-n", "2", "-P", "thread", "verify:cart"),
    }[how]()
    assert said.code == 0, said.out + said.err
    assert "GREEN cart" in said.out
    document = project.verify()
    assert all(entry["reused"] for entry in document["runs"] if entry["status"] == "pass")


def test_a_named_pool_is_never_shared(project: Project) -> None:
    command = "mkdir .git/held && sleep 0.1 && rmdir .git/held"
    tests = [{"id": f"t{n}", "command": command, "runner": "none", "pool": "database"} for n in range(3)]
    project.config(project={"tests": tests})
    assert project.morph("create", "cart", "--type", "feature", "--description", "x").code == 0
    assert project.verify("cart", "-n", "3")["exit"] == 0


def test_why_failed_names_the_test_and_keeps_to_its_limit(green: Project) -> None:
    assert green.morph("why-failed", "cart", "--json").json["code"] == "no-evidence"
    green.write(
        "tests/test_total.py",
        "def test_long():\n    print('about test_long ' * 500)\n    assert 'x' * 9000 == 'y'\n\n\n"
        "def test_fine():\n    pass\n",
    )
    assert green.verify()["exit"] == 1
    node = next(
        item for item in green.morph("why-failed", "cart", "--json").json["nodes"] if item["node"] == "tests/pytest"
    )
    [test] = node["failures"]
    assert test["file"] == "tests/test_total.py" and test["line"] == 3
    assert "test_long" in test["id"]
    assert len(test["id"]) + len(test["message"]) + len(test["excerpt"]) <= 2000
    text = green.morph("why-failed", "cart").out
    assert "tests/test_total.py:3" in text and "log:" in text
    green.git("checkout", "--quiet", "--", "tests/test_total.py")
    assert "the code changed since" in green.morph("why-failed", "cart").out
    assert green.verify()["exit"] == 0
    assert "nothing failed" in green.morph("why-failed", "cart").out


def test_github_actions_gets_groups_that_no_test_can_break_out_of(two_suites: Project) -> None:
    two_suites.write("a/check.sh", "echo '::error::not from us'\n")
    said = two_suites.morph("verify", "cart", GITHUB_ACTIONS="true")
    assert said.code == 0
    assert said.out.count("::group::") == said.out.count("::endgroup::") == 1
    assert said.out.count("\ntests/b") == 1
    assert said.out.index("::stop-commands::") < said.out.index("::error::not from us")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_commands_and_features(two_suites: Project, shell: str) -> None:
    script = two_suites.morph("completion", shell)
    assert script.code == 0 and "_MORPH_SPEC_COMPLETE" in script.out
    asked = two_suites.morph(
        _MORPH_SPEC_COMPLETE=f"{shell}_complete",
        COMP_WORDS="morph-spec verify ",
        COMP_CWORD="2" if shell != "fish" else "",
    )
    assert "cart" in asked.out


def test_undeclared_products_of_a_build_are_made_again_when_needed(project: Project, tmp_path: Path) -> None:
    project.write("src.txt", "1\n")
    project.write("t.txt", "1\n")
    project.write(".gitignore", "out/\n")
    project.config(
        project={
            "build": [
                {
                    "id": "make",
                    "command": "mkdir -p out; cp src.txt out/made.txt; echo run >> .git/runs-of-make",
                    "inputs": ["src.txt"],
                }
            ],
            "tests": [{"id": "t", "command": "cmp src.txt out/made.txt", "runner": "none"}],
        }
    )
    project.commit()
    assert project.morph("create", "cart", "--type", "feature", "--description", "x").code == 0
    assert project.verify()["exit"] == 0
    project.write("src.txt", "2\n")
    assert project.verify()["exit"] == 0
    project.write("src.txt", "1\n")
    assert project.verify()["exit"] == 0
    assert runs(project, "make") == 2
    # The build is proved, but what it left behind is of the other content: a test that must run needs it made again.
    project.write("t.txt", "2\n")
    assert project.verify()["exit"] == 0
    assert runs(project, "make") == 3


def test_a_checked_plan_of_a_dotnet_project_keeps_build_folders_out_of_git(project: Project) -> None:
    project.write("App/App.csproj", "<Project />\n")
    project.commit()
    assert project.morph("create", "cart", "--type", "feature", "--description", "x").code == 0
    project.write(".gitignore", "__pycache__/\n")
    project.write(
        ".morph/features/cart/2-plan/plan.md",
        "# Cart\n\n## Problem\nIt is wrong.\n\n## Scenarios\n### C1 — It is right\n- proof: test\n\n## Decisions\n"
        "### Conflicts with the record\nnone\n\n## Slices\n### F1 — Do it\n- persona: dotnet-senior\n"
        "- files: App/A.cs\n- covers: C1\n",
    )
    said = project.morph("plan-check", "cart", "--json")
    assert (said.code, said.json["gitignore"]) == (0, ["bin/", "obj/"]), said.out
    assert "gitignore" not in project.morph("plan-check", "cart", "--json").json
    assert (project.root / ".gitignore").read_text() == "__pycache__/\nbin/\nobj/\n"


def test_what_excludes_each_other_is_usage_and_a_refused_baseline_is_not_ok(two_suites: Project) -> None:
    said = two_suites.morph("verify", "cart", "--filter", "a", "--skip-tests", "--json")
    assert (said.code, said.json["code"]) == (2, "options-exclude")
    refused = two_suites.morph("verify", "cart", "--record-baseline", "--json")
    assert (refused.code, refused.json["ok"], refused.json["code"]) == (1, False, "baseline-refused")


def test_a_glob_over_everything_does_not_reach_what_git_ignores(python_project: Project) -> None:
    python_project.write(".gitignore", "made/\n*.local.py\n")
    python_project.write("made/gen.py", "x = 1\n")
    python_project.write("cart/total.py", "def total(prices):\n    return sum(prices)\n")
    python_project.config(
        project={
            "build": [{"id": "all", "command": "true", "inputs": ["**/*.py", "made/other.txt"]}],
            "tests": [{"id": "t", "command": "true", "runner": "none", "inputs": ["cart/**"]}],
        }
    )
    python_project.commit()
    assert python_project.morph("create", "cart", "--type", "feature", "--description", "x").code == 0
    assert python_project.verify()["exit"] == 0
    python_project.write("made/gen.py", "x = 2\n")
    assert "would run" not in python_project.morph("explain", "cart").out
    python_project.write("cart/total.py", "def total(prices):\n    return sum(prices) + 0\n")
    told = python_project.morph("explain", "cart").out
    assert "file cart/total.py changed" in told and "ignored file" not in told
