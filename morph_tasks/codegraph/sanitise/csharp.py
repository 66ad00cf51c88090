"""Which type a name means in C#: by the namespaces around it, then by aliases and usings."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from morph_tasks.codegraph.sanitise.families import family_of
from morph_tasks.codegraph.sanitise.verdict import OUTSIDE, Reference, Verdict, one_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from morph_tasks.codegraph.raw import RawLink
    from morph_tasks.codegraph.table import Table

# A file that has usings and declares nothing is one of `global using`, which the graph does not tell from others. It
# is in force in its project: its folder, without the one that templates keep such files in.
_NO_PROJECT = frozenset({"properties", "usings", "globalusings"})


class Scopes:
    """The namespaces of a tree: which types they hold, and which of them each file uses."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._types: dict[tuple[str, str], list[int]] = {}
        self._named: dict[str, list[int]] = {}
        self._namespaces: dict[str, list[int]] = {}
        self._usings: dict[str, list[str]] = {}
        self._aliases: dict[str, dict[str, int | str]] = {}
        self._globals: list[tuple[str, str]] = []
        self._of_file: dict[str, set[str]] = {}
        self._learn_types()
        self._learn_usings()
        self._steps = {step for namespace in self._namespaces for step in namespace.split(".")}

    def decide(self, reference: Reference, candidates: list[int]) -> Verdict:
        """Return what the reference means; `candidates` are the types of the tree that have its name."""
        names = [reference.name, *([f"{reference.name}Attribute"] if reference.context == "attribute" else [])]
        namespace = self._namespace_of(reference)
        for name in names:
            found = self._found(reference, name, namespace)
            if found:
                return one_of(found)
        if not candidates or self._surely_outside(reference, namespace):
            return OUTSIDE
        unknown = namespace is None or not (self._usings or self._globals)
        unplaced = [found for found in candidates if self._declared_in(found) is None]
        if len(candidates) == 1 and (unknown or unplaced):
            return Verdict(candidates[0])
        return Verdict(options=tuple(candidates))

    def by_full_name(self, full: str) -> list[int]:
        """Return the types, or the namespace, that a full name such as `Shop.Domain.Cart` means."""
        return self._type(full) or self._namespaces.get(full, [])[:1]

    def _type(self, full: str) -> list[int]:
        namespace, _, name = full.partition("<")[0].rpartition(".")
        return self._types.get((namespace, name), []) or self._nested(namespace, name)

    def _found(self, reference: Reference, name: str, namespace: str | None) -> list[int]:
        file = reference.file or ""
        aliases = self._aliases.get(file, {})
        around = list(_outwards(namespace))
        if reference.qualifier:
            head, _, rest = reference.qualifier.partition(".")
            meant = aliases.get(head)
            whole = f"{meant}.{rest}".rstrip(".") if isinstance(meant, str) else reference.qualifier
            for outer in around:
                steps = [part for part in (outer, whole, name) if part]
                if found := self._type(".".join(steps)):
                    return found
            return self._nested(self._end(whole), name)
        for outer in around:
            if outer and (found := self._in_scope(outer, name, reference)):
                return found
        if (alias := aliases.get(name)) is not None:
            return [alias] if isinstance(alias, int) else self._type(alias)
        if found := self._in_scope("", name, reference):
            return found
        used = dict.fromkeys([*self._usings.get(file, ()), *self._global_usings(file)])
        return list(dict.fromkeys(found for outer in used for found in self._in_scope(outer, name, reference)))

    def _in_scope(self, namespace: str, name: str, reference: Reference) -> list[int]:
        """Return the types of a namespace; one inside another type only where nothing outside has the name."""
        found = self._types.get((namespace, name), [])
        nested = [number for number in found if self._is_nested(number)]
        if nested and (owner := self._table.owners.get(reference.source)) is not None:
            of_own = [number for number in nested if self._table.owners.get(number) in (owner, reference.source)]
            if of_own:
                return of_own
        return [number for number in found if number not in nested] or nested

    def _nested(self, path: str, name: str) -> list[int]:
        """Return the types called `name` inside a type that `path` ends with."""
        outer, nodes, owners = self._end(path), self._table.nodes, self._table.owners
        if not outer:
            return []
        found = []
        for number in self._named.get(name, ()):
            meta, owner = nodes[number].metadata, owners.get(number)
            way = (meta.type_path if meta else None) or ""
            if way.endswith(f"{outer}.{name}") or (owner is not None and nodes[owner].label == outer):
                found.append(number)
        return found

    def _surely_outside(self, reference: Reference, namespace: str | None) -> bool:
        """Tell whether a qualified name begins with no namespace, type or alias of the tree."""
        if not reference.qualifier:
            return False
        head = reference.qualifier.partition(".")[0]
        return head not in self._steps and head not in self._named

    def _namespace_of(self, reference: Reference) -> str | None:
        """Return the namespace that a reference is written in; None when the graph does not say."""
        for number in (reference.source, self._table.owners.get(reference.source)):
            if number is not None and (found := self._declared_in(number)) is not None:
                return found
        of_file = self._of_file.get(reference.file or "", set())
        return next(iter(of_file)) if len(of_file) == 1 else None

    def _declared_in(self, number: int) -> str | None:
        meta = self._table.nodes[number].metadata
        return meta.namespace if meta else None

    def _is_nested(self, number: int) -> bool:
        meta = self._table.nodes[number].metadata
        return bool(meta and (meta.is_nested_type or "." in (meta.type_path or "")))

    def _global_usings(self, file: str) -> Iterator[str]:
        for folder, namespace in self._globals:
            if not folder or file.startswith(f"{folder}/"):
                yield namespace

    @staticmethod
    def _end(path: str) -> str:
        return path.rpartition(".")[2]

    def _learn_types(self) -> None:
        table = self._table
        for number in [at for at, kind in enumerate(table.kinds) if kind == "type"]:
            node = table.nodes[number]
            if number not in table.hidden and family_of(node.source_file) == "dotnet":
                namespace = self._declared_in(number) or ""
                self._namespaces.setdefault(namespace, [])
                self._types.setdefault((namespace, table.names[number]), []).append(number)
                self._named.setdefault(table.names[number], []).append(number)
        for source, target in table.links_of("contains"):
            file, node = table.nodes[source].source_file, table.nodes[target]
            if file and table.kinds[target] == "namespace":
                self._of_file.setdefault(file, set()).add(self._namespace(target))
                self._namespaces.setdefault(self._namespace(target), []).append(target)
            elif file and table.kinds[target] == "type" and family_of(node.source_file) == "dotnet":
                self._of_file.setdefault(file, set())

    def _namespace(self, number: int) -> str:
        return self._declared_in(number) or self._table.nodes[number].label or ""

    def _learn_usings(self) -> None:
        table = self._table
        for position in table.at("imports"):
            link = table.links[position] if position < len(table.links) else None
            if link and family_of(link.source_file) == "dotnet":
                self._learn_using(link, table.rows[position][1])

    def _learn_using(self, link: RawLink, target: int) -> None:
        file, said = link.source_file or "", link.metadata
        kind = said.using_kind if said else None
        full = said.target_fqn if said else None
        if kind == "alias" and said and said.alias:
            known = self._table.kinds[target] == "type"
            self._aliases.setdefault(file, {})[said.alias] = target if known else full or ""
        elif kind in ("namespace", None) and (full or self._table.kinds[target] == "namespace"):
            self._use(file, full or self._namespace(target))

    def _use(self, file: str, namespace: str) -> None:
        if self._of_file.get(file) is not None:
            self._usings.setdefault(file, []).append(namespace)
            return
        folder = posixpath.dirname(file)
        if posixpath.basename(folder).lower() in _NO_PROJECT:
            folder = posixpath.dirname(folder)
        self._globals.append((folder, namespace))


def _outwards(namespace: str | None) -> Iterable[str]:
    """Return a namespace and those around it, the innermost first, the nameless one last."""
    steps = namespace.split(".") if namespace else []
    return [".".join(steps[:end]) for end in range(len(steps), -1, -1)]
