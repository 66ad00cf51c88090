"""`verify` and `explain`."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from morph_tasks.cli.common import EPILOG_CODES, feature_argument, json_option, say, slice_argument, warn
from morph_tasks.repo.git import open_repo
from morph_tasks.verify.request import MOST_MS, WAIT_S, Request, words

if TYPE_CHECKING:
    from morph_tasks.verify.explain import Explanation


def _options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that choose what a verify does."""
    for option in reversed(
        (
            click.option(
                "--timeout",
                type=click.IntRange(min=1, max=MOST_MS),
                metavar="MS",
                help="Ceiling of build and test nodes, in milliseconds.",
            ),
            click.option(
                "--filter",
                "chosen",
                metavar="IDS",
                help="Only the test nodes whose id contains one of these (comma list).",
            ),
            click.option("--skip-tests", is_flag=True, help="Leave the test nodes out."),
            click.option("--skip-build", is_flag=True, help="Leave the build nodes out."),
            click.option(
                "--skip-e2e", is_flag=True, help="Leave the running application out; the review gate sees it."
            ),
            click.option("--fresh", is_flag=True, help="Measure everything, whatever is proved."),
            click.option("--full", is_flag=True, help="With a slice: narrow nothing, every node runs its own command."),
        )
    ):
        command = option(command)
    return command


def _request(values: dict[str, Any]) -> Request:
    return Request(
        timeout_ms=values["timeout"],
        filter=words(values["chosen"]) if values["chosen"] is not None else (),
        skip_tests=values["skip_tests"],
        skip_build=values["skip_build"],
        skip_e2e=values["skip_e2e"],
        fresh=values["fresh"],
        no_persist=values.get("no_persist", False),
        wait_s=values.get("wait", WAIT_S),
        jobs=values.get("jobs", 1),
        record_baseline=values.get("record_baseline", False),
        slice=values.get("slice_id"),
        full=values.get("full", False),
        refresh_cache=values.get("refresh_cache", False),
        fresh_e2e=values.get("fresh_e2e", False),
        linux=values.get("linux", False),
        linux_image=values.get("linux_image"),
    )


@click.command(
    "verify",
    help="Measure and judge a feature: build, tests, validators, the running application. What is proved for exactly "
    "this code is reused. A whole run is stamped into feature.json; a partial one (a slice, --filter, --skip-tests, "
    "--skip-build, --no-persist) is not. With a SLICE of the plan, such as F2, only the nodes that own its files run, "
    "narrowed to its tests where that is safe.",
    epilog=f"{EPILOG_CODES} Examples: morph-spec verify cart --json; morph-spec verify cart F2",
)
@feature_argument
@slice_argument
@_options
@click.option(
    "--record-baseline",
    is_flag=True,
    help="Measure every suite and write the counts as expectedCount into the config.",
)
@click.option(
    "--refresh-cache", is_flag=True, help="Let the evals nodes ask their providers again and record the answers."
)
@click.option(
    "--fresh-e2e",
    is_flag=True,
    help="Bring the application up from nothing: the old stack goes WITH ITS VOLUMES, and is built and seeded again.",
)
@click.option("--linux", is_flag=True, help="Run the suites in Linux containers that hold a copy of the tree.")
@click.option("--linux-image", metavar="IMAGE", help="The image of every suite under --linux.")
@click.option("--no-persist", is_flag=True, help="Write nothing into feature.json: a probe, never a proof.")
@click.option(
    "--wait",
    type=click.FloatRange(min=0),
    default=WAIT_S,
    show_default=True,
    metavar="S",
    help="How long to wait for another verify of this tree.",
)
@click.option(
    "-n", "--jobs", type=click.IntRange(min=1, max=32), default=1, show_default=True, help="How many nodes run at once."
)
@json_option
def verify(feature: str, as_json: bool, **values: Any) -> int:
    from morph_tasks.verify.progress import Silent, for_stream
    from morph_tasks.verify.service import verify as run

    # Nearly all that is made here lives to the end: looking for garbage among it takes time and finds none.
    gc.set_threshold(100_000)
    request = _request(values)
    progress = Silent() if as_json else for_stream(sys.stdout)
    try:
        result = run(open_repo(), feature, request, progress)
    finally:
        progress.close()
    refused = (result.payload.get("baseline") or {}).get("refused")
    if refused:
        warn(f"no baseline was recorded: {refused}")
    lines = [line for line in result.lines if line.split(" ", 1)[0] not in progress.shown]
    say(result.payload, "\n".join(lines), as_json)
    return result.exit_code


@click.command(
    "explain",
    help="Say for every node whether it would run, and exactly why: which file, option, tool, variable or package "
    "changed. Runs nothing.",
    epilog=f"{EPILOG_CODES} Always 0 when the question could be answered. Example: morph-spec explain cart",
)
@feature_argument
@slice_argument
@_options
@json_option
def explain(feature: str, as_json: bool, **values: Any) -> int:
    from morph_tasks.features.store import read_feature
    from morph_tasks.verify.explain import explain as ask
    from morph_tasks.verify.run import Run, check_filter, new_run_id

    repo = open_repo()
    read_feature(repo.root, feature)
    run = Run(repo, feature, _request(values), new_run_id(), quiet=True)
    check_filter(run)
    found = ask(run)
    say(
        {"ok": True, "feature": feature, "nodes": [item.as_json() for item in found]},
        "\n".join(explanation_lines(found)),
        as_json,
    )
    return 0


@click.command(
    "why-failed",
    help="Show the failing tests of the last proof: message, file and line, and the lines of the log that matter. "
    "Runs nothing.",
    epilog=f"{EPILOG_CODES} 0 also when something failed. Example: morph-spec why-failed cart",
)
@feature_argument
@slice_argument
@json_option
def why_failed(feature: str, slice_id: str | None, as_json: bool) -> int:
    from morph_tasks.features.store import read_feature
    from morph_tasks.verify.failed import text_lines
    from morph_tasks.verify.failed import why_failed as ask
    from morph_tasks.verify.run import Run, new_run_id

    repo = open_repo()
    read_feature(repo.root, feature)
    found = ask(Run(repo, feature, Request(slice=slice_id), new_run_id(), quiet=True))
    say(
        {"ok": True, "feature": feature, "nodes": [item.as_json() for item in found]},
        "\n".join(text_lines(found)),
        as_json,
    )
    return 0


def explanation_lines(found: Sequence[Explanation]) -> list[str]:
    """Return an explanation as people read it: a line a node, its causes below."""
    lines = []
    for item in found:
        word = "would run" if item.would_run else "stays"
        lines.append(f"{item.node.ref:<26} {word:<9} {item.summary}".rstrip())
        lines += [f"{'':<26}   {cause}" for cause in item.why]
    return lines
