"""What is asked of a finish: the same names as flags of the command and as variables of doit."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from morph_tasks.errors import Refusal

MERGE, PR = "merge", "pr"
_FLAGS = ("push", "keep", "keep-volumes", "dry-run", "force", "discard-ignored")
VARIABLES = ("mode", *_FLAGS, "wait")


@dataclass(frozen=True)
class Wish:
    """How a feature is to be finished. `mode`: `merge` or `pr`."""

    mode: str
    push: bool = False
    keep: bool = False
    keep_volumes: bool = False
    dry_run: bool = False
    force: bool = False
    discard_ignored: bool = False
    by_doit: bool = field(default=False, compare=False)

    def command(self, slug: str) -> str:
        """Return what to type for the same finish again, with all that was asked for."""
        chosen = [name for name in _FLAGS if getattr(self, name.replace("-", "_"))]
        if self.by_doit:
            return " ".join([f"doit finish:{slug}", f"mode={self.mode}", *(f"{name}=1" for name in chosen)])
        return " ".join(["morph-spec finish", shlex.quote(slug), f"--{self.mode}", *(f"--{name}" for name in chosen)])

    def options(self) -> dict[str, bool]:
        """Return the options as the journal keeps them."""
        return {
            "push": self.push,
            "keep": self.keep,
            "keepVolumes": self.keep_volumes,
            "force": self.force,
            "discardIgnored": self.discard_ignored,
        }

    def check(self, slug: str) -> None:
        """Raise Refusal `push-with-pr`: a pull request leaves no merge that could be pushed."""
        if self.push and self.mode == PR:
            raise Refusal(
                "push-with-pr",
                "--push publishes a local merge, and --pr makes none: it pushes the branch of the feature itself",
                fix=f"morph-spec finish {slug} --pr, or morph-spec finish {slug} --merge --push",
            )


def mode_of(slug: str, *, merge: bool, pr: bool) -> str:
    """Return the mode that two flags mean; raises Refusal `usage` (exit 2) unless it is exactly one."""
    if merge == pr:
        what = "--merge and --pr exclude each other" if merge else "how is it to end: with --merge or with --pr?"
        fix = f"morph-spec finish {slug} --merge, or morph-spec finish {slug} --pr"
        raise Refusal("usage", what, fix=fix, exit_code=2)
    return MERGE if merge else PR


def from_variables(slug: str, variables: Mapping[str, str]) -> Wish:
    """Read `name=value` variables of doit; raises Refusal `usage`, `unknown-option`, `bad-option` (exit 2)."""
    said = {name.replace("_", "-"): text for name, text in variables.items()}
    for name, text in said.items():
        if name not in VARIABLES:
            what = f"{name}={text} is no option of finish"
            raise Refusal("unknown-option", what, fix=f"options: {', '.join(VARIABLES)}", exit_code=2)
    mode = said.get("mode", "")
    if mode not in (MERGE, PR):
        what = f"mode={mode} is neither merge nor pr" if mode else "how is it to end: mode=merge or mode=pr?"
        code = "bad-option" if mode else "usage"
        raise Refusal(code, what, fix=f"doit finish:{slug} mode=merge, or mode=pr", exit_code=2)
    flags: dict[str, Any] = {name.replace("-", "_"): _flag(name, said.get(name, "0")) for name in _FLAGS}
    return Wish(mode, **flags, by_doit=True)


def of_journal(plan: Mapping[str, Any]) -> Wish:
    """Return what a finish was asked, from the plan in its journal."""
    said = plan.get("options") or {}
    return Wish(
        str(plan.get("mode")),
        push=bool(said.get("push")),
        keep=bool(said.get("keep")),
        keep_volumes=bool(said.get("keepVolumes")),
        force=bool(said.get("force")),
        discard_ignored=bool(said.get("discardIgnored")),
    )


def wait_of(variables: Mapping[str, str]) -> float | None:
    """Return the seconds of `wait=`; None when it is not given; raises Refusal `bad-option` (exit 2)."""
    text = variables.get("wait")
    if text is None:
        return None
    if not text.replace(".", "", 1).isdecimal():
        raise Refusal("bad-option", f"wait={text}: expected seconds", fix="wait=<seconds>", exit_code=2)
    return float(text)


def _flag(name: str, text: str) -> bool:
    if text.lower() in ("1", "true", "yes", "on"):
        return True
    if text.lower() in ("0", "false", "no", "off"):
        return False
    raise Refusal("bad-option", f"{name}={text}: expected 1 or 0", fix=f"{name}=<1 or 0>", exit_code=2)
