from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from morph_tasks.framework_files import framework_path
from morph_tasks.plan.agents import read_agents
from morph_tasks.plan.check import Report, check_plan
from morph_tasks.plan.grammar import parse
from morph_tasks.plan.guide import EXAMPLE, RULES, help_text
from morph_tasks.plan.record import AdrIndex
from morph_tasks.plan.words import CHANGES, COLUMNS, KEYS, PROOFS, SCOPES, SECTIONS, VERDICTS

DOCS = Path(__file__).parents[2] / "docs" / "plan.md"


def test_the_example_has_no_fault(tmp_path: Path) -> None:
    report = check_plan(EXAMPLE, read_agents(tmp_path), AdrIndex())
    assert (report.errors, report.warnings) == ((), ())


def test_the_documentation_embeds_this_text() -> None:
    page = DOCS.read_text("utf-8")
    assert f"```text\n{RULES}\n```" in page
    assert f"```markdown\n{EXAMPLE}```" in page


@pytest.mark.parametrize("table", [SECTIONS, PROOFS, SCOPES, VERDICTS, CHANGES, COLUMNS, KEYS])
def test_the_rules_name_every_word(table: dict[str, tuple[str, ...]]) -> None:
    text = RULES.casefold()
    aliases = {"escopo", "why an artifact", "por que um artefato"}
    for spellings in table.values():
        assert all(word.casefold() in text for word in spellings if word.casefold() not in aliases)


def test_the_help_keeps_its_lines() -> None:
    paragraphs = help_text().split("\n\n")
    assert all(one.startswith("\b\n") for one in paragraphs)
    assert max(map(len, RULES.split("\n"))) <= 108


@pytest.mark.parametrize("language", ["en", "pt"])
def test_a_skeleton_waits_to_be_filled(check: Callable[[str], Report], language: str) -> None:
    text = framework_path(f"templates/plan.{language}.md").read_text("utf-8")
    assert text.count("{{name}}") == text.count("{{description}}") == 1
    text = text.replace("{{name}}", "Cart").replace("{{description}}", "Carts are wrong.")
    report = check(text)
    assert sorted(one.code for one in report.errors) == ["empty-section", "empty-section", "no-scenarios"]
    assert parse(text).problem == "Carts are wrong."


@pytest.mark.parametrize("language", ["en", "pt"])
def test_the_remarks_of_a_skeleton_are_a_plan(check: Callable[[str], Report], language: str) -> None:
    """Uncomment everything: what the skeleton shows must be valid."""
    text = framework_path(f"templates/plan.{language}.md").read_text("utf-8")
    text = text.replace("<!--", "").replace("-->", "").replace("- depends: F2\n", "").replace("- depende: F2\n", "")
    assert [one.code for one in check(text).errors] == []
