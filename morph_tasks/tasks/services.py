"""The actions of tasks that are not part of a graph: they call a room, print, and fail without a traceback."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from morph_tasks.errors import Refusal
from morph_tasks.repo.git import Repo, open_repo
from morph_tasks.tasks.actions import failed, guarded, refused


def here() -> Repo:
    """Return the repository that doit runs in."""
    return open_repo(Path.cwd())


@guarded
def show_features(root: str, variables: dict[str, str]) -> Any:
    """List the features of a tree; refuses variables that no task knows."""
    from morph_tasks.features.listing import listing
    from morph_tasks.verify.request import from_variables

    from_variables(variables)
    print(listing(archived=False, as_json=False, start=Path(root)))  # noqa: T201
    return True


def refuse_family(family: str, features: tuple[str, ...]) -> Any:
    """Refuse the bare name of a family: it would run every feature."""
    example = features[0] if features else "<feature>"
    names = f" (features: {', '.join(features)})" if features else ""
    what = f"`doit {family}` alone would act on every feature{names}"
    return refused(Refusal("feature-not-named", what, fix=f"doit {family}:{example}", exit_code=2))


def refuse(code: str, what: str, fix: str) -> Any:
    """Be the action of a task that could not be made."""
    return refused(Refusal(code, what, fix=fix))


@guarded
def show_explanation(root: str, feature: str, request: dict[str, Any], run_id: str) -> Any:
    """Print which nodes would run, and why."""
    from morph_tasks.cli.verify import explanation_lines
    from morph_tasks.verify.explain import explain
    from morph_tasks.verify.run import current_run

    print("\n".join(explanation_lines(explain(current_run(root, feature, request, run_id)))))  # noqa: T201
    return True


@guarded
def verify_slice(root: str, feature: str, slice_id: str, variables: dict[str, str]) -> Any:
    """Measure and judge what one slice of a feature touches."""
    from dataclasses import replace

    from morph_tasks.verify.request import from_variables
    from morph_tasks.verify.service import verify

    request = replace(from_variables(variables), slice=slice_id)
    result = verify(open_repo(Path(root)), feature, request)
    print("\n".join(result.lines))  # noqa: T201
    return True if result.exit_code == 0 else failed(f"slice {slice_id} of {feature} is red")


@guarded
def application(feature: str, verb: str) -> Any:
    """Bring the application of a feature up, look at it, or take it down, as the command does."""
    from morph_tasks.cli.e2e import e2e

    code = e2e.main(args=[verb, feature], prog_name="e2e", standalone_mode=False)
    return True if code == 0 else failed(f"e2e {verb} of {feature} ended with exit code {code}")


def agents_file(root: Path) -> Path:
    """Return the agents.json that a plan is checked against."""
    from morph_tasks.framework_files import framework_path

    own = root / ".morph" / "framework" / "agents.json"
    return own if own.is_file() else framework_path("agents.json")


@guarded
def check_plan(root: str, feature: str) -> Any:
    """Check the plan of a feature and print what is wrong with it."""
    from morph_tasks.cli.plan import around_lines, report_lines
    from morph_tasks.fleet.outlook import plan_check
    from morph_tasks.repo.trees import require_owner_tree

    repo = open_repo(Path(root)).lightly()
    require_owner_tree(repo, feature, command=f"plan-check {feature}")
    outlook = plan_check(repo, feature)
    report = outlook.report
    print("\n".join([*report_lines(report), *around_lines(outlook)]))  # noqa: T201
    return True if not report.errors else failed(f"the plan of {feature} has {len(report.errors)} errors")


@guarded
def check_gate(root: str, feature: str, gate: str) -> Any:
    """Decide whether a gate pauses, and record the decision."""
    from morph_tasks.gates.check import gate_check

    decision = gate_check(open_repo(Path(root)), feature, gate)
    said = f"gate {gate} of {feature} {'pauses' if decision.pause else 'passes'}"
    told = [*(f"  - {reason}" for reason in decision.reasons), *(f"warning: {line}" for line in decision.warnings)]
    print("\n".join([said, *told]))  # noqa: T201
    return failed(f"gate {gate} of {feature} pauses") if decision.pause else True
