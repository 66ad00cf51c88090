"""The lock files hold what pyproject.toml asks for, with hashes and without addresses."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
GROUPS: dict[str, list[Any]] = PROJECT["dependency-groups"]
RUNTIME: list[str] = PROJECT["project"]["dependencies"]
ASKED = {
    "requirements.lock": RUNTIME,
    "requirements-dev.lock": [*RUNTIME, *GROUPS["dev"], *GROUPS["build"]],
    "requirements-demo.lock": [*RUNTIME, *GROUPS["build"], *[x for x in GROUPS["demo"] if isinstance(x, str)]],
    "requirements-node.lock": GROUPS["node"],
}


def locked(name: str) -> dict[str, list[Requirement]]:
    """Return the pins of a lock by package; a package has several when markers tell them apart."""
    pins: dict[str, list[Requirement]] = {}
    for line in (ROOT / name).read_text("utf-8").splitlines():
        if line and not line.startswith((" ", "#")):
            pin = Requirement(line.removesuffix("\\").strip())
            pins.setdefault(pin.name, []).append(pin)
    return pins


def version(pin: Requirement) -> str:
    (only,) = pin.specifier
    assert only.operator == "=="
    return only.version


@pytest.mark.parametrize("name", ASKED)
def test_every_dependency_is_locked_within_its_bounds(name):
    pins = locked(name)
    for text in ASKED[name]:
        asked = Requirement(text)
        assert asked.name in pins, f"{asked.name} is not in {name}: run scripts/lock"
        for pin in pins[asked.name]:
            assert asked.specifier.contains(version(pin)), f"{pin} does not satisfy {asked}: run scripts/lock"


@pytest.mark.parametrize("name", ASKED)
def test_every_pin_has_hashes(name):
    blocks = re.split(r"\n(?=\S)", (ROOT / name).read_text("utf-8"))
    pins = [block for block in blocks if "==" in block.splitlines()[0]]
    assert pins
    assert [block for block in pins if not re.search(r"--hash=sha256:[0-9a-f]{64}", block)] == []


@pytest.mark.parametrize("name", ASKED)
def test_no_address_and_no_option_is_in_a_lock(name):
    text = (ROOT / name).read_text("utf-8")
    assert "://" not in text
    assert re.findall(r"^\s*-(?!-hash=)\S+", text, re.MULTILINE) == []


def test_the_locks_agree_on_every_version():
    widest = locked("requirements-dev.lock")
    for name in ("requirements.lock", "requirements-demo.lock"):
        for package, pins in locked(name).items():
            known = {str(pin) for pin in widest.get(package, [])}
            assert {str(pin) for pin in pins} <= known, f"{package} of {name} is another one in requirements-dev.lock"


def test_the_lock_of_the_product_holds_no_tool_of_development():
    tools = {Requirement(text).name for text in GROUPS["dev"]}
    assert tools & set(locked("requirements.lock")) == set()
