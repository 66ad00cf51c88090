"""Unions and their proofs, with suites that really run."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Project
from tests.fleet.union.conftest import MOVES, NEEDS


def _verified(shop: Any) -> Any:
    return shop.union(verify=True)["verify"]


def test_a_green_union_is_measured_once_and_then_reused(shop: Any) -> None:
    for name in ("one", "two", "three"):
        shop.green(name, {f"checks/{name}.sh": "true\n", "docs/" + name: "x\n"})
    first = shop.union(verify=True)
    assert first["ok"] and first["union"]["merged"] == ["one", "three", "two"]
    assert first["verify"]["status"] == "pass" and first["verify"]["guilty"] is None
    assert first["verify"]["nodes"]["tests"] == "pass" and first["verify"]["nodes"]["e2e"] == "skip"
    assert shop.suites() == 1
    second = shop.union(verify=True)
    assert (second["verify"]["measured"], shop.suites()) == (0, 1)
    assert second["union"] == first["union"]


def test_one_feature_on_an_unmoved_default_branch_reuses_its_own_proof(shop: Any) -> None:
    tree = shop.begin("one", {"checks/one.sh": "true\n"})
    assert shop.project.verify("one", cwd=tree)["status"] == "pass"
    assert shop.suites() == 1
    found = _verified(shop)
    unit = next(run for run in found["runs"] if run["id"] == "tests/unit")
    assert (found["status"], shop.suites()) == ("pass", 1) and unit["reused"]["tree"] == "one-tree"


def test_models_and_applications_are_left_out_and_what_they_write_stays_no_input(shop: Any) -> None:
    evals = {"id": "e", "command": "true", "runner": "evals", "evals": {"summary": "s.json", "cacheDir": "answers"}}
    browser = {"id": "browser", "runner": "none", "command": "sh suite.sh", "e2e": True}
    config = json.loads((shop.root / ".morph/config/config.json").read_text())
    config["project"]["tests"] += [evals, browser]
    tree = shop.begin("one", {".morph/config/config.json": json.dumps(config), "answers/a.json": "{}"})
    shop.project.verify("one", cwd=tree)
    shop.stamp("one")
    ran = shop.suites()
    found = _verified(shop)
    told = {run["id"]: (run["status"], run["reason"], bool(run["reused"])) for run in found["runs"]}
    assert told["tests/unit"] == ("pass", None, True) and shop.suites() == ran
    assert told["tests/e"][0] == "skip" and "asks no model" in told["tests/e"][1]
    assert told["tests/browser"][0] == "skip" and "not brought up" in told["tests/browser"][1]


def test_a_pair_that_merges_cleanly_and_is_red_together(shop: Any) -> None:
    for at in range(5):
        shop.green(f"fine-{at}", {f"checks/fine-{at}.sh": "true\n", f"pad/{at}": "x"})
    shop.green("moves", MOVES)
    shop.green("needs", NEEDS)
    made = shop.union(verify=True)
    assert made["conflicts"] == [] and len(made["union"]["merged"]) == 7 and not made["ok"]
    found = made["verify"]
    assert found["status"] == "fail" and sorted(found["guilty"]) == ["moves", "needs"]
    assert "green without each other and red together" in found["why"]
    (red,) = found["red"]
    assert red["node"] == "tests/unit" and red["tail"][-1] == "checks/report.sh fails" and Path(red["log"]).is_file()
    told = {tuple(one["features"]): one["status"] for one in found["probes"]}
    assert told[("moves",)] == told[("needs",)] == told[()] == "pass"
    pair = tuple(name for name in made["union"]["merged"] if name in ("moves", "needs"))
    assert told[pair] == "fail"
    before = shop.suites()
    again = _verified(shop)
    assert sorted(again["guilty"]) == ["moves", "needs"]
    # What was green stays proved; only red ones are looked at again.
    assert all(one["measured"] == 0 for one in again["probes"] if one["status"] == "pass")
    assert shop.suites() < before + 6


def test_a_feature_that_the_moved_default_branch_broke_is_guilty_alone(shop: Any) -> None:
    shop.green("needs", NEEDS)
    shop.green("fine", {"checks/fine.sh": "true\n"})
    shop.git("mv", "lib/total", "lib/sum")
    shop.write(shop.root, {"checks/total.sh": "test -e lib/sum\n"})
    Project(shop.root).commit("moved")
    found = _verified(shop)
    assert found["guilty"] == ["needs"] and found["why"] == "needs no longer works with what main has become"


def test_a_red_default_branch_is_nobodys_fault(shop: Any) -> None:
    shop.green("one", {"checks/one.sh": "true\n"})
    shop.git("rm", "-q", "lib/total")
    shop.git("commit", "-q", "-m", "broken")
    found = _verified(shop)
    assert found["guilty"] == [] and found["why"] == "main is red by itself: no feature is to blame"


def test_three_that_are_red_only_together(shop: Any) -> None:
    script = "test $(ls parts | wc -l) -lt 4\n"
    shop.write(shop.root, {"checks/parts.sh": script, "parts/keep": "x"})
    Project(shop.root).commit("parts")
    for name in ("a", "b", "c"):
        shop.green(name, {f"parts/{name}": "x"})
    shop.green("fine", {"docs/fine": "x"})
    found = _verified(shop)
    assert found["guilty"] == ["a", "b", "c"]


def test_what_wavers_is_not_decided(shop: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    marks = tmp_path / "marks"
    monkeypatch.setenv("MARKS", str(marks))
    # Red the first time it is run with both parts there, green from then on.
    script = 'test -e parts/a -a -e parts/b || exit 0\nif test -e "$MARKS"; then exit 0; fi\ntouch "$MARKS"; exit 1\n'
    shop.write(shop.root, {"checks/parts.sh": script})
    Project(shop.root).commit("parts")
    for name in ("a", "b"):
        shop.green(name, {f"parts/{name}": "x"})
    made = shop.union(verify=True)
    found = made["verify"]
    assert found["status"] == "flaky" and found["guilty"] is None and not made["ok"]
    assert found["why"] == ("not decided: tests/unit was red, and green on the same code when measured once more")
    assert _verified(shop)["status"] == "pass"


def test_a_pair_that_wavers_is_not_named(shop: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counter = tmp_path / "counter"
    monkeypatch.setenv("COUNTER", str(counter))
    # With both parts it is red three times (the union twice, the pair once), then green.
    script = 'test -e parts/a -a -e parts/b || exit 0\necho x >> "$COUNTER"\ntest $(wc -l < "$COUNTER") -gt 3\n'
    shop.write(shop.root, {"checks/parts.sh": script})
    Project(shop.root).commit("parts")
    for name in ("a", "b"):
        shop.green(name, {f"parts/{name}": "x"})
    shop.green("fine", {"docs/fine": "x", "docs/more": "x"})
    found = _verified(shop)
    assert (found["status"], found["guilty"]) == ("fail", None)
    assert found["why"] == "not decided: a + b was red, and green on the same code when measured once more"


def test_a_green_that_was_red_on_the_same_code_is_measured_again(
    shop: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counter = tmp_path / "counter"
    monkeypatch.setenv("COUNTER", str(counter))
    # The default branch is red, green, red, ...
    script = 'test -e lib/total && exit 0\necho x >> "$COUNTER"\ntest $(($(wc -l < "$COUNTER") % 2)) -eq 0\n'
    shop.write(shop.root, {"checks/total.sh": script})
    Project(shop.root).commit("wavers")
    shop.green("needs", NEEDS)
    shop.git("rm", "-q", "lib/total")
    shop.git("commit", "-q", "-m", "gone")
    shop.project.morph("create", "probe", "--type", "chore", "--description", "x", "--no-checkout")
    for _ in range(2):
        shop.project.morph("verify", "probe", "--no-persist")
    counter.write_text("")
    found = _verified(shop)
    assert found["guilty"] is None and found["why"].startswith("not decided"), found


def test_conflicts_are_told_pair_by_pair_and_the_rest_is_merged(shop: Any) -> None:
    shop.green("a", {"checks/total.sh": "test -e lib/total # a\n"})
    shop.green("b", {"checks/total.sh": "test -e lib/total # b\n"})
    shop.green("c", {"checks/total.sh": "test -e lib/total # c\n", "suite.sh": "true\n"})
    shop.green("d", {"docs/d": "x"})
    shop.write(shop.root, {"suite.sh": (shop.root / "suite.sh").read_text() + "true\n"})
    Project(shop.root).commit("moved")
    made = shop.union()
    assert made["conflicts"] == [
        {"features": ["c"], "against": "main", "paths": ["suite.sh"]},
        {"features": ["a", "b"], "against": None, "paths": ["checks/total.sh"]},
    ]
    assert [one["feature"] for one in made["order"]] == ["d", "a", "b"]
    assert made["union"]["merged"] == ["d", "a"] and not made["ok"] and made["verify"] is None
    assert made["union"]["leftOut"] == [
        {"feature": "c", "why": "conflicts with main", "paths": ["suite.sh"]},
        {"feature": "b", "why": "conflicts with a", "paths": ["checks/total.sh"]},
    ]


def test_a_conflict_that_shows_only_as_it_comes_is_named(shop: Any) -> None:
    lines = "".join(f"line {number}\n" for number in range(12))
    shop.write(shop.root, {"docs/a/b": lines})
    Project(shop.root).commit("file")
    shop.green("one", {"docs/a/b": "short\n"})
    tree = shop.begin("other", {"docs/other": "x"})
    for place in (shop.root, tree):
        (place / "docs/a/b").unlink()
        (place / "docs/a").rmdir()
        shop.write(place, {"docs/a": lines})
        Project(place).commit("moved")
    shop.stamp("other")
    made = shop.union()
    assert made["union"]["merged"] == ["one"]
    assert made["conflicts"] == [{"features": ["one", "other"], "against": None, "paths": ["docs/a"]}]
    assert made["union"]["leftOut"] == [{"feature": "other", "why": "conflicts with one", "paths": ["docs/a"]}]


def test_a_branch_on_another_one_comes_after_it(shop: Any) -> None:
    shop.green("zeta", {"lib/zeta": "x", "lib/more": "x"})
    shop.green("alpha", {"lib/alpha": "x"}, base="morph/zeta")
    shop.begin("unproved", {"lib/unproved": "x"})
    shop.green("beta", {"lib/beta": "x"}, base="morph/unproved")
    made = shop.union()
    assert [one["feature"] for one in made["order"]] == ["beta", "zeta", "alpha"]
    assert made["order"][2]["why"].endswith("after zeta: its branch holds that work")
    assert made["union"]["merged"] == ["beta", "zeta", "alpha"] and made["ok"]
    assert made["warnings"] == ["beta brings along the commits of unproved, which is left out by itself"]


def test_two_branches_at_one_commit_and_nothing_at_all(shop: Any) -> None:
    assert shop.union(verify=True)["union"]["commit"] is None
    record = json.dumps({"name": "two", "status": "in_progress"})
    shop.green("one", {"lib/one": "x", ".morph/features/two/feature.json": record})
    shop.git("worktree", "add", "-q", "-b", "morph/two", str(shop.tree("two")), "morph/one")
    shop.stamp("two")
    made = shop.union(verify=True)
    assert made["ok"] and made["union"]["merged"] == ["one", "two"]
    assert made["order"][1]["why"].endswith("after one: its branch holds that work")


def test_what_the_plan_of_a_feature_accepts_is_accepted_in_a_union(shop: Any) -> None:
    test = "def test_total():\n    assert 1\n\n\ndef test_empty():\n    assert 1\n"
    shop.write(shop.root, {"tests/test_cart.py": test})
    Project(shop.root).commit("tests")
    plan = (
        "# Less\n\n## Decisions\n\n### ADR-001 — The empty cart\n**Scope:** feature\n`tests/test_cart.py` loses "
        "`test_empty` because carts are never empty any more.\n\n### Conflicts with the record\nnone\n"
    )
    less = {"tests/test_cart.py": test.partition("\n\n\n")[0] + "\n"}
    shop.green("less", {**less, ".morph/features/less/2-plan/plan.md": plan})
    shop.green("other", {"docs/other": "x", ".morph/features/other/2-plan/plan.md": plan.replace("test_", "x")})
    found = _verified(shop)
    assert found["status"] == "pass" and found["nodes"]["validators"] == "pass"
    shop.write(shop.tree("less"), {".morph/features/less/2-plan/plan.md": "# Less\n"})
    Project(shop.tree("less")).commit("no reason any more")
    found = _verified(shop)
    assert [one["node"] for one in found["red"]] == ["validators/test-weakening"] and found["guilty"] == ["less"]


def test_shared_folders_and_env_files_are_there_and_stay_the_users(shop: Any) -> None:
    shop.write(shop.root, {".gitignore": "node_modules\n.env*\n", "checks/shared.sh": SHARED})
    Project(shop.root).commit("shared")
    shop.write(shop.root, {"node_modules/package/file": "kept", ".env": "A=1\n", ".env.local": "B=2\n"})
    tree = shop.begin("one", {"docs/one": "x"})
    shop.write(tree, {"node_modules/package/file": "x", ".env": "x", ".env.local": "x"})
    shop.stamp("one")
    assert _verified(shop)["status"] == "pass"
    assert (shop.root / "node_modules/package/file").read_text() == "kept"
    assert (shop.root / ".env").read_text() == "A=1\n"


SHARED = "test -L node_modules && test -e node_modules/package/file && grep -q A=1 .env && test -e .env.local && "
SHARED += 'test -z "$(git status --porcelain)" && rm .env && touch .env.more\n'


def test_submodules_are_filled_from_where_they_are(shop: Any, tmp_path: Path) -> None:
    deep, inner = Project(tmp_path / "deep"), Project(tmp_path / "inner")
    for made in (deep, inner):
        made.root.mkdir()
        made.git("init", "-q")
        made.write("file", "x")
        made.commit()
    inner.git("submodule", "add", "-q", str(deep.root), "deep")
    inner.commit()
    tree = shop.begin("one", {"checks/vendor.sh": "test -e vendor/inner/file && test -e vendor/inner/deep/file\n"})
    shop.git("submodule", "add", "-q", str(inner.root), "vendor/inner", tree=tree)
    shop.git("submodule", "update", "-q", "--init", "--recursive", tree=tree)
    Project(tree).commit("submodule")
    shop.stamp("one")
    shop.green("two", {"checks/two.sh": "true\n"})
    made = shop.union(verify=True)
    assert made["verify"]["status"] == "pass" and made["warnings"] == []
    shop.git("submodule", "deinit", "-q", "-f", "--all", tree=tree)
    made = shop.union()
    assert made["ok"]


def test_a_shallow_clone_tells_what_it_can_or_says_that_it_cannot(shop: Any, tmp_path: Path, refused: Any) -> None:
    shop.green("one", {"docs/one": "x"})
    Project(shop.tree("one")).commit("stamp")
    shop.git("checkout", "-q", "--detach")
    clone = Project(tmp_path / "clone")
    subprocess.run(
        ["git", "clone", "-q", "--depth=1", f"file://{shop.root}", str(clone.root), "-b", "main"], check=True
    )
    clone.git("fetch", "-q", "--depth=2", "origin", "morph/one:morph/one")
    assert refused(lambda: shop.union(tree=clone.root)).code == "shallow-clone"
    clone.git("fetch", "-q", "--unshallow")
    assert shop.union(tree=clone.root)["union"]["merged"] == ["one"]


def test_signing_hooks_rerere_and_a_missing_identity_change_nothing(shop: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.green("a", {"checks/total.sh": "test -e lib/total # a\n"})
    shop.green("b", {"checks/total.sh": "test -e lib/total # b\n"})
    shop.git("config", "commit.gpgSign", "true")
    shop.git("config", "rerere.enabled", "true")
    (Path.home() / ".gitconfig").write_text("[user]\n\tuseConfigOnly = true\n")
    monkeypatch.setenv("EMAIL", "")
    made = shop.union(verify=True)
    assert len(made["conflicts"]) == 1 and made["verify"]["status"] == "pass"
    assert not list((shop.root / ".git").glob("rr-cache/*")) and os.path.isdir(shop.root)
