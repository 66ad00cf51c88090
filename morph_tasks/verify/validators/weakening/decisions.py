"""What the plan of a feature accepts: a decision that names the test or file, and says why."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from morph_tasks.errors import Refusal
from morph_tasks.verify.validators.weakening.model import Finding
from morph_tasks.verify.validators.weakening.pairing import last_name

if TYPE_CHECKING:
    from morph_tasks.plan.values import Adr, Plan

_WORDS_OF_REASON = 4
_SHORTEST = 4  # letters of a test's own name that may stand outside of a code span
_KEY = re.compile(r"^\W*(?:scope|alcance|escopo)\W.*$", re.I | re.M)


@dataclass(frozen=True)
class Decision:
    """One decision of the plan: its id, its title and text, and the words of it that could be a reason."""

    id: str
    text: str
    spans: frozenset[str] = frozenset()
    reason: str = ""


def decisions(root: Path, feature: str | None) -> tuple[Decision, ...]:
    """Return the decisions of a feature's plan; none when there is no plan that can be read."""
    if feature is None:
        return ()
    from morph_tasks.plan.grammar import parse
    from morph_tasks.plan.service import read_plan

    try:
        plan = parse(read_plan(root, feature))
    except (Refusal, OSError):
        return ()
    return tuple(_decision(plan, adr) for adr in plan.adrs)


def _decision(plan: Plan, adr: Adr) -> Decision:
    body = "\n".join(
        "\n".join(plan.lines[block.start : block.end]) for block in adr.blocks if block.kind not in ("html", "code")
    )
    text = f"{adr.title}\n{body}"
    return Decision(adr.id, text, frozenset(re.findall(r"`([^`]+)`", text)), _KEY.sub("", body))


def accepting(finding: Finding, known: Sequence[Decision], all_found: Sequence[Finding]) -> str | None:
    """Return the id of the decision that accepts a finding; None when none does.

    It has to name `file:line`, or the test, or else the file; a decision that names tests or lines of a file accepts
    nothing else in that file. A finding about several tests needs every one named, or their file.
    """
    return next((one.id for one in known if _gives_reason(one, finding) and _names(one, finding, all_found)), None)


def _gives_reason(decision: Decision, finding: Finding) -> bool:
    """Tell whether a decision says more than what it is about."""
    left = decision.reason
    for name in sorted((*finding.tests, *map(last_name, finding.tests), finding.file), key=len, reverse=True):
        left = left.replace(name, " ")
    return len(re.findall(r"[^\W\d_]{2,}", re.sub(r"`[^`]*`", " ", left))) >= _WORDS_OF_REASON


def _names(decision: Decision, finding: Finding, all_found: Sequence[Finding]) -> bool:
    if _says(decision, f"{finding.file}:{finding.line}"):
        return True
    if finding.tests and all(_names_test(decision, name) for name in finding.tests):
        others = [one for one in all_found if one.file != finding.file and set(one.tests) & set(finding.tests)]
        return not others or _names_file(decision, finding.file)
    return _names_file(decision, finding.file) and not _is_narrower(decision, finding.file, all_found)


def _is_narrower(decision: Decision, file: str, all_found: Sequence[Finding]) -> bool:
    """Tell whether a decision speaks of certain tests or lines of a file."""
    if re.search(rf"{re.escape(file)}:\d|{re.escape(file)}::\w", decision.text):
        return True
    return any(_names_test(decision, name) for one in all_found if one.file == file for name in one.tests)


def _names_file(decision: Decision, file: str) -> bool:
    return _says(decision, file)


def _names_test(decision: Decision, name: str) -> bool:
    own = last_name(name)
    if name in decision.spans or own in decision.spans:
        return True
    return any(len(one) >= _SHORTEST and _says(decision, one) for one in (name, own))


def _says(decision: Decision, words: str) -> bool:
    """Tell whether the words stand in a decision by themselves, not inside of longer ones."""
    return bool(re.search(rf"(?<![\w/.-]){re.escape(words)}(?![\w/-]|\.\w|:\d)", decision.text))
