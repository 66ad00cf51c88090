"""env: the ports and names of a feature's application, for a shell."""

from __future__ import annotations

import click

from morph_tasks.cli.common import EPILOG_CODES, json_option, say, warn
from morph_tasks.errors import Refusal

_EXAMPLE = """
\b
Example:
  eval "$(morph-spec env)"
  morph-spec env cart --fish | source
  morph-spec env --powershell | Invoke-Expression
"""


@click.command(
    "env",
    help="Print the environment of FEATURE for a shell to load: its ports, its compose project, its credentials.\n\n"
    "Without FEATURE the branch of this work tree tells: morph/<feature> or morph-task/<name>. The compose run, the "
    "browser specs and the tests that need the application get the same values. Warnings go to stderr.",
    epilog=f"{EPILOG_CODES}\n{_EXAMPLE}",
)
@click.argument("feature", required=False)
@click.option("--powershell", is_flag=True, help="Print for PowerShell.")
@click.option("--fish", is_flag=True, help="Print for fish.")
@json_option
def env(feature: str | None, powershell: bool, fish: bool, as_json: bool) -> int:
    """Print the environment of a feature."""
    from morph_tasks.model.load import load_config
    from morph_tasks.repo.git import open_repo
    from morph_tasks.stack.env import stack_env
    from morph_tasks.stack.shells import FISH, POSIX, POWERSHELL, lines
    from morph_tasks.stack.whose import feature_here, tree_for

    if powershell + fish + as_json > 1:
        what = "--json, --powershell and --fish exclude each other"
        raise Refusal("usage", what, fix="give one of them", exit_code=2)
    repo = open_repo()
    key = feature_here(repo, feature)
    repo = tree_for(repo, key)
    found = stack_env(repo, load_config(repo), key)
    for warning in found.warnings:
        warn(f"warning: {warning}")
    shell = POWERSHELL if powershell else FISH if fish else POSIX
    payload = {"ok": True, "feature": found.key, "env": found.values, "warnings": list(found.warnings)}
    say(payload, lines(found.values, shell), as_json)
    return 0
