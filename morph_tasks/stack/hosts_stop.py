"""Find and end the processes of host services: by identity, by group, and by the mark that they carry."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from morph_tasks.machine import groups, identity, table
from morph_tasks.machine.groups import Group
from morph_tasks.machine.identity import Identity
from morph_tasks.machine.table import Entry
from morph_tasks.stack.hosts_state import Place, Service, State

GRACE_S = 5.0
NOBODY = Identity(-1, None, "", "")


@dataclass(frozen=True)
class Ending:
    """What became of some services: `ended` had processes, `left` still have or cannot be judged from here."""

    ended: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def end_services(place: Place, services: Iterable[Service], *, grace_s: float = GRACE_S) -> Ending:
    """End services with all that they started: TERM to whole groups, up to `grace_s` for them to be gone, KILL.

    A number that another process has now is left alone, with a warning; so is a process of another machine or pid
    namespace, or one whose start cannot be read.
    """
    warnings: list[str] = []
    left: list[str] = []
    chosen: dict[str, Group] = {}
    for one in services:
        state = identity.state(one.leader) if one.leader else "dead"
        if state == "unknown":
            left.append(one.name)
            warnings.append(_unknown(one))
            continue
        if state == "dead" and one.leader is not None and recycled(one.leader):
            warnings.append(
                f"the pid {one.leader.pid} of the host service `{one.name}` belongs to another process now; "
                "it was left alone, and the record dropped"
            )
        # A zombie leader still names its group; a number that changed hands names nobody.
        known = one.leader if one.leader is not None and not recycled(one.leader) else NOBODY
        chosen[one.name] = Group(known, place.token(one.name))
    if not chosen:
        return Ending((), tuple(left), tuple(warnings))
    before = {name for name, group in chosen.items() if living(group)}
    if before:
        groups.stop([chosen[name] for name in sorted(before)], grace_s)
    for name in sorted(before):
        if still := living(chosen[name]):
            left.append(name)
            warnings.append(f"the host service `{name}` did not end: {', '.join(map(str, still))}")
    _reap(chosen.values())
    return Ending(tuple(sorted(before - set(left))), tuple(left), tuple(warnings))


def living(group: Group) -> list[Entry]:
    """Return what lives of a service."""
    found = groups.members(group, table.snapshot())
    return [*found.inside, *found.escaped]


def recycled(leader: Identity) -> bool:
    """Tell whether the number of a recorded process belongs to another one now."""
    entry = table.read(leader.pid)
    return entry is not None and not entry.dead and identity.state(leader) == "dead"


def unrecorded(place: Place, state: State) -> list[Service]:
    """Return services that run by their mark while nothing is recorded of them (a killed run, a lost file)."""
    safe = table.ancestors()
    found: dict[str, Service] = {}
    for pid, entry in table.snapshot().items():
        if pid in safe or entry.dead:
            continue
        marks = table.marks(pid)
        for token in marks.tokens if marks else ():
            name = token.removeprefix(place.mark)
            if name != token and name not in state.services:
                found[name] = Service(name, None, "", "", None)
    return [found[name] for name in sorted(found)]


def _unknown(one: Service) -> str:
    who = one.leader
    assert who is not None
    where = f" of {who.host}" if who.host != identity.host() else ""
    return (
        f"the host service `{one.name}` is recorded as pid {who.pid}{where}, which cannot be judged from here; "
        "it was left alone: stop it where it runs"
    )


def _reap(ended: Iterable[Group]) -> None:
    """Collect what was started by this very process; of others the system takes care."""
    for group in ended:
        if group.leader.pid > 1 and group.owns_number():
            with suppress(ChildProcessError, OSError):
                os.waitpid(group.leader.pid, os.WNOHANG)
