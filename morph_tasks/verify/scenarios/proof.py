"""From the tests that ran to the scenarios that are proved: the table of a verify."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from morph_tasks.verify.judge import Outcome
from morph_tasks.verify.scenarios.owed import Owed, OwedScenario

if TYPE_CHECKING:
    from morph_tasks.verify.nodes import Node
    from morph_tasks.verify.run import Run

# A red node whose single results still speak: each test ran to its end on the code under proof.
_SINGLE_RESULTS = frozenset({
    None, "tests-failed", "count-drop", "coverage-threshold", "type-errors", "suite-failed", "collection-error",
    "module-without-tests", "flaky-in-runner", "passed-on-retry",
})  # fmt: skip
_KINDS = {"test": "a test", "e2e": "a test of the running application", "eval": "an eval"}

Belongs = Callable[[str, str | None], "str | None"]
Locate = Callable[["Carrier", str], "Carrier"]


@dataclass(frozen=True)
class Carrier:
    """A test that carries a scenario, the node that ran it, and how it ended: passed, failed, skipped or flaky."""

    name: str
    status: str
    file: str | None
    line: int | None
    node: str

    def as_json(self) -> dict[str, Any]:
        return {"name": self.name, "status": self.status, "file": self.file, "line": self.line, "node": self.node}


@dataclass(frozen=True)
class ScenarioState:
    """What one scenario came to; `reason` says why it is not proven."""

    id: str
    title: str
    proof: str
    state: str
    reason: str | None
    tests: tuple[Carrier, ...]

    @property
    def nodes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(test.node for test in self.tests))

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "title": self.title,
            "proof": self.proof,
            "state": self.state,
            "reason": self.reason,
            "tests": [test.as_json() for test in self.tests],
            "nodes": list(self.nodes),
        }


@dataclass(frozen=True)
class Matrix:
    """The scenarios of a plan with their proof. `known` False: the plan cannot be read, `warnings` say why."""

    scenarios: tuple[ScenarioState, ...]
    warnings: tuple[str, ...] = ()
    known: bool = True


def prove(run: Run, outcomes: Sequence[Outcome]) -> Matrix:
    """Return what a finished run says of the scenarios of its feature."""
    from morph_tasks.verify.scenarios.belonging import belonging
    from morph_tasks.verify.scenarios.locating import locator
    from morph_tasks.verify.scenarios.owed import owed

    plan = owed(run.repo.root, run.feature)
    found = matrix(plan, outcomes, run.feature, belonging(run.repo, run.feature, plan), locator(run.repo))
    covered = next((one.covers for one in plan.slices if one.id == run.request.slice), None)
    if covered is None:
        return found
    # The rest of the plan is no business of a slice.
    return replace(found, scenarios=tuple(one for one in found.scenarios if one.id in covered))


def table_lines(found: Matrix) -> list[str]:
    """Return the scenarios as people read them, a line each."""
    if not found.scenarios:
        return []
    width = max(len(one.id) for one in found.scenarios)
    return [
        f"scenario {one.id:<{width}} {one.state:<8} {one.proof:<6} {_said(one)}".rstrip() for one in found.scenarios
    ]


def _said(one: ScenarioState) -> str:
    if one.state in ("proven", "failed"):
        wanted = "failed" if one.state == "failed" else "passed"
        told = [test for test in one.tests if test.status == wanted]
        more = f" and {len(told) - 1} more" if len(told) > 1 else ""
        return f"{one.title} — {told[0].name} in {told[0].node}{more}" if told else one.title
    return f"{one.title} — {one.reason}"


def matrix(
    plan: Owed, outcomes: Iterable[Outcome], feature: str, belongs: Belongs, locate: Locate = lambda carrier, _: carrier
) -> Matrix:
    """Return what this proof says of each scenario.

    `belongs(id, file)` says for a bare id why a test does not speak for this feature; None when it does.
    `locate(carrier, id)` finds in the sources what a runner does not tell: the file and the line of a test.
    """
    if plan.problem is not None:
        return Matrix(
            (), (f"scenarios are not verified: {plan.problem}; run `morph-spec plan-check {feature}`",), False
        )
    outcomes = list(outcomes)
    known = {one.id for one in plan.scenarios}
    found: dict[str, list[tuple[Carrier, Outcome]]] = {name: [] for name in known}
    warnings: list[str] = []
    for name, carrier, outcome in _carried(outcomes, feature):
        bare = name.rpartition(":")[2]
        why = belongs(name, carrier.file) if ":" not in name else None
        if bare not in known or (why is not None and carrier.file is None):
            carrier = locate(carrier, name)
            why = belongs(name, carrier.file) if ":" not in name else None
        if why is not None:
            if bare in known:
                warnings.append(f"{_place(carrier)} carries {bare}: {why}; write `{feature}:{bare}` if it is meant")
        elif bare in known:
            found[bare].append((carrier, outcome))
        elif plan.planned:
            warnings.append(f"{_place(carrier)} carries {name}, which the plan of {feature} does not have")
    states = tuple(_state(one, found[one.id], outcomes) for one in plan.scenarios)
    return Matrix(states, tuple(dict.fromkeys(warnings)))


def _carried(outcomes: Iterable[Outcome], feature: str) -> Iterator[tuple[str, Carrier, Outcome]]:
    """Yield each id of each test that was named, without the ids of other features."""
    for outcome in outcomes:
        for test in (outcome.record or {}).get("tests") or ():
            carrier = Carrier(test["name"], test["status"], test.get("file"), test.get("line"), outcome.node.ref)
            for name in test["scenarios"]:
                owner = name.rpartition(":")[0]
                if owner in ("", feature):
                    yield name, carrier, outcome


def _state(one: OwedScenario, found: list[tuple[Carrier, Outcome]], outcomes: list[Outcome]) -> ScenarioState:
    carriers = tuple(carrier for carrier, _ in found)
    if one.proof == "manual":
        return ScenarioState(one.id, one.title, one.proof, "manual", "a person has to look", carriers)
    fit = [(carrier, outcome) for carrier, outcome in found if _proves(one.proof, outcome)]
    if any(carrier.status == "failed" for carrier, _ in fit):
        return ScenarioState(one.id, one.title, one.proof, "failed", "a test that carries it failed", carriers)
    unsure = [(carrier, _unsure(carrier, outcome)) for carrier, outcome in fit]
    flaky = any(carrier.status == "flaky" and why for carrier, why in unsure)
    if not flaky and any(why is None for _, why in unsure):
        return ScenarioState(one.id, one.title, one.proof, "proven", None, carriers)
    reason = next((why for _, why in unsure if why), None) or _missing(one, found, outcomes)
    return ScenarioState(one.id, one.title, one.proof, "unproven", reason, carriers)


def _proves(proof: str, outcome: Outcome) -> bool:
    """Tell whether a node's tests are of the kind that the plan asks for; a test of the whole is a test."""
    kind = proof_kind(outcome.node)
    return proof == kind or (proof == "test" and kind == "e2e")


