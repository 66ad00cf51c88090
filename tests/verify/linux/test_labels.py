from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from docker.errors import APIError

from morph_tasks.machine import identity
from morph_tasks.verify.linux import labels
from morph_tasks.verify.linux.active import Active
from morph_tasks.verify.linux.labels import labels_of, remove_leftovers, remove_token, root_hash

from .conftest import MakeRepo


class _Engine:
    """An engine that filters by labels as Docker does."""

    def __init__(self, *containers: dict[str, str]) -> None:
        self.there = {f"id{place}": labels for place, labels in enumerate(containers)}

    def containers(self, *, all: bool, filters: dict[str, list[str]]) -> list[dict[str, Any]]:
        assert all
        found = []
        for name, given in self.there.items():
            wanted = [label.partition("=") for label in filters["label"]]
            if wanted and all_in(given, wanted):
                found.append({"Id": name, "Names": [f"/{name}-name"], "Labels": given})
        return found

    def remove_container(self, name: str, *, v: bool, force: bool) -> None:
        assert v and force
        if name not in self.there:
            raise APIError("409", explanation="removal already in progress")
        del self.there[name]


def all_in(given: dict[str, str], wanted: list[tuple[str, str, str]]) -> bool:
    return all(key in given and (not sep or given[key] == value) for key, sep, value in wanted)


@pytest.fixture
def owned(tree: MakeRepo) -> Any:
    repo = tree({"a": ""})

    def make(owner: identity.Identity | str | None = None, **more: str) -> dict[str, str]:
        made = labels_of(repo, run_id="r1", feature="cart", node="tests/unit", token="t")
        if owner is not None:
            made[labels.OWNER] = owner if isinstance(owner, str) else json.dumps(owner.as_json())
        return {**made, **more}

    return repo, make


def test_labels_say_run_root_feature_and_node(owned: Any) -> None:
    repo, make = owned
    found = make()
    assert found["morph-spec.verify"] == "r1"
    assert found["morph-spec.root"] == root_hash(repo)
    assert (found["morph-spec.feature"], found["morph-spec.node"]) == ("cart", "tests/unit")
    assert str(repo.root) not in json.dumps(found)


def test_leftovers_of_dead_verifies_of_this_tree_alone_are_removed(owned: Any, tree: MakeRepo) -> None:
    repo, make = owned
    dead = replace(identity.me(), pid=2**22 - 3, start=1)
    elsewhere = replace(dead, host="another-machine")
    other_tree = {**make(dead), labels.ROOT: root_hash(tree({"b": ""}, "other"))}
    foreign = {"com.docker.compose.project": "x"}
    engine = _Engine(make(dead), make(), make(elsewhere), make("nonsense"), other_tree, foreign, make(dead))
    assert sorted(remove_leftovers(engine, repo)) == ["id0-name", "id6-name"]  # type: ignore[arg-type]
    assert sorted(engine.there) == ["id1", "id2", "id3", "id4", "id5"]


def test_a_root_reached_by_a_link_is_the_same_tree(owned: Any, tmp_path: Any) -> None:
    repo, _ = owned
    (tmp_path / "link").symlink_to(repo.root)
    assert root_hash(replace(repo, root=tmp_path / "link")) == root_hash(repo)


def test_a_token_removes_its_own_container(owned: Any) -> None:
    _, make = owned
    engine = _Engine({**make(), labels.TOKEN: "mine"}, make())
    assert remove_token(engine, "mine") == 1  # type: ignore[arg-type]
    assert remove_token(engine, "mine") == 0  # type: ignore[arg-type]
    assert list(engine.there) == ["id1"]


def test_a_removal_that_somebody_else_began_is_no_error(owned: Any) -> None:
    _, make = owned
    engine = _Engine(make())
    found = engine.containers(all=True, filters={"label": [labels.RUN]})
    engine.there.clear()
    engine.containers = lambda **_: found  # type: ignore[method-assign]
    assert remove_token(engine, "t") == 1  # type: ignore[arg-type]


def test_leaving_removes_what_is_waited_for_and_closes_the_door(monkeypatch: pytest.MonkeyPatch, owned: Any) -> None:
    _, make = owned
    engine = _Engine({**make(), labels.TOKEN: "one"}, {**make(), labels.TOKEN: "two"}, make())
    monkeypatch.setattr("morph_tasks.verify.linux.client.connect", lambda: engine)
    active = Active()
    active.leave()
    assert not active.closed
    with active.waiting("one"), active.waiting("two"):
        active.leave()
    assert list(engine.there) == ["id2"]
    with active.starting() as may:
        assert not may


def test_leaving_in_the_middle_of_a_start_does_not_wait_for_itself(monkeypatch: pytest.MonkeyPatch, owned: Any) -> None:
    _, make = owned
    engine = _Engine({**make(), labels.TOKEN: "one"})
    monkeypatch.setattr("morph_tasks.verify.linux.client.connect", lambda: engine)
    monkeypatch.setattr("morph_tasks.verify.linux.active._DOOR_WAIT_S", 0.01)
    active = Active()
    with active.waiting("one"), active.starting() as may:
        assert may
        active.leave()
    assert not engine.there
