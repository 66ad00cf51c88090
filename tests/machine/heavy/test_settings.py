from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as profile
from hypothesis import strategies as st

from morph_tasks.machine.heavy.settings import Settings, child_env, read_settings, state_folder, tree_settings
from morph_tasks.model.heavy import Heavy

ENV = {"MORPH_HEAVY_DIR": "/slots"}
DEFAULTS = Settings(folder=Path("/slots"))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from([*Heavy.model_fields, "slot", ""])


def test_the_block_is_read() -> None:
    block = {
        "enabled": False,
        "slots": 5,
        "minFreeMemGb": 0.5,
        "waitTimeoutSec": 7,
        "maxHoldMinutes": 2,
        "shutdownBuildServer": False,
        "disableNodeReuse": False,
        "gateBash": True,
    }
    found, warnings = read_settings({"heavy": block}, ENV)
    assert warnings == ()
    assert found == Settings(False, 5, 0.5, 7, 120, False, False, True, DEFAULTS.folder)
    assert set(block) == set(Heavy.model_fields)


def test_the_schema_tells_the_defaults_that_hold() -> None:
    told = Heavy()
    assert (told.enabled, told.slots, told.minFreeMemGb) == (DEFAULTS.enabled, DEFAULTS.slots, DEFAULTS.min_free_gb)
    assert (told.waitTimeoutSec, told.maxHoldMinutes * 60) == (DEFAULTS.wait_s, DEFAULTS.max_hold_s)
    assert (told.shutdownBuildServer, told.disableNodeReuse) == (
        DEFAULTS.shutdown_build_server,
        DEFAULTS.disable_node_reuse,
    )
    assert told.gateBash == DEFAULTS.gate_bash


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("slots", 0),
        ("slots", -1),
        ("slots", "2"),
        ("slots", 1.5),
        ("slots", True),
        ("slots", 10**9),
        ("minFreeMemGb", -1),
        ("minFreeMemGb", float("nan")),
        ("slots", None),
        ("waitTimeoutSec", float("inf")),
        ("waitTimeoutSec", "600"),
        ("maxHoldMinutes", 0),
        ("enabled", "yes"),
        ("gateBash", 1),
        ("slot", 3),
    ],
)
def test_a_value_that_makes_no_sense_is_named_and_its_default_holds(key: str, value: Any) -> None:
    found, warnings = read_settings({"heavy": {key: value}}, ENV)
    assert found == DEFAULTS
    assert len(warnings) == 1 and f"heavy.{key}" in warnings[0]


@pytest.mark.parametrize("block", [[], "on", 3, True])
def test_a_block_that_is_none_is_named(block: Any) -> None:
    found, warnings = read_settings({"heavy": block}, ENV)
    assert found == DEFAULTS
    assert "expected an object" in warnings[0]


@profile(max_examples=150, deadline=None)
@given(st.dictionaries(KEYS, JSON, max_size=5))
def test_no_block_stops_work(block: dict[str, Any]) -> None:
    found, _ = read_settings({"heavy": block}, {})
    assert 1 <= found.slots <= 1000
    assert 0 <= found.wait_s < float("inf") and found.max_hold_s > 0
    assert found.min_free_gb is None or found.min_free_gb >= 0


@pytest.mark.parametrize("word", ["off", "OFF", "0", "false", "no"])
def test_the_environment_switches_it_off(word: str) -> None:
    assert not read_settings({"heavy": {"enabled": True}}, {"MORPH_HEAVY": word})[0].enabled


@pytest.mark.parametrize("word", ["", "on", "1"])
def test_the_environment_does_not_switch_on_what_is_off(word: str) -> None:
    assert read_settings({"heavy": {"enabled": False}}, {**ENV, "MORPH_HEAVY": word}) == (
        Settings(enabled=False, folder=DEFAULTS.folder),
        (),
    )


def test_an_unknown_switch_is_named() -> None:
    found, warnings = read_settings({}, {"MORPH_HEAVY": "of"})
    assert found.enabled and "MORPH_HEAVY" in warnings[0]


def test_slots_of_the_environment_win() -> None:
    assert read_settings({"heavy": {"slots": 3}}, {**ENV, "MORPH_HEAVY_SLOTS": " 7 "}) == (
        Settings(slots=7, folder=DEFAULTS.folder),
        (),
    )


@pytest.mark.parametrize("word", ["0", "-1", "two", "1.5", "²", "9" * 5000])
def test_slots_of_the_environment_that_make_no_sense_are_named(word: str) -> None:
    found, warnings = read_settings({"heavy": {"slots": 3}}, {"MORPH_HEAVY_SLOTS": word})
    assert found.slots == 3
    assert len(warnings) == 1 and "MORPH_HEAVY_SLOTS" in warnings[0]


def test_where_the_slots_lie(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/tess")
    monkeypatch.chdir(tmp_path)
    assert state_folder({}) == Path("/home/tess/.local/state/morph-spec/heavy")
    assert state_folder({"XDG_STATE_HOME": "/var/state"}) == Path("/var/state/morph-spec/heavy")
    assert state_folder({"XDG_STATE_HOME": "state"}) == Path("/home/tess/.local/state/morph-spec/heavy")
    assert state_folder({"XDG_STATE_HOME": "/var/state", "MORPH_HEAVY_DIR": "/srv/slots"}) == Path("/srv/slots")
    assert state_folder({"MORPH_HEAVY_DIR": "~/slots"}) == Path("/home/tess/slots")
    assert state_folder({"MORPH_HEAVY_DIR": "slots"}) == tmp_path / "slots"


def test_two_users_have_folders_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    anns = state_folder({})
    monkeypatch.setenv("HOME", "/home/bob")
    assert state_folder({}) != anns


def test_a_tree_is_read_without_the_rest_of_its_configuration(tmp_path: Path) -> None:
    path = tmp_path / ".morph/config/config.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"project": {"tests": "all of them"}, "heavy": {"slots": 4}}')
    assert tree_settings(tmp_path)[0].slots == 4
    path.write_text('{"heavy": {"slots": 4},')
    found, warnings = tree_settings(tmp_path)
    assert found.slots == 2
    assert "config.json:1" in warnings[0]
    path.write_text("[]")
    assert tree_settings(tmp_path)[0].slots == 2
    assert tree_settings(None) == tree_settings(tmp_path / "nowhere")


def test_msbuild_leaves_no_workers() -> None:
    assert child_env(Settings(), {}) == {"MSBUILDDISABLENODEREUSE": "1"}
    assert child_env(Settings(), {"MSBUILDDISABLENODEREUSE": "0"}) == {}
    assert child_env(Settings(disable_node_reuse=False), {}) == {}
