from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morph_tasks.errors import Refusal
from morph_tasks.plan.agents import Agents
from morph_tasks.plan.check import Report, check_plan
from morph_tasks.plan.hashing import plan_hash
from morph_tasks.plan.record import AdrIndex

Edit = Callable[[str, str], str]
Found = Callable[[str], list[str]]
Check = Callable[[str], Report]

TABLE = "\n| ADR | Change | Scope |\n|--|--|--|\n"


def test_a_plan_without_a_fault(good: str, check: Check) -> None:
    report = check(good)
    assert (report.errors, report.warnings, report.ok) == ((), (), True)
    assert report.waves == (("F1",), ("F2",))
    assert report.hash == plan_hash(good)


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends_and_a_byte_order_mark_move_no_finding(edited: Edit, found: Found, end: str) -> None:
    text = edited("- proof: test", "-\tproof:\tunité").replace("persona: ui-designer", "persona:\tnobody")
    expected = ["9:10 bad-proof", "30:12 unknown-persona"]
    assert found(text) == expected
    assert found("\ufeff" + text.replace("\n", end)) == expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        # sections
        ("## Problem\nTotals drift.\n", "", ["1:1 missing-section"]),
        ("## Problem\n", "### Problem\n", ["3:5 missing-section"]),
        ("## Problem\n", "##Problem\n", ["3:1 missing-section"]),
        ("## Problem\n", "##\xa0Problem\n", ["3:1 missing-section"]),
        ("## Problem\n", "## 1. Problem\n", ["3:4 missing-section"]),
        ("Totals drift.", "", ["3:4 empty-section"]),
        ("Totals drift.", "<!-- why -->\n\n---\n\n### Whom", ["3:4 empty-section"]),
        ("Totals drift.", "| a |\n|---|", ["3:4 empty-section"]),
        ("Totals drift.", "```\n```", ["3:4 empty-section"]),
        ("Totals drift.", "```\nx\n```", []),
        ("Totals drift.", "<b>drift</b>", []),
        ("Totals drift.", "| a |\n|---|\n| b |", []),
        ("### Conflicts with the record\nnone\n", "", ["15:4 missing-section"]),
        ("### Conflicts with the record", "## Conflicts with the record", ["20:4 missing-section"]),
        ("\nnone\n", "\n\n", ["20:5 empty-section"]),
        ("\nnone\n", "\n<!-- none -->\n", ["20:5 empty-section"]),
        ("\nnone\n", TABLE, ["20:5 empty-section"]),
        ("\nnone\n", "\n> nenhum\n", []),
        # scenarios
        ("- proof: test\n", "", ["7:5 missing-proof"]),
        ("- proof: test\n", "- proof:\n", ["9:3 missing-proof"]),
        ("- proof: test\n", "- proof: none of it\n", ["9:10 bad-proof"]),
        ("- proof: test\n", "- proof: test, e2e\n", ["9:10 bad-proof"]),
        ("- proof: test\n", "```\n- proof: test\n```\n", ["7:5 missing-proof"]),
        ("- proof: test\n", "> - proof: test\n", ["7:5 missing-proof"]),
        ("- proof: test\n", "<!--\n- proof: test\n-->\n", ["7:5 missing-proof"]),
        ("- proof: test\n", "- proof: test\n- prova: teste\n", ["10:3 duplicate-key"]),
        ("- proof: test\n", "**Prova:** `MANUAL`\n", []),
        ("answer is 422", "answer is in no file", ["8:69 artefact-without-why"]),
        ("answer is 422", "answer is in `no file`", []),
        ("answer is 422.", "answer is in no file.\n> Why an artefact: it is a linter\n", []),
        ("answer is 422.", "answer is in no file.\n> Why an artefact:\n", ["8:69 artefact-without-why"]),
        ("An empty cart is refused", "The file exists", ["7:14 artefact-without-why"]),
        ("### C2", "### C1", ["11:5 duplicate-id", "27:15 unknown-scenario"]),
        # slices
        ("- persona: python-senior\n", "", ["24:5 missing-persona"]),
        ("- persona: python-senior\n", "- persona:\n", ["25:3 missing-persona"]),
        ("- persona: python-senior\n", "- persona: Python-Senior\n", ["25:12 unknown-persona"]),
        ("- persona: python-senior\n", "- persona: python-senior, ui-designer\n", ["25:12 unknown-persona"]),
        ("- files: src/cart.py, tests/test_cart.py\n", "", ["24:5 missing-files"]),
        ("- files: src/cart.py, tests/test_cart.py\n", "- files:\n", ["26:3 missing-files"]),
        ("src/cart.py, tests", "../cart.py, /tests", ["26:10 bad-path", "26:22 bad-path"]),
        ("`src/page.html`", "`../a`, `ok.py`", ["31:10 bad-path"]),
        ("src/cart.py, tests", "src/cart.py tests", ["26:10 bad-path"]),
        ("src/cart.py, tests/test_cart.py", "`src/my cart.py`", []),
        ("src/cart.py", "a,b,c,d,e,f,g", []),
        ("src/cart.py", "a,b,c,d,e,f,g,tests/test_cart.py", []),
        ("src/cart.py", "a,b,c,d,e,f,g,h", ["26:27 too-many-files"]),
        ("src/cart.py", "a,b,c,d,e,f,g,./a,a//", ["26:28 bad-path"]),
        ("src/cart.py", ",".join("abcdefghijk"), ["26:26 too-many-files"]),
        ("- covers: C1, C2\n", "- covers: C1, C9, C2, c2\n", ["27:15 unknown-scenario", "27:23 unknown-scenario"]),
        ("- covers: C1, C2\n", "- covers: C1\n", ["11:5 uncovered-scenario"]),
        ("- covers: C1\n- depends", "- depends", ["29:5 slice-covers-nothing?"]),
        ("- covers: C1\n- depends", "- covers:\n- depends", ["32:3 slice-covers-nothing?"]),
        ("- depends: F1", "- depends: F7, F1", ["33:12 unknown-slice"]),
        ("- depends: F1", "- depends: none", []),
        ("- depends: F1", "- depends: F2", ["33:12 dependency-cycle"]),
        ("- covers: C1, C2", "- covers: C1, C2\n- depends: F2", ["28:12 dependency-cycle"]),
        ("- surface: form", "- surface: hologram", ["34:12 unknown-surface?"]),
        ("- surface: form", "- reuse: COPY Cart", ["34:10 bad-reuse"]),
        ("- surface: form", "- reuse: CREATE", ["34:10 bad-reuse"]),
        ("- surface: form", "- reuse: CREATE Cart", ["34:10 create-without-why?"]),
        ("- surface: form", "- reuse: REUSE Money\n- reuso: CRIAR Cart — why: x", []),
        ("- surface: form", "- surface: form\n- superfície: list", ["35:3 duplicate-key"]),
        ("- surface: form", "- colour: red", ["34:3 unknown-key?"]),
        ("### F2 —", "### F1 —", ["29:5 duplicate-id"]),
        # decisions
        ("**Scope:** feature\n", "", ["16:5 adr-without-scope?"]),
        ("**Scope:** feature\n", "**Scope:** galaxy\n", ["17:12 adr-without-scope?"]),
        ("**Scope:** feature\n", "- Alcance: PROJETO\n", []),
        ("### Conflicts", "### ADR-001 — again\n**Scope:** project\n\n### Conflicts", ["20:5 duplicate-id"]),
        ("\nnone\n", TABLE + "| ADR-007 | total | |\n", []),
        ("\nnone\n", TABLE + "| ADR-003 | total | |\n", ["23:3 conflict-not-applicable?"]),
        ("\nnone\n", TABLE + "| ADR-099 | total | |\n", ["23:3 conflict-not-applicable?"]),
        ("\nnone\n", TABLE + "| ADR-007 | partial | |\n", ["23:3 conflict-not-applicable?"]),
        (
            "\nnone\n",
            TABLE + "| ADR-007 | total | |\n| cart--ADR-007 | total | |\n",
            ["24:3 conflict-not-applicable?"],
        ),
        ("\nnone\n", "\n| ADR | Change |\n|--|--|\n| ship--go--ADR-012 | total |\n", []),
        # the end
        ("- surface: form\n", "- surface: form\n\n## Errata\nx\n", []),
        ("- surface: form\n", "- surface: form\n\n## Errata\nx\n\n## Notes\n", ["36:4 errata-not-last"]),
        ("- surface: form\n", "- surface: form\n\n## Errata\nx\n\n## Errata\ny\n", ["36:4 errata-not-last"]),
        ("## Slices", "## Errata\nx\n\n## Slices", ["23:4 errata-not-last"]),
    ],
)  # fmt: skip
def test_each_fault_at_its_place(edited: Edit, found: Found, old: str, new: str, expected: list[str]) -> None:
    assert found(edited(old, new)) == expected


