"""`test-weakening`: what a feature proves less than the tree that it began with.

Deleted and skipped tests, assertions that are gone or let more through, more patience, lower thresholds, and CI or
nodes that run less. A finding is an error unless the plan lists it under Decisions with its reason.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from morph_tasks.verify.testcode.paths import is_test_path, language_of, looks_like_test
from morph_tasks.verify.validators.base import find_base
from morph_tasks.verify.validators.model import Checked, printable, skipped
from morph_tasks.verify.validators.weakening.model import Change, Finding, grouped

if TYPE_CHECKING:
    from morph_tasks.model.load import Config
    from morph_tasks.repo.git import Repo
    from morph_tasks.verify.validators.weakening.decisions import Decision

NAME = "test-weakening"
FEATURE = True  # the plan of the feature decides
RULES = 2  # raised when the same change would be judged in another way
_SHOWN = 40
_NAMED = 4


@dataclass(frozen=True)
class Weakened:
    """What was found, how many files were looked at, and those that could not be."""

    findings: tuple[Finding, ...] = ()
    unread: tuple[str, ...] = ()
    looked: int = 0
    accepted: dict[Finding, str] = field(default_factory=dict)


def applies(repo: Repo, config: Config) -> str | None:
    """Return None: it applies to every tree."""
    return None


def facts(repo: Repo, config: Config, feature: str | None = None) -> dict[str, Any]:
    """Return the base that the tree is compared with, the plan, and the configuration, which no key holds."""
    from morph_tasks.verify.validators.weakening.changes import CONFIG

    base = find_base(repo)
    return {
        "rules": RULES, "base": base.tree, "why": base.why, "plan": _digest(repo, _plan_path(repo, feature)),
        "config": _digest(repo, CONFIG),
    }  # fmt: skip


def check(repo: Repo, config: Config, feature: str | None = None) -> Checked:
    """Compare the tree with its base; the status is `pass`, `fail` or `skip`."""
    from morph_tasks.verify.validators.weakening.changes import CONFIG, changed_files
    from morph_tasks.verify.validators.weakening.decisions import decisions
    from morph_tasks.verify.validators.weakening.project import INFERRED

    base = find_base(repo)
    if base.tree is None:
        return skipped(str(base.why), silent=False)
    changes = changed_files(repo, base.tree, _wanted)
    found = weakened(changes)
    if any(one.before == INFERRED for one in found.findings) and not _has_suites(repo, config):
        found = replace(found, findings=tuple(one for one in found.findings if one.before != INFERRED))
    # A configuration that takes nothing away proves nothing either.
    if not found.findings and not (found.looked and any(change.path != CONFIG for change in changes)):
        unread = _unread(found.unread)
        return Checked("skip", "no test and no setting changed", "no test and no setting changed", unread)
    return _said(found, decisions(repo.root, feature) if found.findings else (), feature)


def _has_suites(repo: Repo, config: Config) -> bool:
    """Tell whether the tree shows a suite that a declaration of none leaves out."""
    from morph_tasks.verify.fallback import test_nodes

    return any(node.runs for node in test_nodes(repo.root, config))


def weakened(changes: Sequence[Change]) -> Weakened:
    """Return what the changes weaken. Nothing outside of them is read."""
    from morph_tasks.verify.validators.weakening.settings import weakened_settings
    from morph_tasks.verify.validators.weakening.tests import read_sources, weakened_tests

    sources = read_sources(changes)
    settings = weakened_settings(changes)
    found = grouped([*weakened_tests(sources), *settings.findings])
    strange = [change.path for change in changes if looks_like_test(change.path)]
    unread = sorted({*sources.unread, *settings.unread, *strange})
    return Weakened(tuple(found), tuple(unread), len(sources.changes) + settings.looked)


def _wanted(path: str) -> bool:
    from morph_tasks.verify.validators.weakening.settings import is_settings

    return language_of(path) is not None or is_test_path(path) or looks_like_test(path) or is_settings(path)


def _said(found: Weakened, known: Sequence[Decision], feature: str | None) -> Checked:
    from morph_tasks.verify.validators.weakening.decisions import accepting

    sure = [one for one in found.findings if one.sure]
    accepted = {one: by for one in sure if (by := accepting(one, known, found.findings))}
    errors = [one for one in sure if one not in accepted]
    warnings = [f"accepted by {by}: {shown(one)}" for one, by in accepted.items()]
    warnings += [f"not verified: {shown(one)}" for one in found.findings if not one.sure]
    warnings += _unread(found.unread)
    if not errors:
        said = f"{found.looked} files of tests and settings prove no less than before"
        if accepted:
            said = f"{len(accepted)} weakened, each by a decision of the plan"
        return Checked("pass", None, said, tuple(warnings))
    more = [f"and {len(errors) - _SHOWN} more"] if len(errors) > _SHOWN else []
    plural, them, each = ("s prove", "them", "each") if len(errors) > 1 else (" proves", "it", "it")
    plan = f"the plan of {feature}" if feature else "the plan"
    message = (
        f"{len(errors)} change{plural} less than before: take {them} back, or list {each} under Decisions in {plan} "
        "with its reason"
    )
    return Checked("fail", NAME, message, tuple(warnings), (*map(shown, errors[:_SHOWN]), *more))


def shown(one: Finding) -> str:
    """Return a finding on one line: place, kind, test, before -> after."""
    where = f"{printable(one.file)}:{one.line}" if one.line else printable(one.file)
    names = ", ".join(map(printable, one.tests[:_NAMED]))
    rest = f" and {len(one.tests) - _NAMED} more" if len(one.tests) > _NAMED else ""
    about = f" {names}{rest}" if names else ""
    place = f"{where} (in the base)" if one.gone else where
    return printable(f"{place}: {one.kind}{about}: {one.before} -> {one.after}")


def _unread(paths: Sequence[str]) -> tuple[str, ...]:
    if not paths:
        return ()
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return (f"not verified: {', '.join(map(printable, paths[:_SHOWN]))}{more}",)


def _plan_path(repo: Repo, feature: str | None) -> str | None:
    if feature is None:
        return None
    from morph_tasks.features.store import feature_dir
    from morph_tasks.plan.service import PLAN

    return str((feature_dir(repo.root, feature) / PLAN).relative_to(repo.root))


def _digest(repo: Repo, path: str | None) -> str | None:
    """Return the digest of a file that the fingerprint of the tree leaves out; asked for, so that a no-op notices."""
    from morph_tasks.verify.probe import ask

    if path is None:
        return None
    ask("file", str(repo.root / path))
    try:
        return hashlib.sha256((repo.root / path).read_bytes()).hexdigest()
    except OSError:
        return None
