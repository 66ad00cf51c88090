"""Whether Docker can be used here, and why not."""

from __future__ import annotations

import shutil

from morph_tasks.stack import engine


def require_docker() -> None:
    """Raise Refusal `docker-not-available` with the cause, unless command and engine are both there."""
    if not shutil.which("docker"):
        raise engine.unavailable("the `docker` command is not on the PATH", "install Docker")
    if engine.socket_path() is None:
        from morph_tasks.stack.remote import ping_by_command

        return ping_by_command()
    return engine.ping()
