"""Commands on work trees: setup, provision, link, list; how one ends is in `worktree_end`."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click

from morph_tasks.cli.common import EPILOG_CODES, feature_argument, json_option, say, wait_option, warn

if TYPE_CHECKING:
    from morph_tasks.fleet.setup import SetUp


_ENDS = ("reap", "remove")


class _Group(click.Group):
    """A group that imports how a work tree ends only when that is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*self.commands, *_ENDS})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _ENDS:
            return self.commands.get(cmd_name)
        from morph_tasks.cli import worktree_end

        found: click.Command = getattr(worktree_end, cmd_name)
        return found


@click.group(
    "worktree",
    cls=_Group,
    help="Work trees: a folder, a branch, ports and containers of its own for each feature or task.",
    epilog=EPILOG_CODES,
)
def worktree() -> None:
    """Hold the commands on work trees."""


@worktree.command(
    "setup",
    help="Give FEATURE a work tree of its own, on branch morph/FEATURE. A feature that lies uncommitted in the main "
    "tree moves there. Shared folders are linked, ignored .env files copied, ports allocated. One work tree a "
    "feature: while there is one, this is refused with exit 3. All or nothing; a run that was killed is completed.",
    epilog=f"{EPILOG_CODES} Example: morph-spec worktree setup cart-totals",
)
@feature_argument
@wait_option
@json_option
def setup(feature: str, as_json: bool) -> int:
    """Run `morph-spec worktree setup`."""
    from morph_tasks.fleet.setup import setup as make
    from morph_tasks.repo.git import open_repo

    return tell(make(open_repo(), feature), as_json)


@worktree.command(
    "provision",
    help="Make a work tree for a task without a feature, on branch morph-task/NAME. It begins where --base says, else "
    "by the setting worktree.baseRef, else at the feature whose work tree this is run in, else at the default branch.",
    epilog=f"{EPILOG_CODES} Example: morph-spec worktree provision fix-totals --base morph/cart-totals",
)
@click.argument("name")
@click.option("--base", metavar="REF", help="Branch or commit to begin at; morph/<feature> makes it that feature's.")
@wait_option
@json_option
def provision(name: str, base: str | None, as_json: bool) -> int:
    """Run `morph-spec worktree provision`."""
    from morph_tasks.fleet.setup import provision as make
    from morph_tasks.repo.git import open_repo

    return tell(make(open_repo(), name, base=base), as_json)


@worktree.command(
    "link",
    help="Link the shared folders of a work tree again, and write .morph/worktree.env anew. Without FEATURE (or "
    "task/NAME) for the work tree this is run in.",
    epilog=f"{EPILOG_CODES} Example: morph-spec worktree link --all",
)
@click.argument("feature", required=False)
@click.option("--all", "every", is_flag=True, help="Every work tree of a feature or a task.")
@wait_option
@json_option
def link(feature: str | None, every: bool, as_json: bool) -> int:
    """Run `morph-spec worktree link`."""
    from morph_tasks.fleet.inventory import relink
    from morph_tasks.repo.git import open_repo

    if every and feature:
        raise click.UsageError("--all and a feature exclude each other")
    rows = relink(open_repo(), feature, every=every)
    for row in rows:
        for line in row["warnings"]:
            warn(f"warning: {row['key']}: {line}")
    lines = [f"{row['key']}: {_links(row['links'])}; ports {row['ports']}" for row in rows]
    failed = [row for row in rows if not row["ok"]]
    lines += [f"{row['key']}: {row['code']}: {row['message']}" for row in failed]
    say({"ok": not failed, "worktrees": rows}, "\n".join(lines) or "no work tree of a feature or a task", as_json)
    return 1 if failed else 0


@worktree.command(
    "list",
    help="Show the work trees: what each is for, its branch, its phase and gates, and whether it has changes that are "
    "not committed.",
    epilog=f"{EPILOG_CODES} Example: morph-spec worktree list --json",
)
@json_option
def list_trees(as_json: bool) -> int:
    """Run `morph-spec worktree list`."""
    from morph_tasks.fleet.inventory import inventory, table
    from morph_tasks.repo.git import open_repo

    rows = inventory(open_repo())
    say({"ok": True, "worktrees": [row.as_json() for row in rows]}, table(rows), as_json)
    return 0


def tell(made: SetUp, as_json: bool) -> int:
    """Print what became of a new work tree."""
    for line in (*([made.root_warning] if made.root_warning else []), *made.warnings):
        warn(f"warning: {line}")
    verb = "completed" if made.resumed else "made"
    lines = [f"work tree of {made.key} {verb}: {made.path}", f"  branch {made.branch}" + _begun(made), *about(made)]
    say({"ok": True, **made.as_json(), "next": enter(made)}, "\n".join(lines), as_json)
    return 0


def about(made: SetUp) -> list[str]:
    """Return what people want to know of a new work tree."""
    lines = [f"  ports {made.env['MORPH_PORT_RANGE']}, compose project {made.env['COMPOSE_PROJECT_NAME']}"]
    lines.append(f"  {_links(made.links.as_json())}")
    copied = [*made.copies.env, *made.copies.included]
    lines += [f"  copied: {_some(copied)}"] if copied else []
    lines += ["  the feature's folder moved here from the main tree"] if made.moved else []
    lines += ["  the code graph of the main tree was copied here"] if made.graph else []
    if made.archived:
        push = f"git push origin {shlex.quote(made.branch)}"
        lines.append(
            f"  the feature is archived; the tree is for commits that follow, {push} brings them to its pull request"
        )
    editor = made.editor_settings
    if editor and editor.status == "suggest":
        lines += [f"  add to .vscode/settings.json ({editor.reason}):", editor.snippet]
    return [*lines, f"next: {enter(made)}"]


def enter(made: SetUp) -> str:
    """Return the command that goes there."""
    return f"cd {shlex.quote(str(made.path))}"


def _begun(made: SetUp) -> str:
    return "" if made.base_ref == made.branch else f", begun at {made.base_ref}"


def _links(links: dict[str, Any]) -> str:
    there = [*links["made"], *links["kept"]]
    skipped = [f"{one['path']} ({one['why']})" for one in links["skipped"]]
    return (f"linked: {_some(there)}" if there else "nothing to link") + (f"; not {_some(skipped)}" if skipped else "")


def _some(names: list[str], most: int = 5) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
