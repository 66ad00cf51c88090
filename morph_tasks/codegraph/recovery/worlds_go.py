"""How Go finds packages: folders of modules, names of a whole package, methods beside their types."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from morph_tasks.codegraph.recovery.model import Def, Expr, Facts
from morph_tasks.codegraph.recovery.program import NOTHING, Found, Program, Type, Value, Values

_LARGEST = 100_000


class GoWorld:
    """The packages of a tree; a key is (folder, name of the package)."""

    pairs = False

    def __init__(self, program: Program, root: Path) -> None:
        self.program = program
        self.packages: dict[tuple[str, str], list[Facts]] = defaultdict(list)
        for facts in program.files.values():
            self.packages[facts.path.rpartition("/")[0], facts.package].append(facts)
        self.modules = _modules(root, {folder for folder, _ in self.packages})
        self._found: dict[str, tuple[str, str] | None] = {}
        self._names: dict[tuple[tuple[str, str], str], list[Facts]] = defaultdict(list)
        for key, files in self.packages.items():
            for facts in files:
                for name, held in facts.scopes[0].names.items():
                    if any(one[0] != "mod" for one in held):
                        self._names[key, name].append(facts)
        for key, files in self.packages.items():
            self._methods(key, files)

    def _methods(self, key: tuple[str, str], files: list[Facts]) -> None:
        """Give each type its methods, in whichever file of the package they are."""
        for facts in files:
            for definition in facts.defs:
                if not definition.space:
                    continue
                for value in self._declared(key, definition.space):
                    if value[0] == "cls":
                        value[1].outer.setdefault(definition.name, []).append((facts, definition))
                        self.program.owners[id(definition)] = value[1]

    def _declared(self, key: tuple[str, str], name: str) -> Values:
        files = self._names.get((key, name), ())
        return tuple(v for facts in files for v in self.program.name(facts, 0, name))

    def outside(self, facts: Facts, scope: int, name: str) -> Values:
        key = (facts.path.rpartition("/")[0], facts.package)
        found = self._declared(key, name) if name not in facts.scopes[0].names else NOTHING
        if found:
            return found
        for _, _, path in facts.usings:
            for value in self.module(facts, ("mod", path)):
                if value[2][1] == name:
                    return (value,)
        stars = [value for star in facts.stars for value in self.module(facts, star)]
        return tuple(v for one in stars for v in self.attribute(one[2], name))

    def module(self, facts: Facts, expr: Expr) -> Values:
        path = expr[1]
        if path not in self._found:
            self._found[path] = self._find(path)
        found = self._found[path]
        return (("mod", "go", found),) if found is not None else NOTHING

    def _find(self, path: str) -> tuple[str, str] | None:
        for module, folder in self.modules:
            if path == module or path.startswith(module + "/"):
                place = f"{folder}/{path[len(module) :].strip('/')}".strip("/")
                named = [key for key in self.packages if key[0] == place and not key[1].endswith("_test")]
                return named[0] if len(named) == 1 else None
        return None

    def attribute(self, key: Any, name: str) -> Values:
        return self._declared(key, name) if name[:1].isupper() else NOTHING

    def extension(self, facts: Facts, scope: int, value: Value, name: str) -> list[Found]:
        return []

    def foreign(self, expr: Expr) -> Values:
        return NOTHING

    def builtin(self, value: Value, name: str, program: Program) -> Values:
        """Return the element of a type that is declared as a slice or a map."""
        if value[0] != "inst" or name != "[]":
            return NOTHING
        found: list[Value] = []
        for facts, definition in value[1].parts:
            if definition.result is not None:
                for one in program.instance(program.value(facts, definition.scope, definition.result)):
                    found += one[2] if one[0] == "map" else one[1] if one[0] == "seq" else ()
        return tuple(found)

    # --- interfaces, which are satisfied without being named

    def extra(self, edges: Any) -> None:
        """Note which types satisfy which interfaces of the program: all methods, with the same signatures."""
        sets = {id(one): dict(self._method_set(one)) for one in self._types()}
        having: dict[str, list[Type]] = defaultdict(list)
        for one in self._types():
            if not _is_interface(one):
                for name in sets[id(one)]:
                    having[name].append(one)
        for wanted in self._types():
            methods = sets[id(wanted)]
            if not methods or not _is_interface(wanted):
                continue
            for one in having[min(methods, key=lambda name: len(having[name]))]:
                own = sets[id(one)]
                if all(name in own and self._same(own[name], methods[name]) for name in methods):
                    self._satisfied(edges, one, wanted)

    def _types(self) -> Iterator[Type]:
        for facts in self.program.files.values():
            for definition in facts.defs:
                if definition.kind in ("class", "interface") and not definition.generics and not definition.bases[1:]:
                    yield self.program.type_of(facts, definition)

    def _method_set(self, owner: Type) -> Iterator[tuple[str, tuple[Facts, Def]]]:
        for one, _ in reversed(self.program.ancestry(owner)):
            for facts, definition in one.parts:
                for name, held in facts.scopes[definition.scope].names.items():
                    if held[0][0] == "d":
                        yield name, (facts, facts.defs[held[0][1]])
            for name, methods in one.outer.items():
                yield name, methods[0]

    def _same(self, one: tuple[Facts, Def], other: tuple[Facts, Def]) -> bool:
        return self._canonical(*one) == self._canonical(*other)

    def _canonical(self, facts: Facts, definition: Def) -> list[Any]:
        return [self._token(facts, definition.scope, one) for one in definition.parameters]

    def _token(self, facts: Facts, scope: int, expr: Expr) -> Any:
        found = self.program.value(facts, scope, expr)
        if len(found) == 1 and found[0][0] == "cls":
            return id(found[0][1])
        if expr[0] == "a":
            held = facts.scopes[0].names.get(expr[1][1], ())
            paths = [one[1] for one in held if one[0] == "mod"]
            paths += [path for _, _, path in facts.usings if path.rpartition("/")[2] == expr[1][1]]
            return (paths[0] if paths else expr[1][1], expr[2])
        return "any" if expr == ("x", "interface{}") else expr

    def _satisfied(self, edges: Any, one: Type, wanted: Type) -> None:
        (facts, definition), (there, interface) = one.parts[0], wanted.parts[0]
        source, target = edges.node(facts, definition), edges.node(there, interface)
        if source is not None and target is not None:
            edges.derive(source, target, "implements", facts.path, definition.line)


def _is_interface(one: Type) -> bool:
    return one.parts[0][1].kind == "interface"


def _modules(root: Path, folders: set[str]) -> list[tuple[str, str]]:
    """Return the modules of a tree and their folders, the longest path first."""
    from morph_tasks.errors import Refusal
    from morph_tasks.repo.files import confined

    found: dict[str, str] = {}
    above = {"/".join(folder.split("/")[:end]) for folder in folders for end in range(folder.count("/") + 2)}
    for folder in sorted(above):
        try:
            place = confined(root, f"{folder}/go.mod".strip("/"))
            if place.is_file() and place.stat().st_size < _LARGEST:
                match = re.search(r"^module\s+\"?([^\s\"]+)", place.read_text(encoding="utf-8", errors="replace"), re.M)
                if match:
                    found.setdefault(match[1], folder)
        except (OSError, ValueError, Refusal):
            continue
    return sorted(found.items(), key=lambda item: -len(item[0]))
