"""Names without a definition, put on the symbol that the scope of the reference says; a choice is kept as one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from morph_tasks.codegraph.sanitise.csharp import Scopes
from morph_tasks.codegraph.sanitise.families import family_of
from morph_tasks.codegraph.sanitise.imports import Imports
from morph_tasks.codegraph.sanitise.names import SUPERTYPE, Definitions, stubs_of
from morph_tasks.codegraph.sanitise.verdict import OUTSIDE, Reference, Verdict, one_of
from morph_tasks.codegraph.table import COALESCED, LANGUAGE, SANE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from morph_tasks.codegraph.table import Table


def coalesce(table: Table) -> None:
    """Move the links of stubs onto definitions; hide stubs that nothing hangs on, mark what is external."""
    stubs = stubs_of(table)
    if not stubs:
        return
    definitions = Definitions(table, stubs)
    judge = Judge(table, definitions)
    inside: set[int] = set()
    touching = list(_touching(table, stubs))
    for position, end in touching:
        reference = _reference(table, position, end)
        verdict = judge.verdict(reference)
        if verdict.meant is not None:
            via = LANGUAGE if judge.in_other_languages(reference) else COALESCED
            ends = (reference.source, verdict.meant) if end == 1 else (verdict.meant, reference.source)
            table.move(position, *ends, via)
        elif verdict.options:
            table.undecided[position] = verdict.options
        else:
            continue
        inside.add(reference.stub)
    rows = [table.rows[at] for at, _ in touching] + table.rows[len(table.links) :]
    still = {end for row in rows if row[5] & SANE for end in row[:2]}
    table.hidden |= inside - still
    table.external |= stubs - inside
    _gather(table, sorted(stubs - inside))


class Judge:
    """Decides what a name means by the rules of the language of the file."""

    def __init__(self, table: Table, definitions: Definitions) -> None:
        self._table = table
        self._definitions = definitions
        self._scopes: Scopes | None = None
        self._imports: Imports | None = None
        self._known: dict[tuple[object, ...], Verdict] = {}

    def verdict(self, reference: Reference) -> Verdict:
        """Return what a reference means."""
        if self._table.kinds[reference.stub] == "package" and not self._written_out(reference):
            return OUTSIDE  # a module that was imported under its own name
        types = reference.relation in SUPERTYPE or reference.family == "dotnet"
        candidates = self._definitions.in_family(reference.name, reference.family, types=types)
        if reference.family == "dotnet":
            if reference.context == "attribute":
                candidates = candidates or self._definitions.in_family(
                    f"{reference.name}Attribute", "dotnet", types=True
                )
            self._scopes = self._scopes or Scopes(self._table)
            full = self._written_out(reference)
            return one_of(self._scopes.by_full_name(full)) if full else self._scopes.decide(reference, candidates)
        if not candidates:
            return OUTSIDE
        key = (reference.file, reference.name, types)
        if key not in self._known:
            self._imports = self._imports or Imports(self._table)
            self._known[key] = self._imports.decide(reference, candidates)
        return self._known[key]

    def in_other_languages(self, reference: Reference) -> bool:
        """Tell whether the name is also defined in a language that the reference cannot mean."""
        nodes = self._table.nodes
        return any(
            family_of(nodes[found].source_file) != reference.family for found in self._definitions.named(reference.name)
        )

    def _written_out(self, reference: Reference) -> str | None:
        """Return the full name that a `using` names."""
        said = self._table.links[reference.row].metadata
        return said.target_fqn if said else None


def _touching(table: Table, stubs: set[int]) -> Iterator[tuple[int, int]]:
    """Return the positions of the links at a stub, and which end it is (0 the source, 1 the target)."""
    rows = table.rows[: len(table.links)]
    for position in [at for at, row in enumerate(rows) if row[1] in stubs or row[0] in stubs]:
        if rows[position][5] & SANE:
            yield position, 1 if rows[position][1] in stubs else 0


def _reference(table: Table, position: int, end: int) -> Reference:
    row, link = table.rows[position], table.links[position]
    other, stub = row[:2] if end == 1 else (row[1], row[0])
    said = link.metadata
    file = link.source_file or table.nodes[other].source_file
    return Reference(
        position,
        other,
        stub,
        table.names[stub],
        file,
        family_of(file),
        link.relation or "",
        link.context,
        said.ref_qualifier if said else None,
    )


def _gather(table: Table, outside: list[int]) -> None:
    """Let one node stand for a name from outside the tree; graphify makes one for each file that refers to it."""
    first: dict[tuple[str | None, str | None, str | None], int] = {}
    becomes: dict[int, int] = {}
    family: dict[int, str | None] = {}
    gone = set(outside)
    touching = [at for at, row in enumerate(table.rows) if row[1] in gone or row[0] in gone]
    for row in [table.rows[at] for at in touching]:
        family.setdefault(row[1], family_of(table.path_of(row[3])))
    for stub in outside:
        node = table.nodes[stub]
        kept = first.setdefault((node.label, node.type, family.get(stub)), stub)
        if kept != stub:
            becomes[stub] = kept
    for position in touching:
        row = table.rows[position]
        source, target = becomes.get(row[0], row[0]), becomes.get(row[1], row[1])
        if (source, target) != row[:2] and row[5] & SANE:
            table.move(position, source, target, COALESCED)
    table.hidden |= becomes.keys()
    table.external -= becomes.keys()
