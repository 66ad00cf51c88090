"""How C# finds types: namespaces from the innermost outwards, usings, partial classes, extension methods."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

from morph_tasks.codegraph.recovery import csharp_plain as plain
from morph_tasks.codegraph.recovery.model import Def, Expr, Facts
from morph_tasks.codegraph.recovery.program import NOTHING, Found, Program, Type, Value, Values

_SAME = frozenset({
    "Where", "OrderBy", "OrderByDescending", "ThenBy", "ThenByDescending", "Take", "Skip", "TakeWhile", "SkipWhile",
    "ToList", "ToArray", "Distinct", "DistinctBy", "AsEnumerable", "AsNoTracking", "AsQueryable", "Reverse", "Concat",
    "Union", "Except", "Intersect", "ToHashSet", "Append", "Prepend", "Include",
})  # fmt: skip
_ONE = frozenset({
    "First", "FirstOrDefault", "Single", "SingleOrDefault", "Last", "LastOrDefault", "ElementAt",
    "ElementAtOrDefault", "Find", "MaxBy", "MinBy", "Dequeue", "Pop", "Peek",
})  # fmt: skip
_ONE_LATE = frozenset(
    ["FirstAsync", "FirstOrDefaultAsync", "SingleAsync", "SingleOrDefaultAsync", "FindAsync", "LastAsync"]
)
_MANY_LATE = frozenset({"ToListAsync", "ToArrayAsync"})


class CSharpWorld:
    """The namespaces of a tree; a key is the name of a namespace."""

    pairs = True

    def __init__(self, program: Program, root: Path) -> None:
        self.program, self.root = program, root
        self.types: dict[tuple[str, str], Type] = {}
        self.spaces: set[str] = set()
        self.extensions: dict[str, list[tuple[Facts, Def]]] = defaultdict(list)
        self.everywhere: list[tuple[str, str, str]] = []  # global usings: (folder of the project, kind, target)
        self._projects: dict[str, str] = {}
        self._outside: dict[tuple[str, int, str], Values] = {}
        for facts in program.files.values():
            self._declare(facts)

    def _declare(self, facts: Facts) -> None:
        """Join the parts of each type, and note namespaces, extension methods and global usings."""
        whole: dict[int, str] = {}
        for definition in facts.defs:
            if definition.kind in ("class", "interface"):
                above = whole.get(definition.owner, "")
                count = f"`{len(definition.generics)}" if definition.generics else ""
                name = f"{definition.name}{count}"
                whole[definition.at] = f"{above}+{name}".lstrip("+")
                space = self._space(facts, definition)
                held = self.types.setdefault((space, whole[definition.at]), Type(definition.name))
                held.parts.append((facts, definition))
                self.program.types[facts.path, definition.at] = held
            elif "extension" in definition.flags:
                self.extensions[definition.name].append((facts, definition))
        for space in facts.spaces.values():
            parts = space.split(".")
            self.spaces |= {".".join(parts[:end]) for end in range(1, len(parts) + 1)}
        for _, kind, target in facts.usings:
            if kind.startswith("global "):
                self.everywhere.append((self._project(facts.path), kind.removeprefix("global "), target))

    def _space(self, facts: Facts, definition: Def) -> str:
        while definition.owner >= 0:
            definition = facts.defs[definition.owner]
        return definition.space

    def _project(self, path: str) -> str:
        """Return the folder of the project that a file is of; its own folder when no project is seen."""
        from contextlib import suppress

        folder = path.rpartition("/")[0]
        if folder not in self._projects:
            at, found = folder, folder
            with suppress(OSError, ValueError):
                while True:
                    if any(self.root.joinpath(at).glob("*.csproj")):
                        found = at
                        break
                    if not at:
                        break
                    at = at.rpartition("/")[0]
            self._projects[folder] = found
        return self._projects[folder]

    # --- names

    def outside(self, facts: Facts, scope: int, name: str) -> Values:
        at = scope
        while at not in facts.spaces:
            at = facts.scopes[at].parent
        key = (facts.path, at, name)
        if key not in self._outside:
            self._outside[key] = NOTHING
            self._outside[key] = self._search(facts, at, name)
        return self._outside[key]

    def _search(self, facts: Facts, at: int, name: str) -> Values:
        while at >= 0:
            space, parent = facts.spaces[at], facts.scopes[at].parent
            above = facts.spaces[parent] if parent >= 0 else None
            here: str | None = space
            while here is not None and here != above:
                found = self.attribute(here, name)
                if found:
                    return found
                if here == space:
                    found = self._used(facts, at, name)
                    if found:
                        return found
                here = here.rpartition(".")[0] if "." in here else ("" if here and above is None else None)
            at = parent
        return NOTHING

    def _used(self, facts: Facts, at: int, name: str) -> Values:
        """Return what the usings of a scope give under a name; nothing when two of them differ."""
        listed = [(kind, target) for scope, kind, target in facts.usings if scope == at]
        if at == 0:
            project = self._project(facts.path)
            listed += [(kind, target) for place, kind, target in self.everywhere if place == project]
        found: dict[Value, None] = {}
        for kind, target in listed:
            kind = kind.removeprefix("global ")
            if kind == "using":
                held = self.types.get((target, name))
                relative = held or self._relative(facts, at, target, name)
                if relative is not None:
                    found[("cls", relative, ())] = None
            elif kind == "static":
                for owner in self._path(tuple(target.split("."))):
                    for one in self.program.members(owner, name):
                        found.update(dict.fromkeys(self.program.content(one)))
        return tuple(found) if len(found) == 1 or all(one[0] == "fun" for one in found) else NOTHING

    def _relative(self, facts: Facts, at: int, target: str, name: str) -> Type | None:
        """Return a type of a namespace that is named from within another."""
        space = facts.spaces[at]
        while space:
            held = self.types.get((f"{space}.{target}", name))
            if held is not None:
                return held
            space = space.rpartition(".")[0]
        return None

    def attribute(self, key: Any, name: str) -> Values:
        held = self.types.get((key, name))
        if held is not None:
            return (("cls", held, ()),)
        inner = f"{key}.{name}".strip(".")
        return (("mod", "csharp", inner),) if inner in self.spaces else NOTHING

    def module(self, facts: Facts, expr: Expr) -> Values:
        """Return what an alias names: a path from the outermost namespace."""
        target = expr[1]
        arguments = target[2] if target[0] == "g" else ()
        written = target[1] if target[0] == "g" else target
        names: list[str] = []
        while written[0] == "a":
            names.insert(0, written[2])
            written = written[1]
        if written[0] == "g":
            written = written[1]
        if written[0] != "tn":
            return NOTHING
        found = self._path((written[1], *names))
        if not arguments:
            return found
        given = tuple(self.program.instance(self.program.value(facts, 0, one)) for one in arguments)
        return tuple(("cls", one[1], given) for one in found if one[0] == "cls")

    def _path(self, names: tuple[str, ...]) -> Values:
        found: Values = (("mod", "csharp", ""),)
        for name in names:
            made: list[Value] = []
            for one in found:
                if one[0] == "mod":
                    made += self.attribute(one[2], name)
                else:
                    made += [v for m in self.program.members(one, name) for v in self.program.content(m)]
            found = tuple(made)
        return found

    # --- members

    def extension(self, facts: Facts, scope: int, value: Value, name: str) -> list[Found]:
        """Return the extension method that takes such a value; none when several do."""
        if value[0] not in ("inst", "seq", "foreign", "map", "late"):
            return []
        if value[0] == "foreign" and plain.is_own(value[1], name):
            return []
        found: list[Found] = []
        for there, definition in self.extensions.get(name, ()):
            first = definition.parameters[0]
            wanted = self.program.instance(self.program.value(there, definition.scope, first)) or (_foreign(first),)
            if any(self._takes(there, definition, one, value) for one in wanted):
                owner = self.program.enclosing(there, definition.scope)
                if owner is not None:
                    found.append(Found(owner, {}, there, definition))
        return found if len({id(one.owner) for one in found}) == 1 else []

    def _takes(self, facts: Facts, definition: Def, wanted: Value, value: Value) -> bool:
        if wanted[0] == "tp":
            limit = definition.limits.get(definition.generics[wanted[2]]) if wanted[1] is definition else None
            if limit is None:
                return True
            limits = self.program.instance(self.program.value(facts, definition.scope, limit)) or (_foreign(limit),)
            return any(self._takes(facts, definition, one, value) for one in limits)
        if wanted[0] == "inst" and value[0] == "inst":
            return any(one is wanted[1] for one, _ in self.program.ancestry(value[1]))
        if wanted[0] == value[0] and wanted[0] in ("seq", "late"):
            return any(self._takes(facts, definition, one, given) for one in wanted[1] for given in value[1])
        return wanted[0] == "foreign" and wanted in (value, ("foreign", "object"))

    def builtin(self, value: Value, name: str, program: Program) -> Values:
        if value[0] == "seq":
            return _of_many(value, name)
        if value[0] == "late":
            if name == "Result":
                return tuple(value[1])
            return (("fn", (value,)),) if name == "ConfigureAwait" else NOTHING
        if value[0] == "map":
            if name in ("Values", "Keys"):
                return (("seq", value[2] if name == "Values" else value[1]),)
            return (("fn", tuple(value[2])),) if name in ("GetValueOrDefault", "GetOrAdd", "AddOrUpdate") else NOTHING
        if value[0] == "foreign":
            given = plain.gives(value[1], name)
            return (("fn", (("foreign", given),)),) if given else NOTHING
        if value[0] == "tuple" and name in ("Key", "Value", "Item1", "Item2"):
            at = 0 if name in ("Key", "Item1") else 1
            return tuple(value[1][at]) if at < len(value[1]) else NOTHING
        return NOTHING

    def foreign(self, expr: Expr) -> Values:
        """Return an instance of a type that is not of this tree; extension methods can still be meant for it."""
        return (_foreign(expr),) if expr[0] in ("tn", "a", "g") else NOTHING


def _foreign(expr: Expr) -> Value:
    whole = expr[1] if expr[0] == "g" else expr
    return ("foreign", plain.name(str(whole[-1])))


def _of_many(value: Value, name: str) -> Values:
    if name in _SAME:
        return (("fn", (value,)),)
    if name in _ONE:
        return (("fn", tuple(value[1])),)
    if name in _ONE_LATE:
        return (("fn", (("late", tuple(value[1])),)),)
    return (("fn", (("late", (value,)),)),) if name in _MANY_LATE else NOTHING
