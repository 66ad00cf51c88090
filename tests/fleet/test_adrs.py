"""What the plan of a feature does to the record of decisions."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morph_tasks.fleet.adrs import Changes, narrowed_text, plan_changes
from morph_tasks.plan.record import RECORD, read_index

PLAN = """# Cart

## Decisions

### ADR-001 — Totals are integers in cents
**Scope:** project

Floats drift; cents do not.

```python
### ADR-009 — no heading, code
```

### ADR-2 — Cache in memory
**Alcance:** feature
Only here.

#### A part of it
More.

### Conflicts with the record

{conflicts}

## Slices
"""


def changes(root: Path, conflicts: str = "none", *, recorded: tuple[str, ...] = (), text: str = "") -> Changes:
    for name in recorded:
        path = root / RECORD / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"---\nid: {name}\n---\n\n# {name}\n\nbody\n")
    folder = root / ".morph/features/cart"
    (folder / "2-plan").mkdir(parents=True)
    (folder / "2-plan/plan.md").write_text(text or PLAN.format(conflicts=conflicts), encoding="utf-8")
    return plan_changes(root, "cart", folder)


def table(*rows: str) -> str:
    return "\n".join(["| ADR | Change | Scope |", "|---|---|---|", *rows])


def test_a_decision_for_the_project_becomes_a_file_of_its_own(tmp_path: Path) -> None:
    made = changes(tmp_path)
    assert made.index == {"added": ["cart--ADR-001"]} and not made.problems and not made.warnings
    assert made.write == {
        f"{RECORD}/cart--ADR-001.md": "---\nid: cart--ADR-001\nfeature: cart\n---\n\n"
        "# ADR-001 — Totals are integers in cents\n\n**Scope:** project\n\nFloats drift; cents do not.\n\n"
        "```python\n### ADR-009 — no heading, code\n```\n"
    }


def test_the_whole_of_a_decision_comes_along(tmp_path: Path) -> None:
    text = PLAN.format(conflicts="none").replace("**Alcance:** feature", "**Alcance:** projeto")
    made = changes(tmp_path, text=text)
    assert made.added == ("cart--ADR-001", "cart--ADR-002")
    assert made.write[f"{RECORD}/cart--ADR-002.md"].endswith("Only here.\n\n#### A part of it\nMore.\n")


def test_conflicts_take_back_and_narrow(tmp_path: Path) -> None:
    rows = table("| ADR-007 | total | |", "| shop--ADR-3 | partial | the  admin only |")
    made = changes(tmp_path, rows, recorded=("shop--ADR-003", "old--ADR-003", "old--ADR-007"))
    assert made.index == {"added": ["cart--ADR-001"], "revoked": ["old--ADR-007"], "narrowed": ["shop--ADR-003"]}
    assert made.remove == (f"{RECORD}/old--ADR-007.md",)
    assert made.write[f"{RECORD}/shop--ADR-003.md"] == (
        "---\nid: shop--ADR-003\nscope: the admin only\nnarrowedBy: cart\n---\n\n# shop--ADR-003\n\nbody\n"
    )


def test_a_row_that_cannot_be_applied_is_a_problem_and_no_refusal(tmp_path: Path) -> None:
    rows = table(
        "| ADR-003 | total | |",  # two have that number
        "| ADR-099 | total | |",
        "| the old one | total | |",
        "| ADR-007 | whole | |",
        "| ADR-007 | partial | |",
        "| ADR-007 | total | |",
        "| old--ADR-007 | total | |",  # the same again
    )
    made = changes(tmp_path, rows, recorded=("shop--ADR-003", "old--ADR-003", "old--ADR-007"))
    assert made.revoked == ("old--ADR-007",)
    assert [(one["id"], one["reason"]) for one in made.problems] == [
        ("ADR-003", "ambiguous"),
        ("ADR-099", "not-in-record"),
        ("the old one", "not-an-id"),
        ("ADR-007", "malformed-row"),
        ("ADR-007", "malformed-row"),
        ("old--ADR-007", "duplicate-row"),
    ]
    assert all(one["message"].startswith("line ") for one in made.problems)


def test_what_says_nothing_of_decisions_changes_nothing(tmp_path: Path) -> None:
    assert changes(tmp_path, text="# A plan\n\n## Decisions\n\n<!--\n### ADR-001 — an example\n-->\n") == Changes()


def test_no_plan(tmp_path: Path) -> None:
    assert plan_changes(tmp_path, "cart", tmp_path / ".morph/features/cart") == Changes()


@pytest.mark.parametrize("damage", [b"\xff\xfe### ADR-1 \xe4", b"# a\n\n## Decisions\n" + b"> " * 700 + b"ADR"])
def test_a_plan_that_cannot_be_read_is_a_warning(tmp_path: Path, damage: bytes) -> None:
    folder = tmp_path / ".morph/features/cart/2-plan"
    folder.mkdir(parents=True)
    (folder / "plan.md").write_bytes(damage)
    made = plan_changes(tmp_path, "cart", folder.parent)
    assert len(made.warnings) == 1 and not made.write and not made.remove


def test_a_record_behind_a_link_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "tree/.morph/specs").mkdir(parents=True)
    (tmp_path / "tree" / RECORD).symlink_to(tmp_path / "elsewhere")
    made = changes(tmp_path / "tree")
    assert not made.write and "is a link" in made.warnings[0]


def test_taking_back_an_own_decision_of_the_same_number(tmp_path: Path) -> None:
    made = changes(tmp_path, table("| cart--ADR-001 | total | |"), recorded=("cart--ADR-001",))
    assert not made.remove and made.write  # the new words stand


BODIES = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=60)


@settings(max_examples=100, deadline=None)
@given(BODIES, st.text("abc ", min_size=1, max_size=12), st.sampled_from(["\n", "\r\n"]))
def test_narrowing_twice_is_narrowing_once(body: str, scope: str, end: str) -> None:
    text = f"---\nid: x\n---\n\n{body}".replace("\n", end)
    once = narrowed_text(text, scope, "cart")
    assert narrowed_text(once, scope, "cart") == once
    assert once.endswith(body.replace("\n", end)) and once.count("narrowedBy: cart") >= 1
    other = narrowed_text(once, "other", "shop")
    assert f"{end}scope: other{end}narrowedBy: shop{end}---{end}" in other


def test_narrowing_a_file_without_a_head() -> None:
    assert narrowed_text("# ADR-1\r\nx\r\n", "a", "cart") == (
        "---\r\nscope: a\r\nnarrowedBy: cart\r\n---\r\n\r\n# ADR-1\r\nx\r\n"
    )
    assert narrowed_text("---\nno end\n", "a", "cart").endswith("---\n\n---\nno end\n")


def test_the_files_are_what_the_index_reads(tmp_path: Path) -> None:
    made = changes(tmp_path)
    for path, text in made.write.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    assert read_index(tmp_path).resolve("ADR-1") == ("cart--ADR-001", "")
