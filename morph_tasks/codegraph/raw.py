"""The graph as graphify wrote it: node-link JSON, read into plain records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from morph_tasks.errors import Refusal

_FIX = "morph-spec graph build"


class Meta(msgspec.Struct, gc=False):
    """What the extractor of a language adds to a node; only C# says where a type is declared."""

    namespace: str | None = None
    type_path: str | None = None
    signature: str | None = None
    arity: int | None = None
    is_partial: bool | None = None
    is_nested_type: bool | None = None


class RawNode(msgspec.Struct, gc=False):
    """A node; a stub for a name without a definition has an empty `source_file`."""

    id: str
    label: str | None = None
    source_file: str | None = None
    source_location: str | None = None
    file_type: str | None = None
    type: str | None = None
    external: bool | None = None
    is_class: bool | None = msgspec.field(default=None, name="_callable_class")
    metadata: Meta | None = None


class LinkMeta(msgspec.Struct, gc=False):
    """What a link says beside its ends: the name as it was written, and what a `using` names."""

    ref_qualifier: str | None = None
    target_fqn: str | None = None
    using_kind: str | None = None
    alias: str | None = None


class RawLink(msgspec.Struct, gc=False):
    """A link; `source_file` and `source_location` are the site of the reference."""

    source: str
    target: str
    relation: str | None = None
    source_file: str | None = None
    source_location: str | None = None
    context: str | None = None
    metadata: LinkMeta | None = None
    key: int | str | None = None


class RawGraph(msgspec.Struct):
    """A whole graph; `links` may be called `edges`."""

    nodes: list[RawNode]
    links: list[RawLink] | None = None
    edges: list[RawLink] | None = None
    multigraph: bool | None = None
    built_at_commit: str | None = None

    def all_links(self) -> list[RawLink]:
        """Return the links under whichever name they were written."""
        return self.links if self.links is not None else self.edges or []


def parse(data: bytes, path: Path) -> RawGraph:
    """Read a graph; keys that are not known are passed over. Raises Refusal `corrupt-graph`."""
    try:
        graph = msgspec.json.decode(data, type=RawGraph)
        # Without a list of links everything would be used by nobody.
        return graph if graph.links is not None or graph.edges is not None else _patiently(data, path)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return _patiently(data, path)
    except (MemoryError, RecursionError) as error:
        raise corrupt(path, "it is too large or nested too deeply") from error


def corrupt(path: Path, why: str) -> Refusal:
    """Return the refusal for a graph that cannot be read."""
    return Refusal("corrupt-graph", f"{path} is not a graph of graphify: {why}", fix=_FIX, path=str(path))


def _patiently(data: bytes, path: Path) -> RawGraph:
    """Read a graph of odd values: numbers for text, NaN, a byte order mark, halves of surrogate pairs."""
    import json

    try:
        found = json.loads(data.decode("utf-8-sig", "surrogatepass"))
    except (ValueError, RecursionError, MemoryError) as error:
        raise corrupt(path, str(error).partition("\n")[0] or type(error).__name__) from None
    links = found.get("links", found.get("edges")) if isinstance(found, dict) else None
    nodes = found.get("nodes") if isinstance(found, dict) else None
    if not isinstance(nodes, list) or not isinstance(links, list):
        raise corrupt(path, "it has no list of nodes and of links")
    return RawGraph(
        nodes=[_node(item) for item in nodes if isinstance(item, dict) and _text(item.get("id"))],
        links=[
            _link(item)
            for item in links
            if isinstance(item, dict) and _text(item.get("source")) and _text(item.get("target"))
        ],
        multigraph=found.get("multigraph") is True,
        built_at_commit=_text(found.get("built_at_commit")),
    )


def _node(item: dict[str, Any]) -> RawNode:
    meta = item.get("metadata")
    meta = meta if isinstance(meta, dict) else {}
    arity = meta.get("arity")
    return RawNode(
        id=_text(item["id"]) or "",
        label=_text(item.get("label")),
        source_file=_text(item.get("source_file")),
        source_location=_text(item.get("source_location")),
        file_type=_text(item.get("file_type")),
        type=_text(item.get("type")),
        external=item.get("external") is True,
        is_class=item.get("_callable_class") is True,
        metadata=Meta(
            namespace=_text(meta.get("namespace")),
            type_path=_text(meta.get("type_path")),
            signature=_text(meta.get("signature")),
            arity=arity if isinstance(arity, int) else None,
            is_partial=meta.get("is_partial") is True,
            is_nested_type=meta.get("is_nested_type") is True,
        ),
    )


def _link(item: dict[str, Any]) -> RawLink:
    meta = item.get("metadata")
    meta = meta if isinstance(meta, dict) else {}
    key = item.get("key")
    return RawLink(
        source=_text(item["source"]) or "",
        target=_text(item["target"]) or "",
        relation=_text(item.get("relation")),
        source_file=_text(item.get("source_file")),
        source_location=_text(item.get("source_location")),
        context=_text(item.get("context")),
        metadata=LinkMeta(**{name: _text(meta.get(name)) for name in LinkMeta.__struct_fields__}),
        key=key if isinstance(key, int | str) else None,
    )


def _text(value: Any) -> str | None:
    """Return a scalar as text that SQLite can hold, null for anything else."""
    if value is None or isinstance(value, dict | list):
        return None
    return str(value).encode("utf-8", "backslashreplace").decode()
