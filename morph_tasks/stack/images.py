"""Images of a stack: built and pulled before anything is started, so that the clock of readiness is about readiness."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from morph_tasks.stack import engine


def image_of(name: str, about: Mapping[str, Any], project: str) -> str:
    """Return the name of the image that a service of the resolved file runs."""
    return str(about.get("image") or f"{project}-{name}")


def digest(name: str) -> str | None:
    """Return the digest of an image; None when it is not here."""
    if engine.socket_path() is None:
        from morph_tasks.stack.remote import image_by_command

        return image_by_command(name)
    return engine.image_id(name)


def to_pull(resolved: Mapping[str, Any], project: str) -> list[str]:
    """Return the services whose image is neither built nor here."""
    missing = []
    for name, about in sorted((resolved.get("services") or {}).items()):
        buildable = about.get("build") or about.get("provider")
        policy = about.get("pull_policy")
        if buildable or policy in ("never", "build"):
            continue
        if policy == "always" or digest(image_of(name, about, project)) is None:
            missing.append(name)
    return missing


def to_build(resolved: Mapping[str, Any]) -> list[str]:
    """Return the services that have a `build:`."""
    return [name for name, about in sorted((resolved.get("services") or {}).items()) if about.get("build")]


def built(resolved: Mapping[str, Any], project: str) -> dict[str, str]:
    """Return the digest of each image that was built, by service."""
    services = resolved.get("services") or {}
    found = {name: digest(image_of(name, services[name], project)) for name in to_build(resolved)}
    return {name: image for name, image in found.items() if image}
