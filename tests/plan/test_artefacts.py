from __future__ import annotations

import pytest

from morph_tasks.plan.artefacts import artefact_word, has_why
from morph_tasks.plan.outline import outline
from morph_tasks.plan.source import Place


def word(text: str) -> str | None:
    found = artefact_word(outline(text.split("\n")))
    return found[0] if found else None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("When grep runs", "grep"),
        ("GREP finds", "GREP"),
        ("the answer contains the string x", "contains the string"),
        ("the answer contains\nthe string x", "contains the string"),
        ("a resposta contém a string x", "contém a string"),
        ("a resposta conte\u0301m a string x", "conte\u0301m a string"),
        ("there is no file left", "no file"),
        ("nenhum arquivo sobra", "nenhum arquivo"),
        ("the file exists", "file exists"),
        ("o arquivo existe", "arquivo existe"),
        ("every src/**/a.py", "**/"),
        (r"every \*\*/a.py", r"\*\*/"),
        ("the line count is 3", "line count"),
        ("o NÚMERO de linhas", "NÚMERO de linhas"),
        ("- a list\n  - no file", "no file"),
        ("> a quote: no file", "no file"),
        ("| a |\n|---|\n| no file |", "no file"),
        ("### C1 — no file", "no file"),
    ],
)
def test_words_of_the_vocabulary(text: str, expected: str) -> None:
    assert word(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "the profile exists",
        "no filename is asked",
        "egrep and grepping",
        "the outline counts",
        "**bold**/and",
        "when `grep x **/` is typed",
        "when ``no file`` is typed",
        "```\ngrep\n```",
        "    grep",
        "<!-- grep -->",
        "text <!-- grep --> text",
        "> Why an artefact: grep is the product",
    ],
)
def test_what_is_none(text: str) -> None:
    assert word(text) is None


def test_the_place_is_that_of_the_word_also_over_a_line_end() -> None:
    found = artefact_word(outline(["- é a", "  b contains", "  the string"]))
    assert found == ("contains the string", Place(2, 5))


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("> Why an artefact: the tool is a linter", True),
        ("> **Why an artefact:** x", True),
        ("> Why an artifact: x", True),
        ("> POR QUE ARTEFATO: x", True),
        ("> Por que artefato:\n> porque sim", True),
        ("text\n> Why an artefact: x", True),
        ("> first\n> Why an artefact: x", True),
        ("- proof: test\n\n  > Why an artefact: x", True),
        ("> Why an artefact:", False),
        ("> Why an artefact: …", False),
        ("> Why: x", False),
        ("Why an artefact: x", False),
        ("```\n> Why an artefact: x\n```", False),
        ("<!--\n> Why an artefact: x\n-->", False),
    ],
)
def test_the_reason_stands_in_a_block_quote(text: str, given: bool) -> None:
    assert has_why(outline(text.split("\n"))) is given
