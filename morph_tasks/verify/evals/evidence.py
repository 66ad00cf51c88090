"""`3-implement/evidencias/<slice>.md`: what a slice shows of the answers of a model, scenario by scenario.

A record holds criterion, node and scenario, model, version of the prompt, input, output and verdict. It is material for
a reviewer: here is told what there is and what is missing, never whether the answer is good.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.plan.words import fold
from morph_tasks.repo.files import read_file
from morph_tasks.verify.scenarios.tags import tag

if TYPE_CHECKING:
    from morph_tasks.verify.scenarios.owed import Owed

FOLDER = "3-implement/evidencias"
FIELDS = ("criterion", "node", "scenario", "model", "prompt", "input", "output", "verdict")
_WORDS = {
    "criterion": ("criterion", "criteria", "critério", "critérios"),
    "node": ("node", "eval node", "evals node", "node and scenario", "evals node and scenario", "nó", "nó evals",
             "nó de evals", "nó e cenário", "nó evals e cenário"),
    "scenario": ("scenario", "scenarios", "cenário", "cenários"),
    "model": ("model", "modelo"),
    "prompt": ("prompt version", "version of the prompt", "prompt", "versão do prompt"),
    "input": ("input", "entrada"),
    "output": ("output", "saída", "answer", "resposta"),
    "verdict": ("verdict", "veredito", "veredicto"),
}  # fmt: skip
_LABELS = {fold(word): name for name, words in _WORDS.items() for word in words}
# By itself a node says which scenario of the suite it means: only these must be there.
_REQUIRED = tuple(name for name in FIELDS if name != "scenario")
_NO_NODE = re.compile(r"^(no|none|nenhum|nenhuma|sem|without)\b")
_HEADING = re.compile(r"^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
_FENCE = re.compile(r"^\s{0,3}(```+|~~~+)")
_LABEL = re.compile(
    r"^\s*(?:[-*+]\s+|\|\s*)?(?:\*\*|__)?\s*([^:|*_]{2,40}?)\s*(?:\*\*|__)?\s*[:|]\s*(?:\*\*|__)?\s*(.*)$"
)
_SCENARIO = re.compile(r"(?<![\w:.-])(?:[\w.-]+:)?C(\d+)(?!\w)")
_SLICE = re.compile(r"^F\d+$")


@dataclass(frozen=True)
class EvidenceRecord:
    """One record. `node`: the evals node it names; None with `by_hand` when it says that there is none."""

    scenarios: tuple[str, ...]
    line: int
    fields: dict[str, str]
    node: str | None
    by_hand: bool
    problems: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        return {
            "scenarios": list(self.scenarios),
            "line": self.line,
            "node": self.node,
            "byHand": self.by_hand,
            "model": self.fields.get("model") or None,
            "verdict": self.fields.get("verdict") or None,
            "problems": list(self.problems),
        }


@dataclass(frozen=True)
class EvidenceFile:
    """The file of one slice. `due`: the eval scenarios that the slice covers; `path` lies in the feature's folder."""

    slice: str
    path: str
    exists: bool
    due: tuple[str, ...]
    records: tuple[EvidenceRecord, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Tell whether nothing is missing from what is due."""
        return not self.all_problems

    @property
    def all_problems(self) -> tuple[str, ...]:
        """Return what is wrong with the file and with each of its records."""
        told = (f"line {record.line}: {said}" for record in self.records for said in record.problems)
        return (*self.problems, *told)

    def as_json(self) -> dict[str, Any]:
        return {
            "slice": self.slice,
            "path": self.path,
            "exists": self.exists,
            "due": list(self.due),
            "complete": self.complete,
            "records": [record.as_json() for record in self.records],
            "problems": list(self.problems),
        }


def evidence_files(folder: Path, plan: Owed, nodes: Collection[str]) -> tuple[EvidenceFile, ...]:
    """Return the evidence of a feature: of each slice that owes some, then of what else lies there.

    `folder` is the feature's; `nodes` are the ids of the evals nodes that the project declares. Writes nothing.
    """
    evals = {one.id for one in plan.scenarios if one.proof == "eval"}
    due = {one.id: tuple(name for name in one.covers if name in evals) for one in plan.slices}
    owing = [name for name, scenarios in due.items() if scenarios]
    there = _names(folder / FOLDER)
    more = sorted(there - set(owing), key=lambda name: (len(name), name))
    return tuple(_file(folder, name, due.get(name), name in there, nodes) for name in (*owing, *more))


def _file(folder: Path, name: str, due: tuple[str, ...] | None, exists: bool, nodes: Collection[str]) -> EvidenceFile:
    path = f"{FOLDER}/{name}.md"
    wanted = due or ()
    if not exists:
        return EvidenceFile(name, path, False, wanted, problems=(f"it does not exist, and {_some(wanted)} needs it",))
    problems = [] if due is not None else [f"the plan has no slice {name}"]
    try:
        text = read_file(folder / path, shown=path).decode("utf-8-sig")
    except (Refusal, OSError) as error:
        said = error.what if isinstance(error, Refusal) else "it cannot be read"
        return EvidenceFile(name, path, True, wanted, problems=(*problems, said))
    except UnicodeDecodeError:
        return EvidenceFile(name, path, True, wanted, problems=(*problems, "it is not UTF-8 text"))
    records = tuple(records_of(text, nodes, only=wanted[0] if len(wanted) == 1 else None))
    shown = {one for record in records for one in record.scenarios}
    missing = [one for one in wanted if one not in shown]
    problems += [f"it has no record of {_some(missing)}"] if missing else []
    return EvidenceFile(name, path, True, wanted, records, tuple(problems))


def records_of(text: str, nodes: Collection[str], only: str | None = None) -> Iterator[EvidenceRecord]:
    """Yield the records of a file: one for each heading with a scenario id, else the whole file is one.

    `only`: the scenario meant by a file that names none, because its slice owes no other.
    """
    lines = text.splitlines()
    starts = [at for at, heading in _headings(lines) if _SCENARIO.search(heading)]
    if not starts:
        starts = [0]
    if not text.strip():
        return
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        yield _record(lines[start:end], start + 1, nodes, only if len(starts) == 1 else None)


def _record(lines: list[str], first: int, nodes: Collection[str], only: str | None) -> EvidenceRecord:
    fields = _fields(lines)
    heading = _HEADING.match(lines[0]) if lines else None
    said = [
        heading[2] if heading else "",
        fields.get("scenario", ""),
        fields.get("node", ""),
        fields.get("criterion", ""),
    ]
    found = next((ids for text in said if (ids := _scenarios(text))), ())
    node_text = fields.get("node", "")
    by_hand = bool(_NO_NODE.match(fold(node_text)))
    node = (
        None
        if by_hand
        else next((name for name in sorted(nodes, key=len, reverse=True) if _names_it(node_text, name)), None)
    )
    problems = [f"{name} is missing" for name in _REQUIRED if not fields.get(name)]
    if node_text and not by_hand and node is None:
        problems.append(f"it names {node_text.splitlines()[0][:60]!r}, which is no evals node of this project")
    if not found and only is None:
        problems.append("it names no scenario of the plan")
    return EvidenceRecord(found or ((only,) if only else ()), first, fields, node, by_hand, tuple(problems))


def _fields(lines: Iterable[str]) -> dict[str, str]:
    """Return the fields of a record: `Label: value`, a row of a table, or a heading with what is below it."""
    found: dict[str, list[str]] = {}
    current: str | None = None
    fence = ""
    for line in lines:
        mark = _FENCE.match(line)
        if mark and not (fence and not mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
            continue
        name, value = (None, line) if fence else _labelled(line)
        if name:
            current = name
            found.setdefault(name, [])
        elif not fence and _HEADING.match(line):
            current = None
        if current and value.strip():
            found[current].append(value.strip())
    return {name: "\n".join(values) for name, values in found.items()}


def _labelled(line: str) -> tuple[str | None, str]:
    heading = _HEADING.match(line)
    if heading and (name := _LABELS.get(fold(heading[2].rstrip(":").replace("`", "")))):
        return name, ""
    label = _LABEL.match(line)
    if label and not heading and (name := _LABELS.get(fold(label[1].replace("`", "")))):
        return name, label[2].strip().rstrip("|").strip()
    return None, line


def _headings(lines: list[str]) -> Iterator[tuple[int, str]]:
    fence = ""
    for at, line in enumerate(lines):
        mark = _FENCE.match(line)
        if mark and not (fence and not mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        elif not fence and (heading := _HEADING.match(line)):
            yield at, heading[2]


def _scenarios(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tag(f"C{hit[1]}") for hit in _SCENARIO.finditer(text)))


def _names_it(text: str, node: str) -> bool:
    return re.search(rf"(?<![\w-])(?:tests/)?{re.escape(node)}(?![\w-])", text) is not None


def _names(folder: Path) -> set[str]:
    try:
        return {name[:-3] for name in os.listdir(folder) if name.endswith(".md") and _SLICE.match(name[:-3])}
    except OSError:
        return set()


def _some(names: Iterable[str]) -> str:
    return ", ".join(names)
