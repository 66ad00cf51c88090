"""Read the project's configuration; a record of the last valid one spares the validation."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.repo.files import parse_json, read_file, write_atomic

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

CONFIG_PATH = ".morph/config/config.json"


@dataclass(frozen=True)
class Config:
    """A valid configuration. `data` is the parsed file ({} when there is none), unknown keys included."""

    data: dict[str, Any]
    digest: str

    @property
    def project(self) -> dict[str, Any]:
        return self.data.get("project") or {}

    @property
    def trust(self) -> str:
        return self.data.get("trust") or "auto"

    @property
    def language(self) -> str:
        return (self.data.get("language") or "en")[:2]

    @property
    def declares_docker(self) -> bool:
        """Tell whether the project says it runs in containers (`project.stack` or `project.integrations`)."""
        tags = (self.project.get("stack") or "").split("+")
        return "docker" in [tag.strip().lower() for tag in [*tags, *(self.project.get("integrations") or [])]]

    def meaning(self) -> str:
        """Return the digest of what the file says: formatting and `expectedCount` do not matter."""
        tests = [
            {key: value for key, value in node.items() if key != "expectedCount"}
            for node in self.project.get("tests") or []
        ]
        project = {**self.project, **({"tests": tests} if "tests" in self.project else {})}
        said = {**self.data, **({"project": project} if self.data.get("project") else {})}
        said.pop("$schema", None)
        return hashlib.sha256(json.dumps(said, sort_keys=True, ensure_ascii=True).encode()).hexdigest()


def load_config(repo: Repo) -> Config:
    """Return the configuration of a tree; raises Refusal `invalid-config`, `corrupt-file` or `unreadable-file`."""
    try:
        raw = read_file(repo.root / CONFIG_PATH, shown=CONFIG_PATH)
    except FileNotFoundError:
        return Config({}, "")
    digest = hashlib.sha256(raw).hexdigest()
    data = parse_json(raw, Path(CONFIG_PATH), unique=True)
    if not isinstance(data, dict):
        raise _invalid([{"path": "$", "found": _shown(data), "expected": "an object"}])
    record = repo.tree_state / "config-record"
    # The main tree's record will do: a new work tree has the same file.
    if not _recorded(record, digest) and not _recorded(repo.store / "config-record", digest):
        validate(data)
        _record(record, digest)
    return Config(data, digest)


def validate(data: dict[str, Any]) -> None:
    """Check known keys; raises Refusal `invalid-config` that names every path, what was found and what was expected."""
    from pydantic import ValidationError

    from morph_tasks.model.config import Config as Model

    try:
        Model.model_validate(data)
    except ValidationError as error:
        raise _invalid([_problem(item) for item in error.errors(include_url=False)]) from None


def _problem(item: Any) -> dict[str, str]:
    path = ""
    for part in item["loc"]:
        if isinstance(part, int):
            path += f"[{part}]"
        elif not part.startswith(("list[", "constrained-", "str", "literal[")):
            path += f".{part}" if path else part
    expected = str(item["msg"]).removeprefix("Input should be ").removeprefix("Value error, ")
    if item["type"] == "missing":
        return {"path": path, "found": "nothing", "expected": "a value (the key is required)"}
    return {"path": path or "$", "found": _shown(item["input"]), "expected": expected}


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 80 else text[:77] + "..."


def _invalid(problems: list[dict[str, str]]) -> Refusal:
    first = problems[0]
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return Refusal(
        "invalid-config",
        f"{CONFIG_PATH}: {first['path']}: found {first['found']}, expected {first['expected']}{more}",
        fix=f"correct {first['path']} in {CONFIG_PATH}",
        file=CONFIG_PATH,
        problems=problems,
    )


def _rules() -> str:
    """Identify the rules a record was made with: another version validates again."""
    about = os.stat(Path(__file__).with_name("config.py"))
    return f"{about.st_size}:{about.st_mtime_ns}"


def _recorded(record: Path, digest: str) -> bool:
    try:
        return record.read_text() == f"{digest} {_rules()}"
    except (OSError, ValueError):
        return False


def _record(record: Path, digest: str) -> None:
    try:
        record.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomic(record, f"{digest} {_rules()}".encode(), mode=0o600)
    except (OSError, Refusal):
        return  # a record that cannot be kept only costs the next validation