def test_an_empty_plan_misses_everything(found: Found) -> None:
    for text in ("", "\n", "\ufeff", "no headings at all", "---\na: b\n---\n"):
        assert found(text) == ["1:1 missing-section"] * 4


def test_sections_without_items(good: str, found: Found) -> None:
    head, _, rest = good.partition("### C1")
    assert found(head + "## Decisions" + rest.partition("## Decisions")[2])[0] == "6:4 no-scenarios"
    assert found(good.partition("### F1")[0]) == ["23:4 empty-section"]


def test_more_than_twelve_slices_warn(good: str, found: Found) -> None:
    more = "".join(f"\n### F{n} — x\n- persona: python-senior\n- files: f{n}\n- covers: C1\n" for n in range(3, 15))
    assert found(good + more.rpartition("\n### F13")[0]) == []
    assert found(good + more)[0].endswith("too-many-slices?")


def test_every_circle_is_named_once(good: str, check: Check) -> None:
    ring = "".join(
        f"\n### F{n} — x\n- persona: python-senior\n- files: f{n}\n- covers: C1\n- depends: F{after}\n"
        for n, after in ((3, 4), (4, 5), (5, 3), (6, 6), (7, 3))
    )
    report = check(good + ring)
    messages = [one.message for one in report.errors if one.code == "dependency-cycle"]
    assert len(messages) == 2
    assert "F3 → F4 → F5 → F3" in messages[0] and "F6 → F6" in messages[1]


