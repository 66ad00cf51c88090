"""What an undo says: one document, and the same in lines for people."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from morph_tasks.features.store import INDEX
from morph_tasks.fleet.finish.wish import of_journal
from morph_tasks.fleet.treeenv import FILE as WORKTREE_ENV
from morph_tasks.fleet.undo.obstacles import some
from morph_tasks.fleet.undo.past import GONE, KEPT, MAIN

if TYPE_CHECKING:
    from morph_tasks.fleet.undo.plan import Plan


# What an undo writes itself.
_MADE_AGAIN = (INDEX, WORKTREE_ENV)


@dataclass(frozen=True)
class Outcome:
    """An undo that is done, or that would be (`dry_run`). `facts`: what each step wrote down."""

    plan: Plan
    dry_run: bool = False
    resumed: bool = False
    facts: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    recovered: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the document of `--json`."""
        past = self.plan.past
        return {
            "ok": True,
            "feature": past.feature,
            "undone": not self.dry_run,
            "dryRun": self.dry_run,
            "resumed": self.resumed,
            "finish": {"stamp": past.journal.stamp, "mode": past.plan.get("mode")},
            "branch": {"name": past.branch, "commit": past.tip},
            "default": {"name": past.default, "from": past.merge, "to": past.before, "tree": _text(self._default_tree)},
            "worktree": {"path": str(past.tree), "branch": past.branch} if past.tree else None,
            "restored": self._restored(),
            "ports": past.plan.get("portsBase"),
            "notRestored": self._not_restored(),
            "backups": [str(source.place) for source in self._sources if source.place],
            "warnings": self.warnings,
            "nextStep": self._next(),
        }

    @property
    def lines(self) -> list[str]:
        """Return the same for people."""
        past, restored = self.plan.past, self._restored()
        verb = "would be" if self.dry_run else "is"
        lines = [f"the finish of {past.feature} {verb} undone" + (" (resumed)" if self.resumed else "")]
        stays = f"{past.default} as it is" if past.by_pull else f"{past.default} at {str(past.before)[:10]}"
        lines.append(f"  {past.branch} at {past.tip[:10]}, {stays}")
        lines += [f"  {self._where()}"] if past.tree else []
        count = len(restored["feature"])
        lines += [f"  {_count(count, 'file')} of the feature as {'it was' if count == 1 else 'they were'} on disk"]
        for key, what in (("ignored", "from the backup"), ("replicated", "from the main tree")):
            lines += (
                [f"  {_count(len(restored[key]), 'ignored file')} {what}: {some(restored[key])}"]
                if restored[key]
                else []
            )
        lines += [f"  ports {past.plan['portsBase']} and the nine after it"] if past.plan.get("portsBase") else []
        lines += [f"not restored: {line}" for line in self._missing_lines()]
        lines += [f"the copies stay in {source.place}" for source in self._sources if source.place and not self.dry_run]
        return [*lines, f"next: {self._next()}"]

    @property
    def warnings(self) -> list[str]:
        """Return what a person should look at."""
        taken = [path for step in ("default", "files", "root") for path in self.facts.get(step, {}).get("taken", ())]
        left = self.facts.get("folder", {}).get("leftInArchive", ())
        told = [f"{path} was there already with other content and stays so" for path in taken]
        return [*self.recovered, *told, *(f"{path} is not of the feature as it was and stays" for path in left)]

    @property
    def _sources(self) -> tuple[Any, ...]:
        return (self.plan.feature, self.plan.ignored, self.plan.shed)

    @property
    def _default_tree(self) -> Any:
        return self.plan.default_tree

    def _restored(self) -> dict[str, list[str]]:
        past, facts = self.plan.past, self.facts
        ignored = [file.path for file in self.plan.ignored.files if not past.is_archived(file.path)]
        adopted = facts["default"].get("adopted", []) if facts else [one["path"] for one in past.adopted]
        return {
            "feature": [file.path for file in self.plan.feature.files],
            "ignored": facts["files"].get("ignored", []) if facts else ignored if past.kind == GONE else [],
            "replicated": facts["files"].get("replicated", []) if facts else [f.path for f in self.plan.replicated],
            "links": [link["path"] for link in past.own_links] if past.kind == GONE else [],
            "mainTree": [*adopted, *(file.path for file in self.plan.shed.files)],
        }

    def _not_restored(self) -> dict[str, Any]:
        past = self.plan.past
        stack = past.teardown.get("stack") or {}
        gone = past.kind == GONE
        return {
            "caches": [one for one in past.removal.get("discardedIgnored") or [] if one not in _MADE_AGAIN]
            if gone
            else [],
            "stack": list(stack.get("removed") or []),
            "claims": bool(past.teardown.get("claimsReleased")),
            "submodules": past.submodules,
            "files": list(self.plan.left_out),
        }

    def _missing_lines(self) -> list[str]:
        told = self._not_restored()
        lines = [f"caches, which tools make again ({some(told['caches'])})"] if told["caches"] else []
        lines += [f"containers and volumes ({some([str(one) for one in told['stack']])})"] if told["stack"] else []
        if told["submodules"]:
            again = f"git -C {shlex.quote(str(self.plan.past.tree))} submodule update --init"
            lines.append(f"submodules ({some(told['submodules'])}), which go back with {again}")
        lines += ["the claim of the session that had the feature"] if told["claims"] else []
        return lines + [f"{one['path']} ({one['why']})" for one in told["files"]]

    def _where(self) -> str:
        past = self.plan.past
        verb = "would be" if self.dry_run else "is"
        if past.kind == GONE:
            return f"the work tree {past.tree} {verb} back"
        if past.kind == MAIN:
            return f"the main tree {past.tree} {verb} on {past.branch} again"
        return f"the work tree {past.tree} {'would stay' if self.dry_run else 'stayed'} where it is"

    def _next(self) -> str:
        past = self.plan.past
        if self.dry_run:
            return f"morph-spec undo {shlex.quote(past.feature)}"
        where = f"cd {shlex.quote(str(past.tree))}" if past.tree and past.kind in (GONE, KEPT) else ""
        again = of_journal(past.plan).command(past.feature)
        return where or f"morph-spec list, or {again} once it is ready"


def _text(path: Any) -> str | None:
    return str(path) if path else None


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