def proof_kind(node: Node) -> str:
    """Return which kind of proof a node gives: test, e2e or eval."""
    if node.runner == "evals":
        return "eval"
    return "e2e" if node.e2e or node.family == "e2e" or node.runner == "playwright" else "test"


def _unsure(carrier: Carrier, outcome: Outcome) -> str | None:
    """Return why a test that did not fail proves nothing; None when it does."""
    record = outcome.record or {}
    if carrier.status == "skipped":
        return f"{carrier.name} was skipped"
    if outcome.status == "busy" or outcome.reason not in _SINGLE_RESULTS:
        return f"{outcome.node.ref} ended without a result that counts ({outcome.reason or outcome.status})"
    if record.get("count") is None:
        return f"the tests of {outcome.node.ref} could not be counted"
    if carrier.status == "flaky" and outcome.node.flaky_reason is None:
        return f"{carrier.name} passed only after a failure"
    if outcome.status == "flaky" and outcome.node.flaky_reason is None and record.get("reason") == "passed-on-retry":
        return f"{outcome.node.ref} passed only on a retry"
    return None


def _missing(one: OwedScenario, found: list[tuple[Carrier, Outcome]], outcomes: list[Outcome]) -> str:
    """Return why nothing speaks for a scenario."""
    if found:
        return f"only {found[0][1].node.ref} carries it, and the plan asks for {_KINDS[one.proof]}"
    silent = [
        outcome.node.ref
        for outcome in outcomes
        if outcome.node.family == "tests" and outcome.record and outcome.record.get("named") is False
    ]
    if silent:
        verb = "does not name its tests" if len(silent) == 1 else "do not name their tests"
        return f"no test that ran carries it, and {', '.join(silent)} {verb}"
    return "no test that ran carries it"


def _place(carrier: Carrier) -> str:
    place = f"{carrier.file}:{carrier.line}" if carrier.file and carrier.line else carrier.file
    return f"{place} ({carrier.name})" if place else f"{carrier.name} in {carrier.node}"
