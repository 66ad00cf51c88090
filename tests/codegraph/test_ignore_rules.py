"""The rules by content: what is no rule does not count, and a tree without a file goes by the main tree's."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from morph_tasks.codegraph.ignore_rules import NAME, drop_leftover, leftover, lend, rules_digest, rules_in
from morph_tasks.codegraph.lending import lent

RULES = st.lists(st.text("ab*!/. \\", min_size=1, max_size=8).map(str.strip).filter(bool), max_size=6)


@given(RULES, st.lists(st.sampled_from(["", "   ", "# a comment", "\t# another"]), min_size=1, max_size=4), st.data())
def test_only_the_rules_count(rules: list[str], noise: list[str], data: st.DataObject) -> None:
    plain = "\n".join(rules).encode()
    lines = [line for rule in rules for line in (*noise, rule + data.draw(st.sampled_from(["", " ", "\t"])))]
    end = data.draw(st.sampled_from(["\n", "\r\n"]))
    dressed = data.draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + (end.join([*lines, ""])).encode()
    escaped = [rule for rule in rules if rule.endswith("\\")]
    assert escaped or rules_in(dressed) == rules_in(plain)


@given(RULES.filter(lambda rules: len(set(rules)) > 1))
def test_their_order_counts(rules: list[str]) -> None:
    turned = rules[::-1]
    assert (rules_in("\n".join(rules).encode()) == rules_in("\n".join(turned).encode())) == (rules == turned)


def test_an_escaped_blank_is_part_of_a_rule() -> None:
    assert rules_in(b"a\\ \nb \n") == [b"a\\ ", b"b"]


@pytest.fixture
def trees(tmp_path: Path) -> tuple[Path, Path, str]:
    main, side = tmp_path / "main", tmp_path / "side"
    (main / ".git").mkdir(parents=True)
    side.mkdir()
    return main, side, str(main / ".git")


def test_a_tree_without_a_file_goes_by_the_main_one(trees: tuple[Path, Path, str]) -> None:
    main, side, common = trees
    none = rules_digest(str(side), common)
    (main / NAME).write_text("# only words\n")
    assert rules_digest(str(side), common) == none  # a file without rules is no rules
    (main / NAME).write_text("*.lock\n")
    of_main = rules_digest(str(main), common)
    assert rules_digest(str(side), common) == of_main != none
    (side / NAME).write_text("*.map\n")
    assert rules_digest(str(side), common) not in (of_main, none)


def test_rules_that_cannot_be_read_are_not_known(trees: tuple[Path, Path, str]) -> None:
    main, _, common = trees
    (main / NAME).mkdir()
    assert rules_digest(str(main), common) is None


def test_the_main_rules_are_lent_and_taken_back(trees: tuple[Path, Path, str]) -> None:
    main, side, common = trees
    (main / NAME).write_bytes(b"\xef\xbb\xbf*.lock\n")
    with lent(side, main) as did:
        assert did and leftover(side) and (side / NAME).read_bytes() == lend(b"*.lock\n")
        assert rules_digest(str(side), common) == rules_digest(str(main), common)
    assert not (side / NAME).exists()


def test_a_copy_that_a_killed_run_left_is_renewed_and_taken_away(trees: tuple[Path, Path, str]) -> None:
    main, side, common = trees
    (main / NAME).write_text("*.lock\n")
    (side / NAME).write_bytes(lend(b"*.old\n"))
    assert rules_digest(str(side), common) == rules_digest(str(main), common)  # it is not the tree's own
    with lent(side, main):
        assert "*.lock" in (side / NAME).read_text()
    assert not (side / NAME).exists()


@pytest.mark.parametrize("edit", [b"mine/\n", b"\r", b"# why\n"])
def test_a_copy_that_somebody_edited_is_his(trees: tuple[Path, Path, str], edit: bytes) -> None:
    main, side, common = trees
    (main / NAME).write_text("*.lock\n")
    edited = lend(b"*.lock\n") + edit
    (side / NAME).write_bytes(edited)
    with lent(side, main) as did:
        assert not did
    drop_leftover(side)
    assert (side / NAME).read_bytes() == edited
    assert edit != b"mine/\n" or rules_digest(str(side), common) != rules_digest(str(main), common)


def test_a_file_of_the_trees_own_is_never_touched(trees: tuple[Path, Path, str]) -> None:
    main, side, _ = trees
    (main / NAME).write_text("*.lock\n")
    (side / NAME).write_text("*.map\n")
    with lent(side, main) as did:
        assert not did
    drop_leftover(side)
    assert (side / NAME).read_text() == "*.map\n"
