"""The test nodes of a project: `.morph/config/config.json` edited so that less runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from morph_tasks.verify.validators.weakening.commands import commands_in, weaker
from morph_tasks.verify.validators.weakening.model import Change, Finding

INFERRED = "project.tests: inferred"


def weakened_project(change: Change) -> Iterator[Finding]:
    """Yield what the nodes prove less; raises ValueError when a side is no JSON."""
    before, after = _project(change.before), _project(change.after)
    if before is None:  # what was inferred may be declared away
        before = {}
    text = (change.after if change.after is not None else change.before or b"").decode("utf-8", "replace")
    old_text = (change.before or b"").decode("utf-8", "replace")
    file = _File(change.path, text, old_text)
    if after is None:
        if before.get("tests"):
            yield file.finding("suite-narrowed", "tests", "project.tests", "gone", gone=True)
        return
    yield from _suites(file, before, after)
    if change.before is None:
        return
    for key, kind in (("testTimeoutMs", "timeout-raised"),):
        yield from file.higher(kind, key, f"project.{key}", before.get(key), after.get(key))
    if before.get("testCommand") != after.get("testCommand") and before.get("testCommand"):
        yield from _command(file, "project", before["testCommand"], after.get("testCommand"), bool(after.get("tests")))
    if after.get("ci") is False and before.get("ci") is not False:
        yield file.finding("ci-weakened", "ci", "project.ci: asked", "project.ci: false")


def _project(data: bytes | None) -> dict[str, Any] | None:
    if data is None:
        return None
    found = json.loads(data)
    project = found.get("project") if isinstance(found, dict) else None
    return project if isinstance(project, dict) else {}


class _File:
    """The file of both trees, to find the lines of a node's keys."""

    def __init__(self, path: str, text: str, old: str) -> None:
        self._path = path
        self._lines = text.split("\n")
        self._old = old.split("\n")

    def line(self, key: str, node: str = "", *, gone: bool = False) -> int:
        """Return the line of a key of a node (by its `id`); of the node itself when the key is not there."""
        lines = self._old if gone else self._lines
        start = next((at for at, one in enumerate(lines) if node and f'"{node}"' in one and '"id"' in one), 0)
        end = (
            next((at for at in range(start + 1, len(lines)) if '"id"' in lines[at]), len(lines)) if node else len(lines)
        )
        found = next((at for at in range(start, end) if f'"{key}"' in lines[at]), start)
        return found + 1

    def finding(self, kind: str, key: str, before: str, after: str, *, node: str = "", gone: bool = False) -> Finding:
        return Finding(
            kind, self._path, self.line(key, node, gone=gone), before, after, f"tests/{node}" if node else "", gone
        )

    def higher(
        self, kind: str, key: str, label: str, before: Any, after: Any, node: str = "", *, default: int | None = None
    ) -> Iterator[Finding]:
        """Yield when a number is higher than it was."""
        was = before if before is not None else default
        if isinstance(was, int) and isinstance(after, int) and after > was:
            yield self.finding(kind, key, f"{label}: {was}", f"{label}: {after}", node=node)


def _suites(file: _File, before: dict[str, Any], after: dict[str, Any]) -> Iterator[Finding]:
    if before.get("build") != [] and after.get("build") == []:
        declared = bool(before.get("build"))
        said = f"project.build: {'declared' if declared else 'inferred'}"
        # What would have been inferred may be nothing.
        yield replace(file.finding("suite-narrowed", "build", said, "project.build: []"), sure=declared)
    olds, news = _by_id(before), _by_id(after)
    if olds and after.get("tests") == []:
        yield file.finding("suite-narrowed", "tests", f"project.tests: {', '.join(olds)}", "project.tests: []")
        return
    if before.get("tests") is None and after.get("tests") == []:
        yield file.finding("suite-narrowed", "tests", INFERRED, "project.tests: []")
        return
    if olds and after.get("tests") is None:
        yield file.finding("suite-narrowed", "tests", f"project.tests: {', '.join(olds)}", "inferred", gone=True)
        return
    renamed = {
        node["command"]: name
        for name, node in news.items()
        if name not in olds and isinstance(node.get("command"), str)
    }
    for name, old in olds.items():
        new = news.get(name) or news.get(renamed.get(str(old.get("command")), ""))
        if new is None:
            yield file.finding(
                "suite-narrowed", "id", f"tests/{name}: `{old.get('command')}`", "gone", node=name, gone=True
            )
        else:
            yield from _node(file, str(new.get("id")), old, new)


