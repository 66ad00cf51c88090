from __future__ import annotations

import json
from pathlib import Path

import pytest

from morph_tasks.codegraph.outdated import CURRENT, STALE, UNKNOWN, Outdated, of_feature, outdated, recorded_bases
from morph_tasks.plan.base import Base, base_now
from morph_tasks.plan.files import PlannedFiles
from morph_tasks.repo.git import Repo, open_repo
from tests.codegraph.handmade import shop
from tests.codegraph.rawgraphs import put
from tests.codegraph.test_landed import merge
from tests.conftest import Project

FILES = PlannedFiles({"F1": ("src/cart.py",), "F2": ("src/new.py", "docs")})


@pytest.fixture
def planned(project: Project) -> Project:
    """A tree on the branch of `cart`, with the graph of a shop beside it."""
    project.write(".gitignore", "graphify-out/\n")
    for name in ("prices", "cart", "checkout", "alone"):
        project.write(f"src/{name}.py", "1\n")
    project.commit("a shop")
    project.git("switch", "-q", "-c", "morph/cart")
    shop().write(project.root)
    return project


def ask(project: Project, base: Base, files: PlannedFiles = FILES) -> Outdated:
    return outdated(open_repo(project.root), "cart", files, [base])


def now(project: Project) -> Base:
    found = base_now(open_repo(project.root))
    assert found
    return found


