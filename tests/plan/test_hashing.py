from __future__ import annotations

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morph_tasks.plan.hashing import plan_hash

BODY = st.lists(
    st.sampled_from(
        ["# T", "## Problem", "text", "  x  ", "\ttab\t", "", "```", "~~~", "- a", "## Notes", "> q", "é\u2028"]
    ),
    max_size=15,
).map("\n".join)
SOUND = BODY.filter(lambda text: text.count("```") % 2 == 0 and "~~~" not in text)


def test_the_hash_is_that_of_the_text() -> None:
    assert plan_hash("# A\n\nb\n") == hashlib.sha256(b"# A\n\nb").hexdigest()
    assert plan_hash("") == hashlib.sha256(b"").hexdigest()


@settings(deadline=None)
@given(BODY)
def test_how_the_text_is_stored_does_not_count(text: str) -> None:
    same = plan_hash(text)
    assert plan_hash("\ufeff" + text) == same
    assert plan_hash(text.replace("\n", "\r\n")) == same
    assert plan_hash(text.replace("\n", "\r")) == same
    assert plan_hash(text.replace("\n", " \t\n") + "  ") == same
    assert plan_hash(text + "\n\n\n") == same


@settings(deadline=None)
@given(
    SOUND,
    st.sampled_from(["## Errata", "##  ERRATA ##", "## **Errata**", "Errata\n---"]),
    BODY.filter(lambda t: "#" not in t),
)
def test_errata_at_the_end_do_not_count(text: str, heading: str, errata: str) -> None:
    assert plan_hash(f"{text}\n\n{heading}\n{errata}") == plan_hash(text)


@settings(deadline=None)
@given(SOUND, st.integers(0, 40))
def test_every_other_change_counts(text: str, at: int) -> None:
    changed = text[:at] + "x" + text[at:]
    assert plan_hash(changed) != plan_hash(text)


@pytest.mark.parametrize(
    "hidden",
    [
        "```\n## Errata\n{}\n```",
        "<!--\n## Errata\n{}\n-->",
        "> ## Errata\n> {}",
        "- ## Errata\n  {}",
        "### Errata\n{}",
        "# Errata\n{}",
        "    ## Errata\n{}",
        "## Errata of last year\n{}",
    ],
)
def test_what_only_looks_like_errata_counts(hidden: str) -> None:
    assert plan_hash("# A\n" + hidden.format("one")) != plan_hash("# A\n" + hidden.format("two"))


def test_what_follows_the_errata_counts() -> None:
    text = "# A\n\n## Errata\nlater\n\n### more\n\n## B\n{}\n"
    assert plan_hash(text.format("one")) != plan_hash(text.format("two"))
    assert plan_hash(text.format("one")) == plan_hash("# A\n\n## B\none")
    text = "# A\n\n## Errata\nlater\n\n# B\n{}\n"
    assert plan_hash(text.format("one")) != plan_hash(text.format("two"))


def test_lone_surrogates_have_a_hash_too() -> None:
    assert plan_hash("a\ud800") != plan_hash("a")
