"""Read a file of TypeScript or JavaScript: its definitions, what its names stand for, and what it uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from morph_tasks.codegraph.recovery import script_types as types
from morph_tasks.codegraph.recovery.model import UNKNOWN, Def, Expr, Facts
from morph_tasks.codegraph.recovery.script_names import Names
from morph_tasks.verify.testcode.sitter import child, field, line, parse, parts, string_value, text

if TYPE_CHECKING:
    from tree_sitter import Node

_GRAMMARS = {".tsx": "tsx", ".ts": "typescript", ".mts": "typescript", ".cts": "typescript"}
_FUNCTIONS = frozenset({"arrow_function", "function_expression", "generator_function"})
_CLASSES = frozenset({"class_declaration", "abstract_class_declaration", "class"})
_CHAIN = frozenset({
    "identifier", "member_expression", "call_expression", "new_expression", "subscript_expression",
    "await_expression", "this", "super", "non_null_expression", "nested_identifier",
})  # fmt: skip
_ENDS = frozenset({"identifier", "this", "super", "import", "nested_identifier", "shorthand_property_identifier"})
_BINDS = frozenset({"identifier", "object_pattern", "array_pattern"})


def read(path: str, source: bytes, watched: frozenset[int] = frozenset()) -> Facts:
    """Return what a file says; raises SyntaxError when it does not parse."""
    suffix = "." + path.rpartition(".")[2]
    reader = _Reader(Facts(path, "script", watched=watched))
    for node in parts(parse(_GRAMMARS.get(suffix, "tsx" if suffix in (".js", ".jsx") else "javascript"), source)):
        reader.visit(node, 0)
    return reader.facts


class _Reader(Names):
    # --- imports and exports

    def export(self, node: Node, scope: int) -> None:
        facts, spec = self.facts, string_value(field(node, "source"))
        module: Expr | None = ("mod", spec) if spec is not None else None
        clause, declared = child(node, "export_clause"), field(node, "declaration")
        if clause is not None:
            for one in parts(clause):
                name, alias = text(field(one, "name")), text(field(one, "alias"))
                what: Expr = ("a", module, name) if module else ("n", name)
                facts.exports.setdefault(alias or name, []).append(what)
                if module:
                    facts.use(scope, what, line(one), "re_exports")
        elif module is not None:
            spaced = child(node, "namespace_export")
            if spaced is not None:
                facts.exports.setdefault(text(parts(spaced)[0]), []).append(module)
            else:
                facts.stars.append(module)
        elif declared is not None:
            before = {name: len(held) for name, held in facts.scopes[scope].names.items()}
            for one in node.named_children:
                self.visit(one, scope)
            default = any(one.type == "default" for one in node.children)
            for name, held in facts.scopes[scope].names.items():
                if len(held) > before.get(name, 0) and scope == 0:  # what a namespace exports is its own
                    facts.exports.setdefault("default" if default else name, []).append(("n", name))
        else:
            for one in parts(node):
                what = types.value(one)
                if one.type in _FUNCTIONS or one.type in _CLASSES:
                    made = self.named_value("default", one, scope)
                    what = ("d", made.at) if made is not None else UNKNOWN
                else:
                    self.visit(one, scope)
                facts.exports.setdefault("default", []).append(what)

    # --- definitions

    def function(self, node: Node, scope: int, name: str = "", where: int = 0) -> Def:
        facts = self.facts
        inside = facts.scopes[scope].kind == "class"
        name = name or text(field(node, "name")).strip("'\"#")
        words = {one.type for one in node.children}
        kind = "property" if inside and "get" in words else "function"
        found = facts.define(name, kind, where or line(node), self.owner(scope), scope)
        found.flags = frozenset({"member"} if inside else ()) | ({"async"} if "async" in words else frozenset())
        if inside or node.type in ("function_declaration", "generator_function_declaration", "function_signature"):
            facts.bind(scope, name, ("d", found.at))
        self.generics(node, found)
        self.parameters(node, found.scope)
        declared = field(node, "return_type")
        if declared is not None:
            found.result = types.type_(declared)
            self.annotation(declared, found.scope)
        body = field(node, "body")
        if body is not None:
            if body.type != "statement_block":
                found.returned.append(types.value(body))
            self.visit(body, found.scope)
        return found

    def generics(self, node: Node, found: Def) -> None:
        names = []
        for number, one in enumerate(parts(field(node, "type_parameters"))):
            name = text(field(one, "name"))
            names.append(name)
            self.facts.bind(found.scope, name, ("tp", found.at, number))
            limit = child(one, "constraint")
            if limit is not None and parts(limit):
                found.limits[name] = types.type_(parts(limit)[0])
                self.annotation(limit, found.scope)
        found.generics = tuple(names)

    def parameters(self, node: Node, scope: int, given: tuple[Expr, ...] = ()) -> None:
        one = field(node, "parameter")  # an arrow function without parentheses
        listed = [one] if one is not None else parts(field(node, "parameters"))
        for number, each in enumerate(listed):
            pattern = field(each, "pattern") or (each if each.type in _BINDS else field(each, "left"))
            declared = field(each, "type")
            what: Expr = ("i", types.type_(declared)) if declared is not None else UNKNOWN
            if declared is None and number < len(given):
                what = given[number]
            value = field(each, "value") or field(each, "right")
            if declared is None and value is not None:
                what = types.value(value)
            if declared is not None:
                self.annotation(declared, scope)
            if value is not None:
                self.visit(value, scope)
            if pattern is None:
                continue
            if pattern.type == "rest_pattern":
                pattern = parts(pattern)[0]
            self.target(pattern, what, scope)
            self.property_parameter(each, text(pattern), what, scope)

    def property_parameter(self, node: Node, name: str, what: Expr, scope: int) -> None:
        """Note the field that a parameter of a constructor declares."""
        function = self.facts.defs[self.owner(scope)] if self.owner(scope) >= 0 else None
        marked = any(one.type in ("accessibility_modifier", "readonly", "override_modifier") for one in node.children)
        if marked and function is not None and function.owner >= 0:
            self.facts.defs[function.owner].fields.setdefault(name, []).append((scope, what))

    def class_(self, node: Node, scope: int, name: str = "") -> Def:
        facts = self.facts
        kind = "interface" if node.type in ("interface_declaration", "type_alias_declaration") else "class"
        found = facts.define(name or text(field(node, "name")), kind, line(node), self.owner(scope), scope)
        facts.bind(scope, found.name, ("d", found.at))
        self.generics(node, found)
        for one in node.named_children:
            if one.type in ("class_heritage", "extends_type_clause"):
                for each in [one] if one.type == "extends_type_clause" else parts(one):
                    self.heritage(each, found)
            elif one.type == "decorator":
                self.below(one, found.scope)
        body = field(node, "body")
        if body is not None:
            for one in parts(body):
                self.visit(one, found.scope)
        return found

    def heritage(self, node: Node, found: Def) -> None:
        relation = "implements" if node.type == "implements_clause" else "inherits"
        if node.type in ("identifier", "member_expression"):  # JavaScript has no clause
            found.bases.append(types.value(node))
            self.facts.use(found.scope, types.value(node), line(node), relation)
            return
        arguments = child(node, "type_arguments") if node.type == "extends_clause" else None
        for one in parts(node):
            if one.type == "type_arguments":
                continue
            base = types.value(one) if node.type == "extends_clause" else types.type_(one)
            plain = base[1] if base[0] == "g" else base
            if arguments is not None:
                base = ("g", base, tuple(types.type_(each) for each in parts(arguments)))
            found.bases.append(base)
            self.facts.use(found.scope, plain, line(one), relation)
            self.annotation(arguments if arguments is not None else child(one, "type_arguments"), found.scope)

    def alias(self, node: Node, scope: int) -> None:
        value = field(node, "value")
        if value is not None and value.type == "object_type":
            found = self.class_(node, scope)
            for one in parts(value):
                self.visit(one, found.scope)
            return
        found = self.class_(node, scope)
        found.bases.append(types.type_(value))
        self.annotation(value, found.scope)

    def enum(self, node: Node, scope: int) -> None:
        found = self.facts.define(text(field(node, "name")), "class", line(node), self.owner(scope), scope)
        self.facts.bind(scope, found.name, ("d", found.at))
        for one in parts(field(node, "body")):
            name = field(one, "name") or one
            found.fields.setdefault(text(name), []).append((found.scope, ("i", ("d", found.at))))

    def member(self, node: Node, scope: int) -> None:
        """Read a field of a class or an interface."""
        name, declared, value = text(field(node, "name")).strip("'\"#"), field(node, "type"), field(node, "value")
        at = self.owner(scope)
        if self.facts.scopes[scope].kind != "class" or at < 0:
            self.below(node, scope)
            return
        if value is not None and value.type in _FUNCTIONS:
            made = self.function(value, scope, name, line(node))
            made.flags |= {"member"}
            return
        what: Expr = ("i", types.type_(declared)) if declared is not None else types.value(value)
        self.facts.defs[at].fields.setdefault(name, []).append((scope, what))
        self.annotation(declared, scope)
        for one in node.named_children:
            if one.type == "decorator":
                self.below(one, scope)
        if value is not None:
            self.visit(value, scope)

    def namespace(self, node: Node, scope: int) -> None:
        found = self.facts.define(text(field(node, "name")), "class", line(node), self.owner(scope), scope)
        self.facts.scopes[found.scope].kind = "block"
        self.facts.bind(scope, found.name, ("d", found.at))
        body = field(node, "body")
        if body is not None:
            self.below(body, found.scope)

    # --- what names stand for

    def declarator(self, node: Node, scope: int) -> None:
        name, declared, value = field(node, "name"), field(node, "type"), field(node, "value")
        if name is None:
            return
        if declared is not None:
            self.annotation(declared, scope)
        if value is not None and name.type == "identifier" and self.named_value(text(name), value, scope, line(node)):
            return
        what: Expr = ("i", types.type_(declared)) if declared is not None else types.value(value)
        if scope == 0 and name.type == "identifier" and declared is None and types.is_object(value):
            # The graph has a node for it and none for its methods: what uses one of them uses the object.
            what = ("d", self.facts.define(text(name), "function", line(node), -1, scope).at)
        self.target(name, what, scope)
        if value is not None:
            self.visit(value, scope)

    def named_value(self, name: str, value: Node, scope: int, where: int = 0) -> Def | None:
        """Define a function or a class that is given to a name; None for anything else."""
        if value.type in _FUNCTIONS:
            found = self.function(value, scope, name, where or line(value))
            self.facts.bind(scope, name, ("d", found.at))
            return found
        return self.class_(value, scope, name) if value.type == "class" else None

    def assignment(self, node: Node, scope: int) -> None:
        left, right = field(node, "left"), field(node, "right")
        if left is None or right is None:
            return
        what = types.value(right)
        if left.type == "identifier":
            if text(left) in self.facts.scopes[scope].names:
                self.facts.bind(scope, text(left), what)
        elif left.type == "member_expression":
            self.set_member(left, right, what, scope)
        self.visit(left, scope)
        self.visit(right, scope)

    def loop(self, node: Node, scope: int) -> None:
        left, right = field(node, "left"), field(node, "right")
        if left is not None and right is not None:
            iterated = any(one.type == "of" for one in node.children)
            self.target(left, ("e", types.value(right)) if iterated else UNKNOWN, scope)
            self.visit(right, scope)
        body = field(node, "body")
        if body is not None:
            self.visit(body, scope)

    def return_(self, node: Node, scope: int) -> None:
        at = self.owner(scope)
        inside = parts(node)
        if inside and self.facts.scopes[scope].kind == "function" and at >= 0:
            self.facts.defs[at].returned.append(types.value(inside[0]))
        self.below(node, scope)

    def block_function(self, node: Node, scope: int, given: tuple[Expr, ...] = ()) -> None:
        """Read a function that has no name."""
        inner = self.facts.open(scope, "block", self.owner(scope))
        self.parameters(node, inner, given)
        self.annotation(field(node, "return_type"), inner)
        body = field(node, "body")
        if body is not None:
            self.visit(body, inner)

    # --- uses

    def chain(self, node: Node, scope: int) -> None:
        """Note the longest chain of names, members and calls, and read the arguments within it apart."""
        called = node.type in ("call_expression", "new_expression")
        self.facts.use(scope, types.value(node), line(node), "calls" if called else "references")
        at: Node | None = node
        while at is not None:
            kind = at.type
            if kind in ("call_expression", "new_expression"):
                function = field(at, "function") or field(at, "constructor")
                self.annotation(child(at, "type_arguments"), scope)
                self.arguments(field(at, "arguments"), function, scope)
                at = function
            elif kind == "member_expression":
                at = field(at, "object")
            elif kind == "subscript_expression":
                index = field(at, "index")
                if index is not None:
                    self.visit(index, scope)
                at = field(at, "object")
            elif kind in ("await_expression", "non_null_expression"):
                at = parts(at)[0] if parts(at) else None
            else:
                if kind not in _ENDS:
                    self.visit(at, scope)
                return

    def arguments(self, node: Node | None, function: Node | None, scope: int) -> None:
        for one in parts(node):
            if one.type in _FUNCTIONS:
                given: tuple[Expr, ...] = ()
                if function is not None and function.type == "member_expression":
                    base, method = types.value(field(function, "object")), text(field(function, "property"))
                    given = tuple(("cb", base, method, number) for number in range(3))
                self.block_function(one, scope, given)
            else:
                self.visit(one, scope)

    def element(self, node: Node, scope: int) -> None:
        """Note the component that an element of JSX names."""
        name = field(node, "name")
        if name is not None and not text(name)[:1].islower():
            self.facts.use(scope, types.value(name), line(node), "calls")
        for one in node.named_children:
            if one != name:
                self.visit(one, scope)


def _nothing(reader: _Reader, node: Node, scope: int) -> None:
    """Pass over what names nothing."""


_Reader.visits = {
    "import_statement": _Reader.import_,
    "export_statement": _Reader.export,
    "variable_declarator": _Reader.declarator,
    "type_alias_declaration": _Reader.alias,
    "enum_declaration": _Reader.enum,
    "internal_module": _Reader.namespace,
    "assignment_expression": _Reader.assignment,
    "for_in_statement": _Reader.loop,
    "return_statement": _Reader.return_,
    "jsx_opening_element": _Reader.element,
    "jsx_self_closing_element": _Reader.element,
    "type_annotation": _Reader.annotation,
    "property_identifier": _nothing,
    "comment": _nothing,
    "string": _nothing,
    "shorthand_property_identifier": _Reader.chain,
    "function_declaration": _Reader.function,
    "generator_function_declaration": _Reader.function,
    "function_signature": _Reader.function,
    "method_definition": _Reader.function,
    "method_signature": _Reader.function,
    "abstract_method_signature": _Reader.function,
    "interface_declaration": _Reader.class_,
    "public_field_definition": _Reader.member,
    "field_definition": _Reader.member,
    "property_signature": _Reader.member,
    "arrow_function": _Reader.block_function,
    "function_expression": _Reader.block_function,
    "generator_function": _Reader.block_function,
    **dict.fromkeys(_CLASSES, _Reader.class_),
    **dict.fromkeys(_CHAIN, _Reader.chain),
}
