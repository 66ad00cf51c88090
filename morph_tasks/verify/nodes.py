"""What there is to measure: the nodes of a tree, declared or inferred."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.repo.files import confined
from morph_tasks.verify.probe import ask

if TYPE_CHECKING:
    from morph_tasks.model.load import Config
    from morph_tasks.verify.evals.declared import Evals
    from morph_tasks.verify.linux.images import Image
    from morph_tasks.verify.narrowing.model import Selection

FAMILIES = ("build", "tests", "validators", "e2e")
BUILD_TIMEOUT_MS = 120_000
TEST_TIMEOUT_MS = 120_000  # for each run chained in the command


@dataclass(frozen=True)
class Node:
    """One thing to measure. `skip` or `invalid` say why it is not run; `inputs` None is the whole tree.

    `scope` names the slice (`slice:F2`) that a narrowed node belongs to: what it proves is no proof of the whole.
    """

    family: str
    id: str
    command: str = ""
    cwd: str = "."
    runner: str = "none"
    inputs: tuple[str, ...] | None = None
    env: tuple[str, ...] = ()
    set_env: tuple[tuple[str, str], ...] = ()
    reuse: bool = True
    timeout_ms: int = TEST_TIMEOUT_MS
    expected_count: int | None = None
    junit: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    pool: str = "heavy"
    retries: int = 0
    flaky_reason: str | None = None
    prebuild: tuple[str, ...] = ()
    validator: str | None = None
    e2e: bool = False
    evals: Evals | None = None
    linux_image: str | None = field(default=None, compare=False)
    image: Image | None = None
    scope: str = ""
    selection: Selection | None = field(default=None, compare=False)
    skip: str | None = None
    invalid: str | None = None
    reason: str | None = None
    warnings: tuple[str, ...] = ()
    declared: bool = field(default=True, compare=False)

    @property
    def ref(self) -> str:
        """Return the name that logs and stamps use, such as `tests/unit`."""
        return self.id if self.family == "e2e" else f"{self.family}/{self.id}"

    @property
    def runs(self) -> bool:
        """Tell whether there is anything to run."""
        return self.skip is None and self.invalid is None


def resolve_nodes(root: Path, config: Config) -> tuple[Node, ...]:
    """Return every node of the tree in the order of the families.

    A semantic mistake in a declared node makes that node `invalid`; the others are measured all the same.
    """
    from morph_tasks.verify.builds.detect import build_nodes
    from morph_tasks.verify.builds.scan import one_look
    from morph_tasks.verify.e2e import e2e_node
    from morph_tasks.verify.validators.table import validator_nodes

    project = config.project
    with one_look():
        declared = project.get("build")
        builds = build_nodes(root, config) if declared is None else _builds(root, declared, project)
        tests = _tests(root, config)
    nodes = [*_without_circles(_checked(root, builds)), *_checked(root, tests)]
    nodes += [*validator_nodes(root, config), e2e_node(root, config)]
    return tuple(_wired(node, nodes) for node in nodes)


def _builds(root: Path, declared: list[dict[str, Any]], project: dict[str, Any]) -> list[Node]:
    if not declared:
        return [Node("build", "none", skip="the project declares that there is nothing to build")]
    return [_declared(root, "build", item, project) for item in declared]


def _tests(root: Path, config: Config) -> list[Node]:
    from morph_tasks.verify.evals.declared import without_clashes
    from morph_tasks.verify.fallback import test_nodes

    declared = config.project.get("tests")
    if declared is None:
        return test_nodes(root, config)
    if not declared:
        return [Node("tests", "none", skip="the project declares that it has no tests")]
    nodes = [_declared(root, "tests", item, config.project) for item in declared]
    return without_clashes(nodes) if any(node.evals for node in nodes) else nodes


def links(command: str) -> int:
    """Return how many runs a command chains with `&&`, at least 1."""
    return command.count("&&") + 1


def _declared(root: Path, family: str, item: dict[str, Any], project: dict[str, Any]) -> Node:
    command = item["command"]
    node = Node(
        family,
        item["id"],
        command=command,
        cwd=item.get("cwd", "."),
        inputs=tuple(item["inputs"]) if item.get("inputs") else None,
        env=tuple(sorted(set(item.get("env", ())))),
        reuse=item.get("reuse", True),
        timeout_ms=item.get("timeoutMs") or BUILD_TIMEOUT_MS,
        outputs=tuple(item.get("outputs", ())),
        needs=tuple(f"build/{name}" for name in item["needs"]) if item.get("needs") is not None else ("*",),
        pool=item.get("pool") or "heavy",
    )
    return node if family == "build" else _declared_test(root, node, item, project)


def _declared_test(root: Path, node: Node, item: dict[str, Any], project: dict[str, Any]) -> Node:
    from morph_tasks.verify.prebuild import plan

    runner, warnings = _runner(root, item)
    if item.get("groups") is not None:
        warnings.append("`groups` has no meaning any more and is ignored")
    junit = item.get("junit") or ()
    ceiling = item.get("timeoutMs") or project.get("testTimeoutMs") or TEST_TIMEOUT_MS * links(node.command)
    node = replace(
        node,
        runner=runner,
        timeout_ms=ceiling,
        expected_count=item.get("expectedCount"),
        junit=(junit,) if isinstance(junit, str) else tuple(junit),
        retries=item.get("retries", 0),
        flaky_reason=(item.get("flakyReason") or "").strip() or None if item.get("flaky") else None,
        warnings=tuple(warnings),
        linux_image=item.get("linuxImage"),
        # A stack, a model or a provider decides the result too: nothing in the tree says what they answer.
        reuse=item.get("reuse", not (item.get("e2e") or runner == "evals")),
    )
    if item.get("evals") or runner == "evals":
        from morph_tasks.verify.evals.declared import declared_node

        return declared_node(root, node, item)
    if item.get("e2e"):
        node = replace(node, e2e=True)
    if item.get("build") and runner != "dotnet":
        return replace(node, invalid=f"`build` is for runner dotnet, this node's runner is {runner}")
    prebuild = plan(node.command, item.get("build") or (), runner)
    if prebuild.refusal:
        code, why = prebuild.refusal
        return replace(node, invalid=why, reason=code)
    node = replace(node, prebuild=prebuild.commands)
    if item.get("flaky") and not node.flaky_reason:
        return replace(node, invalid="`flaky: allow` needs a `flakyReason`")
    return node


def _runner(root: Path, item: dict[str, Any]) -> tuple[str, list[str]]:
    from morph_tasks.verify.runners.infer import infer_runner
    from morph_tasks.verify.runners.table import RUNNERS

    named = item.get("runner")
    if named is None:
        return infer_runner(item["command"], root / item.get("cwd", ".")) or "none", []
    if named in RUNNERS or named == "evals":
        return named, []
    return "none", [f"runner {named} has no reader yet: its tests are not counted"]


def _checked(root: Path, nodes: list[Node]) -> list[Node]:
    """Mark what cannot be measured: an id used twice, a folder that is missing or outside, a glob that leads out."""
    ids = [node.id for node in nodes]
    checked = []
    for node in nodes:
        problem = node.invalid
        if node.declared and ids.count(node.id) > 1:
            problem = f"id {node.id!r} is declared {ids.count(node.id)} times"
        elif node.runs:
            problem = _cwd_problem(root, node.cwd) or _glob_problem(node) or _report_problem(root, node)
        checked.append(replace(node, invalid=problem, reason=node.reason or "invalid-test-node") if problem else node)
    return checked


def _cwd_problem(root: Path, cwd: str) -> str | None:
    try:
        folder = confined(root, cwd)
    except (Refusal, ValueError):
        return f"cwd {cwd!r} leads outside the tree"
    return None if ask("folder", str(folder)) else f"cwd {cwd!r} is not a folder of the tree"


def _glob_problem(node: Node) -> str | None:
    """Return which glob of a node names what is not in the tree, or cannot be read as a glob."""
    from morph_tasks.repo.globs import compile_globs

    for option, globs in (("inputs", node.inputs or ()), ("junit", node.junit), ("outputs", node.outputs)):
        for glob in globs:
            path = glob.removeprefix("!")
            if path.startswith("/") or "\0" in path or ".." in path.split("/"):
                return f"`{option}` names {glob!r}, which is not a path in the tree"
            try:
                compile_globs([glob])
            except Refusal as refusal:
                return f"`{option}` names {glob!r}: {refusal.what}"
    return None


def _report_problem(root: Path, node: Node) -> str | None:
    """Return which source file a node takes for a report: reports are no input, so its edits would go unnoticed."""
    from morph_tasks.verify.listing import tracked

    found = tracked(root, node.junit) if node.declared and node.junit else []
    return f"`junit` names {found[0]}, which git tracks: it is no report of a run; narrow the glob" if found else None


def _without_circles(builds: list[Node]) -> list[Node]:
    """Mark the builds that wait for each other in a circle."""
    from graphlib import CycleError, TopologicalSorter

    found = {node.ref: node for node in builds}
    while True:
        graph = {node.ref: [ref for ref in node.needs if ref in found] for node in found.values() if node.runs}
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            for ref in error.args[1]:
                said = f"`needs` go round in a circle: {' → '.join(error.args[1])}"
                found[ref] = replace(found[ref], needs=(), invalid=said, reason="invalid-test-node")
            continue
        return [found[node.ref] if node.runs else node for node in builds]


def _wired(node: Node, nodes: list[Node]) -> Node:
    """Replace `*` with the builds there are, and refuse names that are not builds."""
    builds = [other.ref for other in nodes if other.family == "build" and other.runs]
    if node.needs == ("*",):
        node = replace(node, needs=tuple(builds) if node.family == "tests" else ())
    missing = [name for name in node.needs if name not in builds or name == node.ref]
    if missing and node.runs:
        return replace(
            node,
            needs=(),
            invalid=f"`needs` names {missing[0]}, which is not another build",
            reason="invalid-test-node",
        )
    # Against what the e2e node has brought up, and after its specs.
    return replace(node, needs=(*node.needs, "e2e")) if node.e2e and node.runs else node
