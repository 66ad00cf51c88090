"""Baselines: the number of tests that ran, written into the configuration by a measurement and by nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from morph_tasks.errors import Refusal
from morph_tasks.model.jsonedit import set_number
from morph_tasks.model.load import CONFIG_PATH
from morph_tasks.repo.files import write_atomic
from morph_tasks.verify.judge import Outcome
from morph_tasks.verify.request import Request
from morph_tasks.verify.run import Run


def check_request(run: Run, asked: Request | None = None) -> None:
    """Refuse what cannot lead to a baseline, before anything is measured (exit 2).

    Raises Refusal `owner-tree-elsewhere`, `unregistered-worktree` (1) outside of the tree that owns the feature.
    """
    request = asked or run.request
    if not request.record_baseline:
        return
    from morph_tasks.repo.trees import require_owner_tree

    excluded = {"--filter": request.filter, "--skip-tests": request.skip_tests, "--skip-build": request.skip_build}
    excluded |= {"--no-persist": request.no_persist, "a slice": bool(request.slice)}
    for option, given in excluded.items():
        if given:
            what = f"--record-baseline needs a whole run: it excludes {option}"
            raise Refusal("options-exclude", what, fix=f"leave {option} out", exit_code=2)
    require_owner_tree(run.repo, run.feature, command=f"verify {run.feature} --record-baseline")
    if not (run.repo.root / CONFIG_PATH).is_file():
        what = f"there is no {CONFIG_PATH} to write the baseline to"
        raise Refusal("no-config", what, fix="declare project.tests there first", exit_code=2)
    if not run.config.project.get("tests"):
        what = f"{CONFIG_PATH} declares no project.tests: an inferred node has nowhere to keep a baseline"
        raise Refusal("no-tests-declared", what, fix="declare project.tests there first", exit_code=2)


def obstacle(outcomes: Sequence[Outcome]) -> str | None:
    """Return why a finished run gives no baseline, naming the node; None when every test node has a count."""
    for outcome in outcomes:
        if outcome.node.family != "tests":
            continue
        if outcome.node.selection:
            return f"[{outcome.node.ref}] was measured for a slice: a part is no baseline"
        if outcome.status == "skip":
            return f"[{outcome.node.ref}] was not measured: {outcome.message}"
        if outcome.status != "pass":
            return f"[{outcome.node.ref}] is {outcome.status}: a baseline would freeze it"
        if outcome.count is None:
            return f"[{outcome.node.ref}] has no readable count: unknown is not a number"
    return None


def record(run: Run, outcomes: Sequence[Outcome]) -> dict[str, int]:
    """Write every count into the configuration and return them by node id; all else in the file stays as it is."""
    path = run.repo.root / CONFIG_PATH
    raw = path.read_bytes()
    text = raw.decode("utf-8-sig")
    counts = {o.node.id: o.count for o in outcomes if o.node.family == "tests" and o.count is not None}
    for place, item in enumerate(run.config.project["tests"]):
        if item["id"] in counts:
            text = set_number(text, ["project", "tests", place, "expectedCount"], counts[item["id"]])
    new = text.encode("utf-8")
    write_atomic(path, b"\xef\xbb\xbf" + new if raw.startswith(b"\xef\xbb\xbf") else new)
    return counts
