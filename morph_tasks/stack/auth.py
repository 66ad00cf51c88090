"""`e2e.auth`: credentials from a file, and the seed that makes the test users of a fresh stack."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from morph_tasks.errors import Refusal
from morph_tasks.repo.files import locked, read_json, write_json
from morph_tasks.stack import hosts_log
from morph_tasks.stack.hosts_plan import CONFIG_PATH, process_env
from morph_tasks.stack.hosts_state import live_dir_of

if TYPE_CHECKING:
    from morph_tasks.model.e2e_hosts import AuthSettings
    from morph_tasks.model.load import Config
    from morph_tasks.repo.git import Repo

SEED_TIMEOUT_S = 300.0
_VERSION = 1


@dataclass(frozen=True)
class SeedResult:
    """What the seed came to; `ran` says whether the command was run, `output` is the end of its log."""

    status: Literal["pass", "fail", "skip"]
    reason: str
    output: str = ""
    ran: bool = False
    warnings: tuple[str, ...] = ()


def settings_of(config: Config) -> AuthSettings | None:
    """Return the block `e2e.auth`, or None when there is none; raises Refusal `invalid-config`."""
    e2e = config.data.get("e2e")
    block = e2e.get("auth") if isinstance(e2e, dict) else None
    if block is None:
        return None
    from pydantic import ValidationError

    from morph_tasks.model.e2e_hosts import AuthSettings

    try:
        return AuthSettings.model_validate(block)
    except ValidationError as error:
        item: Any = error.errors(include_url=False)[0]
        path = ".".join(["e2e.auth", *map(str, item["loc"])])
        expected = str(item["msg"]).removeprefix("Input should be ")
        what = f"{CONFIG_PATH}: {path}: expected {expected}"
        raise Refusal("invalid-config", what, fix=f"correct {path} in {CONFIG_PATH}", file=CONFIG_PATH) from None


def seed(
    repo: Repo,
    config: Config,
    env: Mapping[str, str],
    *,
    needed: bool,
    project: str = "",
    stack: str = "",
    volumes_since: float | None = None,
    timeout_s: float = SEED_TIMEOUT_S,
    secrets: Collection[str] = (),
) -> SeedResult:
    """Run `e2e.auth.seedCommand` once for each fresh stack.

    `needed` says that the stack was made anew, `stack` identifies it (what its volumes are), `volumes_since` is when
    its oldest volume was made, in seconds of the epoch: a storage state from before then knows users that are gone.
    `project` is the compose project, by default the one of `env`. Raises Refusal `invalid-config`, `busy` (3).
    """
    settings = settings_of(config)
    if settings is None:
        return SeedResult("skip", "no e2e.auth configured")
    if inert := _inert(settings):
        return inert
    name = project or env.get("COMPOSE_PROJECT_NAME", "")
    if not name or "/" in name:
        raise Refusal("bad-project-name", f"{name!r} cannot name a compose project", exit_code=2)
    run = _Seed(repo, settings, env, name, stack, secrets)
    with locked(run.lock, wait_s=timeout_s + 30, what=f"the auth seed of {name}"):
        run.end_abandoned()
        why = run.why(needed, volumes_since)
        if not why:
            return SeedResult("pass", "seeded before, for this very stack")
        return run.go(why, timeout_s, volumes_since)


def forget_seed(repo: Repo, project: str) -> None:
    """Forget that a project was seeded: for whoever removes its volumes."""
    with suppress(FileNotFoundError):
        _record_of(repo, project).unlink()


def _inert(settings: AuthSettings) -> SeedResult | None:
    """Return the result where nothing is to be run."""
    if settings.mode is None:
        if settings.seedCommand is None:
            return SeedResult("skip", "e2e.auth asks for no seed")
        told = "e2e.auth.seedCommand is not run: e2e.auth.mode is not set (seed, storageState, bypass or none)"
        return SeedResult("skip", "e2e.auth.mode is not set", warnings=(told,))
    if settings.mode in ("bypass", "none"):
        told = f"e2e.auth.seedCommand is not run: e2e.auth.mode is `{settings.mode}`"
        return SeedResult("skip", f"e2e.auth.mode is {settings.mode}", warnings=(told,) if settings.seedCommand else ())
    if settings.mode == "seed" and settings.seedCommand is None:
        return SeedResult("fail", "e2e.auth.mode is seed, but there is no e2e.auth.seedCommand")
    if settings.mode == "storageState" and settings.storageStatePath is None:
        return SeedResult("fail", "e2e.auth.mode is storageState, but there is no e2e.auth.storageStatePath")
    return None


class _Seed:
    """One look at the seed of one project, under its lock."""

    def __init__(
        self,
        repo: Repo,
        settings: AuthSettings,
        env: Mapping[str, str],
        project: str,
        stack: str,
        secrets: Collection[str],
    ) -> None:
        self._repo, self._settings, self._stack = repo, settings, stack
        self._env = {**process_env(), **env}
        self._secrets = hosts_log.secrets_of(self._env, secrets)
        self._record = _record_of(repo, project)
        self._log = repo.store / f"e2e-seed-{project}.log"
        self._live_dir = live_dir_of(repo.store)
        self._run_id = f"e2e-seed-{project}"
        self.lock = repo.store / f"e2e-seed-{project}.lock"
        path = settings.storageStatePath
        self._storage = repo.root / path if path else None

    def end_abandoned(self) -> None:
        """End the seed of a run that was killed."""
        from morph_tasks.machine.live import reap

        reap(self._live_dir)

    def why(self, needed: bool, volumes_since: float | None) -> str:
        """Tell why the seed has to run now, or nothing."""
        if needed:
            return "the stack is fresh"
        if self._storage is not None:
            written = _written(self._storage)
            if written is None:
                return f"{self._settings.storageStatePath} is not there"
            if volumes_since is not None and written < volumes_since:
                return f"{self._settings.storageStatePath} is older than the volumes of the stack"
        if self._settings.seedCommand is None:
            return ""
        known = _read(self._record)
        if known is None:
            return "this stack was never seeded"
        if known.get("stack") != self._stack:
            return "it was another stack that was seeded"
        return "" if known.get("command") == self._command_digest() else "the seed command changed"

    def go(self, why: str, timeout_s: float, volumes_since: float | None) -> SeedResult:
        """Run the command; only what ended well is remembered."""
        command = self._settings.seedCommand
        if command is None:
            return self._without_command(why)
        with suppress(FileNotFoundError):
            self._record.unlink()
        began = time.time()
        if problem := self._supervised(command, timeout_s):
            return SeedResult("fail", f"auth seed: {problem}", hosts_log.tail(self._log, self._secrets), ran=True)
        warnings: tuple[str, ...] = ()
        if self._storage is not None:
            written, path = _written(self._storage), self._settings.storageStatePath
            if written is None:
                output = hosts_log.tail(self._log, self._secrets)
                return SeedResult("fail", f"auth seed: it ended well, but {path} is not there", output, ran=True)
            if volumes_since is not None and written < volumes_since:
                warnings = (f"the auth seed did not renew {path}, which is older than the volumes of the stack",)
        document = {
            "version": _VERSION,
            "stack": self._stack,
            "command": self._command_digest(),
            "ts": round(began, 3),
        }
        write_json(self._record, document, mode=0o600)
        return SeedResult("pass", f"seeded: {why}", ran=True, warnings=warnings)

    def _without_command(self, why: str) -> SeedResult:
        """Judge a storage state that nothing here can make."""
        path = self._settings.storageStatePath
        if self._storage is None or _written(self._storage) is None:
            return SeedResult("fail", f"{path} (`e2e.auth.storageStatePath`) is not there, and no seedCommand makes it")
        told = f"{path} may be of an earlier stack ({why}), and there is no e2e.auth.seedCommand to renew it"
        return SeedResult("pass", "the storage state is there", warnings=(told,))

    def _supervised(self, command: str, timeout_s: float) -> str:
        """Run the command to its end; returns what went wrong, or nothing."""
        from morph_tasks.machine.processes import supervise

        hosts_log.begin(self._log)
        try:
            ended = supervise(
                command,
                cwd=self._repo.root,
                env=self._env,
                log=self._log,
                timeout_s=timeout_s,
                run_id=f"{self._run_id}-{os.getpid()}",
                live_dir=self._live_dir,
            )
        except Refusal as error:
            return error.what
        hosts_log.redact_file(self._log, self._secrets)
        if ended.timed_out:
            return f"timeout: the seed command did not end within {timeout_s:g} s"
        if ended.interrupted:
            return "the seed command was interrupted"
        return "" if ended.exit_code == 0 else f"the seed command ended with exit code {ended.exit_code}"

    def _command_digest(self) -> str:
        return hashlib.sha256((self._settings.seedCommand or "").encode("utf-8", "surrogateescape")).hexdigest()


def _record_of(repo: Repo, project: str) -> Path:
    return repo.store / f"e2e-seed-{project}.json"


def _written(path: Path) -> float | None:
    try:
        return path.stat().st_mtime if path.is_file() else None
    except OSError:
        return None


def _read(path: Path) -> dict[str, Any] | None:
    try:
        found = read_json(path)
    except (FileNotFoundError, Refusal):
        return None
    return found if isinstance(found, dict) else None
