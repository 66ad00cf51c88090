"""The block `heavy` of the configuration as the semaphore uses it: what makes no sense falls back, with a warning."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

SWITCH = "MORPH_HEAVY"
SLOTS = "MORPH_HEAVY_SLOTS"
FOLDER = "MORPH_HEAVY_DIR"
LEASE = "MORPH_HEAVY_LEASE"

_OFF = {"off", "0", "false", "no"}
_ON = {"", "on", "1", "true", "yes"}
_MOST_SLOTS = 1000
_LONGEST_S = 7 * 24 * 3600


@dataclass(frozen=True)
class Settings:
    """What holds for one command. `min_free_gb` is in GiB; None is the default, which small machines lower."""

    enabled: bool = True
    slots: int = 2
    min_free_gb: float | None = None
    wait_s: float = 600.0
    max_hold_s: float = 90 * 60.0
    shutdown_build_server: bool = True
    disable_node_reuse: bool = True
    gate_bash: bool = False
    folder: Path = Path()


# key of the block: (field, least, most, factor); without numbers it is a switch
_KEYS: dict[str, tuple[str, float, float, float] | str] = {
    "enabled": "enabled",
    "slots": ("slots", 1, _MOST_SLOTS, 1),
    "minFreeMemGb": ("min_free_gb", 0, 1_000_000_000, 1),
    "waitTimeoutSec": ("wait_s", 0, _LONGEST_S, 1),
    "maxHoldMinutes": ("max_hold_s", 1 / 60, _LONGEST_S / 60, 60),
    "shutdownBuildServer": "shutdown_build_server",
    "disableNodeReuse": "disable_node_reuse",
    "gateBash": "gate_bash",
}


def read_settings(
    data: Mapping[str, Any] | None = None, environ: Mapping[str, str] | None = None
) -> tuple[Settings, tuple[str, ...]]:
    """Return the settings that a parsed config.json and the environment ask for, and warnings on what they got wrong.

    Nothing in the block ever stops work: a value that cannot be used is named and its default holds.
    """
    environ = os.environ if environ is None else environ
    block = (data or {}).get("heavy")
    warnings: list[str] = []
    found: dict[str, Any] = {}
    if isinstance(block, Mapping):
        found = _fields(block, warnings)
    elif block is not None:
        warnings.append(f"heavy: found {_shown(block)}, expected an object: the defaults hold")
    settings = replace(Settings(), **found, folder=state_folder(environ))
    return _by_environment(settings, environ, warnings), tuple(warnings)


def tree_settings(root: Path | None) -> tuple[Settings, tuple[str, ...]]:
    """Return the settings of a tree, read without the rest of its configuration; None is no tree at all."""
    from morph_tasks.errors import Refusal
    from morph_tasks.model.load import CONFIG_PATH
    from morph_tasks.repo.files import parse_json, read_file

    data: Any = None
    trouble: tuple[str, ...] = ()
    if root is not None:
        try:
            data = parse_json(read_file(root / CONFIG_PATH, shown=CONFIG_PATH), Path(CONFIG_PATH))
        except FileNotFoundError:
            data = None
        except Refusal as refusal:
            trouble = (f"{refusal.what}: the defaults of heavy hold",)
    settings, warnings = read_settings(data if isinstance(data, Mapping) else None)
    return settings, trouble + warnings


def state_folder(environ: Mapping[str, str]) -> Path:
    """Return where the slots of this user lie; there or not."""
    own = environ.get(FOLDER, "")
    if own:
        return Path(os.path.abspath(os.path.expanduser(own)))
    # A relative value is to be ignored, says the specification of base directories.
    base = environ.get("XDG_STATE_HOME", "")
    state = Path(base) if os.path.isabs(base) else Path(os.path.expanduser("~")) / ".local" / "state"
    return state / "morph-spec" / "heavy"


def child_env(settings: Settings, environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return what heavy children get besides their lease: MSBuild leaves no worker behind. What the user set stays."""
    environ = os.environ if environ is None else environ
    if not settings.disable_node_reuse or environ.get("MSBUILDDISABLENODEREUSE"):
        return {}
    return {"MSBUILDDISABLENODEREUSE": "1"}


def _fields(block: Mapping[str, Any], warnings: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in block.items():
        rule = _KEYS.get(key)
        if value is None and key == "minFreeMemGb":
            continue  # its default depends on the machine, and the schema has no other word for it
        if rule is None:
            warnings.append(f"heavy.{key} is not known and has no effect")
        elif isinstance(rule, str):
            if isinstance(value, bool):
                found[rule] = value
            else:
                warnings.append(f"heavy.{key}: found {_shown(value)}, expected true or false: the default holds")
        else:
            field, least, most, factor = rule
            whole = field == "slots"
            if _is_number(value, whole) and least <= value <= most:
                found[field] = int(value) if whole else float(value) * factor
            else:
                kind = "a whole number" if whole else "a number"
                expected = f"{kind} between {least:g} and {most:g}"
                warnings.append(f"heavy.{key}: found {_shown(value)}, expected {expected}: the default holds")
    return found


def _by_environment(settings: Settings, environ: Mapping[str, str], warnings: list[str]) -> Settings:
    switch = environ.get(SWITCH, "").strip().lower()
    if switch in _OFF:
        settings = replace(settings, enabled=False)
    elif switch not in _ON:
        warnings.append(f"{SWITCH}: found {_shown(environ[SWITCH])}, expected off: it has no effect")
    slots = environ.get(SLOTS, "").strip()
    if slots:
        # Not `isdigit` alone: int() refuses superscripts, and reads thousands of digits slowly.
        if slots.isascii() and slots.isdigit() and len(slots) <= 9 and 1 <= int(slots) <= _MOST_SLOTS:
            settings = replace(settings, slots=int(slots))
        else:
            expected = f"a whole number between 1 and {_MOST_SLOTS}"
            warnings.append(f"{SLOTS}: found {_shown(slots)}, expected {expected}: {settings.slots} holds")
    return settings


def _is_number(value: Any, whole: bool) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return False
    return not whole or value == int(value)


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=True, default=str)
    return text if len(text) <= 60 else text[:57] + "..."
