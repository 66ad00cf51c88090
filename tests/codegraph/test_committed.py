"""Work that was extracted before it was committed, and the commit of it."""

from __future__ import annotations

import json

import pytest

from morph_tasks.codegraph import extracted
from morph_tasks.codegraph.freshness import Freshness, freshness
from morph_tasks.repo.git import open_repo
from tests.conftest import Project


def judged(project: Project) -> Freshness:
    return freshness(open_repo(project.root))


@pytest.fixture
def worked(graphed: Project) -> Project:
    """A tree with a file that changed, one that is new, one that is gone and a README, all of it extracted."""
    graphed.write("shop/cart.py", (graphed.root / "shop/cart.py").read_text() + "\n\ndef vat():\n    return 2\n")
    graphed.write("shop/a new.py", "def new():\n    return 1\n")
    graphed.write("README", "words\n")
    (graphed.root / "shop/till.py").unlink()
    assert graphed.morph("graph", "refresh").code == 0
    return graphed


def test_a_commit_of_what_was_extracted_is_fresh_and_git_is_asked_once(
    worked: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    worked.commit("work")
    found = judged(worked)
    assert (found.state, found.reason) == ("fresh", None), found.detail
    assert found.detail.startswith("what was committed since ") and "may have moved" not in found.detail
    assert "fresh: what was committed since" in worked.morph("graph", "status").out
    answer = worked.morph("graph", "affected", "vat", "--json").json
    assert answer["freshness"]["state"] == "fresh"

    def asked(*_: object, **__: object) -> None:
        raise AssertionError("git was asked again")

    monkeypatch.setattr("morph_tasks.codegraph.committed._ask", asked)
    monkeypatch.setattr("morph_tasks.codegraph.same_code._ask", asked)
    assert judged(worked).state == "fresh"
    monkeypatch.undo()
    worked.write(".morph/features/cart/feature.json", "{}")
    worked.commit("begin")
    assert judged(worked).state == "fresh"


def test_what_changes_after_that_commit_is_work_like_any_other(worked: Project) -> None:
    worked.commit("work")
    worked.write("shop/cart.py", "class Cart: pass\n")
    found = judged(worked)
    assert found.state == "fresh" and found.drift and found.drift.changed == ["shop/cart.py"]
    worked.commit("more")
    assert judged(worked).reason == "old-stamp"


@pytest.mark.parametrize(
    ("path", "text"),
    [("shop/cart.py", "class Cart: pass\n"), ("shop/a new.py", ""), ("README", "other\n"), ("shop/till.py", "")],
)
def test_a_commit_of_other_content_is_not(worked: Project, path: str, text: str) -> None:
    worked.write(path, text)
    worked.commit("work")
    assert judged(worked).reason == "old-stamp"


def test_a_commit_of_a_part_is_fresh_while_the_rest_is_there(worked: Project) -> None:
    worked.git("add", "shop/cart.py")
    worked.git("commit", "-q", "-m", "a part")
    assert judged(worked).state == "fresh"
    (worked.root / "shop/a new.py").unlink()
    assert judged(worked).reason == "extracted-dirty"


def test_a_commit_of_another_file_as_well_is_not(worked: Project) -> None:
    worked.write("shop/last.py", "def last(): return 3\n")
    worked.commit("work")
    assert judged(worked).reason == "old-stamp"


@pytest.mark.parametrize("beside", [None, 3, [], {"shop/cart.py": 7}])
def test_a_note_that_is_torn_or_older_makes_nothing_fresh(worked: Project, beside: object) -> None:
    place = worked.root / extracted.PLACE
    first, rest = (json.loads(line) for line in place.read_text("utf-8").splitlines())
    rest["beside"] = beside
    place.write_text(f"{json.dumps(first)}\n{json.dumps(rest)}\n", "utf-8")
    worked.commit("work")
    assert judged(worked).reason == "old-stamp"


def test_a_commit_of_a_link_where_a_file_was_away_is_not(worked: Project) -> None:
    (worked.root / "shop/till.py").symlink_to("cart.py")
    worked.commit("work")
    assert judged(worked).reason == "old-stamp"


def test_what_was_said_of_another_extraction_from_the_same_commit_is_not_kept(worked: Project) -> None:
    before = worked.git("rev-parse", "HEAD")
    worked.write("shop/cart.py", "class Cart: pass\n")
    worked.commit("other work")
    after = worked.git("rev-parse", "HEAD")
    assert judged(worked).reason == "old-stamp"
    worked.git("reset", "-q", "--soft", before)
    assert worked.morph("graph", "refresh").code == 0
    worked.git("reset", "-q", "--soft", after)
    assert judged(worked).state == "fresh"
