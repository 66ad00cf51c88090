from __future__ import annotations

import json
import os
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.plan.agents import OWN
from morph_tasks.plan.hashing import plan_hash
from morph_tasks.plan.record import RECORD
from morph_tasks.plan.service import LARGEST, plan_check, plan_state, read_plan

FOLDER = ".morph/features/cart"


@pytest.fixture
def root(tmp_path: Path, good: str) -> Path:
    """A tree with the feature `cart` and a plan without a fault."""
    top = tmp_path / "tree"
    (top / FOLDER / "2-plan").mkdir(parents=True)
    (top / FOLDER / "feature.json").write_text('{"description": "d"}')
    (top / FOLDER / "2-plan/plan.md").write_text(good, encoding="utf-8")
    return top


def plan_of(root: Path) -> Path:
    return root / FOLDER / "2-plan/plan.md"


def checks_of(root: Path) -> Path:
    return root / FOLDER / "2-plan/checks.json"


def approve(root: Path, **gate: Any) -> None:
    (root / FOLDER / "feature.json").write_text(json.dumps({"approvalGates": {"plan": gate}}))


def refusal(call: Callable[[Path, str], Any], root: Path, feature: str = "cart") -> Refusal:
    with pytest.raises(Refusal) as refused:
        call(root, feature)
    return refused.value


def test_a_good_plan_is_written_down(root: Path, good: str) -> None:
    report = plan_check(root, "cart")
    assert report.ok
    made = json.loads(checks_of(root).read_text("utf-8"))
    assert made["plan"]["hash"] == plan_hash(good) == report.hash
    assert [one["id"] for one in made["slices"]] == ["F1", "F2"]
    assert plan_state(root, "cart") == "fresh"


def test_nothing_is_written_while_there_are_errors(root: Path, good: str) -> None:
    plan_of(root).write_text(good.replace("- proof: test", ""), encoding="utf-8")
    assert not plan_check(root, "cart").ok
    assert not checks_of(root).exists()
    assert plan_state(root, "cart") == "missing"


def test_checks_of_an_earlier_plan_stay_and_are_stale(root: Path, good: str) -> None:
    plan_check(root, "cart")
    before = checks_of(root).read_bytes()
    plan_of(root).write_text(good.replace("- proof: test", "- proof: x"), encoding="utf-8")
    plan_check(root, "cart")
    assert checks_of(root).read_bytes() == before
    assert plan_state(root, "cart") == "stale"


def test_a_file_that_says_the_same_is_not_written_again(root: Path, good: str) -> None:
    plan_check(root, "cart")
    os.utime(checks_of(root), (1, 1))
    plan_of(root).write_bytes(("\ufeff" + good.replace("\n", "\r\n") + "\r\n## Errata\r\nx").encode())
    assert plan_check(root, "cart").ok
    assert checks_of(root).stat().st_mtime == 1
    checks_of(root).write_text("{")
    plan_check(root, "cart")
    assert plan_state(root, "cart") == "fresh"


@pytest.mark.parametrize("feature", ["nope", "", ".", "..", "../cart", "a/b", "x" * 300, "-x", "a\0b"])
def test_a_feature_that_is_none_is_usage(root: Path, feature: str) -> None:
    refused = refusal(plan_check, root, feature)
    assert (refused.code, refused.exit_code) == ("feature-not-found", 2)


def test_a_missing_plan_is_usage(root: Path) -> None:
    plan_of(root).unlink()
    refused = refusal(plan_check, root)
    assert (refused.code, refused.exit_code) == ("plan-missing", 2)
    assert refused.as_json()["errors"][0]["code"] == "plan-missing"
    plan_of(root).parent.rmdir()
    assert refusal(plan_check, root).code == "plan-missing"
    plan_of(root).parent.write_text("a file")
    assert refusal(plan_check, root).code == "plan-missing"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"# A\n\xff\xfe", "line 2"),
        ("# A\n".encode("utf-16"), "UTF-8"),
        (b"# A\n\nb\0c", "line 3"),
        (b"\x7fELF\x02\x01\x01\x00\x00\x80", "text"),
        (b"ab\xed\xa0\x80", "UTF-8"),
    ],
)
def test_what_is_no_text_is_refused(root: Path, data: bytes, why: str) -> None:
    plan_of(root).write_bytes(data)
    refused = refusal(plan_check, root)
    assert refused.code == "plan-unreadable" and why in refused.what
    assert plan_state(root, "cart") == "missing"


def test_the_largest_plan(root: Path) -> None:
    plan_of(root).write_bytes(b"x" * LARGEST)
    assert len(read_plan(root, "cart")) == LARGEST
    plan_of(root).write_bytes(b"x" * (LARGEST + 1))
    assert refusal(plan_check, root).code == "plan-too-large"


def test_a_plan_that_is_no_file_is_refused(root: Path) -> None:
    plan_of(root).unlink()
    os.mkfifo(plan_of(root))
    assert refusal(plan_check, root).code == "plan-unreadable"
    plan_of(root).unlink()
    plan_of(root).mkdir()
    assert refusal(plan_check, root).code == "plan-unreadable"


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_plan_that_may_not_be_read_is_refused(root: Path) -> None:
    plan_of(root).chmod(0)
    assert refusal(plan_check, root).code == "plan-unreadable"


