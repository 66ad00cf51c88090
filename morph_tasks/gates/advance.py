"""One step along the phases: approve the gate of the current one, open the folder of the next."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.features.aftermath import settle
from morph_tasks.features.outputs import phases
from morph_tasks.features.reports import slice_reports
from morph_tasks.features.store import feature_dir, read_feature, update_feature
from morph_tasks.features.view import by_policy, phase_of
from morph_tasks.framework_files import framework_path
from morph_tasks.gates import planning
from morph_tasks.gates.approval import Approved, Consent, approve
from morph_tasks.repo.files import write_atomic
from morph_tasks.repo.trees import require_owner_tree

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo


@dataclass(frozen=True)
class Advanced:
    """The step. `skipped`: what `--force` passed over; `files`: what was written, relative to the root."""

    before: str
    after: str
    approval: Approved | None
    files: tuple[str, ...]
    skipped: tuple[str, ...]
    next_command: str


def advance(repo: Repo, slug: str, consent: Consent, *, design: bool = False, command: str = "") -> Advanced:
    """Take a feature to its next phase; `design` takes the branch over `uiux`.

    Raises what `approve` raises, Refusal `reports-missing`, `checks-missing`, `checks-unusable` or
    `checks-stale` out of `implement` (waived by `force`), `design-too-late`, or `nothing-to-advance`.
    """
    require_owner_tree(repo, slug, command=command)
    data = read_feature(repo.root, slug)
    folder = feature_dir(repo.root, slug)
    before = phase_of(folder, data)
    if data.get("status") in ("abandoned", "archived"):
        raise Refusal("feature-not-active", f"feature {slug!r} is {data['status']}", feature=slug)
    if before not in ("plan", "uiux", "implement", "review"):
        raise Refusal("nothing-to-advance", f"{slug!r} has passed every gate", fix=f"morph-spec finish {slug} --merge")
    if design and before not in ("plan", "implement"):
        raise Refusal("design-too-late", f"{slug!r} is in phase {before}: the design branches off after the plan")
    leaves_implement = before == "implement" and not design
    skipped = _owed(repo.root, folder, consent) if leaves_implement else ()
    gate = before if before in ("plan", "uiux", "review") else None
    approval = approve(repo, slug, gate, consent, command=command) if gate else None
    made = _open_next(repo, slug, before, design=design)
    files, step = settle(repo, slug)
    after = phase_of(folder, read_feature(repo.root, slug))
    written = dict.fromkeys([*made, *(approval.files if approval else ()), *files])
    return Advanced(before, after, approval, tuple(written), skipped, step)


def _owed(root: Path, folder: Path, consent: Consent) -> tuple[str, ...]:
    """Return what is missing to leave `implement` when it may be passed over; else raise."""
    try:
        state = planning.plan_state(root, folder.name)
        owed = [one for one in slice_reports(folder) if one.problem]
        if state != "fresh":
            raise Refusal(
                "checks-stale",
                f"2-plan/checks.json is not from this plan ({state}), so the slices are not known",
                fix=f"morph-spec plan-check {folder.name}",
            )
        if owed:
            named = ", ".join(f"{one.path} ({one.problem})" for one in owed)
            raise Refusal(
                "reports-missing",
                f"slices owe a final report: {named}",
                fix="write them, or pass --force to leave without",
                reports=[{"slice": one.slice_id, "path": one.path, "problem": one.problem} for one in owed],
            )
    except Refusal as refused:
        if not consent.force:
            raise
        return (refused.what,)
    return ()


def _open_next(repo: Repo, slug: str, before: str, *, design: bool) -> list[str]:
    """Make the folder of the next phase and return the files written into it."""
    folder = feature_dir(repo.root, slug)
    if design:
        _drop_design_policy(repo, slug)
        (folder / "1-design").mkdir(exist_ok=True)
        return _design_files(repo, slug)
    following = {"plan": "implement", "uiux": "implement", "implement": "review"}.get(before)
    if before == "plan" and (folder / "1-design").is_dir():
        following = "uiux"
    name = next((phase["folder"] for phase in phases() if phase["id"] == following), None)
    if name:
        (folder / name).mkdir(exist_ok=True)
    if following == "implement":
        (folder / "3-implement" / "reports").mkdir(exist_ok=True)
    return []


def _drop_design_policy(repo: Repo, slug: str) -> None:
    """A design that is asked for has to be looked at, whatever the type of work passes over."""

    def change(data: dict[str, Any]) -> None:
        if by_policy(data, "uiux"):
            del data["approvalGates"]["uiux"]

    update_feature(repo.root, slug, change)


def _design_files(repo: Repo, slug: str) -> list[str]:
    from morph_tasks.model.load import load_config

    language = load_config(repo).language
    wanted = {
        f".morph/features/{slug}/1-design/mockups.md": "mockups",
        ".morph/context/design-system.md": "design-system",
    }
    made = []
    for path, template in wanted.items():
        if not (repo.root / path).exists():
            write_atomic(repo.root / path, _template(template, language))
            made.append(path)
    return made


def _template(name: str, language: str) -> bytes:
    own = framework_path(f"templates/{name}.{language}.md")
    return (own if own.is_file() else framework_path(f"templates/{name}.en.md")).read_bytes()