def _by_id(project: dict[str, Any]) -> dict[str, dict[str, Any]]:
    nodes = project.get("tests")
    return {str(one.get("id")): one for one in nodes if isinstance(one, dict)} if isinstance(nodes, list) else {}


def _node(file: _File, name: str, old: dict[str, Any], new: dict[str, Any]) -> Iterator[Finding]:
    if old.get("command") != new.get("command"):
        yield from _command(file, name, str(old.get("command")), str(new.get("command")), False)
    was, now = old.get("expectedCount"), new.get("expectedCount")
    if isinstance(was, int) and (now is None or (isinstance(now, int) and now < was)):
        said = "not set" if now is None else f"expectedCount: {now}"
        yield file.finding(
            "suite-narrowed", "expectedCount", f"expectedCount: {was}", said, node=name, gone=now is None
        )
    if str(old.get("cwd") or ".") != str(new.get("cwd") or "."):
        was, now = (str(one.get("cwd") or ".") for one in (old, new))
        # A folder that was renamed looks the same.
        yield replace(file.finding("suite-narrowed", "cwd", f"cwd: {was}", f"cwd: {now}", node=name), sure=False)
    yield from file.higher(
        "retries-raised", "retries", "retries", old.get("retries"), new.get("retries"), name, default=0
    )
    yield from file.higher("timeout-raised", "timeoutMs", "timeoutMs", old.get("timeoutMs"), new.get("timeoutMs"), name)
    if new.get("flaky") == "allow" and old.get("flaky") != "allow":
        yield file.finding("retries-raised", "flaky", "a flaky pass is no proof", "flaky: allow", node=name)
    if new.get("e2e") is True and old.get("e2e") is not True:
        yield file.finding("suite-narrowed", "e2e", "it runs at every verify", "e2e: true", node=name)
    if old.get("reuse") is False and new.get("reuse") is not False:
        yield file.finding("suite-narrowed", "reuse", "reuse: false", "it may be reused", node=name)
    if new.get("runner") == "none" and old.get("runner") != "none":
        yield file.finding(
            "suite-narrowed", "runner", f"runner: {old.get('runner') or 'inferred'}", "runner: none", node=name
        )
    yield from _inputs(file, name, old.get("inputs"), new.get("inputs"))


def _inputs(file: _File, name: str, old: Any, new: Any) -> Iterator[Finding]:
    """Yield when fewer files make a node run again."""
    if not isinstance(new, list):
        return
    if old is None:
        yield file.finding(
            "suite-narrowed", "inputs", "inputs: the whole tree", f"inputs: {' '.join(map(str, new))}", node=name
        )
    elif isinstance(old, list):
        lost = [one for one in old if one not in new and not str(one).startswith("!")]
        left_out = [one for one in new if one not in old and str(one).startswith("!")]
        wide = any(str(one) in ("**", "**/*") for one in new)
        for one in [*([] if wide else lost), *left_out]:
            after = f"inputs: {one}" if one in left_out else f"inputs: without {one}"
            yield file.finding("suite-narrowed", "inputs", f"inputs: {' '.join(map(str, old))}", after, node=name)


def _command(file: _File, name: str, old: str, new: str | None, elsewhere: bool) -> Iterator[Finding]:
    """Yield what a node's command does less; a command that runs something else cannot be compared."""
    key, node = ("testCommand", "") if name == "project" else ("command", name)
    if new is None:
        if not elsewhere:
            yield file.finding("suite-narrowed", key, f"`{old}`", "gone", node=node, gone=True)
        return
    line = file.line(key, node)
    before = list(commands_in(old, file._path, line, name))
    after = list(commands_in(new, file._path, line, name))
    if not before:
        return
    for one in before:
        same = next((each for each in after if each.program == one.program), None)
        label = f"tests/{name}" if node else ""
        if same is not None:
            after.remove(same)
            for found in weaker(one, same):
                yield Finding(found.kind, found.file, line, found.before, found.after, label)
        elif after:
            yield Finding(
                "suite-narrowed",
                file._path,
                line,
                f"`{old}`",
                f"`{new}`, and what that runs cannot be told",
                label,
                sure=False,
            )
        else:
            yield Finding("suite-narrowed", file._path, line, f"`{old}`", f"`{new}`", label)
