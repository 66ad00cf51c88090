"""Coverage thresholds: they are for the whole suite, so a part of it would miss them and be red for nothing."""

from __future__ import annotations

import configparser
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_SAID = "a coverage threshold is for the whole suite"
_VITEST_CONFIGS = ("vitest.config", "vite.config", "vitest.workspace")
_ENDINGS = (".ts", ".mts", ".cts", ".js", ".mjs", ".cjs")
_THRESHOLD = re.compile(r"\bthresholds?\b")
_ENABLED = re.compile(r"\bcoverage\b[^}]*\benabled\s*:\s*true")


def vitest_threshold(folder: Path, options: Mapping[str, list[str]], *, covered: bool) -> str | None:
    """Return why coverage keeps a vitest run whole; configurations are only searched for the word."""
    named = [name for name in options if name.lower().startswith("--coverage.threshold")]
    if named:
        return f"{_SAID} (`{named[0]}`)"
    names = [f"{stem}{ending}" for stem in _VITEST_CONFIGS for ending in _ENDINGS]
    names += [value for name in ("-c", "--config") for value in options.get(name, ())]
    for name in names:
        text = _text(folder / name)
        if _THRESHOLD.search(text) and (covered or _ENABLED.search(text)):
            return f"{_SAID} ({name})"
    return None


def jest_threshold(folder: Path, options: Mapping[str, list[str]]) -> str | None:
    """Return why coverage keeps a jest run whole."""
    if "--coverageThreshold" in options:
        return f"{_SAID} (`--coverageThreshold`)"
    covered = "--coverage" in options or "--collectCoverage" in options
    names = [f"jest.config{ending}" for ending in (*_ENDINGS, ".json")]
    names += [value for name in ("-c", "--config") for value in options.get(name, ())]
    texts = {name: _text(folder / name) for name in names}
    texts |= {value: value for name in ("-c", "--config") for value in options.get(name, ()) if value.startswith("{")}
    texts["package.json"] = json.dumps(_package(folder).get("jest") or {})
    for name, text in texts.items():
        if "coverageThreshold" in text and (covered or re.search(r"collectCoverage\W+true", text)):
            return f"{_SAID} ({name[:60]})"
    return None


def pytest_threshold(folder: Path) -> str | None:
    """Return which file makes pytest-cov fail below a coverage; None when none does."""
    for name in (".coveragerc", "setup.cfg", "tox.ini", "pyproject.toml"):
        text = _text(folder / name)
        if re.search(r"^\s*fail_under\s*=", text, re.M):
            return f"{_SAID} ({name})"
    return None


def ini(path: Path) -> configparser.RawConfigParser | None:
    """Return an ini file; None when it is missing or cannot be read."""
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(path.read_text("utf-8-sig"))
    except (OSError, ValueError, configparser.Error):
        return None
    return parser


def _package(folder: Path) -> dict[str, Any]:
    try:
        data = json.loads((folder / "package.json").read_text("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except (OSError, ValueError):
        return ""