def test_nothing_landed_asks_no_graph(planned: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def opened(_: Path) -> None:
        raise AssertionError("the index was opened")

    monkeypatch.setattr("morph_tasks.codegraph.index.open_index", opened)
    assert ask(planned, now(planned)).state == CURRENT


@pytest.mark.parametrize(
    ("file", "how", "by", "slices", "path"),
    [
        ("src/cart.py", "planned", "src/cart.py", ("F1",), []),
        ("src/new.py", "planned", "src/new.py", ("F2",), []),
        ("docs/a/b.md", "planned", "docs", ("F2",), []),
        ("src/checkout.py", "dependent", "src/cart.py", ("F1",), ["Cart.total()", "pay()"]),
        ("src/prices.py", "dependency", "src/cart.py", ("F1",), ["price()", "Cart.total()"]),
    ],
)
def test_a_merge_that_touches_the_plan_or_what_is_around_it(
    planned: Project, file: str, how: str, by: str, slices: tuple[str, ...], path: list[str]
) -> None:
    base = now(planned)
    tip = merge(planned, "morph/tea", {file: "2\n", "src/alone.py": "2\n"})
    found = ask(planned, base)
    assert found.state == STALE and found.stale is True
    [one] = found.landed
    assert (one.commit, one.feature, one.merge, one.held) == (tip, "tea", True, False)
    [hit] = one.touched
    assert (hit.file, hit.how, hit.planned, hit.slices) == (file, how, by, slices)
    assert [step.symbol for step in hit.path] == path


def test_a_merge_of_something_else_is_none(planned: Project) -> None:
    base = now(planned)
    merge(planned, "morph/tea", {"src/alone.py": "2\n"})
    found = ask(planned, base)
    assert (found.state, found.reason, found.landed) == (CURRENT, "", ())


@pytest.mark.parametrize("stamp", ["before", "gone", "--output=oh", None])
def test_new_code_that_the_graph_is_too_old_to_know_is_not_verified(planned: Project, stamp: str | None) -> None:
    base = now(planned)
    document = json.loads((planned.root / "graphify-out/graph.json").read_text())
    commit = {"before": planned.git("rev-parse", "HEAD"), "gone": "f" * 40}.get(stamp or "", stamp)
    put(planned.root, json.dumps({**document, "built_at_commit": commit}))
    tip = merge(planned, "morph/tea", {"src/teapot.py": "from src.cart import Cart\n", "notes.md": "tea\n"})
    found = ask(planned, base)
    assert (found.state, found.stale) == (UNKNOWN, None) and "(src/teapot.py)" in found.reason
    put(planned.root, json.dumps({**document, "built_at_commit": tip}))
    assert ask(planned, base).state == CURRENT  # by a graph that has it
    assert not (planned.root / "oh").exists()


def test_without_a_graph_the_files_are_still_compared(planned: Project) -> None:
    (planned.root / "graphify-out/graph.json").unlink()
    base = now(planned)
    merge(planned, "morph/tea", {"src/prices.py": "2\n"})
    found = ask(planned, base)
    assert (found.state, found.stale) == (UNKNOWN, None)
    assert found.reason.startswith("1 commit came into main and touched no file of the plan; ")
    assert found.graph and found.graph.state == "no-graph"
    merge(planned, "morph/beer", {"src/cart.py": "2\n"})
    found = ask(planned, base)
    assert found.state == STALE and [one.feature for one in found.landed] == ["beer"]


def test_a_merge_that_was_taken_in_is_held_and_still_stale(planned: Project) -> None:
    base = now(planned)
    merge(planned, "morph/tea", {"src/cart.py": "2\n"})
    planned.git("merge", "-q", "main", "-m", "take it in")
    assert [one.held for one in ask(planned, base).landed] == [True]
    assert ask(planned, now(planned)).state == CURRENT


def test_a_fast_forward_does_not_hide_it(planned: Project) -> None:
    base = now(planned)
    merge(planned, "morph/tea", {"src/cart.py": "2\n"})
    planned.git("merge", "-q", "--ff-only", "main")
    assert [(one.feature, one.held) for one in ask(planned, base).landed] == [("tea", True)]


def test_its_own_merge_is_no_news(planned: Project) -> None:
    base = now(planned)
    planned.write("src/cart.py", "2\n")
    planned.commit("half of it")
    planned.git("switch", "-q", "main")
    planned.git("merge", "-q", "--no-ff", "morph/cart", "-m", "Merge branch 'morph/cart'")
    planned.git("switch", "-q", "morph/cart")
    assert ask(planned, base).state == CURRENT


def test_on_the_default_branch_its_own_commits_are_no_news(planned: Project) -> None:
    planned.git("switch", "-q", "main")
    base = now(planned)
    planned.write("src/cart.py", "2\n")
    planned.commit("work on the cart")
    assert ask(planned, base).state == CURRENT
    merge(planned, "morph/tea", {"src/cart.py": "3\n"})
    assert [(one.feature, one.held) for one in ask(planned, base).landed] == [("tea", True)]


def test_on_the_default_branch_a_squash_of_another_feature_is_news(planned: Project) -> None:
    planned.git("switch", "-q", "main")
    base = now(planned)
    merge(planned, "morph/tea", {"src/cart.py": "2\n"}, message="Tea, from morph/tea (#9)", squash=True)
    assert [(one.feature, one.merge) for one in ask(planned, base).landed] == [("tea", False)]


def test_code_that_one_of_two_bases_has_is_not_new(planned: Project) -> None:
    old = now(planned)
    document = json.loads((planned.root / "graphify-out/graph.json").read_text())
    put(planned.root, json.dumps({**document, "built_at_commit": None}))
    merge(planned, "morph/tea", {"src/teapot.py": "1\n"})
    planned.git("merge", "-q", "--ff-only", "main")
    both = Base(old.branch, (*old.commits, *now(planned).commits))
    merge(planned, "morph/beer", {"notes.md": "beer\n"})
    assert ask(planned, old).state == UNKNOWN
    assert ask(planned, both).state == CURRENT


def test_a_commit_without_a_feature_counts_elsewhere(planned: Project) -> None:
    base = now(planned)
    merge(planned, "side", {"src/cart.py": "2\n"}, message="Fix the cart (#4)", squash=True)
    [one] = ask(planned, base).landed
    assert (one.feature, one.merge, one.subject) == (None, False, "Fix the cart (#4)")


def test_what_landed_at_origin_counts(planned: Project, origin: Path) -> None:
    base = now(planned)
    tip = merge(planned, "morph/tea", {"src/cart.py": "2\n"})
    planned.git("push", "-q", "origin", "main")
    planned.git("branch", "-q", "-f", "main", base.commits[0])
    assert [one.commit for one in ask(planned, base).landed] == [tip]


@pytest.mark.parametrize("commit", ["0" * 40, "1" * 40])
def test_a_base_that_is_gone_is_not_verified(planned: Project, commit: str) -> None:
    found = ask(planned, Base("main", (commit,)))
    assert found.state == UNKNOWN and commit[:10] in found.reason


def test_no_base_is_not_verified(planned: Project) -> None:
    found = outdated(open_repo(planned.root), "cart", FILES, [])
    assert (found.state, found.reason) == (UNKNOWN, "it is not known against which commit the plan was written")


@pytest.mark.parametrize(("approved", "hash_", "counts"), [(True, "a", 2), (True, "b", 1), (False, "a", 1)])
def test_an_approval_of_this_very_plan_has_a_base_of_its_own(
    tmp_path: Path, approved: bool, hash_: str, counts: int
) -> None:
    written, signed = ({"branch": "main", "commits": [sign * 40]} for sign in "12")
    folder = tmp_path / ".morph/features/cart"
    folder.mkdir(parents=True)
    gate = {"approved": approved, "planHash": hash_, "planBase": signed}
    (folder / "feature.json").write_text(json.dumps({"approvalGates": {"plan": gate}}))
    found = recorded_bases(tmp_path, "cart", {"version": 1, "plan": {"hash": "a", "base": written}})
    assert [one.commits[0][0] for one in found] == ["1", "2"][:counts]


@pytest.mark.parametrize("text", [None, "\udcff"])
def test_a_plan_that_cannot_be_read_is_not_verified(planned: Project, text: str | None) -> None:
    planned.write(".morph/features/cart/feature.json", "{}")
    if text:
        path = planned.root / ".morph/features/cart/2-plan/plan.md"
        path.parent.mkdir()
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
    found = of_feature(Repo(planned.root, planned.root / ".git", planned.root / ".git"), "cart")
    assert found.state == UNKNOWN and "plan.md" in found.reason
