"""The skeleton that a feature is born with: as long as nobody filled it in, it plans nothing."""

from __future__ import annotations

from morph_tasks.framework_files import framework_path

_LANGUAGES = ("en", "pt")


def is_skeleton(text: str) -> bool:
    """Tell whether a plan says no more than the template does below its first section, the problem."""
    own = _below(text)
    return any(own == _below(framework_path(f"templates/plan.{one}.md").read_text("utf-8")) for one in _LANGUAGES)


def _below(text: str) -> str:
    lines = [line.rstrip() for line in text.splitlines()]
    places = [number for number, line in enumerate(lines) if line.startswith("## ")]
    return "\n".join(lines[places[1] :]).strip() if len(places) > 1 else "\n".join(lines)
