"""What a file says, as far as consumers are asked for: definitions, scopes, and expressions that name things.

An expression is a nested tuple, its first item says how it is read: `("n", name)` a name; `("a", e, attribute)`;
`("c", e, arguments)` a call, in C# with their number behind; `("i", type)` a value of a type; `("g", type,
arguments)` a type with arguments; `("seq", types)`, `("map", key, value)`, `("tuple", types)` containers; `("late",
type)` something to be awaited; `("fn", type)` a function that gives such a value, `("fnv", e)` one that gives this
one; `("class", type)` a class as a value; `("e", e)` what iterating gives; `("k", e)` what an index gives; `("w", e)`
what is awaited; `("t", e, n)` one of several results; `("u", es)` one of several; `("self",)`, `("cls",)`,
`("super",)`; `("same",)` the type of the receiver; `("d", n)` a definition of the file; `("tp", n, i)` a type
parameter; `("+", e, e)` arithmetic; `("cb", e, method, i)` the i-th parameter of a callback given to a method;
`("mod", …)`, `("path", …)` what an import names; `("?",)` something unknown.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Expr = tuple[Any, ...]
UNKNOWN: Expr = ("?",)


@dataclass(slots=True, eq=False, repr=False)
class Def:
    """A definition; `at` is its number in the file, `scope` the scope that it opens."""

    name: str
    kind: str  # class | interface | function | property
    line: int
    at: int
    scope: int = -1
    head: int = -1  # the scope that its bases are read in, where that is another one
    owner: int = -1
    bases: list[Expr] = field(default_factory=list)
    result: Expr | None = None
    returned: list[Expr] = field(default_factory=list)  # read in the scope of the definition
    fields: dict[str, list[tuple[int, Expr]]] = field(
        default_factory=dict
    )  # name -> (scope to read it in, what it holds)
    generics: tuple[str, ...] = ()
    limits: dict[str, Expr] = field(default_factory=dict)
    least: int = 0
    most: int = -1  # of arguments; -1 when it is not known
    flags: frozenset[str] = frozenset()
    space: str = ""  # C#: the namespace
    parameters: tuple[Expr, ...] = ()


@dataclass(slots=True, eq=False)
class Scope:
    """Where names are looked up; `owner` is the definition that it belongs to."""

    parent: int
    kind: str  # module | class | function | block
    owner: int
    names: dict[str, list[Expr]] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Use:
    """An expression that names something, where it is, and what the relation is called when it holds."""

    scope: int
    expr: Expr
    line: int
    relation: str = "references"


@dataclass(frozen=True, slots=True)
class Site:
    """A bare name on a watched line, or a name in quotes that is asked of a `receiver`; scope -1 when not known."""

    line: int
    scope: int
    name: str
    receiver: Expr | None = None


@dataclass(slots=True, eq=False, repr=False)
class Facts:
    """All of one file; scope 0 is the file itself."""

    path: str
    language: str
    scopes: list[Scope] = field(default_factory=list)
    defs: list[Def] = field(default_factory=list)
    uses: list[Use] = field(default_factory=list)
    exports: dict[str, list[Expr]] = field(default_factory=dict)
    stars: list[Expr] = field(default_factory=list)
    package: str = ""
    spaces: dict[int, str] = field(default_factory=dict)  # C#: the namespace that a scope is of
    noted: set[tuple[int, Expr, str]] = field(default_factory=set)
    usings: list[tuple[int, str, str]] = field(default_factory=list)  # C#: (scope, kind, namespace or type)
    watched: frozenset[int] = frozenset()  # lines whose bare names are asked for
    sites: list[Site] = field(default_factory=list)  # what was seen on them
    heading: bool = False  # what is read stands before the scope that it is read in: a decorator, a default

    def open(self, parent: int, kind: str, owner: int) -> int:
        """Add a scope and return its number."""
        self.scopes.append(Scope(parent, kind, owner))
        return len(self.scopes) - 1

    def define(self, name: str, kind: str, line: int, owner: int, parent: int) -> Def:
        """Add a definition with a scope of its own."""
        found = Def(name, kind, line, len(self.defs), owner=owner)
        found.scope = self.open(parent, "function" if kind in ("function", "property") else "class", found.at)
        self.defs.append(found)
        return found

    def bind(self, scope: int, name: str, what: Expr) -> None:
        """Note what a name can stand for in a scope."""
        held = self.scopes[scope].names.setdefault(name, [])
        if what not in held and len(held) < 8:
            held.append(what)

    def use(self, scope: int, expr: Expr, line: int, relation: str = "references") -> None:
        """Note that an expression is used."""
        if line in self.watched and expr[0] == "n":
            self.saw(line, scope, expr[1])
        key = (scope, expr, relation)
        if key not in self.noted:  # the same again in the same place proves no more
            self.noted.add(key)
            self.uses.append(Use(scope, expr, line, relation))

    def saw(self, line: int, scope: int, name: str, receiver: Expr | None = None) -> None:
        """Note what a watched line names."""
        if self.heading:
            scope = self.scopes[scope].parent if self.scopes[scope].kind == "function" else -1
        self.sites.append(Site(line, scope, name, receiver))
