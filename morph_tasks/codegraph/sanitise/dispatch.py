"""Calls through an interface: which members of which implementers they can reach."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from morph_tasks.codegraph.sanitise.families import family_of
from morph_tasks.codegraph.table import DISPATCH, SANE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from morph_tasks.codegraph.table import Table

RELATION = "dispatches_to"
_SUBTYPE = ("implements", "inherits", "extends")


def recover(table: Table) -> int:
    """Add `dispatches_to` from each member of an interface to what implements it, where it is missing; return how many.

    However many implementers there are, all are meant: a fake beside the real one takes nothing away.
    """
    interfaces = dict.fromkeys(target for _, target in table.links_of("implements"))
    if not interfaces:
        return 0
    members, derived, bases = _members(table), _by_target(table.links_of(*_SUBTYPE)), _by_source(table)
    known = set(table.links_of(RELATION))
    relation, added = table.relations[RELATION], 0
    for interface in interfaces:
        declared = members.get(interface)
        family = family_of(table.nodes[interface].source_file)
        for implementer in _all(interface, derived) if declared and family else ():
            if implementer in interfaces or family_of(table.nodes[implementer].source_file) != family:
                continue
            for source, target in _pairs(
                table, declared or {}, _own_or_inherited(implementer, members, bases, interfaces)
            ):
                if source != target and (source, target) not in known:
                    known.add((source, target))
                    node = table.nodes[target]
                    place = (table.files[node.source_file], table.lines[node.source_location])
                    table.add((source, target, relation, *place, SANE, DISPATCH))
                    added += 1
    return added


def _members(table: Table) -> dict[int, dict[str, list[int]]]:
    """Return the methods of each type by name."""
    found: dict[int, dict[str, list[int]]] = {}
    for owner, member in table.links_of("method"):
        node = table.nodes[member]
        if node.source_file and member not in table.hidden:
            named = found.setdefault(owner, {}).setdefault(table.names[member], [])
            if member not in named:
                named.append(member)
    return found


def _by_target(links: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for source, target in links:
        found.setdefault(target, []).append(source)
    return found


def _by_source(table: Table) -> dict[int, list[int]]:
    return _by_target((target, source) for source, target in table.links_of("inherits", "extends"))


def _all(start: int, following: dict[int, list[int]]) -> Iterator[int]:
    """Return all that follows from a node, the nearest first."""
    seen, queue = {start}, deque([start])
    while queue:
        for found in following.get(queue.popleft(), ()):
            if found not in seen:
                seen.add(found)
                queue.append(found)
                yield found


def _own_or_inherited(
    implementer: int, members: dict[int, dict[str, list[int]]], bases: dict[int, list[int]], interfaces: Iterable[int]
) -> dict[str, list[int]]:
    """Return the methods that an implementer has, its base classes' included where it has none of the name."""
    found = dict(members.get(implementer, {}))
    for base in _all(implementer, bases):
        if base not in interfaces:
            for name, methods in members.get(base, {}).items():
                found.setdefault(name, methods)
    return found


def _pairs(
    table: Table, declared: dict[str, list[int]], implemented: dict[str, list[int]]
) -> Iterator[tuple[int, int]]:
    """Pair members of one name; overloads by their signature, then by how many parameters they have."""
    for name, wanted in declared.items():
        given = implemented.get(name, [])
        if len(wanted) == 1 and len(given) == 1:
            yield wanted[0], given[0]
        elif given:
            yield from _overloads(table, wanted, given)


def _overloads(table: Table, wanted: list[int], given: list[int]) -> Iterator[tuple[int, int]]:
    free = list(given)
    for key in ("signature", "arity"):
        for member in list(wanted):
            said = _said(table, member, key)
            matching = [found for found in free if said is not None and _said(table, found, key) == said]
            if len(matching) == 1:
                yield member, matching[0]
                free.remove(matching[0])
                wanted = [other for other in wanted if other != member]


def _said(table: Table, member: int, key: str) -> object:
    meta = table.nodes[member].metadata
    return getattr(meta, key) if meta else None