def test_links_inside_the_tree_are_followed_and_no_others(root: Path, tmp_path: Path, good: str) -> None:
    plan_of(root).rename(root / "real.md")
    plan_of(root).symlink_to(root / "real.md")
    assert plan_check(root, "cart").ok
    plan_of(root).unlink()
    (tmp_path / "outside.md").write_text(good, encoding="utf-8")
    plan_of(root).symlink_to(tmp_path / "outside.md")
    assert refusal(plan_check, root).code == "path-outside-tree"
    plan_of(root).unlink()
    plan_of(root).symlink_to(root / "gone.md")
    assert refusal(plan_check, root).code == "plan-missing"


def test_checks_are_not_written_over_a_link_out_of_the_tree(root: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim.json"
    victim.write_text("keep")
    checks_of(root).symlink_to(victim)
    assert refusal(plan_check, root).code == "path-outside-tree"
    assert victim.read_text() == "keep"
    assert plan_state(root, "cart") == "unreadable"


def test_files_of_slices_may_not_leave_over_a_link(root: Path, tmp_path: Path) -> None:
    (root / "src").symlink_to(tmp_path)
    assert {one.code for one in plan_check(root, "cart").errors} == {"bad-path"}
    (root / "src").unlink()
    (root / "src").symlink_to("src")
    assert plan_check(root, "cart").errors == ()


def test_an_approved_plan_is_frozen(root: Path, good: str) -> None:
    approve(root, approved=True, planHash=plan_hash(good))
    assert plan_check(root, "cart").ok
    before = checks_of(root).read_bytes()
    plan_of(root).write_text(good + "\n## Errata\nIt was 423.\n", encoding="utf-8")
    assert plan_check(root, "cart").ok
    plan_of(root).write_text(good.replace("422", "423"), encoding="utf-8")
    refused = refusal(plan_check, root)
    assert (refused.code, refused.exit_code) == ("frozen", 1)
    assert refused.payload["planHash"] == plan_hash(good) != refused.payload["hash"]
    assert "unapprove cart plan" in refused.fix
    assert checks_of(root).read_bytes() == before


def test_a_frozen_plan_with_errors_is_frozen_first(root: Path, good: str) -> None:
    approve(root, approved=True, planHash=plan_hash(good))
    plan_of(root).write_text("nothing")
    assert refusal(plan_check, root).code == "frozen"


@pytest.mark.parametrize(
    "text",
    [
        '{"approvalGates": {"plan": {"approved": false, "planHash": "x"}}}',
        '{"approvalGates": {"plan": {"approved": "yes", "planHash": "x"}}}',
        '{"approvalGates": {"plan": {"approved": true}}}',
        '{"approvalGates": {"plan": {"approved": true, "planHash": null}}}',
        '{"approvalGates": {"plan": {"approved": true, "planHash": ""}}}',
        '{"approvalGates": {"plan": []}}',
        '{"approvalGates": null}',
        "[]",
    ],
)
def test_without_a_stored_hash_nothing_is_frozen(root: Path, text: str) -> None:
    (root / FOLDER / "feature.json").write_text(text)
    assert plan_check(root, "cart").ok


def test_a_state_that_cannot_be_read_is_not_taken_for_unapproved(root: Path) -> None:
    (root / FOLDER / "feature.json").write_text("{")
    assert refusal(plan_check, root).code == "corrupt-file"
    assert not checks_of(root).exists()


def test_the_project_has_the_last_word_on_personas_and_the_record(root: Path, good: str) -> None:
    (root / OWN).parent.mkdir(parents=True)
    (root / OWN).write_text('{"agents": [{"id": "python-senior"}]}')
    (root / RECORD).mkdir(parents=True)
    (root / RECORD / "old--ADR-007.md").write_text("x")
    table = "\n| ADR | Change | Scope |\n|--|--|--|\n| ADR-007 | total | |\n| ADR-008 | total | |\n"
    plan_of(root).write_text(good.replace("\nnone\n", table), encoding="utf-8")
    report = plan_check(root, "cart")
    assert [one.code for one in report.errors] == ["unknown-persona"]
    assert [one.code for one in report.warnings] == ["conflict-not-applicable", "unknown-surface"]
    (root / OWN).write_text("[")
    assert refusal(plan_check, root).code == "corrupt-file"


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"version": 1, "plan": {}}', '{"version": 9, "plan": {"hash": "x"}}', "\0"]
)
def test_checks_that_tell_no_hash_are_unreadable(root: Path, text: str) -> None:
    checks_of(root).write_text(text)
    assert plan_state(root, "cart") == "unreadable"


def test_every_state(root: Path, good: str) -> None:
    assert plan_state(root, "cart") == "missing"
    assert plan_state(root, "nope") == "missing"
    plan_check(root, "cart")
    assert plan_state(root, "cart") == "fresh"
    plan_of(root).write_text(good + "\n## Errata\nx\n", encoding="utf-8")
    assert plan_state(root, "cart") == "fresh"
    plan_of(root).write_text(unicodedata.normalize("NFD", good), encoding="utf-8")
    assert plan_state(root, "cart") == ("fresh" if unicodedata.is_normalized("NFD", good) else "stale")
    plan_of(root).write_text(good + "x", encoding="utf-8")
    assert plan_state(root, "cart") == "stale"
    plan_of(root).write_bytes(b"\xff")
    assert plan_state(root, "cart") == "unreadable"
    plan_of(root).unlink()
    assert plan_state(root, "cart") == "missing"
    checks_of(root).unlink()
    checks_of(root).mkdir()
    assert plan_state(root, "cart") == "unreadable"
