"""What is known of the host services of one compose project, on disk."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.machine import identity
from morph_tasks.machine.identity import Identity
from morph_tasks.repo.files import read_json, write_json

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

VERSION = 1


@dataclass(frozen=True)
class Place:
    """Where a project keeps its state, locks and logs; `mark` begins what its processes carry."""

    project: str
    folder: Path
    mark: str

    @property
    def state(self) -> Path:
        return self.folder / f"e2e-host-{self.project}.json"

    @property
    def live(self) -> Path:
        """Where running builds and seeds are recorded: for all trees, since any may have to end them."""
        return live_dir_of(self.folder)

    @property
    def lock(self) -> Path:
        return self.folder / f"e2e-host-{self.project}.lock"

    def token(self, name: str) -> str:
        """Return what the processes of a service carry in their environment, wherever they went."""
        return f"{self.mark}{name}"


@dataclass(frozen=True)
class Service:
    """One service that was announced; `leader` is None when nobody lived to write down what was started."""

    name: str
    leader: Identity | None
    stamp: str
    log: str
    health: str | None
    ready: bool = False


@dataclass(frozen=True)
class State:
    """All services of a project; `digest` identifies the set that they were started as."""

    digest: str = ""
    services: Mapping[str, Service] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def with_service(self, service: Service) -> State:
        return replace(self, services={**self.services, service.name: service})

    def without(self, *names: str) -> State:
        return replace(self, services={name: one for name, one in self.services.items() if name not in names})


def live_dir_of(store: Path) -> Path:
    """Return where the running commands of stacks are recorded."""
    return store / "e2e-live"


def place_of(repo: Repo, project: str) -> Place:
    """Return where the state of a compose project lies; raises Refusal `bad-project-name`."""
    if not project or "/" in project or project != project.strip() or len(project.split()) != 1:
        raise Refusal(
            "bad-project-name", f"{project!r} cannot name a compose project", fix="name a feature", exit_code=2
        )
    # Two repositories of one machine may have a project of the same name while they do not know of each other.
    where = hashlib.sha256(str(repo.store.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return Place(project, repo.store, f"host:{where}:{project}/")


def load(place: Place) -> State:
    """Read the state; what cannot be read is no state, with a warning: the marks of the processes still find them."""
    try:
        found = read_json(place.state)
    except FileNotFoundError:
        return State()
    except Refusal as error:
        return State(warnings=(f"{error.what}; its host services are looked for by their marks",))
    entries = found.get("services") if isinstance(found, dict) else None
    if not isinstance(entries, list) or found.get("version") != VERSION:
        told = f"{place.state} is not of this version; its host services are looked for by their marks"
        return State(warnings=(told,))
    services = [_service(entry) for entry in entries]
    known = {one.name: one for one in services if one is not None}
    digest = found.get("set")
    return State(digest if isinstance(digest, str) else "", known)


def save(place: Place, state: State) -> None:
    """Write the state whole, or remove it when it holds nothing; raises Refusal `write-failed`."""
    if not state.services:
        with suppress(FileNotFoundError):
            place.state.unlink()
        return
    services = [_as_json(one) for one in state.services.values()]
    document = {"version": VERSION, "project": place.project, "set": state.digest, "services": services}
    write_json(place.state, document, mode=0o600)


def log_of(place: Place, name: str) -> Path:
    """Return the log of a service.

    `a-b` and `c` would share one with `a` and `b-c`: what a neighbour has taken gets a name that no pair of them makes.
    """
    path = place.folder / f"e2e-host-{place.project}-{name}.log"
    for other in place.folder.glob("e2e-host-*.json"):
        if other == place.state:
            continue
        near = load(Place(other.stem.removeprefix("e2e-host-"), place.folder, ""))
        if any(one.log == str(path) for one in near.services.values()):
            return place.folder / f"e2e-host-{place.project}+{name}.log"
    return path


def _as_json(one: Service) -> dict[str, Any]:
    who = one.leader
    return {
        "name": one.name,
        "pid": who.pid if who else None,
        "created": who.start if who else None,
        "boot": who.boot if who else identity.boot(),
        "host": who.host if who else identity.host(),
        "stamp": one.stamp,
        "log": one.log,
        "health": one.health,
        "ready": one.ready,
    }


def _service(entry: object) -> Service | None:
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str) or not entry["name"]:
        return None
    leader = identity.from_json({**entry, "start": entry.get("created")})
    texts = [entry.get(key) if isinstance(entry.get(key), str) else "" for key in ("stamp", "log")]
    url = entry.get("health")
    return Service(
        name=entry["name"],
        leader=leader,
        stamp=str(texts[0]),
        log=str(texts[1]),
        health=url if isinstance(url, str) else None,
        ready=entry.get("ready") is True,
    )
