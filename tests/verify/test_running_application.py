"""The environment of the running application: only one that this very run brought up counts."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from morph_tasks.stack import env as stack_env_module
from morph_tasks.verify.e2e import environment_for
from morph_tasks.verify.run import Run

UP = {"runId": "now", "stack": {"up": True}}


def _asked(view: dict[str, Any] | None) -> dict[str, str] | str:
    run = SimpleNamespace(run_id="now", repo=None, config=None, feature="cart", node=str, view=lambda _node: view)
    return environment_for(cast(Run, run))


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> None:
    values = SimpleNamespace(values={"BASE_URL": "http://localhost:1"})
    monkeypatch.setattr(stack_env_module, "stack_env", lambda *_: values)


def test_an_application_of_this_run_lends_its_environment() -> None:
    assert _asked(UP) == {"BASE_URL": "http://localhost:1"}


@pytest.mark.parametrize(
    "view",
    [
        pytest.param({**UP, "runId": "before"}, id="an earlier run's"),
        pytest.param({**UP, "stack": {"up": False}}, id="went down"),
        pytest.param({"runId": "now"}, id="says nothing of a stack"),
        pytest.param(None, id="no view"),
    ],
)
def test_any_other_application_is_not_running(view: dict[str, Any] | None) -> None:
    said = _asked(view)
    assert isinstance(said, str) and said.startswith("the application is not running")


def test_the_reason_of_a_stack_that_is_not_up_is_said() -> None:
    said = _asked({"runId": "now", "message": "the port is taken"})
    assert said == "the application is not running: the port is taken"
