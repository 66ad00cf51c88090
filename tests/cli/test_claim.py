from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Project


@pytest.fixture(autouse=True)
def _no_session(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MORPH_SESSION_ID", "CLAUDE_CODE_SESSION_ID"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def shop(project: Project, prepared: Callable[[str, Callable[[], None]], None]) -> Project:
    def make() -> None:
        for name in ("cart", "pay"):
            said = project.morph("create", name, "--type", "chore", "--description", name, "--no-checkout")
            assert said.code == 0, said.err

    prepared("shop of claims", make)
    return project


def file(project: Project) -> Path:
    return project.root / ".git/morph-spec/claims.json"


def age(project: Project, minutes: int) -> None:
    data = json.loads(file(project).read_text())
    for row in data["claims"]:
        row["heartbeat"] = f"2026-01-01T00:{minutes:02}:00Z"
    file(project).write_text(json.dumps(data))


def test_a_claim_moves_and_says_so(shop: Project) -> None:
    said = shop.morph("claim", "cart")
    assert (said.code, said.out) == (0, f"claimed cart for session tree:{shop.root}\n")
    said = shop.morph(
        "claim",
        "pay",
        MORPH_SESSION_ID="s1",
    )
    assert said.out == "claimed pay for session s1\n"
    said = shop.morph("claim", "pay")
    assert said.out.startswith("moved from cart to pay") and "also claimed by session s1" in said.err
    said = shop.morph("claim", "pay", "--json")
    assert said.json["movedFrom"] is None and said.json["claim"]["feature"] == "pay"
    assert [one["session"] for one in said.json["others"]] == ["s1"]


def test_the_board_shows_what_is_live_and_counts_the_rest(shop: Project) -> None:
    assert shop.morph("claim").out == "no live claims\n"
    shop.morph("claim", "cart", MORPH_SESSION_ID="old")
    age(shop, 0)
    shop.morph("claim", "pay", MORPH_SESSION_ID="new")
    # The old one is older than a week by now and was dropped.
    assert "old" not in file(shop).read_text()
    shop.morph("claim", "cart", MORPH_SESSION_ID="old")
    data = json.loads(file(shop).read_text())
    data["claims"][1]["heartbeat"] = data["claims"][0]["heartbeat"][:11] + "00:00:00Z"
    data["claims"][1]["process"] = {"pid": 2**22 - 1, "start": 1, "boot": "", "host": __import__("os").uname().nodename}
    file(shop).write_text(json.dumps(data))

    said = shop.morph("claim")
    assert said.out.splitlines()[0].startswith("pay  session new in ")
    assert said.out.splitlines()[1] == "1 more is not live: --all shows them"
    both = shop.morph("claim", "--list", "--json").json
    assert ([one["feature"] for one in both["claims"]], both["hidden"], both["ttlMinutes"]) == (["pay"], 1, 30)
    assert [one["live"] for one in shop.morph("claim", "--all", "--json").json["claims"]] == [False, True]
    assert "cart  not live: session old" in shop.morph("claim", "--all").out


def test_list_acquires_nothing(shop: Project) -> None:
    said = shop.morph("claim", "cart", "--list", "--json")
    assert said.json["claims"] == [] and not file(shop).exists()


def test_release(shop: Project) -> None:
    shop.morph("claim", "cart", MORPH_SESSION_ID="dead")
    said = shop.morph("claim", "cart", "--release", MORPH_SESSION_ID="me")
    assert said.code == 0 and "released cart, claimed by session dead" in said.out and "it was live" in said.err
    assert shop.morph("claim", "cart", "--release").out == "nothing was claimed\n"
    shop.morph("claim", "cart")
    shop.morph("claim", "pay", MORPH_SESSION_ID="other")
    said = shop.morph("claim", "--release", "--json")
    assert [one["feature"] for one in said.json["released"]] == ["cart"] and said.json["warnings"] == []
    assert [one["feature"] for one in shop.morph("claim", "--json").json["claims"]] == ["pay"]


def test_usage(shop: Project) -> None:
    for words in (("cart", "--release", "--list"), ("--release", "--all")):
        assert shop.morph("claim", *words, "--json").code == 2
    for name in ("nosuch", "../x", ""):
        said = shop.morph("claim", name, "--json")
        assert (said.code, said.json["code"]) == (2, "feature-not-found")


def test_a_feature_that_only_its_branch_has_can_be_claimed(shop: Project) -> None:
    shop.git("switch", "-q", "morph/cart")
    shop.commit("cart")
    shop.git("switch", "-q", "main")
    assert not (shop.root / ".morph/features/cart").exists()
    assert shop.morph("claim", "cart").code == 0


def test_a_broken_list_is_said_and_then_set_aside(shop: Project) -> None:
    file(shop).parent.mkdir(exist_ok=True)
    file(shop).write_text("{")
    said = shop.morph("claim", "--json")
    assert (said.code, said.json["code"]) == (1, "claims-unreadable")
    assert shop.morph("claim", "cart").code == 0
    assert shop.morph("claim", "--json").json["claims"]


@pytest.mark.parametrize("words", [("archive",), ("delete",), ("delete", "--archive")])
def test_taking_a_feature_away_warns_and_goes_on(shop: Project, words: tuple[str, ...]) -> None:
    shop.commit("features")
    shop.morph("claim", "cart", MORPH_SESSION_ID="other")
    shop.morph("claim", "pay", MORPH_SESSION_ID="other2")
    said = shop.morph(words[0], "cart", *words[1:], "--json", MORPH_SESSION_ID="me")
    assert said.code == 0 and said.json["ok"]
    assert "'cart' is claimed by session other in" in said.err
    assert [one["feature"] for one in shop.morph("claim", "--json").json["claims"]] == ["pay"]
    assert "claimed" not in shop.morph(words[0], "pay", *words[1:], MORPH_SESSION_ID="other2").err
