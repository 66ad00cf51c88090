from __future__ import annotations

import pytest

from morph_tasks.plan.fields import Field, Reading, read_fields
from morph_tasks.plan.outline import outline
from morph_tasks.plan.source import Place
from morph_tasks.plan.words import SCENARIO_KEYS, SLICE_KEYS


def read(text: str, *, top_only: bool = True) -> Reading:
    keys = SLICE_KEYS if top_only else SCENARIO_KEYS
    return read_fields(outline(text.split("\n")), keys, owner="slice F1", top_only=top_only)


def values(text: str) -> list[tuple[str, str]]:
    return [(one.key, one.text) for one in read(text).fields]


def only(text: str) -> Field:
    (field,) = read(text).fields
    return field


@pytest.mark.parametrize(
    "text",
    [
        "- persona: a",
        "persona: a",
        "* persona: a",
        "+\tpersona: a",
        "1. persona: a",
        "1) persona: a",
        "   - persona: a",
        "- **persona:** a",
        "- **persona**: a",
        "- `persona`: `a`",
        "- _Persona_ : *a*",
        "- [ ] persona: a",
        "- [x] PERSONA: a",
        "- [~] persona: a",
        "persona:a",
        "- persona: a <!-- or b -->",
        "- persona:\n  a",
        "- persona:\n  - a",
        "text first\n\n- persona: a",
        "text first\n- persona: a",
        "> a quote\n\n- persona: a",
        "<!-- persona: b -->\n- persona: a",
        "text <!-- begins\npersona: b\nends --> here\n- persona: a",
    ],
)
def test_every_form_of_a_key(text: str) -> None:
    assert values(text) == [("persona", "a")]


@pytest.mark.parametrize(
    "text",
    [
        "```\npersona: a\n```",
        "> persona: a",
        "> - persona: a",
        "<!--\npersona: a\n-->",
        "    persona: a",
        "- x\n\n      persona: a",
        "text `code\npersona: a\ncode`",
        "text <!--\npersona: a\n-->",
        "| persona: a |\n|---|\n| persona: b |",
        "#### persona: a",
        "personas: a",
        "the persona: a",
    ],
)
def test_what_is_no_key(text: str) -> None:
    assert values(text) == []


def test_words_of_both_languages_side_by_side() -> None:
    text = "- Arquivos: a.py\n- cobre: C1\n- Depends: F2\nsuperficie: form\n\nREUSO: CRIAR X"
    assert [key for key, _ in values(text)] == ["files", "covers", "depends", "surface", "reuse"]


def test_a_value_goes_on_after_a_comma_or_indented() -> None:
    assert only("files: a.py,\nb.py").text == "a.py, b.py"
    assert only("- files: a.py,\n  b.py\nnot this").text == "a.py, b.py"
    assert only("files: a.py\n  b.py\nnot this").text == "a.py b.py"


def test_items_below_a_key_are_its_value_or_remarks() -> None:
    assert only("- files:\n  - a.py\n  - b.py").text == "a.py, b.py"
    assert [one.plain for one in only("- files:\n\n  - a.py\n\n  * `b.py`").listed()] == ["a.py", "b.py"]
    assert only("- persona: a\n  - since b is away").text == "a"


def test_keys_end_where_text_begins_and_a_key_below_is_said() -> None:
    reading = read("- persona: a\n\nSome text.\n\n- depends: F2\nowner: me")
    assert [one.key for one in reading.fields] == ["persona"]
    assert [(one.code, one.place) for one in reading.warnings] == [("unknown-key", Place(5, 3))]


def test_a_remark_in_the_list_does_not_end_the_keys() -> None:
    text = "- persona: a\n- mind the gap\n\n  ```\n  files: no\n  ```\n- files: b"
    assert values(text) == [("persona", "a"), ("files", "b")]


def test_lists_and_lines_may_follow_each_other() -> None:
    assert [key for key, _ in values("- persona: a\n\n* files: b\n\ncovers: C1\n\n1. reuse: x")] == [
        "persona",
        "files",
        "covers",
        "reuse",
    ]


def test_unknown_keys_warn_at_the_top_only() -> None:
    reading = read("- persna: a\n- files: b\nowner: c\n\nNote: text\n\nText. Remark: this\n\nLater: nothing")
    assert [(one.code, one.place.line) for one in reading.warnings] == [
        ("unknown-key", 1),
        ("unknown-key", 3),
        ("unknown-key", 5),
    ]
    assert "`persna`" in reading.warnings[0].message
    assert read("Text.\n\nNote: text\n\nhttp://x").warnings == ()


@pytest.mark.parametrize("sign", ["•", "◦", "–", "-\xa0", "•\xa0", "-"])
def test_a_bullet_that_is_none_is_said(sign: str) -> None:
    reading = read(f"{sign}persona: a")
    assert reading.fields == ()
    assert [one.code for one in reading.warnings] == ["unknown-key"]
    assert "- persona:" in reading.warnings[0].message


def test_a_scenario_may_tell_its_proof_after_and_between_its_text() -> None:
    text = "Given a cart:\n- Given: nothing\n- When: posted\n  - proof: test\n\nMore text. Note: x\n\nprova: e2e"
    reading = read(text, top_only=False)
    assert [(one.key, one.text) for one in reading.fields] == [("proof", "test"), ("proof", "e2e")]
    assert reading.warnings == ()


def test_places_of_key_and_value() -> None:
    field = only("\n -\t**covers:**  C1, `C2`")
    assert field.place == Place(2, 6)
    assert field.value_place == Place(2, 17)
    assert field.names() == [("C1", Place(2, 17)), ("C2", Place(2, 21))]


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ("C1,C2", ["C1", "C2"]),
        ("C1 C2; C3", ["C1", "C2", "C3"]),
        ("C1 and C2 e C3 & C4", ["C1", "C2", "C3", "C4"]),
        ("**C1**, [C2](#c2).", ["C1", "C2"]),
        ("`C1, C2`", ["C1", "C2"]),
        ("C1 (the first), C2", ["C1", "C2"]),
        ("none", []),
        ("—", []),
        ("", []),
        ("C1–C3", ["C1–C3"]),
    ],
)
def test_a_list_of_ids(value: str, names: list[str]) -> None:
    assert [name for name, _ in only(f"covers: {value}").names()] == names


@pytest.mark.parametrize(
    ("value", "members"),
    [
        ("a.py, b.py", ["a.py", "b.py"]),
        ("`a.py` `b.py`", ["a.py", "b.py"]),
        ("`a.py` (new), `b, c.py`", ["a.py", "b, c.py"]),
        ("`a.py` and src/b.py", ["a.py", "src/b.py"]),
        ("a.py (new), b.py (old, kept)", ["a.py", "b.py"]),
        ("app/(group)/page.tsx, b/[id].ts", ["app/(group)/page.tsx", "b/[id].ts"]),
        ("a.py,, b.py,", ["a.py", "b.py"]),
    ],
)
def test_a_list_of_paths(value: str, members: list[str]) -> None:
    spans = only(f"files: {value}").listed()
    assert [span.code or span.shown for span in spans] == members


def test_a_key_inside_another_item_is_said() -> None:
    reading = read("- persona: a\n- Details\n  - files: b")
    assert [one.key for one in reading.fields] == ["persona"]
    assert [one.place for one in reading.warnings] == [Place(3, 5)]


def test_a_comment_between_keys_is_no_text() -> None:
    assert values("persona: a <!-- since\nb is\naway -->\nfiles: c") == [("persona", "a"), ("files", "c")]
    assert values("- persona: a\n\n<!-- b -->\n\n- files: c") == [("persona", "a"), ("files", "c")]
