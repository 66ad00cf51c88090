"""What was brought up, on disk: written before the engine is touched, so that `down` finds what a killed run left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morph_tasks.errors import Refusal
from morph_tasks.stack.model import Service

if TYPE_CHECKING:
    from morph_tasks.repo.git import Repo

# What a project is in the middle of; a record that says `raising` and is not locked belongs to a killed run.
RAISING, READY, FAILED = "raising", "ready", "failed"


@dataclass(frozen=True)
class Stamp:
    """What a ready stack was made from; `images` are the digests that ran, by service."""

    fingerprint: str
    config: str
    inputs: dict[str, Any]
    images: dict[str, tuple[str, ...]]
    containers: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the JSON object that `from_json` reads."""
        return {
            "fingerprint": self.fingerprint,
            "config": self.config,
            "inputs": self.inputs,
            "images": {name: list(found) for name, found in self.images.items()},
            "containers": list(self.containers),
        }

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Stamp:
        """Read a stamp; raises KeyError, TypeError, ValueError."""
        images = {str(name): tuple(map(str, ids)) for name, ids in found["images"].items()}
        return cls(
            str(found["fingerprint"]),
            str(found["config"]),
            dict(found["inputs"]),
            images,
            tuple(map(str, found.get("containers", ()))),
        )


@dataclass(frozen=True)
class Record:
    """What this tool knows of one compose project. `volumes_before` were there before it was first brought up."""

    project: str
    feature: str
    root: str
    state: str
    services: tuple[Service, ...] = ()
    stamp: Stamp | None = None
    volumes_before: tuple[str, ...] = ()
    since: str = ""
    extra: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the JSON object that `load` reads."""
        return {
            "version": 1,
            **self.extra,
            "project": self.project,
            "feature": self.feature,
            "root": self.root,
            "state": self.state,
            "since": self.since,
            "services": {service.name: service.as_json() for service in self.services},
            "stamp": self.stamp.as_json() if self.stamp else None,
            "volumesBefore": list(self.volumes_before),
        }


def folder(repo: Repo) -> Path:
    """Return the folder of records, locks and logs of stacks."""
    return repo.store / "stack"


def live_dir(repo: Repo) -> Path:
    """Return the folder of records of running commands."""
    return folder(repo) / "live"


def path_of(repo: Repo, project: str) -> Path:
    return folder(repo) / f"{project}.json"


def log_of(repo: Repo, project: str) -> Path:
    """Return where the commands of a bring-up write."""
    return folder(repo) / f"{project}.log"


def load(repo: Repo, project: str) -> Record | None:
    """Return the record of a project; None when there is none, or none that makes sense."""
    from morph_tasks.repo.files import read_json

    try:
        found = read_json(path_of(repo, project))
        return _record(found)
    except (FileNotFoundError, Refusal, KeyError, TypeError, ValueError, AttributeError):
        return None


def save(repo: Repo, record: Record) -> None:
    """Write a record; raises Refusal `write-failed`."""
    from morph_tasks.repo.files import write_json

    write_json(path_of(repo, record.project), record.as_json(), mode=0o600)


def remove(repo: Repo, project: str) -> None:
    """Forget a project of which nothing is left."""
    path_of(repo, project).unlink(missing_ok=True)
    log_of(repo, project).unlink(missing_ok=True)


def unstamped(repo: Repo, record: Record) -> Record:
    """Take the stamp off a record, on disk as well."""
    bare = replace(record, stamp=None)
    save(repo, bare)
    return bare


@contextmanager
def held(repo: Repo, project: str, *, wait_s: float) -> Iterator[None]:
    """Hold the lock of a project; raises Refusal `busy` (3) when somebody else brings it up or down."""
    from morph_tasks.repo.files import locked

    with locked(folder(repo) / f"{project}.lock", wait_s=wait_s, what=f"the stack {project}"):
        yield


def _record(found: Any) -> Record:
    stamp = found.get("stamp")
    known = {"version", "project", "feature", "root", "state", "since", "services", "stamp", "volumesBefore"}
    return Record(
        project=str(found["project"]),
        feature=str(found["feature"]),
        root=str(found["root"]),
        state=str(found["state"]),
        services=tuple(Service.from_json(name, about) for name, about in found["services"].items()),
        stamp=Stamp.from_json(stamp) if stamp else None,
        volumes_before=tuple(map(str, found.get("volumesBefore", ()))),
        since=str(found.get("since", "")),
        extra={key: value for key, value in found.items() if key not in known},
    )
