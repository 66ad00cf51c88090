"""The table of commands, and the one place that turns refusals into words and exit codes."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from morph_tasks import stdio
from morph_tasks.cli.common import EPILOG_CODES, say, warn
from morph_tasks.errors import Refusal, unexpected

# name: (where, what it does)
COMMANDS: dict[str, tuple[str, str]] = {
    "create": ("morph_tasks.cli.features:create", "Start a feature: folder, branch, plan skeleton."),
    "list": ("morph_tasks.cli.features:list_features", "Show the features and where they stand."),
    "plan-check": ("morph_tasks.cli.plan:plan_check", "Check a plan and write its checks.json."),
    "verify": ("morph_tasks.cli.verify:verify", "Measure and judge a feature; stamp the proof."),
    "explain": ("morph_tasks.cli.verify:explain", "Say for each node whether it would run, and why."),
    "why-failed": ("morph_tasks.cli.verify:why_failed", "Show what failed in the last proof, and where."),
    "graph": ("morph_tasks.cli.graph:graph", "Make the code graph, and ask it who uses what."),
    "trace": ("morph_tasks.cli.trace:trace", "Show which tests carry which scenario."),
    "e2e": ("morph_tasks.cli.e2e:e2e", "Run the application of a feature: up, status, down."),
    "env": ("morph_tasks.cli.env:env", "Print the ports and variables of a feature for a shell."),
    "heavy": ("morph_tasks.cli.heavy:heavy", "Share the machine: slots for heavy jobs."),
    "gate-check": ("morph_tasks.cli.gates:gate_check", "Decide from facts whether a gate pauses."),
    "gate-decision": ("morph_tasks.cli.gates:gate_decision", "Record a decision on a gate by hand."),
    "approve": ("morph_tasks.cli.gates:approve", "Approve a gate."),
    "unapprove": ("morph_tasks.cli.gates:unapprove", "Take an approval back."),
    "completion": ("morph_tasks.cli.completion:completion", "Print the completion script of a shell."),
    "advance": ("morph_tasks.cli.state:advance", "Approve the current gate and open the next phase."),
    "retype": ("morph_tasks.cli.state:retype", "Give a feature another type of work."),
    "finish": ("morph_tasks.cli.finish:finish", "End a feature: archive, merge or pull request, take its tree down."),
    "undo": ("morph_tasks.cli.undo:undo", "Take the last finish of a feature back."),
    "archive": ("morph_tasks.cli.state:archive", "Move a feature to the archive and commit the move."),
    "delete": ("morph_tasks.cli.state:delete", "Remove a feature; commit the removal."),
    "fleet": ("morph_tasks.cli.fleet:fleet", "Show all active features, wherever they are."),
    "claim": ("morph_tasks.cli.claim:claim", "Say who works on a feature."),
    "branch": ("morph_tasks.cli.branch:branch", "Delete branches whose work is in the default branch."),
    "handoff": ("morph_tasks.cli.state:handoff", "Write the page for the next session."),
    "worktree": ("morph_tasks.cli.worktree:worktree", "A folder, a branch and ports for each feature or task."),
    "suite": ("morph_tasks.cli.suite:suite", "Ask how the output of a test runner is read."),
}


class Lazy(click.Group):
    """A group that imports a command when it is called, so that help and a wrong name cost nothing."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        found: click.Command = getattr(import_module(module), name)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, what) for name, (_, what) in COMMANDS.items()])


@click.group(
    cls=Lazy,
    help="Features with a plan that can be checked and a proof that is green for exactly this code.",
    epilog=EPILOG_CODES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110, "terminal_width": 100},
)
@click.version_option(package_name="morph-spec", prog_name="morph-spec")
def cli() -> None:
    """Hold the commands; the table above says where they live."""


def main(argv: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    # What stands behind `--` are the words of somebody else's command.
    own = argv[: argv.index("--")] if "--" in argv else argv
    as_json = "--json" in own
    try:
        code = cli.main(args=list(argv), prog_name="morph-spec", standalone_mode=False)
    except Refusal as refusal:
        return refuse(_with_command(refusal, argv), as_json)
    except click.exceptions.NoArgsIsHelpError as error:
        warn(error.format_message())
        return 2
    except click.ClickException as error:
        fix = f"{error.ctx.command_path} --help" if isinstance(error, click.UsageError) and error.ctx else ""
        return refuse(Refusal("usage", error.format_message(), fix=fix, exit_code=2), as_json)
    except (click.Abort, KeyboardInterrupt):
        stdio.say_interrupted()
        return 130
    except Exception as error:
        return refuse(unexpected(error), as_json)
    return code if isinstance(code, int) else 0


def _with_command(refusal: Refusal, argv: Sequence[str]) -> Refusal:
    """Let a refusal that sends to the tree of a feature name what was typed, which is then the way out."""
    codes = ("feature-not-found", "cwd-inside-worktree")
    if refusal.code in codes and refusal.fix.startswith("cd ") and "&&" not in refusal.fix:
        words = list(argv)
        if "worktree" in refusal.payload and "--target" in words[:-1]:  # it may be relative to where one stands
            words[words.index("--target") + 1] = str(refusal.payload["worktree"])
        refusal.fix = f"{refusal.fix} && {shlex.join(['morph-spec', *words])}"
    return refusal


def refuse(refusal: Refusal, as_json: bool) -> int:
    """Print a refusal and return its exit code."""
    if as_json:
        say(refusal.as_json(), "", True)
    else:
        warn(f"error {refusal.code}: {refusal.what}")
        if refusal.fix:
            warn(f"fix: {refusal.fix}")
    return refusal.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
