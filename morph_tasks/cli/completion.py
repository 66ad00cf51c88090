"""Shell completion: the script of a shell, and the names of features."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem, get_completion_class

from morph_tasks.cli.common import EPILOG_CODES, json_option, say
from morph_tasks.errors import Refusal

VARIABLE = "_MORPH_SPEC_COMPLETE"
SHELLS = ("bash", "zsh", "fish")


@click.command(
    "completion",
    help="Print the script that makes a shell complete commands, options and names of features.",
    epilog=f'{EPILOG_CODES} Example: eval "$(morph-spec completion bash)"',
)
@click.argument("shell", type=click.Choice(SHELLS))
@json_option
def completion(shell: str, as_json: bool) -> int:
    from morph_tasks.cli.main import cli

    found = get_completion_class(shell)
    if found is None:
        raise Refusal(
            "unknown-shell", f"there is no completion for {shell}", fix=f"one of {', '.join(SHELLS)}", exit_code=2
        )
    script = found(cli, {}, "morph-spec", VARIABLE).source()
    say({"ok": True, "shell": shell, "script": script}, script, as_json)
    return 0


def features(incomplete: str) -> list[CompletionItem]:
    """Return the features of this tree whose names begin as given."""
    from morph_tasks.features.store import list_features
    from morph_tasks.repo.git import open_repo

    try:
        views = list_features(open_repo().root)
    except Refusal:
        return []
    return [CompletionItem(view.slug, help=view.description) for view in views if view.slug.startswith(incomplete)]
