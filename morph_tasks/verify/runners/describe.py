"""The table of runners in the documentation, from the runners themselves."""

from __future__ import annotations

from morph_tasks.verify.runners.table import RUNNERS


def table() -> str:
    """Return the Markdown table of all runners: name, aliases, what is read, what counts as no test."""
    rows = ["| runner | also called | what is read | no test was executed |", "| --- | --- | --- | --- |"]
    for name, runner in RUNNERS.items():
        also = ", ".join(f"`{alias}`" for alias in runner.ALIASES) or "—"
        rows.append(f"| `{name}` | {also} | {_cell(runner.SUMMARY)} | {_cell(runner.ZERO)} |")
    return "\n".join(rows) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
