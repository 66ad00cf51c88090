"""Read a Go file: its definitions, what its names stand for, and what it uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from morph_tasks.codegraph.recovery import golang_types as types
from morph_tasks.codegraph.recovery.model import UNKNOWN, Def, Expr, Facts
from morph_tasks.codegraph.recovery.visiting import TreeReader
from morph_tasks.verify.testcode.sitter import child, field, line, parse, parts, string_value, text

if TYPE_CHECKING:
    from tree_sitter import Node

_CHAIN = frozenset({"identifier", "selector_expression", "call_expression", "index_expression", "slice_expression"})
_PASSED = frozenset({"parenthesized_expression", "unary_expression"})


def read(path: str, source: bytes, watched: frozenset[int] = frozenset()) -> Facts:
    """Return what a file says; raises SyntaxError when it does not parse."""
    reader = _Reader(Facts(path, "go", watched=watched))
    for node in parts(parse("go", source)):
        reader.visit(node, 0)
    return reader.facts


class _Reader(TreeReader):
    def package(self, node: Node, scope: int) -> None:
        self.facts.package = text(parts(node)[0]) if parts(node) else ""

    def import_(self, node: Node, scope: int) -> None:
        path, name = string_value(field(node, "path")), field(node, "name")
        if path is None or text(name) == "_":
            return
        if text(name) == ".":
            self.facts.stars.append(("mod", path))
        elif name is not None:
            self.facts.bind(0, text(name), ("mod", path))
        else:
            self.facts.usings.append((0, "import", path))

    # --- definitions

    def type_spec(self, node: Node, scope: int) -> None:
        facts, written = self.facts, field(node, "type")
        kind = "interface" if written is not None and written.type == "interface_type" else "class"
        found = facts.define(text(field(node, "name")), kind, line(node), facts.scopes[scope].owner, scope)
        facts.bind(scope, found.name, ("d", found.at))
        names: list[str] = []
        for one in parts(field(node, "type_parameters")):
            for name in one.children_by_field_name("name"):
                facts.bind(found.scope, text(name), ("tp", found.at, len(names)))
                names.append(text(name))
            self.annotation(field(one, "type"), found.scope)
        found.generics = tuple(names)
        if written is None:
            return
        if written.type == "struct_type":
            for one in parts(child(written, "field_declaration_list")):
                self.struct_field(one, found)
        elif written.type == "interface_type":
            for one in parts(written):
                self.interface_part(one, found)
        else:
            self.annotation(written, found.scope)
            if node.type == "type_alias":
                found.bases.append(types.type_(written))
            else:
                found.result = types.type_(written)

    def struct_field(self, node: Node, found: Def) -> None:
        written, names = field(node, "type"), node.children_by_field_name("name")
        what: Expr = ("i", types.type_(written))
        if names:
            self.annotation(written, found.scope)
        else:  # embedded: its members are promoted
            base = types.type_(written)
            found.bases.append(base)
            plain = base[1] if base[0] == "g" else base
            self.facts.use(found.scope, plain, line(node), "embeds")
            found.fields.setdefault(str(plain[-1]), []).append((found.scope, what))
        for one in names:
            found.fields.setdefault(text(one), []).append((found.scope, what))

    def interface_part(self, node: Node, found: Def) -> None:
        if node.type == "method_elem":
            made = self.facts.define(text(field(node, "name")), "function", line(node), found.at, found.scope)
            made.flags = frozenset({"member"})
            self.facts.bind(found.scope, made.name, ("d", made.at))
            self.signature(node, made)
        else:
            for what, at in types.named(node):
                found.bases.append(what)
                self.facts.use(found.scope, what, line(at), "embeds")

    def function(self, node: Node, scope: int) -> None:
        facts, receiver = self.facts, field(node, "receiver")
        found = facts.define(text(field(node, "name")), "function", line(node), -1, scope)
        if receiver is None:
            facts.bind(scope, found.name, ("d", found.at))
            for one in parts(field(node, "type_parameters")):
                for name in one.children_by_field_name("name"):
                    facts.bind(found.scope, text(name), UNKNOWN)
                self.annotation(field(one, "type"), found.scope)
        else:
            found.flags = frozenset({"member"})
            for one in parts(receiver):
                base = types.type_(field(one, "type"))
                plain = base[1] if base[0] == "g" else base
                found.space = str(plain[-1])
                for name in one.children_by_field_name("name"):
                    facts.bind(found.scope, text(name), ("i", plain))
        self.signature(node, found)
        body = field(node, "body")
        if body is not None:
            self.visit(body, found.scope)

    def signature(self, node: Node, found: Def) -> None:
        found.parameters = types.signature(node)
        found.result = types.result(field(node, "result"))
        self.parameters(node, found.scope)

    def parameters(self, node: Node, scope: int) -> None:
        for role in ("parameters", "result"):
            listed = field(node, role)
            self.annotation(listed, scope)
            for one in parts(listed) if listed is not None and listed.type == "parameter_list" else []:
                what: Expr = ("i", types.type_(field(one, "type")))
                if one.type.startswith("variadic"):
                    what = ("seq", (what,))
                for name in one.children_by_field_name("name"):
                    self.facts.bind(scope, text(name), what)

    def literal(self, node: Node, scope: int) -> None:
        """Read a function that has no name."""
        inner = self.facts.open(scope, "block", self.facts.scopes[scope].owner)
        self.parameters(node, inner)
        body = field(node, "body")
        if body is not None:
            self.visit(body, inner)

    # --- what names stand for

    def declared(self, node: Node, scope: int) -> None:
        """Read `var` and `const`."""
        written = field(node, "type")
        self.annotation(written, scope)
        names, values = node.children_by_field_name("name"), parts(field(node, "value"))
        for number, name in enumerate(names):
            if written is not None:
                self.facts.bind(scope, text(name), ("i", types.type_(written)))
            else:
                self.facts.bind(scope, text(name), _nth(values, len(names), number))
        for one in values:
            self.visit(one, scope)

    def short(self, node: Node, scope: int) -> None:
        """Read `:=` and `=`; what is assigned to a name that is known already says no more of its type."""
        left, right = parts(field(node, "left")), parts(field(node, "right"))
        for number, one in enumerate(left):
            if one.type == "identifier" and node.type == "short_var_declaration":
                self.facts.bind(scope, text(one), _nth(right, len(left), number))
            elif one.type != "identifier":
                self.visit(one, scope)
        for one in right:
            self.visit(one, scope)

    def range(self, node: Node, scope: int) -> None:
        left, right = parts(field(node, "left")), field(node, "right")
        for number, one in enumerate(left):
            if one.type == "identifier":
                self.facts.bind(scope, text(one), ("k", types.value(right)) if number == 1 else UNKNOWN)
        if right is not None:
            self.visit(right, scope)

    def type_switch(self, node: Node, scope: int) -> None:
        alias, switched = field(node, "alias"), field(node, "value")
        if switched is not None:
            self.visit(switched, scope)
        for case in parts(node):
            if case.type not in ("type_case", "default_case"):
                continue
            inner = self.facts.open(scope, "block", self.facts.scopes[scope].owner)
            written = case.children_by_field_name("type")
            for one in written:
                self.annotation(one, inner)
            if alias is not None:
                what: Expr = ("i", types.type_(written[0])) if len(written) == 1 else UNKNOWN
                self.facts.bind(inner, text(alias), what)
            for one in parts(case):
                if one not in written:
                    self.visit(one, inner)

    # --- uses

    def chain(self, node: Node, scope: int) -> None:
        """Note the longest chain of names, fields and calls, and read the arguments within it apart."""
        self.facts.use(
            scope, types.value(node), line(node), "calls" if node.type == "call_expression" else "references"
        )
        at: Node | None = node
        while at is not None:
            kind = at.type
            if kind == "call_expression":
                function = field(at, "function")
                made = text(function) in ("make", "new")
                self.annotation(field(at, "type_arguments"), scope)
                for number, one in enumerate(parts(field(at, "arguments"))):
                    if made and number == 0:
                        self.annotation(one, scope)
                        if one.type == "identifier":
                            self.facts.use(scope, types.type_(one), line(one))
                    else:
                        self.visit(one, scope)
                at = function
            elif kind == "selector_expression":
                at = field(at, "operand")
            elif kind in ("index_expression", "slice_expression"):
                for role in ("index", "start", "end"):
                    index = field(at, role)
                    if index is not None:
                        self.visit(index, scope)
                at = field(at, "operand")
            elif kind in _PASSED:
                at = field(at, "operand") or (parts(at)[0] if parts(at) else None)
            else:
                if kind != "identifier":
                    self.visit(at, scope)
                return

    def composite(self, node: Node, scope: int) -> None:
        """Read a literal: its type, and its values; the keys of a struct are fields."""
        written = field(node, "type")
        for what, at in types.named(written):
            self.facts.use(scope, what, line(at), "calls" if at == written else "references")
        body = field(node, "body")
        mapped = written is not None and written.type == "map_type"
        if body is not None:
            self.values(body, scope, mapped)

    def values(self, node: Node, scope: int, keyed: bool) -> None:
        for one in parts(node):
            if one.type == "keyed_element":
                key, given = field(one, "key"), field(one, "value")
                if keyed and key is not None:
                    self.values(key, scope, False)
                if given is not None:
                    self.values(given, scope, False)
            elif one.type in ("literal_value", "literal_element"):
                self.values(one, scope, keyed and one.type == "literal_value")
            else:
                self.visit(one, scope)

    def typed(self, node: Node, scope: int) -> None:
        """Read an assertion or a conversion."""
        written = field(node, "type")
        self.annotation(written, scope)
        for one in parts(node):
            if one != written:
                self.visit(one, scope)

    def annotation(self, node: Node | None, scope: int) -> None:
        for what, at in types.named(node):
            self.facts.use(scope, what, line(at))


def _nth(values: list[Node], names: int, number: int) -> Expr:
    """Return what the n-th of several names is given: its own value, or a part of the only one."""
    if len(values) == names:
        return types.value(values[number])
    if len(values) != 1:
        return UNKNOWN
    if values[0].type == "call_expression":
        return ("t", types.value(values[0]), number)
    return types.value(values[0]) if number == 0 else UNKNOWN


_Reader.visits = {
    "package_clause": _Reader.package,
    "import_spec": _Reader.import_,
    "type_spec": _Reader.type_spec,
    "type_alias": _Reader.type_spec,
    "function_declaration": _Reader.function,
    "method_declaration": _Reader.function,
    "func_literal": _Reader.literal,
    "var_spec": _Reader.declared,
    "const_spec": _Reader.declared,
    "short_var_declaration": _Reader.short,
    "assignment_statement": _Reader.short,
    "range_clause": _Reader.range,
    "type_switch_statement": _Reader.type_switch,
    "composite_literal": _Reader.composite,
    "type_assertion_expression": _Reader.typed,
    "type_conversion_expression": _Reader.typed,
    "qualified_type": _Reader.annotation,
    "type_identifier": _Reader.annotation,
    "slice_type": _Reader.annotation,
    "map_type": _Reader.annotation,
    **dict.fromkeys(_CHAIN, _Reader.chain),
}
