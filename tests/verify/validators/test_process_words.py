from __future__ import annotations

import pytest

from morph_tasks.verify.validators.process_words import cited


@pytest.mark.parametrize(
    ("comment", "words"),
    [
        ("// UC-03: the cart is empty", ["UC-03"]),
        ("# ADR-12 decided this, see FR-7", ["ADR-12", "FR-7"]),
        ("// C3 of the plan", ["C3"]),
        ("/* covers C1, C2 and F2 */", ["C1", "C2", "F2"]),
        ("// Gate 3 asks for it", ["Gate 3"]),
        ("// see plan.md and checks.json", ["plan.md", "checks.json"]),
        ("// as in the mockup", ["mockup"]),
        ("// the Mock-ups differ", ["Mock-ups"]),
        ("// (F10)", ["F10"]),
        ("// C4 is proved by this test", ["C4"]),
        ("// cenário C2", ["C2"]),
    ],
)
def test_words_of_the_process(comment: str, words: list[str]) -> None:
    assert cited(comment) == words


@pytest.mark.parametrize(
    "comment",
    [
        "// pressing F5 reloads",
        "// the F2 key renames",
        "// Ctrl+F5, Alt-F4 and Shift + F10",
        "// teclas F1 a F12",
        "// keys F1-F12",
        "// F1..F12",
        "// hotkey `F9`",
        "// the F1 score of the model",
        "// F1-score, macro F1",
        "// métrica F1",
        "// cell C3 holds the sum",
        "// célula F10",
        "// the range A1:C3",
        "// columns C1 and F2",
        "// C4 model, level 2",
        "// a C4 diagram; modelo C4",
        "// needs C99",
        "// the C11 standard",
        "// color #F5F5F5 and #C3C",
        "// v1.F2.3",
        "// aggregate 3, navigate 2",
        "// planned; plans.md",
        "// AUC-03 and XADR-1",
        "// use case 3",
        "// f1 and c2 are local names",
        "// C2-5 of the pinout",
        "# noqa: F401, C901",
        "# ruff: noqa: F81",
        "# pylint: disable=C01,F2",
    ],
)
def test_the_same_letters_with_another_meaning(comment: str) -> None:
    assert cited(comment) == []


def test_a_key_does_not_hide_a_slice_beside_it() -> None:
    assert cited("// F5 key; slice F2") == ["F2"]
