from __future__ import annotations

from typing import Any

import pytest

from morph_tasks.stack import stale
from morph_tasks.stack.model import Container

RESOLVED = {
    "services": {"db": {"volumes": [{"type": "volume", "source": "data", "target": "/data"}]}, "web": {}},
    "volumes": {"data": {"name": "p_data"}},
}
KEPT = "PostgreSQL Database directory appears to contain a database; Skipping initialization"
REFUSED = 'FATAL:  password authentication failed for user "zed"'
MADE, STARTED = "1970-01-01T00:01:00Z", 60.0


@pytest.fixture
def logs(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    said: dict[str, Any] = {"lines": [], "made": MADE}
    monkeypatch.setattr(stale, "log_of", lambda one: said["lines"] if one.service == "db" else [])
    monkeypatch.setattr(stale, "_volumes", lambda _: [{"Name": "p_data", "CreatedAt": said["made"]}])
    return said


def _cause(started: float, said: list[str] | None = None) -> str | None:
    containers = [Container("db", "p-db-1", "running", "healthy", started=started)]
    return stale.likely_cause("cart", "p", containers, RESOLVED, said or [])


def test_a_kept_volume_and_refused_credentials(logs: dict[str, Any]) -> None:
    logs["lines"] = [KEPT, REFUSED]
    said = _cause(STARTED + 3600)
    assert said is not None and "volume p_data predates this configuration" in said
    assert "e2e up cart --fresh" in said and "zed" not in said


@pytest.mark.parametrize(
    "line",
    [
        REFUSED,
        "ERROR 1045 (28000): Access denied for user 'app'@'10.0.0.2' (using password: YES)",
        "WRONGPASS invalid username-password pair or user is disabled.",
        "MongoServerError: Authentication failed.",
        "Login failed for user 'sa'.",
    ],
)
def test_what_clients_say_counts_too(logs: dict[str, Any], line: str) -> None:
    assert _cause(STARTED + 3600, [line]) is not None


def test_refused_credentials_on_a_new_volume_are_the_codes_fault(logs: dict[str, Any]) -> None:
    logs["lines"] = [REFUSED]
    assert _cause(STARTED + 1) is None


def test_a_kept_volume_alone_is_no_trouble(logs: dict[str, Any]) -> None:
    logs["lines"] = [KEPT]
    assert _cause(STARTED + 3600) is None


def test_data_of_another_version(logs: dict[str, Any]) -> None:
    logs["lines"] = ["FATAL:  database files are incompatible with server"]
    assert "another version" in str(_cause(STARTED + 3600))


def test_external_volumes_are_not_ours_to_remove(logs: dict[str, Any]) -> None:
    logs["lines"] = [REFUSED]
    resolved = {**RESOLVED, "volumes": {"data": {"name": "p_data", "external": True}}}
    containers = [Container("db", "p-db-1", "running", started=STARTED + 3600)]
    assert stale.likely_cause("cart", "p", containers, resolved) is None
