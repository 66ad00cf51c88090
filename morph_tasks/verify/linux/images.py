"""Which image a node's suite runs in."""

from __future__ import annotations

from dataclasses import dataclass

from morph_tasks.errors import Refusal

UNKNOWN = "linux-image-unknown"

# The one table of defaults: runner -> image, pinned by tag. What is not here has no image that would fit by itself.
_PYTHON = "python:3.13-slim-bookworm"
_NODE = "node:22-bookworm-slim"
DEFAULTS = {
    "pytest": _PYTHON,
    "unittest": _PYTHON,
    "vitest": _NODE,
    "jest": _NODE,
    "node-test": _NODE,
    "mocha": _NODE,
    "dotnet": "mcr.microsoft.com/dotnet/sdk:10.0",
    "go": "golang:1.24-bookworm",
    "cargo": "rust:1.88-bookworm",
    "rspec": "ruby:3.4-bookworm",
    "phpunit": "php:8.4-cli-bookworm",
    "bun": "oven/bun:1.2-debian",
    "deno": "denoland/deno:debian-2.3.7",
    "surefire": "maven:3.9-eclipse-temurin-21",
    "gradle": "gradle:8.14-jdk21",
}


@dataclass(frozen=True)
class Image:
    """An image that is here: the name that was asked for, its content id (`sha256:…`) and its architecture."""

    name: str
    id: str
    arch: str = ""

    def environment(self) -> dict[str, str]:
        """Return what a record and the document say about where a suite ran."""
        return {"kind": "linux-container", "image": self.name, "imageId": self.id}


def image_name(node_id: str, runner: str, *, option: str | None = None, declared: str | None = None) -> str:
    """Return the image of a node: `--linux-image`, else its `linuxImage`, else the default of its runner.

    Raises Refusal `linux-image-unknown`.
    """
    chosen = (option or "").strip() or (declared or "").strip() or DEFAULTS.get(runner)
    if chosen:
        return chosen
    raise Refusal(
        UNKNOWN,
        f"no image is known for tests/{node_id}: there is no default for runner {runner}",
        fix=f"give the node {node_id} a `linuxImage` in .morph/config/config.json, or name one: --linux-image IMAGE",
        node=f"tests/{node_id}",
    )
