"""e2e up, status, down: the running application of a feature."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from morph_tasks.cli.common import EPILOG_CODES, feature_argument, json_option, say, warn
from morph_tasks.errors import Refusal

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from morph_tasks.model.load import Config
    from morph_tasks.repo.git import Repo
    from morph_tasks.stack.down import DownResult
    from morph_tasks.stack.model import Hooks, StackResult
    from morph_tasks.stack.status import StackStatus


@click.group("e2e", help="Run the application of a feature: its containers and host services.", epilog=EPILOG_CODES)
def e2e() -> None:
    """Hold the subcommands."""


@e2e.command(
    "up",
    help="Bring the application of FEATURE up and wait until every service is ready.\n\n"
    "A running stack is reused when it provably serves this code: its images are the ones that were built from this "
    "very content, or every service with a `build:` has the root of the project mounted. What was reused, and why, is "
    "printed. Ports and the name of the compose project are the feature's own.",
    epilog=f"{EPILOG_CODES}\n\n\b\nExample:\n  morph-spec e2e up cart --timeout 60",
)
@feature_argument
@click.option("--fresh", is_flag=True, help="First remove the old stack WITH ITS VOLUMES; then build and seed again.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="S",
    default=180.0,
    show_default=True,
    help="Seconds within which every service has to be ready; building images is not part of it.",
)
@json_option
def up(feature: str, fresh: bool, timeout: float, as_json: bool) -> int:
    """Bring a stack up."""
    from morph_tasks.machine import signals
    from morph_tasks.model.load import load_config
    from morph_tasks.stack.measure import undeclared
    from morph_tasks.stack.up import bring_up

    repo = _owned(feature, f"e2e up {feature}{' --fresh' if fresh else ''}")
    config = load_config(repo)
    hooks = _hooks(repo, config.data, feature, heavy=True)
    nothing = undeclared(repo.root, config, hosts=hooks.hosts is not None)
    if nothing is not None:
        code = "compose-missing" if nothing.status == "fail" else "not-containerized"
        raise Refusal(code, nothing.message or str(nothing.reason), fix=nothing.fix or "add compose.yaml to the root")
    signals.install()
    result = bring_up(repo, config, feature, fresh=fresh, timeout_s=timeout, hooks=hooks)
    for warning in result.warnings:
        warn(f"warning: {warning}")
    say(_failure(result) if result.status != "pass" else result.as_json(), _up_text(result), as_json)
    if result.status == "pass" and not result.warnings and hooks.hosts is None and hooks.seed is None:
        _note(repo, config, feature, result)
    return {"pass": 0, "busy": 3}.get(result.status, 1)


@e2e.command(
    "status",
    help="Tell whether the application of FEATURE is up, healthy and built from the current code.\n\n"
    "Changes nothing. The exit code is 0 only when all three hold. `baseUrl` of the JSON is the address to test.",
    epilog=f"{EPILOG_CODES}\n\n\b\nExample:\n  morph-spec e2e status cart --json",
)
@feature_argument
@json_option
def status(feature: str, as_json: bool) -> int:
    """Look at a stack."""
    from morph_tasks.features.store import read_feature
    from morph_tasks.model.load import load_config
    from morph_tasks.repo.git import open_repo
    from morph_tasks.stack.status import status as look
    from morph_tasks.stack.whose import tree_for

    repo = tree_for(open_repo(), feature)
    read_feature(repo.root, feature)
    config = load_config(repo)
    found = look(repo, config, feature, hooks=_hooks(repo, config.data, feature))
    for warning in found.warnings:
        warn(f"warning: {warning}")
    say(found.as_json(), _status_text(found), as_json)
    return 0 if found.ok else 1


@e2e.command(
    "down",
    help="Take the application of FEATURE down: host services, containers, networks.\n\n"
    "Goes as far as it can within bounds and says what is left. Only what belongs to the feature's own compose project "
    "is touched.",
    epilog=f"{EPILOG_CODES}\n\n\b\nExample:\n  morph-spec e2e down cart --volumes",
)
@feature_argument
@click.option("--volumes", is_flag=True, help="Remove the named volumes as well: the data in them is gone.")
@json_option
def down(feature: str, volumes: bool, as_json: bool) -> int:
    """Take a stack down."""
    from morph_tasks.repo.git import open_repo
    from morph_tasks.stack.down import take_down
    from morph_tasks.stack.whose import tree_for

    repo = tree_for(open_repo(), feature)
    # No look at the configuration or at the feature: both may be gone or broken, and the containers still there.
    result = take_down(repo, feature, volumes=volumes, hooks=_hooks(repo, {}, feature))
    for warning in result.warnings:
        warn(f"warning: {warning}")
    payload = {**(result.as_json() if result.ok else _left(result, feature)), "cleanup": _cleanup(repo)}
    say(payload, _down_text(result), as_json)
    return 0 if result.ok else 3 if result.busy else 1


def _note(repo: Repo, config: Config, feature: str, result: StackResult) -> None:
    """Keep what the next `status` and `up` answer while nothing changes."""
    from dataclasses import replace

    from morph_tasks.stack.model import NOT_CHANGED
    from morph_tasks.stack.remember import remember
    from morph_tasks.stack.status import status as look

    found = look(repo, config, feature)
    again = replace(result, reused_because=NOT_CHANGED)
    if found.ok and not found.warnings and found.reason == NOT_CHANGED:
        up = {"json": dumped(again.as_json()), "text": _up_text(again)}
        remember(
            repo, config, feature, {"up": up, "status": {"json": dumped(found.as_json()), "text": _status_text(found)}}
        )


def dumped(payload: Any) -> str:
    """Return a document as `say` prints it."""
    import json

    return json.dumps(payload, indent=2, ensure_ascii=False)


def _owned(feature: str, command: str) -> Repo:
    """Return this tree when it owns the feature; raises Refusal that names the place otherwise."""
    from morph_tasks.features.store import read_feature
    from morph_tasks.repo.git import open_repo
    from morph_tasks.repo.trees import require_owner_tree

    repo = open_repo()
    require_owner_tree(repo, feature, command=command)
    read_feature(repo.root, feature)
    return repo


def _hooks(repo: Repo, config: dict[str, Any], feature: str, *, heavy: bool = False) -> Hooks:
    from morph_tasks.stack.wiring import hooks_for

    def slot() -> AbstractContextManager[Any]:
        from morph_tasks.machine.heavy.settings import read_settings
        from morph_tasks.machine.heavy.slots import slot as hold

        settings, warnings = read_settings(config)
        for warning in warnings:
            warn(f"warning: {warning}")
        on_wait = lambda seen: warn(seen.line())  # noqa: E731
        return hold(f"e2e up {feature}", settings=settings, feature=feature, node="e2e", on_wait=on_wait)

    return hooks_for(repo, config, feature, say=lambda line: warn(f"e2e: {line}"), slot=slot if heavy else None)


def _cleanup(repo: Repo) -> dict[str, Any]:
    """Let the build servers of a .NET project end when nobody builds; never fails."""
    from morph_tasks.machine.heavy.cleanup import cleanup
    from morph_tasks.machine.heavy.settings import tree_settings
    from morph_tasks.model.load import load_config

    try:
        stack = str(load_config(repo).project.get("stack") or "")
    except Refusal:
        stack = ""
    dotnet = "dotnet" in [tag.strip().lower() for tag in stack.split("+")]
    return cleanup(tree_settings(repo.root)[0], is_dotnet=dotnet, cwd=repo.root).as_json()


def _failure(result: StackResult) -> dict[str, Any]:
    """Return the document of a failure: the shape of a refusal, and all that is known."""
    return {**result.as_json(), "code": result.reason}


def _left(result: DownResult, feature: str) -> dict[str, Any]:
    code = "busy" if result.busy else "not-removed"
    return {
        **result.as_json(),
        "code": code,
        "message": "; ".join(result.left),
        "fix": f"morph-spec e2e down {feature}",
    }


def _up_text(result: StackResult) -> str:
    if result.status != "pass":
        lines = [f"e2e {result.status} ({result.reason}): {result.message}", *result.output]
        return "\n".join([*lines, *([f"fix: {result.fix}"] if result.fix else [])])
    how = f"reused: {result.reused_because}" if result.reused_because else "brought up"
    lines = [f"{result.project} is ready ({how})"]
    lines += [f"  {row['service']}: {_standing(row)}" for row in result.services]
    lines += [f"  {row.get('name')}: {row.get('health') or 'running'} (host)" for row in result.hosts]
    return "\n".join([*lines, *([f"base URL: {result.base_url}"] if result.base_url else [])])


def _standing(row: dict[str, Any]) -> str:
    """Return where a container stands, in a word or two."""
    if row["state"] == "exited":
        return "completed" if row.get("exitCode") == 0 else f"exited ({row.get('exitCode')})"
    return str(row.get("health") or row["state"])


def _status_text(found: StackStatus) -> str:
    def word(value: bool | None) -> str:
        return "unknown" if value is None else "yes" if value else "no"

    lines = [
        f"up: {word(found.up)}   healthy: {word(found.healthy)}   "
        f"built from the current code: {word(found.built_from_current)}",
        found.reason,
    ]
    for row in found.services:
        ports = ", ".join(f"{port['published']}->{port['target']}" for port in row.get("ports", []))
        lines.append(f"  {row['service']}: {_standing(row)}" + (f"  {ports}" if ports else ""))
    lines += [f"  {row.get('name')}: {'alive' if row.get('alive') else 'not running'} (host)" for row in found.hosts]
    return "\n".join([*lines, *([f"base URL: {found.base_url}"] if found.base_url else [])])


def _down_text(result: DownResult) -> str:
    if result.left:
        return "\n".join(["what is left:", *(f"  {line}" for line in result.left)])
    if not result.removed:
        return "nothing was up"
    kept = f"; kept: {', '.join(result.kept_volumes)} (--volumes removes them)" if result.kept_volumes else ""
    return f"removed {', '.join(result.removed)}{kept}"
