"""`morph-spec trace`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from morph_tasks.cli.common import EPILOG_CODES, feature_argument, json_option, say
from morph_tasks.repo.git import Repo, open_repo

if TYPE_CHECKING:
    from morph_tasks.verify.evals.evidence import EvidenceFile

_WHAT = """\
Show which tests carry which scenario of a plan, and what would run them; run no test.

A test carries a scenario by `[C3]` or `<FEATURE>:C3` in its name, or by a mark. Tests are found in the source of the
tree, and each test node whose runner can list its tests is asked for them with its own command: pytest, vitest, jest,
playwright, go, cargo. That imports the project's test code, go and cargo build it; --no-collect looks at the source
alone. What could not be asked is told as not verified.
"""


@click.command(
    "trace",
    help=_WHAT,
    epilog=f"{EPILOG_CODES} 0 also with gaps, unless --check. Example: morph-spec trace cart --html trace.html",
    short_help="Show which tests carry which scenario.",
)
@feature_argument
@click.option("--check", is_flag=True, help="Exit 1 when a scenario is owed and no test could prove it.")
@click.option("--no-collect", is_flag=True, help="Ask no runner: import and build nothing of the project.")
@click.option(
    "--timeout",
    type=click.IntRange(min=1, max=3_600_000),
    default=120_000,
    show_default=True,
    metavar="MS",
    help="Ceiling for each node that is asked, in milliseconds.",
)
@click.option(
    "--html",
    "target",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the matrix as one page as well; replaces nothing but a page of its own.",
)
@click.option("--force", is_flag=True, help="With --html: replace the file whatever it is.")
@json_option
def trace(
    feature: str, check: bool, no_collect: bool, timeout: int, target: Path | None, force: bool, as_json: bool
) -> int:
    from morph_tasks.verify.scenarios.page import check_target, write_page
    from morph_tasks.verify.scenarios.trace import trace as look
    from morph_tasks.verify.scenarios.wording import lines

    if force and target is None:
        raise click.UsageError("--force belongs to --html")
    repo = open_repo()
    if target is not None:
        check_target(target, force=force)
    found = look(repo, feature, collecting=not no_collect, timeout_s=timeout / 1000)
    told = lines(found)
    payload = found.as_json()
    evidence = evals_evidence(repo, feature)
    if evidence is not None:
        payload["evidence"] = [one.as_json() for one in evidence]
        told += [f"evidence {one.path}: {problem}" for one in evidence for problem in one.all_problems]
    if target is not None:
        write_page(target, found, force=force)
        told += ["", f"wrote {target}"]
        payload["html"] = str(target)
    say(payload, "\n".join(told), as_json)
    return 1 if check and not found.settled else 0


def evals_evidence(repo: Repo, feature: str) -> tuple[EvidenceFile, ...] | None:
    """Return the files in which slices record their evals; None when the plan owes none."""
    from morph_tasks.features.store import feature_dir
    from morph_tasks.model.load import load_config
    from morph_tasks.verify.evals.evidence import evidence_files
    from morph_tasks.verify.scenarios.owed import owed

    plan = owed(repo.root, feature)
    if not any(one.proof == "eval" for one in plan.scenarios):
        return None
    declared = load_config(repo).project.get("tests") or ()
    nodes = [item["id"] for item in declared if item.get("runner") == "evals"]
    return evidence_files(feature_dir(repo.root, feature), plan, nodes)
