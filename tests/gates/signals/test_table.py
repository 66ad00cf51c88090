from __future__ import annotations

import pkgutil
from pathlib import Path

import pytest

from morph_tasks.gates import signals
from morph_tasks.gates.signals.base import EVERY_GATE, Facts, Reading
from morph_tasks.gates.signals.table import GIVEN, LATER, SIGNALS, as_markdown, not_evaluated
from morph_tasks.repo.git import Repo

DOCS = Path(__file__).parents[3] / "docs" / "gates.md"


def test_every_module_is_registered() -> None:
    modules = {info.name for info in pkgutil.iter_modules(signals.__path__)} - {"base", "table"}
    assert modules == {signal.__name__.rpartition(".")[2] for signal in SIGNALS.values()}  # type: ignore[attr-defined]


def test_every_entry_has_its_own_name_and_knows_its_gates() -> None:
    for name, signal in SIGNALS.items():
        assert name == signal.NAME
        assert signal.READS and signal.PAUSES_WHEN
        assert set(signal.GATES) <= set(EVERY_GATE) and signal.GATES
    assert set(GIVEN) <= set(SIGNALS) and not set(LATER) & set(SIGNALS)


@pytest.mark.parametrize("gate", EVERY_GATE)
def test_a_signal_pauses_only_the_gates_it_names(repo: Repo, gate: str) -> None:
    worst = {
        "workType": "hotfix",
        "verification": {"status": "fail", "nodes": {"e2e": "skip"}, "e2eReason": "docker is not available"},
    }
    given = {"designSystemDivergence": True, "standardsViolations": ["x"]}
    folder = repo.root / ".morph/features/shop"
    (folder / "2-plan/checks.json").write_text('{"slices": [' + ",".join(["{}"] * 20) + "]}")
    facts = Facts(repo, "shop", folder, worst, gate, given)
    for signal in SIGNALS.values():
        reading: Reading = signal.read(facts)
        assert not reading.pause or gate in signal.GATES


def test_the_documentation_shows_this_table() -> None:
    assert as_markdown() in DOCS.read_text()


def test_what_is_not_evaluated_is_named(repo: Repo) -> None:
    folder = repo.root / ".morph/features/shop"

    def missing(gate: str) -> list[str]:
        return not_evaluated(Facts(repo, "shop", folder, {}, gate))

    assert missing("plan") == [] and missing("uiux") == []
    assert missing("review") == ["reviewReports", "scenarioCoverage", "promptModel", "mediaClaims"]
    (folder / "1-design").mkdir()
    (folder / "1-design/mockups.md").write_text("")
    assert missing("uiux") == ["screenChecklist"] and "screenChecklist" in missing("review")
