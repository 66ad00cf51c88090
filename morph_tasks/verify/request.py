"""What a caller asks of a verify: the same names as flags of the command and as variables of doit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from morph_tasks.errors import Refusal
from morph_tasks.verify.nodes import Node

WAIT_S = 600.0
MOST_MS = 2**31 - 1  # what a poll can wait for


@dataclass(frozen=True)
class Request:
    """The options of one verify."""

    timeout_ms: int | None = None
    filter: tuple[str, ...] = ()
    skip_tests: bool = False
    skip_build: bool = False
    skip_e2e: bool = False
    no_persist: bool = False
    fresh: bool = False
    wait_s: float = WAIT_S
    jobs: int = 1
    record_baseline: bool = False
    slice: str | None = None
    full: bool = False
    refresh_cache: bool = False
    linux: bool = False
    linux_image: str | None = None
    fresh_e2e: bool = False

    def not_persisted(self) -> str | None:
        """Return why the run of this request is no whole proof; None when it is one."""
        if self.slice:
            return "slice"
        if self.filter:
            return "filtered"
        if self.skip_tests:
            return "skip-tests"
        if self.skip_build:
            return "skip-build"
        return "no-persist" if self.no_persist else None

    def left_out(self, node: Node) -> str | None:
        """Return why this request leaves a node out; None when it does not."""
        if node.family == "build" and self.skip_build:
            return "--skip-build"
        if node.family == "tests" and self.skip_tests:
            return "--skip-tests"
        if (node.family == "e2e" or node.e2e) and self.skip_e2e:
            return "--skip-e2e"
        if node.family == "tests" and self.filter and not self.chooses(node):
            return f"not chosen by --filter {','.join(self.filter)}"
        if node.selection and node.selection.mode == "out-of-scope":
            return f"out of slice scope: {node.selection.reason}"
        if self.slice and node.family == "e2e":
            return "out of slice scope: the application runs in a whole verify only"
        return None

    def chooses(self, node: Node) -> bool:
        """Tell whether `--filter` names a test node: by its id, or by a part of it."""
        return any(word in node.id for word in self.filter)

    def as_dict(self) -> dict[str, Any]:
        """Return the request as plain values, for an action that must pickle."""
        return asdict(self)

    @staticmethod
    def of(values: Mapping[str, Any]) -> Request:
        return replace(Request(), **{**values, "filter": tuple(values.get("filter", ()))})


def words(text: str) -> tuple[str, ...]:
    """Split a comma list; raises Refusal `bad-filter` (exit 2) when it names nothing."""
    found = tuple(word.strip() for word in text.split(",") if word.strip())
    if not found:
        raise Refusal("bad-filter", "--filter names no node", fix="--filter <id>[,<id>]", exit_code=2)
    return found


# doit variable -> (field of the request, how its text is read)
_VARIABLES = {
    "timeout": ("timeout_ms", "ms"),
    "filter": ("filter", "words"),
    "skip-tests": ("skip_tests", "flag"),
    "skip-build": ("skip_build", "flag"),
    "skip-e2e": ("skip_e2e", "flag"),
    "no-persist": ("no_persist", "flag"),
    "fresh": ("fresh", "flag"),
    "wait": ("wait_s", "seconds"),
    "record-baseline": ("record_baseline", "flag"),
    "full": ("full", "flag"),
    "refresh-cache": ("refresh_cache", "flag"),
    "fresh-e2e": ("fresh_e2e", "flag"),
    "linux": ("linux", "flag"),
    "linux-image": ("linux_image", "text"),
}
VARIABLES = tuple(_VARIABLES)


def from_variables(variables: Mapping[str, str]) -> Request:
    """Read `name=value` variables of doit; raises Refusal `unknown-option` or `bad-option` (exit 2)."""
    values: dict[str, Any] = {}
    for name, text in variables.items():
        known = _VARIABLES.get(name.replace("_", "-"))
        if known is None:
            raise Refusal(
                "unknown-option", f"{name}={text} is no option", fix=f"options: {', '.join(VARIABLES)}", exit_code=2
            )
        field, kind = known
        values[field] = _read(name, text, kind)
    return Request.of(values)


def _read(name: str, text: str, kind: str) -> Any:
    if kind == "words":
        return words(text)
    if kind == "text" and text.strip():
        return text.strip()
    if kind == "flag" and text.lower() in ("1", "true", "yes", "on"):
        return True
    if kind == "flag" and text.lower() in ("0", "false", "no", "off"):
        return False
    if kind == "ms" and text.isdecimal() and len(text) < 11 and 0 < int(text) <= MOST_MS:
        return int(text)
    if kind == "seconds" and text.replace(".", "", 1).isdecimal():
        return float(text)
    expected = {"flag": "1 or 0", "text": "a name", "ms": f"1 to {MOST_MS} milliseconds", "seconds": "seconds"}[kind]
    raise Refusal("bad-option", f"{name}={text}: expected {expected}", fix=f"{name}=<{expected}>", exit_code=2)
