"""Refusals before anything is built, and the models they come from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, TypeAdapter, ValidationError

from morph_tasks.errors import Refusal
from morph_tasks.model.e2e_hosts import AuthSettings, HostServices
from morph_tasks.stack.hosts_plan import Entry, plainly_valid, plan_hosts, whole_digest
from tests.conftest import Project
from tests.stack.hosts_tools import Stage, staged


@pytest.fixture
def stage(project: Project, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    yield from staged(project, monkeypatch)


BAD = [
    ({"name": "api", "start": "x", "prot": 1}, "hostServices[0].prot", "no such key"),
    ({"name": "api"}, "hostServices[0].start", "the key is required"),
    ({"name": "api", "start": " \n\t"}, "hostServices[0].start", "not blank"),
    ({"name": "api", "start": ""}, "hostServices[0].start", "not blank"),
    ({"name": "api", "start": "x", "build": "  "}, "hostServices[0].build", "not blank"),
    ({"name": "api", "start": ["npm", "start"]}, "hostServices[0].start", "string"),
    ({"name": "api", "start": "x", "env": {"A": True}}, "hostServices[0].env.A", "a text or a number"),
    ({"name": "api", "start": "x", "env": {"A": None}}, "hostServices[0].env.A", "a text or a number"),
    ({"name": "api", "start": "x", "env": ["A=b"]}, "hostServices[0].env", "dictionary"),
    ({"name": "api", "start": "x", "timeoutMs": 0}, "hostServices[0].timeoutMs", "greater than 0"),
    ({"name": "api", "start": "x", "timeoutMs": "9"}, "hostServices[0].timeoutMs", "integer"),
    ({"name": "api", "start": "x", "health": 80}, "hostServices[0].health", "string"),
    ({"name": "api", "start": "x", "cwd": 1}, "hostServices[0].cwd", "string"),
]


@pytest.mark.parametrize(("entry", "path", "expected"), BAD)
def test_a_bad_entry_names_service_and_field(stage: Stage, entry: Any, path: str, expected: str) -> None:
    good = {"name": "web", "build": "touch built", "start": "x"}
    with pytest.raises(Refusal) as caught:
        stage.up(good, entry)
    assert caught.value.code == "invalid-config"
    assert f"e2e.{path}".replace("[0]", "[1]") in caught.value.what
    assert "`api`" in caught.value.what
    assert expected in caught.value.what
    assert not (stage.root / "built").exists()


@pytest.mark.parametrize("name", ["a b", "a/b", "", "ä", "api\n", 7, "x" * 101])
def test_a_bad_name_is_refused(stage: Stage, name: Any) -> None:
    with pytest.raises(Refusal, match=r"e2e\.hostServices\[0\]\.name"):
        stage.up({"name": name, "start": "x"})


def test_the_same_name_twice_is_refused(stage: Stage) -> None:
    with pytest.raises(Refusal, match=r"host service `api` is there 2 times \(`name`\)"):
        stage.up({"name": "api", "start": "x"}, {"name": "web", "start": "x"}, {"name": "api", "start": "y"})


@pytest.mark.parametrize("entries", [{}, "x", 1, [3], [None]])
def test_what_is_no_list_of_services_is_refused(stage: Stage, entries: Any) -> None:
    with pytest.raises(Refusal, match=r"e2e\.hostServices"):
        plan_hosts(stage.repo, _config(entries), {})


def _config(entries: Any) -> Any:
    from morph_tasks.model.load import Config

    return Config({"e2e": {"hostServices": entries}}, "")


def test_the_model_keeps_the_place_of_each_problem() -> None:
    class E2e(BaseModel):
        hostServices: HostServices = []  # noqa: N815

    with pytest.raises(ValidationError) as caught:
        E2e.model_validate({"hostServices": [{"name": "a", "start": "x"}, {"name": "b{c", "start": "", "x": 1}]})
    assert {error["loc"] for error in caught.value.errors()} == {
        ("hostServices", 1, "name"),
        ("hostServices", 1, "start"),
        ("hostServices", 1, "x"),
    }
    assert all("`b{c`" in error["msg"] for error in caught.value.errors())
    assert E2e.model_json_schema()


def test_the_auth_block_has_its_modes() -> None:
    assert AuthSettings.model_validate({"mode": "storageState", "other": 1}).mode == "storageState"
    with pytest.raises(ValidationError):
        AuthSettings.model_validate({"mode": "Seed"})


TEXTS = st.sampled_from(
    ["x", "", " ", "a b", "\n", "\0", "\u2028", "ä", "a.b-c_D", "${A}", 1, 0, -1, 1.5, True, None, [], {}, 2**31]
)
ENTRIES = st.dictionaries(
    st.sampled_from(["name", "start", "build", "cwd", "env", "health", "timeoutMs", "more"]),
    st.one_of(TEXTS, st.dictionaries(st.sampled_from(["A", "A=", "", "a b", "_1"]), TEXTS, max_size=2)),
).map(lambda found: {"name": "api", "start": "x", **found})


@settings(max_examples=300, deadline=None)
@given(st.lists(ENTRIES, max_size=2))
def test_what_is_taken_without_the_model_is_what_the_model_takes(entries: list[dict[str, Any]]) -> None:
    if plainly_valid(entries):
        for entry, validated in zip(entries, TypeAdapter(HostServices).validate_python(entries), strict=True):
            assert Entry(**entry) == Entry(**validated.model_dump())


def test_ordinary_entries_are_taken_without_the_model(stage: Stage) -> None:
    full = {
        "name": "w",
        "cwd": "a",
        "build": "b",
        "start": "s",
        "env": {"A": "b", "N": 1},
        "health": "u",
        "timeoutMs": 1,
    }
    assert plainly_valid([stage.server(), full])
    assert not plainly_valid([full, full])


def test_variables_without_a_value_are_named_with_their_service(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMPTY_ONE", "")
    monkeypatch.delenv("NOT_THERE", raising=False)
    stage.env["SHADOWED"] = ""
    monkeypatch.setenv("SHADOWED", "the stack comes first")
    first = {"name": "one", "build": "touch built", "start": "x"}
    second = {"name": "two", "start": "x", "env": {"A": "${NOT_THERE}-${EMPTY_ONE}"}, "health": "http://x:${SHADOWED}/"}
    with pytest.raises(Refusal) as caught:
        stage.up(first, second)
    assert caught.value.code == "host-service-variables"
    assert "`two`: EMPTY_ONE, NOT_THERE, SHADOWED" in caught.value.what
    assert caught.value.payload["variables"] == ["EMPTY_ONE", "NOT_THERE", "SHADOWED"]
    assert not (stage.root / "built").exists()


@pytest.mark.parametrize("text", ["${A:-b}", "${}", "${ A }", "${1}", "${A.B}"])
def test_what_only_looks_like_a_variable_is_refused(stage: Stage, text: str) -> None:
    with pytest.raises(Refusal, match=r"`api` is no variable: only \$\{NAME\} is resolved"):
        stage.up({"name": "api", "start": "x", "env": {"X": text}})


def test_variables_are_resolved_once(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUTER", "process")
    stage.env.update({"PORT": "3010", "TRICKY": "${OUTER} \\1 $PORT"})
    service = {
        "name": "api",
        "start": "echo ${NOT_OURS}",
        "env": {"A": "x${PORT}y${OUTER}", "B": "${TRICKY}", "C": "$PORT $$ {PORT}"},
        "health": "http://localhost:${PORT}/health?x=${OUTER}",
    }
    (found,) = plan_hosts(stage.repo, stage.config(service), stage.env)
    assert [found.env[name] for name in "ABC"] == ["x3010yprocess", "${OUTER} \\1 $PORT", "$PORT $$ {PORT}"]
    assert found.health == "http://localhost:3010/health?x=process"
    assert found.start == "echo ${NOT_OURS}"
    assert "TRICKY" not in repr(found)


@pytest.mark.parametrize(
    "url", ["localhost:5000", "ftp://x/", "/health", "http://", "http://x:port/", "http://x:99999999/", "http://a b/"]
)
def test_a_health_url_that_cannot_be_asked_is_refused(stage: Stage, url: str) -> None:
    with pytest.raises(Refusal, match="host service `api` cannot be asked"):
        stage.up({"name": "api", "build": "touch built", "start": "x", "health": url})
    assert not (stage.root / "built").exists()


@pytest.mark.parametrize("cwd", ["gone", "README.md", "..", "/", "out"])
def test_a_folder_that_is_not_there_is_refused(stage: Stage, cwd: str) -> None:
    (stage.root / "out").symlink_to(stage.root.parent)
    with pytest.raises(Refusal) as caught:
        stage.up({"name": "api", "cwd": cwd, "start": "x"})
    assert caught.value.code == "host-service-cwd"
    assert "`api`" in caught.value.what


def test_the_set_is_what_it_was_made_of(stage: Stage) -> None:
    def digest(*services: Any, **env: str) -> str:
        return whole_digest(plan_hosts(stage.repo, stage.config(*services), env))

    one, two = {"name": "a", "start": "x"}, {"name": "b", "start": "x"}
    assert digest(one, two) == digest(dict(one), dict(two))
    different = [
        digest(one, two),
        digest(two, one),
        digest(one),
        digest(one, {**two, "start": "y"}),
        digest(one, {**two, "cwd": "./."}),
        digest(one, {**two, "env": {"A": 1}}),
        digest(one, two, PORT="1"),
        digest(one, {**two, "health": "http://x/"}),
    ]
    assert len(set(different)) == len(different)
