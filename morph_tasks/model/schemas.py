"""The JSON schemas that come with the package, generated from the models.

`python -m morph_tasks.model.schemas` writes them; with `--check` it only compares.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

from morph_tasks.framework_files import framework_path
from morph_tasks.repo.files import to_json, write_atomic

# file in framework/schemas: model
SCHEMAS = {
    "checks.schema.json": "morph_tasks.model.checks:Checks",
    "config.schema.json": "morph_tasks.model.config:Config",
    "eval-summary.schema.json": "morph_tasks.model.eval_summary:EvalSummary",
    "feature.schema.json": "morph_tasks.model.feature:Feature",
    "verify.schema.json": "morph_tasks.model.verification:VerifyDocument",
}


def generate(name: str) -> bytes:
    """Return the schema file of one row of the table."""
    module, _, model = SCHEMAS[name].partition(":")
    schema = getattr(import_module(module), model).model_json_schema(by_alias=True)
    return to_json({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema})


def drifted() -> list[str]:
    """Return the names of the files that are not what the models say."""
    return [name for name in SCHEMAS if _on_disk(name) != generate(name)]


def main(argv: Sequence[str]) -> int:
    """Write the files that drifted, or with `--check` say which and return 1."""
    stale = drifted()
    for name in stale:
        if "--check" not in argv:
            write_atomic(framework_path(f"schemas/{name}"), generate(name))
        sys.stdout.write(f"{'stale' if '--check' in argv else 'wrote'} {name}\n")
    return 1 if stale and "--check" in argv else 0


def _on_disk(name: str) -> bytes:
    try:
        return framework_path(f"schemas/{name}").read_bytes()
    except FileNotFoundError:
        return b""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
