"""Read a C# file: its namespaces and definitions, what its names stand for, and what it uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from morph_tasks.codegraph.recovery import csharp_types as types
from morph_tasks.codegraph.recovery.csharp_names import Names
from morph_tasks.codegraph.recovery.model import UNKNOWN, Expr, Facts
from morph_tasks.verify.testcode.sitter import child, field, line, parse, parts, text

if TYPE_CHECKING:
    from tree_sitter import Node

_CHAIN = frozenset({
    "identifier", "generic_name", "member_access_expression", "invocation_expression", "object_creation_expression",
    "this", "base", "conditional_access_expression", "element_access_expression", "await_expression",
    "qualified_name",
})  # fmt: skip
_CALLS = frozenset({"invocation_expression", "object_creation_expression"})
_TYPES = frozenset({
    "class_declaration", "interface_declaration", "struct_declaration", "record_declaration",
    "record_struct_declaration",
})  # fmt: skip
_VAR = frozenset({"implicit_type", "var"})


def read(path: str, source: bytes, watched: frozenset[int] = frozenset()) -> Facts:
    """Return what a file says; raises SyntaxError when it does not parse."""
    reader = _Reader(Facts(path, "csharp", watched=watched))
    reader.members(parse("csharp", source.removeprefix(b"\xef\xbb\xbf")), 0)
    return reader.facts


class _Reader(Names):
    def __init__(self, facts: Facts) -> None:
        super().__init__(facts)
        facts.spaces[0] = ""

    def members(self, node: Node, scope: int) -> None:
        """Read what a file or a namespace holds; a namespace without braces holds what follows it."""
        for one in parts(node):
            if one.type == "file_scoped_namespace_declaration":
                scope = self.space(one, scope)
                self.members(one, scope)
            elif one.type not in ("identifier", "qualified_name"):
                self.visit(one, scope)

    def namespace(self, node: Node, scope: int) -> None:
        body = field(node, "body")
        if body is not None:
            self.members(body, self.space(node, scope))

    # --- definitions

    def type_(self, node: Node, scope: int) -> None:
        facts = self.facts
        kind = "interface" if node.type == "interface_declaration" else "class"
        owner, at = facts.scopes[scope].owner, line(field(node, "name") or node)
        head = facts.open(scope, "block", owner)
        found = facts.define(text(field(node, "name")), kind, at, owner, head)
        found.head, found.space = head, facts.spaces.get(scope, "")
        listed = field(node, "type_parameters") or child(node, "type_parameter_list")
        names = [text(field(one, "name")) for one in parts(listed)]
        found.generics = tuple(names)
        for number, name in enumerate(names):
            facts.bind(head, name, ("tp", found.at, number))
        if facts.scopes[scope].kind == "class":
            facts.bind(scope, f"{found.name}`{len(names)}" if names else found.name, ("d", found.at))
        self.constraints(node, found)
        self.attributes(node, found.scope)
        for one in parts(child(node, "base_list")):
            self.base(one, found)
        for one in parts(
            field(node, "parameters") or child(node, "parameter_list")
        ):  # of a record or a primary constructor
            self.annotation(field(one, "type"), found.scope)
            name = text(field(one, "name"))
            found.fields.setdefault(name, []).append((found.scope, ("i", types.type_(field(one, "type")))))
        body = field(node, "body")
        for one in parts(body):
            self.visit(one, found.scope)

    def enum(self, node: Node, scope: int) -> None:
        found = self.facts.define(
            text(field(node, "name")), "class", line(field(node, "name") or node), self.facts.scopes[scope].owner, scope
        )
        found.space = self.facts.spaces.get(scope, "")
        if self.facts.scopes[scope].kind == "class":
            self.facts.bind(scope, found.name, ("d", found.at))
        for one in parts(field(node, "body")):
            found.fields.setdefault(text(field(one, "name")), []).append((found.scope, ("i", ("d", found.at))))

    def method(self, node: Node, scope: int) -> None:
        facts = self.facts
        built = node.type == "constructor_declaration"
        name = ".ctor" if built else text(field(node, "name"))
        found = facts.define(
            name or ".op", "function", line(field(node, "name") or node), facts.scopes[scope].owner, scope
        )
        words = {text(one) for one in parts(node) if one.type == "modifier"}
        found.flags = frozenset({"member"} if facts.scopes[scope].kind == "class" else ())
        listed = field(node, "parameters")
        inside = [one for one in parts(listed) if one.type == "parameter"]
        optional = sum(
            1 for one in inside if len(parts(one)) > 2 and parts(one)[-1].type not in ("modifier", "identifier")
        )
        endless = any(one.type == "params" or text(one) == "params" for one in (listed.children if listed else []))
        found.least, found.most = len(inside) - optional, 99 if endless else len(inside)
        first = [text(one) for one in parts(inside[0]) if one.type == "modifier"] if inside else []
        if "this" in first and "static" in words:
            found.flags |= {"extension"}
        if name:
            facts.bind(scope, name, ("d", found.at))
        generics = [text(field(one, "name")) for one in parts(field(node, "type_parameters"))]
        found.generics = tuple(generics)
        for number, one in enumerate(generics):
            facts.bind(found.scope, one, ("tp", found.at, number))
        self.constraints(node, found)
        self.attributes(node, found.scope)
        given = field(node, "returns") or field(node, "type")
        found.result = types.type_(given)
        self.annotation(given, found.scope)
        self.parameters(listed, found.scope)
        found.parameters = tuple(types.type_(field(one, "type")) for one in inside)
        for part in parts(node):
            if part.type in ("block", "arrow_expression_clause", "constructor_initializer"):
                self.visit(part, found.scope)

    def parameters(self, node: Node | None, scope: int, given: tuple[Expr, ...] = ()) -> None:
        if node is not None and node.type in ("implicit_parameter", "identifier"):
            self.facts.bind(scope, text(node), given[0] if given else UNKNOWN)
            return
        for number, one in enumerate(parts(node)):
            if one.type != "parameter":
                continue
            written, name = field(one, "type"), field(one, "name")
            what: Expr = ("i", types.type_(written)) if written is not None else UNKNOWN
            if written is None and number < len(given):
                what = given[number]
            self.facts.bind(scope, text(name), what)
            self.annotation(written, scope)
            for each in parts(one):
                if each not in (written, name) and each.type != "modifier":
                    self.visit(each, scope)
        if node is not None and field(node, "type") is not None:  # the last one, marked `params`
            self.facts.bind(scope, text(field(node, "name")), ("i", types.type_(field(node, "type"))))
            self.annotation(field(node, "type"), scope)

    def property(self, node: Node, scope: int) -> None:
        facts, written = self.facts, field(node, "type")
        name = text(field(node, "name")) or "[]"
        found = facts.define(name, "property", line(field(node, "name") or node), facts.scopes[scope].owner, scope)
        found.flags = frozenset({"member", "field"})
        found.result = types.type_(written)
        facts.bind(scope, name, ("d", found.at))
        self.annotation(written, found.scope)
        self.attributes(node, found.scope)
        self.parameters(field(node, "parameters"), found.scope)
        facts.bind(found.scope, "value", ("i", types.type_(written)))
        self.visit_maybe(field(node, "accessors"), found.scope)
        self.visit_maybe(field(node, "value"), found.scope)

    def field(self, node: Node, scope: int) -> None:
        self.attributes(node, scope)
        declared = child(node, "variable_declaration")
        at = self.facts.scopes[scope].owner
        for name, what, _ in self.declared(declared, scope):
            if at >= 0:
                self.facts.defs[at].fields.setdefault(name, []).append((scope, what))

    # --- what names stand for

    def declared(self, node: Node | None, scope: int) -> list[tuple[str, Expr, Node]]:
        """Return the names that a declaration makes and what each holds; its values are read on the way."""
        found: list[tuple[str, Expr, Node]] = []
        written = field(node, "type")
        self.annotation(written, scope)
        for one in parts(node):
            if one.type != "variable_declarator":
                continue
            values = [each for each in parts(one) if each != field(one, "name")]
            given = values[-1] if values else None
            implied = written is not None and written.type in _VAR
            what: Expr = types.value(given) if implied else ("i", types.type_(written))
            found.append((text(field(one, "name")), what, one))
            if given is not None:
                self.visit(given, scope)
                if given.type == "implicit_object_creation_expression":
                    self.facts.use(
                        scope,
                        ("c", types.type_(written), (), len(parts(child(given, "argument_list")))),
                        line(given),
                        "calls",
                    )
        return found

    def local(self, node: Node, scope: int) -> None:
        for name, what, _ in self.declared(node, scope):
            self.facts.bind(scope, name, what)

    def loop(self, node: Node, scope: int) -> None:
        written, left, right = field(node, "type"), field(node, "left"), field(node, "right")
        self.annotation(written, scope)
        implied = written is None or written.type in _VAR
        what: Expr = ("e", types.value(right)) if implied else ("i", types.type_(written))
        if left is not None and left.type == "identifier":
            self.facts.bind(scope, text(left), what)
        for one in (right, field(node, "body")):
            if one is not None:
                self.visit(one, scope)

    def pattern(self, node: Node, scope: int) -> None:
        """Read a name that is given with its type: a pattern, `out`, a caught exception."""
        written, name = field(node, "type"), field(node, "name")
        self.annotation(written, scope)
        if name is not None and written is not None:
            self.facts.bind(scope, text(name), UNKNOWN if written.type in _VAR else ("i", types.type_(written)))
        for one in parts(node):
            if one not in (written, name):
                self.visit(one, scope)

    def constant_pattern(self, node: Node, scope: int) -> None:
        for one in parts(node):
            self.visit(one, scope)

    def assignment(self, node: Node, scope: int) -> None:
        left, right = field(node, "left"), field(node, "right")
        if left is not None and left.type == "tuple_expression":
            for number, one in enumerate(parts(left)):
                inner = parts(one)[0] if parts(one) else None
                if inner is not None and inner.type == "declaration_expression":
                    written = field(inner, "type")
                    implied = written is None or written.type in _VAR
                    what: Expr = ("t", types.value(right), number) if implied else ("i", types.type_(written))
                    self.facts.bind(scope, text(field(inner, "name")), what)
        for side in (left, right):
            if side is not None:
                self.visit(side, scope)

    def initializer(self, node: Node, scope: int) -> None:
        """Read what stands in braces after `new`: its names are members of the new object."""
        for one in parts(node):
            right = field(one, "right") if one.type == "assignment_expression" else one
            if right is not None:
                self.visit(right, scope)

    def lambda_(self, node: Node, scope: int, given: tuple[Expr, ...] = ()) -> None:
        inner = self.facts.open(scope, "block", self.facts.scopes[scope].owner)
        self.parameters(field(node, "parameters"), inner, given)
        body = field(node, "body")
        if body is not None:
            self.visit(body, inner)

    # --- uses

    def chain(self, node: Node, scope: int) -> None:
        """Note the longest chain of names, members and calls, and read the arguments within it apart."""
        self.facts.use(scope, types.value(node), line(node), "calls" if node.type in _CALLS else "references")
        self.inside(node, scope)

    def inside(self, node: Node | None, scope: int) -> None:
        """Read the arguments, the indexes and the type arguments in a chain."""
        while node is not None:
            kind = node.type
            if kind == "invocation_expression":
                function = field(node, "function")
                self.arguments(field(node, "arguments"), function, scope)
                node = function
            elif kind == "object_creation_expression":
                self.arguments(field(node, "arguments"), None, scope)
                built = list(types.named(field(node, "type")))
                for what, at in built[1:]:
                    self.facts.use(scope, what, line(at))
                self.visit_maybe(field(node, "initializer"), scope)
                return
            elif kind == "member_access_expression":
                self.generic(field(node, "name"), scope)
                node = field(node, "expression")
            elif kind == "conditional_access_expression":
                self.inside(parts(node)[-1], scope)
                node = field(node, "condition")
            elif kind == "element_access_expression":
                for one in parts(field(node, "subscript")):
                    self.visit(one, scope)
                node = field(node, "expression")
            elif kind in ("await_expression", "postfix_unary_expression", "parenthesized_expression"):
                node = parts(node)[0] if parts(node) else None
            else:
                self.generic(node, scope)
                if kind not in (
                    "identifier",
                    "generic_name",
                    "this",
                    "base",
                    "member_binding_expression",
                    "qualified_name",
                ):
                    self.visit(node, scope)
                return

    def visit_maybe(self, node: Node | None, scope: int) -> None:
        if node is not None:
            self.visit(node, scope)

    def arguments(self, node: Node | None, function: Node | None, scope: int) -> None:
        base: Expr = UNKNOWN
        method = ""
        if function is not None and function.type == "member_access_expression":
            base, method = types.value(field(function, "expression")), types.plain(field(function, "name"))
        for argument in parts(node):
            one = parts(argument)[-1] if parts(argument) else argument
            if one.type == "lambda_expression" and base != UNKNOWN:
                self.lambda_(one, scope, tuple(("cb", base, method, number) for number in range(3)))
            elif one.type == "declaration_expression" and method == "TryGetValue":
                self.visit(one, scope)
                names = self.facts.scopes[scope].names
                names[text(field(one, "name"))] = [("k", base)]
            else:
                self.visit(one, scope)

    def typed(self, node: Node, scope: int) -> None:
        """Read a cast, a test of a type, `typeof`, `default`."""
        written = field(node, "type") or (
            field(node, "right") if node.type in ("as_expression", "is_expression") else None
        )
        self.annotation(written, scope)
        for one in parts(node):
            if one != written:
                self.visit(one, scope)


_Reader.visits = {
    "using_directive": _Reader.using,
    "namespace_declaration": _Reader.namespace,
    "enum_declaration": _Reader.enum,
    "method_declaration": _Reader.method,
    "constructor_declaration": _Reader.method,
    "local_function_statement": _Reader.method,
    "operator_declaration": _Reader.method,
    "conversion_operator_declaration": _Reader.method,
    "delegate_declaration": lambda reader, node, scope: reader.annotation(field(node, "type"), scope),
    "property_declaration": _Reader.property,
    "indexer_declaration": _Reader.property,
    "field_declaration": _Reader.field,
    "event_field_declaration": _Reader.field,
    "variable_declaration": _Reader.local,
    "foreach_statement": _Reader.loop,
    "declaration_pattern": _Reader.pattern,
    "recursive_pattern": _Reader.pattern,
    "declaration_expression": _Reader.pattern,
    "catch_declaration": _Reader.pattern,
    "assignment_expression": _Reader.assignment,
    "initializer_expression": _Reader.initializer,
    "lambda_expression": _Reader.lambda_,
    "cast_expression": _Reader.typed,
    "as_expression": _Reader.typed,
    "is_expression": _Reader.typed,
    "typeof_expression": _Reader.typed,
    "default_expression": _Reader.typed,
    "array_creation_expression": _Reader.typed,
    "type_pattern": lambda reader, node, scope: reader.annotation(node, scope),
    "array_type": lambda reader, node, scope: reader.annotation(node, scope),
    "modifier": lambda reader, node, scope: None,
    "name_colon": lambda reader, node, scope: None,
    **dict.fromkeys(_TYPES, _Reader.type_),
    **dict.fromkeys(_CHAIN, _Reader.chain),
}
