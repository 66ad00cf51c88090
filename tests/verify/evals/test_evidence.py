from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morph_tasks.verify.evals.evidence import FOLDER, EvidenceFile, evidence_files, records_of
from morph_tasks.verify.scenarios.owed import Owed, OwedScenario, PlannedSlice

PLAN = Owed(
    (
        OwedScenario("C1", "adds", "test", 3),
        OwedScenario("C3", "greets", "eval", 4),
        OwedScenario("C4", "refuses", "eval", 5),
    ),
    (
        PlannedSlice("F1", "cart", ("a.py",), ("C1",)),
        PlannedSlice("F2", "prompt", ("p.md",), ("C1", "C3", "C4")),
        PlannedSlice("F3", "tone", ("t.md",), ("C4",)),
    ),
)
WHOLE = """# Evidence of F2

## C3 — greets

- **Criterion:** greets by name
- **Node:** `prompts`, scenario greeting
- **Model:** tiny-1
- **Prompt version:** 3f2a
- **Verdict:** passed

### Input

```
Model: none of your business
## C9
```

### Output

Hello Ana

## C4

**Critério**: recusa com educação
**Nó `evals`**: nenhum nó — execução manual
| Modelo | tiny-1 |
**Versão do prompt:** 3f2a
**Entrada:** x
**Saída:**
> no
**Veredito:** ok
"""


def look(tmp_path: Path, **files: str) -> dict[str, EvidenceFile]:
    (tmp_path / FOLDER).mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (tmp_path / FOLDER / f"{name}.md").write_text(text)
    return {one.slice: one for one in evidence_files(tmp_path, PLAN, ["prompts", "prompts-long"])}


def test_records_in_both_languages(tmp_path: Path) -> None:
    found = look(tmp_path, F2=WHOLE)["F2"]
    assert found.complete, found
    first, second = found.records
    assert (first.scenarios, first.node, first.by_hand) == (("C3",), "prompts", False)
    assert first.fields["model"] == "tiny-1" and first.fields["output"] == "Hello Ana"
    assert "none of your business" in first.fields["input"] and "## C9" in first.fields["input"]
    assert (second.scenarios, second.node, second.by_hand) == (("C4",), None, True)
    assert second.fields["model"] == "tiny-1" and second.fields["output"] == "> no"
    assert found.as_json()["records"][1]["byHand"] is True


def test_only_slices_that_cover_an_eval_scenario_owe_evidence(tmp_path: Path) -> None:
    found = {one.slice: one for one in evidence_files(tmp_path, PLAN, [])}
    assert list(found) == ["F2", "F3"]
    assert not found["F2"].exists and not found["F2"].complete and found["F2"].due == ("C3", "C4")
    assert "C3, C4" in found["F2"].problems[0]


def test_a_scenario_without_a_record_is_missing(tmp_path: Path) -> None:
    found = look(tmp_path, F2=WHOLE.split("## C4")[0])["F2"]
    assert found.problems == ("it has no record of C4",)


@pytest.mark.parametrize("field", ["Criterion", "Node", "Model", "Prompt version", "Verdict"])
def test_a_field_that_is_missing_or_empty_is_named(tmp_path: Path, field: str) -> None:
    line = next(line for line in WHOLE.splitlines() if field in line)
    for put in ("", f"- **{field}:**"):
        record = look(tmp_path, F2=WHOLE.replace(line, put))["F2"].records[0]
        assert len(record.problems) == 1 and record.problems[0].endswith("is missing")


@pytest.mark.parametrize("named", ["prompt", "promptss", "other", "tests/other"])
def test_a_node_that_is_not_declared_is_a_problem(tmp_path: Path, named: str) -> None:
    record = look(tmp_path, F2=WHOLE.replace("`prompts`", f"`{named}`"))["F2"].records[0]
    assert record.node is None and "no evals node" in record.problems[0]


def test_the_node_is_the_longest_that_is_named(tmp_path: Path) -> None:
    assert look(tmp_path, F2=WHOLE.replace("`prompts`", "tests/prompts-long"))["F2"].records[0].node == "prompts-long"


def test_the_only_scenario_of_a_slice_need_not_be_named(tmp_path: Path) -> None:
    text = WHOLE.split("## C4")[0].replace("## C3 — greets", "").replace("F2", "F3")
    assert look(tmp_path, F3=text)["F3"].records[0].scenarios == ("C4",)


def test_a_file_of_no_slice_is_told(tmp_path: Path) -> None:
    found = look(tmp_path, F9="## C3\n")
    assert found["F9"].problems == ("the plan has no slice F9",)


def test_files_that_cannot_be_read_are_problems(tmp_path: Path) -> None:
    (tmp_path / FOLDER / "F2.md").mkdir(parents=True)
    (tmp_path / FOLDER / "F3.md").write_bytes(b"\xff\xfe")
    found: dict[str, Any] = look(tmp_path)
    assert found["F2"].exists and "not a file" in found["F2"].problems[0]
    assert "UTF-8" in found["F3"].problems[0]


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="#C123 -*`~:|\nModelnó", max_size=200))
def test_any_text_has_records_with_lines_of_its_own(text: str) -> None:
    lines = [record.line for record in records_of(text, ["prompts"])]
    assert lines == sorted(set(lines)) and all(1 <= line <= max(1, len(text.splitlines())) for line in lines)