def test_waves_are_empty_while_there_are_errors(edited: Edit, check: Check) -> None:
    assert check(edited("- proof: test", "- proof: x")).waves == ()


def test_a_link_out_of_the_tree_is_a_bad_path(good: str) -> None:
    report = check_plan(
        good, Agents(("python-senior", "ui-designer"), ("form",)), AdrIndex(), lambda path: "page" in path
    )
    assert [(one.code, one.place.line) for one in report.errors] == [("bad-path", 31)]


def test_the_reason_for_what_is_missing(good: str, check: Check) -> None:
    hidden = good.replace("## Decisions", "```\n## Decisions")
    messages = [one.message for one in check(hidden).errors if one.code == "missing-section"]
    assert len(messages) == 2 and all("line 15 is never closed" in one for one in messages)
    assert "line 3 has it in another form" in check(good.replace("## Problem", "# Problem")).errors[0].message


def test_findings_are_in_the_order_of_the_file(good: str, check: Check) -> None:
    text = good.replace("persona: ", "persona: x").replace("proof: ", "proof: x").replace("covers: C1", "covers: X")
    places = [one.place for one in check(text).errors]
    assert places == sorted(places) and len(places) > 5


def test_messages_stay_short_whatever_the_plan_holds(edited: Edit, check: Check) -> None:
    text = edited("persona: python-senior", "persona: " + "x" * 100_000).replace(
        "covers: C1, C2", "covers: " + "y" * 100_000
    )
    assert all(len(one.message) < 400 for one in check(text).errors)


LINES = st.lists(
    st.sampled_from(
        [
            "## Problem",
            "why",
            "## Scenarios",
            "### C1 — a",
            "- proof: test",
            "no file",
            "> Why an artefact: x",
            "## Decisions",
            "### ADR-001 — d",
            "Scope: project",
            "### Conflicts with the record",
            "none",
            "| ADR | Change |",
            "|--|--|",
            "| ADR-007 | total |",
            "## Slices",
            "### F1 — a",
            "### F2 — b",
            "- persona: python-senior",
            "- files: a.py",
            "- covers: C1",
            "- depends: F1",
            "- depends: F2",
            "- reuse: CREATE x",
            "## Errata",
            "```",
            "<!--",
            "",
            "#",
        ]
    ),
    max_size=40,
).map("\n".join)


@settings(max_examples=150, deadline=None)
@given(LINES, st.text(max_size=60))
def test_any_text_gives_a_report(text: str, odd: str) -> None:
    agents, record = Agents(("python-senior",)), AdrIndex(("x--ADR-007",))
    for one in (text, odd + "\n" + text, text + odd):
        try:
            report = check_plan(one, agents, record)
        except Refusal as refusal:
            assert refusal.code == "plan-too-deep"
            continue
        lines = len(report.plan.lines)
        for finding in (*report.errors, *report.warnings):
            assert 1 <= finding.place.line <= lines
            assert 1 <= finding.place.column <= len(report.plan.lines[finding.place.line - 1]) + 1
        assert bool(report.waves) == (report.ok and bool(report.plan.slices))
