"""Which features take part: those green for exactly what their branch holds. Of the others it is said why not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from morph_tasks.errors import Refusal
from morph_tasks.verify import stamp
from tests.conftest import Project


def _told(shop: Any) -> dict[str, tuple[str | None, str]]:
    return {one["feature"]: (one["code"], one["why"]) for one in shop.union()["features"]}


def _codes(shop: Any) -> dict[str, str | None]:
    return {name: code for name, (code, _) in _told(shop).items()}


def test_a_green_stamp_of_the_tip_takes_part(shop: Any) -> None:
    shop.green("one", {"one": "1\n"})
    (one,) = shop.union()["features"]
    assert one["included"] and one["code"] is None
    assert one["tip"] == shop.git("rev-parse", "morph/one") and one["branch"] == "morph/one"
    assert one["stamp"]["status"] == "pass" and one["tree"] == str(shop.tree("one"))


def test_a_committed_stamp_counts_without_a_tree(shop: Any) -> None:
    tree = shop.green("one", {"one": "1\n"})
    Project(tree).commit("stamp")
    shop.git("worktree", "remove", str(tree))
    (one,) = shop.union()["features"]
    assert one["included"] and one["tree"] is None


def test_a_feature_archived_on_its_branch_waits_for_its_merge(shop: Any) -> None:
    tree = shop.green("one", {"one": "1\n"})
    (tree / ".morph/archive").mkdir()
    shop.git("mv", "-k", ".morph/features/one", ".morph/archive/one", tree=tree)
    path = tree / ".morph/archive/one/feature.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "status": "archived"}))
    Project(tree).commit("archive")
    assert _codes(shop) == {"one": None}


def test_reasons_that_the_stamp_gives(shop: Any) -> None:
    shop.begin("never", {"never": "1\n"})
    shop.begin("red", {"red": "1\n"})
    shop.stamp("red", "fail")
    shop.begin("part", {"part": "1\n"})
    shop.stamp("part", scope="slice:F1")
    told = _told(shop)
    assert told["never"] == ("no-stamp", "never verified: morph-spec verify never")
    assert told["red"] == ("red", "its last verify was fail (2026-11-30T08:00:00.000Z)")
    assert told["part"] == ("partial", "its last proof is of slice:F1 only")
    assert shop.union()["ok"] and shop.union()["union"]["merged"] == []


def test_a_stamp_of_other_code_is_stale(shop: Any) -> None:
    tree = shop.green("one", {"one": "1\n"})
    shop.write(tree, {"one": "2\n"})
    Project(tree).commit("later")
    code, why = _told(shop)["one"]
    assert (code, why) == ("stale", "its stamp is of other code than morph/one holds: morph-spec verify one")


def test_a_stamp_of_uncommitted_work_is_not_taken_for_the_tip(shop: Any) -> None:
    tree = shop.begin("one", {"one": "1\n"})
    shop.write(tree, {"one": "2\n", "new": "x\n"})
    shop.stamp("one")
    made = shop.union()
    (one,) = made["features"]
    assert one["code"] == "stale" and sorted(one["uncommitted"]) == ["new", "one"]
    assert "2 uncommitted paths" in one["why"] and str(tree) in one["why"]


def test_uncommitted_work_beside_a_proof_is_a_warning(shop: Any) -> None:
    tree = shop.green("one", {"one": "1\n"})
    shop.write(tree, {"one": "2\n", "__pycache__/x.pyc": "x", ".morph/features/one/notes.md": "x"})
    made = shop.union()
    assert made["features"][0]["included"] and made["features"][0]["uncommitted"] == ["one"]
    assert made["warnings"] == [f"one: uncommitted work in {tree} is not part of the union: one"]


def test_a_changed_configuration_makes_a_stamp_stale_but_a_baseline_does_not(shop: Any) -> None:
    config = json.loads((shop.root / ".morph/config/config.json").read_text())
    for name, change in (("baseline", {"expectedCount": 3}), ("command", {"command": "sh suite.sh --all"})):
        tree = shop.green(name, {name: "1\n"})
        (entry,) = config["project"]["tests"]
        more = {"project": {**config["project"], "tests": [{**entry, **change}]}}
        shop.write(tree, {".morph/config/config.json": json.dumps(more, indent=4)})
        Project(tree).commit("config")
    assert _codes(shop) == {"baseline": None, "command": "stale"}


@pytest.mark.parametrize(
    "node",
    [
        {"junit": "reports/*.xml"},
        {"junit": ["reports/a.xml", "more/**"]},
        {"outputs": ["dist/**", "made.txt"]},
        {"inputs": ["lib/**"], "cwd": "lib", "pool": "none"},
    ],
)
def test_the_fingerprint_of_a_commit_is_that_of_its_tree(shop: Any, node: dict[str, Any]) -> None:
    family = "build" if "outputs" in node else "tests"
    config = {"project": {"build": [], "tests": [], family: [{"id": "one", "command": "true", **node}]}}
    # What a node writes counts for nothing, even where somebody has committed it.
    made = {"made.txt": "x", "dist/out": "x", "lib/more": "x", 'naïve \n"name': "x"}
    shop.green("one", {".morph/config/config.json": json.dumps(config), **made, "run": b"\xff\0"})
    assert _codes(shop) == {"one": None}


def test_submodules_and_modes_count_in_the_fingerprint(shop: Any, tmp_path: Path) -> None:
    inner = Project(tmp_path / "inner")
    inner.root.mkdir()
    inner.git("init", "-q")
    inner.write("file", "x")
    inner.commit()
    tree = shop.begin("one", {"run.sh": "true\n"})
    (tree / "run.sh").chmod(0o755)
    shop.git("submodule", "add", "-q", str(inner.root), "vendor/inner", tree=tree)
    Project(tree).commit("submodule")
    shop.stamp("one")
    assert _codes(shop) == {"one": None}
    (tree / "run.sh").chmod(0o644)
    Project(tree).commit("mode")
    assert _codes(shop) == {"one": "stale"}


def _no_answer(*_: Any) -> str | None:
    raise Refusal("broken", "the tree is broken")


def test_what_only_a_tree_can_tell_is_asked_of_it_or_unknown(shop: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    evals = {"id": "e", "command": "true", "runner": "evals", "evals": {"summary": "s.json", "cacheDir": "answers"}}
    config = json.dumps({"project": {"build": [], "tests": [evals]}})
    tree = shop.green("one", {".morph/config/config.json": config, "answers/a.json": "{}"})
    assert _codes(shop) == {"one": None}
    with monkeypatch.context() as patched:
        patched.setattr(stamp, "stamp_staleness", _no_answer)
        code, why = _told(shop)["one"]
    assert code == "stamp-unknown" and why.endswith("; the tree is broken")
    shop.write(tree, {"answers/b.json": "{}"})
    assert _codes(shop) == {"one": "stamp-unknown"}
    Project(tree).commit("more answers")
    assert _codes(shop) == {"one": "stale"}
    shop.stamp("one")
    Project(tree).commit("stamp")
    shop.git("worktree", "remove", str(tree))
    code, why = _told(shop)["one"]
    assert code == "stamp-unknown" and "recorded answers" in why


def test_features_without_a_branch_or_without_work_are_named(shop: Any) -> None:
    record = json.dumps({"name": "x", "status": "draft"})
    shop.write(shop.root, {f".morph/features/{name}/feature.json": record for name in ("loose", "fresh", "gone")})
    shop.write(shop.root, {".morph/features/gone/feature.json": json.dumps({"name": "x", "status": "abandoned"})})
    shop.git("branch", "morph/fresh")
    shop.git("branch", "morph/merged-long-ago")
    told = _told(shop)
    assert told == {
        "fresh": ("merged", "main has all that morph/fresh holds"),
        "loose": ("no-branch", "there is no branch morph/loose"),
    }


def test_a_branch_that_holds_no_feature_is_named(shop: Any) -> None:
    tree = shop.tree("one")
    shop.git("worktree", "add", "-q", "-b", "morph/one", str(tree), "main")
    shop.write(tree, {"one": "1\n"})
    Project(tree).commit()
    shop.git("branch", "morph/nested/name", "morph/one")
    assert _told(shop) == {"one": ("no-feature", "morph/one holds no feature one")}


@pytest.mark.parametrize("where", ["tree", "branch"])
@pytest.mark.parametrize("text", ["{", '{"status": 7}'])
def test_a_feature_that_cannot_be_read_is_left_out(shop: Any, where: str, text: str) -> None:
    tree = shop.green("one", {"one": "1\n"})
    shop.write(tree, {".morph/features/one/feature.json": text})
    if where == "branch":
        Project(tree).commit("broken")
        shop.git("worktree", "remove", str(tree))
    shop.green("two", {"two": "2\n"})
    assert _codes(shop) == {"one": "unreadable", "two": None}


def test_a_broken_configuration_on_a_branch_is_unknown(shop: Any) -> None:
    tree = shop.green("one", {"one": "1\n"})
    shop.write(tree, {".morph/config/config.json": '{"project": {"tests": 3}}'})
    Project(tree).commit("broken")
    shop.green("two", {"two": "2\n"})
    assert _codes(shop) == {"one": "stamp-unknown", "two": None}


def test_work_that_came_in_under_another_commit_is_left_out(shop: Any) -> None:
    tree = shop.green("one", {"one": "1\n"})
    Project(tree).commit("stamp")
    shop.git("merge", "-q", "--squash", "morph/one")
    shop.git("commit", "-q", "-m", "squashed")
    shop.write(shop.root, {"later": "x\n"})
    Project(shop.root).commit("later")
    assert _told(shop)["one"] == ("nothing-new", "merging morph/one would change nothing in main")


def test_without_a_default_branch_there_is_no_union(shop: Any, refused: Callable[..., Refusal]) -> None:
    shop.git("branch", "-m", "trunk")
    shop.git("branch", "other")
    assert refused(lambda: shop.union()).code == "no-default-branch"
    shop.git("branch", "-D", "other")
    assert shop.union()["default"]["branch"] == "trunk"


def test_it_is_the_same_from_every_tree(shop: Any) -> None:
    tree = shop.green("one", {"one": "1\n"})
    shop.green("two", {"two": "1\n"})
    assert shop.union() == shop.union(tree=tree)
